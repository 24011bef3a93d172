//! Poses: a rotation at every joint, and where the pelvis goes.

use crate::skeleton::Joint;
use crate::vector::{Vec3, add, dot, sub, unit};

/// A rotation.
///
/// ```
/// use muslin_figure::Rotation;
///
/// let quarter = Rotation::about([0.0, 0.0, 1.0], std::f64::consts::FRAC_PI_2);
/// let [x, y, _] = quarter.apply([1.0, 0.0, 0.0]);
/// assert!(x.abs() < 1e-12 && (y - 1.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rotation {
    rows: [Vec3; 3],
}

impl Rotation {
    /// None at all.
    pub const IDENTITY: Self = Self { rows: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };

    /// By an angle in rad about an axis, counter-clockwise seen from its tip. About a null vector it does nothing.
    pub fn about(axis: [f64; 3], angle: f64) -> Self {
        let [x, y, z] = unit(axis);
        if [x, y, z] == [0.0; 3] {
            return Self::IDENTITY;
        }
        let (sin, cos) = (libm::sin(angle), libm::cos(angle));
        let rest = 1.0 - cos;
        Self {
            rows: [
                [cos + x * x * rest, x * y * rest - z * sin, x * z * rest + y * sin],
                [y * x * rest + z * sin, cos + y * y * rest, y * z * rest - x * sin],
                [z * x * rest - y * sin, z * y * rest + x * sin, cos + z * z * rest],
            ],
        }
    }

    /// A vector, rotated.
    pub fn apply(&self, vector: [f64; 3]) -> [f64; 3] {
        self.rows.map(|row| dot(row, vector))
    }

    /// This rotation, and `next` after it.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let column = |k: usize| self.rows.map(|row| row[k]);
        Self { rows: next.rows.map(|row| [0, 1, 2].map(|k| dot(row, column(k)))) }
    }

    /// The rotation that undoes it.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self { rows: [0, 1, 2].map(|k| self.rows.map(|row| row[k])) }
    }
}

/// How a figure stands: a rotation at every joint, and a way that all of it goes.
///
/// A rotation turns what hangs on its joint, about the axes of the figure as its parent has turned them. The default is the rest pose.
///
/// ```
/// use muslin_figure::{Figure, Joint, Pose, Rotation};
///
/// let mut pose = Pose::default();
/// pose.turn(Joint::ShoulderLeft, Rotation::about([0.0, 0.0, 1.0], 0.5));
/// let joints = Figure::new().joints_in(&pose);
/// assert!(joints[Joint::WristLeft.index()][1] > 1.2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// One for each of [`Joint::ALL`].
    pub rotations: [Rotation; Joint::COUNT],
    /// In m.
    pub translation: [f64; 3],
}

impl Default for Pose {
    fn default() -> Self {
        Self { rotations: [Rotation::IDENTITY; Joint::COUNT], translation: [0.0; 3] }
    }
}

impl Pose {
    /// Turns a joint further.
    pub fn turn(&mut self, joint: Joint, by: Rotation) {
        let rotation = &mut self.rotations[joint.index()];
        *rotation = rotation.then(&by);
    }

    /// For every joint the map of what is fixed to it: x ↦ R x + t.
    pub(crate) fn maps(&self, rest: &[Vec3; Joint::COUNT]) -> [Map; Joint::COUNT] {
        let mut maps = [Map { rotation: Rotation::IDENTITY, translation: self.translation }; Joint::COUNT];
        for joint in Joint::ALL {
            let index = joint.index();
            let parent = joint.parent().map_or(maps[index], |parent| maps[parent.index()]);
            let own = self.rotations[index];
            let offset = sub(rest[index], own.apply(rest[index]));
            let rotation = own.then(&parent.rotation);
            maps[index] = Map { rotation, translation: add(parent.rotation.apply(offset), parent.translation) };
        }
        maps
    }
}

/// A rigid motion.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Map {
    pub(crate) rotation: Rotation,
    translation: Vec3,
}

impl Map {
    pub(crate) fn apply(&self, point: Vec3) -> Vec3 {
        add(self.rotation.apply(point), self.translation)
    }
}
