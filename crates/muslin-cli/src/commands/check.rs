//! `muslin check`: everything that is wrong with a scene, and what it will cost.
//!
//! With `--json` the answer, good or bad, is one object on standard output; the exit code tells which it is.

use std::mem;

use muslin::energy::stretch::shape_matching::{self, Matching};
use muslin::model::{self, Problem};
use muslin::scene::{Finding, Scene, Severity};
use muslin::setup::{Compiled, show_through};
use muslin::solver::{explicit, milliseconds, over_the_limit};
use serde_json::{Value, json};

use crate::args::{CheckArguments, SceneChanges};
use crate::console::{note, say};
use crate::failure::Failure;
use crate::findings::Findings;
use crate::memory;
use crate::scene_file::SceneFile;
use crate::session::report;
use crate::words::count;

/// The most vertices for which the stability of an explicit solver is measured: some seconds.
const MEASURED: usize = 100_000;

pub(super) fn check(arguments: &CheckArguments) -> Result<(), Failure> {
    let file = SceneFile::open(&arguments.scene)?;
    match examine(&file, &arguments.changes) {
        Ok(sound) if arguments.json => say(format_args!("{:#}", sound.to_json(&file))),
        Ok(sound) if !arguments.quiet => sound.print(&file),
        Ok(_) => Ok(()),
        Err(Failure::Scene(findings)) if arguments.json => {
            let answer = json!({ "file": file.label, "sound": false, "findings": findings.to_json(), "summary": null });
            say(format_args!("{answer:#}"))?;
            Err(Failure::Told)
        }
        Err(failure) => Err(failure),
    }
}

/// A scene that can be run.
pub(super) struct Sound {
    pub(super) scene: Scene,
    compiled: Compiled,
    pub(super) warnings: Vec<Finding>,
    /// Colliders that are seen through the cloth: for who asks, not for every run.
    shown: Vec<Finding>,
}

/// Finds everything that is wrong with a scene.
pub(super) fn examine(file: &SceneFile, changes: &SceneChanges) -> Result<Sound, Failure> {
    let mut parsed = file.parse(changes)?;
    file.check_memory(&parsed)?;
    let mut meshes = file.mesh_files();
    let mut warnings = mem::take(&mut parsed.warnings);
    match meshes.compile(&parsed.scene) {
        Ok(compiled) => {
            warnings.extend(parsed.locate(&compiled.warnings));
            warnings.extend(parsed.locate(instability(&parsed.scene, &compiled).as_slice()));
            if let Some(problem) = memory::contact_shortage(&compiled.model) {
                warnings.extend(parsed.locate(&[problem]));
                return Err(file.failure(warnings));
            }
            let shown = parsed.locate(&show_through(&parsed.scene, &compiled.model));
            Ok(Sound { scene: parsed.scene, compiled, warnings, shown })
        }
        Err(problems) => {
            warnings.extend(parsed.locate(&problems));
            Err(file.failure(warnings))
        }
    }
}

/// Steps of an explicit solver that are longer than is stable at the start, where that is cheap to know.
fn instability(scene: &Scene, compiled: &Compiled) -> Option<Problem> {
    let Compiled { model, terms, .. } = compiled;
    let solver = &scene.solver;
    if solver.entry.name != explicit::KIND.entry.name || model.masses.len() > MEASURED {
        return None;
    }
    let substeps = u32::try_from(solver.settings.integer("substeps")?).ok()?;
    let step = scene.frame_time() / f64::from(substeps);
    let limit = explicit::stable_step(model, terms, &solver.settings, step).filter(|limit| step > *limit)?;
    let message = format!("the step of {} is {}", milliseconds(step), over_the_limit(step, limit, substeps));
    Some(Problem { severity: Severity::Warning, place: "solver.substeps".to_owned(), message })
}

impl Sound {
    fn findings(&self, file: &SceneFile) -> Findings {
        file.findings(self.warnings.iter().chain(&self.shown).cloned().collect())
    }

