//! Everything a scene can name, as data for a program: from the tables that the scene reader itself uses.

use muslin::catalog::{self, Pairing};
use muslin::material::fabric::Fabric;
use muslin::parameter::{Entry, Kind, Parameter};
use serde_json::{Value, json};

/// A shape of a `[[collider]]`. The library's catalogue holds what has a file of its own; shapes share one.
#[derive(Debug)]
pub struct ColliderKind {
    /// Its key in a scene.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// What it is told.
    pub keys: &'static [ColliderKey],
}

/// A key of a shape.
#[derive(Debug)]
pub struct ColliderKey {
    /// In a scene.
    pub name: &'static str,
    /// Of its numbers; empty for what has none.
    pub unit: &'static str,
    /// `None` where a scene must give it.
    pub default: Option<&'static str>,
    /// One line for a person.
    pub meaning: &'static str,
}

const fn required(name: &'static str, unit: &'static str, meaning: &'static str) -> ColliderKey {
    ColliderKey { name, unit, default: None, meaning }
}

const fn optional(name: &'static str, unit: &'static str, default: &'static str, meaning: &'static str) -> ColliderKey {
    ColliderKey { name, unit, default: Some(default), meaning }
}

/// Every shape of a collider.
pub const COLLIDERS: &[ColliderKind] = &[
    ColliderKind {
        name: "plane",
        summary: "the half space below a plane",
        keys: &[
            required("point", "m", "a point of the plane"),
            required("normal", "", "out of the body, of any length"),
        ],
    },
    ColliderKind {
        name: "sphere",
        summary: "a ball",
        keys: &[required("center", "m", "its middle"), required("radius", "m", "its radius")],
    },
    ColliderKind {
        name: "capsule",
        summary: "everything within a distance of a segment",
        keys: &[
            required("a", "m", "one end of the segment"),
            required("b", "m", "the other end"),
            required("radius", "m", "the distance"),
        ],
    },
    ColliderKind {
        name: "box",
        summary: "a box, turned in any way",
        keys: &[
            required("center", "m", "its middle"),
            required("size", "m", "its full extents"),
            optional("rotate", "degrees", "[0, 0, 0]", "about x, then y, then z"),
        ],
    },
    ColliderKind {
        name: "mesh",
        summary: "the triangles of a mesh, touched from both sides",
        keys: &[
            required("file", "", "an OBJ or GLB file"),
            optional("frames", "", "none", "where its vertices go: a .npy, a .glb, or a pattern of OBJ files"),
            optional("fps", "1/s", "of the scene", "frames a second of `frames`"),
            optional("translate", "m", "[0, 0, 0]", "displacement"),
            optional("rotate", "degrees", "[0, 0, 0]", "about x, then y, then z"),
            optional("scale", "", "1.0", "factor on the mesh"),
        ],
    },
];

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
        "collider": COLLIDERS.iter().map(collider_to_json).collect::<Vec<_>>(),
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
        let default = key.default.and_then(|value| serde_json::from_str::<Value>(value).ok());
        json!({ "name": key.name, "unit": key.unit, "default": default, "required": key.default.is_none(), "meaning": key.meaning })
    };
    let keys: Vec<Value> = kind.keys.iter().map(key).collect();
    json!({ "name": kind.name, "summary": kind.summary, "parameters": keys })
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colliders_are_those_of_scene_files() {
        for kind in COLLIDERS {
            let keys: Vec<String> = kind
                .keys
                .iter()
                .map(|key| {
                    let value = match key.name {
                        "radius" | "scale" | "fps" => "1.0",
                        "file" | "frames" => "\"a\"",
                        _ => "[1.0, 2.0, 3.0]",
                    };
                    format!("{} = {value}", key.name)
                })
                .collect();
            let text = format!(
                "[[cloth]]\ngrid = {{ size = [1, 1], cells = [1, 1] }}\n[[collider]]\n{} = {{ {} }}",
                kind.name,
                keys.join(", ")
            );
            assert_eq!(muslin::scene::parse(&text, &[]).findings, [], "{text}");
        }
    }
}
