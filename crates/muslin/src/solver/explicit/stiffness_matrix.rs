//! Stiffness matrix of a quadratic term in single precision: made once, instead of forces element by element.
//!
//! ```text
//! ∇ᵢE = Σⱼ Kᵢⱼ xⱼ = Σⱼ Kᵢⱼ (oⱼ − oᵢ) + Σⱼ Kᵢⱼ (uⱼ − uᵢ),   drag = τ K v
//! ```
//!
//! x = o + u, o where the vertices were at the start of the frame and u how far they have moved since, in m; Kᵢⱼ, in N/m, is a number
//! times the identity. The first sum is made in double precision once a frame. Differences, because the rows of K add up to
//! zero only before they are rounded. The drag is that of `force_buffers.rs`, τ/α ∇C(∇C·v), for C linear in x.
//!
//! On a grid a row has 12 entries beside the diagonal, each a load and three operations. The hinges, element by element, take 2.7 times as
//! long.

use std::ops::Range;

use crate::energy::{Batch, Energy};
use crate::math::{F32x4, Mat3, Scalar, Vec3};
use crate::parallel::{Shared, SpotLists, Worker};
use crate::solver::explicit::force_buffers::{ForceBuffer, Rows, Vertices};
use crate::solver::position_based::particle::{Bundle, Moving, Particle};

/// K in rows.
pub(crate) struct StiffnessMatrix {
    /// The vertices of the term, and those between.
    vertices: Range<usize>,
    /// For each of them, every j; each is one of the vertices.
    neighbors: SpotLists<Moving, 1>,
    /// Kᵢⱼ of each.
    entries: Vec<f32>,
    /// Both before they were rounded.
    exact: Vec<(u32, f64)>,
    /// The first vertex writes here.
    first: usize,
    /// τ, in s.
    damping: f32,
}

impl StiffnessMatrix {
    /// The matrix of a batch, if it has one of this kind; forces are written from `first` on.
    pub(crate) fn new<E: Energy<N>, const N: usize>(batch: &Batch<E, N>, first: u32) -> Option<Self> {
        if !E::IS_QUADRATIC {
            return None;
        }
        let mut triplets = Vec::with_capacity(batch.stencils().len() * N * (N - 1));
        let nowhere = [Vec3::ZERO; N];
        for (stencil, rest) in batch.stencils().iter().zip(batch.rest()) {
            // A force where all is in one place would be missing.
            if E::gradient(rest, &nowhere).iter().any(|force| *force != Vec3::ZERO) {
                return None;
            }
            for (&i, blocks) in stencil.iter().zip(E::hessian(rest, &nowhere)) {
                for (&j, block) in stencil.iter().zip(blocks) {
                    let number = block.0[0][0];
                    if block != Mat3::scalar(number) {
                        return None;
                    }
                    triplets.push((i, j, number));
                }
            }
        }
        triplets.retain(|(i, j, _)| i != j);
        // Stable, so that the sums of equal pairs are in the order of the batch.
        triplets.sort_by_key(|&(i, j, _)| (i, j));
        triplets.dedup_by(|next, kept| {
            let is_same = (next.0, next.1) == (kept.0, kept.1);
            if is_same {
                kept.2 += next.2;
            }
            is_same
        });
        let all = || batch.stencils().iter().flatten();
        let vertices = all().min().map_or(0, |&v| v as usize)..all().max().map_or(0, |&v| v as usize + 1);
        let mut starts = vec![0; vertices.len() + 1];
        for &(i, ..) in &triplets {
            starts[i as usize - vertices.start + 1] += 1;
        }
        for v in 1..starts.len() {
            starts[v] += starts[v - 1];
        }
        Some(Self {
            neighbors: SpotLists::new(triplets.iter().map(|&(_, j, _)| [j]), vertices.end, starts),
            vertices,
            entries: triplets.iter().map(|&(.., number)| number as f32).collect(),
            exact: triplets.iter().map(|&(_, j, number)| (j, number)).collect(),
            first: first as usize,
            damping: batch.damping() as f32,
        })
    }

    /// Who feels the forces.
    pub(crate) fn rows(&self, vertex_count: usize) -> Rows {
        Rows::of_vertices(&self.vertices, vertex_count, self.first as u32)
    }

    /// The entries of the `local`-th of the vertices.
    #[inline(always)]
    fn row(&self, local: usize) -> Range<usize> {
        self.neighbors.range(local)
    }

    /// Σⱼ Kᵢⱼ (oⱼ − oᵢ), in N.
    fn at_start(&self, local: usize, origins: &[Vec3<f64>]) -> Vec3<f64> {
        let own = origins[self.vertices.start + local];
        let part = |&(j, number): &(u32, f64)| (origins[j as usize] - own) * number;
        self.exact[self.row(local)].iter().fold(Vec3::ZERO, |sum, entry| sum + part(entry))
    }

    /// Writes ∇E of a share of the vertices.
    #[inline(always)]
    fn write_some(
        &self,
        worker: &Worker<'_>,
        vertices: &Vertices<'_>,
        first_rest_offset: usize,
        forces: &Shared<'_, Particle<f32>>,
    ) {
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
        let damping = F32x4::from_f64(f64::from(self.damping));
        // A copy, which no store can change.
        let (motion, neighbors) = (vertices.motion, self.neighbors.over(&vertices.motion));
        let all_offsets = &vertices.rest_offsets[first_rest_offset..][..self.rest_offset_count()];
        let moved = |vertex: Moving| {
            if DAMPED { vertex.particle() + vertex.velocity() * damping } else { vertex.particle() }
        };
        let share = worker.share(0..self.vertices.len());
        let offsets = all_offsets[share.start * F32x4::LANES..share.end * F32x4::LANES].chunks_exact(F32x4::LANES);
        for (local, offsets) in share.zip(offsets) {
            let mut sum = F32x4::read(offsets);
            let own = moved(motion.get(self.vertices.start + local));
            let (list, numbers) = (neighbors.list(local), &self.entries[self.row(local)]);
            for (k, &number) in numbers.iter().enumerate() {
                sum += (moved(list.get(k, 0)) - own) * [number; 4].into();
            }
            // The fourth number is made of masses.
            let force = Particle::<f32>::from_four(sum).xyz();
            forces.set(self.first + local, Particle::vector(force));
        }
    }
}

impl ForceBuffer for StiffnessMatrix {
    /// Three numbers for each vertex, and one to fill a register.
    fn rest_offset_count(&self) -> usize {
        self.vertices.len() * F32x4::LANES
    }

    fn place(&self, worker: &Worker<'_>, origins: &[Vec3<f64>], rest_offsets: &Shared<'_, f32>, first: usize) {
        for local in worker.share(0..self.vertices.len()) {
            let force: Vec3<f32> = self.at_start(local, origins).cast();
            for (part, number) in force.to_array().into_iter().enumerate() {
                rest_offsets.set(first + local * F32x4::LANES + part, number);
            }
        }
    }

    fn write(
        &self,
        worker: &Worker<'_>,
        vertices: &Vertices<'_>,
        first_rest_offset: usize,
        forces: &Shared<'_, Particle<f32>>,
    ) {
        worker.compiled(
            #[inline(always)]
            || self.write_some(worker, vertices, first_rest_offset, forces),
        );
    }
}
