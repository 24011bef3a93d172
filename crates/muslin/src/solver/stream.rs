//! The forces of all elements of a batch in single precision, for a solver that moves each vertex once in a substep.
//!
//! Two passes: the elements write what they do to each of their vertices into a place of its own, then each vertex adds up its
//! places, which stand side by side. Elements of one pass never write to the same place, so they need no colours and
//! stand in the order of their vertices instead: a pass goes through memory once, where a sweep colour by colour goes through it
//! once a colour (on a sheet of 64 × 64 that alone is half of the time). And the sums do not depend on the number of threads.
#![allow(unsafe_code, reason = "skips bounds checks that the constructor made once; they cost a tenth of a pass")]

use super::particle::{Bundle, Particle};
use crate::energy::{Batch, Constraint, Energy};
use crate::math::{Lanes, Scalar, Vec3};
use crate::parallel::{Shared, Worker};

/// The vertices as forces see them.
pub struct Vertices<'a> {
    /// Displacements since the start of the frame, in m; see [`Sweep`](super::sweep::Sweep).
    pub(super) particles: &'a Shared<'a, Particle<f32>>,
    /// In m/s.
    pub(super) velocities: &'a Shared<'a, Particle<f32>>,
    /// Where the vertices were at the start of the frame, in m.
    pub(super) origins: &'a [Vec3<f64>],
    /// The arms of the full bundles of all streams.
    pub(super) arms: &'a Shared<'a, Vec3<Lanes>>,
}

/// The forces of a batch, with its model erased.
pub trait Forces: Send + Sync {
    /// Number of arms.
    fn arm_count(&self) -> usize;
    /// Measures the arms at the start of a frame; those of this stream begin at `first`.
    fn place(&self, worker: &Worker<'_>, vertices: &Vertices<'_>, first: usize);
    /// Writes ∂E/∂x and damping, in N, for the elements of this worker's share.
    fn write(&self, worker: &Worker<'_>, vertices: &Vertices<'_>, first_arm: usize, forces: &Shared<'_, Particle<f32>>);
}

/// What a solver asks of every term.
pub trait Flow {
    /// Its forces, written from the place `first` on, and where the row of each vertex begins, and the last one ends.
    fn stream(&self, first: u32) -> (Box<dyn Forces>, Vec<u32>);
}

/// The elements of a batch in the order of their vertices.
struct Stream<E: Energy<N>, const N: usize> {
    /// Each below the number of vertices.
    stencils: Vec<[u32; N]>,
    /// Where each element writes what it does to each of its vertices; each below `end`.
    places: Vec<[u32; N]>,
    end: u32,
    /// Four elements at a time.
    wide: Vec<E::Rest<Lanes>>,
    /// The elements that are left over.
    rest: Vec<E::Rest<f32>>,
    vertex_count: usize,
    /// τ, in s.
    damping: f64,
}

impl<E: Energy<N>, const N: usize> Flow for Batch<E, N> {
    fn stream(&self, first: u32) -> (Box<dyn Forces>, Vec<u32>) {
        let mut order: Vec<usize> = (0..self.stencils().len()).collect();
        order.sort_by_key(|&e| self.stencils()[e].iter().min().copied());
        let stencils: Vec<[u32; N]> = order.iter().map(|&e| self.stencils()[e]).collect();
        let rest: Vec<E::Rest<f64>> = order.iter().map(|&e| self.rest()[e]).collect();

        let mut starts = vec![0_u32; self.vertex_count() + 1];
        starts[0] = first;
        for &v in stencils.iter().flatten() {
            starts[v as usize + 1] += 1;
        }
        for v in 1..starts.len() {
            starts[v] += starts[v - 1];
        }
        let mut next = starts.clone();
        let mut place = |v: u32| {
            next[v as usize] += 1;
            next[v as usize] - 1
        };
        let places = stencils.iter().map(|stencil| stencil.map(&mut place)).collect();
        let bundles = rest.chunks_exact(Lanes::LANES);
        let stream = Stream::<E, N> {
            rest: bundles.remainder().chunks(1).map(|one| E::cast(one)).collect(),
            wide: bundles.map(|four| E::cast(four)).collect(),
            stencils,
            places,
            end: starts[self.vertex_count()],
            vertex_count: self.vertex_count(),
            damping: self.damping(),
        };
        (Box::new(stream), starts)
    }
}

impl<E: Energy<N>, const N: usize> Forces for Stream<E, N> {
    fn arm_count(&self) -> usize {
        self.wide.len() * (N - 1)
    }

