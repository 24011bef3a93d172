//! Camera: the point, the direction and the field of view of a picture.
//!
//! [`Camera::framing`] finds the nearest eye point, along a given direction, from which a box is in view. With the
//! corners of the box in view axes (x to the right, y up, z towards the eye) and t the tangent of half the field of
//! view, the corner i is inside if
//!
//! |xᵢ − c| ≤ (D − zᵢ) t        c: sideways shift of the camera, D: its distance
//!
//! Both inequalities are linear, so the smallest distance and the shift are given by the extremes of xᵢ ± t zᵢ:
//!
//! 2 t D = max (xᵢ + t zᵢ) − min (xᵢ − t zᵢ),   2 c = max (xᵢ + t zᵢ) + min (xᵢ − t zᵢ)
//!
//! and the same for y. The larger of the two distances is taken.

use crate::error::RenderError;
use crate::math::{Vec3, add, cross, dot, scale, sub, unit};
use crate::scene::{Scene, Solid};

/// A perspective camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where the camera is \[m\].
    pub eye: [f64; 3],
    /// The point in the middle of the picture \[m\].
    pub target: [f64; 3],
    /// The direction that points up in the picture; another one is taken where it is parallel to the view.
    pub up: [f64; 3],
    /// The vertical field of view \[degrees\].
    pub fov_degrees: f64,
}

impl Camera {
    /// From the target to the eye in a three-quarter view from slightly above.
    pub const THREE_QUARTER: [f64; 3] = [0.52, 0.42, 1.0];

    /// A field of view of a short telephoto lens, which keeps shapes natural \[degrees\].
    pub const FOV_DEGREES: f64 = 28.0;

    /// The share of the picture that stays free on each side of what is framed.
    const MARGIN: f64 = 0.07;

    /// The nearest camera in `direction` (from the scene to the eye) that has the whole box in view, with a small
    /// margin.
    ///
    /// `aspect` is width over height. Whatever makes no sense is replaced: the direction by [`Self::THREE_QUARTER`],
    /// the aspect by 1, the box by a unit cube; the field of view is kept between 1° and 150°.
    pub fn framing(
        bounds_min: [f64; 3],
        bounds_max: [f64; 3],
        direction: [f64; 3],
        aspect: f64,
        fov_degrees: f64,
    ) -> Self {
        let usable = |a: f64| a.is_finite() && a.abs() < 1e150; // its square stays finite
        let boxed = bounds_min.iter().chain(&bounds_max).all(|&c| usable(c));
        let (low, high) = if boxed { (bounds_min, bounds_max) } else { ([-0.5; 3], [0.5; 3]) };
        let toward_eye = unit(direction).or(unit(Self::THREE_QUARTER)).unwrap_or([0.0, 0.0, 1.0]);
        let aspect = if aspect.is_finite() && aspect > 0.0 { aspect.clamp(1e-3, 1e3) } else { 1.0 };
        let fov_degrees = if fov_degrees.is_finite() { fov_degrees.clamp(1.0, 150.0) } else { Self::FOV_DEGREES };

        let center = scale(add(low, high), 0.5);
        let half = scale(sub(high, low), 0.5).map(f64::abs);
        // A point has no size to fit to, and far from the origin a tiny box vanishes in rounding.
        let size = dot(half, half).sqrt();
        let least = 1e-9 * (1.0 + dot(center, center).sqrt());
        let half = if size > least { half } else { [0.5; 3].map(|c: f64| c.max(least)) };

        let [right, up] = axes(toward_eye, [0.0, 1.0, 0.0]);
        let tan_y = libm::tan((0.5 * fov_degrees).to_radians()) * (1.0 - 2.0 * Self::MARGIN);
        let (distance_x, shift_x) = fit(half, right, toward_eye, tan_y * aspect);
        let (distance_y, shift_y) = fit(half, up, toward_eye, tan_y);
        let target = add(center, add(scale(right, shift_x), scale(up, shift_y)));
        // A needle that points at the eye would fit from its very tip.
        let nearest = half[0] * toward_eye[0].abs() + half[1] * toward_eye[1].abs() + half[2] * toward_eye[2].abs();
        let distance = distance_x.max(distance_y).max(nearest + 0.25 * dot(half, half).sqrt());
        let eye = add(target, scale(toward_eye, distance));
        Self { eye, target, up: [0.0, 1.0, 0.0], fov_degrees }
    }
}

/// Distance and shift, along one axis of the picture, at which a box around the origin just fits.
fn fit(half: [f64; 3], axis: [f64; 3], toward_eye: [f64; 3], tan: f64) -> (f64, f64) {
    let (mut high, mut low) = (f64::NEG_INFINITY, f64::INFINITY);
    for corner in 0..8_u32 {
        let sign = |bit: u32| if corner & (1 << bit) == 0 { -1.0 } else { 1.0 };
        let corner = [sign(0) * half[0], sign(1) * half[1], sign(2) * half[2]];
        let (x, z) = (dot(corner, axis), dot(corner, toward_eye));
        high = high.max(x + tan * z);
        low = low.min(x - tan * z);
    }
    ((high - low) / (2.0 * tan), 0.5 * (high + low))
}

