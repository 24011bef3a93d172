//! Stability limit: the longest stable step of an explicit scheme, from the fastest motion of a cloth.
//!
//! Small motions x obey M ẍ + C ẋ + K x = 0, K the Hessian of the energies and C their damping. In a direction with the
//! Rayleigh quotients k = xᵀKx/xᵀMx (in 1/s²) and c = xᵀCx/xᵀMx (in 1/s) a step of the symplectic Euler scheme is
//!
//! ```text
//! v⁺ = v − h (c v + k x),   x⁺ = x + h v⁺        λ² − (2 − hc − h²k) λ + (1 − hc) = 0
//! ```
//!
//! whose roots stay in the unit circle while h²k + 2hc < 4: without damping h < 2/ω, and with c = 2ζω it is
//! hω < 2 (√(1 + ζ²) − ζ). So the step is stable while the largest eigenvalue of h²K + 2hC over M is below 4, whether
//! or not K and C share their vectors. Its vector is sought by ascending the Rayleigh quotient in the plane
//! of the vector, the residual and the last move [Knyazev 2001, LOBPCG with one vector]: one product an iteration, no
//! matrix, and the vector of the last frame is a good start.

use crate::math::{Small, Vec3};
use crate::model::Model;
use crate::parallel::Shared;
use crate::solver::Context;
use crate::solver::substep_loop::Motion;

/// Relative residual at which the vector is good enough; the eigenvalue is then at least as near to one.
const TOLERANCE: f64 = 1e-3;
/// Products of the first frame at most; grids of 40 × 40 take some 60.
const FIRST_PRODUCTS: u32 = 300;
/// Products of a later frame at most: the vector changes little from frame to frame, and each costs as much as a substep.
const LATER_PRODUCTS: u32 = 2;
/// Products for one term, whose frequency need not be known to the last digit.
const TERM_PRODUCTS: u32 = 40;

/// A direction of motion with its Rayleigh quotients.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Mode {
    /// k = ω², in 1/s².
    pub(crate) stiffness: f64,
    /// c = 2ζω, in 1/s.
    pub(crate) damping: f64,
}

impl Mode {
    /// The longest stable step, in s, where the velocity moves the position after the force moved the velocity: the root
    /// of h²k + 2hc = 4.
    pub(crate) fn symplectic_limit(self) -> f64 {
        let Self { stiffness: k, damping: c } = self;
        let sum = c + (c * c + 4.0 * k).max(0.0).sqrt();
        if sum > 0.0 { 4.0 / sum } else { f64::INFINITY }
    }

    /// The longest stable step, in s, of the forward Euler scheme: c/k for a mode that swings, 2/|s| for the faster
    /// of the two rates s of one that creeps.
    pub(crate) fn forward_limit(self) -> f64 {
        let Self { stiffness: k, damping: c } = self;
        if k <= 0.0 && c <= 0.0 {
            return f64::INFINITY;
        }
        let discriminant = c * c - 4.0 * k;
        if discriminant < 0.0 { c / k } else { 4.0 / (c + discriminant.sqrt()) }
    }
}

/// A vector with its products.
#[derive(Default)]
struct Direction {
    d: Vec<Vec3<f64>>,
    /// K d.
    stiff: Vec<Vec3<f64>>,
    /// C d.
    damped: Vec<Vec3<f64>>,
}

impl Direction {
    fn resize(&mut self, count: usize) {
        for list in [&mut self.d, &mut self.stiff, &mut self.damped] {
            list.resize(count, Vec3::ZERO);
        }
    }

    /// This vector times `own` and another times `other`, with their products.
    fn combine(&mut self, own: f64, from: &Self, other: f64) {
        let lists = [(&mut self.d, &from.d), (&mut self.stiff, &from.stiff), (&mut self.damped, &from.damped)];
        for (mine, theirs) in lists {
            for (a, b) in mine.iter_mut().zip(theirs) {
                *a = *a * own + *b * other;
            }
        }
    }

