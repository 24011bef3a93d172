//! Everything a scene can name, as data for a program: from the tables that the scene reader itself uses.

use muslin::catalog::{self, Pairing};
use muslin::contact::ShapeKind;
use muslin::material::fabric::Fabric;
use muslin::parameter::{Entry, Kind, Parameter, Setting, Settings};
use serde_json::{Map, Value, json};

/// A shape of a `[[collider]]`.
#[derive(Debug)]
pub struct ColliderKind {
    /// Its key in a scene.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// What it is told.
    pub keys: Vec<ColliderKey>,
    /// The settings of an example; none of a mesh, which needs a file.
    pub example: Option<Settings>,
}

/// A key of a shape.
#[derive(Debug)]
pub struct ColliderKey {
    /// In a scene.
    pub name: &'static str,
    /// Of its numbers; empty for what has none.
    pub unit: &'static str,
    /// `None` where a scene must give it.
    pub default: Option<String>,
    /// The allowed values; `None` for the name of a file.
    pub kind: Option<Kind>,
    /// One line for a person.
    pub meaning: &'static str,
}

/// Every shape of a collider: those of the library's catalogue, and the mesh.
pub fn colliders() -> Vec<ColliderKind> {
    let solid = |kind: &ShapeKind| ColliderKind {
        name: kind.entry.name,
        summary: kind.entry.summary,
        keys: kind.entry.parameters.iter().map(key_of_shape).collect(),
        example: Some((kind.example)()),
    };
    catalog::shapes().map(solid).chain([mesh()]).collect()
}

fn key_of_shape(parameter: &Parameter) -> ColliderKey {
    let Parameter { name, unit, kind, meaning, .. } = *parameter;
    ColliderKey { name, unit, default: default_of(parameter), kind: Some(kind), meaning }
}

/// A mesh is read from files, which are no settings: its keys stand in its reader, and here.
fn mesh() -> ColliderKind {
    let key = |name, unit, default: Option<&str>, kind, meaning| ColliderKey {
        name,
        unit,
        default: default.map(str::to_owned),
        kind,
        meaning,
    };
    let vector = Some(Kind::Vector { min: -1e6, max: 1e6 });
    ColliderKind {
        name: "mesh",
        summary: "the triangles of a mesh, touched from both sides",
        keys: vec![
            key("file", "", None, None, "an OBJ or GLB file"),
            key("frames", "", Some("none"), None, "where its vertices go: a .npy, a .glb, or a pattern of OBJ files"),
            key(
                "fps",
                "1/s",
                Some("of the scene"),
                Some(Kind::Number { min: 1e-3, max: 1e5 }),
                "frames a second of `frames`",
            ),
            key("translate", "m", Some("[0.0, 0.0, 0.0]"), vector, "displacement"),
            key("rotate", "degrees", Some("[0.0, 0.0, 0.0]"), vector, "about x, then y, then z"),
            key("scale", "", Some("1.0"), Some(Kind::EXTENT), "factor on the mesh"),
        ],
        example: None,
    }
}

/// Every pairing with the family of its model.
pub fn families() -> impl Iterator<Item = (&'static str, Pairing)> {
    let stretch = catalog::stretch_pairings().map(|pairing| ("stretch", pairing));
    stretch.chain(catalog::bend_pairings().map(|pairing| ("bend", pairing)))
}

/// The default as a scene would have it.
pub fn default_of(parameter: &Parameter) -> Option<String> {
    parameter.default.map(|value| value.to_string())
}

fn pairing_to_json((family, pairing): (&str, Pairing)) -> Value {
    let why_not = (!pairing.is_defined).then(|| format!("the solver needs {}", pairing.need.in_words()));
    json!({
        "family": family,
        "model": pairing.model.name,
        "solver": pairing.solver.name,
        "defined": pairing.is_defined,
        "why_not": why_not,
    })
}

