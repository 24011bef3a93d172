//! Force buffers: the forces of all elements of a batch in single precision, for a solver that moves each vertex once in a substep.
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

use std::ops::Range;

use crate::energy::{Batch, Constraint, Energy};
#[cfg(target_arch = "x86_64")]
use crate::math::F32x8;
use crate::math::{F32x4, Scalar, Vec3, array};
use crate::parallel::{Gathered, GatheredLists, Pieces, Shared, SpotLists, Spots, Worker};
use crate::solver::explicit::stiffness_matrix::StiffnessMatrix;
use crate::solver::position_based::particle::{Bundled, Differences, Moving, Particle};
use crate::solver::position_based::sweep::{place_bundle, rest_offset, rest_offset_of_bundle};

/// The vertices as forces see them.
pub(crate) struct Vertices<'a> {
    /// Displacements since the start of the frame, in m (see [`Sweep`](crate::solver::position_based::sweep::Sweep)), and velocities, in m/s.
    pub(crate) motion: Shared<'a, Moving>,
    /// Where the vertices were at the start of the frame, in m.
    pub(crate) origins: &'a [Vec3<f64>],
    /// The rest offsets of the full bundles of all buffers.
    pub(crate) rest_offsets: &'a [f32],
}

/// The forces of a batch in a buffer, with its model erased.
pub(crate) trait ForceBuffer: Send + Sync {
    /// How many numbers the rest offsets take.
    fn rest_offset_count(&self) -> usize;
    /// Measures the rest offsets at the start of a frame, from where the vertices are then, in m; those of this buffer begin at `first`.
    fn place(&self, worker: &Worker<'_>, origins: &[Vec3<f64>], rest_offsets: &Shared<'_, f32>, first: usize);
    /// Writes ∂E/∂x and damping, in N, for the elements of this worker's share; [`Rows`] has what they mean.
    fn write(
        &self,
        worker: &Worker<'_>,
        vertices: &Vertices<'_>,
        first_rest_offset: usize,
        forces: &Shared<'_, Particle<f32>>,
    );
}

/// Sweep of the explicit solver over a term.
pub(crate) trait BufferedForces {
    /// The forces of the term, written from the place `first` on, in the widest registers or not, and who feels them.
    fn force_buffer(&self, first: u32, is_wide: bool) -> (Box<dyn ForceBuffer>, Rows);
}

/// The place of a force that is never written and stays zero.
pub(crate) const NONE: u32 = 0;

/// Which of the written forces each vertex feels.
pub(crate) struct Rows {
    /// For each vertex, forces that count for it, each with one that counts against it; all of a place below `end`.
    ///
    /// In pairs, since on a mesh most vertices have as many of the one as of the other, and one loop costs less than two.
    pairs: SpotLists<Particle<f32>, 2>,
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
        Self { pairs: SpotLists::new(pairs, end.max(NONE + 1) as usize, starts), end }
    }

    /// For one force on each of some vertices, from `first` on.
    pub(crate) fn of_vertices(vertices: &Range<usize>, vertex_count: usize, first: u32) -> Self {
        let before = |v: usize| (v.clamp(vertices.start, vertices.end) - vertices.start) as u32;
        let end = first + vertices.len() as u32;
        let starts = (0..=vertex_count).map(before).collect();
        let pairs = (first..end).map(|place| [place, NONE]);
        Self { pairs: SpotLists::new(pairs, end.max(NONE + 1) as usize, starts), end }
    }

    /// The place after the last.
    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    /// The sums of what is written.
    pub(crate) fn over<'a>(&'a self, forces: &Shared<'a, Particle<f32>>) -> Sums<'a> {
        Sums { pairs: self.pairs.over(forces) }
    }
}

/// The forces on the vertices, added up where they are asked for.
#[derive(Clone, Copy)]
pub(crate) struct Sums<'a> {
    pairs: GatheredLists<'a, 'a, Particle<f32>, Particle<f32>, 2>,
}

impl Sums<'_> {
    /// ∂E/∂x of a vertex, in N.
    #[inline(always)]
    pub(crate) fn at(&self, vertex: usize) -> F32x4 {
        let pairs = self.pairs.list(vertex);
        let (mut on, mut against) = (F32x4::ZERO, F32x4::ZERO);
        for pair in 0..pairs.len() {
            on += pairs.get(pair, 0).four();
            against += pairs.get(pair, 1).four();
        }
        on - against
    }
}

/// The elements of a batch in the order of their first vertices, as many at a time as `S` has lanes.
struct ElementForces<E: Energy<N>, S: Scalar, const N: usize> {
    stencils: Vec<[u32; N]>,
    /// The same.
    spots: Spots<Moving, N>,
    /// The first element writes from here on.
    first: usize,
    /// Several elements at a time, with 1/α.
    wide: Vec<(E::Rest<S>, S)>,
    /// The elements that are left over.
    rest: Vec<(E::Rest<f32>, f32)>,
    /// τ, in s.
    damping: f64,
}

