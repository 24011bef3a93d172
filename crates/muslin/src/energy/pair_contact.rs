//! Contact of a vertex with a triangle, or of two edges: a rigid one-sided constraint with Coulomb friction.
//!
//! ```text
//! C = n·r − t ≥ 0,    r = Σ bᵢ xᵢ        n normal, t thickness, in m, b the weights of the closest points
//! ```
//!
//! The weights of the first of the two sum to 1 and those of the second to −1, so r leads from the one closest point to the other. Both n and b
//! are fixed for the substep: C is linear, one projection meets it. They are those of the start, or of the end before contact where the pair has
//! not passed through each other: the two directions along which the certificate of [`Guard`](crate::collision::Guard) looks.
//!
//! The multiplier λ ≥ 0 is kept over the sweeps of a substep, and so is that of friction, σ ⟂ n with ‖σ‖ ≤ μλ:
//!
//! ```text
//! λ ← max(0, λ − C/m),    σ ← clamp(σ − s/m, μλ),    xᵢ += wᵢ bᵢ (n Δλ + Δσ)        m = Σ wᵢ bᵢ²
//! ```
//!
//! with s the tangential part of what r has done since the start of the substep. As at bodies (see [`contact`](super::contact)), a pair that began
//! nearer than t is lifted a little at a time, together with where its vertices were, so that an old depth does not become
//! velocity.
//!
//! [Bender et al. 2014, §5.1], [Macklin et al. 2014, §6.1]; projected Gauss-Seidel: [Erleben 2007].

use crate::math::Vec3;

/// A pair that is, or would come, too near.
#[derive(Clone, Copy, Debug)]
pub struct PairContact {
    /// The vertices of both.
    pub vertices: [u32; 4],
    /// b.
    pub weights: [f64; 4],
    /// n, a unit vector towards the first.
    pub normal: Vec3<f64>,
    /// t, in m.
    pub thickness: f64,
    /// r at the start of the substep, in m.
    pub start: Vec3<f64>,
    /// μ.
    pub friction: f64,
    /// λ, in kg·m.
    pub press: f64,
    /// σ, in kg·m.
    pub drag: Vec3<f64>,
}

impl PairContact {
    /// Σ bᵢ xᵢ.
    #[inline]
    fn along(&self, x: &[Vec3<f64>]) -> Vec3<f64> {
        let mut sum = Vec3::ZERO;
        for (&v, &b) in self.vertices.iter().zip(&self.weights) {
            sum += x[v as usize] * b;
        }
        sum
    }

    /// m, in 1/kg; zero where nothing can be moved.
    #[inline]
    fn inverse_inertia(&self, w: &[f64]) -> f64 {
        self.vertices.iter().zip(&self.weights).map(|(&v, &b)| w[v as usize] * b * b).sum()
    }

    /// xᵢ += wᵢ bᵢ p.
    #[inline]
    fn pull(&self, w: &[f64], x: &mut [Vec3<f64>], p: Vec3<f64>) {
        for (&v, &b) in self.vertices.iter().zip(&self.weights) {
            x[v as usize] += p * (w[v as usize] * b);
        }
    }

    /// Raises a pair that began too near, by `limit` at most: `lifts` are the moves of all vertices so far, in m.
    #[inline]
    pub fn lift(&self, w: &[f64], lifts: &mut [Vec3<f64>], limit: f64) {
        let depth = self.thickness - self.normal.dot(self.start);
        let (wanted, inertia) = (depth.min(limit), self.inverse_inertia(w));
        let missing = wanted - self.normal.dot(self.along(lifts));
        if depth > 0.0 && missing > 0.0 && inertia > 0.0 {
            self.pull(w, lifts, self.normal * (missing / inertia));
        }
    }

    /// One projection; `lifts` are where all vertices were lifted. Returns how far the pair was from where it should be, in m.
    #[inline]
    pub fn project(&mut self, w: &[f64], x: &mut [Vec3<f64>], lifts: &[Vec3<f64>]) -> f64 {
        let inertia = self.inverse_inertia(w);
        if inertia <= 0.0 {
            return 0.0;
        }
        let start = self.start + self.along(lifts);
        let least = self.thickness.min(self.normal.dot(start));
        let step = self.along(x) - start;
        // C = n·r − least, where r = start + step.
        let error = self.normal.dot(start) - least + self.normal.dot(step);
        let press = (self.press - error / inertia).max(0.0);
        let slip = step - self.normal * self.normal.dot(step);
        let mut drag = self.drag - slip * (1.0 / inertia);
        let (limit, length) = (self.friction * press, drag.norm());
        if length > limit {
            drag = drag * (limit / length);
        }
        let change = self.normal * (press - self.press) + (drag - self.drag);
        (self.press, self.drag) = (press, drag);
        if change != Vec3::ZERO {
            self.pull(w, x, change);
        }
        (-error).max(0.0)
    }
}