    fn print(&self, file: &SceneFile) -> Result<(), Failure> {
        let findings = self.findings(file);
        if !findings.list.is_empty() {
            note(findings);
        }
        say(format_args!("{}: the scene is sound", file.label))?;
        let model = &self.compiled.model;
        for cloth in &model.cloths {
            say(format_args!(
                "  cloth {:?}: {}, {}, {}, {}, {:.4} kg",
                cloth.name,
                count(cloth.mesh.vertex_count(), "vertex"),
                count(cloth.mesh.triangle_count(), "triangle"),
                count(cloth.edge_count, "edge"),
                count(cloth.hinge_count, "hinge"),
                cloth.mass
            ))?;
            let of_all = count(cloth.mesh.vertex_count(), "vertex");
            say(format_args!("    pins: {} of {of_all}", self.pinned(cloth)))?;
        }
        for (term, cloth) in self.compiled.terms.iter().zip(self.cloth_of_terms()) {
            let (elements, colors) = (count(term.element_count(), "element"), count(term.color_count(), "colour"));
            let whose = if model.cloths.len() > 1 { format!(" of {cloth:?}") } else { String::new() };
            say(format_args!("  {}{whose}: {elements} in {colors}", term.name()))?;
        }
        for matching in &model.matchings {
            let (regions, members) = (count(matching.len(), "region"), count(matching.member_count(), "member"));
            say(format_args!("  {}: {regions} with {members}", shape_matching::NAME))?;
        }
        let scene = &self.scene;
        say(format_args!(
            "  {} of {:.4} s with {}, {}, about {} of memory, {} of .npy on disk",
            count(scene.frame_count(), "frame"),
            scene.frame_time(),
            scene.solver.entry.name,
            count(scene.colliders.len(), "collider"),
            memory::in_words(muslin::output::memory::estimate(model, &self.compiled.terms)),
            memory::in_words(memory::frame_bytes(model, scene))
        ))
    }

    /// Vertices of a cloth that its pins hold or lead. Those of no triangle stay where they are without one.
    fn pinned(&self, cloth: &model::Cloth) -> usize {
        let model = &self.compiled.model;
        let vertices = model.pinned.iter().map(|pinned| pinned.vertex as usize);
        vertices.filter(|vertex| cloth.vertices.contains(vertex) && model.masses[*vertex] > 0.0).count()
    }

    /// The name of each term's cloth.
    fn cloth_of_terms(&self) -> Vec<&str> {
        let cloths = &self.compiled.model.cloths;
        cloths.iter().flat_map(|cloth| cloth.terms.clone().map(|_| cloth.name.as_str())).collect()
    }

    fn to_json(&self, file: &SceneFile) -> Value {
        let model = &self.compiled.model;
        let cloths: Vec<report::Cloth> = model.cloths.iter().map(report::Cloth::from).collect();
        let pinned: Vec<usize> = model.cloths.iter().map(|cloth| self.pinned(cloth)).collect();
        let terms: Vec<Value> = self
            .compiled
            .terms
            .iter()
            .zip(self.cloth_of_terms())
            .map(|(term, cloth)| {
                let (elements, colors) = (term.element_count(), term.color_count());
                json!({ "name": term.name(), "cloth": cloth, "elements": elements, "colors": colors })
            })
            .collect();
        json!({
            "file": file.label,
            "sound": true,
            "findings": self.findings(file).to_json(),
            "summary": {
                "scene": self.scene.name,
                "solver": self.scene.solver.entry.name,
                "frames": self.scene.frame_count(),
                "cloths": cloths,
                "pinned": pinned,
                "terms": terms,
                "regions": model.matchings.iter().map(Matching::len).collect::<Vec<_>>(),
                "colliders": self.scene.colliders.len(),
                "memory_bytes": muslin::output::memory::estimate(model, &self.compiled.terms),
                "npy_bytes": memory::frame_bytes(model, &self.scene),
            },
        })
    }
}
