//! What the figure promises, tried on the whole of it.

mod cuts;
mod measures;
mod motions;
mod skinning;
mod surface;

use std::sync::OnceLock;

use muslin_figure::Figure;

type Vec3 = [f64; 3];

/// The default figure, made once.
fn figure() -> &'static Figure {
    static FIGURE: OnceLock<Figure> = OnceLock::new();
    FIGURE.get_or_init(Figure::new)
}

fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn distance(a: Vec3, b: Vec3) -> f64 {
    dot(sub(a, b), sub(a, b)).sqrt()
}
