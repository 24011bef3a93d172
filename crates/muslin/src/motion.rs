//! Rigid motion of pins and colliders along the paths that a scene gives.

use crate::description::{Ease, Path, Waypoint};
use crate::math::{Mat3, Vec3};

/// A path, ready to be asked where it is.
///
/// ```
/// use muslin::Path;
/// use muslin::math::Vec3;
/// use muslin::motion::Motion;
///
/// let lift = Path::through([(0.0, [0.0; 3]), (2.0, [0.0, 1.0, 0.0])]);
/// let motion = Motion::new(&lift, Vec3::ZERO);
/// assert_eq!(motion.pose(1.0).apply(Vec3::ZERO), Vec3::new(0.0, 0.5, 0.0));
/// ```
#[derive(Clone, Debug)]
pub struct Motion {
    waypoints: Vec<Waypoint>,
    axis: Vec3<f64>,
    center: Vec3<f64>,
    ease: Ease,
    /// On top of the path: where an interaction has put it.
    lead: Option<Lead>,
}

/// A displacement beside the path, from one instant to another; before and after it stands still.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lead {
    /// Start and end of the motion, in s.
    pub times: [f64; 2],
    /// The displacement at the start and at the end, in m.
    pub offsets: [Vec3<f64>; 2],
    /// The turn about the axis of the path at the start and at the end, in degrees.
    pub turns: [f64; 2],
}

impl Lead {
    /// Displacement, in m, and turn, in degrees.
    fn at(&self, time: f64) -> (Vec3<f64>, f64) {
        let ([from, to], [start, end], [turn, end_turn]) = (self.times, self.offsets, self.turns);
        match (time - from) / (to - from) {
            part if part >= 1.0 => (end, end_turn),
            part if part > 0.0 => (start + (end - start) * part, turn + (end_turn - turn) * part),
            // Before the start; and where the motion takes no time, until it.
            _ => (start, turn),
        }
    }
}

/// How a body goes from one pose to another: on in a straight line, and about an axis at a constant rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Travel {
    /// A point of the axis at the start, in m.
    center: Vec3<f64>,
    /// How far that point goes, in m.
    shift: Vec3<f64>,
    /// A unit vector.
    axis: Vec3<f64>,
    /// In rad.
    turn: f64,
}

impl Travel {
    /// The angle of the turn, in rad.
    pub(crate) fn turn(&self) -> f64 {
        self.turn
    }

    /// A pose at the start, turned by an angle, in rad, about where the axis is then.
    pub(crate) fn turned(&self, pose: &Pose, angle: f64) -> Pose {
        let rotation = Mat3::about(self.axis, angle);
        let rows = rotation.times(&Mat3(pose.rows.map(Vec3::to_array))).0.map(Vec3::from);
        Pose { rows, shift: self.center + rotation.apply(pose.shift - self.center) }
    }

    /// Where a point that goes with the body was at the start, if it is at `p` after a part of the way.
    pub(crate) fn undo(&self, p: Vec3<f64>, part: f64) -> Vec3<f64> {
        let arm = p - self.center - self.shift * part;
        let arm = if self.turn == 0.0 { arm } else { Mat3::about(self.axis, -part * self.turn).apply(arm) };
        self.center + arm
    }

    /// The square of how far a point that goes straight from `start` to `end` goes at most as the body sees it, in m².
    ///
    /// y = Rᵀ(p − c), so ‖y′‖ = ‖p′ − c′ − θ a × (p − c)‖: the norm of what is linear in time, greatest at one of the ends.
    #[inline]
    pub(crate) fn longest_squared(&self, start: Vec3<f64>, end: Vec3<f64>) -> f64 {
        let way = end - start - self.shift;
        if self.turn == 0.0 {
            return way.norm_squared();
        }
        let speed = |arm: Vec3<f64>| (way - self.axis.cross(arm) * self.turn).norm_squared();
        let [first, last] = [speed(start - self.center), speed(end - self.center - self.shift)];
        if last > first { last } else { first }
    }
}

/// A rigid placement: x ↦ R x + t.
///
/// ```
/// use muslin::Path;
/// use muslin::math::Vec3;
/// use muslin::motion::{Motion, Pose};
///
/// let point = Vec3::new(1.0, 2.0, 3.0);
/// assert_eq!(Pose::IDENTITY.apply(point), point);
/// let pose = Motion::new(&Path::through([(0.0, [1.0, 0.0, 0.0])]), Vec3::ZERO).pose(0.0);
/// assert_eq!(pose.undo(pose.apply(point)), point);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Pose {
    rows: [Vec3<f64>; 3],
    shift: Vec3<f64>,
}

