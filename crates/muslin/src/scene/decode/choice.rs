//! A model or a solver by its name, with the keys that its catalogue entry describes.
//!
//! Nothing here knows any model: names, keys, ranges and defaults are the catalogue's, so adding one does not touch
//! this file. What it does know is the names that the scene format promises and this version does not have yet,
//! because "unknown" would be the wrong word for them; a name that enters the catalogue is found there first.

use crate::catalog;
use crate::description::Choice;
use crate::energy;
use crate::energy::{EnergyKind, Requirement};
use crate::parameter::{Entry, Parameter, Setting, Settings};
use crate::scene::cursor::Table;
use crate::scene::finding::quote;
use crate::scene::suggest::nearest;
use crate::solver;
use crate::solver::{Need, SolverKind};

/// Keys that not every solver reads.
const K: &str = "k";
const DAMPING: &str = "damping";
/// The key that is rigid at zero.
const COMPLIANCE: &str = "compliance";
/// The key that fabrics supply.
const STIFFNESS: &str = "stiffness";

/// A kind of thing that a scene chooses by name.
pub(super) struct Family {
    /// What a person calls it.
    noun: &'static str,
    /// The key that holds the name.
    key: &'static str,
    /// The name when the scene is silent.
    default: &'static str,
    entries: Vec<&'static Entry>,
    /// Names of the scene format that are not in the catalogue yet.
    promised: &'static [&'static str],
    /// Keys of the scene format that an entry does not take yet.
    promised_keys: &'static [&'static str],
    /// Stiffness that a fabric supplies.
    preset: Option<f64>,
    /// The solver of the scene, where that matters.
    solver: Option<&'static Entry>,
    /// The models among which it chooses; empty for solvers.
    models: &'static [EnergyKind],
}

impl Family {
    pub(super) fn solvers() -> Self {
        Self {
            noun: "solver",
            key: "kind",
            default: "xpbd",
            entries: catalog::solvers().collect(),
            promised: &[],
            promised_keys: &[],
            preset: None,
            solver: None,
            models: &[],
        }
    }

    pub(super) fn stretch_models(solver: Option<&'static Entry>, preset: Option<f64>) -> Self {
        Self {
            noun: "stretch model",
            key: "model",
            default: "spring",
            entries: catalog::stretch_models().collect(),
            promised: &[],
            promised_keys: &[],
            preset,
            solver,
            models: energy::STRETCH,
        }
    }

    pub(super) fn bend_models(solver: Option<&'static Entry>, preset: Option<f64>) -> Self {
        Self {
            noun: "bend model",
            key: "model",
            default: "isometric",
            entries: catalog::bend_models().collect(),
            promised: &[],
            promised_keys: &[],
            preset,
            solver,
            models: energy::BEND,
        }
    }

    /// Reads the table of a choice.
    pub(super) fn choice(&self, t: &mut Table<'_, '_>) -> Option<Choice> {
        let entry = match t.get(self.key) {
            Some(item) => item.refine(|v| v.text(), |name| self.find(name).and_then(|entry| self.suited(entry))),
            None => self.find(self.default).map_err(|message| t.error(message)).ok(),
        };
        let Some(entry) = entry else {
            t.forgive();
            return None;
        };
        t.belongs_to(format!("{} {:?}", self.noun, entry.name));
        self.refuse_promised_keys(t, entry);
        let settings = self.settings(t, entry)?;
        Some(Choice { entry, settings })
    }

