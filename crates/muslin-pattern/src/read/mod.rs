//! JSON of pattern generators → [`Pattern`], with every mistake and its place.
//!
//! The format is that of the garment-pattern-generator and of `GarmentCode` [Korosteleva, Lee 2021; Korosteleva, Sorkine-Hornung 2023]. Both kinds of
//! curvature are read: `[u, v]`, and `{"type": …, "params": …}`.

mod panel;
mod stitch;

use crate::curve::Point;
use crate::finding::{Finding, Findings, PatternError, Place, Problem};
use crate::json::Json;
use crate::pattern::Pattern;

/// The longest text that is read, in bytes.
pub const MAX_BYTES: usize = 16 << 20;
/// The most panels that are read.
pub const MAX_PANELS: usize = 1000;
/// The most edges of a panel that are read.
pub const MAX_EDGES: usize = 1000;
/// The longest name, in letters.
const MAX_NAME: usize = 100;
/// How far anything may be from the origin, in m.
const MAX_DISTANCE: f64 = 100.0;
/// The sides of a panel, in m.
const EXTENT: [f64; 2] = [0.002, 20.0];
/// The shortest edge, in m.
const MIN_EDGE: f64 = 1e-4;
/// The smallest panel, in m².
const MIN_AREA: f64 = 1e-5;
/// How near a panel may come to itself, in m.
pub(crate) const TOUCH: f64 = 1e-5;
/// What `units_in_meter` may be: kilometres and micrometres are not used for cloth.
const UNITS: [f64; 2] = [0.1, 1e5];
/// From here on a gather is warned of.
const GATHER_WARNING: f64 = 1.3;

/// What a pattern may ask for.
///
/// ```
/// use muslin_pattern::Limits;
///
/// let frilly = Limits { gather: 3.0 };
/// assert!(frilly.gather > Limits::default().gather);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The largest ratio of the lengths of two edges that are sewn together. Beyond it a stitch is an error, from 1.3 on a warning.
    pub gather: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { gather: 1.5 }
    }
}

/// A pattern, and what is odd about it.
///
/// ```
/// # let text = r#"{"pattern": {"panels": {"p": {"translation": [0, 0, 0], "rotation": [0, 0, 0], "vertices": [[0, 0], [9, 0], [0, 9]],
/// #   "edges": [{"endpoints": [0, 1]}, {"endpoints": [1, 2]}, {"endpoints": [2, 0]}]}}, "stitches": []}}"#;
/// let reading = muslin_pattern::Pattern::from_json(text, &Default::default())?; // a file without units
/// assert_eq!(reading.warnings[0].to_string(), "properties: \"units_in_meter\" is not given; lengths were taken for centimetres (100)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The pattern.
    pub pattern: Pattern,
    /// What somebody should look at.
    pub warnings: Vec<Finding>,
}

impl Pattern {
    /// Reads the JSON of a pattern, old form or new.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, with its place, the limit and the remedy.
    pub fn from_json(text: &str, limits: &Limits) -> Result<Reading, PatternError> {
        let mut findings = Findings::default();
        let pattern = read(text, limits, &mut findings);
        match pattern {
            Some(pattern) => Ok(Reading { pattern, warnings: findings.warnings()? }),
            None => Err(findings.into_error()),
        }
    }
}

/// What is true of all panels of a file.
#[derive(Debug, Clone, Copy)]
struct Conventions {
    /// Metres in a unit of the file.
    scale: f64,
    is_relative: bool,
}

fn read(text: &str, limits: &Limits, findings: &mut Findings) -> Option<Pattern> {
    if text.len() > MAX_BYTES {
        findings.error(Place::File, Problem::TooLarge { bytes: text.len(), limit: MAX_BYTES });
        return None;
    }
    let json: Json = match serde_json::from_str(text) {
        Ok(json) => json,
        Err(error) => {
            findings.error(Place::File, Problem::NotJson { reason: error.to_string() });
            return None;
        }
    };
    let known = ["pattern", "properties", "parameters", "parameter_order", "constraints", "constraint_order"];
    object(&json, "the file", &known, &Place::File, findings)?;
    let missing = Problem::Missing { key: "pattern", cure: "it holds the panels and the stitches" };
    let pattern = required(json.get("pattern"), missing, &Place::File, findings)?;
    object(pattern, "\"pattern\"", &["panels", "stitches", "panel_order", "name"], &Place::File, findings)?;
    let conventions = conventions(json.get("properties"), findings)?;
    let missing = Problem::Missing { key: "panels", cure: "it holds a panel for each name" };
    let panels = required(pattern.get("panels"), missing, &Place::File, findings)?;
    let panels = match panels {
        Json::Object(panels) => panels,
        other => {
            wrong(&Place::File, "\"panels\"", other, "an object with a panel for each name", findings);
            return None;
        }
    };
    if panels.is_empty() {
        findings.error(Place::File, Problem::NoPanels);
        return None;
    }
    if panels.len() > MAX_PANELS {
        findings.error(Place::File, Problem::TooMany { what: "panels", count: panels.len(), limit: MAX_PANELS });
        return None;
    }
    let order = panel_order(pattern.get("panel_order"), panels, findings);
    let read: Vec<_> = order
        .into_iter()
        .map(|index| {
            let (name, panel) = &panels[index];
            panel::read(name, panel, &conventions, findings).ok_or(name.as_str())
        })
        .collect();
    let stitches = stitch::read_all(pattern.get("stitches"), &read, limits, findings);
    let panels: Option<Vec<_>> = read.into_iter().map(Result::ok).collect();
    Some(Pattern { panels: panels?, stitches: stitches? })
}