    fn scale(&mut self, factor: f64) {
        for list in [&mut self.d, &mut self.stiff, &mut self.damped] {
            for a in list {
                *a = *a * factor;
            }
        }
    }
}

/// The part of the search that is kept from frame to frame.
#[derive(Default)]
pub(crate) struct Stability {
    best: Direction,
    ascent: Direction,
    last: Direction,
    /// Of the material, for each vertex, in 1/s.
    viscosity: Vec<f64>,
    /// The one term that is looked at, if not all.
    only: Option<usize>,
}

/// Σ aᵢ·bᵢ, in order.
fn dot(a: &[Vec3<f64>], b: &[Vec3<f64>]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

/// Σ mᵢ aᵢ·bᵢ, in order.
fn mass_dot(masses: &[f64], a: &[Vec3<f64>], b: &[Vec3<f64>]) -> f64 {
    a.iter().zip(b).zip(masses).map(|((a, b), m)| a.dot(*b) * m).sum()
}

/// Three numbers in [−1, 1) that look like chance and depend on the index alone.
fn scatter(index: usize) -> Vec3<f64> {
    let number = |axis: u64| {
        let mut z = (3 * index as u64 + axis + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    Vec3::new(number(0), number(1), number(2))
}

impl Stability {
    /// The stiffest mode around the current positions, with the damping of the material in a step of `step` seconds.
    pub(crate) fn measure(&mut self, context: &Context<'_>, motion: &Motion, step: f64) -> Mode {
        let (model, count) = (context.model, motion.positions.len());
        let is_first = self.best.d.len() != count;
        let products = match self.only {
            Some(_) => TERM_PRODUCTS,
            None if is_first => FIRST_PRODUCTS,
            None => LATER_PRODUCTS,
        };
        if is_first {
            self.best.d = (0..count).map(scatter).collect();
        }
        for direction in [&mut self.best, &mut self.ascent, &mut self.last] {
            direction.resize(count);
        }
        self.viscosity.clear();
        for cloth in &model.cloths {
            // What is left of a velocity after a step is e^(−dh), as if c were (1 − e^(−dh))/h.
            let rate = (1.0 - libm::exp(-cloth.damping * step)) / step;
            self.viscosity.extend(cloth.vertices.clone().map(|_| rate));
        }
        for (i, (d, w)) in self.best.d.iter_mut().zip(&motion.inverse_masses).enumerate() {
            // A vertex that was let go since has nothing to start from.
            if *w == 0.0 {
                *d = Vec3::ZERO;
            } else if *d == Vec3::ZERO {
                *d = scatter(i) * 1e-3;
            }
        }
        let masses = &model.masses;
        let norm = mass_dot(masses, &self.best.d, &self.best.d).sqrt();
        if norm == 0.0 || !norm.is_finite() {
            self.best.d.clear();
            return Mode::default();
        }
        for d in &mut self.best.d {
            *d = *d * (1.0 / norm);
        }
        multiply(context, motion, &self.viscosity, self.only, &mut self.best);
        self.ascend(context, motion, products)
    }

    /// Of one term alone.
    pub(crate) fn of_term(term: usize) -> Self {
        Self { only: Some(term), ..Self::default() }
    }

    fn ascend(&mut self, context: &Context<'_>, motion: &Motion, products: u32) -> Mode {
        let masses = &context.model.masses;
        let mut has_last = false;
        for product in 0..=products {
            let Self { best, ascent, last, viscosity, only } = self;
            let mode = Mode { stiffness: dot(&best.d, &best.stiff), damping: dot(&best.d, &best.damped) };
            let weight = 2.0 / mode.symplectic_limit();
            let value = mode.stiffness + weight * mode.damping;
            for (i, r) in ascent.d.iter_mut().enumerate() {
                let pull = best.stiff[i] + best.damped[i] * weight;
                *r = pull * motion.inverse_masses[i] - best.d[i] * value;
            }
            let residual = mass_dot(masses, &ascent.d, &ascent.d).sqrt();
            // Not a number: this frame is beyond help, and must not spoil the start of another.
            if residual.is_nan() {
                best.d.clear();
                return mode;
            }
            if residual <= TOLERANCE * value.abs() || residual == 0.0 || product == products {
                return mode;
            }
            for r in &mut ascent.d {
                *r = *r * (1.0 / residual);
            }
            multiply(context, motion, viscosity, *only, ascent);
            // The three vectors at right angles, as far as they differ.
            let overlap = mass_dot(masses, &ascent.d, &best.d);
            ascent.combine(1.0, best, -overlap);
            ascent.scale(1.0 / mass_dot(masses, &ascent.d, &ascent.d).sqrt());
            if has_last {
                let overlap = mass_dot(masses, &last.d, &best.d);
                last.combine(1.0, best, -overlap);
                let overlap = mass_dot(masses, &last.d, &ascent.d);
                last.combine(1.0, ascent, -overlap);
                let norm = mass_dot(masses, &last.d, &last.d).sqrt();
                has_last = norm > 1e-8;
                if has_last {
                    last.scale(1.0 / norm);
                }
            }
            let all = [&*best, &*ascent, &*last];
            let entry = |i: usize, j: usize| dot(&all[i].d, &all[j].stiff) + weight * dot(&all[i].d, &all[j].damped);
            let (_, parts) = Small::new(if has_last { 3 } else { 2 }, entry).largest();
            if has_last {
                last.combine(parts[2], ascent, parts[1]);
            } else {
                last.combine(0.0, ascent, parts[1]);
            }
            best.combine(parts[0], last, 1.0);
            best.scale(1.0 / mass_dot(masses, &best.d, &best.d).sqrt());
            let norm = mass_dot(masses, &last.d, &last.d).sqrt();
            has_last = norm > 0.0;
            if has_last {
                last.scale(1.0 / norm);
            }
        }
        Mode::default()
    }
}

/// K d and C d around the current positions.
fn multiply(context: &Context<'_>, motion: &Motion, viscosity: &[f64], only: Option<usize>, direction: &mut Direction) {
    let Direction { d, stiff, damped } = direction;
    let model: &Model = context.model;
    stiff.fill(Vec3::ZERO);
    for (c, (d, (rate, m))) in damped.iter_mut().zip(d.iter().zip(viscosity.iter().zip(&model.masses))) {
        *c = *d * (rate * m);
    }
    let (stiff, damped) = (Shared::open(context.team, stiff), Shared::open(context.team, damped));
    context.team.run(context.threads, |worker| {
        for (_, term) in context.terms.iter().enumerate().filter(|(t, _)| only.is_none_or(|only| only == *t)) {
            term.add_product(worker, &motion.positions, d, &stiff);
            term.add_drag(worker, &motion.positions, d, &damped);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_of_one_mode_are_those_of_its_step() {
        for (k, c) in [(4.0, 0.0), (9.0, 0.3), (9.0, 20.0), (0.0, 3.0), (100.0, 19.0)] {
            let mode = Mode { stiffness: k, damping: c };
            // The products of the eigenvalues of the two steps, by trace and determinant.
            let symplectic = |h: f64| radius(2.0 - h * c - h * h * k, 1.0 - h * c);
            let forward = |h: f64| radius(2.0 - h * c, 1.0 - h * c + h * h * k);
            for (limit, radius) in
                [(mode.symplectic_limit(), &symplectic as &dyn Fn(f64) -> f64), (mode.forward_limit(), &forward)]
            {
                if limit > 0.0 {
                    assert!(radius(0.999 * limit) <= 1.0 + 1e-12, "{mode:?}: {}", radius(0.999 * limit));
                }
                assert!(radius(1.001 * limit + 1e-6) > 1.0, "{mode:?}: {}", radius(1.001 * limit));
            }
        }
    }

    /// The largest modulus of the roots of λ² − tλ + d.
    fn radius(trace: f64, determinant: f64) -> f64 {
        let discriminant = trace * trace - 4.0 * determinant;
        if discriminant < 0.0 { determinant.sqrt() } else { 0.5 * (trace.abs() + discriminant.sqrt()) }
    }
}
