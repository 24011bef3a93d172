//! Pair contact, of a vertex with a triangle or of two edges: a rigid one-sided constraint with Coulomb friction.
//!
//! ```text
//! C = n·r − t ≥ 0,    r = Σ bᵢ xᵢ        n normal, t thickness, in m, b the weights of the closest points
//! ```
//!
//! The weights of the first of the two sum to 1 and those of the second to −1, so r leads from the one closest point to the other. Both n and b
//! are fixed for the substep, so C is linear and one projection satisfies it. They are those of the closest points where the substep ended before contact; or those of its start, where the
//! two may have passed through each other on the way. These are the two directions along which the certificate looks for a separating plane ([`Truncation`](crate::contact::Truncation)).
//!
//! The multiplier λ ≥ 0 is kept over the sweeps of a substep, and so is that of friction, σ ⟂ n with ‖σ‖ ≤ μλ:
//!
//! ```text
//! λ ← max(0, λ − C/m),    σ ← clamp(σ − s/m, μλ),    xᵢ += wᵢ bᵢ (n Δλ + Δσ)        m = Σ wᵢ bᵢ²
//! ```
//!
//! s is the part of r − rⁿ at right angles to n, with rⁿ at the start of the substep, and clamp(v, l) shortens v to the length l. A pair that began the substep nearer than t is lifted by
//! a little in each substep, as at colliders ([`collider_projection`](super::collider_projection)): x and xⁿ of its vertices move alike, so the old depth does not become velocity.
//!
//! [Bender et al. 2014, §5.1], [Macklin et al. 2014, §6.1]; projected Gauss-Seidel: [Erleben 2007].

use crate::contact::Closest;
use crate::math::Vec3;
use crate::parallel::Shared;

/// A pair that is, or would come, too near.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairContact {
    /// The vertices of both.
    pub(crate) vertices: [u32; 4],
    /// b.
    weights: [f64; 4],
    /// wᵢ bᵢ, in 1/kg.
    moves: [f64; 4],
    /// 1/m, in kg; zero where nothing can be moved.
    inertia: f64,
    /// n, a unit vector towards the first.
    normal: Vec3<f64>,
    /// t, in m.
    thickness: f64,
    /// r at the start of the substep, in m.
    start: Vec3<f64>,
    /// C at the start of the substep, in m.
    start_error: f64,
    /// μ.
    friction: f64,
    /// λ, in kg·m.
    press: f64,
    /// σ, in kg·m.
    drag: Vec3<f64>,
}

impl PairContact {
    /// Along the closest points of a pair, which were `start` apart at the start of the substep; `inverse_masses` are w, in 1/kg.
    #[inline]
    pub(crate) fn new(
        vertices: [u32; 4],
        closest: &Closest,
        start: Vec3<f64>,
        inverse_masses: [f64; 4],
        thickness: f64,
        friction: f64,
    ) -> Self {
        let weights = closest.weights;
        let moves = std::array::from_fn(|k| inverse_masses[k] * weights[k]);
        let m: f64 = moves.iter().zip(weights).map(|(wb, b)| wb * b).sum();
        Self {
            vertices,
            weights,
            moves,
            inertia: if m > 0.0 { 1.0 / m } else { 0.0 },
            normal: closest.normal,
            thickness,
            start,
            start_error: closest.normal.dot(start) - thickness,
            friction,
            press: 0.0,
            drag: Vec3::ZERO,
        }
    }

    /// m, in kg; zero where nothing can be moved.
    pub(crate) fn inertia(&self) -> f64 {
        self.inertia
    }

    /// b.
    pub(crate) fn weights(&self) -> [f64; 4] {
        self.weights
    }

    /// Whether one of its vertices is led, or has no part in the contact.
    pub(crate) fn is_led(&self, k: usize) -> bool {
        self.moves[k] == 0.0
    }

    /// n.
    pub(crate) fn normal(&self) -> Vec3<f64> {
        self.normal
    }

    /// t, in m.
    pub(crate) fn thickness(&self) -> f64 {
        self.thickness
    }

    /// r and C at the start of the substep, in m.
    pub(crate) fn start(&self) -> (Vec3<f64>, f64) {
        (self.start, self.start_error)
    }

    /// μ.
    pub(crate) fn friction(&self) -> f64 {
        self.friction
    }

    /// Σ bᵢ xᵢ.
    #[inline]
    fn along(&self, x: &Shared<'_, Vec3<f64>>) -> Vec3<f64> {
        let mut sum = Vec3::ZERO;
        for (&v, &b) in self.vertices.iter().zip(&self.weights) {
            sum += x.get(v as usize) * b;
        }
        sum
    }

    /// xᵢ += wᵢ bᵢ p. What does not move is not written to: other threads may read it.
    #[inline]
    fn pull(&self, x: &Shared<'_, Vec3<f64>>, p: Vec3<f64>) {
        for (&v, &wb) in self.vertices.iter().zip(&self.moves) {
            if wb != 0.0 {
                x.set(v as usize, x.get(v as usize) + p * wb);
            }
        }
    }

    /// Raises a pair that began too near, by `limit` at most: `lifts` are the moves of all vertices so far, in m.
    #[inline]
    pub(crate) fn lift(&self, lifts: &Shared<'_, Vec3<f64>>, limit: f64) {
        let depth = self.thickness - self.normal.dot(self.start);
        if depth <= 0.0 {
            return;
        }
        let missing = depth.min(limit) - self.normal.dot(self.along(lifts));
        if missing > 0.0 {
            self.pull(lifts, self.normal * (missing * self.inertia));
        }
    }

    /// Takes over where all vertices were lifted, and asks for no more than that.
    #[inline]
    pub(crate) fn start_from(&mut self, lifts: &Shared<'_, Vec3<f64>>) {
        self.start += self.along(lifts);
        self.thickness = self.thickness.min(self.normal.dot(self.start));
        self.start_error = self.normal.dot(self.start) - self.thickness;
    }

    /// Tells of each vertex that is led, and bᵢ p, the impulse on it times h, in kg·m.
    pub(crate) fn each_led(&self, mut visit: impl FnMut(u32, Vec3<f64>)) {
        let push = self.normal * self.press + self.drag;
        if push != Vec3::ZERO {
            let led = (0..4).filter(|&k| self.moves[k] == 0.0 && self.weights[k] != 0.0);
            led.for_each(|k| visit(self.vertices[k], push * self.weights[k]));
        }
    }

    /// One projection.
    #[inline]
    pub(crate) fn project(&mut self, x: &Shared<'_, Vec3<f64>>) {
        let step = self.along(x) - self.start;
        let along = self.normal.dot(step);
        // C = n·r − t, where r = start + step.
        let error = self.start_error + along;
        let press = (self.press - error * self.inertia).max(0.0);
        // Nothing presses, and nothing did: there is no friction either.
        if press == 0.0 && self.press == 0.0 && self.drag == Vec3::ZERO {
            return;
        }
        let slip = step - self.normal * along;
        let mut drag = self.drag - slip * self.inertia;
        let (limit, squared) = (self.friction * press, drag.norm_squared());
        if squared > limit * limit {
            drag = drag * (limit / squared.sqrt());
        }
        let change = self.normal * (press - self.press) + (drag - self.drag);
        (self.press, self.drag) = (press, drag);
        if change != Vec3::ZERO {
            self.pull(x, change);
        }
    }
}
