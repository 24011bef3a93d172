//! The colour of a point that is seen.
//!
//! Cloth scatters light in its fibres: it is lit a little beyond the terminator (wrapped diffuse), lets some light
//! through from behind, and brightens at grazing angles, where the fuzz is seen against the light. Solids are matt
//! plaster with a faint highlight.

use crate::ambient::{Ambient, KEY, open_sky};
use crate::camera::View;
use crate::color::{WARNING, linear_from_srgb, shoulder};
use crate::math::{Vec3, smoothstep, vec3};
use crate::scene::Scene;
use crate::shadow::Shadow;
use crate::stage::{Plane, Stage, Surface};

/// How far beyond the terminator cloth is lit by scattered light, as a cosine; and how strongly.
const WRAP: f32 = 0.5;
const SCATTER: f32 = 0.16;

/// Cosine at which a surface is fully lit: below it, what the triangles of a mesh cast on each other would show.
const TERMINATOR: f32 = 0.22;

/// Light that comes through cloth, as a share of what falls on its other side.
const TRANSLUCENCY: f32 = 0.55;

/// Strength of the grazing-angle sheen.
const SHEEN: f32 = 0.20;

/// Squares of the woven check along the longer side of the cloth.
const CHECKS: f32 = 16.0;

/// Width of the lines of the check, in squares.
const CHECK_LINE: f32 = 0.045;

/// Half the width of the drawn edges of a mesh \[pixels\].
const WIRE: f32 = 0.55;

/// Everything that decides on a colour.
#[derive(Debug)]
pub(crate) struct Shader<'a> {
    pub(crate) scene: &'a Scene<'a>,
    pub(crate) stage: &'a Stage,
    pub(crate) view: &'a View,
    pub(crate) shadow: &'a Shadow,
    pub(crate) ambient: &'a Ambient,
    /// The unit vector to the key light, and its linear colour.
    pub(crate) toward_light: Vec3,
    pub(crate) key: Vec3,
    /// The share of the key light on open ground.
    pub(crate) key_share: Vec3,
    /// The size of a pixel in the coordinates of the picture (−1 to 1).
    pub(crate) pixel: (f32, f32),
}

/// The share of the key light on open ground: what shadows take away.
pub(crate) fn key_share(toward_light: Vec3, key: Vec3) -> Vec3 {
    let lit = key * toward_light.y.max(0.0);
    let sky = open_sky(Vec3::UP);
    let share = |lit: f32, sky: f32| lit / (lit + sky);
    vec3(share(lit.x, sky.x), share(lit.y, sky.y), share(lit.z, sky.z))
}

pub(crate) fn key_light(strength: f32) -> Vec3 {
    KEY * if strength.is_nan() { 0.0 } else { strength.clamp(0.0, 10.0) }
}

