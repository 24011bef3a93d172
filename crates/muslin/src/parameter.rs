//! Parameters of a model, a solver or a fabric: names, units, ranges and defaults, as data.
//!
//! A scene key, its error messages, and the table of `muslin models` all follow from
//! these tables, so a parameter is described in exactly one place: the file of the thing that reads it.

use std::fmt;

/// The largest coordinate, in m: beyond a million an `f32` no longer resolves a cloth.
const MAX_COORDINATE: f64 = 1e6;
/// Shortest vector that still has a direction in `f32`.
const SHORTEST_DIRECTION: f64 = 1e-6;

/// One key that a scene may give.
///
/// ```
/// use muslin::solver::find;
///
/// let parameters = find("xpbd").map_or(&[][..], |kind| kind.entry.parameters);
/// let substeps = parameters.iter().find(|parameter| parameter.name == "substeps").ok_or("xpbd has substeps")?;
/// assert_eq!(substeps.kind.to_string(), "a whole number from 1 to 10000");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Key in the scene file.
    pub name: &'static str,
    /// Unit in SI, `""` for a pure number.
    pub unit: &'static str,
    /// The allowed values.
    pub kind: Kind,
    /// Value when the scene is silent; `None` = the parameter is then absent.
    pub default: Option<Setting>,
    /// One line for a person.
    pub meaning: &'static str,
}

/// The allowed values of a [`Parameter`].
///
/// ```
/// use muslin::parameter::{Kind, Setting};
///
/// let kind = Kind::Integer { min: 1, max: 10 };
/// assert!(kind.allows(Setting::Integer(10)));
/// assert_eq!(kind.check(Setting::Integer(0)), Err("must be a whole number from 1 to 10, got 0".to_owned()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A finite number in `min ..= max`.
    Number {
        /// Smallest allowed value.
        min: f64,
        /// Largest allowed value; infinite = no limit.
        max: f64,
    },
    /// A finite number greater than zero.
    Positive,
    /// A whole number in `min ..= max`.
    Integer {
        /// Smallest allowed value.
        min: i64,
        /// Largest allowed value.
        max: i64,
    },
    /// One of a list of words.
    Choice(&'static [&'static str]),
    /// A point of the world: three coordinates, in m.
    Point,
    /// Three numbers, each in `min ..= max`.
    Vector {
        /// Smallest allowed component.
        min: f64,
        /// Largest allowed component.
        max: f64,
    },
    /// Three numbers that point somewhere; their length does not matter.
    Direction,
}