impl Motion {
    /// A path that turns about `path.center`, or about `center` where the scene gives none.
    pub fn new(path: &Path, center: Vec3<f64>) -> Self {
        Self {
            waypoints: path.waypoints.clone(),
            axis: Vec3::from(path.axis).normalized_or_zero(),
            center: path.center.map_or(center, Vec3::from),
            ease: path.ease,
            lead: None,
        }
    }

    /// Adds a displacement to the path, in place of an earlier one.
    pub(crate) fn lead(&mut self, lead: Option<Lead>) {
        self.lead = lead;
    }

    /// Whether something is added to the path.
    pub(crate) fn is_led(&self) -> bool {
        self.lead.is_some()
    }

    /// Whether it leads anywhere.
    pub(crate) fn moves(&self) -> bool {
        self.is_led() || self.waypoints.iter().any(|waypoint| waypoint.offset != [0.0; 3] || waypoint.turn != 0.0)
    }

    /// Where the object that started at the initial state is at `time`, in s.
    ///
    /// Before the first waypoint and after the last it stands still.
    pub fn pose(&self, time: f64) -> Pose {
        let (offset, turn) = self.placement(time);
        let rotation = Mat3::about(self.axis, turn.to_radians());
        let shift = self.center + offset - rotation.apply(self.center);
        Pose { rows: rotation.0.map(Vec3::from), shift }
    }

    /// How it goes from where it is at one time to where it is at another, in s.
    pub(crate) fn travel(&self, from: f64, to: f64) -> Travel {
        let ((offset, turn), (next_offset, next_turn)) = (self.placement(from), self.placement(to));
        Travel {
            center: self.center + offset,
            shift: next_offset - offset,
            axis: self.axis,
            turn: (next_turn - turn).to_radians(),
        }
    }

    /// Displacement, in m, and turn, in degrees, at `time`, in s.
    fn placement(&self, time: f64) -> (Vec3<f64>, f64) {
        let (offset, turn) = self.at(time);
        match &self.lead {
            Some(lead) => {
                let (more, further) = lead.at(time);
                (offset + more, turn + further)
            }
            None => (offset, turn),
        }
    }

    fn at(&self, time: f64) -> (Vec3<f64>, f64) {
        let after = self.waypoints.partition_point(|w| w.time <= time);
        let place = |w: &Waypoint| (Vec3::from(w.offset), w.turn);
        let (Some(to), true) = (self.waypoints.get(after), after > 0) else {
            // Outside the path: its nearest end, or the start of an object without a path.
            let end = if after == 0 { self.waypoints.first() } else { self.waypoints.last() };
            return end.map_or((Vec3::ZERO, 0.0), place);
        };
        let from = &self.waypoints[after - 1];
        let linear = (time - from.time) / (to.time - from.time);
        let part = match self.ease {
            Ease::Linear => linear,
            Ease::Smooth => linear * linear * (3.0 - 2.0 * linear),
        };
        let ((offset, turn), (next_offset, next_turn)) = (place(from), place(to));
        (offset + (next_offset - offset) * part, turn + (next_turn - turn) * part)
    }
}

