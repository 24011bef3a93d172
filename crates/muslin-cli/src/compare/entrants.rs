//! Who is compared, and with what.
//!
//! The reference is what the distance of a run is measured to. It should be nearer to the truth than any of the others:
//! the implicit solver with the smallest steps where it is defined for the scene, and otherwise XPBD, which converges to
//! the same motion with small steps, in double precision.

use muslin::catalog;
use muslin::parameter::{Entry, Kind};
use muslin::scene::Scene;

use super::item::{Item, in_words};
use crate::args::{CompareArguments, SceneChanges};
use crate::failure::Failure;
use crate::scene_file::{Parsed, SceneFile};

/// A solver that makes a reference, and the substeps it takes: more would not end, fewer would not be one.
struct Standard {
    solver: &'static str,
    fewest: i64,
    most: i64,
}

/// The best first. A step of `newton` is solved to the end, and costs as much as many sweeps of `xpbd`.
const STANDARDS: [Standard; 2] =
    [Standard { solver: "newton", fewest: 50, most: 200 }, Standard { solver: "xpbd", fewest: 100, most: 1000 }];
/// A reference takes this many times the substeps of the finest item, whose error it is to show.
const FINER: i64 = 4;

/// A solver with settings, in the scene.
#[derive(Debug)]
pub(crate) struct Entrant {
    pub(crate) label: String,
    pub(crate) solver: String,
    pub(crate) is_reference: bool,
    /// The scene as it would be run, or why it cannot be.
    pub(crate) scene: Result<Scene, String>,
}

/// Everybody who takes part.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) entrants: Vec<Entrant>,
    /// Where the reference comes from, for a person.
    pub(crate) choice: &'static str,
}

/// The items of the command line in a scene, and their reference among them, which comes first if it is not an item.
pub(crate) fn gather(arguments: &CompareArguments, file: &SceneFile, own: &Parsed) -> Result<Field, Failure> {
    let enter = |item: Item| {
        let scene = scene_of(&item, arguments, file, &own.scene);
        Entrant { label: item.label, solver: item.solver, is_reference: false, scene }
    };
    let mut entrants: Vec<Entrant> = Vec::new();
    for text in &arguments.solvers {
        let entrant = enter(Item::parse("--solvers", text)?);
        if entrants.iter().any(|other| other.label == entrant.label) {
            let (label, bare) = (&entrant.label, Item::without_label(text));
            return Err(Failure::Usage(format!(
                "--solvers names {label:?} twice; leave one out, or give it a label: other={bare}"
            )));
        }
        entrants.push(entrant);
    }
    let (reference, choice) = match &arguments.reference {
        Some(label) if entrants.iter().any(|entrant| entrant.label == *label) => (None, "as asked for"),
        Some(text) => (Some(enter(Item::parse("--reference", text)?)), "as asked for"),
        None => default_reference(&entrants, &own.scene, enter)?,
    };
    match reference {
        None => entrants.iter_mut().for_each(|e| e.is_reference = Some(&e.label) == arguments.reference.as_ref()),
        Some(mut reference) => match entrants.iter_mut().find(|other| is_same(other, &reference)) {
            Some(entrant) => entrant.is_reference = true,
            None => {
                reference.is_reference = true;
                entrants.insert(0, reference);
            }
        },
    }
    Ok(Field { entrants, choice })
}

fn is_same(a: &Entrant, b: &Entrant) -> bool {
    matches!((&a.scene, &b.scene), (Ok(a), Ok(b)) if a.solver == b.solver)
}

/// The scene with another solver. What is wrong with it now comes from the two not going together.
fn scene_of(item: &Item, arguments: &CompareArguments, file: &SceneFile, own: &Scene) -> Result<Scene, String> {
    let mut sets = arguments.changes.sets.clone();
    sets.extend(item.overrides(Some(&own.solver)));
    match file.parse(&SceneChanges { sets, frames: arguments.changes.frames }) {
        Ok(parsed) => Ok(parsed.scene),
        Err(Failure::Scene(findings)) => {
            let errors = findings.list.iter().filter(|finding| finding.is_error()).map(in_words);
            Err(errors.collect::<Vec<_>>().join("; "))
        }
        Err(failure) => Err(failure.to_string()),
    }
}

/// The first of [`STANDARDS`] that this version has and the scene allows; otherwise the scene's own solver.
fn default_reference(
    entrants: &[Entrant],
    own: &Scene,
    enter: impl Fn(Item) -> Entrant,
) -> Result<(Option<Entrant>, &'static str), Failure> {
    let scenes = entrants.iter().filter_map(|entrant| entrant.scene.as_ref().ok()).chain([own]);
    let finest = scenes.filter_map(|scene| scene.solver.settings.integer("substeps")).max().unwrap_or(1);
    for Standard { solver, fewest, most } in STANDARDS {
        let Some(entry) = catalog::solvers().find(|entry| entry.name == solver) else { continue };
        let substeps = (FINER * finest).clamp(fewest, most);
        let entrant = enter(Item::parse("--reference", &accurate(entry, Some(substeps)))?);
        if entrant.scene.is_ok() {
            return Ok((Some(entrant), "by default the most accurate there is for this scene, with small steps"));
        }
    }
    let entrant = enter(Item::parse("--reference", &accurate(own.solver.entry, None))?);
    Ok((Some(entrant), "the scene's own, since no other is defined for its models"))
}

/// A solver as accurate as can be had: in double precision and with this many substeps, or as many as it takes.
fn accurate(entry: &Entry, substeps: Option<i64>) -> String {
    let mut text = entry.name.to_owned();
    for parameter in entry.parameters {
        match (parameter.name, parameter.kind, substeps) {
            ("precision", Kind::Choice(words), _) if words.contains(&"f64") => text.push_str(":precision=f64"),
            ("substeps", Kind::Integer { min, max }, Some(substeps)) => {
                text.push_str(&format!(":substeps={}", substeps.clamp(min, max)));
            }
            _ => {}
        }
    }
    text
}
