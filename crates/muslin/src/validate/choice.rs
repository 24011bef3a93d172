//! A model or a solver by its name, with the values that its catalogue entry describes: checked once, for scene files and for code.
//!
//! Nothing here knows any model: names, keys, ranges and defaults are the catalogue's, so adding one does not touch
//! this file.

use crate::catalog;
use crate::description::{Choice, Problems};
use crate::energy;
use crate::energy::{EnergyKind, Requirement};
use crate::parameter::{Entry, Parameter, Setting, Settings};
use crate::settings::Typed;
use crate::solver;
use crate::solver::{Need, SolverKind};
use crate::validate::limits::Range;
use crate::validate::report;
use crate::validate::suggest::{KeyOwner, unknown_key, unknown_name};

/// Keys that not every solver reads.
const K: &str = "k";
const DAMPING: &str = "damping";
/// The key that is rigid at zero.
const COMPLIANCE: &str = "compliance";
/// The key that fabrics supply.
const STIFFNESS: &str = "stiffness";

/// A kind of thing that a scene chooses by name.
pub(crate) struct Family {
    /// Its name for a person.
    noun: &'static str,
    /// The key that holds the name.
    pub(crate) key: &'static str,
    /// The name when the scene is silent.
    default: &'static str,
    /// The name when it gives keys that this one takes and the default does not.
    with_keys: &'static str,
    entries: Vec<&'static Entry>,
    /// Stiffness that a fabric supplies.
    preset: Option<f64>,
    /// The solver of the scene, where that matters.
    solver: Option<&'static Entry>,
    /// The models among which it chooses; empty for solvers.
    models: &'static [EnergyKind],
}

/// Something wrong with a choice.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChoiceFault {
    /// The key, or else the choice as a whole.
    pub(crate) key: Option<&'static str>,
    /// The mistake, and the remedy.
    pub(crate) message: String,
}

/// Values of a choice as they were given, before defaults.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// Each inside its range.
    pub(crate) values: Settings,
    /// Which of the entry's `one_of` were given, in the order of writing, also those whose value was refused.
    pub(crate) forms: Vec<&'static str>,
}

impl Given {
    /// From settings that a program has put together.
    pub(crate) fn new(
        family: &Family,
        entry: &'static Entry,
        settings: &Settings,
        faults: &mut Vec<ChoiceFault>,
    ) -> Self {
        let mut given = Self::default();
        for (key, value) in settings.iter() {
            let Some(parameter) = entry.parameters.iter().find(|parameter| parameter.name == key) else {
                let known: Vec<&str> =
                    [family.key].into_iter().chain(entry.parameters.iter().map(|p| p.name)).collect();
                let owner = KeyOwner { name: family.owner(entry), others: family.others(entry) };
                faults.push(ChoiceFault::of(key, unknown_key(key, Some(&owner), &known)));
                continue;
            };
            given.forms.extend(entry.one_of.iter().find(|form| **form == key));
            match parameter.kind.check(value) {
                Ok(value) => given.values.set(key, value),
                Err(message) => faults.push(ChoiceFault::of(key, message)),
            }
        }
        given
    }
}

/// A choice as a program has said it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Said {
    pub(crate) entry: &'static Entry,
    pub(crate) settings: Settings,
}

impl Said {
    pub(crate) fn new(settings: &impl Typed) -> Self {
        Self { entry: settings.entry(), settings: settings.settings() }
    }

    /// The choice with its defaults; what is wrong is reported.
    pub(crate) fn settle(&self, family: &Family, place: &str, problems: &mut Problems) -> Option<Choice> {
        let outcome = family.choose(self.entry.name, &self.settings);
        outcome.map_err(|faults| report(place, faults, problems)).ok()
    }
}

impl ChoiceFault {
    fn of(key: &'static str, message: impl Into<String>) -> Self {
        Self { key: Some(key), message: message.into() }
    }
}

impl Family {
    pub(crate) fn solvers() -> Self {
        Self {
            noun: "solver",
            key: "kind",
            default: "auto",
            with_keys: "xpbd",
            entries: catalog::solvers().collect(),
            preset: None,
            solver: None,
            models: &[],
        }
    }

    pub(crate) fn stretch_models(solver: Option<&'static Entry>, preset: Option<f64>) -> Self {
        Self {
            noun: "stretch model",
            key: "model",
            default: "spring",
            with_keys: "spring",
            entries: catalog::stretch_models().collect(),
            preset,
            solver,
            models: energy::STRETCH,
        }
    }