/// Right and up of the picture, for a unit direction to the eye.
fn axes(toward_eye: [f64; 3], up: [f64; 3]) -> [[f64; 3]; 2] {
    // One of the three is never parallel to the view.
    let right = [up, [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]
        .into_iter()
        .filter_map(unit)
        .map(|up| cross(up, toward_eye))
        .find(|right| dot(*right, *right) > 1e-12)
        .and_then(unit)
        .unwrap_or([1.0, 0.0, 0.0]);
    [right, cross(toward_eye, right)]
}

/// A box that grows around what it is shown: the whole clip, for a camera that stands still.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The lowest coordinates \[m\]; above `max` while the box is empty.
    pub min: [f64; 3],
    /// The highest coordinates \[m\].
    pub max: [f64; 3],
}

impl Default for Bounds {
    fn default() -> Self {
        Self { min: [f64::INFINITY; 3], max: [f64::NEG_INFINITY; 3] }
    }
}

impl Bounds {
    /// Everything finite in a scene: its cloths and solids, without infinite planes and the ground.
    pub fn of_scene(scene: &Scene<'_>) -> Self {
        let mut bounds = Self::default();
        for cloth in &scene.cloths {
            bounds.include_positions(cloth.positions);
        }
        for solid in &scene.solids {
            bounds.include_solid(solid);
        }
        bounds
    }

    /// Whether nothing was included yet.
    pub fn is_empty(&self) -> bool {
        (0..3).any(|axis| self.min[axis] > self.max[axis])
    }

    /// Grows to hold a point; a point that is not finite is ignored.
    pub fn include(&mut self, point: [f64; 3]) {
        if point.iter().all(|c| c.is_finite()) {
            for axis in 0..3 {
                self.min[axis] = self.min[axis].min(point[axis]);
                self.max[axis] = self.max[axis].max(point[axis]);
            }
        }
    }

    /// Grows to hold the vertices of a mesh.
    pub fn include_positions(&mut self, positions: &[[f32; 3]]) {
        for position in positions {
            self.include(position.map(f64::from));
        }
    }

    /// Grows to hold a solid; an infinite plane changes nothing.
    pub fn include_solid(&mut self, solid: &Solid<'_>) {
        match solid {
            Solid::Plane { .. } => {}
            Solid::Mesh { positions, .. } | Solid::Surface { positions, .. } => self.include_positions(positions),
        }
    }

    /// The camera of [`Camera::framing`] on this box, with the default field of view; on a unit cube while the box is
    /// empty.
    pub fn camera(&self, direction: [f64; 3], aspect: f64) -> Camera {
        Camera::framing(self.min, self.max, direction, aspect, Camera::FOV_DEGREES)
    }
}

/// A camera ready for drawing, in the frame of the stage.
///
/// The stage has its origin in the camera's target, the axes of the world, and the distance from target to eye as its
/// unit of length: single precision is then enough for scenes of every size at every place.
#[derive(Clone, Debug)]
pub(crate) struct View {
    origin: [f64; 3],
    stage_per_metre: f64,
    pub(crate) eye: Vec3,
    pub(crate) right: Vec3,
    pub(crate) up: Vec3,
    pub(crate) forward: Vec3,
    pub(crate) tan_x: f32,
    pub(crate) tan_y: f32,
}

impl View {
    pub(crate) fn new(camera: &Camera, aspect: f64) -> Result<Self, RenderError> {
        let error = || RenderError::Camera { eye: camera.eye, target: camera.target, fov_degrees: camera.fov_degrees };
        let offset = sub(camera.eye, camera.target);
        let toward_eye = unit(offset).ok_or_else(error)?;
        let distance = dot(offset, toward_eye);
        let tan_y = libm::tan((0.5 * camera.fov_degrees).to_radians());
        let sane = distance.is_finite() && (1.0 / distance).is_finite() && camera.target.iter().all(|c| c.is_finite());
        if !(sane && camera.fov_degrees > 0.0 && camera.fov_degrees < 180.0 && tan_y > 0.0) {
            return Err(error());
        }
        let [right, up] = axes(toward_eye, camera.up);
        Ok(Self {
            origin: camera.target,
            stage_per_metre: 1.0 / distance,
            eye: Vec3::from_f64(toward_eye),
            right: Vec3::from_f64(right),
            up: Vec3::from_f64(up),
            forward: -Vec3::from_f64(toward_eye),
            tan_x: (tan_y * aspect) as f32,
            tan_y: tan_y as f32,
        })
    }

    /// A point of the world on the stage.
    pub(crate) fn place(&self, point: [f64; 3]) -> Vec3 {
        Vec3::from_f64(scale(sub(point, self.origin), self.stage_per_metre))
    }

    /// The ray through a point of the picture (−1 to 1 both ways, y up), of depth 1.
    pub(crate) fn ray(&self, x: f32, y: f32) -> Vec3 {
        self.forward + self.right * (x * self.tan_x) + self.up * (y * self.tan_y)
    }
}
