//! Small vectors: `Vec3` (single precision, the stage) and functions on `[f64; 3]` (the world, before it is scaled).

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// A point, a direction or a linear colour, in single precision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Vec3 {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
}

pub(crate) const fn vec3(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3 { x, y, z }
}

impl Vec3 {
    pub(crate) const ZERO: Self = vec3(0.0, 0.0, 0.0);
    pub(crate) const ONE: Self = vec3(1.0, 1.0, 1.0);
    pub(crate) const UP: Self = vec3(0.0, 1.0, 0.0);

    pub(crate) fn from_f64(a: [f64; 3]) -> Self {
        vec3(a[0] as f32, a[1] as f32, a[2] as f32)
    }

    pub(crate) fn dot(self, other: Self) -> f32 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    pub(crate) fn cross(self, other: Self) -> Self {
        vec3(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    pub(crate) fn length(self) -> f32 {
        self.dot(self).sqrt()
    }

    /// The unit vector along `self`, or `fallback` where there is none (zero, infinite or NaN).
    pub(crate) fn unit_or(self, fallback: Self) -> Self {
        let length = self.length();
        if length > 0.0 && length.is_finite() { self * (1.0 / length) } else { fallback }
    }

    pub(crate) fn min(self, other: Self) -> Self {
        vec3(self.x.min(other.x), self.y.min(other.y), self.z.min(other.z))
    }

    pub(crate) fn max(self, other: Self) -> Self {
        vec3(self.x.max(other.x), self.y.max(other.y), self.z.max(other.z))
    }

    pub(crate) fn mix(self, other: Self, t: f32) -> Self {
        self * (1.0 - t) + other * t
    }

    /// Relative luminance of a linear colour with sRGB primaries.
    pub(crate) fn luminance(self) -> f32 {
        self.dot(vec3(0.2126, 0.7152, 0.0722))
    }

    /// Two unit vectors that complete the unit vector `self` to a right-handed frame.
    pub(crate) fn tangents(self) -> (Self, Self) {
        // The axis that is farthest from `self`, so that the cross product is never short.
        let axis = if self.y.abs() < 0.9 { Self::UP } else { vec3(1.0, 0.0, 0.0) };
        let right = axis.cross(self).unit_or(vec3(1.0, 0.0, 0.0));
        (right, self.cross(right))
    }
}

impl Add for Vec3 {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        vec3(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl AddAssign for Vec3 {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Vec3 {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        vec3(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl Neg for Vec3 {
    type Output = Self;
    fn neg(self) -> Self {
        vec3(-self.x, -self.y, -self.z)
    }
}

impl Mul<f32> for Vec3 {
    type Output = Self;
    fn mul(self, s: f32) -> Self {
        vec3(self.x * s, self.y * s, self.z * s)
    }
}

/// Component by component: light times colour.
impl Mul for Vec3 {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        vec3(self.x * other.x, self.y * other.y, self.z * other.z)
    }
}

/// The whole part of a number from 0 to 2³¹; casts to 64 bits, and `floor` without it, take several times as long.
pub(crate) fn whole(x: f32) -> usize {
    (x as i32).max(0) as usize
}

/// The cubic 3t² − 2t³ between `from` and `to`, 0 before and 1 after.
pub(crate) fn smoothstep(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

pub(crate) fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(crate) fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn scale(a: [f64; 3], s: f64) -> [f64; 3] {
    [a[0] * s, a[1] * s, a[2] * s]
}

pub(crate) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The unit vector along `a`; `None` where there is none. Scaled first, so that no square overflows or vanishes.
pub(crate) fn unit(a: [f64; 3]) -> Option<[f64; 3]> {
    let largest = a[0].abs().max(a[1].abs()).max(a[2].abs());
    if !(largest > 0.0 && a.iter().all(|c| c.is_finite())) {
        return None;
    }
    let scaled = a.map(|c| c / largest);
    Some(scale(scaled, 1.0 / dot(scaled, scaled).sqrt()))
}
