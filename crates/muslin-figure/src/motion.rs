//! Motions: poses as functions of time.
//!
//! Every motion begins in the rest pose, at rest, and comes to its full size within half a second.

use crate::figure::Figure;
use crate::gait;
use crate::pose::{Pose, Rotation};
use crate::skeleton::Joint;
use crate::vector::smooth_step;

/// How long a motion takes to come to its full size, in s.
pub(crate) const BLEND: f64 = 0.5;

/// The angle between a hanging arm and an arm of the rest pose, in degrees.
const REST_ELEVATION: f64 = 50.0;

/// How high [`Motion::ArmsRaised`] lifts the arms from hanging, in degrees.
const RAISED_ELEVATION: f64 = 150.0;

/// A motion of the figure.
///
/// ```
/// use muslin_figure::{Figure, Motion, Pose};
///
/// let figure = Figure::new();
/// assert_eq!(Motion::WALK.pose(&figure, 0.0), Pose::default());
/// let there = Motion::Walk { speed: 0.9, in_place: false }.pose(&figure, 2.0);
/// assert!(there.translation[2] > 1.4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Motion {
    /// The rest pose.
    Still,
    /// Steps, two in 1.1 s.
    Walk {
        /// In m/s, held to 0 to [`Motion::TOP_SPEED`]. It decides how long the steps are.
        speed: f64,
        /// Whether the floor moves instead, to −z.
        in_place: bool,
    },
    /// One turn about the vertical axis, to the figure's left, as on a turntable. Then it stands.
    Turn {
        /// How long the turn takes, in s; at least 1.5.
        seconds: f64,
    },
    /// Both arms go up sideways, to 150° from hanging, and down to the rest pose, again and again.
    ArmsRaised {
        /// How long up and down take, in s; at least 1.5.
        seconds: f64,
    },
}

impl Motion {
    /// A calm walk on the spot.
    pub const WALK: Self = Self::Walk { speed: 0.9, in_place: true };

    /// A turn in 4 s.
    pub const TURN: Self = Self::Turn { seconds: 4.0 };

    /// Arms up and down in 4 s.
    pub const ARMS_RAISED: Self = Self::ArmsRaised { seconds: 4.0 };

    /// The fastest walk, in m/s, for a height of 1.75 m: faster, the legs would be too short for two steps in 1.1 s.
    pub const TOP_SPEED: f64 = 1.1;

    /// The pose at a time in s. Before 0 it is the rest pose.
    pub fn pose(&self, figure: &Figure, time: f64) -> Pose {
        let mut pose = Pose::default();
        if time.is_nan() || time <= 0.0 {
            return pose;
        }
        match *self {
            Self::Still => {}
            Self::Walk { speed, in_place } => gait::walk(figure, speed, in_place, time, &mut pose),
            Self::Turn { seconds } => {
                let angle = std::f64::consts::TAU * turned(time, at_least(seconds));
                pose.turn(Joint::Pelvis, Rotation::about([0.0, 1.0, 0.0], angle));
            }
            Self::ArmsRaised { seconds } => {
                let share = 0.5 - 0.5 * libm::cos(std::f64::consts::TAU * time / at_least(seconds));
                raise(&mut pose, share * (RAISED_ELEVATION - REST_ELEVATION).to_radians());
            }
        }
        pose
    }

    /// The vertices of the figure in frames from 0 to `seconds`, both included, as many a second as `rate` says.
    ///
    /// No frames but the first where a number is not positive and finite.
    pub fn frames(&self, figure: &Figure, seconds: f64, rate: f64) -> Vec<Vec<[f32; 3]>> {
        let is_some = seconds > 0.0 && rate > 0.0 && (seconds * rate).is_finite();
        let last = if is_some { (seconds * rate).round() as usize } else { 0 };
        let frame = |index: usize| {
            let pose = self.pose(figure, if index == 0 { 0.0 } else { index as f64 / rate });
            figure.positions(&pose).into_iter().map(|position| position.map(|x| x as f32)).collect()
        };
        (0..=last).map(frame).collect()
    }
}

/// Faster turns would fling the hands at more than 6 m/s.
fn at_least(seconds: f64) -> f64 {
    seconds.max(1.5)
}

/// The way gone at a time with speed 1, which is taken up within [`BLEND`].
pub(crate) fn way(time: f64) -> f64 {
    let t = (time / BLEND).clamp(0.0, 1.0);
    // The integral of the smooth step.
    let started = BLEND * t * t * t * t * (2.5 + t * (t - 3.0));
    started + (time - BLEND).max(0.0)
}

/// The part of a turn that is done: it starts and ends within [`BLEND`].
fn turned(time: f64, seconds: f64) -> f64 {
    let whole = seconds - BLEND;
    if time < seconds - BLEND { way(time) / whole } else { 1.0 - way((seconds - time).max(0.0)) / whole }
}

/// Lifts both arms sideways; the collar takes a part of it, as it does in people once the arm is up.
fn raise(pose: &mut Pose, angle: f64) {
    for (collar, shoulder, sign) in
        [(Joint::CollarLeft, Joint::ShoulderLeft, 1.0), (Joint::CollarRight, Joint::ShoulderRight, -1.0)]
    {
        for (joint, share) in [(collar, 0.3), (shoulder, 0.7)] {
            pose.turn(joint, Rotation::about([0.0, 0.0, 1.0], sign * share * angle));
        }
    }
}

/// From nothing at 0 to 1 after [`BLEND`].
pub(crate) fn blend(time: f64) -> f64 {
    smooth_step(0.0, BLEND, time)
}
