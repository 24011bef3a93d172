//! The figure that comes with the program, as the files of a collider: it stands while cloth is sewn around it, and moves then.

use muslin_figure::{Figure, Motion};

/// The name of its mesh.
pub const NAME: &str = "figure";

/// The motion of a name: `figure_walk`, `figure_turn`, `figure_arms_raised`.
fn motion(name: &str) -> Option<Motion> {
    match name.strip_prefix(NAME)? {
        "_walk" => Some(Motion::WALK),
        "_turn" => Some(Motion::TURN),
        "_arms_raised" => Some(Motion::ARMS_RAISED),
        _ => None,
    }
}

/// Its mesh as an OBJ file, to the last bit.
pub fn obj() -> Vec<u8> {
    let figure = Figure::new();
    let mut text = String::from("# The figure of Muslin: 1.75 m high, facing +z\n");
    for [x, y, z] in figure.rest_positions() {
        text.push_str(&format!("v {x:?} {y:?} {z:?}\n"));
    }
    for [a, b, c] in figure.triangles() {
        text.push_str(&format!("f {} {} {}\n", a + 1, b + 1, c + 1));
    }
    text.into_bytes()
}

/// When it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Timing {
    /// Until then it stands, in s.
    pub(crate) begins: f64,
    /// The end of the scene, in s.
    pub(crate) ends: f64,
}

/// The frames of one of its motions, so many a second; `None` for a name that is none.
pub(crate) fn frames(name: &str, fps: f64, timing: Timing) -> Option<Vec<Vec<[f32; 3]>>> {
    let motion = motion(name)?;
    let figure = Figure::new();
    let standing = (timing.begins * fps).round() as usize;
    let moving = motion.frames(&figure, (timing.ends - timing.begins).max(1.0 / fps), fps);
    let still = figure.rest_positions().iter().map(|p| p.map(|x| x as f32)).collect();
    Some(std::iter::repeat_n(still, standing).chain(moving).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stands_until_it_moves() {
        let frames = frames("figure_walk", 10.0, Timing { begins: 0.5, ends: 1.5 }).unwrap();
        assert_eq!(frames.len(), 16);
        assert!(frames[..6].iter().all(|frame| frame == &frames[0]), "it stands");
        assert!(frames[12] != frames[0]);
        assert_eq!(super::frames("figure_flies", 10.0, Timing::default()), None);
    }
}