/// All of it as one JSON object: what `muslin models --json` prints.
pub fn to_json() -> Value {
    json!({
        "stretch": catalog::stretch_models().map(entry_to_json).collect::<Vec<_>>(),
        "bend": catalog::bend_models().map(entry_to_json).collect::<Vec<_>>(),
        "solver": catalog::solvers().map(entry_to_json).collect::<Vec<_>>(),
        "defined": families().map(pairing_to_json).collect::<Vec<_>>(),
        "collider": colliders().iter().map(collider_to_json).collect::<Vec<_>>(),
        "fabric": catalog::fabrics().map(fabric_to_json).collect::<Vec<_>>(),
    })
}

fn entry_to_json(entry: &Entry) -> Value {
    let parameter = |parameter: &Parameter| {
        json!({
            "name": parameter.name,
            "unit": parameter.unit,
            "default": default_of(parameter).and_then(|value| serde_json::from_str::<Value>(&value).ok()),
            "allowed": parameter.kind.to_string(),
            "kind": kind_to_json(&parameter.kind),
            "meaning": parameter.meaning,
        })
    };
    json!({
        "name": entry.name,
        "summary": entry.summary,
        "source": entry.source,
        "parameters": entry.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "one_of": entry.one_of,
    })
}

fn collider_to_json(kind: &ColliderKind) -> Value {
    let key = |key: &ColliderKey| {
        let default = key.default.as_deref().and_then(|value| serde_json::from_str::<Value>(value).ok());
        let kind = key.kind.as_ref().map_or_else(|| json!({ "type": "text" }), kind_to_json);
        json!({ "name": key.name, "unit": key.unit, "default": default, "required": key.default.is_none(), "kind": kind, "meaning": key.meaning })
    };
    let keys: Vec<Value> = kind.keys.iter().map(key).collect();
    let example = kind.example.as_ref().map(settings_to_json);
    json!({ "name": kind.name, "summary": kind.summary, "parameters": keys, "example": example })
}

fn settings_to_json(settings: &Settings) -> Value {
    settings.iter().map(|(name, value)| (name.to_owned(), setting_to_json(value))).collect::<Map<_, _>>().into()
}

/// A value for a program.
pub fn setting_to_json(setting: Setting) -> Value {
    match setting {
        Setting::Number(x) => json!(x),
        Setting::Integer(i) => json!(i),
        Setting::Choice(word) => json!(word),
        Setting::Vector(v) => json!(v),
    }
}

fn fabric_to_json(fabric: &Fabric) -> Value {
    json!({
        "name": fabric.name,
        "summary": fabric.summary,
        "source": fabric.source,
        "density": fabric.density,
        "bend": fabric.bend,
        "stretch": fabric.stretch,
    })
}

/// The allowed values for a program; a limit that is not there is `null`.
fn kind_to_json(kind: &Kind) -> Value {
    match kind {
        // JSON has no infinity: `json!` writes null.
        Kind::Number { min, max } => json!({ "type": "number", "min": min, "max": max }),
        Kind::Positive => json!({ "type": "positive" }),
        Kind::Integer { min, max } => json!({ "type": "integer", "min": min, "max": max }),
        Kind::Choice(words) => json!({ "type": "choice", "choices": words }),
        Kind::Point => json!({ "type": "vector", "length": 3 }),
        Kind::Vector { min, max } => json!({ "type": "vector", "length": 3, "min": min, "max": max }),
        Kind::Direction => json!({ "type": "vector", "length": 3 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colliders_are_those_of_scene_files() {
        for kind in colliders() {
            let value = |key: &ColliderKey| match (&kind.example, key.kind) {
                (Some(example), _) => example.get(key.name).unwrap().to_string(),
                (None, None) => "\"a\"".to_owned(),
                (None, Some(Kind::Vector { .. })) => "[1.0, 2.0, 3.0]".to_owned(),
                (None, Some(_)) => "1.0".to_owned(),
            };
            let keys: Vec<String> = kind.keys.iter().map(|key| format!("{} = {}", key.name, value(key))).collect();
            let text = format!(
                "[[cloth]]\ngrid = {{ size = [1, 1], cells = [1, 1] }}\n[[collider]]\n{} = {{ {} }}",
                kind.name,
                keys.join(", ")
            );
            assert_eq!(muslin::scene::parse(&text, &[]).findings, [], "{text}");
        }
    }
}