impl<E: Energy<N>, const N: usize> BufferedForces for Batch<E, N> {
    fn force_buffer(&self, first: u32, is_wide: bool) -> (Box<dyn ForceBuffer>, Rows) {
        if let Some(quadratic) = StiffnessMatrix::new(self, first) {
            let rows = quadratic.rows(self.vertex_count());
            return (Box::new(quadratic), rows);
        }
        let mut order: Vec<usize> = (0..self.stencils().len()).collect();
        order.sort_by_key(|&e| self.stencils()[e]);
        let stencils: Vec<[u32; N]> = order.iter().map(|&e| self.stencils()[e]).collect();
        let rows = Rows::new(&stencils, self.vertex_count(), first);
        #[cfg(target_arch = "x86_64")]
        if is_wide {
            return (Box::new(ElementForces::<E, F32x8, N>::new(self, &order, stencils, first)), rows);
        }
        let _ = is_wide;
        (Box::new(ElementForces::<E, F32x4, N>::new(self, &order, stencils, first)), rows)
    }
}

/// The rest data of an element, and 1/α, zero for a rigid one.
fn cast<E: Energy<N>, const N: usize>(rest: &E::Rest<f64>) -> (E::Rest<f32>, f32) {
    let rest = E::cast(std::slice::from_ref(rest));
    // It is a constant of the element, wherever its vertices are.
    let compliance = E::row(&rest, &[Vec3::ZERO; N]).compliance();
    (rest, if compliance > 0.0 { 1.0 / compliance } else { 0.0 })
}

impl<E: Energy<N>, S: Differences, const N: usize> ElementForces<E, S, N> {
    fn new(batch: &Batch<E, N>, order: &[usize], stencils: Vec<[u32; N]>, first: u32) -> Self {
        let rest: Vec<E::Rest<f64>> = order.iter().map(|&e| batch.rest()[e]).collect();
        let bundles = rest.chunks_exact(S::LANES);
        Self {
            spots: Spots::new(stencils.iter().copied(), batch.vertex_count()),
            rest: bundles.remainder().iter().map(cast::<E, N>).collect(),
            wide: bundles.map(|some| (E::cast(some), S::load_number(|lane| cast::<E, N>(&some[lane]).1))).collect(),
            stencils,
            first: first as usize,
            damping: batch.damping(),
        }
    }
}

impl<E: Energy<N>, S: Differences, const N: usize> ForceBuffer for ElementForces<E, S, N> {
    fn rest_offset_count(&self) -> usize {
        self.wide.len() * S::LANES * 3 * (N - 1)
    }

    fn place(&self, worker: &Worker<'_>, origins: &[Vec3<f64>], rest_offsets: &Shared<'_, f32>, first: usize) {
        for bundle in worker.share(0..self.wide.len()) {
            let stencils = &self.stencils[bundle * S::LANES..][..S::LANES];
            let first = first + bundle * S::LANES * 3 * (N - 1);
            place_bundle(stencils.iter().copied(), origins, rest_offsets, first);
        }
    }

    fn write(
        &self,
        worker: &Worker<'_>,
        vertices: &Vertices<'_>,
        first_rest_offset: usize,
        forces: &Shared<'_, Particle<f32>>,
    ) {
        assert!(S::LANES == f32::lanes(worker.is_wide()), "another team than the buffer was made for");
        worker.compiled(
            #[inline(always)]
            || self.write_some(worker, vertices, first_rest_offset, forces),
        );
    }
}

impl<E: Energy<N>, S: Differences, const N: usize> ElementForces<E, S, N> {
    /// Writes the forces of this worker's share.
    #[inline(always)]
    fn write_some(
        &self,
        worker: &Worker<'_>,
        vertices: &Vertices<'_>,
        first_rest_offset: usize,
        forces: &Shared<'_, Particle<f32>>,
    ) {
        // Two loops, because the choice inside one costs.
        if self.damping > 0.0 {
            self.write_all::<true>(worker, vertices, first_rest_offset, forces);
        } else {
            self.write_all::<false>(worker, vertices, first_rest_offset, forces);
        }
    }

