//! The forces of all elements of a batch in single precision, for a solver that moves each vertex once in a substep.
//!
//! ```text
//! Σᵢ fᵢ = 0        an energy does not change when all moves together, so f₀ = −Σ fᵢ, i > 0
//! ```
//!
//! Two passes: the elements write what they do to their vertices but the first, one element after the other; then each vertex adds up
//! what is written for it, and takes away all that is written by the elements whose first vertex it is. So elements need no colours and stand in
//! the order of their first vertices: a pass goes through memory once, where a sweep colour by colour goes through it once a colour.
//! And the sums do not depend on the number of threads.
//!
//! An element is seen from its first vertex, positions and velocities alike: differences are taken before numbers are laid side by
//! side, which costs more than the formula of a spring does.
#![allow(unsafe_code, reason = "skips bounds checks that the constructor made once; they cost a tenth of a pass")]

use std::ops::Range;

use super::particle::{Bundle, Particle};
use super::quadratic::Quadratic;
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
    /// Writes ∂E/∂x and damping, in N, for the elements of this worker's share; [`Rows`] has what they mean.
    fn write(&self, worker: &Worker<'_>, vertices: &Vertices<'_>, first_arm: usize, forces: &Shared<'_, Particle<f32>>);
}

/// What a solver asks of every term.
pub trait Flow {
    /// Its forces, written from the place `first` on, and who feels them.
    fn stream(&self, first: u32) -> (Box<dyn Forces>, Rows);
}

/// The place of a force that is never written and stays zero.
pub(super) const NONE: u32 = 0;

/// Which of the written forces each vertex feels.
pub struct Rows {
    /// Where the pairs of each vertex begin, and where the last end.
    starts: Vec<u32>,
    /// A force that counts for the vertex, and one that counts against it; each place is below `end`.
    ///
    /// In pairs, since on a mesh most vertices have as many of the one as of the other, and one loop costs less than two.
    pairs: Vec<[u32; 2]>,
    /// Past the last place.
    end: u32,
}

impl Rows {
    /// For elements in the order of their first vertices that write N − 1 forces each, from `first` on.
    fn new<const N: usize>(stencils: &[[u32; N]], vertex_count: usize, first: u32) -> Self {
        let mut sides = vec![[Vec::new(), Vec::new()]; vertex_count];
        let mut end = first;
        for stencil in stencils {
            for &v in &stencil[1..] {
                sides[v as usize][0].push(end);
                sides[stencil[0] as usize][1].push(end);
                end += 1;
            }
        }
        let (mut starts, mut pairs) = (vec![0], Vec::new());
        for [on, against] in &sides {
            let place = |side: &[u32], i: usize| side.get(i).copied().unwrap_or(NONE);
            pairs.extend((0..on.len().max(against.len())).map(|i| [place(on, i), place(against, i)]));
            starts.push(pairs.len() as u32);
        }
        Self { starts, pairs, end }
    }

    /// For one force on each of some vertices, from `first` on.
    pub(super) fn of_vertices(vertices: &Range<usize>, vertex_count: usize, first: u32) -> Self {
        let before = |v: usize| (v.clamp(vertices.start, vertices.end) - vertices.start) as u32;
        let end = first + vertices.len() as u32;
        let starts = (0..=vertex_count).map(before).collect();
        Self { starts, pairs: (first..end).map(|place| [place, NONE]).collect(), end }
    }

    /// The place after the last.
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    /// The sums of what is written.
    pub(super) fn over<'a>(&'a self, forces: &Shared<'a, Particle<f32>>) -> Sums<'a> {
        assert!(forces.len() >= self.end.max(NONE + 1) as usize, "fewer forces than places");
        Sums { starts: &self.starts, pairs: &self.pairs, forces: *forces }
    }
}

/// The forces on the vertices, added up where they are asked for.
#[derive(Clone, Copy)]
pub(super) struct Sums<'a> {
    starts: &'a [u32],
    pairs: &'a [[u32; 2]],
    forces: Shared<'a, Particle<f32>>,
}

