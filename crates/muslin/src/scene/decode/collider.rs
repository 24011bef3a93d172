//! `[[collider]]`.

use crate::contact::{SHAPES, ShapeFlaw, ShapeKind};
use crate::description::{BodyFrames, BodyMesh, Choice, Cloth, Collider, ColliderShape};
use crate::parameter::{Kind, Settings};
use crate::scene::cursor::{Item, Table};

use crate::scene::decode::{motion, name, one_key, ranged};
use crate::validate::limits::{FRAME_RATE, FRICTION, NOT_NEGATIVE};

/// The shape that is no solid.
const MESH: &str = "mesh";

/// What colliders take from the rest of the scene.
pub(super) struct Around<'a> {
    /// For those that give none.
    pub(super) friction: f64,
    /// For animated meshes that give none.
    pub(super) fps: f64,
    /// Whose names are taken.
    pub(super) cloths: &'a [Cloth],
}

/// Reads all colliders.
pub(super) fn colliders(t: &mut Table<'_, '_>, around: &Around<'_>) -> Option<Vec<Collider>> {
    let mut names: Vec<(String, String)> = Vec::new();
    for (i, cloth) in around.cloths.iter().enumerate() {
        names.push((cloth.name.to_lowercase(), format!("cloth[{i}]")));
    }
    match t.get("collider") {
        Some(item) => item.tables("collider", |i, t| collider(t, i, around, &mut names)),
        None => Some(Vec::new()),
    }
}

fn collider(
    t: &mut Table<'_, '_>,
    index: usize,
    around: &Around<'_>,
    names: &mut Vec<(String, String)>,
) -> Option<Collider> {
    let name = t.get("name").and_then(name).unwrap_or_else(|| format!("collider{index}"));
    // Only meshes have files, so only their names have to be free where none is given.
    if !t.given(&["name", "mesh"]).is_empty() {
        refuse_taken_name(t, index, &name, names);
    }
    let shape = shape(t, around.fps);
    let friction = t.get("friction").and_then(|v| ranged(v, NOT_NEGATIVE, FRICTION)).unwrap_or(around.friction);
    let path = motion::path(t);
    Some(Collider { name, shape: shape?, friction, path: path? })
}

/// Names are files, and some systems do not tell `Body` from `body`.
fn refuse_taken_name(t: &mut Table<'_, '_>, index: usize, name: &str, names: &mut Vec<(String, String)>) {
    let folded = name.to_lowercase();
    if let Some((_, owner)) = names.iter().find(|(other, _)| *other == folded) {
        let message = format!(
            "{name:?} is the name of {owner} already; choose another (names are files, so case does not count)"
        );
        t.value_error("name", message);
    }
    names.push((folded, format!("collider[{index}]")));
}

/// Reads whatever shapes are given, so that all their mistakes are reported; one of them must be.
fn shape(t: &mut Table<'_, '_>, fps: f64) -> Option<ColliderShape> {
    let mut shape = None;
    for kind in SHAPES {
        let read = t.get(kind.entry.name).and_then(|v| v.table(|t| solid(t, kind)));
        shape = shape.or(read);
    }
    let mesh = t.get(MESH).and_then(|v| v.table(|t| mesh(t, fps)));
    let mut names: Vec<&'static str> = SHAPES.iter().map(|kind| kind.entry.name).collect();
    let none = format!("a collider needs one shape: {} or {MESH}", names.join(", "));
    names.push(MESH);
    one_key(t, &names, &none)?;
    shape.or(mesh)
}

/// A shape with the keys that its entry describes.
fn solid(t: &mut Table<'_, '_>, kind: &'static ShapeKind) -> Option<ColliderShape> {
    let (mut settings, example) = (Settings::default(), (kind.example)());
    for parameter in kind.entry.parameters {
        let given = match (parameter.default, example.get(parameter.name)) {
            (None, Some(example)) => t.need(parameter.name, &example.to_string()),
            _ => t.get(parameter.name),
        };
        if let Some(value) = given.and_then(|v| v.setting(parameter.kind)).or(parameter.default) {
            settings.set(parameter.name, value);
        }
    }
    if settings.iter().count() < kind.entry.parameters.len() {
        return None;
    }
    if let Err(ShapeFlaw { key, message }) = kind.check(&settings) {
        t.value_error(key, message);
    }
    Some(ColliderShape::Solid(Choice { entry: &kind.entry, settings }))
}

fn mesh(t: &mut Table<'_, '_>, scene_fps: f64) -> Option<ColliderShape> {
    let file = t.need("file", "\"body.obj\"").and_then(file_name);
    let frames = t.get("frames").map(file_name);
    let fps = t.get("fps").and_then(|v| v.number(FRAME_RATE)).unwrap_or(scene_fps);
    if frames.is_none() && !t.given(&["fps"]).is_empty() {
        t.key_error("fps", "has no effect without `frames`; give them, or remove this");
    }
    let translate = t.get("translate").and_then(|v| v.vector(Kind::BOUNDED)).unwrap_or_default();
    let rotate = t.get("rotate").and_then(|v| v.vector(Kind::BOUNDED)).unwrap_or_default();
    let scale = t.get("scale").and_then(|v| v.number(Kind::EXTENT)).unwrap_or(1.0);
    let frames = match frames {
        Some(file) => Some(BodyFrames { file: file?, fps }),
        None => None,
    };
    Some(ColliderShape::Mesh(BodyMesh { file: file?, frames, translate, rotate, scale, given: None }))
}

fn file_name(item: Item<'_, '_>) -> Option<String> {
    let named = |file: &str| match file {
        "" => Err("must name a file, got an empty string".to_owned()),
        _ => Ok(file.to_owned()),
    };
    item.refine(|v| v.text(), named)
}
