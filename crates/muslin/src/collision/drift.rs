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
//! All this is in single precision, with four vertices side by side. c, m and ω are what they are: none of them has to be right. Let ε be the unit of single
//! precision, s the largest coordinate of the patch, seen from an origin near by, and arms and motions as they are before conversion. A coordinate is
//! off by εs/2 after it, an arm by εs + ε‖arm‖, a component of ω × arm by 3ε‖ω‖‖arm‖ and what the arm is off by, and uᵢ and the two differences
//! by ε(‖uᵢ‖ + ‖m‖ + ‖εᵢ‖) each. With ‖uᵢ‖ ≤ ‖m‖ + ‖ω‖r + e, the sum of all in three components is below
//!
//! ```text
//! 16ε (‖m‖ + ‖ω‖(r + s) + e)
//! ```
//!
//! and 32ε, [`SLACK`], are added. r is off by less than 4ε(r + s), and D, of centres that are exact, by less than 8ε(‖m_P‖ + ‖m_Q‖ + ‖ω_Q‖‖c_P − c_Q‖). Norms
//! and sums are rounded by a few ε of themselves: a factor of 1 + 10⁻⁵ is more. Squares below the range of numbers are those of less than 10⁻¹⁸ m, which is
//! added. A patch larger than 10¹⁵ m is not followed: then e is infinite. In double precision sums are rounded up by [`up`].

use super::bvh::Aabb;
use super::points::{Points, SLACK, greater_of, lesser_of};
use crate::math::{Lanes, Register, Scalar, Vec3};

/// A length that no rounding on its way can have made too short.
pub(super) fn up(length: f64) -> f64 {
    length * (1.0 + 1e-12) + 1e-150
}

/// The same in single precision: see the module's comment.
fn up_narrow(length: f32) -> f32 {
    length * (1.0 + 1e-5) + 1e-18
}

/// See the module's comment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drift {
    /// Around the start and the end of all vertices, and half the distance that is asked for.
    pub(super) around: Aabb,
    /// c, in m.
    centre: Vec3<f32>,
    /// m, in m.
    pub(super) mean: Vec3<f32>,
    /// ω.
    turn: Vec3<f32>,
    /// e, in m.
    spread: f32,
    /// r, in m.
    radius: f32,
    /// ‖m‖, in m, and ‖ω‖, or more.
    sizes: [f32; 2],
    /// How far from where it was to go a vertex is now, at most, in m: s.
    stray: f32,
}

impl Drift {
    /// Of nothing.
    pub(super) const NONE: Self = Self {
        around: Aabb::EMPTY,
        centre: Vec3::ZERO,
        mean: Vec3::ZERO,
        turn: Vec3::ZERO,
        spread: f32::INFINITY,
        radius: f32::INFINITY,
        sizes: [f32::INFINITY; 2],
        stray: f32::INFINITY,
    };

    /// Of these vertices.
    pub(super) fn of(members: &[u32], x: &Points, distance: f64) -> Self {
        if members.is_empty() {
            return Self::NONE;
        }
        let (centre, mean, turn) = fit(members, x);
        let [c, m, w] = [spread_out(centre), spread_out(mean), spread_out(turn)];
        let (mut spread, mut radius, mut stray) = (Lanes::ZERO, Lanes::ZERO, Lanes::ZERO);
        let mut low = Vec3::splat(Lanes::from_f64(f64::INFINITY));
        let mut high = -low;
        // The last one stands for those that are missing in the last four.
        let last = members.len() - 1;
        for from in (0..members.len()).step_by(4) {
            let vertices: [u32; 4] = std::array::from_fn(|lane| members[(from + lane).min(last)]);
            let [a, b, c_, _] = Lanes::columns(|lane| x.at(vertices[lane]).into());
            let [u, v, w_, strayed] = Lanes::columns(|lane| x.motion(vertices[lane]).into());
            let (place, motion) = (Vec3 { x: a, y: b, z: c_ }, Vec3 { x: u, y: v, z: w_ });
            let arm = place - c;
            spread = greater_of(spread, (motion - m - w.cross(arm)).norm_squared());
            radius = greater_of(radius, arm.norm_squared());
            stray = greater_of(stray, strayed);
            let end = place + motion;
            low = each(low, each(place, end, lesser_of), lesser_of);
            high = each(high, each(place, end, greater_of), greater_of);
        }
        let most = |lanes: Lanes| lanes.to_array().into_iter().fold(0.0, f32::max);
        let least_of = |lanes: Lanes| lanes.to_array().into_iter().fold(f32::INFINITY, f32::min);
        let most_of = |lanes: Lanes| lanes.to_array().into_iter().fold(f32::NEG_INFINITY, f32::max);
        let low = Vec3::new(least_of(low.x), least_of(low.y), least_of(low.z));
        let high = Vec3::new(most_of(high.x), most_of(high.y), most_of(high.z));
        let size = [low, high].iter().flat_map(|v| v.to_array()).fold(0.0, |size, x| f32::max(size, x.abs()));
        let sizes = [up_narrow(mean.norm()), up_narrow(turn.norm())];
        let (spread, radius) = (most(spread).sqrt(), most(radius).sqrt());
        let rounding = SLACK * (sizes[0] + sizes[1] * (radius + size) + spread);
        let is_small = size < 1e15 && sizes[0] < 1e15 && sizes[1] < 1e15;
        // Four units of the largest coordinate are more than the conversion and the sum take.
        let around = |v: Vec3<f32>| v.cast() + x.origin();
        let reach = 0.5 * distance + f64::from(size) * f64::from(4.0 * f32::EPSILON);
        Self {
            around: Aabb::around_all([around(low), around(high)].into_iter(), reach),
            centre,
            mean,
            turn,
            spread: if is_small { up_narrow(spread + rounding) } else { f32::INFINITY },
            radius: up_narrow(radius + SLACK * size),
            sizes,
            stray: up_narrow(most(stray).sqrt()),
        }
    }

