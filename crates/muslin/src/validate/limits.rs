//! The limits of the plain values of a scene, with what is said where one is broken.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::description::RestShape;
use crate::parameter::{Kind, Parameter};
use crate::validate::suggest::quote;

/// A quantity that may vanish.
pub(crate) const NOT_NEGATIVE: Kind = Kind::Number { min: 0.0, max: f64::INFINITY };
/// Sizes of a quantity with which physics can be computed: beyond, squares and products leave the finite numbers, or a law does not hold any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    /// Of what does not vanish.
    least: f64,
    most: f64,
    unit: &'static str,
}

/// Mass of an area: a film of a micrometre has 1e-3 kg/m², a centimetre of lead 1e2.
pub(crate) const DENSITY: Range = Range { least: 1e-6, most: 1e6, unit: "kg/m²" };
/// Damping of a material.
pub(crate) const DAMPING: Range = Range { least: 0.0, most: 1e6, unit: "1/s" };
/// Acceleration of free fall.
pub(crate) const GRAVITY: Range = Range { least: 0.0, most: 1e4, unit: "m/s²" };
/// Velocity of a cloth.
pub(crate) const VELOCITY: Range = Range { least: 0.0, most: 1e4, unit: "m/s" };
/// Velocity of air: its law of drag is for less than the speed of sound.
pub(crate) const WIND: Range = Range { least: 0.0, most: 340.0, unit: "m/s" };
/// Coefficients of drag and lift.
pub(crate) const COEFFICIENT: Range = Range { least: 0.0, most: 1e3, unit: "" };
/// Density of air; that of water is 1e3.
pub(crate) const AIR_DENSITY: Range = Range { least: 0.0, most: 1e4, unit: "kg/m³" };
/// Coulomb's coefficient.
pub(crate) const FRICTION: Range = Range { least: 0.0, most: 1e3, unit: "" };

impl Range {
    /// The number, if it is in the range or zero.
    pub(crate) fn holds(self, x: f64) -> Result<f64, String> {
        let Self { least, most, unit } = self;
        if x == 0.0 || x.abs() >= least && x.abs() <= most {
            return Ok(x);
        }
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        let must = match least {
            0.0 => format!("of at most {most:e}{unit} in size"),
            least => format!("from {least:e} to {most:e}{unit}"),
        };
        Err(format!("must be {must}, with which physics can be computed, got {x:?}"))
    }

    /// The same of all three numbers.
    pub(crate) fn holds_each(self, v: [f64; 3]) -> Result<[f64; 3], String> {
        v.into_iter().try_for_each(|x| self.holds(x).map(drop)).map(|()| v)
    }

    /// That of a parameter of a model or a solver, by its name and unit.
    pub(crate) fn of_parameter(parameter: &Parameter) -> Option<Self> {
        match (parameter.name, parameter.unit) {
            // Of constraints of any unit: its inverse is a stiffness.
            ("compliance", unit) => Some(Self { least: 1e-18, most: 1e18, unit }),
            (_, unit @ "N/m") => Some(Self { least: 1e-9, most: 1e12, unit }),
            (_, unit @ "N·m") => Some(Self { least: 1e-18, most: 1e9, unit }),
            (_, unit @ "s") => Some(Self { least: 0.0, most: 1e6, unit }),
            _ => None,
        }
    }
}

/// Frames a second of a run.
pub(crate) const FPS: Kind = Kind::Number { min: 1.0, max: 1000.0 };
/// Frames a second of an animated mesh.
pub(crate) const FRAME_RATE: Kind = Kind::Number { min: 1e-3, max: 1e5 };
/// Distance kept between surfaces, in m.
pub(crate) const THICKNESS: Kind = Kind::Number { min: 0.0, max: 1.0 };
/// Distance within which vertices become one, in m.
pub(crate) const WELD: Kind = Kind::Number { min: 0.0, max: 1.0 };
/// Length of edges in a pattern, in m.
pub(crate) const RESOLUTION: Kind = Kind::Number { min: 5e-4, max: 1.0 };
/// Cloth that is sewn starts elsewhere than at rest.
pub(crate) fn starts_elsewhere(rest: &RestShape) -> Result<(), String> {
    let starts_at_rest = matches!(rest, RestShape::Mesh);
    let message = "has no effect where cloth starts in its rest shape; give `pattern` or `rest` too, or leave this out";
    if starts_at_rest { Err(message.to_owned()) } else { Ok(()) }
}

/// Cloth is let down after it is sewn.
pub(crate) fn settles_after(close_by: Option<f64>, settle_by: f64) -> Result<(), String> {
    match close_by {
        Some(close_by) if settle_by < close_by => Err(format!(
            "is {settle_by} s, before the cloth is sewn at {close_by} s; give a later time, or an earlier close_by"
        )),
        Some(_) => Ok(()),
        None => Err("has no effect on cloth that is not sewn; give close_by too, or leave this out".to_owned()),
    }
}