    fn find(&self, name: &str) -> Result<&'static Entry, String> {
        if let Some(entry) = self.entries.iter().find(|entry| entry.name == name) {
            return Ok(entry);
        }
        let names: Vec<&str> = self.entries.iter().map(|entry| entry.name).collect();
        Err(match self.promised.iter().find(|promised| **promised == name) {
            Some(_) => {
                format!("{} {name:?} is not available in this version; available: {}", self.noun, names.join(", "))
            }
            None => unknown(self.noun, name, &names),
        })
    }

    /// A model for which the solver of the scene is defined.
    fn suited(&self, entry: &'static Entry) -> Result<&'static Entry, String> {
        let Some(solver) = self.solver_kind() else { return Ok(entry) };
        let suits = |model: &&EnergyKind| solver.needs.met_by(model.forms);
        match self.models.iter().find(|model| model.entry.name == entry.name) {
            Some(model) if !suits(&model) => {
                let names: Vec<&str> = self.models.iter().filter(suits).map(|model| model.entry.name).collect();
                let (name, solver) = (entry.name, solver.entry.name);
                let others = names.join(", ");
                Err(format!("solver {solver:?} is not defined for {} {name:?}; it is for: {others}", self.noun))
            }
            _ => Ok(entry),
        }
    }

    /// A rigid constraint is no potential: its energy would be zero or infinite.
    fn check_rigid(&self, t: &mut Table<'_, '_>, settings: &Settings) {
        let Some(kind) = self.solver_kind() else { return };
        let takes_rigid = matches!(kind.needs, Need::Constraints | Need::Nothing);
        if !takes_rigid && settings.number(COMPLIANCE) == Some(0.0) {
            let name = kind.entry.name;
            let message =
                format!("solver {name:?} works with forces, and a rigid constraint (0) has none; give more than 0");
            t.key_error(COMPLIANCE, message);
        }
    }

    fn refuse_promised_keys(&self, t: &mut Table<'_, '_>, entry: &'static Entry) {
        let absent = |key: &&str| !entry.parameters.iter().any(|parameter| parameter.name == *key);
        for key in t.given(self.promised_keys).into_iter().filter(absent) {
            let takes: Vec<&str> = entry.parameters.iter().map(|parameter| parameter.name).collect();
            let (noun, name, takes) = (self.noun, entry.name, takes.join(", "));
            t.get(key);
            t.key_error(key, format!("is not available in this version; {noun} {name:?} takes {takes}"));
        }
    }

    /// The values of an entry's parameters, in their order.
    fn settings(&self, t: &mut Table<'_, '_>, entry: &'static Entry) -> Option<Settings> {
        let form = self.form(t, entry);
        let mut settings = Settings::default();
        let nested = nested(t, entry);
        for parameter in entry.parameters {
            let given = match parameter.name.contains('.') {
                true => nested.get(parameter.name),
                false => t.get(parameter.name).and_then(|v| v.setting(parameter.kind)),
            };
            let is_other_form = entry.one_of.contains(&parameter.name) && form != Some(parameter.name);
            let value = given.or_else(|| self.silent_value(parameter)).filter(|_| !is_other_form);
            if let Some(value) = value {
                settings.set(parameter.name, value);
            }
        }
        self.check_requirements(t, entry, &settings);
        self.check_damping(t, &settings);
        self.check_rigid(t, &settings);
        (form.is_some() || entry.one_of.is_empty()).then_some(settings)
    }

    /// A key that would be read by nobody is a mistake.
    fn check_requirements(&self, t: &mut Table<'_, '_>, entry: &'static Entry, settings: &Settings) {
        let is_of_model = |r: &&Requirement| r.model == entry.name && !self.models.is_empty();
        for requirement in energy::REQUIREMENTS.iter().filter(is_of_model) {
            if settings.get(requirement.key).is_some() && !(requirement.holds)(settings) {
                t.key_error(requirement.key, requirement.message.to_owned());
            }
        }
    }

    /// Internal damping needs a solver that reads it, and something that is not rigid.
    fn check_damping(&self, t: &mut Table<'_, '_>, settings: &Settings) {
        if !settings.number(DAMPING).is_some_and(|time| time > 0.0) {
            return;
        }
        if let Some(kind) = self.solver_kind().filter(|kind| kind.needs != Need::Nothing && !kind.reads_damping) {
            let name = kind.entry.name;
            let others = solver::SOLVERS.iter().filter(|kind| kind.reads_damping).map(|kind| kind.entry.name);
            let others = others.collect::<Vec<_>>().join(", ");
            t.key_error(
                DAMPING,
                format!("solver {name:?} has no internal damping; set it to 0, or use one of {others}"),
            );
        } else if settings.number(COMPLIANCE) == Some(0.0) {
            t.key_error(DAMPING, "a rigid constraint (compliance = 0) has nothing to damp; set one of them".to_owned());
        }
    }

    fn solver_kind(&self) -> Option<&'static SolverKind> {
        self.solver.and_then(|entry| solver::find(entry.name))
    }

    /// The value of a parameter about which the scene says nothing.
    fn silent_value(&self, parameter: &Parameter) -> Option<Setting> {
        match self.preset {
            Some(stiffness) if parameter.name == STIFFNESS => Some(Setting::Number(stiffness)),
            _ => parameter.default,
        }
    }

    /// Which one of the parameters that exclude each other holds.
    fn form(&self, t: &mut Table<'_, '_>, entry: &'static Entry) -> Option<&'static str> {
        let mut given = t.given(entry.one_of);
        let is_silent = given.is_empty();
        if self.refuses_k(t, entry) {
            given.retain(|form| *form != K);
        }
        if let [first, second, ..] = given[..] {
            t.key_error(second, format!("give only one of {}; `{first}` is given too", entry.one_of.join(", ")));
        }
        let has_default = |form: &&str| entry.parameters.iter().any(|p| p.name == *form && p.default.is_some());
        let form = given.first().copied().or_else(|| entry.one_of.iter().copied().find(has_default));
        if form.is_none() && is_silent && !entry.one_of.is_empty() {
            t.error(format!("{} {:?} needs one of {}", self.noun, entry.name, entry.one_of.join(", ")));
        }
        form
    }

    /// Whether `k` is given to a solver that does not read it, which is then reported.
    fn refuses_k(&self, t: &mut Table<'_, '_>, entry: &'static Entry) -> bool {
        let Some(solver) = self.solver_kind().filter(|kind| kind.needs != Need::Nothing && !kind.reads_k) else {
            return false;
        };
        if !t.given(entry.one_of).contains(&K) {
            return false;
        }
        let others: Vec<&str> = entry.one_of.iter().copied().filter(|form| *form != K).collect();
        let (solver, others) = (solver.entry.name, others.join(" or "));
        t.key_error(K, format!("k is the stiffness of a PBD projection; solver {solver:?} takes {others}"));
        true
    }
}

/// The values of the parameters that stand in a table of their own, as `quality.motion` does.
fn nested(t: &mut Table<'_, '_>, entry: &'static Entry) -> Settings {
    let mut settings = Settings::default();
    let split =
        |parameter: &'static Parameter| parameter.name.split_once('.').map(|(table, key)| (table, key, parameter));
    let mut all: Vec<_> = entry.parameters.iter().filter_map(split).collect();
    while let Some(&(table, ..)) = all.first() {
        t.section(table, |inner| {
            for (_, key, parameter) in all.extract_if(.., |(name, ..)| *name == table) {
                if let Some(value) = inner.get(key).and_then(|v| v.setting(parameter.kind)) {
                    settings.set(parameter.name, value);
                }
            }
        });
    }
    settings
}

/// What to say of a name that is in no list.
pub(super) fn unknown(noun: &str, name: &str, available: &[&str]) -> String {
    let near = nearest(name, available.iter().copied()).map(|near| format!("did you mean {near:?}? "));
    format!("unknown {noun} {}; {}available: {}", quote(name), near.unwrap_or_default(), available.join(", "))
}