    /// How far a vertex moves against the centre, about, in m.
    pub(super) fn stir(&self) -> f64 {
        f64::from(self.spread + self.sizes[1] * self.radius)
    }

    /// How far from where it was to go a vertex is now, at most, in m.
    pub(super) fn stray(&self) -> f64 {
        f64::from(self.stray)
    }

    /// ρ of two patches, in m.
    pub(super) fn approach(&self, o: &Self) -> f64 {
        let (p, q) = if self.radius < o.radius { (self, o) } else { (o, self) };
        let arm = p.centre - q.centre;
        let shift = (p.mean - q.mean - q.turn.cross(arm)).norm();
        let rounding = SLACK * (p.sizes[0] + q.sizes[0] + q.sizes[1] * (arm.x.abs() + arm.y.abs() + arm.z.abs()));
        let sum = p.spread + q.spread + shift + (p.turn - q.turn).norm() * p.radius + rounding;
        // What is not a number promises nothing.
        if sum < f32::MAX { f64::from(up_narrow(sum)) } else { f64::INFINITY }
    }

    /// ρ within the patch, in m.
    pub(super) fn approach_within(&self) -> f64 {
        f64::from(2.0 * self.spread)
    }
}

/// The same in every lane.
#[inline(always)]
fn spread_out(v: Vec3<f32>) -> Vec3<Lanes> {
    Vec3 { x: Lanes::new([v.x; 4]), y: Lanes::new([v.y; 4]), z: Lanes::new([v.z; 4]) }
}

/// A function of each coordinate.
#[inline(always)]
fn each(a: Vec3<Lanes>, b: Vec3<Lanes>, function: impl Fn(Lanes, Lanes) -> Lanes) -> Vec3<Lanes> {
    Vec3 { x: function(a.x, b.x), y: function(a.y, b.y), z: function(a.z, b.z) }
}

/// c, m and ω that fit some of the vertices in the mean of squares: any are right, and a few vertices are enough for good ones.
fn fit(members: &[u32], x: &Points) -> (Vec3<f32>, Vec3<f32>, Vec3<f32>) {
    /// Every so many vertices; some of them twice, to fill the last four.
    const STRIDE: usize = 3;
    let groups = members.len().div_ceil(STRIDE).div_ceil(4);
    let vertex = |k: usize| members[(STRIDE * k) % members.len()];
    let part = 1.0 / (4 * groups) as f32;
    let (mut places, mut moves) = (wide::f32x4::ZERO, wide::f32x4::ZERO);
    for k in 0..4 * groups {
        places += x.at(vertex(k));
        moves += x.motion(vertex(k));
    }
    let vector = |sum: wide::f32x4| {
        let [x, y, z, _] = sum.to_array();
        Vec3::new(x, y, z) * part
    };
    let (centre, mean) = (vector(places), vector(moves));
    // J ω = Σ rᵢ × (uᵢ − m) with J = Σ ‖rᵢ‖² − rᵢ rᵢᵀ.
    let (c, m) = (spread_out(centre), spread_out(mean));
    let (mut moment, mut squares, mut products) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
    for from in (0..4 * groups).step_by(4) {
        let vertices: [u32; 4] = std::array::from_fn(|lane| vertex(from + lane));
        let [a, b, c_, _] = Lanes::columns(|lane| x.at(vertices[lane]).into());
        let [u, v, w, _] = Lanes::columns(|lane| x.motion(vertices[lane]).into());
        let (r, motion) = (Vec3 { x: a, y: b, z: c_ } - c, Vec3 { x: u, y: v, z: w } - m);
        moment += r.cross(motion);
        squares += Vec3 { x: r.x * r.x, y: r.y * r.y, z: r.z * r.z };
        products += Vec3 { x: r.y * r.z, y: r.z * r.x, z: r.x * r.y };
    }
    let total = |lanes: Lanes| lanes.to_array().into_iter().map(f64::from).sum::<f64>();
    let total = |v: Vec3<Lanes>| Vec3::new(total(v.x), total(v.y), total(v.z));
    let (moment, squares, products) = (total(moment), total(squares), total(products));
    // A little more than it is, so that a line of vertices has a solution too.
    let trace = (squares.x + squares.y + squares.z) * (1.0 + 1e-6);
    let a = Vec3::new(trace - squares.x, -products.z, -products.y);
    let b = Vec3::new(-products.z, trace - squares.y, -products.x);
    let c = Vec3::new(-products.y, -products.x, trace - squares.z);
    let cofactors = [b.cross(c), c.cross(a), a.cross(b)];
    let turn = Vec3::new(cofactors[0].dot(moment), cofactors[1].dot(moment), cofactors[2].dot(moment))
        * (1.0 / a.dot(cofactors[0]));
    let turn: Vec3<f32> = turn.cast();
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