/// Units and coordinates; nothing where they are wrong.
fn conventions(properties: Option<&Json>, findings: &mut Findings) -> Option<Conventions> {
    let place = Place::Properties;
    let empty = Json::Object(Vec::new());
    let properties = properties.unwrap_or(&empty);
    let known = ["curvature_coords", "units_in_meter", "normalize_panel_translation", "normalized_edge_loops"];
    object(properties, "it", &known, &place, findings)?;
    let is_relative = match properties.get("curvature_coords").map(|value| (value, value.text())) {
        None | Some((_, Some("relative"))) => Some(true),
        Some((_, Some("absolute"))) => Some(false),
        Some((_, Some(other))) => {
            let choices = "\"relative\" or \"absolute\"";
            let key = "\"curvature_coords\"";
            findings.error(place.clone(), Problem::UnknownWord { key, found: shortened(other), choices });
            None
        }
        Some((other, None)) => {
            wrong(&place, "\"curvature_coords\"", other, "\"relative\" or \"absolute\"", findings);
            None
        }
    };
    let units = match properties.get("units_in_meter").map(|value| (value, value.number())) {
        None => {
            findings.warning(place, Problem::NoUnits);
            Some(100.0)
        }
        Some((_, Some(value))) if (UNITS[0]..=UNITS[1]).contains(&value) => Some(value),
        Some((_, Some(value))) => {
            findings.error(place, Problem::Units { value, low: UNITS[0], high: UNITS[1] });
            None
        }
        Some((other, None)) => {
            wrong(&place, "\"units_in_meter\"", other, "a number", findings);
            None
        }
    };
    Some(Conventions { scale: 1.0 / units?, is_relative: is_relative? })
}

/// The places of the panels in the file, in the order that `panel_order` asks for; those that it leaves out come last.
fn panel_order(order: Option<&Json>, panels: &[(String, Json)], findings: &mut Findings) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::new();
    let list = match order {
        None | Some(Json::Null) => &[],
        Some(Json::List(list)) => list.as_slice(),
        Some(other) => {
            wrong(&Place::File, "\"panel_order\"", other, "a list of names of panels", findings);
            &[]
        }
    };
    for entry in list {
        let Some(name) = entry.text() else {
            wrong(&Place::File, "an entry of \"panel_order\"", entry, "the name of a panel", findings);
            continue;
        };
        match panels.iter().position(|(known, _)| known == name) {
            None => {
                let known = names(panels.iter().map(|(name, _)| name.as_str()));
                let problem = Problem::NoSuchPanel { key: "\"panel_order\"", panel: shortened(name), known };
                findings.error(Place::File, problem);
            }
            Some(place) if places.contains(&place) => {
                findings.error(Place::File, Problem::PanelTwice { panel: shortened(name) });
            }
            Some(place) => places.push(place),
        }
    }
    let rest: Vec<usize> = (0..panels.len()).filter(|place| !places.contains(place)).collect();
    places.extend(rest);
    places
}

/// The first names of a list, for a message.
fn names<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = all.take(6).map(|name| format!("{:?}", shortened(name))).collect();
    if names.len() == 6 {
        names[5] = "…".to_owned();
    }
    names.join(", ")
}

/// A word of the file, short enough for a message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Sees that a value is an object, and warns of keys that nothing reads.
fn object(value: &Json, what: &str, known: &[&str], place: &Place, findings: &mut Findings) -> Option<()> {
    let Json::Object(entries) = value else {
        wrong(place, what, value, "an object", findings);
        return None;
    };
    for (key, _) in entries.iter().filter(|(key, _)| !known.contains(&key.as_str())) {
        findings.warning(place.clone(), Problem::UnknownKey { key: shortened(key) });
    }
    Some(())
}

/// A value that must be there: `null` is not.
fn required<'a>(value: Option<&'a Json>, missing: Problem, place: &Place, findings: &mut Findings) -> Option<&'a Json> {
    let value = value.filter(|value| **value != Json::Null);
    if value.is_none() {
        findings.error(place.clone(), missing);
    }
    value
}

fn wrong(place: &Place, key: &str, found: &Json, expected: &'static str, findings: &mut Findings) {
    findings.error(place.clone(), Problem::WrongType { key: key.to_owned(), found: found.shown(), expected });
}

/// Whether a length in m is beyond what is worn; what is no number is, too.
fn is_far(value: f64) -> bool {
    !(-MAX_DISTANCE..=MAX_DISTANCE).contains(&value)
}

/// A point in m, nothing (and an error) where it is farther away than anything that is worn.
fn near(point: Point, what: &'static str, place: &Place, findings: &mut Findings) -> Option<Point> {
    match point.iter().find(|value| is_far(**value)) {
        None => Some(point),
        Some(value) => {
            let value = format!("{value:.4e} m");
            findings.error(place.clone(), Problem::Absurd { what, value, limit: MAX_DISTANCE });
            None
        }
    }
}

/// The label of a panel or an edge: a word, or nothing.
fn label(value: Option<&Json>, place: &Place, findings: &mut Findings) -> Option<String> {
    match value {
        None | Some(Json::Null) => None,
        Some(Json::Text(text)) if text.is_empty() => None,
        Some(Json::Text(text)) => {
            long_name(text, place, findings);
            Some(text.clone())
        }
        Some(other) => {
            wrong(place, "\"label\"", other, "a word", findings);
            None
        }
    }
}

fn long_name(name: &str, place: &Place, findings: &mut Findings) {
    let length = name.chars().count();
    if length > MAX_NAME {
        findings.error(place.clone(), Problem::LongName { length, limit: MAX_NAME });
    }
}