impl Pose {
    /// The pose of what has not moved.
    pub const IDENTITY: Self = Self {
        rows: [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)],
        shift: Vec3::new(0.0, 0.0, 0.0),
    };

    /// Whether it turns as another does, to the bit.
    pub(crate) fn turns_as(&self, other: &Self) -> bool {
        self.rows == other.rows
    }

    /// The rows of the 3×4 matrix [R t].
    pub fn to_rows(&self) -> [[f64; 4]; 3] {
        let shift = self.shift.to_array();
        std::array::from_fn(|i| {
            let [x, y, z] = self.rows[i].to_array();
            [x, y, z, shift[i]]
        })
    }

    /// Where a point of the initial state is now.
    #[inline(always)]
    pub fn apply(&self, p: Vec3<f64>) -> Vec3<f64> {
        Vec3::new(self.rows[0].dot(p), self.rows[1].dot(p), self.rows[2].dot(p)) + self.shift
    }

    /// Where a point of now was in the initial state.
    #[inline(always)]
    pub fn undo(&self, p: Vec3<f64>) -> Vec3<f64> {
        let q = p - self.shift;
        self.rows[0] * q.x + self.rows[1] * q.y + self.rows[2] * q.z
    }

    /// A direction of the initial state, now.
    #[inline(always)]
    pub fn turn(&self, d: Vec3<f64>) -> Vec3<f64> {
        Vec3::new(self.rows[0].dot(d), self.rows[1].dot(d), self.rows[2].dot(d))
    }

    /// A direction of now, in the initial state.
    pub(crate) fn turn_back(&self, d: Vec3<f64>) -> Vec3<f64> {
        self.rows[0] * d.x + self.rows[1] * d.y + self.rows[2] * d.z
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(ease: Ease) -> Path {
        let waypoint = |time, y: f64, turn| Waypoint { time, offset: [0.0, y, 0.0], turn };
        Path {
            waypoints: vec![waypoint(1.0, 0.0, 0.0), waypoint(2.0, 4.0, 90.0)],
            axis: [0.0, 2.0, 0.0],
            center: Some([1.0, 0.0, 0.0]),
            ease,
        }
    }

    #[test]
    fn a_path_stands_still_outside_its_times() {
        let motion = Motion::new(&path(Ease::Linear), Vec3::ZERO);
        let p = Vec3::new(2.0, 0.0, 0.0);
        assert!((motion.pose(0.0).apply(p) - p).norm() < 1e-15, "before");
        // A quarter turn about y through (1, 0, 0) takes +x to −z.
        let end = Vec3::new(1.0, 4.0, -1.0);
        for time in [2.0, 9.0] {
            assert!((motion.pose(time).apply(p) - end).norm() < 1e-15, "{:?}", motion.pose(time).apply(p));
        }
    }

    #[test]
    fn ease_decides_the_speed_not_the_ends() {
        let height = |ease, time| Motion::new(&path(ease), Vec3::ZERO).pose(time).apply(Vec3::new(1.0, 0.0, 0.0)).y;
        assert_eq!(height(Ease::Linear, 1.25), 1.0);
        assert_eq!(height(Ease::Smooth, 1.25), 4.0 * 0.15625);
        assert_eq!(height(Ease::Smooth, 1.5), 2.0);
    }

    #[test]
    fn a_lead_comes_on_top_of_the_path() {
        let mut motion = Motion::new(&path(Ease::Linear), Vec3::ZERO);
        let (start, end) = (Vec3::new(0.0, 0.0, 1.0), Vec3::new(0.0, 0.0, 3.0));
        motion.lead(Some(Lead { times: [1.0, 2.0], offsets: [start, end], turns: [0.0; 2] }));
        let point = Vec3::new(1.0, 0.0, 0.0);
        let place = |time| motion.pose(time).apply(point);
        for (time, y, z) in [(0.0, 0.0, 1.0), (1.0, 0.0, 1.0), (1.5, 2.0, 2.0), (2.0, 4.0, 3.0), (9.0, 4.0, 3.0)] {
            assert!((place(time) - Vec3::new(1.0, y, z)).norm() < 1e-15, "{time}: {:?}", place(time));
        }
        motion.lead(Some(Lead { times: [1.0, 1.0], offsets: [start, end], turns: [0.0; 2] }));
        assert_eq!((motion.pose(0.5).apply(point).z, motion.pose(1.5).apply(point).z), (1.0, 3.0), "at once");
    }

    #[test]
    fn a_lead_turns_on_top_of_the_turn_of_the_path() {
        let mut motion = Motion::new(&path(Ease::Linear), Vec3::ZERO);
        motion.lead(Some(Lead { times: [1.0, 2.0], offsets: [Vec3::ZERO; 2], turns: [0.0, 90.0] }));
        // A quarter turn of each: +x from the axis through (1, 0, 0) goes to −x.
        let end = motion.pose(2.0).apply(Vec3::new(2.0, 0.0, 0.0));
        assert!((end - Vec3::new(0.0, 4.0, 0.0)).norm() < 1e-15, "{end:?}");
        let half = motion.pose(1.5).apply(Vec3::new(2.0, 0.0, 0.0));
        assert!((half - Vec3::new(1.0, 2.0, -1.0)).norm() < 1e-15, "{half:?}");
    }

    #[test]
    fn a_travel_leads_from_pose_to_pose_no_faster_than_it_says() {
        let motion = Motion::new(&path(Ease::Smooth), Vec3::ZERO);
        let (from, to) = (1.2, 1.7);
        let (travel, before, after) = (motion.travel(from, to), motion.pose(from), motion.pose(to));
        let (start, end) = (Vec3::new(0.3, -0.2, 0.9), Vec3::new(-0.4, 0.8, 0.5));
        assert!((travel.undo(start, 0.0) - start).norm() < 1e-15);
        assert!((travel.undo(end, 1.0) - before.apply(after.undo(end))).norm() < 1e-14);
        let at = |part: f64| travel.undo(start + (end - start) * part, part);
        let longest = travel.longest_squared(start, end).sqrt();
        let fastest = (0..1000).map(|k| (at(f64::from(k + 1) * 1e-3) - at(f64::from(k) * 1e-3)).norm() * 1e3);
        let fastest = fastest.fold(0.0, f64::max);
        assert!(fastest <= longest && fastest > 0.99 * longest, "{fastest} and {longest}");
    }

    #[test]
    fn undo_is_the_inverse() {
        let pose = Motion::new(&path(Ease::Linear), Vec3::ZERO).pose(1.3);
        let p = Vec3::new(0.3, -0.2, 0.9);
        assert!((pose.undo(pose.apply(p)) - p).norm() < 1e-15, "not an inverse");
    }
}
