//! A walk: feet follow a path, legs follow the feet.
//!
//! ```text
//!        pelvis ○                     In its stance, 60 % of the cycle, a foot is fixed to the floor and goes back under the
//!              / \                    body at the speed of the walk; it rolls from the heel to the ball. In its swing it goes
//!        knee ○   ○                   forward, at first and at last as fast as the floor. The leg is two bars between hip
//!            /     \                  and ankle, bent by the law of cosines.
//!     ankle ○       ○
//!          heel  ball                 u = 0: the heel meets the floor      u = 0.6: the ball leaves it
//! ```
//!
//! Angles are drawn after those of people who walk calmly [Perry 1992], and rounded.

use std::f64::consts::{PI, TAU};

use crate::figure::Figure;
use crate::motion::{Motion, blend, way};
use crate::part::smooth_min;
use crate::pose::{Pose, Rotation};
use crate::skeleton::Joint;
use crate::vector::{Vec3, smooth_step, sub};

/// Two steps, in s.
const CYCLE: f64 = 1.1;

/// The part of the cycle in which a foot is on the floor.
const STANCE: f64 = 0.6;

/// Where the left foot is in its cycle when the walk begins: below the body, while the right one swings.
const START: f64 = 0.27;

/// The height that lengths of this page are for, in m.
const DRAWN_HEIGHT: f64 = 1.75;

const X: Vec3 = [1.0, 0.0, 0.0];
const Y: Vec3 = [0.0, 1.0, 0.0];
const Z: Vec3 = [0.0, 0.0, 1.0];

/// Joints of one side: collar, shoulder, elbow, wrist, hip, knee, ankle; and the sign of its x.
const SIDES: [([Joint; 7], f64); 2] = [
    (
        [
            Joint::CollarLeft,
            Joint::ShoulderLeft,
            Joint::ElbowLeft,
            Joint::WristLeft,
            Joint::HipLeft,
            Joint::KneeLeft,
            Joint::AnkleLeft,
        ],
        1.0,
    ),
    (
        [
            Joint::CollarRight,
            Joint::ShoulderRight,
            Joint::ElbowRight,
            Joint::WristRight,
            Joint::HipRight,
            Joint::KneeRight,
            Joint::AnkleRight,
        ],
        -1.0,
    ),
];

pub(crate) fn walk(figure: &Figure, speed: f64, in_place: bool, time: f64, pose: &mut Pose) {
    let size = figure.measures().height / DRAWN_HEIGHT;
    let speed = if speed.is_nan() { 0.0 } else { speed.clamp(0.0, Motion::TOP_SPEED * size) };
    let (amount, cycle) = (blend(time), time / CYCLE + START);
    let turned = |degrees: f64| amount * degrees.to_radians();
    let cos = libm::cos(TAU * cycle);

    // The side whose leg is in front comes forward; the hip above the foot that stands is the higher one.
    let yaw = Rotation::about(Y, turned(-5.0 * cos));
    let roll = Rotation::about(Z, turned(2.0 * libm::sin(TAU * (cycle - 0.05))));
    let pelvis = roll.then(&yaw);
    pose.turn(Joint::Pelvis, pelvis);
    pose.turn(Joint::Spine, roll.inverse().then(&Rotation::about(Y, turned(4.0 * cos))));
    pose.turn(Joint::Chest, Rotation::about(Y, turned(4.0 * cos)));
    pose.turn(Joint::Head, Rotation::about(Y, turned(-3.0 * cos)));

    // Lowest when both feet are on the floor.
    let low = 0.026 + 0.012 * libm::cos(2.0 * TAU * (cycle - 0.05));
    let reach = speed * CYCLE * STANCE / (0.594 * size);
    pose.translation = [0.0, -amount * low * size * reach * reach, if in_place { 0.0 } else { speed * way(time) }];

    for (side, (joints, sign)) in SIDES.into_iter().enumerate() {
        let at = cycle + 0.5 * side as f64;
        let at = at - at.floor();
        let in_front = -sign * cos;
        arm(&joints, sign, in_front, turned, pose);
        leg(figure, &joints, &pelvis, &Foot::at(figure, at, speed, amount, size), pose);
    }
}

/// Arms hang at the sides and swing; elbows bend more in front.
fn arm(
    &[collar, shoulder, elbow, ..]: &[Joint; 7],
    sign: f64,
    in_front: f64,
    turned: impl Fn(f64) -> f64,
    pose: &mut Pose,
) {
    pose.turn(collar, Rotation::about(Z, turned(-4.0 * sign)));
    let lowered = Rotation::about(Z, turned(-22.0 * sign));
    pose.turn(shoulder, lowered.then(&Rotation::about(X, turned(2.0 - 17.0 * in_front))));
    // The forearm turns to the front: about the arm's direction × z.
    let axis = [-0.643 * sign, -0.766, 0.0].map(|x| x * sign);
    pose.turn(elbow, Rotation::about(axis, turned(14.0 + 9.0 * in_front)));
}

/// Where a foot is: its ankle from where it is at rest, and how far its toes point down.
struct Foot {
    forward: f64,
    up: f64,
    pitch: f64,
}

