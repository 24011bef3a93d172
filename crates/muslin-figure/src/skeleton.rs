//! The joints of the figure, its limbs and the levels that garments refer to.

use crate::shape::{LEVELS, Shape};
use crate::vector::Vec3;

/// A joint, named as on the figure: left is at +x.
///
/// ```
/// use muslin_figure::Joint;
///
/// assert_eq!(Joint::ElbowLeft.parent(), Some(Joint::ShoulderLeft));
/// assert_eq!(Joint::ElbowLeft.name(), "elbow_left");
/// assert_eq!(Joint::ElbowLeft.mirrored(), Joint::ElbowRight);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "their names say what they are")]
pub enum Joint {
    Pelvis,
    Spine,
    Chest,
    Neck,
    Head,
    CollarLeft,
    ShoulderLeft,
    ElbowLeft,
    WristLeft,
    CollarRight,
    ShoulderRight,
    ElbowRight,
    WristRight,
    HipLeft,
    KneeLeft,
    AnkleLeft,
    HipRight,
    KneeRight,
    AnkleRight,
}

impl Joint {
    /// How many there are.
    pub const COUNT: usize = 19;

    /// All of them, every parent before its children.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Pelvis,
        Self::Spine,
        Self::Chest,
        Self::Neck,
        Self::Head,
        Self::CollarLeft,
        Self::ShoulderLeft,
        Self::ElbowLeft,
        Self::WristLeft,
        Self::CollarRight,
        Self::ShoulderRight,
        Self::ElbowRight,
        Self::WristRight,
        Self::HipLeft,
        Self::KneeLeft,
        Self::AnkleLeft,
        Self::HipRight,
        Self::KneeRight,
        Self::AnkleRight,
    ];

    /// Its place in [`Joint::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The joint that carries it; none for the pelvis.
    pub fn parent(self) -> Option<Self> {
        Some(match self {
            Self::Pelvis => return None,
            Self::Spine | Self::HipLeft | Self::HipRight => Self::Pelvis,
            Self::Chest => Self::Spine,
            Self::Neck | Self::CollarLeft | Self::CollarRight => Self::Chest,
            Self::Head => Self::Neck,
            Self::ShoulderLeft => Self::CollarLeft,
            Self::ElbowLeft => Self::ShoulderLeft,
            Self::WristLeft => Self::ElbowLeft,
            Self::ShoulderRight => Self::CollarRight,
            Self::ElbowRight => Self::ShoulderRight,
            Self::WristRight => Self::ElbowRight,
            Self::KneeLeft => Self::HipLeft,
            Self::AnkleLeft => Self::KneeLeft,
            Self::KneeRight => Self::HipRight,
            Self::AnkleRight => Self::KneeRight,
        })
    }

    /// The same joint of the other side; joints of the middle are their own.
    pub fn mirrored(self) -> Self {
        let index = self.index();
        match index {
            5..=8 => Self::ALL[index + 4],
            9..=12 => Self::ALL[index - 4],
            13..=15 => Self::ALL[index + 3],
            16..=18 => Self::ALL[index - 3],
            _ => self,
        }
    }

    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pelvis => "pelvis",
            Self::Spine => "spine",
            Self::Chest => "chest",
            Self::Neck => "neck",
            Self::Head => "head",
            Self::CollarLeft => "collar_left",
            Self::ShoulderLeft => "shoulder_left",
            Self::ElbowLeft => "elbow_left",
            Self::WristLeft => "wrist_left",
            Self::CollarRight => "collar_right",
            Self::ShoulderRight => "shoulder_right",
            Self::ElbowRight => "elbow_right",
            Self::WristRight => "wrist_right",
            Self::HipLeft => "hip_left",
            Self::KneeLeft => "knee_left",
            Self::AnkleLeft => "ankle_left",
            Self::HipRight => "hip_right",
            Self::KneeRight => "knee_right",
            Self::AnkleRight => "ankle_right",
        }
    }
}

/// The axis of a part of the body in the rest pose, by the name that sewing patterns give the part.
///
/// ```
/// let figure = muslin_figure::Figure::new();
/// let labels: Vec<&str> = figure.limbs().iter().map(|limb| limb.label).collect();
/// assert_eq!(labels, ["body", "neck", "arm_left", "arm_right", "leg_left", "leg_right"]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limb {
    /// `body`, `neck`, `arm_left`, `arm_right`, `leg_left` or `leg_right`.
    pub label: &'static str,
    /// Both ends, in m. Of an arm, the shoulder comes first; all others begin at the bottom.
    pub axis: [[f64; 3]; 2],
}