impl Sums<'_> {
    /// ∂E/∂x of a vertex, in N.
    #[inline(always)]
    pub(super) fn at(&self, vertex: usize) -> Lanes {
        // SAFETY: every place is below `end`, by the constructors of `Rows`, and there are as many forces, by `over`.
        let force = |place: u32| unsafe { self.forces.get_unchecked(place as usize) }.four();
        let pairs = &self.pairs[self.starts[vertex] as usize..self.starts[vertex + 1] as usize];
        let (mut on, mut against) = (Lanes::ZERO, Lanes::ZERO);
        for pair in pairs {
            on += force(pair[0]);
            against += force(pair[1]);
        }
        on - against
    }
}

/// The elements of a batch in the order of their first vertices.
struct Stream<E: Energy<N>, const N: usize> {
    /// Each below the number of vertices.
    stencils: Vec<[u32; N]>,
    /// The first element writes from here on.
    first: usize,
    /// Four elements at a time, with 1/α.
    wide: Vec<(E::Rest<Lanes>, Lanes)>,
    /// The elements that are left over.
    rest: Vec<(E::Rest<f32>, f32)>,
    vertex_count: usize,
    /// τ, in s.
    damping: f64,
}

impl<E: Energy<N>, const N: usize> Flow for Batch<E, N> {
    fn stream(&self, first: u32) -> (Box<dyn Forces>, Rows) {
        if let Some(quadratic) = Quadratic::new(self, first) {
            let rows = quadratic.rows(self.vertex_count());
            return (Box::new(quadratic), rows);
        }
        let mut order: Vec<usize> = (0..self.stencils().len()).collect();
        order.sort_by_key(|&e| self.stencils()[e]);
        let stencils: Vec<[u32; N]> = order.iter().map(|&e| self.stencils()[e]).collect();
        let rest: Vec<E::Rest<f64>> = order.iter().map(|&e| self.rest()[e]).collect();
        let rows = Rows::new(&stencils, self.vertex_count(), first);
        let bundles = rest.chunks_exact(Lanes::LANES);
        let stream = Stream::<E, N> {
            rest: bundles.remainder().chunks(1).map(cast::<E, f32, N>).collect(),
            wide: bundles.map(cast::<E, Lanes, N>).collect(),
            stencils,
            first: first as usize,
            vertex_count: self.vertex_count(),
            damping: self.damping(),
        };
        (Box::new(stream), rows)
    }
}