    pub(crate) fn bend_models(solver: Option<&'static Entry>, preset: Option<f64>) -> Self {
        Self {
            noun: "bend model",
            key: "model",
            default: "isometric",
            with_keys: "isometric",
            entries: catalog::bend_models().collect(),
            preset,
            solver,
            models: energy::BEND,
        }
    }

    /// A choice that a program has made, with every default filled in.
    pub(crate) fn choose(&self, name: &str, settings: &Settings) -> Result<Choice, Vec<ChoiceFault>> {
        let entry = self
            .find(name)
            .and_then(|entry| self.suited(entry))
            .map_err(|message| vec![ChoiceFault { key: Some(self.key), message }])?;
        let mut faults = Vec::new();
        let given = Given::new(self, entry, settings, &mut faults);
        let settings = self.settle(entry, &given, &mut faults);
        match settings {
            Some(settings) if faults.is_empty() => Ok(Choice { entry, settings }),
            _ => Err(faults),
        }
    }

    /// Faults of a choice that should be complete.
    pub(crate) fn check(&self, choice: &Choice) -> Vec<ChoiceFault> {
        let complete = match self.choose(choice.entry.name, &choice.settings) {
            Ok(complete) => complete,
            Err(faults) => return faults,
        };
        let is_missing = |(key, _): &(&'static str, Setting)| choice.settings.get(key).is_none();
        let missing = complete.settings.iter().filter(is_missing);
        missing.map(|(key, value)| ChoiceFault::of(key, format!("is missing; its default is {value}"))).collect()
    }

    /// An entry in messages about its keys: `solver "pbd"`.
    pub(crate) fn owner(&self, entry: &Entry) -> String {
        format!("{} {:?}", self.noun, entry.name)
    }

    /// What others of the family take and an entry does not: each key, with whose it is. Those that a person means most come first.
    pub(crate) fn others(&self, entry: &Entry) -> Vec<(&'static str, String)> {
        let is_own = |key: &str| entry.parameters.iter().any(|own| own.name == key);
        let favourite = self.entries.iter().filter(|other| other.name == self.with_keys);
        let rest = self.entries.iter().filter(|other| other.name != self.with_keys);
        let all = favourite.chain(rest).flat_map(|other| other.parameters.iter().map(move |key| (key.name, *other)));
        all.filter(|(key, _)| !is_own(key)).map(|(key, other)| (key, self.setting_of(other))).collect()
    }

    /// `kind = "xpbd"`.
    fn setting_of(&self, entry: &Entry) -> String {
        format!("{} = {:?}", self.key, entry.name)
    }

    /// The entry of a name.
    pub(crate) fn find(&self, name: &str) -> Result<&'static Entry, String> {
        let names = || self.entries.iter().map(|entry| entry.name).collect::<Vec<_>>();
        let entry = self.entries.iter().find(|entry| entry.name == name);
        entry.copied().ok_or_else(|| unknown_name(self.noun, name, &names()))
    }