/// Levels above the floor in the rest pose, in m.
///
/// ```
/// let landmarks = muslin_figure::Figure::new().landmarks();
/// assert!(landmarks.crotch < landmarks.hip && landmarks.hip < landmarks.waist && landmarks.waist < landmarks.neck);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Landmarks {
    /// Where the legs meet.
    pub crotch: f64,
    /// Where the hip girth is measured.
    pub hip: f64,
    /// Where the waist girth is measured.
    pub waist: f64,
    /// Where the chest girth is measured.
    pub chest: f64,
    /// Where the neck rises from the shoulders.
    pub neck: f64,
}

/// Lengths along an arm at the drawn height: to the elbow, to the wrist, and to the end of its limb in the hand.
pub(crate) const ARM_LENGTHS: [f64; 3] = [0.30, 0.56, 0.575];

/// A place on the axis of the left arm.
fn on_arm(shape: &Shape, along: f64) -> Vec3 {
    let frame = &shape.frame;
    std::array::from_fn(|k| frame.shoulder[k] + along * frame.size * frame.arm[k])
}

/// Where the joints are in the rest pose.
pub(crate) fn rest_joints(shape: &Shape) -> [Vec3; Joint::COUNT] {
    let frame = &shape.frame;
    let at = |x: f64, y: f64, z: f64| [x * frame.size, y * frame.size, z * frame.size];
    let leg = |x: f64, y: f64, z: f64| at(x * frame.leg, y, z);
    Joint::ALL.map(|joint| {
        let of_left = match joint {
            Joint::Pelvis => at(0.0, 0.95, 0.0),
            Joint::Spine => at(0.0, 1.06, -0.010),
            Joint::Chest => at(0.0, 1.20, -0.015),
            Joint::Neck => at(0.0, 1.46, -0.015),
            Joint::Head => at(0.0, 1.56, 0.005),
            Joint::CollarLeft | Joint::CollarRight => [0.25 * frame.shoulder[0], 1.40 * frame.size, frame.shoulder[2]],
            Joint::ShoulderLeft | Joint::ShoulderRight => frame.shoulder,
            Joint::ElbowLeft | Joint::ElbowRight => on_arm(shape, ARM_LENGTHS[0]),
            Joint::WristLeft | Joint::WristRight => on_arm(shape, ARM_LENGTHS[1]),
            Joint::HipLeft | Joint::HipRight => leg(0.090, 0.90, 0.0),
            Joint::KneeLeft | Joint::KneeRight => leg(0.094, 0.47, 0.022),
            Joint::AnkleLeft | Joint::AnkleRight => leg(0.096, 0.085, -0.020),
        };
        if joint.name().ends_with("right") { [-of_left[0], of_left[1], of_left[2]] } else { of_left }
    })
}

pub(crate) fn limbs(shape: &Shape) -> [Limb; 6] {
    let frame = &shape.frame;
    let at = |x: f64, y: f64, z: f64| [x * frame.size, y * frame.size, z * frame.size];
    let arm = [frame.shoulder, on_arm(shape, ARM_LENGTHS[2])];
    let leg = [at(0.096 * frame.leg, 0.08, -0.015), at(0.094 * frame.leg, 0.85, 0.0)];
    let mirrored = |axis: [Vec3; 2]| axis.map(|[x, y, z]| [-x, y, z]);
    [
        Limb { label: "body", axis: [at(0.0, 0.92, 0.0), at(0.0, 1.30, 0.0)] },
        Limb { label: "neck", axis: [at(0.0, 1.43, -0.018), at(0.0, 1.58, 0.015)] },
        Limb { label: "arm_left", axis: arm },
        Limb { label: "arm_right", axis: mirrored(arm) },
        Limb { label: "leg_left", axis: leg },
        Limb { label: "leg_right", axis: mirrored(leg) },
    ]
}

/// The crotch is where a vertical line in the middle plane first meets the surface from below.
pub(crate) fn landmarks(shape: &Shape) -> Landmarks {
    let size = shape.frame.size;
    let meets = |z: f64| {
        let (mut outside, mut inside) = (0.5 * size, 0.9 * size);
        for _ in 0..40 {
            let middle = 0.5 * (outside + inside);
            *(if shape.field([0.0, middle, z]) > 0.0 { &mut outside } else { &mut inside }) = middle;
        }
        inside
    };
    let crotch = (-10..=10).map(|step| meets(0.005 * f64::from(step) * size)).fold(f64::INFINITY, f64::min);
    let [chest, waist, hip] = LEVELS.map(|level| level * size);
    Landmarks { crotch, hip, waist, chest, neck: 1.465 * size }
}
