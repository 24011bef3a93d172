//! How a patch of triangles moves in a step, and how fast two patches can come together.
//!
//! The displacement uᵢ of a vertex at xᵢ is written as that of a rigid body, in first order, and a rest:
//!
//! ```text
//! uᵢ = m + ω × (xᵢ − c) + εᵢ,      e = max ‖εᵢ‖,   r = max ‖xᵢ − c‖
//! ```
//!
//! Points inside a triangle are means of its vertices, so this holds for them too, with the same e and r. Let a point p of
//! patch P and a point q of patch Q move through a part t of the step. With the field of Q written for p as well,
//!
//! ```text
//! p' − q' = (p − q) + tω_Q × (p − q)  +  t (D(p) + ε_p − ε_q),
//! D(p)    = m_P + ω_P × (p − c_P) − m_Q − ω_Q × (p − c_Q)
//! ```
//!
//! The first two terms together are not shorter than p − q, since z and ω × z are perpendicular: ‖z + tω × z‖ ≥ ‖z‖. So **a
//! distance shrinks by no more than**
//!
//! ```text
//! ρ = e_P + e_Q + ‖D(c_P)‖ + ‖ω_P − ω_Q‖ r_P        and within a patch  ρ = 2 e_P
//! ```
//!
//! since D is linear and p no farther than r from the centre of P; P and Q may be exchanged. This holds for any c, m and ω. Good
//! ones make e small: cloth that flies or turns as one does not use up its lists, only what bends, shears or rubs does.
//!
//! # Rounding
//!
//! The components of uᵢ and xᵢ − c are rounded by a unit of themselves, so εᵢ by a few units of ‖m‖ + ‖ω‖ r + e. What is
//! added is more. Sums are rounded up by [`up`].

use super::bvh::Aabb;
use crate::math::Vec3;

/// A length that no rounding on its way can have made too short.
pub(super) fn up(length: f64) -> f64 {
    length * (1.0 + 1e-12) + 1e-150
}

/// See the module's comment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drift {
    /// c, in m.
    centre: Vec3<f64>,
    /// m, in m.
    pub(super) mean: Vec3<f64>,
    /// ω.
    turn: Vec3<f64>,
    /// e, in m.
    pub(super) spread: f64,
    /// r, in m.
    radius: f64,
    /// Around the start and the end of all vertices, and half the distance that is asked for.
    pub(super) around: Aabb,
}

impl Drift {
    /// Of nothing.
    pub(super) const NONE: Self = Self {
        centre: Vec3::ZERO,
        mean: Vec3::ZERO,
        turn: Vec3::ZERO,
        spread: f64::INFINITY,
        radius: f64::INFINITY,
        around: Aabb::EMPTY,
    };

    /// Of these vertices.
    pub(super) fn of(members: &[u32], start: &[Vec3<f64>], end: &[Vec3<f64>], distance: f64) -> Self {
        let (centre, mean, turn) = fit(members, start, end);
        let (mut spread, mut radius) = (0.0, 0.0);
        let (mut low, mut high) = (Vec3::splat(f64::INFINITY), Vec3::splat(f64::NEG_INFINITY));
        let (less, more) = (|a: f64, b: f64| if b < a { b } else { a }, |a: f64, b: f64| if b > a { b } else { a });
        for &v in members {
            let (x, y) = (start[v as usize], end[v as usize]);
            let arm = x - centre;
            spread = more(spread, ((y - x) - mean - turn.cross(arm)).norm_squared());
            radius = more(radius, arm.norm_squared());
            low = Vec3::new(less(low.x, less(x.x, y.x)), less(low.y, less(x.y, y.y)), less(low.z, less(x.z, y.z)));
            high = Vec3::new(more(high.x, more(x.x, y.x)), more(high.y, more(x.y, y.y)), more(high.z, more(x.z, y.z)));
        }
        let (spread, radius) = (spread.sqrt(), up(radius.sqrt()));
        let rounding = 16.0 * f64::EPSILON * (mean.norm() + turn.norm() * radius + spread);
        let around = Aabb::around_all([low, high].into_iter(), 0.5 * distance);
        Self { centre, mean, turn, spread: up(spread + rounding), radius, around }
    }

    /// How far a vertex moves against the centre, about, in m.
    pub(super) fn stir(&self) -> f64 {
        self.spread + self.turn.norm() * self.radius
    }

    /// ρ of two patches, in m.
    pub(super) fn approach(&self, o: &Self) -> f64 {
        let (p, q) = if self.radius < o.radius { (self, o) } else { (o, self) };
        let arm = p.centre - q.centre;
        let shift = (p.mean - q.mean - q.turn.cross(arm)).norm();
        let rounding = 16.0 * f64::EPSILON * (p.mean.norm() + q.mean.norm() + q.turn.norm() * arm.norm());
        up(p.spread + q.spread + shift + (p.turn - q.turn).norm() * p.radius + rounding)
    }

    /// ρ within the patch, in m.
    pub(super) fn approach_within(&self) -> f64 {
        up(2.0 * self.spread)
    }
}