    #[inline(always)]
    fn write_all<const DAMPED: bool>(
        &self,
        worker: &Worker<'_>,
        vertices: &Vertices<'_>,
        first_rest_offset: usize,
        forces: &Shared<'_, Particle<f32>>,
    ) {
        let bundle_size = S::LANES * 3 * (N - 1);
        let all_offsets = &vertices.rest_offsets[first_rest_offset..][..self.rest_offset_count()];
        // A copy, which no store can change.
        let all = self.spots.over(&vertices.motion);
        let pieces = Pieces::small(self.first, S::LANES * (N - 1), self.wide.len());
        let (share, own_forces) = worker.part(forces, &pieces);
        let offsets = all_offsets[share.start * bundle_size..share.end * bundle_size].chunks_exact(bundle_size);
        let motion = all.slice(share.start * S::LANES..share.end * S::LANES);
        let bundles = motion.chunks_exact(S::LANES).zip(own_forces.chunks_exact(S::LANES * (N - 1)));
        for ((rest, offsets), (motion, forces)) in self.wide[share].iter().zip(offsets).zip(bundles) {
            let offset = |i: usize| rest_offset_of_bundle(offsets, i);
            self.write_bundle::<S, DAMPED>(&motion, rest, offset, |place, force| forces[place].set(force));
        }
        if worker.leads() {
            for (e, rest) in (self.wide.len() * S::LANES..).zip(&self.rest) {
                let offset = |i: usize| rest_offset(vertices.origins, &self.stencils[e], i);
                let set = |place, force| forces.set(self.first + e * (N - 1) + place, force);
                self.write_bundle::<f32, DAMPED>(&all.slice(e..e + 1), rest, offset, set);
            }
        }
    }

    /// As many elements as `T` has lanes: their vertices, rest data and rest offsets, and where to put the forces.
    #[inline(always)]
    fn write_bundle<T: Differences, const DAMPED: bool>(
        &self,
        motion: &Gathered<'_, '_, Moving, Moving, N>,
        (rest, stiffness): &(E::Rest<T>, T),
        offset: impl Fn(usize) -> Vec3<T>,
        set: impl Fn(usize, Particle<f32>),
    ) {
        let ends = |lane: usize, i: usize| [motion.get(lane, 0), motion.get(lane, i)];
        let (mut x, mut v) = ([Vec3::ZERO; N], [Vec3::ZERO; N]);
        for i in 1..N {
            if DAMPED {
                [x[i], v[i]] = T::both(|lane| ends(lane, i));
            } else {
                x[i] = T::displacement(|lane| ends(lane, i));
            }
            x[i] += offset(i);
        }
        let force: [Vec3<T>; N] = if DAMPED {
            // −f = (C + τ Ċ)/α ∇C.
            let row = E::row(rest, &x);
            let pull = (row.value() + row.along(&v) * T::from_f64(self.damping)) * *stiffness;
            array(
                #[inline(always)]
                |i| row.pull(i, pull),
            )
        } else {
            E::gradient(rest, &x)
        };
        for i in 1..N {
            T::store(force[i], T::ZERO, |lane, particle| set(lane * (N - 1) + i - 1, particle));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Team;
    use crate::scene::parse;
    use crate::setup;
    use crate::setup::Compiled;
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
            let Compiled { model, terms, .. } = setup::compile(&scene, &mut |_| Err(String::new())).unwrap();
            let wave = |i: usize, by: f64| libm::sin(by * i as f64);
            let moves = |size: f64| {
                let vector = move |i| Vec3::new(wave(i, 1.3), wave(i, 2.1), wave(i, 0.7)) * size;
                (0..model.masses.len()).map(vector).collect::<Vec<_>>()
            };
            let (shifts, v) = (moves(0.02), moves(0.5));
            let x: Vec<_> = model.initial_positions.iter().zip(&shifts).map(|(x, u)| *x + *u).collect();

            let mut expected = vec![Vec3::ZERO; x.len()];
            let four = |vector: &Vec3<f64>| Particle::<f32>::vector(vector.cast()).four();
            let mut motion: Vec<_> = shifts.iter().zip(&v).map(|(u, v)| Moving::new(four(u), four(v))).collect();
            let (mut first, mut found) = (NONE + 1, vec![Vec3::ZERO; x.len()]);
            for term in &terms {
                let team = Team::new(2).unwrap();
                let (buffer, rows) = term.force_buffer(first, team.is_wide());
                first = rows.end();
                let mut forces = vec![Particle::default(); first as usize];
                let mut rest_offsets = vec![0.0; buffer.rest_offset_count()];
                let offsets = Shared::open(&team, &mut rest_offsets);
                team.run(2, |worker| buffer.place(worker, &model.initial_positions, &offsets, 0));
                let (expected, shared) = (Shared::open(&team, &mut expected), Shared::open(&team, &mut forces));
                let motion = Shared::open(&team, &mut motion);
                let vertices = Vertices { motion, origins: &model.initial_positions, rest_offsets: &rest_offsets };
                team.run(2, |worker| {
                    term.add_gradient(worker, Instant { positions: &x, previous: &x, step: f64::INFINITY }, &expected);
                    term.add_drag(worker, &x, &v, &expected);
                    buffer.write(worker, &vertices, 0, &shared);
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
