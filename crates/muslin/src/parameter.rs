//! What a model, a solver or a fabric can be told: names, units, ranges and defaults, as data.
//!
//! A scene key, its error messages, and the table of `muslin models` all follow from
//! these tables, so a parameter is described in exactly one place: the file of the thing that reads it.

use std::fmt;

/// One key that a scene may give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Key in the scene file.
    pub name: &'static str,
    /// Unit in SI, `""` for a pure number.
    pub unit: &'static str,
    /// What values are allowed.
    pub kind: Kind,
    /// Value when the scene is silent; `None` = the parameter is then absent.
    pub default: Option<Setting>,
    /// One line for a person.
    pub meaning: &'static str,
}

/// The allowed values of a [`Parameter`].
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
}

/// A value of a parameter, already inside its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// Of [`Kind::Number`] and [`Kind::Positive`].
    Number(f64),
    /// Of [`Kind::Integer`].
    Integer(i64),
    /// Of [`Kind::Choice`].
    Choice(&'static str),
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // {:?} prints the shortest digits that read back as the same number.
            Self::Number(x) => write!(f, "{x:?}"),
            Self::Integer(i) => write!(f, "{i}"),
            Self::Choice(word) => write!(f, "{word:?}"),
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
        }
    }
}

impl Kind {
    /// Whether `value` is allowed.
    pub fn allows(&self, value: Setting) -> bool {
        match (*self, value) {
            (Self::Number { min, max }, Setting::Number(x)) => x.is_finite() && x >= min && x <= max,
            (Self::Positive, Setting::Number(x)) => x.is_finite() && x > 0.0,
            (Self::Integer { min, max }, Setting::Integer(i)) => i >= min && i <= max,
            (Self::Choice(words), Setting::Choice(word)) => words.contains(&word),
            _ => false,
        }
    }
}

/// Values for a table of parameters, in the order of the table.
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

    /// All values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Setting)> + '_ {
        self.0.iter().copied()
    }
}

/// A description of one model, solver or fabric for scene files and `muslin models`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Scene key and file stem.
    pub name: &'static str,
    /// One line for a person.
    pub summary: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// What it takes.
    pub parameters: &'static [Parameter],
    /// Of these parameters exactly one may be given; the one with a default stands when none is.
    pub one_of: &'static [&'static str],
}