/// c, m and ω that fit some of the vertices in the mean of squares: any are right, and a few vertices are enough for good ones.
fn fit(members: &[u32], start: &[Vec3<f64>], end: &[Vec3<f64>]) -> (Vec3<f64>, Vec3<f64>, Vec3<f64>) {
    /// Every so many vertices.
    const STRIDE: usize = 3;
    let some = || members.iter().step_by(STRIDE).map(|&v| (start[v as usize], end[v as usize]));
    let part = 1.0 / members.len().div_ceil(STRIDE).max(1) as f64;
    let (x, u) = some().fold((Vec3::ZERO, Vec3::ZERO), |(x, u), (from, to)| (x + from, u + (to - from)));
    let (centre, mean) = (x * part, u * part);
    // J ω = Σ rᵢ × uᵢ with J = Σ ‖rᵢ‖² − rᵢ rᵢᵀ.
    let (mut moment, mut columns) = (Vec3::ZERO, [Vec3::ZERO; 3]);
    for (from, to) in some() {
        let r = from - centre;
        moment += r.cross(to - from);
        columns[0] -= r * r.x;
        columns[1] -= r * r.y;
        columns[2] -= r * r.z;
    }
    let trace = -(columns[0].x + columns[1].y + columns[2].z);
    // A little more than it is, so that a line of vertices has a solution too.
    let more = trace * (1.0 + 1e-6);
    columns[0].x += more;
    columns[1].y += more;
    columns[2].z += more;
    let [a, b, c] = columns;
    let cofactors = [b.cross(c), c.cross(a), a.cross(b)];
    let turn = Vec3::new(cofactors[0].dot(moment), cofactors[1].dot(moment), cofactors[2].dot(moment))
        * (1.0 / a.dot(cofactors[0]));
    (centre, mean, if turn.is_finite() { turn } else { Vec3::ZERO })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A patch of a ripple that flies and turns about an axis outside it.
    fn patch(phase: f64, angle: f64, way: Vec3<f64>, corner: Vec3<f64>) -> Vec<Vec3<f64>> {
        let (sin, cos) = (libm::sin(angle), libm::cos(angle));
        let pose = |i: u32| {
            let x = corner + Vec3::new(f64::from(i % 5), 0.2 * libm::sin(f64::from(i) + phase), f64::from(i / 5));
            Vec3::new(x.x * cos - x.z * sin, x.y, x.x * sin + x.z * cos) + way
        };
        (0..25).map(pose).collect()
    }

    /// Distances of points, also of points between, never shrink by more than is promised; the promise is small where both move as one.
    #[test]
    fn points_come_together_no_faster_than_promised() {
        let members: Vec<u32> = (0..25).collect();
        let (first, second) = (Vec3::new(3.0, 0.0, 1.0), Vec3::new(8.5, 0.4, 0.5));
        let mut tightest = f64::INFINITY;
        for step in 0..40 {
            let (angle, way) = (0.01 * f64::from(step), Vec3::new(0.3, -0.1, 0.02 * f64::from(step)));
            let bend = if step % 2 == 0 { 0.0 } else { 0.05 };
            let before = [patch(0.0, 0.0, Vec3::ZERO, first), patch(1.0, 0.0, Vec3::ZERO, second)];
            let after = [patch(bend, angle, way, first), patch(1.0 - bend, 0.9 * angle, way * 1.1, second)];
            let drifts = [0, 1].map(|k: usize| Drift::of(&members, &before[k], &after[k], 0.0));
            let bounds = [drifts[0].approach(&drifts[1]), drifts[0].approach_within()];
            assert_eq!(bounds[0], drifts[1].approach(&drifts[0]));
            for (second, bound) in [(1, bounds[0]), (0, bounds[1])] {
                let mut largest = 0.0;
                for (i, j, t) in (0..25).flat_map(|i| (0..25).flat_map(move |j| [0.5, 1.0].map(|t| (i, j, t)))) {
                    let at = |k: usize, i: usize, t: f64| before[k][i] + (after[k][i] - before[k][i]) * t;
                    let middle = |k: usize, i: usize, t: f64| (at(k, i, t) + at(k, (i + 7) % 25, t)) * 0.5;
                    for point in [&at as &dyn Fn(usize, usize, f64) -> Vec3<f64>, &middle] {
                        let distance = |t: f64| (point(0, i, t) - point(second, j, t)).norm();
                        largest = f64::max(largest, distance(0.0) - distance(t));
                    }
                }
                assert!(largest <= bound + 1e-15, "step {step}: {largest} and {bound}");
                tightest = tightest.min(bound);
            }
            // A turn is no approach, but for the second order.
            let whole = Drift::of(&members, &before[0], &patch(0.0, angle, way, first), 0.0);
            assert!(whole.approach_within() <= 2.0 * 4.0 * angle * angle + 1e-12, "step {step}");
        }
        assert!(tightest < 1e-12, "{tightest}");
    }
}