    fn place(&self, worker: &Worker<'_>, vertices: &Vertices<'_>, first: usize) {
        for bundle in worker.share(0..self.wide.len()) {
            let stencils = &self.stencils[bundle * Lanes::LANES..][..Lanes::LANES];
            for i in 1..N {
                let arm = Lanes::load_vector(|lane| vertices.arm(&stencils[lane], i));
                vertices.arms.set(first + bundle * (N - 1) + i - 1, arm);
            }
        }
    }

    fn write(
        &self,
        worker: &Worker<'_>,
        vertices: &Vertices<'_>,
        first_arm: usize,
        forces: &Shared<'_, Particle<f32>>,
    ) {
        assert!(vertices.particles.len() >= self.vertex_count, "a state smaller than its model");
        assert!(vertices.velocities.len() >= self.vertex_count, "a state smaller than its model");
        assert!(forces.len() >= self.end as usize, "less room than there are forces");
        // Two loops, because the choice inside one costs.
        if self.damping > 0.0 {
            self.write_all::<true>(worker, vertices, first_arm, forces);
        } else {
            self.write_all::<false>(worker, vertices, first_arm, forces);
        }
    }
}

impl<E: Energy<N>, const N: usize> Stream<E, N> {
    fn write_all<const DAMPED: bool>(
        &self,
        worker: &Worker<'_>,
        vertices: &Vertices<'_>,
        first_arm: usize,
        forces: &Shared<'_, Particle<f32>>,
    ) {
        for bundle in worker.share(0..self.wide.len()) {
            let arms = first_arm + bundle * (N - 1);
            let arm = |i: usize| vertices.arms.get(arms + i - 1);
            let (first, rest) = (bundle * Lanes::LANES, &self.wide[bundle]);
            // SAFETY: `write` has looked at the lengths.
            unsafe { self.write_some::<Lanes, DAMPED>(vertices, first, rest, arm, forces) };
        }
        if worker.leads() {
            for (e, rest) in (self.wide.len() * Lanes::LANES..).zip(&self.rest) {
                let arm = |i: usize| vertices.arm(&self.stencils[e], i);
                // SAFETY: as before.
                unsafe { self.write_some::<f32, DAMPED>(vertices, e, rest, arm, forces) };
            }
        }
    }

    /// As many elements as `S` has lanes, from `first` on.
    ///
    /// # Safety
    /// There must be as many particles, velocities and places for forces as the stream has.
    #[inline(always)]
    unsafe fn write_some<S: Bundle<f32>, const DAMPED: bool>(
        &self,
        vertices: &Vertices<'_>,
        first: usize,
        rest: &E::Rest<S>,
        arm: impl Fn(usize) -> Vec3<S>,
        forces: &Shared<'_, Particle<f32>>,
    ) {
        let (stencils, places) = (&self.stencils[first..first + S::LANES], &self.places[first..first + S::LANES]);
        let load = |from: &Shared<'_, Particle<f32>>, i: usize| {
            // SAFETY: by the caller's promise, and that of the batch for its stencils.
            S::load(|lane| unsafe { from.get_unchecked(stencils[lane][i] as usize) }).0
        };
        let x: [Vec3<S>; N] = std::array::from_fn(|i| {
            let u = load(vertices.particles, i);
            if i == 0 { u } else { u + arm(i) }
        });
        let force = if DAMPED {
            // −f = (C + τ Ċ)/α ∇C.
            let row = E::row(rest, &x);
            let velocities = std::array::from_fn(|i| load(vertices.velocities, i));
            let compliance = row.compliance();
            let stiffness = S::select(compliance.greater(S::ZERO), S::ONE / compliance, S::ZERO);
            let pull = (row.value() + row.along(&velocities) * S::from_f64(self.damping)) * stiffness;
            std::array::from_fn(|i| row.pull(i, pull))
        } else {
            E::gradient(rest, &x)
        };
        for (i, force) in force.into_iter().enumerate() {
            S::store(force, S::ZERO, |lane, particle| {
                // SAFETY: by the caller's promise, and the constructor's for its places.
                unsafe { forces.set_unchecked(places[lane][i] as usize, particle) };
            });
        }
    }
}