/// A value of a parameter, already inside its range.
///
/// ```
/// use muslin::parameter::Setting;
///
/// assert_eq!(Setting::from(0.5), Setting::Number(0.5));
/// assert_eq!(Setting::from([0.0, 1.0, 0.0]).to_string(), "[0.0, 1.0, 0.0]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// Of [`Kind::Number`] and [`Kind::Positive`].
    Number(f64),
    /// Of [`Kind::Integer`].
    Integer(i64),
    /// Of [`Kind::Choice`].
    Choice(&'static str),
    /// Of [`Kind::Point`], [`Kind::Vector`] and [`Kind::Direction`].
    Vector([f64; 3]),
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(x) if x.is_nan() => write!(f, "nan"),
            // {:?} prints the shortest digits that read back as the same number.
            Self::Number(x) => write!(f, "{x:?}"),
            Self::Integer(i) => write!(f, "{i}"),
            Self::Choice(word) => write!(f, "{word:?}"),
            Self::Vector([x, y, z]) => write!(f, "[{}, {}, {}]", Self::Number(*x), Self::Number(*y), Self::Number(*z)),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { min, max } if max.is_infinite() && min.is_infinite() => write!(f, "a finite number"),
            Self::Number { min, max } if max.is_infinite() => write!(f, "a finite number of at least {min}"),
            Self::Number { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Positive => write!(f, "a finite number greater than 0"),
            Self::Integer { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Choice(words) => {
                write!(f, "one of ")?;
                for (i, word) in words.iter().enumerate() {
                    write!(f, "{}\"{word}\"", if i == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            Self::Point => write!(f, "3 numbers, each from -{MAX_COORDINATE} to {MAX_COORDINATE}"),
            Self::Vector { min, max } => write!(f, "3 numbers, each from {min} to {max}"),
            Self::Direction => write!(f, "a direction, at least {SHORTEST_DIRECTION} long"),
        }
    }
}

impl Kind {
    /// A coordinate, in m, a speed, in m/s, or an angle, in degrees.
    pub const BOUNDED: Self = Self::Number { min: -MAX_COORDINATE, max: MAX_COORDINATE };
    /// An extent, in m, or a factor.
    pub const EXTENT: Self = Self::Number { min: 1e-6, max: MAX_COORDINATE };

    /// The value if it is allowed, or else what to say of it.
    pub fn check(&self, value: Setting) -> Result<Setting, String> {
        if self.allows(value) { Ok(value) } else { Err(refusal(self, value)) }
    }

    /// The kind of each of the three components, of a kind that has them.
    pub fn component(&self) -> Option<Self> {
        match *self {
            Self::Point | Self::Direction => Some(Self::BOUNDED),
            Self::Vector { min, max } => Some(Self::Number { min, max }),
            Self::Number { .. } | Self::Positive | Self::Integer { .. } | Self::Choice(_) => None,
        }
    }

    /// Whether `value` is allowed.
    pub fn allows(&self, value: Setting) -> bool {
        match (*self, value) {
            (Self::Number { min, max }, Setting::Number(x)) => x.is_finite() && x >= min && x <= max,
            (Self::Positive, Setting::Number(x)) => x.is_finite() && x > 0.0,
            (Self::Integer { min, max }, Setting::Integer(i)) => i >= min && i <= max,
            (Self::Choice(words), Setting::Choice(word)) => words.contains(&word),
            (Self::Point | Self::Vector { .. } | Self::Direction, Setting::Vector(v)) => {
                let is_long = v.iter().map(|x| x * x).sum::<f64>().sqrt() >= SHORTEST_DIRECTION;
                let component = self.component();
                let is_inside = |x: f64| component.is_some_and(|kind| kind.allows(Setting::Number(x)));
                v.into_iter().all(is_inside) && (is_long || *self != Self::Direction)
            }
            _ => false,
        }
    }
}

/// The message for a value that is not allowed.
pub(crate) fn refusal(must: impl fmt::Display, got: impl fmt::Display) -> String {
    format!("must be {must}, got {got}")
}

/// Values for a table of parameters, in the order of the table.
///
/// ```
/// use muslin::parameter::{Setting, Settings};
///
/// let mut settings = Settings::from_iter([("substeps", Setting::Integer(30))]);
/// settings.set("precision", Setting::Choice("f64"));
/// assert_eq!((settings.integer("substeps"), settings.choice("precision")), (Some(30), Some("f64")));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(Vec<(&'static str, Setting)>);

impl Settings {
    /// Sets or replaces one value.
    pub fn set(&mut self, name: &'static str, value: Setting) {
        match self.0.iter_mut().find(|(n, _)| *n == name) {
            Some(slot) => slot.1 = value,
            None => self.0.push((name, value)),
        }
    }

    /// Looks a value up.
    pub fn get(&self, name: &str) -> Option<Setting> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, value)| *value)
    }

    /// A number, if it was given or has a default.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(Setting::Number(x)) => Some(x),
            Some(Setting::Integer(i)) => Some(i as f64),
            _ => None,
        }
    }

    /// A whole number, if it was given or has a default.
    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Some(Setting::Integer(i)) => Some(i),
            _ => None,
        }
    }

    /// A word, if it was given or has a default.
    pub fn choice(&self, name: &str) -> Option<&'static str> {
        match self.get(name) {
            Some(Setting::Choice(word)) => Some(word),
            _ => None,
        }
    }

    /// Three numbers, if they were given or have a default.
    pub fn vector(&self, name: &str) -> Option<[f64; 3]> {
        match self.get(name) {
            Some(Setting::Vector(v)) => Some(v),
            _ => None,
        }
    }

    /// All values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Setting)> + '_ {
        self.0.iter().copied()
    }
}

impl FromIterator<(&'static str, Setting)> for Settings {
    fn from_iter<I: IntoIterator<Item = (&'static str, Setting)>>(values: I) -> Self {
        let mut settings = Self::default();
        values.into_iter().for_each(|(name, value)| settings.set(name, value));
        settings
    }
}

impl From<f64> for Setting {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}

impl From<[f64; 3]> for Setting {
    fn from(v: [f64; 3]) -> Self {
        Self::Vector(v)
    }
}

/// A description of one model, solver, shape or fabric for scene files and `muslin models`.
///
/// ```
/// use muslin::catalog;
/// use muslin::parameter::Settings;
///
/// let torus = catalog::shapes().find(|kind| kind.entry.name == "torus").ok_or("there is a torus")?;
/// assert!(torus.entry.parameters.iter().any(|parameter| parameter.name == "major_radius"));
/// assert!(!torus.entry.faults(&Settings::default()).is_empty(), "keys are missing");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Scene key and file stem.
    pub name: &'static str,
    /// One line for a person.
    pub summary: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Of these parameters exactly one may be given; the one with a default stands when none is.
    pub one_of: &'static [&'static str],
}

impl Entry {
    /// Faults of settings that should be complete: keys, each with its message.
    ///
    /// What a key means beside other keys or with a solver is not looked at; [`validate`](crate::validate) does that.
    pub fn faults(&self, settings: &Settings) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        for (key, value) in settings.iter() {
            match self.parameters.iter().find(|parameter| parameter.name == key).map(|p| p.kind.check(value)) {
                Some(Ok(_)) => {}
                Some(Err(message)) => faults.push((key, message)),
                None => faults.push((key, format!("unknown key of {:?}", self.name))),
            }
        }
        let is_given = |key: &str| settings.get(key).is_some();
        let has_form = self.one_of.iter().any(|form| is_given(form));
        let is_silent = |p: &&Parameter| !is_given(p.name) && !self.one_of.contains(&p.name);
        for parameter in self.parameters.iter().filter(is_silent) {
            if let Some(default) = parameter.default {
                faults.push((parameter.name, format!("is missing; its default is {default}")));
            }
        }
        if let (Some(first), false) = (self.one_of.first(), has_form) {
            faults.push((first, format!("is missing; {:?} needs one of {}", self.name, self.one_of.join(", "))));
        }
        faults
    }
}