impl Shader<'_> {
    /// The linear colour of a triangle at a point of the picture (−1 to 1 both ways, y up).
    pub(crate) fn triangle(&self, index: usize, x: f32, y: f32) -> Vec3 {
        let triangle = self.stage.triangles[index];
        let surface = &self.stage.surfaces[triangle.surface as usize];
        let corners = triangle.corners.map(|i| i as usize);
        let points = corners.map(|i| self.stage.positions[i]);
        let ray = self.view.ray(x, y);
        let weights = inside(barycentric(points, self.view.eye, ray));
        let blend = |values: [Vec3; 3]| values[0] * weights[0] + values[1] * weights[1] + values[2] * weights[2];

        let point = blend(points);
        let toward_eye = (self.view.eye - point).unit_or(Vec3::UP);
        let face = (points[1] - points[0]).cross(points[2] - points[0]).unit_or(Vec3::UP);
        let front = face.dot(toward_eye) >= 0.0;
        let facing = if front { 1.0 } else { -1.0 };
        let normals = corners.map(|i| self.stage.normals[i]).map(|normal| {
            // 50°: beyond it, the mesh has an edge.
            if surface.creased && normal.dot(face) < 0.64 { face } else { normal }
        });
        let mut normal = blend(normals).unit_or(face) * facing;
        // A smooth normal may point away from the eye at the outline, the face cannot.
        let turned = normal.dot(toward_eye);
        if turned < 0.02 {
            normal = (normal + toward_eye * (0.02 - turned)).unit_or(toward_eye);
        }
        let side = usize::from(!front && surface.cloth.is_some());
        let sky = blend(corners.map(|i| self.ambient.vertices[i][side]));

        let mut color = if front { surface.front } else { surface.back };
        if let Some(painted) = self.painted(surface, triangle.source as usize, weights) {
            color = painted;
        }
        if triangle.marked {
            color = WARNING;
        }
        if surface.uv_extent > 0.0 {
            color = self.check(surface, triangle.source as usize, points, weights, (x, y), color);
        }
        if surface.wires {
            color = color.mix(color * 0.35, 0.8 * self.wire(points, weights, (x, y)));
        }
        let light = if surface.cloth.is_some() {
            self.cloth(color, point, normal, toward_eye, sky)
        } else {
            self.plaster(color, point, normal, toward_eye, sky)
        };
        shoulder(light)
    }

    /// The colour of a cloth whose vertices have one each.
    fn painted(&self, surface: &Surface, source: usize, weights: [f32; 3]) -> Option<Vec3> {
        let cloth = self.scene.cloths.get(surface.cloth?)?;
        let (colors, corners) = (cloth.colors?, cloth.triangles.get(source)?);
        let [a, b, c] = corners.map(|v| colors.get(v as usize).copied().map(linear_from_srgb));
        Some(a? * weights[0] + b? * weights[1] + c? * weights[2])
    }

    fn cloth(&self, color: Vec3, point: Vec3, normal: Vec3, toward_eye: Vec3, sky: Vec3) -> Vec3 {
        let cos = normal.dot(self.toward_light);
        // Both sides see the same light, so the lookup is made on the side that faces it. At the terminator, where
        // triangles turn away one by one, the direct and the transmitted part both vanish, and with them the outlines
        // of the triangles.
        let facing = if cos >= 0.0 { normal } else { -normal };
        let key = self.key * self.shadow.light_at(point, facing);
        let lit = cos.max(0.0) * smoothstep(0.0, TERMINATOR, cos);
        let through = TRANSLUCENCY * (-cos).max(0.0) * smoothstep(0.0, TERMINATOR, -cos);
        // Light that entered nearby: wrapped around the terminator, held back by what hides the sky instead of by the
        // sharp shadow.
        let wrapped = ((cos + WRAP) / (1.0 + WRAP)).max(0.0);
        let open = (sky.luminance() / open_sky(normal).luminance()).min(1.0);
        let scattered = SCATTER * wrapped * wrapped * open;
        let diffuse =
            color * (sky + key * lit + self.key * scattered) + color * color.mix(Vec3::ONE, 0.4) * key * through;
        let grazing = 1.0 - normal.dot(toward_eye).clamp(0.0, 1.0);
        let fuzz = SHEEN * grazing * grazing * grazing;
        let fibre = color.mix(Vec3::ONE, 0.35);
        diffuse + fibre * (sky + key * lit) * fuzz
    }

    fn plaster(&self, color: Vec3, point: Vec3, normal: Vec3, toward_eye: Vec3, sky: Vec3) -> Vec3 {
        let cos = normal.dot(self.toward_light).max(0.0);
        let cos = cos * smoothstep(0.0, TERMINATOR, cos);
        let reach = if cos > 0.0 { self.shadow.light_at(point, normal) } else { 0.0 };
        let half = (self.toward_light + toward_eye).unit_or(normal);
        let gloss = normal.dot(half).max(0.0);
        let gloss = gloss * gloss;
        let gloss = gloss * gloss * gloss * gloss; // to the eighth
        let gloss = gloss * gloss; // to the sixteenth
        color * (sky + self.key * (reach * cos)) + self.key * (0.07 * gloss * reach * cos.sqrt())
    }

    /// The woven check: fine paler lines along u and v, filtered over the pixel.
    fn check(
        &self,
        surface: &Surface,
        source: usize,
        points: [Vec3; 3],
        weights: [f32; 3],
        at: (f32, f32),
        color: Vec3,
    ) -> Vec3 {
        let uv = surface.cloth.and_then(|cloth| self.scene.cloths.get(cloth)?.uv?.get(source));
        let Some(uv) = uv else { return color };
        let scale = CHECKS / surface.uv_extent;
        let place = |w: [f32; 3], axis: usize| (uv[0][axis] * w[0] + uv[1][axis] * w[1] + uv[2][axis] * w[2]) * scale;
        let [right, down] = self.neighbours(points, at);
        let line = |axis: usize| {
            let here = place(weights, axis);
            let width = (place(right, axis) - here).abs() + (place(down, axis) - here).abs();
            stripe(here + 0.5 * CHECK_LINE, CHECK_LINE, width)
        };
        let (warp, weft) = (line(0), line(1));
        let cover = warp + weft - warp * weft;
        // Not a number where the uv are not.
        if cover > 0.0 { color.mix(color.mix(vec3(0.9, 0.88, 0.84), 0.5), 0.45 * cover.min(1.0)) } else { color }
    }

    /// How much of the pixel is covered by the edges of its triangle.
    fn wire(&self, points: [Vec3; 3], weights: [f32; 3], at: (f32, f32)) -> f32 {
        let [right, down] = self.neighbours(points, at);
        let mut cover = 0.0_f32;
        for i in 0..3 {
            let (dx, dy) = (right[i] - weights[i], down[i] - weights[i]);
            let pixels = weights[i] / (dx * dx + dy * dy).sqrt().max(f32::MIN_POSITIVE);
            cover = cover.max((WIRE + 0.5 - pixels).clamp(0.0, 1.0));
        }
        cover
    }

    /// Barycentric coordinates, on the plane of the triangle, one pixel to the right and one down.
    fn neighbours(&self, points: [Vec3; 3], (x, y): (f32, f32)) -> [[f32; 3]; 2] {
        let at = |x: f32, y: f32| barycentric(points, self.view.eye, self.view.ray(x, y));
        [at(x + self.pixel.0, y), at(x, y + self.pixel.1)]
    }

    /// What is missing of the key light and of the sky on the ground at a point of the picture, 0 to 1 each.
    pub(crate) fn ground_shade(&self, x: f32, y: f32) -> [f32; 2] {
        let Some(plane) = self.stage.ground else { return [0.0; 2] };
        let ray = self.view.ray(x, y);
        let distance = (plane.point - self.view.eye).dot(plane.normal) / ray.dot(plane.normal);
        // At the horizon and above it.
        if !(distance > 0.0 && distance.is_finite()) {
            return [0.0; 2];
        }
        let point = self.view.eye + ray * distance;
        // Less than a byte of occlusion is none: most of the ground is then plain background.
        let sky = (0.997 - self.ambient.ground.sky_at(point)).max(0.0);
        [1.0 - self.shadow.light_on_ground(point), sky]
    }

    /// The light on the ground as a share of that on open ground, for what is missing.
    pub(crate) fn ground_light(&self, [key, sky]: [f32; 2]) -> Vec3 {
        Vec3::ONE - self.key_share * key - (Vec3::ONE - self.key_share) * sky
    }

    /// The colour of another plane at a point of the picture, and how much of it is left so far from the scene.
    pub(crate) fn plane(&self, plane: Plane, x: f32, y: f32) -> (Vec3, f32) {
        let ray = self.view.ray(x, y);
        let point = self.view.eye + ray * ((plane.point - self.view.eye).dot(plane.normal) / ray.dot(plane.normal));
        let center = if self.stage.is_empty() { Vec3::ZERO } else { (self.stage.min + self.stage.max) * 0.5 };
        let radius = if self.stage.is_empty() { 0.3 } else { 0.5 * (self.stage.max - self.stage.min).length() };
        let distance = (point - center).length();
        let left = 1.0 - smoothstep(1.1 * radius, 2.2 * radius, distance);
        if left <= 0.0 {
            return (Vec3::ZERO, 0.0);
        }
        let color = linear_from_srgb(self.scene.solid_color);
        let toward_eye = (self.view.eye - point).unit_or(Vec3::UP);
        (shoulder(self.plaster(color, point, plane.normal, toward_eye, open_sky(plane.normal))), left)
    }
}

