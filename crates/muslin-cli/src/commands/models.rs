//! `muslin models`: everything a scene can name, from the tables that the scene reader itself uses.

use muslin::catalog::{self, Pairing};
use muslin::material::fabric::Fabric;
use muslin::parameter::{Entry, Parameter};
use serde_json::{Value, json};

use crate::args::ModelsArguments;
use crate::console::say;
use crate::failure::Failure;
use crate::table::Table;

/// A shape of a `[[collider]]`. The library's catalogue holds what has a file of its own; shapes share one.
struct ColliderKind {
    name: &'static str,
    summary: &'static str,
    keys: &'static [ColliderKey],
}

struct ColliderKey {
    name: &'static str,
    unit: &'static str,
    /// `None` where a scene must give it.
    default: Option<&'static str>,
    meaning: &'static str,
}

const fn required(name: &'static str, unit: &'static str, meaning: &'static str) -> ColliderKey {
    ColliderKey { name, unit, default: None, meaning }
}

const fn optional(name: &'static str, unit: &'static str, default: &'static str, meaning: &'static str) -> ColliderKey {
    ColliderKey { name, unit, default: Some(default), meaning }
}

const COLLIDERS: &[ColliderKind] = &[
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
            required("file", "", "an OBJ file"),
            optional("frames", "", "none", "where its vertices go: a .npy, or a pattern of OBJ files"),
            optional("fps", "1/s", "of the scene", "frames a second of `frames`"),
            optional("translate", "m", "[0, 0, 0]", "displacement"),
            optional("rotate", "degrees", "[0, 0, 0]", "about x, then y, then z"),
            optional("scale", "", "1.0", "factor on the mesh"),
        ],
    },
];

pub(super) fn models(arguments: &ModelsArguments) -> Result<(), Failure> {
    if arguments.json {
        return say(format_args!("{:#}", to_json()));
    }
    entries("Stretch models: cloth.material.stretch = { model = NAME, … }", catalog::stretch_models())?;
    entries("Bend models: cloth.material.bend = { model = NAME, … }", catalog::bend_models())?;
    entries("Solvers: [solver] kind = NAME", catalog::solvers())?;
    pairings()?;
    colliders()?;
    fabrics()
}

fn entries(title: &str, entries: impl Iterator<Item = &'static Entry>) -> Result<(), Failure> {
    say(title)?;
    for entry in entries {
        say(format_args!("\n  {}: {}", entry.name, entry.summary))?;
        if !entry.source.is_empty() {
            say(format_args!("    source: {}", entry.source))?;
        }
        if !entry.parameters.is_empty() {
            let mut table = Table::new(["  key", "unit", "default", "allowed", "meaning"], &[]);
            for parameter in entry.parameters {
                table.row([
                    format!("  {}", parameter.name),
                    dashed(parameter.unit),
                    dashed(&default_of(parameter).unwrap_or_default()),
                    parameter.kind.to_string(),
                    parameter.meaning.to_owned(),
                ]);
            }
            say(table)?;
        }
        if entry.one_of.len() > 1 {
            say(format_args!("    one of: {}", entry.one_of.join(", ")))?;
        }
    }
    say("")
}

/// Which solver is defined for which model, and why the others are not.
fn pairings() -> Result<(), Failure> {
    say("Which solver is defined for which model\n")?;
    let solvers: Vec<&Entry> = catalog::solvers().collect();
    let heading = ["", "model"].into_iter().chain(solvers.iter().map(|solver| solver.name));
    let mut table = Table::with_heading(heading.map(str::to_owned).collect());
    let pairings: Vec<(&str, Pairing)> = families().collect();
    for row in pairings.chunk_by(|a, b| (a.0, a.1.model.name) == (b.0, b.1.model.name)) {
        let Some((family, first)) = row.first() else { continue };
        let answers = row.iter().map(|(_, pairing)| if pairing.is_defined { "yes" } else { "no" });
        table.cells([*family, first.model.name].into_iter().chain(answers).map(str::to_owned).collect());
    }
    say(table)?;
    say("")?;
    for solver in solvers {
        let own = || pairings.iter().map(|(_, pairing)| pairing).filter(|pairing| pairing.solver.name == solver.name);
        let Some(need) = own().next().map(|pairing| pairing.need.in_words()) else { continue };
        let missing: Vec<&str> =
            own().filter(|pairing| !pairing.is_defined).map(|pairing| pairing.model.name).collect();
        let but =
            if missing.is_empty() { String::new() } else { format!("; not given as such: {}", missing.join(", ")) };
        say(format_args!("  {} needs of a model {need}{but}", solver.name))?;
    }
    say("")
}

/// Every pairing with the family of its model.
fn families() -> impl Iterator<Item = (&'static str, Pairing)> {
    let stretch = catalog::stretch_pairings().map(|pairing| ("stretch", pairing));
    stretch.chain(catalog::bend_pairings().map(|pairing| ("bend", pairing)))
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

fn colliders() -> Result<(), Failure> {
    say("Colliders: [[collider]] NAME = { … }, with friction and path beside it")?;
    for kind in COLLIDERS {
        say(format_args!("\n  {}: {}", kind.name, kind.summary))?;
        let mut table = Table::new(["  key", "unit", "default", "meaning"], &[]);
        for key in kind.keys {
            let default = key.default.unwrap_or("required");
            table.row([format!("  {}", key.name), dashed(key.unit), default.to_owned(), key.meaning.to_owned()]);
        }
        say(table)?;
    }
    say("")
}

fn fabrics() -> Result<(), Failure> {
    say("Fabrics: cloth.material.fabric = NAME\n")?;
    let mut table = Table::new(["fabric", "density [kg/m²]", "bend [N·m]", "stretch [N/m]", "what"], &[1, 2, 3]);
    for fabric in catalog::fabrics() {
        let stretch = fabric.stretch.map_or_else(|| "default".to_owned(), |stretch| stretch.to_string());
        table.row([
            fabric.name.to_owned(),
            fabric.density.to_string(),
            format!("{:e}", fabric.bend),
            stretch,
            fabric.summary.to_owned(),
        ]);
    }
    say(table)?;
    say("")?;
    let mut sources: Vec<&str> = Vec::new();
    for source in catalog::fabrics().map(|fabric| fabric.source) {
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    for source in sources {
        let named: Vec<&str> = catalog::fabrics().filter(|fabric| fabric.source == source).map(|f| f.name).collect();
        say(format_args!("  {}: {source}", named.join(", ")))?;
    }
    Ok(())
}

fn default_of(parameter: &Parameter) -> Option<String> {
    parameter.default.map(|value| value.to_string())
}

fn dashed(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { text.to_owned() }
}

fn to_json() -> Value {
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
