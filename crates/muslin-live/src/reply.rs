//! Replies: JSON objects with `ok`, and the words of a refusal.

use std::collections::BTreeMap;

use muslin::SetupError;
use muslin::Simulation;
use muslin::model::Problem;
use muslin::output::memory;
use muslin::scene::{ColliderShape, Finding, Origin, Scene, Severity};
use muslin_scenes::listing;
use serde_json::{Value, json};

/// Something that was not done, and why.
#[derive(Debug)]
pub(crate) struct Refusal {
    message: String,
    findings: Vec<Value>,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), findings: Vec::new() }
    }

    /// A scene that cannot be read.
    pub(crate) fn of_findings(findings: &[Finding]) -> Self {
        let errors = findings.iter().filter(|finding| finding.is_error());
        let message = errors.clone().map(|f| said(&f.place.path, &f.message)).collect::<Vec<_>>().join("\n");
        Self { message, findings: errors.map(read).collect() }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({ "ok": false, "message": self.message, "findings": self.findings })
    }
}

impl From<SetupError> for Refusal {
    fn from(error: SetupError) -> Self {
        let SetupError::Scene(problems) = &error else { return Self::new(error.to_string()) };
        let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
        let message = errors.clone().map(Problem::to_string).collect::<Vec<_>>().join("\n");
        Self { message, findings: errors.map(|p| finding(p.severity, &p.place, &p.message)).collect() }
    }
}

fn said(place: &str, message: &str) -> String {
    if place.is_empty() { message.to_owned() } else { format!("{place}: {message}") }
}

fn finding(severity: Severity, place: &str, message: &str) -> Value {
    let severity = if severity == Severity::Error { "error" } else { "warning" };
    json!({ "severity": severity, "place": place, "message": message })
}

/// What was found while a text was read, with its line where it has one.
fn read(found: &Finding) -> Value {
    let mut object = finding(found.severity, &found.place.path, &found.message);
    if let Origin::File { line, .. } = found.place.origin {
        object["line"] = json!(line);
    }
    object
}

/// What should be known of a scene that runs.
pub(crate) fn warnings(parsed: &[Finding], compiled: &[Problem]) -> Value {
    parsed.iter().map(read).chain(compiled.iter().map(|p| finding(p.severity, &p.place, &p.message))).collect()
}

/// A scene, for whoever draws it and offers its values to be changed.
pub(crate) fn scene(scene: &Scene, simulation: &Simulation) -> Value {
    let model = simulation.model();
    let cloths: Vec<Value> = model.cloths.iter().zip(&scene.cloths).map(|(cloth, described)| {
        json!({ "name": cloth.name, "first": cloth.vertices.start, "vertices": cloth.vertices.len(), "color": described.color })
    }).collect();
    // Held vertices as the user numbers them, cloth after cloth.
    let mut pinned: Vec<usize> = model
        .pinned
        .iter()
        .map(|pinned| {
            let cloth = &model.cloths[model.cloth_of(pinned.vertex)];
            let first = cloth.vertices.start;
            first + cloth.ordering.old_from_new[pinned.vertex as usize - first] as usize
        })
        .collect();
    pinned.sort_unstable();
    let ranges: BTreeMap<usize, (usize, usize)> = model
        .bodies
        .iter()
        .map(|body| (body.index, (body.vertices.start - model.masses.len(), body.vertices.len())))
        .collect();
    let colliders: Vec<Value> =
        scene.colliders.iter().enumerate().map(|(i, c)| collider(&c.name, &c.shape, ranges.get(&i))).collect();
    json!({
        "name": scene.name,
        "fps": scene.fps,
        "duration": scene.duration,
        "frames": scene.frame_count(),
        "solver": scene.solver.entry.name,
        "vertices": model.masses.len(),
        "triangles": model.triangles.len(),
        "cloths": cloths,
        "pinned": pinned,
        "colliders": colliders,
        "memory": memory::estimate(model, simulation.terms()),
        // Every scene that is written reads back, as TOML and hence as this.
        "values": toml::from_str::<Value>(&scene.to_toml()).unwrap_or_default(),
    })
}

fn collider(name: &str, shape: &ColliderShape, range: Option<&(usize, usize)>) -> Value {
    match shape {
        ColliderShape::Solid(choice) => {
            let mut told = json!({ "name": name, "kind": choice.entry.name });
            choice.settings.iter().for_each(|(key, value)| told[key] = listing::setting_to_json(value));
            told
        }
        ColliderShape::Custom(_) => json!({ "name": name, "kind": "custom" }),
        ColliderShape::Mesh(mesh) => {
            let (first, vertices) = range.copied().unwrap_or_default();
            json!({ "name": name, "kind": "mesh", "file": mesh.file, "first": first, "vertices": vertices })
        }
    }
}
