//! Pictures, and the things that they must show.

use muslin::contact::{Capsule, Sphere};
use muslin_render::{Camera, Cloth, Picture, Renderer, Scene, Solid};

use crate::surfaces::Surface;

use crate::{SQUARE, SQUARE_TRIANGLES, brightness, difference, front_camera};

fn draw(scene: &Scene<'_>, width: usize, height: usize, samples: usize) -> Picture {
    let mut renderer = Renderer::new(width, height, samples).expect("a size that fits");
    renderer.render(scene).expect("a scene that is sound").clone()
}

fn empty(camera: Camera) -> Scene<'static> {
    Scene { camera: Some(camera), ..Scene::default() }
}

#[test]
fn a_square_covers_the_right_pixels() {
    let scene = Scene { cloths: vec![Cloth::new(&SQUARE, &SQUARE_TRIANGLES)], ..empty(front_camera(8.0)) };
    // At the distance 8 the picture shows 4 m: the square fills its middle half.
    let (picture, background) = (draw(&scene, 64, 64, 2), draw(&empty(front_camera(8.0)), 64, 64, 2));
    for y in 0..64 {
        for x in 0..64 {
            let inside = (16..48).contains(&x) && (16..48).contains(&y);
            let changed = picture.pixel(x, y) != background.pixel(x, y);
            assert_eq!(changed, inside, "pixel {x}, {y}");
        }
    }
}

#[test]
fn the_sides_of_a_cloth_have_different_tones() {
    let front = Scene { cloths: vec![Cloth::new(&SQUARE, &SQUARE_TRIANGLES)], ..empty(front_camera(8.0)) };
    let turned = SQUARE_TRIANGLES.map(|[a, b, c]| [a, c, b]);
    let back = Scene { cloths: vec![Cloth::new(&SQUARE, &turned)], ..empty(front_camera(8.0)) };
    let (front, back) = (draw(&front, 32, 32, 2), draw(&back, 32, 32, 2));
    let (front, back) = (front.pixel(16, 16).expect("inside"), back.pixel(16, 16).expect("inside"));
    assert!(brightness(front).abs_diff(brightness(back)) > 60, "{front:?} and {back:?}");
}

#[test]
fn a_ball_has_a_round_outline_of_the_right_size() {
    let camera = front_camera(8.0);
    let ball = Surface::of(&Sphere { center: [0.0; 3], radius: 1.0 });
    let scene = Scene { solids: vec![ball.solid()], ..empty(camera) };
    let (size, samples) = (400, 4);
    let (picture, background) = (draw(&scene, size, size, samples), draw(&empty(camera), size, size, samples));
    let covered = difference(&picture, &background) as f64;
    // The outline is where rays touch: its tangent is r / √(d² − r²), and the half width of the picture has the tangent
    // 1/4.
    let radius = 1.0 / 63.0_f64.sqrt() / 0.25 * 0.5 * size as f64;
    let expected = std::f64::consts::PI * radius * radius;
    assert!((covered / expected - 1.0).abs() < 0.01, "{covered} pixels instead of {expected}");
}

#[test]
fn a_shadow_darkens_the_ground() {
    let camera = Camera { eye: [0.0, 4.0, 5.0], target: [0.0; 3], up: [0.0, 1.0, 0.0], fov_degrees: 40.0 };
    let ground = Scene { ground: Some(-0.5), ..empty(camera) };
    let ball = Surface::of(&Sphere { center: [0.0, 0.5, 0.0], radius: 0.5 });
    let scene = Scene { solids: vec![ball.solid()], ..ground.clone() };
    let (lit, shaded) = (draw(&ground, 160, 120, 2), draw(&scene, 160, 120, 2));
    // The ball is 0.5 above the ground, the light comes along (−0.62, 1, 0.42): its shadow is to the right and behind
    // it.
    let darkest = lit
        .pixels
        .iter()
        .zip(&shaded.pixels)
        .enumerate()
        .filter(|(i, _)| i % 160 > 95)
        .map(|(_, (&lit, &shaded))| i64::from(brightness(lit)) - i64::from(brightness(shaded)))
        .max();
    assert!(darkest > Some(100), "the shadow takes away {darkest:?} of 765");
    let lighter = lit.pixels.iter().zip(&shaded.pixels).filter(|(a, b)| brightness(**b) > brightness(**a) + 6).count();
    assert!(lighter < 1500, "{lighter} pixels are lighter, more than the ball has");
}

