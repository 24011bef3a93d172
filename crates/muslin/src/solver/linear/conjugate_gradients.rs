//! Conjugate gradients, preconditioned by the inverses of the diagonal blocks.
//!
//! The whole solve is one run of the team. Sums are made of pieces of fixed size, so the bits do not depend on the threads.
//!
//! [Hestenes, Stiefel 1952].

use std::sync::Mutex;

use crate::math::{Mat3, Vec3};
use crate::parallel::{Shared, Team, Worker};
use crate::solver::linear::BlockMatrix;

/// Rows whose products are summed into one number.
const PIECE: usize = 512;

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Solved {
    /// Iterations.
    pub iterations: u32,
    /// ‖b − A x‖ / ‖b‖ in the norm of the preconditioner.
    pub residual: f64,
    /// Whether a direction of negative curvature was met: the matrix is not positive definite, or not finite. It may not be
    /// met although there is one, where the right-hand side does not contain it.
    pub indefinite: bool,
}

/// The memory of a solve.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConjugateGradients {
    inverse_diagonal: Vec<Mat3>,
    residual: Vec<Vec3<f64>>,
    direction: Vec<Vec3<f64>>,
    product: Vec<Vec3<f64>>,
    solution: Vec<Vec3<f64>>,
    sums: Vec<f64>,
}

impl ConjugateGradients {
    /// Solves A x = b in place, until the residual is `tolerance` of that of x = 0 or `limit` iterations are done.
    pub(crate) fn solve(
        &mut self,
        (team, threads): (&Team, usize),
        matrix: &BlockMatrix,
        x: &mut [Vec3<f64>],
        tolerance: f64,
        limit: u32,
    ) -> Solved {
        let rows = matrix.row_count();
        let pieces = rows.div_ceil(PIECE);
        self.inverse_diagonal.clear();
        for row in 0..rows {
            let Some(inverse) = definite_inverse(&matrix.blocks()[matrix.diagonal_slot(row)]) else {
                x.fill(Vec3::ZERO);
                return Solved { iterations: 0, residual: 1.0, indefinite: true };
            };
            self.inverse_diagonal.push(inverse);
        }
        self.residual.clear();
        self.residual.extend_from_slice(x);
        self.solution.clear();
        self.solution.resize(rows, Vec3::ZERO);
        self.direction.resize(rows, Vec3::ZERO);
        self.product.resize(rows, Vec3::ZERO);
        self.sums.resize(2 * pieces, 0.0);
        let inverse = &self.inverse_diagonal;
        // Every pass sets only the items of its own share of rows (or of pieces), and a barrier stands between a pass that sets items
        // and one that gets those of others.
        let (r, d) = (Shared::open(team, &mut self.residual), Shared::open(team, &mut self.direction));
        let (q, s) = (Shared::open(team, &mut self.product), Shared::open(team, &mut self.solution));
        let sums = Shared::open(team, &mut self.sums);
        // Two halves of the array take turns, so that a sum is not overwritten while another thread still reads it.
        let dot = |worker: &Worker<'_>, half: usize, term: &dyn Fn(usize) -> f64| {
            for piece in worker.share_pieces(pieces) {
                let sum = (piece * PIECE..rows.min((piece + 1) * PIECE)).map(term).sum();
                sums.set(half * pieces + piece, sum);
            }
            worker.barrier();
            (0..pieces).map(|piece| sums.get(half * pieces + piece)).sum::<f64>()
        };
        let share = |worker: &Worker<'_>| {
            let owned = worker.share_pieces(pieces);
            owned.start * PIECE..rows.min(owned.end * PIECE)
        };
        let outcome = Mutex::new(Solved::default());
        team.run(threads, |worker| {
            let own = share(worker);
            for i in own.clone() {
                d.set(i, inverse[i].apply(r.get(i)));
            }
            let start = dot(worker, 0, &|i| r.get(i).dot(d.get(i)));
            let mut weight = start;
            // A sum that is not finite has no answer either.
            let mut solved = Solved { indefinite: !start.is_finite(), ..Solved::default() };
            while !solved.indefinite && solved.iterations < limit && weight > tolerance * tolerance * start {
                for i in own.clone() {
                    q.set(i, matrix.row_product(i, |j| d.get(j)));
                }
                let curvature = dot(worker, 1, &|i| d.get(i).dot(q.get(i)));
                if curvature.is_nan() || curvature <= 0.0 {
                    solved.indefinite = true;
                    break;
                }
                let step = weight / curvature;
                for i in own.clone() {
                    s.set(i, s.get(i) + d.get(i) * step);
                    r.set(i, r.get(i) - q.get(i) * step);
                }
                // Only own rows of the residual are read here.
                let next = dot(worker, 0, &|i| r.get(i).dot(inverse[i].apply(r.get(i))));
                let turn = next / weight;
                for i in own.clone() {
                    d.set(i, inverse[i].apply(r.get(i)) + d.get(i) * turn);
                }
                worker.barrier();
                weight = next;
                solved.iterations += 1;
            }
            if worker.leads() {
                solved.residual = if start > 0.0 { (weight / start).sqrt() } else { 0.0 };
                if let Ok(mut outcome) = outcome.lock() {
                    *outcome = solved;
                }
            }
        });
        x.copy_from_slice(&self.solution);
        outcome.into_inner().unwrap_or_default()
    }
}

/// The inverse of a symmetric block; `None` if it has a negative eigenvalue, which the matrix has then too.
///
/// What is singular but for rounding has a multiple of the identity instead: any positive definite matrix preconditions.
fn definite_inverse(block: &Mat3) -> Option<Mat3> {
    let (a, scale) = (&block.0, block.trace());
    let minors = [a[0][0], a[0][0] * a[1][1] - a[0][1] * a[1][0], block.determinant()];
    let parts = [minors[0] / scale, minors[1] / (scale * scale), minors[2] / (scale * scale * scale)];
    if !(scale > 0.0 && parts.iter().all(|part| *part > -1e-13)) {
        return None;
    }
    let is_sound = parts.iter().all(|part| *part > 1e-15);
    Some(block.inverse().filter(|_| is_sound).unwrap_or(Mat3::scalar(1.0 / scale)))
}
