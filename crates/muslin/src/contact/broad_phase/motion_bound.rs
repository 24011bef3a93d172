//! Motion bound: how a patch of triangles moves in a step, and how fast two patches can come together.
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
//! All this is in single precision, with several vertices side by side. c, m and ω are what they are: none of them has to be right. Let ε be the unit of single
//! precision, s the largest coordinate of the patch, seen from an origin near by, and arms and motions as they are before conversion. A coordinate is
//! off by εs/2 after it, an arm by εs + ε‖arm‖, a component of ω × arm by 3ε‖ω‖‖arm‖ and what the arm is off by, and uᵢ and the two differences
//! by ε(‖uᵢ‖ + ‖m‖ + ‖εᵢ‖) each. With ‖uᵢ‖ ≤ ‖m‖ + ‖ω‖r + e, the sum of all in three components is below
//!
//! ```text
//! 16ε (‖m‖ + ‖ω‖(r + s) + e)
//! ```
//!
//! and twice that and more, [`SLACK`], is added. r is off by less than 4ε(r + s), and D, of centres that are exact, by less than
//!
//! ```text
//! 8ε (‖m_P‖ + ‖m_Q‖ + ‖ω_Q‖ ‖c_P − c_Q‖)
//! ```
//!
//! for which as much is added. Norms and sums are rounded by a few ε of themselves: a factor of 1 + 10⁻⁵ is more. Squares below the range of numbers are those of less than 10⁻¹⁸ m, which is
//! added. A patch that is farther than 10¹⁵ m from the origin is not followed: then e is infinite, and its box everywhere. In double precision sums are rounded up by [`up`].

use wide::f32x4;

use crate::contact::broad_phase::distance_bound::{Points, SIDE, SLACK, Work, greater_of, lesser_of};
use crate::contact::geometry::bvh::Aabb;
use crate::math::{F32x4, Register, Vec3};

/// A length that no rounding on its way can have made too short.
pub(crate) fn up(length: f64) -> f64 {
    length * (1.0 + 1e-12) + 1e-150
}

/// The same in single precision: see the module's comment.
fn up_narrow(length: f32) -> f32 {
    length * (1.0 + 1e-5) + 1e-18
}

/// Steps for which c, m and ω last, and the square of how much larger than it was e may be by then.
const FITS_LAST: u8 = 7;
const WORSE: f32 = 2.25;

/// See the module's comment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MotionBound {
    /// Around the start and the end of all vertices, and half the distance that is asked for.
    pub(crate) around: Aabb,
    /// c, in m.
    centre: Vec3<f32>,
    /// m, in m.
    pub(crate) mean: Vec3<f32>,
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
    /// e² when c, m and ω were last made to fit, in m², and for how many steps they last.
    fitted: f32,
    lasts: u8,
}

impl MotionBound {
    /// Of nothing.
    pub(crate) const NONE: Self = Self {
        around: Aabb::EMPTY,
        centre: Vec3::ZERO,
        mean: Vec3::ZERO,
        turn: Vec3::ZERO,
        spread: f32::INFINITY,
        radius: f32::INFINITY,
        sizes: [f32::INFINITY; 2],
        stray: f32::INFINITY,
        fitted: 0.0,
        lasts: 0,
    };