    /// The entry where no name is given, but perhaps some keys: who gives `substeps` alone has a solver in mind that takes them.
    pub(crate) fn silent(&self, is_given: impl Fn(&'static str) -> bool) -> Result<&'static Entry, String> {
        let [default, with_keys] = [self.default, self.with_keys].map(|name| self.find(name));
        let (default, with_keys) = (default?, with_keys?);
        let is_known = |parameter: &Parameter| default.parameters.iter().any(|known| known.name == parameter.name);
        let asks = with_keys.parameters.iter().any(|parameter| !is_known(parameter) && is_given(parameter.name));
        Ok(if asks { with_keys } else { default })
    }

    /// A model for which the solver of the scene is defined.
    pub(crate) fn suited(&self, entry: &'static Entry) -> Result<&'static Entry, String> {
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

    /// The values of an entry's parameters, in their order; `None` where one that must be given is not.
    pub(crate) fn settle(
        &self,
        entry: &'static Entry,
        given: &Given,
        faults: &mut Vec<ChoiceFault>,
    ) -> Option<Settings> {
        let form = self.form(entry, given, faults);
        let mut settings = Settings::default();
        for parameter in entry.parameters {
            let is_other_form = entry.one_of.contains(&parameter.name) && form != Some(parameter.name);
            let value = given.values.get(parameter.name).or_else(|| self.silent_value(parameter));
            if let Some(value) = value.filter(|_| !is_other_form) {
                settings.set(parameter.name, value);
            }
        }
        self.check_requirements(entry, &settings, faults);
        check_ranges(entry, &settings, faults);
        self.check_damping(&settings, faults);
        self.check_rigid(&settings, faults);
        (form.is_some() || entry.one_of.is_empty()).then_some(settings)
    }

    /// A rigid constraint is no potential: its energy would be zero or infinite.
    fn check_rigid(&self, settings: &Settings, faults: &mut Vec<ChoiceFault>) {
        let Some(kind) = self.solver_kind() else { return };
        let takes_rigid = matches!(kind.needs, Need::Constraints | Need::Nothing);
        if !takes_rigid && settings.number(COMPLIANCE) == Some(0.0) {
            let name = kind.entry.name;
            let message =
                format!("solver {name:?} works with forces, and a rigid constraint (0) has none; give more than 0");
            faults.push(ChoiceFault::of(COMPLIANCE, message));
        }
    }

    /// A key that would be read by nobody is a mistake.
    fn check_requirements(&self, entry: &'static Entry, settings: &Settings, faults: &mut Vec<ChoiceFault>) {
        let is_of_model = |r: &&Requirement| r.model == entry.name && !self.models.is_empty();
        for requirement in energy::REQUIREMENTS.iter().filter(is_of_model) {
            if settings.get(requirement.key).is_some() && !(requirement.holds)(settings) {
                faults.push(ChoiceFault::of(requirement.key, requirement.message));
            }
        }
    }

    /// Internal damping needs a solver that reads it, and something that is not rigid.
    fn check_damping(&self, settings: &Settings, faults: &mut Vec<ChoiceFault>) {
        if !settings.number(DAMPING).is_some_and(|time| time > 0.0) {
            return;
        }
        if let Some(kind) = self.solver_kind().filter(|kind| kind.needs != Need::Nothing && !kind.reads_damping) {
            let name = kind.entry.name;
            let others = solver::SOLVERS.iter().filter(|kind| kind.reads_damping).map(|kind| kind.entry.name);
            let others = others.collect::<Vec<_>>().join(", ");
            let message = format!("solver {name:?} has no internal damping; set it to 0, or use one of {others}");
            faults.push(ChoiceFault::of(DAMPING, message));
        } else if settings.number(COMPLIANCE) == Some(0.0) {
            let message = "a rigid constraint (compliance = 0) has nothing to damp; set one of them";
            faults.push(ChoiceFault::of(DAMPING, message));
        }
    }

    fn solver_kind(&self) -> Option<&'static SolverKind> {
        self.solver.and_then(|entry| solver::find(entry.name))
    }

    /// The value of a parameter about which nothing is said.
    fn silent_value(&self, parameter: &Parameter) -> Option<Setting> {
        match self.preset {
            Some(stiffness) if parameter.name == STIFFNESS => Some(Setting::Number(stiffness)),
            _ => parameter.default,
        }
    }

    /// Which one of the parameters that exclude each other holds.
    fn form(&self, entry: &'static Entry, given: &Given, faults: &mut Vec<ChoiceFault>) -> Option<&'static str> {
        let mut forms = given.forms.clone();
        let is_silent = forms.is_empty();
        if forms.contains(&K) && self.refuses_k(entry, faults) {
            forms.retain(|form| *form != K);
        }
        if let [first, second, ..] = forms[..] {
            let message = format!("give only one of {}; `{first}` is given too", entry.one_of.join(", "));
            faults.push(ChoiceFault::of(second, message));
        }
        let has_default = |form: &&str| entry.parameters.iter().any(|p| p.name == *form && p.default.is_some());
        let form = forms.first().copied().or_else(|| entry.one_of.iter().copied().find(has_default));
        if form.is_none() && is_silent && !entry.one_of.is_empty() {
            let message = format!("{} needs one of {}", self.owner(entry), entry.one_of.join(", "));
            faults.push(ChoiceFault { key: None, message });
        }
        form
    }

    /// Whether the solver does not read `k`, which is then reported.
    fn refuses_k(&self, entry: &'static Entry, faults: &mut Vec<ChoiceFault>) -> bool {
        let Some(solver) = self.solver_kind().filter(|kind| kind.needs != Need::Nothing && !kind.reads_k) else {
            return false;
        };
        let others: Vec<&str> = entry.one_of.iter().copied().filter(|form| *form != K).collect();
        let (solver, others) = (solver.entry.name, others.join(" or "));
        let message = format!("k is the stiffness of a PBD projection; solver {solver:?} takes {others}");
        faults.push(ChoiceFault::of(K, message));
        true
    }
}

/// Numbers with which physics cannot be computed.
fn check_ranges(entry: &'static Entry, settings: &Settings, faults: &mut Vec<ChoiceFault>) {
    for parameter in entry.parameters {
        let range = Range::of_parameter(parameter).zip(settings.number(parameter.name));
        if let Some(Err(message)) = range.map(|(range, number)| range.holds(number)) {
            faults.push(ChoiceFault::of(parameter.name, message));
        }
    }
}