impl Foot {
    fn at(figure: &Figure, at: f64, speed: f64, amount: f64, size: f64) -> Self {
        let length = speed * CYCLE * STANCE;
        let share = length / (0.594 * size);
        let step = |from: f64, to: f64| smooth_step(from, to, at);
        let heel_down = -16.0 * (1.0 - step(0.0, 0.13) + step(0.80, 0.97));
        let heel_up = 36.0 * (step(0.38, 0.66) - step(0.66, 0.88));
        let pitch = amount * share * (heel_down + heel_up).to_radians();
        let lift = 0.03 * (step(0.60, 0.76) - step(0.80, 1.0)) * share;
        let spread = 0.25 * (step(0.64, 0.74) - step(0.88, 1.0)) * share;
        let up = support(figure, pitch, amount * spread) + amount * lift * size;
        Self { forward: amount * path(at, length) + roll(figure, pitch, size), up, pitch }
    }
}

/// How far forward of the middle a foot is. Where stance and swing meet, both have the speed of the floor.
fn path(at: f64, length: f64) -> f64 {
    if at < STANCE {
        return length * (0.5 - at / STANCE);
    }
    let swing = 1.0 - STANCE;
    let (t, slope) = ((at - STANCE) / swing, -swing / STANCE);
    // Hermite's cubic from −½ to ½ with the same slope at both ends.
    length * (-0.5 + slope * t + (3.0 - 3.0 * slope) * t * t + (2.0 * slope - 2.0) * t * t * t)
}

/// How far the ankle of a pitched foot must rise for its sole to stay above the floor.
///
/// Where the foot comes down from its toes onto its heel in the air, that has a kink. The mean over pitches `spread` to both sides has
/// none, and as the function is convex, the mean is never lower.
fn support(figure: &Figure, pitch: f64, spread: f64) -> f64 {
    /// Pitches on each side, with weights that fall to nothing.
    const SAMPLES: i32 = 6;
    let ankle = figure.rest_joints()[Joint::AnkleLeft.index()];
    // The sole is rigid with the ankle.
    let lowest = |pitch: f64| {
        let turn = Rotation::about(X, pitch);
        let heights =
            figure.sole().iter().map(|&vertex| turn.apply(sub(figure.rest_positions()[vertex as usize], ankle))[1]);
        heights.fold(f64::INFINITY, f64::min)
    };
    let (mut sum, mut weights) = (0.0, 0.0);
    for sample in -SAMPLES..=SAMPLES {
        let off = f64::from(sample) / f64::from(SAMPLES + 1);
        let weight = (1.0 - off * off) * (1.0 - off * off);
        sum += weight * lowest(pitch + spread * off);
        weights += weight;
    }
    lowest(0.0) - sum / weights
}

/// How far the ankle of a pitched foot moves for its ball or heel to stay in place.
fn roll(figure: &Figure, pitch: f64, size: f64) -> f64 {
    let ankle = figure.rest_joints()[Joint::AnkleLeft.index()];
    let contact = [0.0, -ankle[1], size * if pitch > 0.0 { 0.125 } else { -0.03 }];
    contact[2] - Rotation::about(X, pitch).apply(contact)[2]
}

/// Bends a leg in the plane of the walk so that its ankle is where the foot wants it.
fn leg(figure: &Figure, &[.., hip, knee, ankle]: &[Joint; 7], pelvis: &Rotation, foot: &Foot, pose: &mut Pose) {
    let rest = figure.rest_joints();
    let [hip_at, knee_at, ankle_at] = [hip, knee, ankle].map(|joint| rest[joint.index()]);
    let hip_now = figure.joints_in(pose)[hip.index()];
    let body_z = pose.translation[2];
    let to_rest = [ankle_at[1] - hip_at[1], ankle_at[2] - hip_at[2]];
    let to = [ankle_at[1] + foot.up - hip_now[1], ankle_at[2] + foot.forward + body_z - hip_now[2]];
    let [thigh, shank] = [[hip_at, knee_at], [knee_at, ankle_at]].map(|[a, b]| libm::hypot(b[1] - a[1], b[2] - a[2]));
    let [thigh_rest, knee_rest] = bars(to_rest, thigh, shank);
    let [thigh_now, knee_now] = bars(to, thigh, shank);
    let (swing, bend) = (thigh_now - thigh_rest, knee_now - knee_rest);
    pose.turn(hip, Rotation::about(X, swing).then(&pelvis.inverse()));
    pose.turn(knee, Rotation::about(X, bend));
    pose.turn(ankle, Rotation::about(X, foot.pitch - swing - bend));
}

/// Angles about x, of the first bar from straight down and of the second from the first, that reach a place (y, z); a place too far is
/// reached for.
fn bars([y, z]: [f64; 2], first: f64, second: f64) -> [f64; 2] {
    // A leg that comes to its end all at once would jerk its knee.
    let far = smooth_min(libm::hypot(y, z), 0.9998 * (first + second), 0.002);
    let angle =
        |a: f64, b: f64, across: f64| libm::acos(((a * a + b * b - across * across) / (2.0 * a * b)).clamp(-1.0, 1.0));
    let to_front = angle(first, far, second);
    [libm::atan2(-z, -y) - to_front, PI - angle(first, second, far)]
}