    /// Of these vertices, which moved as the `last` one says before. A motion that is much like that needs no other c, m and ω.
    pub(crate) fn after(last: &Self, members: &[u32], x: &Points, distance: f64) -> Self {
        if members.is_empty() {
            return Self::NONE;
        }
        let follow = |(centre, mean, turn)| x.run(Follow { members, x, centre, mean, turn });
        let mut frame = (last.centre + last.mean + x.shift(), last.mean, last.turn);
        let found = (last.lasts > 0).then(|| follow(frame)).filter(|found| found.spread <= WORSE * last.fitted);
        let (extremes, fitted, lasts) = match found {
            Some(found) => (found, last.fitted, last.lasts - 1),
            None => {
                frame = fit(members, x);
                let found = follow(frame);
                let spread = found.spread;
                (found, spread, FITS_LAST)
            }
        };
        let (centre, mean, turn) = frame;
        let Extremes { spread, radius, stray, low, high } = extremes;
        let size = [low, high].iter().flat_map(|v| v.to_array()).fold(0.0, |size, x| f32::max(size, x.abs()));
        let sizes = [up_narrow(mean.norm()), up_narrow(turn.norm())];
        let (spread, radius) = (spread.sqrt(), radius.sqrt());
        let rounding = SLACK * (sizes[0] + sizes[1] * (radius + size) + spread);
        let is_small = size < 1e15 && sizes[0] < 1e15 && sizes[1] < 1e15;
        // Four units of the largest coordinate are more than the conversion and the sum take.
        let slack = f64::from(size) * f64::from(4.0 * f32::EPSILON);
        let around = if is_small {
            let corners = [low.cast() + x.origin(), high.cast() + x.origin()];
            Aabb::around_all(corners.into_iter(), 0.5 * distance + slack)
        } else {
            let everywhere = Vec3::splat(f64::from(f32::MAX));
            Aabb::around_all([-everywhere, everywhere].into_iter(), 0.0)
        };
        Self {
            around,
            centre,
            mean,
            turn,
            spread: if is_small { up_narrow(spread + rounding) } else { f32::INFINITY },
            radius: up_narrow(radius + SLACK * size),
            sizes,
            stray: up_narrow(stray.sqrt()),
            fitted,
            lasts,
        }
    }

    /// How far a vertex moves against the centre, about, in m.
    pub(crate) fn stir(&self) -> f64 {
        f64::from(self.spread + self.sizes[1] * self.radius)
    }

    /// How far from where it was to go a vertex is now, at most, in m.
    pub(crate) fn stray(&self) -> f64 {
        f64::from(self.stray)
    }

    /// ρ of two patches, in m.
    pub(crate) fn approach(&self, o: &Self) -> f64 {
        let (p, q) = if self.radius < o.radius { (self, o) } else { (o, self) };
        let arm = p.centre - q.centre;
        let shift = (p.mean - q.mean - q.turn.cross(arm)).norm();
        let rounding = SLACK * (p.sizes[0] + q.sizes[0] + q.sizes[1] * (arm.x.abs() + arm.y.abs() + arm.z.abs()));
        let sum = p.spread + q.spread + shift + up_narrow((p.turn - q.turn).norm()) * p.radius + rounding;
        // What is not a number promises nothing.
        if sum < f32::MAX { f64::from(up_narrow(sum)) } else { f64::INFINITY }
    }

    /// ρ within the patch, in m.
    pub(crate) fn approach_within(&self) -> f64 {
        f64::from(2.0 * self.spread)
    }
}

/// What is asked of all vertices of a patch.
struct Follow<'a> {
    members: &'a [u32],
    x: &'a Points,
    centre: Vec3<f32>,
    mean: Vec3<f32>,
    turn: Vec3<f32>,
}

/// The squares of e, r and s, without the rounding, and the corners of a box around where vertices begin and end.
struct Extremes {
    spread: f32,
    radius: f32,
    stray: f32,
    low: Vec3<f32>,
    high: Vec3<f32>,
}

