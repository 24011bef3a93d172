//! Muslin itself. Settings:
//!
//! ```text
//! solver        keys of `[solver]`, as text of TOML: "kind = \"xpbd\", substeps = 20"
//! stable_part   adds `substeps`: so many times those of the longest stable step of an explicit integrator, and 15 % (folds and damping shorten it)
//! damping       of the stretch, as part of the stable step
//! stretch       tables of the models, for "rows" only, where they are no matter of accuracy
//! bend
//! ```

use muslin::Simulation;
use serde_json::{Value, json};

use crate::prepare::{Sheet, simulation};
use crate::work::Work;
use crate::{Outcome, Peer};

pub(crate) struct Muslin {
    simulation: Simulation,
    settings: Value,
    /// Sweeps of a frame: substeps × iterations.
    sweeps: u64,
}

impl Muslin {
    pub(crate) fn new(work: &Work) -> Outcome<Self> {
        let text = |key: &str| work.settings[key].as_str().map(str::to_owned);
        let mut solver = text("solver").ok_or("muslin needs the setting `solver`")?;
        if let Some(part) = work.settings["stable_part"].as_f64() {
            let substeps = (part * 1.15 / work.fps / work.stable_step).ceil();
            solver += &format!(", substeps = {substeps}");
        }
        let mut sheet = Sheet::of(&work.workload, work.side)?;
        if let Some(part) = work.settings["damping"].as_f64() {
            sheet.stretch_damping = part * work.stable_step;
        }
        let models = [text("stretch"), text("bend")];
        let simulation = simulation(&sheet, &solver, &models, work.threads)?;
        let count = |key: &str| {
            let value = solver.split(',').filter_map(|pair| pair.split_once('=')).find(|(name, _)| name.trim() == key);
            value.and_then(|(_, value)| value.trim().parse::<u64>().ok()).unwrap_or(1)
        };
        let mut settings = json!({ "solver": solver });
        for key in ["stretch", "bend"] {
            if let Some(model) = text(key) {
                settings[key] = model.into();
            }
        }
        if sheet.stretch_damping > 0.0 {
            settings["stretch.damping"] = sheet.stretch_damping.into();
        }
        let sweeps = count("substeps") * count("iterations");
        Ok(Self { simulation, settings, sweeps })
    }
}

impl Peer for Muslin {
    fn step(&mut self) -> Outcome<()> {
        self.simulation.advance()?;
        Ok(())
    }

    fn positions(&self) -> Vec<[f32; 3]> {
        let mut positions = Vec::new();
        self.simulation.positions(0, &mut positions);
        positions
    }

    fn version(&self) -> String {
        let lock = include_str!("../Cargo.lock").split("[[package]]").find(|text| text.contains("name = \"muslin\""));
        let version = lock.and_then(|text| text.split("version = \"").nth(1)?.split('"').next());
        version.unwrap_or_default().to_owned()
    }

    fn counts(&self) -> Value {
        let elements: usize = self.simulation.terms().iter().map(|term| term.element_count()).sum();
        let iterations = self.sweeps * self.simulation.frame() as u64;
        json!({ "projections": iterations * elements as u64, "iterations": iterations })
    }

    fn settings(&self) -> Value {
        self.settings.clone()
    }
}
