//! From the tree of a scene's text to its description.
//!
//! One function per table of the file, in the order of the file; the limits of a scene are the constants here.

mod choice;
mod cloth;
mod collider;
mod motion;

use crate::parameter::Kind;

use crate::description::{Contact, Scene, Start, View, Wind};
use crate::scene::cursor::{Item, Table, read_root};
use crate::scene::finding::{Report, quote};
use crate::scene::node::Node;
use choice::Family;

const BOUNDED: Kind = Kind::BOUNDED;
const EXTENT: Kind = Kind::EXTENT;
/// A quantity that may vanish.
const NOT_NEGATIVE: Kind = Kind::Number { min: 0.0, max: f64::INFINITY };
/// The longest run of a scene, in s.
pub const MAX_DURATION: f64 = 1e5;
/// The most frames of a run: a million frames of a small cloth are already 50 GB.
pub const MAX_FRAMES: u64 = 1_000_000;
/// Characters of a name: with an extension, 4 bytes each, still a file name on any system.
const LONGEST_NAME: usize = 60;

/// The description of a scene, complete if `report` has got no errors from it.
pub(super) fn decode(root: &Node, report: &mut Report) -> Option<Scene> {
    read_root(root, report, scene)?
}

fn scene(t: &mut Table<'_, '_>) -> Option<Scene> {
    let name = t.get("name").and_then(name).unwrap_or_else(|| "scene".to_owned());
    let duration = t.get("duration").and_then(duration).unwrap_or(2.0);
    let fps = t.get("fps").and_then(|v| v.number(Kind::Number { min: 1.0, max: 1000.0 })).unwrap_or(60.0);
    if duration * fps > MAX_FRAMES as f64 {
        t.value_error(
            "duration",
            format!("{duration} s at {fps} frames a second are more than {MAX_FRAMES} frames; lower duration or fps"),
        );
    }
    let gravity = t.get("gravity").and_then(|v| v.vector(BOUNDED)).unwrap_or([0.0, -9.81, 0.0]);
    let stop_at_rest = t.get("stop_at_rest").and_then(|v| v.number(Kind::Positive));
    let wind = t.section("wind", wind);
    let solver = t.section("solver", |t| Family::solvers().choice(t));
    let contact = t.section("contact", contact);
    let solver_entry = solver.as_ref().map(|solver| solver.entry);
    let cloths = cloth::cloths(t, solver_entry);
    let around = collider::Around { friction: contact.friction, fps, cloths: cloths.as_deref().unwrap_or_default() };
    let colliders = collider::colliders(t, &around);
    let view = t.section("view", view);
    Some(Scene {
        name,
        duration,
        fps,
        gravity,
        stop_at_rest,
        wind,
        solver: solver?,
        contact,
        cloths: cloths?,
        colliders: colliders?,
        view,
    })
}

fn duration(item: Item<'_, '_>) -> Option<f64> {
    item.refine(
        |v| v.number(Kind::Positive),
        |x| if x <= MAX_DURATION { Ok(x) } else { Err(format!("must be at most {MAX_DURATION} s, got {x:?}")) },
    )
}

/// A name of a scene or of a cloth.
fn name(item: Item<'_, '_>) -> Option<String> {
    let refusal = |name| {
        format!(
            "must be 1 to {LONGEST_NAME} letters, digits, '_', '-', '.' or spaces, \
             with a letter, a digit or '_' at both ends, got {}",
            quote(name)
        )
    };
    item.refine(|v| v.text(), |name| if is_file_name(name) { Ok(name.to_owned()) } else { Err(refusal(name)) })
}

/// Whether a text can name a folder or a file on any system.
fn is_file_name(text: &str) -> bool {
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    let is_end = |c: char| c.is_alphanumeric() || c == '_';
    text.chars().count() <= LONGEST_NAME
        && text.chars().all(is_inner)
        && text.starts_with(is_end)
        && text.ends_with(is_end)
}

fn wind(t: &mut Table<'_, '_>) -> Wind {
    Wind {
        velocity: t.get("velocity").and_then(|v| v.vector(BOUNDED)).unwrap_or_default(),
        drag: t.get("drag").and_then(|v| v.number(NOT_NEGATIVE)).unwrap_or(0.0),
        lift: t.get("lift").and_then(|v| v.number(NOT_NEGATIVE)).unwrap_or(0.0),
        // Of dry air at 15 °C and 101 325 Pa (International Standard Atmosphere).
        air_density: t.get("air_density").and_then(|v| v.number(NOT_NEGATIVE)).unwrap_or(1.225),
    }
}

fn contact(t: &mut Table<'_, '_>) -> Contact {
    let self_contact = t.get("self_contact").and_then(Item::boolean).unwrap_or(false);
    Contact {
        self_contact,
        thickness: t.get("thickness").and_then(|v| v.number(Kind::Number { min: 0.0, max: 1.0 })).unwrap_or(1e-3),
        friction: t.get("friction").and_then(|v| v.number(NOT_NEGATIVE)).unwrap_or(0.3),
        start: t.get("start").and_then(Item::word).unwrap_or(Start::Error),
    }
}

fn view(t: &mut Table<'_, '_>) -> View {
    let size = t.get("size").and_then(|v| v.integers(16, 4096)).unwrap_or([1280, 720]);
    if size.iter().any(|pixels| pixels % 2 == 1) {
        t.value_error("size", format!("must be even numbers, which video needs, got {size:?}"));
    }
    let eye = t.get("eye").and_then(|v| v.vector(BOUNDED));
    let target = t.get("target").and_then(|v| v.vector(BOUNDED));
    let direction = t.get("direction").and_then(Item::direction);
    if eye.is_some() && direction.is_some() {
        t.key_error("direction", "is for a view without `eye`; remove one of the two");
    }
    if let (Some(eye), Some(target)) = (eye, target)
        && eye == target
    {
        t.value_error("target", format!("must differ from `eye`, got {target:?} for both"));
    }
    View {
        size,
        eye,
        target,
        direction,
        fov: t.get("fov").and_then(|v| v.number(Kind::Number { min: 1.0, max: 170.0 })).unwrap_or(35.0),
        ground: t.get("ground").and_then(Item::boolean).unwrap_or(true),
        ground_height: t.get("ground_height").and_then(|v| v.number(BOUNDED)),
    }
}

/// Reports unless exactly one of `keys`, which exclude each other, is given.
fn one_key(t: &mut Table<'_, '_>, keys: &[&'static str], none: &str) -> Option<()> {
    match t.given(keys)[..] {
        [_] => Some(()),
        [] => {
            t.error(none);
            None
        }
        [first, second, ..] => {
            t.key_error(second, format!("excludes `{first}`, which is given too; remove one"));
            None
        }
    }
}
