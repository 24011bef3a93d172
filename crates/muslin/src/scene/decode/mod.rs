//! From the tree of a scene's text to its description.
//!
//! One function per table of the file, in the order of the file; the limits are those of [`validate`](crate::validate), which code meets too.

mod choice;
mod cloth;
mod collider;
mod motion;

use crate::parameter::Kind;

use crate::description::{Contact, Scene, View, Wind};
use crate::scene::cursor::{Item, Table, read_root};
use crate::scene::finding::Report;
use crate::scene::node::Node;
use crate::validate::choice::Family;
use crate::validate::limits;
use crate::validate::limits::{EYE_AND_DIRECTION, FIELD_OF_VIEW, FPS, NOT_NEGATIVE, PIXELS, Range, THICKNESS};

/// The description of a scene, complete if `report` has got no errors from it.
pub(super) fn decode(root: &Node, report: &mut Report) -> Option<Scene> {
    read_root(root, report, scene)?
}

fn scene(t: &mut Table<'_, '_>) -> Option<Scene> {
    let name = t.get("name").and_then(name).unwrap_or_else(|| "scene".to_owned());
    let duration = t.get("duration").and_then(duration).unwrap_or(2.0);
    let fps = t.get("fps").and_then(|v| v.number(FPS)).unwrap_or(60.0);
    if let Err(message) = limits::frames(duration, fps) {
        t.value_error("duration", message);
    }
    let gravity = t.get("gravity").and_then(|v| ranged_each(v, limits::GRAVITY)).unwrap_or([0.0, -9.81, 0.0]);
    let stop_at_rest = t.get("stop_at_rest").and_then(|v| v.number(Kind::Positive));
    let wind = t.section("wind", wind);
    let solver = t.section("solver", |t| choice::choice(t, &Family::solvers()));
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

/// A number with which physics can be computed.
fn ranged(item: Item<'_, '_>, kind: Kind, range: Range) -> Option<f64> {
    item.refine(|v| v.number(kind), |x| range.holds(x))
}

/// Three of them, either way.
fn ranged_each(item: Item<'_, '_>, range: Range) -> Option<[f64; 3]> {
    item.refine(|v| v.vector(Kind::BOUNDED), |v| range.holds_each(v))
}

fn duration(item: Item<'_, '_>) -> Option<f64> {
    item.refine(|v| v.number(Kind::Positive), limits::duration)
}

/// A name of a scene or of a cloth.
fn name(item: Item<'_, '_>) -> Option<String> {
    item.refine(|v| v.text(), |name| limits::name(name).map(str::to_owned))
}

fn wind(t: &mut Table<'_, '_>) -> Wind {
    let silent = Wind::default();
    Wind {
        velocity: t.get("velocity").and_then(|v| ranged_each(v, limits::WIND)).unwrap_or(silent.velocity),
        drag: t.get("drag").and_then(|v| ranged(v, NOT_NEGATIVE, limits::COEFFICIENT)).unwrap_or(silent.drag),
        lift: t.get("lift").and_then(|v| ranged(v, NOT_NEGATIVE, limits::COEFFICIENT)).unwrap_or(silent.lift),
        air_density: t
            .get("air_density")
            .and_then(|v| ranged(v, NOT_NEGATIVE, limits::AIR_DENSITY))
            .unwrap_or(silent.air_density),
    }
}

fn contact(t: &mut Table<'_, '_>) -> Contact {
    let silent = Contact::default();
    Contact {
        self_contact: t.get("self_contact").and_then(Item::boolean).unwrap_or(silent.self_contact),
        thickness: t.get("thickness").and_then(|v| v.number(THICKNESS)).unwrap_or(silent.thickness),
        friction: t.get("friction").and_then(|v| ranged(v, NOT_NEGATIVE, limits::FRICTION)).unwrap_or(silent.friction),
        start: t.get("start").and_then(Item::word).unwrap_or(silent.start),
    }
}

fn view(t: &mut Table<'_, '_>) -> View {
    let silent = View::default();
    let size = t.get("size").and_then(|v| v.integers(PIXELS)).unwrap_or(silent.size);
    if let Err(message) = limits::even(size) {
        t.value_error("size", message);
    }
    let eye = t.get("eye").and_then(|v| v.vector(Kind::BOUNDED));
    let target = t.get("target").and_then(|v| v.vector(Kind::BOUNDED));
    let direction = t.get("direction").and_then(Item::direction);
    if eye.is_some() && direction.is_some() {
        t.key_error("direction", EYE_AND_DIRECTION);
    }
    if let Err(message) = limits::apart(eye, target) {
        t.value_error("target", message);
    }
    View {
        size,
        eye,
        target,
        direction,
        fov: t.get("fov").and_then(|v| v.number(FIELD_OF_VIEW)).unwrap_or(silent.fov),
        ground: t.get("ground").and_then(Item::boolean).unwrap_or(silent.ground),
        ground_height: t.get("ground_height").and_then(|v| v.number(Kind::BOUNDED)),
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
