//! Nothing panics, whatever is asked for.

use muslin::contact::Sphere;
use muslin_render::{Camera, Cloth, Light, RenderError, Renderer, Scene, Solid};

use crate::surfaces::Surface;

use crate::{SQUARE, SQUARE_TRIANGLES, front_camera};

const STRANGE: [f64; 9] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e-300, 1e300, f64::MAX, f64::MIN_POSITIVE];

fn tiny() -> Renderer {
    Renderer::new(20, 12, 2).expect("a size that fits")
}

#[test]
fn strange_vertices_are_left_out() {
    let mut renderer = tiny();
    for strange in STRANGE {
        for corner in 0..4 {
            let mut positions = SQUARE;
            positions[corner] = [strange as f32, 0.3, strange as f32];
            let cloth = Cloth { wires: true, ..Cloth::new(&positions, &SQUARE_TRIANGLES) };
            let mut scene = Scene { cloths: vec![cloth], ground: Some(-1.0), ..Scene::default() };
            renderer.render(&scene).expect("the rest is drawn");
            scene.camera = Some(front_camera(0.5));
            renderer.render(&scene).expect("the rest is drawn");
        }
        let all = [[strange as f32; 3]; 4];
        let scene = Scene { cloths: vec![Cloth::new(&all, &SQUARE_TRIANGLES)], ..Scene::default() };
        renderer.render(&scene).expect("an empty picture");
    }
}

#[test]
fn strange_solids_lights_and_grounds_do_not_panic() {
    let mut renderer = tiny();
    for a in STRANGE {
        for b in STRANGE {
            let ball = Surface::of(&Sphere { center: [b; 3], radius: a });
            let bent = SQUARE.map(|p| [p[0] * a as f32, p[1], p[2] + b as f32]);
            let solids = vec![
                ball.solid(),
                Solid::Surface { positions: &bent, normals: &bent, triangles: &SQUARE_TRIANGLES },
                Solid::Plane { point: [a, b, 0.0], normal: [0.1, b, a] },
                Solid::Mesh { positions: &SQUARE, triangles: &SQUARE_TRIANGLES },
            ];
            let light = Light { direction: [0.0, -1.0, 0.1], strength: a as f32 };
            for camera in [None, Some(front_camera(3.0))] {
                let scene = Scene { solids: solids.clone(), ground: Some(b), light, camera, ..Scene::default() };
                // An error is fine too, as long as it is said.
                if let Err(error) = renderer.render(&scene) {
                    assert!(!error.to_string().is_empty());
                }
            }
        }
    }
}

#[test]
fn strange_cameras_are_errors_or_empty_pictures() {
    let mut renderer = tiny();
    let mut errors = 0;
    for a in STRANGE {
        for b in STRANGE {
            for eye in [[a, b, 1.0], [0.0, 0.0, a]] {
                let camera = Camera { eye, target: [0.0, 0.0, b], up: [a, b, 0.0], fov_degrees: 40.0 };
                for camera in [camera, Camera { fov_degrees: a, ..camera }, Camera { up: [0.0; 3], ..camera }] {
                    let cloth = Cloth::new(&SQUARE, &SQUARE_TRIANGLES);
                    let scene =
                        Scene { cloths: vec![cloth], ground: Some(-1.0), camera: Some(camera), ..Scene::default() };
                    errors += usize::from(matches!(renderer.render(&scene), Err(RenderError::Camera { .. })));
                }
            }
        }
    }
    assert!(errors > 0);
}

#[test]
fn a_camera_inside_of_things_sees_them() {
    let mut renderer = tiny();
    let cloth = Cloth::new(&SQUARE, &SQUARE_TRIANGLES);
    let ball = Surface::of(&Sphere { center: [0.0; 3], radius: 1.0 });
    let ball = ball.solid();
    for (eye, target) in
        [([0.0; 3], [0.0, 0.0, -1.0]), ([0.0, -3.0, 0.0], [0.0, 0.0, 0.0]), ([0.0, 0.0, 1e-4], [0.5; 3])]
    {
        let camera = Some(Camera { eye, target, up: [0.0, 1.0, 0.0], fov_degrees: 90.0 });
        let scene = Scene { cloths: vec![cloth], solids: vec![ball], ground: Some(-1.0), camera, ..Scene::default() };
        renderer.render(&scene).expect("a picture");
    }
}

#[test]
fn wrong_input_is_said_in_words() {
    let message = |scene: Scene<'_>| tiny().render(&scene).map(|_| ()).expect_err("it is wrong").to_string();
    let cloth = Cloth::new(&SQUARE, &[[0, 1, 2], [0, 2, 99]]);
    assert_eq!(
        message(Scene { cloths: vec![cloth], ..Scene::default() }),
        "cloth 0: triangle 1 uses vertex 99, but the mesh has 4 vertices"
    );
    let cloth = Cloth { uv: Some(&[]), ..Cloth::new(&SQUARE, &SQUARE_TRIANGLES) };
    assert_eq!(
        message(Scene { cloths: vec![cloth], ..Scene::default() }),
        "cloth 0: 0 triples of uv were given for 2 triangles: give one triple per triangle"
    );
    let cloth = Cloth { marked: &[7], ..Cloth::new(&SQUARE, &SQUARE_TRIANGLES) };
    assert_eq!(
        message(Scene { cloths: vec![cloth], ..Scene::default() }),
        "cloth 0: triangle 7 is marked, but the mesh has 2 triangles"
    );
    let light = Light { direction: [0.0; 3], strength: 1.0 };
    assert_eq!(
        message(Scene { light, ..Scene::default() }),
        "the light direction [0.0, 0.0, 0.0] must be finite and not zero"
    );
    assert!(Renderer::new(0, 10, 2).is_err_and(|error| error.to_string().starts_with("a picture of 0 × 10 pixels")));
    assert!(Renderer::new(10, 99_999, 2).is_err());
    assert!(Renderer::new(10, 10, 0).is_err() && Renderer::new(10, 10, 9).is_err());
}

#[test]
fn an_empty_scene_is_a_background() {
    let picture = tiny().render(&Scene::default()).expect("a background").clone();
    assert!(picture.pixels.iter().all(|&[r, g, b]| r > 100 && g > 100 && b > 100));
    for size in [1, 3, 7] {
        let mut renderer = Renderer::new(size, 1, 8).expect("a size that fits");
        let scene =
            Scene { cloths: vec![Cloth::new(&SQUARE, &SQUARE_TRIANGLES)], ground: Some(-1.0), ..Scene::default() };
        assert_eq!(renderer.render(&scene).expect("a picture").pixels.len(), size);
    }
}
