//! The forces of a quadratic term in single precision: a matrix, once for all, instead of its elements.
//!
//! ```text
//! ∇ᵢE = Σⱼ Kᵢⱼ xⱼ = Σⱼ Kᵢⱼ (oⱼ − oᵢ) + Σⱼ Kᵢⱼ (uⱼ − uᵢ),   drag = τ K v
//! ```
//!
//! x = o + u, o where the vertices were at the start of the frame and u how far they have moved since, in m; Kᵢⱼ, in N/m, is a number
//! times the identity. The first sum is made in double precision once a frame. Differences, because the rows of K add up to
//! zero only before they are rounded. The drag is that of `stream.rs`, τ/α ∇C(∇C·v), for C linear in x.
//!
//! On a grid a row has 12 entries beside the diagonal, each a load and three operations. The hinges, element by element, take 2.7 times as
//! long.

use std::ops::Range;

use super::particle::{Bundle, Particle};
use super::stream::{Forces, Rows, Vertices};
use crate::energy::{Batch, Energy};
use crate::math::{Lanes, Mat3, Scalar, Vec3};
use crate::parallel::{Shared, Worker};

/// K in rows.
pub(super) struct Quadratic {
    /// The vertices of the term, and those between.
    vertices: Range<usize>,
    /// Where the entries of each of them begin, and where the last end.
    starts: Vec<u32>,
    /// j and Kᵢⱼ; each j is below the number of vertices.
    entries: Vec<(u32, f32)>,
    /// Kᵢⱼ before it was rounded.
    exact: Vec<f64>,
    /// The first vertex writes here.
    first: usize,
    /// τ, in s.
    damping: f32,
}

impl Quadratic {
    /// The matrix of a batch, if it has one of this kind; forces are written from `first` on.
    pub(super) fn new<E: Energy<N>, const N: usize>(batch: &Batch<E, N>, first: u32) -> Option<Self> {
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
            vertices,
            starts,
            entries: triplets.iter().map(|&(_, j, number)| (j, number as f32)).collect(),
            exact: triplets.iter().map(|&(.., number)| number).collect(),
            first: first as usize,
            damping: batch.damping() as f32,
        })
    }

    /// Who feels the forces.
    pub(super) fn rows(&self, vertex_count: usize) -> Rows {
        Rows::of_vertices(&self.vertices, vertex_count, self.first as u32)
    }

    /// The entries of the `local`-th of the vertices.
    #[inline(always)]
    fn row(&self, local: usize) -> Range<usize> {
        self.starts[local] as usize..self.starts[local + 1] as usize
    }

    /// Σⱼ Kᵢⱼ (oⱼ − oᵢ), in N.
    fn at_start(&self, local: usize, origins: &[Vec3<f64>]) -> Vec3<f64> {
        let own = origins[self.vertices.start + local];
        let part = |e: usize| (origins[self.entries[e].0 as usize] - own) * self.exact[e];
        self.row(local).fold(Vec3::ZERO, |sum, e| sum + part(e))
    }

    /// Writes ∇E of a share of the bundles.
    fn write_all<const DAMPED: bool>(
        &self,
        worker: &Worker<'_>,
        vertices: &Vertices<'_>,
        first_arm: usize,
        forces: &Shared<'_, Particle<f32>>,
    ) {
        let damping = Lanes::from_f64(f64::from(self.damping));
        // Copies, which no store can change.
        let (particles, velocities, forces) = (*vertices.particles, *vertices.velocities, *forces);
        let moved = |vertex: usize| {
            let shift = particles.get(vertex).four();
            if DAMPED { shift + velocities.get(vertex).four() * damping } else { shift }
        };
        for bundle in worker.share(0..self.arm_count()) {
            let start = vertices.arms.get(first_arm + bundle);
            let mut rows = Lanes::transpose([start.x, start.y, start.z, Lanes::ZERO]);
            let first = bundle * Lanes::LANES;
            let count = Lanes::LANES.min(self.vertices.len() - first);
            for (local, sum) in (first..).zip(&mut rows[..count]) {
                let own = moved(self.vertices.start + local);
                for &(j, number) in &self.entries[self.row(local)] {
                    *sum += (moved(j as usize) - own) * [number; 4].into();
                }
                // The fourth number is made of masses.
                let force = Particle::<f32>::from_four(*sum).xyz();
                forces.set(self.first + local, Particle::vector(force));
            }
        }
    }
}

impl Forces for Quadratic {
    /// Four vertices share one.
    fn arm_count(&self) -> usize {
        self.vertices.len().div_ceil(Lanes::LANES)
    }

    fn place(&self, worker: &Worker<'_>, vertices: &Vertices<'_>, first: usize) {
        for bundle in worker.share(0..self.arm_count()) {
            let force: [Vec3<f32>; Lanes::LANES] = std::array::from_fn(|lane| {
                let local = bundle * Lanes::LANES + lane;
                if local < self.vertices.len() { self.at_start(local, vertices.origins).cast() } else { Vec3::ZERO }
            });
            vertices.arms.set(first + bundle, Lanes::load_vector(|lane| force[lane]));
        }
    }

    fn write(
        &self,
        worker: &Worker<'_>,
        vertices: &Vertices<'_>,
        first_arm: usize,
        forces: &Shared<'_, Particle<f32>>,
    ) {
        assert!(vertices.particles.len() >= self.vertices.end, "a state smaller than its model");
        assert!(vertices.velocities.len() >= self.vertices.end, "a state smaller than its model");
        if self.damping > 0.0 {
            self.write_all::<true>(worker, vertices, first_arm, forces);
        } else {
            self.write_all::<false>(worker, vertices, first_arm, forces);
        }
    }
}