/// Red, green or blue.
pub(crate) const COLOR: Kind = Kind::Number { min: 0.0, max: 1.0 };
/// Vertical field of view, in degrees.
pub(crate) const FIELD_OF_VIEW: Kind = Kind::Number { min: 1.0, max: 170.0 };
/// Fewest and most pixels along a side of a picture.
pub(crate) const PIXELS: [u32; 2] = [16, 4096];
/// Fewest and most cells of a grid or tube along one side: 8192² are 67 million vertices, more than memory holds.
pub(crate) const CELLS: [u32; 2] = [1, 8192];
/// Fewest cells around a tube: two would fold it flat.
const FEWEST_AROUND: u32 = 3;
/// The longest run of a scene, in s.
pub const MAX_DURATION: f64 = 1e5;
/// The most frames of a run: a million frames of a small cloth are already 50 GB.
pub const MAX_FRAMES: u64 = 1_000_000;
/// Characters of a name: with an extension, 4 bytes each, still a file name on any system.
const LONGEST_NAME: usize = 60;

/// A range of whole numbers as a kind.
pub(crate) fn whole([min, max]: [u32; 2]) -> Kind {
    Kind::Integer { min: i64::from(min), max: i64::from(max) }
}

/// A positive time as the length of a run, in s.
pub(crate) fn duration(seconds: f64) -> Result<f64, String> {
    if seconds <= MAX_DURATION {
        Ok(seconds)
    } else {
        Err(format!("must be at most {MAX_DURATION} s, got {seconds:?}"))
    }
}

/// The frames of a run.
pub(crate) fn frames(duration: f64, fps: f64) -> Result<(), String> {
    if duration * fps <= MAX_FRAMES as f64 {
        return Ok(());
    }
    Err(format!("{duration} s at {fps} frames a second are more than {MAX_FRAMES} frames; lower duration or fps"))
}

/// The cells of a tube.
pub(crate) fn closed(cells: [u32; 2]) -> Result<[u32; 2], String> {
    match cells {
        [around, _] if around < FEWEST_AROUND => {
            Err(format!("must be at least {FEWEST_AROUND} cells around, got {around}"))
        }
        _ => Ok(cells),
    }
}

/// The time of a waypoint after the one before.
pub(crate) fn later(before: Option<f64>, time: f64) -> Result<f64, String> {
    match before {
        Some(before) if before >= time => {
            Err(format!("must be later than the waypoint before, which is at {before:?} s, got {time:?}"))
        }
        _ => Ok(time),
    }
}

/// The largest corner of a box.
pub(crate) fn ordered(min: [f64; 3], max: [f64; 3]) -> Result<(), String> {
    if min.iter().zip(&max).any(|(low, high)| low > high) {
        return Err(format!("must not be below min, {min:?}, in any coordinate, got {max:?}"));
    }
    Ok(())
}

/// The size of a picture.
pub(crate) fn even(size: [u32; 2]) -> Result<(), String> {
    if size.iter().any(|pixels| pixels % 2 == 1) {
        return Err(format!("must be even numbers, which video needs, got {size:?}"));
    }
    Ok(())
}

/// What the camera looks at.
pub(crate) fn apart(eye: Option<[f64; 3]>, target: Option<[f64; 3]>) -> Result<(), String> {
    match (eye, target) {
        (Some(eye), Some(target)) if eye == target => Err(format!("must differ from `eye`, got {target:?} for both")),
        _ => Ok(()),
    }
}

/// Of a direction beside a position of the camera.
pub(crate) const EYE_AND_DIRECTION: &str = "is for a view without `eye`; remove one of the two";

/// A name of a scene, a cloth or a collider.
pub(crate) fn name(name: &str) -> Result<&str, String> {
    if is_file_name(name) {
        return Ok(name);
    }
    Err(format!(
        "must be 1 to {LONGEST_NAME} letters, digits, '_', '-', '.' or spaces, \
         with a letter, a digit or '_' at both ends, got {}",
        quote(name)
    ))
}

/// Whether a text can name a folder or a file on any system.
fn is_file_name(text: &str) -> bool {
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    let is_end = |c: char| c.is_alphanumeric() || c == '_';
    text.chars().count() <= LONGEST_NAME
        && text.chars().all(is_inner)
        && text.starts_with(is_end)
        && text.ends_with(is_end)
}

/// The name of a file that a scene refers to.
pub(crate) fn file_name(file: &str) -> Result<&str, String> {
    if file.is_empty() { Err("must name a file, got an empty string".to_owned()) } else { Ok(file) }
}

/// Names are files, and some systems do not tell `Sheet` from `sheet`.
#[derive(Default)]
pub(crate) struct Names {
    taken: BTreeMap<String, String>,
}

impl Names {
    /// Takes a name for `owner`, or says whose it is already.
    pub(crate) fn take(&mut self, name: &str, owner: String) -> Result<(), String> {
        match self.taken.entry(name.to_lowercase()) {
            Entry::Vacant(place) => {
                place.insert(owner);
                Ok(())
            }
            Entry::Occupied(first) => Err(format!(
                "{name:?} is the name of {} already; choose another (names are files, so case does not count)",
                first.get()
            )),
        }
    }
}