/// Barycentric coordinates of the point in which a ray meets the plane of a triangle [Möller, Trumbore 1997]:
/// perspective-correct by construction, without anything kept from the rasteriser. The middle of the triangle where the
/// ray runs along the plane.
fn barycentric(points: [Vec3; 3], eye: Vec3, ray: Vec3) -> [f32; 3] {
    let (e1, e2) = (points[1] - points[0], points[2] - points[0]);
    let across = ray.cross(e2);
    let det = e1.dot(across);
    let from = eye - points[0];
    let u = from.dot(across) / det;
    let v = ray.dot(from.cross(e1)) / det;
    if u.is_finite() && v.is_finite() { [1.0 - u - v, u, v] } else { [1.0 / 3.0; 3] }
}

/// The nearest weights that belong to the triangle: a sample on an edge may be a rounding outside.
fn inside(weights: [f32; 3]) -> [f32; 3] {
    let clamped = weights.map(|w| w.clamp(0.0, 1.0));
    let sum: f32 = clamped.iter().sum();
    if sum > 0.0 { clamped.map(|w| w / sum) } else { [1.0 / 3.0; 3] }
}

/// The share of [x − f/2, x + f/2] that lies on stripes of width `w`, one per unit.
fn stripe(x: f32, w: f32, f: f32) -> f32 {
    let f = f.max(1e-6);
    let integral = |x: f32| x.floor() * w + (x - x.floor()).min(w);
    (integral(x + 0.5 * f) - integral(x - 0.5 * f)) / f
}
