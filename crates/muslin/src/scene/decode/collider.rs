//! `[[collider]]`.

use crate::scene::cursor::Table;
use crate::scene::description::{Collider, ColliderShape};

use super::{BOUNDED, EXTENT, NOT_NEGATIVE, direction, motion, one_key};

const SHAPES: &[&str] = &["plane", "sphere", "capsule", "box", "mesh"];

/// Reads all colliders; `friction` is for those that give none.
pub(super) fn colliders(t: &mut Table<'_, '_>, friction: f64) -> Option<Vec<Collider>> {
    match t.get("collider") {
        Some(item) => item.tables("collider", |_, t| collider(t, friction)),
        None => Some(Vec::new()),
    }
}

fn collider(t: &mut Table<'_, '_>, friction: f64) -> Option<Collider> {
    let shape = shape(t);
    let friction = t.get("friction").and_then(|v| v.number(NOT_NEGATIVE)).unwrap_or(friction);
    let path = motion::path(t);
    Some(Collider { shape: shape?, friction, path: path? })
}

fn shape(t: &mut Table<'_, '_>) -> Option<ColliderShape> {
    let plane = t.get("plane").and_then(|v| v.table(plane));
    let sphere = t.get("sphere").and_then(|v| v.table(sphere));
    let capsule = t.get("capsule").and_then(|v| v.table(capsule));
    let cuboid = t.get("box").and_then(|v| v.table(cuboid));
    if t.get("mesh").is_some() {
        t.key_error("mesh", "mesh colliders are not available in this version; use plane, sphere, capsule or box");
    }
    one_key(t, SHAPES, "a collider needs one shape: plane, sphere, capsule or box")?;
    plane.or(sphere).or(capsule).or(cuboid)
}

fn plane(t: &mut Table<'_, '_>) -> Option<ColliderShape> {
    let point = t.need("point", "[0.0, 0.0, 0.0]").and_then(|v| v.vector(BOUNDED));
    let normal = t.need("normal", "[0.0, 1.0, 0.0]").and_then(direction);
    Some(ColliderShape::Plane { point: point?, normal: normal? })
}

fn sphere(t: &mut Table<'_, '_>) -> Option<ColliderShape> {
    let center = t.need("center", "[0.0, 0.5, 0.0]").and_then(|v| v.vector(BOUNDED));
    let radius = t.need("radius", "0.25").and_then(|v| v.number(EXTENT));
    Some(ColliderShape::Sphere { center: center?, radius: radius? })
}

fn capsule(t: &mut Table<'_, '_>) -> Option<ColliderShape> {
    let a = t.need("a", "[0.0, 0.0, 0.0]").and_then(|v| v.vector(BOUNDED));
    let b = t.need("b", "[0.0, 1.0, 0.0]").and_then(|v| v.vector(BOUNDED));
    let radius = t.need("radius", "0.25").and_then(|v| v.number(EXTENT));
    Some(ColliderShape::Capsule { a: a?, b: b?, radius: radius? })
}

fn cuboid(t: &mut Table<'_, '_>) -> Option<ColliderShape> {
    let center = t.need("center", "[0.0, 0.5, 0.0]").and_then(|v| v.vector(BOUNDED));
    let size = t.need("size", "[1.0, 1.0, 1.0]").and_then(|v| v.vector(EXTENT));
    let rotate = t.get("rotate").and_then(|v| v.vector(BOUNDED)).unwrap_or_default();
    Some(ColliderShape::Box { center: center?, size: size?, rotate })
}