impl Vertices<'_> {
    /// From the first vertex of an element to another at the start of the frame.
    fn arm<const N: usize>(&self, stencil: &[u32; N], i: usize) -> Vec3<f32> {
        (self.origins[stencil[i] as usize] - self.origins[stencil[0] as usize]).cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::parallel::Team;
    use crate::scene::parse;
    use crate::solver::Instant;

    /// A bent, stretched, moving sheet with terms of two, three and four vertices, and elements that fill no bundle.
    #[test]
    fn rows_add_up_to_the_gradient_and_the_drag() {
        for stretch in ["spring", "stvk"] {
            let text = format!(
                "solver.kind = \"explicit\"\n[[cloth]]\ngrid = {{ size = [1, 1], cells = [5, 6] }}\n\
                 [cloth.material]\ndensity = 0.2\nstretch = {{ model = \"{stretch}\", stiffness = 100.0, damping = 1e-3 }}\n\
                 bend = {{ model = \"dihedral\", stiffness = 1e-2 }}"
            );
            let scene = parse(&text, &[]).scene.unwrap();
            let model = Model::compile(&scene, &mut |_| Err(String::new())).unwrap().model;
            let wave = |i: usize, by: f64| libm::sin(by * i as f64);
            let moves = |size: f64| {
                let vector = move |i| Vec3::new(wave(i, 1.3), wave(i, 2.1), wave(i, 0.7)) * size;
                (0..model.masses.len()).map(vector).collect::<Vec<_>>()
            };
            let (shifts, v) = (moves(0.02), moves(0.5));
            let x: Vec<_> = model.initial_positions.iter().zip(&shifts).map(|(x, u)| *x + *u).collect();

            let mut expected = vec![Vec3::ZERO; x.len()];
            let mut particles: Vec<_> = shifts.iter().map(|u| Particle::vector(u.cast())).collect();
            let mut velocities: Vec<_> = v.iter().map(|v| Particle::vector(v.cast())).collect();
            let (mut first, mut found) = (0, vec![Vec3::ZERO; x.len()]);
            for term in &model.terms {
                let (stream, starts) = term.stream(first);
                first = starts[x.len()];
                let mut forces = vec![Particle::default(); first as usize];
                let mut arms = vec![Vec3::ZERO; stream.arm_count()];
                // SAFETY: each pass sets what belongs to a share of its elements, and ends before the next begins.
                let (expected, arms, shared) =
                    unsafe { (Shared::new(&mut expected), Shared::new(&mut arms), Shared::new(&mut forces)) };
                // SAFETY: these are only read.
                let (particles, velocities) = unsafe { (Shared::new(&mut particles), Shared::new(&mut velocities)) };
                let origins = &model.initial_positions;
                let vertices = Vertices { particles: &particles, velocities: &velocities, origins, arms: &arms };
                let team = Team::new(2).unwrap();
                team.run(2, |worker| {
                    term.add_gradient(worker, Instant { positions: &x, previous: &x, step: f64::INFINITY }, &expected);
                    term.add_drag(worker, &x, &v, &expected);
                    stream.place(worker, &vertices, 0);
                    worker.barrier();
                    stream.write(worker, &vertices, 0, &shared);
                });
                for (i, sum) in found.iter_mut().enumerate() {
                    let row = starts[i] as usize..starts[i + 1] as usize;
                    *sum += forces[row].iter().fold(Vec3::ZERO, |sum, part| sum + part.xyz().cast());
                }
            }
            let largest = expected.iter().map(|f| f.norm()).fold(0.0, f64::max);
            assert!(largest > 1.0, "the sheet is strained");
            for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                // Single precision, and sums of up to a dozen parts.
                assert!((*found - *expected).norm() < 3e-6 * largest, "{stretch}, {i}: {found:?}, {expected:?}");
            }
        }
    }
}