impl Work for Follow<'_> {
    type Outcome = Extremes;

    #[inline(always)]
    fn run<S: Register>(self) -> Extremes {
        let Self { members, x, .. } = self;
        let [centre, mean, turn] = [lanes::<S>(self.centre), lanes::<S>(self.mean), lanes::<S>(self.turn)];
        let (mut spread, mut radius, mut stray) = (S::ZERO, S::ZERO, S::ZERO);
        let mut low = lanes::<S>(Vec3::new(f32::INFINITY, f32::INFINITY, f32::INFINITY));
        let mut high = -low;
        // The last one stands for those that are missing at the end.
        let last = members.len() - 1;
        for from in (0..members.len()).step_by(S::LANES) {
            let mut vertices = [0; SIDE];
            for lane in 0..S::LANES {
                vertices[lane] = members[(from + lane).min(last)];
            }
            let place = columns::<S>(
                #[inline(always)]
                |lane| x.at(vertices[lane]),
            );
            let motion = columns::<S>(
                #[inline(always)]
                |lane| x.motion(vertices[lane]),
            );
            let (strayed, place, motion) = (motion.1, place.0, motion.0);
            let arm = place - centre;
            spread = greater_of(spread, (motion - mean - turn.cross(arm)).norm_squared());
            radius = greater_of(radius, arm.norm_squared());
            stray = greater_of(stray, strayed);
            let end = place + motion;
            low.x = lesser_of(low.x, lesser_of(place.x, end.x));
            low.y = lesser_of(low.y, lesser_of(place.y, end.y));
            low.z = lesser_of(low.z, lesser_of(place.z, end.z));
            high.x = greater_of(high.x, greater_of(place.x, end.x));
            high.y = greater_of(high.y, greater_of(place.y, end.y));
            high.z = greater_of(high.z, greater_of(place.z, end.z));
        }
        Extremes {
            spread: greatest(spread),
            radius: greatest(radius),
            stray: greatest(stray),
            low: -Vec3::new(greatest(-low.x), greatest(-low.y), greatest(-low.z)),
            high: Vec3::new(greatest(high.x), greatest(high.y), greatest(high.z)),
        }
    }
}

/// The greatest number of all lanes.
#[inline(always)]
fn greatest<S: Register>(numbers: S) -> f32 {
    let mut all = [f32::NEG_INFINITY; SIDE];
    numbers.store(&mut all);
    all.into_iter().fold(f32::NEG_INFINITY, f32::max)
}

/// Vectors side by side, and their fourth numbers.
#[inline(always)]
fn columns<S: Register>(row: impl Fn(usize) -> f32x4) -> (Vec3<S>, S) {
    let [x, y, z, last] = S::columns(
        #[inline(always)]
        |lane| row(lane).into(),
    );
    (Vec3 { x, y, z }, last)
}

/// The same in every lane.
#[inline(always)]
fn lanes<S: Register>(v: Vec3<f32>) -> Vec3<S> {
    let [x, y, z] = [f64::from(v.x), f64::from(v.y), f64::from(v.z)];
    Vec3 { x: S::from_f64(x), y: S::from_f64(y), z: S::from_f64(z) }
}

