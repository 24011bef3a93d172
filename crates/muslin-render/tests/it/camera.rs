//! Framing.

use muslin::contact::Capsule;
use muslin_render::{Bounds, Camera, Solid};

use crate::surfaces::Surface;
use proptest::prelude::*;

/// A point in the picture, −1 to 1 both ways, and its distance along the view.
fn project(camera: &Camera, point: [f64; 3], aspect: f64) -> [f64; 3] {
    let sub = |a: [f64; 3], b: [f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let cross =
        |a: [f64; 3], b: [f64; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let unit = |a: [f64; 3]| a.map(|c| c / dot(a, a).sqrt());
    let back = unit(sub(camera.eye, camera.target));
    let right = unit(cross(camera.up, back));
    let up = cross(back, right);
    let offset = sub(point, camera.eye);
    let depth = -dot(offset, back);
    let tan = libm::tan(0.5 * camera.fov_degrees.to_radians());
    [dot(offset, right) / (depth * tan * aspect), dot(offset, up) / (depth * tan), depth]
}

fn corners(min: [f64; 3], max: [f64; 3]) -> impl Iterator<Item = [f64; 3]> {
    (0..8_u32).map(move |i| std::array::from_fn(|axis| if i & (1 << axis) == 0 { min[axis] } else { max[axis] }))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn framing_keeps_every_corner_in_view(
        min in prop::array::uniform3(-100.0..100.0_f64),
        size in prop::array::uniform3(0.0..50.0_f64),
        direction in prop::array::uniform3(-1.0..1.0_f64),
        aspect in 0.3..3.0_f64,
        fov in 5.0..120.0_f64,
    ) {
        // Not straight up or down: there the test's own frame has no right.
        prop_assume!(direction[0].abs() + direction[2].abs() > 0.05);
        let max = [min[0] + size[0] + 0.01, min[1] + size[1], min[2] + size[2]];
        let camera = Camera::framing(min, max, direction, aspect, fov);
        let (mut widest, mut nearest) = (0.0_f64, f64::INFINITY);
        for corner in corners(min, max) {
            let [x, y, depth] = project(&camera, corner, aspect);
            prop_assert!(depth > 0.0, "a corner is behind the camera");
            prop_assert!(x.abs() < 0.99 && y.abs() < 0.99, "a corner is at {x}, {y}");
            widest = widest.max(x.abs()).max(y.abs());
            nearest = nearest.min(depth);
        }
        let diagonal = max.iter().zip(&min).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        // Unless the camera stands as close as it may.
        prop_assert!(widest > 0.8 || nearest < 0.13 * diagonal, "the box fills only {widest} of the picture");
    }
}

#[test]
fn framing_makes_something_of_anything() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    for bounds in [[nan; 3], [inf; 3], [-inf; 3], [0.0; 3], [1e300; 3], [1e9; 3]] {
        for direction in [[0.0; 3], [nan; 3], [0.0, 1.0, 0.0], [0.0, -1e-300, 0.0]] {
            for (aspect, fov) in [(1.0, 30.0), (nan, nan), (0.0, 0.0), (inf, 180.0), (-1.0, -1.0)] {
                let camera = Camera::framing(bounds, bounds, direction, aspect, fov);
                assert!(camera.eye.iter().chain(&camera.target).all(|c| c.is_finite()), "{camera:?}");
                assert_ne!(camera.eye, camera.target);
            }
        }
    }
}

#[test]
fn bounds_hold_what_they_were_shown() {
    let mut bounds = Bounds::default();
    assert!(bounds.is_empty());
    bounds.include_solid(&Solid::Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0] });
    bounds.include([f64::NAN, 0.0, 0.0]);
    assert!(bounds.is_empty(), "nothing finite was included");
    bounds.include_positions(&[[1.0, 2.0, 3.0], [f32::INFINITY, 0.0, 0.0]]);
    let capsule = Surface::of(&Capsule { a: [0.0; 3], b: [0.0, 1.0, 0.0], radius: 0.5 });
    bounds.include_solid(&capsule.solid());
    assert_eq!((bounds.min, bounds.max), ([-0.5, -0.5, -0.5], [1.0, 2.0, 3.0]));
}