/// The rest data of some elements, and 1/α, zero for a rigid one.
fn cast<E: Energy<N>, S: Scalar, const N: usize>(rest: &[E::Rest<f64>]) -> (E::Rest<S>, S) {
    let rest = E::cast(rest);
    // It is a constant of the element, wherever its vertices are.
    let compliance = E::row(&rest, &[Vec3::ZERO; N]).compliance();
    (rest, S::select(compliance.greater(S::ZERO), S::ONE / compliance, S::ZERO))
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
        assert!(vertices.arms.len() >= first_arm + self.arm_count(), "fewer arms than elements");
        assert!(forces.len() >= self.first + self.stencils.len() * (N - 1), "less room than there are forces");
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
        // Copies, which no store can change.
        let (particles, velocities, arms, forces) =
            (*vertices.particles, *vertices.velocities, *vertices.arms, *forces);
        let motion = [particles, velocities];
        let share = worker.share(0..self.wide.len());
        let (stencils, _) = self.stencils.as_chunks::<{ Lanes::LANES }>();
        let mut element = share.start * Lanes::LANES;
        let mut arm_place = first_arm + share.start * (N - 1);
        for (rest, stencils) in self.wide[share.clone()].iter().zip(&stencils[share]) {
            // SAFETY: `write` has looked at the lengths.
            unsafe {
                let arm = |i: usize| arms.get_unchecked(arm_place + i - 1);
                self.write_some::<Lanes, { Lanes::LANES }, DAMPED>(&motion, (element, stencils), rest, arm, &forces);
            }
            element += Lanes::LANES;
            arm_place += N - 1;
        }
        if worker.leads() {
            for (e, rest) in (self.wide.len() * Lanes::LANES..).zip(&self.rest) {
                let arm = |i: usize| vertices.arm(&self.stencils[e], i);
                // SAFETY: as before.
                unsafe {
                    self.write_some::<f32, 1, DAMPED>(&motion, (e, &[self.stencils[e]]), rest, arm, &forces);
                }
            }
        }
    }

    /// As many elements as `S` has lanes, from `first` on; `motion` has displacements and velocities.
    ///
    /// # Safety
    /// There must be as many particles, velocities and places for forces as the stream has.
    #[inline(always)]
    unsafe fn write_some<S: Bundle<f32>, const LANES: usize, const DAMPED: bool>(
        &self,
        [particles, velocities]: &[Shared<'_, Particle<f32>>; 2],
        (first, stencils): (usize, &[[u32; N]; LANES]),
        (rest, stiffness): &(E::Rest<S>, S),
        arm: impl Fn(usize) -> Vec3<S>,
        forces: &Shared<'_, Particle<f32>>,
    ) {
        let from_first = |of: &Shared<'_, Particle<f32>>, i: usize| {
            let difference = |lane: usize| {
                let stencil: &[u32; N] = &stencils[lane];
                // SAFETY: by the caller's promise, and that of the batch for its stencils.
                let [start, end] = [stencil[0], stencil[i]].map(|v| unsafe { of.get_unchecked(v as usize) }.four());
                Particle::from_four(end - start)
            };
            S::load(difference).0
        };
        let x: [Vec3<S>; N] =
            std::array::from_fn(|i| if i == 0 { Vec3::ZERO } else { from_first(particles, i) + arm(i) });
        let force: [Vec3<S>; N] = if DAMPED {
            // −f = (C + τ Ċ)/α ∇C.
            let row = E::row(rest, &x);
            let velocities = std::array::from_fn(|i| if i == 0 { Vec3::ZERO } else { from_first(velocities, i) });
            let pull = (row.value() + row.along(&velocities) * S::from_f64(self.damping)) * *stiffness;
            std::array::from_fn(|i| row.pull(i, pull))
        } else {
            E::gradient(rest, &x)
        };
        let place = self.first + first * (N - 1);
        for i in 1..N {
            S::store(force[i], S::ZERO, |lane, particle| {
                // SAFETY: by the caller's promise.
                unsafe { forces.set_unchecked(place + lane * (N - 1) + i - 1, particle) };
            });
        }
    }
}

impl Vertices<'_> {
    /// From the first vertex of an element to another at the start of the frame.
    #[inline(always)]
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
        let springs = ("spring", "dihedral");
        for (stretch, bend) in [springs, ("stvk", "dihedral"), ("spring", "isometric"), ("stvk", "shell")] {
            let text = format!(
                "solver.kind = \"explicit\"\n[[cloth]]\ngrid = {{ size = [1, 1], cells = [5, 6] }}\n\
                 [cloth.material]\ndensity = 0.2\nstretch = {{ model = \"{stretch}\", stiffness = 100.0, damping = 1e-3 }}\n\
                 bend = {{ model = \"{bend}\", stiffness = 1e-2, damping = 1e-3 }}"
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
            let (mut first, mut found) = (NONE + 1, vec![Vec3::ZERO; x.len()]);
            for term in &model.terms {
                let (stream, rows) = term.stream(first);
                first = rows.end();
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
                let sums = rows.over(&shared);
                for (i, sum) in found.iter_mut().enumerate() {
                    *sum += Particle::<f32>::from_four(sums.at(i)).xyz().cast();
                }
            }
            let largest = expected.iter().map(|f| f.norm()).fold(0.0, f64::max);
            assert!(largest > 1.0, "the sheet is strained");
            for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                // Single precision, and sums of up to a dozen parts.
                assert!(
                    (*found - *expected).norm() < 3e-6 * largest,
                    "{stretch}, {bend}, {i}: {found:?}, {expected:?}"
                );
            }
        }
    }
}
