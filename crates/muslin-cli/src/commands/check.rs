//! `muslin check`: everything that is wrong with a scene, and what it will cost.
//!
//! With `--json` the answer, good or bad, is one object on standard output; the exit code tells which it is.

use std::mem;

use muslin::model::{Compiled, Model};
use muslin::scene::{Finding, Scene};
use serde_json::{Value, json};

use crate::args::CheckArguments;
use crate::console::{note, say};
use crate::failure::Failure;
use crate::memory;
use crate::mesh_files::MeshFiles;
use crate::scene_file::SceneFile;
use crate::session::report;

pub(super) fn check(arguments: &CheckArguments) -> Result<(), Failure> {
    let file = SceneFile::open(&arguments.scene)?;
    match examine(&file, arguments) {
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
struct Sound {
    scene: Scene,
    compiled: Compiled,
    warnings: Vec<Finding>,
}

fn examine(file: &SceneFile, arguments: &CheckArguments) -> Result<Sound, Failure> {
    let mut parsed = file.parse(&arguments.changes)?;
    let mut meshes = MeshFiles::new(file.folder());
    let mut warnings = mem::take(&mut parsed.warnings);
    match Model::compile(&parsed.scene, &mut |name| meshes.load(name)) {
        Ok(compiled) => {
            warnings.extend(parsed.locate(&compiled.warnings));
            Ok(Sound { scene: parsed.scene, compiled, warnings })
        }
        Err(problems) => {
            warnings.extend(parsed.locate(&problems));
            Err(file.failure(warnings))
        }
    }
}

impl Sound {
    fn print(&self, file: &SceneFile) -> Result<(), Failure> {
        if !self.warnings.is_empty() {
            note(file.findings(self.warnings.clone()));
        }
        say(format_args!("{}: the scene is sound", file.label))?;
        for cloth in &self.compiled.model.cloths {
            say(format_args!(
                "  cloth {:?}: {} vertices, {} triangles, {} edges, {} hinges, {:.4} kg",
                cloth.name,
                cloth.mesh.vertex_count(),
                cloth.mesh.triangle_count(),
                cloth.edge_count,
                cloth.hinge_count,
                cloth.mass
            ))?;
        }
        for term in &self.compiled.model.terms {
            let (elements, colors) = (term.element_count(), term.color_count());
            say(format_args!("  {}: {elements} elements in {colors} colours", term.name()))?;
        }
        let scene = &self.scene;
        say(format_args!(
            "  {} frames of {:.4} s with {}, {} colliders, about {} of memory",
            scene.frame_count(),
            scene.frame_time(),
            scene.solver.entry.name,
            scene.colliders.len(),
            memory::in_words(memory::estimate(&self.compiled.model))
        ))
    }

    fn to_json(&self, file: &SceneFile) -> Value {
        let model = &self.compiled.model;
        let cloths: Vec<report::Cloth> = model.cloths.iter().map(report::Cloth::from).collect();
        let terms: Vec<Value> = model
            .terms
            .iter()
            .map(|t| json!({ "name": t.name(), "elements": t.element_count(), "colors": t.color_count() }))
            .collect();
        json!({
            "file": file.label,
            "sound": true,
            "findings": file.findings(self.warnings.clone()).to_json(),
            "summary": {
                "scene": self.scene.name,
                "solver": self.scene.solver.entry.name,
                "frames": self.scene.frame_count(),
                "cloths": cloths,
                "terms": terms,
                "colliders": self.scene.colliders.len(),
                "memory_bytes": memory::estimate(model),
            },
        })
    }
}