#[test]
fn a_plane_below_everything_is_the_ground() {
    let ball = Surface::of(&Sphere { center: [0.0, 0.5, 0.0], radius: 0.5 });
    let ball = ball.solid();
    let given = Scene { ground: Some(0.0), solids: vec![ball], ..Scene::default() };
    let plane = Solid::Plane { point: [3.0, 0.0, 2.0], normal: [0.0, 2.0, 0.0] };
    let found = Scene { solids: vec![ball, plane], ..Scene::default() };
    assert_eq!(draw(&given, 80, 60, 2), draw(&found, 80, 60, 2));
    // One that is tilted, or above, is not; it is drawn all the same.
    let tilted = Solid::Plane { point: [0.0, -1.0, 0.0], normal: [0.3, 1.0, 0.0] };
    let scene = Scene { solids: vec![ball, tilted], ..Scene::default() };
    assert!(difference(&draw(&given, 80, 60, 2), &draw(&scene, 80, 60, 2)) > 300);
}

#[test]
fn marked_triangles_are_red() {
    let cloth = Cloth { marked: &[1], ..Cloth::new(&SQUARE, &SQUARE_TRIANGLES) };
    let picture = draw(&Scene { cloths: vec![cloth], ..empty(front_camera(8.0)) }, 64, 64, 2);
    let [red, green, blue] = picture.pixel(20, 20).expect("inside");
    assert!(u32::from(red) > 2 * u32::from(green) && u32::from(red) > 2 * u32::from(blue), "{red} {green} {blue}");
    let [red, _, blue] = picture.pixel(44, 44).expect("inside");
    assert!(red < blue, "the other triangle keeps its colour");
}

#[test]
fn uv_and_wires_are_drawn() {
    let plain = Cloth::new(&SQUARE, &SQUARE_TRIANGLES);
    let uv = [[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]];
    let scene = |cloth| Scene { cloths: vec![cloth], ..empty(front_camera(8.0)) };
    let base = draw(&scene(plain), 256, 256, 2);
    assert!(difference(&base, &draw(&scene(Cloth { uv: Some(&uv), ..plain }), 256, 256, 2)) > 1000);
    assert!(difference(&base, &draw(&scene(Cloth { wires: true, ..plain }), 256, 256, 2)) > 100);
}

#[test]
fn what_is_near_hides_what_is_behind() {
    let near: Vec<[f32; 3]> = SQUARE.iter().map(|&[x, y, _]| [0.5 * x, 0.5 * y, 1.0]).collect();
    let red = Cloth { color: [0.9, 0.1, 0.1], ..Cloth::new(&near, &SQUARE_TRIANGLES) };
    let far = Cloth { color: [0.1, 0.1, 0.9], ..Cloth::new(&SQUARE, &SQUARE_TRIANGLES) };
    for cloths in [vec![red, far], vec![far, red]] {
        let picture = draw(&Scene { cloths, ..empty(front_camera(8.0)) }, 64, 64, 2);
        let [red, _, blue] = picture.pixel(32, 32).expect("inside");
        assert!(red > blue, "the near one is in the middle");
        let [red, _, blue] = picture.pixel(18, 45).expect("inside");
        assert!(blue > red, "the far one is around it");
    }
}

#[test]
fn a_picture_does_not_depend_on_the_number_of_threads() {
    let ball = Surface::of(&Sphere { center: [0.3, 0.2, 0.4], radius: 0.5 });
    let pill = Surface::of(&Capsule { a: [-1.0, 0.0, 0.5], b: [0.0, -0.5, 1.0], radius: 0.2 });
    let scene = Scene {
        cloths: vec![Cloth::new(&SQUARE, &SQUARE_TRIANGLES)],
        solids: vec![ball.solid(), pill.solid()],
        ground: Some(-1.2),
        ..Scene::default()
    };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| draw(&scene, 320, 180, 2))
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(5));
}

#[test]
fn a_renderer_forgets_the_picture_before() {
    let scene = Scene { cloths: vec![Cloth::new(&SQUARE, &SQUARE_TRIANGLES)], ground: Some(-2.0), ..Scene::default() };
    let ball = Surface::of(&Sphere { center: [0.0; 3], radius: 1.0 });
    let other = Scene { solids: vec![ball.solid()], ..Scene::default() };
    let mut renderer = Renderer::new(96, 64, 2).expect("a size that fits");
    let first = renderer.render(&scene).expect("a scene that is sound").clone();
    renderer.render(&other).expect("a scene that is sound");
    assert_eq!(&first, renderer.render(&scene).expect("a scene that is sound"));
}
