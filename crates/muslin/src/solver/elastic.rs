//! Elastic sums over the elements of a term in double precision, for the solvers that work with forces.
//!
//! Internal damping is a potential too, quadratic in the step and exact to differentiate:
//!
//! ```text
//! D(x) = τ/(2 h α) ‖∇C(xⁿ)·(x − xⁿ)‖²        τ time constant [s], h substep [s], xⁿ its start
//! ```
//!
//! so that the damping force is τ/α ∇C Ċ: the time constant times the stiffness times the rate.
//!
//! Elements of a colour share no vertex, and sums of numbers are made of pieces of fixed size, so no result depends on the
//! number of threads.

use crate::energy::{Batch, Constraint, Energy, Multiplier, Treatment};
use crate::math::{Dual, Mat3, Vec3};
use crate::parallel::{Shared, Worker};

/// Elements whose energies are summed into one number.
const PIECE: usize = 512;

/// Where an energy is evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instant<'a> {
    /// x, in m.
    pub positions: &'a [Vec3<f64>],
    /// xⁿ, in m: where the substep began.
    pub previous: &'a [Vec3<f64>],
    /// h, in s; infinite for a state at rest, which damps nothing.
    pub step: f64,
}

/// The sums of one term.
pub(crate) trait Elastic {
    /// How many numbers [`values`](Self::values) gives.
    fn piece_count(&self) -> usize;
    /// Σψ + D, in J, in pieces: those of this worker's share, at `first` of `out` and on.
    fn values(&self, worker: &Worker<'_>, at: Instant<'_>, out: &Shared<'_, f64>, first: usize);
    /// Adds ∂(ψ + D)/∂x, in N, to each vertex; a barrier after each colour.
    fn add_gradient(&self, worker: &Worker<'_>, at: Instant<'_>, out: &Shared<'_, Vec3<f64>>);
    /// Adds ∂²(ψ + D)/∂xᵢ∂xⱼ, in N/m, to the blocks that `slots` names, N² for each element; a barrier after each colour.
    fn add_stiffness(
        &self,
        worker: &Worker<'_>,
        at: Instant<'_>,
        treatment: Treatment,
        slots: &[u32],
        out: &Shared<'_, Mat3>,
    );
    /// Adds ∂²ψ/∂x² d, in N, to each vertex, from the exact Hessian; a barrier after each colour.
    fn add_product(&self, worker: &Worker<'_>, x: &[Vec3<f64>], d: &[Vec3<f64>], out: &Shared<'_, Vec3<f64>>);
    /// Adds τ/α ∇C(∇C·d) at x to each vertex; a barrier after each colour. With d a velocity, in m/s, that is the gradient
    /// of the internal damping, in N.
    fn add_drag(&self, worker: &Worker<'_>, x: &[Vec3<f64>], d: &[Vec3<f64>], out: &Shared<'_, Vec3<f64>>);
    /// ∂ψ/∂x and ∂D/∂x at one corner of an element, in N; `at` tells x and xⁿ of a vertex, in m. Not numbers for a rigid constraint.
    fn forces_at(
        &self,
        element: usize,
        corner: usize,
        step: f64,
        at: &dyn Fn(usize) -> [Vec3<f64>; 2],
    ) -> [Vec3<f64>; 2];
}

impl<E: Energy<N>, const N: usize> Batch<E, N> {
    /// The constraint at the start of the substep and how far it has moved since, times τ/(hα); `None` without damping.
    #[inline]
    fn drag(&self, e: usize, at: Instant<'_>) -> Option<(E::Row<f64>, Moved<E, N>)> {
        let rate = self.damping() / at.step;
        if rate == 0.0 {
            return None;
        }
        let moved = self.stencils()[e].map(|v| at.positions[v as usize] - at.previous[v as usize]);
        self.resistance(e, at.previous, &moved, rate)
    }

    /// The constraint at `x`, and how far a move takes it, times `rate`/α; `None` for a rigid one.
    #[inline]
    pub(super) fn resistance(
        &self,
        e: usize,
        x: &[Vec3<f64>],
        moved: &[Vec3<f64>; N],
        rate: f64,
    ) -> Option<(E::Row<f64>, Moved<E, N>)> {
        let row = E::row(&self.rest()[e], &self.stencils()[e].map(|v| x[v as usize]));
        let compliance = row.compliance();
        (compliance > 0.0).then(|| (row, row.along(moved) * (rate / compliance)))
    }
}

/// D = ‖∇C·d‖² rate/2α from (∇C·d) rate/α, in J.
#[inline]
pub(super) fn drag_value<C: Constraint<f64, N>, const N: usize>(row: &C, pull: C::Multiplier, rate: f64) -> f64 {
    0.5 * pull.norm_squared() * row.compliance() / rate
}

/// The type of C of a model.
pub(super) type Moved<E, const N: usize> = <<E as Energy<N>>::Row<f64> as Constraint<f64, N>>::Multiplier;

impl<E: Energy<N>, const N: usize> Elastic for Batch<E, N> {
    fn piece_count(&self) -> usize {
        self.stencils().len().div_ceil(PIECE)
    }

    fn values(&self, worker: &Worker<'_>, at: Instant<'_>, out: &Shared<'_, f64>, first: usize) {
        let count = self.stencils().len();
        for piece in worker.share_pieces(self.piece_count()) {
            let mut sum = 0.0;
            for e in piece * PIECE..count.min((piece + 1) * PIECE) {
                sum += E::value(&self.rest()[e], &self.stencils()[e].map(|v| at.positions[v as usize]));
                if let Some((row, pull)) = self.drag(e, at) {
                    sum += drag_value(&row, pull, self.damping() / at.step);
                }
            }
            out.set(first + piece, sum);
        }
    }

    fn add_gradient(&self, worker: &Worker<'_>, at: Instant<'_>, out: &Shared<'_, Vec3<f64>>) {
        worker.for_each_color(self.colored(), |element| {
            let (e, stencil) = (element.index(), element.stencil());
            let mut gradient = E::gradient(&self.rest()[e], &stencil.map(|v| at.positions[v as usize]));
            if let Some((row, pull)) = self.drag(e, at) {
                for i in 0..N {
                    gradient[i] += row.pull(i, pull);
                }
            }
            let own = element.of(out);
            for (i, g) in gradient.into_iter().enumerate() {
                own.set(i, own.get(i) + g);
            }
        });
    }

    fn add_stiffness(
        &self,
        worker: &Worker<'_>,
        at: Instant<'_>,
        treatment: Treatment,
        slots: &[u32],
        out: &Shared<'_, Mat3>,
    ) {
        let rate = self.damping() / at.step;
        worker.for_each_color(self.colored(), |element| {
            let (e, stencil) = (element.index(), element.stencil());
            let rest = &self.rest()[e];
            let blocks = treatment.stiffness::<E, N>(rest, &stencil.map(|v| at.positions[v as usize]));
            let drag = (rate > 0.0).then(|| E::square(rest, &stencil.map(|v| at.previous[v as usize])));
            for i in 0..N {
                for j in 0..N {
                    // Elements without a common vertex have no common block.
                    let slot = slots[(e * N + i) * N + j];
                    let mut block = out.get(slot as usize) + blocks[i][j];
                    if let Some(drag) = &drag {
                        block += drag[i][j] * rate;
                    }
                    out.set(slot as usize, block);
                }
            }
        });
    }

    fn add_product(&self, worker: &Worker<'_>, x: &[Vec3<f64>], d: &[Vec3<f64>], out: &Shared<'_, Vec3<f64>>) {
        worker.for_each_color(self.colored(), |element| {
            let e = element.index();
            let dual = |x: f64, d: f64| Dual { value: x, derivative: d };
            let seeded = element.stencil().map(|v| {
                let (x, d) = (x[v as usize], d[v as usize]);
                Vec3::new(dual(x.x, d.x), dual(x.y, d.y), dual(x.z, d.z))
            });
            let rest = E::cast::<Dual<f64>>(&self.rest()[e..=e]);
            let own = element.of(out);
            for (i, g) in E::gradient(&rest, &seeded).into_iter().enumerate() {
                let product = Vec3::new(g.x.derivative, g.y.derivative, g.z.derivative);
                own.set(i, own.get(i) + product);
            }
        });
    }

    fn add_drag(&self, worker: &Worker<'_>, x: &[Vec3<f64>], d: &[Vec3<f64>], out: &Shared<'_, Vec3<f64>>) {
        if self.damping() == 0.0 {
            return;
        }
        worker.for_each_color(self.colored(), |element| {
            let moved = element.stencil().map(|v| d[v as usize]);
            if let Some((row, pull)) = self.resistance(element.index(), x, &moved, self.damping()) {
                let own = element.of(out);
                for i in 0..N {
                    own.set(i, own.get(i) + row.pull(i, pull));
                }
            }
        });
    }

    fn forces_at(
        &self,
        element: usize,
        corner: usize,
        step: f64,
        at: &dyn Fn(usize) -> [Vec3<f64>; 2],
    ) -> [Vec3<f64>; 2] {
        let (rest, rate) = (&self.rest()[element], self.damping() / step);
        let places = self.stencils()[element].map(|v| at(v as usize));
        let (x, previous) = (places.map(|place| place[0]), places.map(|place| place[1]));
        let row = E::row(rest, &previous);
        let compliance = row.compliance();
        if compliance == 0.0 {
            return [Vec3::splat(f64::NAN); 2];
        }
        let mut drag = Vec3::ZERO;
        if rate > 0.0 {
            let moved: [Vec3<f64>; N] = std::array::from_fn(|i| x[i] - previous[i]);
            drag = row.pull(corner, row.along(&moved) * (rate / compliance));
        }
        [E::gradient(rest, &x)[corner], drag]
    }
}