/// c, m and ω that fit some of the vertices in the mean of squares: any are right, and a few vertices are enough for good ones.
fn fit(members: &[u32], x: &Points) -> (Vec3<f32>, Vec3<f32>, Vec3<f32>) {
    /// Every so many vertices; some of them twice, to fill the last four.
    const STRIDE: usize = 3;
    let groups = members.len().div_ceil(STRIDE).div_ceil(4);
    let vertex = |k: usize| members[(STRIDE * k) % members.len()];
    let part = 1.0 / (4 * groups) as f32;
    let (mut places, mut moves) = (f32x4::ZERO, f32x4::ZERO);
    for k in 0..4 * groups {
        places += x.at(vertex(k));
        moves += x.motion(vertex(k));
    }
    let vector = |sum: f32x4| {
        let [x, y, z, _] = sum.to_array();
        Vec3::new(x, y, z) * part
    };
    let (centre, mean) = (vector(places), vector(moves));
    // J ω = Σ rᵢ × (uᵢ − m) with J = Σ ‖rᵢ‖² − rᵢ rᵢᵀ.
    let (c, m) = (lanes::<F32x4>(centre), lanes::<F32x4>(mean));
    let (mut moment, mut squares, mut products) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
    for from in (0..4 * groups).step_by(4) {
        let vertices: [u32; 4] = std::array::from_fn(|lane| vertex(from + lane));
        let r = columns::<F32x4>(|lane| x.at(vertices[lane])).0 - c;
        let motion = columns::<F32x4>(|lane| x.motion(vertices[lane])).0 - m;
        moment += r.cross(motion);
        squares += Vec3 { x: r.x * r.x, y: r.y * r.y, z: r.z * r.z };
        products += Vec3 { x: r.y * r.z, y: r.z * r.x, z: r.x * r.y };
    }
    let total = |lanes: F32x4| lanes.to_array().into_iter().map(f64::from).sum::<f64>();
    let total = |v: Vec3<F32x4>| Vec3::new(total(v.x), total(v.y), total(v.z));
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
    use crate::parallel::Team;

    /// A patch of a ripple that flies and turns about an axis outside it.
    fn patch(phase: f64, angle: f64, way: Vec3<f64>, corner: Vec3<f64>) -> Vec<Vec3<f64>> {
        let (sin, cos) = (libm::sin(angle), libm::cos(angle));
        let pose = |i: u32| {
            let x = corner + Vec3::new(f64::from(i % 5), 0.2 * libm::sin(f64::from(i) + phase), f64::from(i / 5));
            Vec3::new(x.x * cos - x.z * sin, x.y, x.x * sin + x.z * cos) + way
        };
        (0..25).map(pose).collect()
    }

    /// Distances of points, also of points between, never shrink by more than is promised, whatever the motion was before; the promise is
    /// small where both move as one.
    #[test]
    fn points_come_together_no_faster_than_promised() {
        let (members, others): (Vec<u32>, Vec<u32>) = ((0..25).collect(), (25..50).collect());
        let (first, second) = (Vec3::new(3.0, 0.0, 1.0), Vec3::new(8.5, 0.4, 0.5));
        let (mut tightest, mut kept, mut last) = (f64::INFINITY, 0, [MotionBound::NONE; 2]);
        for step in 0..40 {
            let (angle, way) = (0.01 * f64::from(step), Vec3::new(0.3, -0.1, 0.02 * f64::from(step)));
            let bend = if step % 2 == 0 { 0.0 } else { 0.05 };
            let before = [patch(0.0, 0.0, Vec3::ZERO, first), patch(1.0, 0.0, Vec3::ZERO, second)];
            let after = [patch(bend, angle, way, first), patch(1.0 - bend, 0.9 * angle, way * 1.1, second)];
            // Both seen from the same origin, as in a step.
            let points = Points::of(&before.concat(), &after.concat(), &Team::solo());
            let of = |last: [MotionBound; 2]| {
                [
                    MotionBound::after(&last[0], &members, &points, 0.0),
                    MotionBound::after(&last[1], &others, &points, 0.0),
                ]
            };
            let motion_bounds = of([MotionBound::NONE; 2]);
            // Whatever it was before.
            last = of(last.map(|motion_bound| MotionBound { fitted: 1e3, ..motion_bound }));
            kept += last.iter().filter(|motion_bound| motion_bound.lasts < FITS_LAST).count();
            let bounds = [motion_bounds[0].approach(&motion_bounds[1]), motion_bounds[0].approach_within()];
            let later = [last[0].approach(&last[1]), last[0].approach_within()];
            assert_eq!(bounds[0], motion_bounds[1].approach(&motion_bounds[0]));
            for (second, bound) in [(1, bounds[0]), (0, bounds[1]), (1, later[0]), (0, later[1])] {
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
            // A turn is no approach, but for the second order and the rounding: ‖m‖ < 1 + 8‖ω‖, and r + s < 8.
            let rounding = 2.0 * f64::from(SLACK) * (1.0 + 16.0 * angle) * 1.1;
            let points = Points::of(&before[0], &patch(0.0, angle, way, first), &Team::solo());
            let whole = MotionBound::after(&MotionBound::NONE, &members, &points, 0.0);
            assert!(whole.approach_within() <= 2.0 * 4.0 * angle * angle + rounding, "step {step}");
        }
        // Where nothing turns: the rounding of ‖m‖ < ½ of both.
        assert!(tightest < 4.0 * f64::from(SLACK), "{tightest}");
        assert!(kept > 20, "{kept} of 80 were those of the step before");
    }
}
