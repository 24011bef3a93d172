//! Typed settings of solvers and models: plain structs, turned by name into the values that the tables of the catalogue check.
//!
//! The struct of a solver or model stands beside its table of [parameters](crate::parameter). Names, ranges and defaults are those of the table:
//! `Default` reads them from there, so nothing is written twice, and what is out of range is refused with the words that a scene file would get.
//!
//! ```
//! use muslin::settings::Typed;
//! use muslin::solver::Xpbd;
//!
//! let solver = Xpbd { substeps: 60, ..Default::default() };
//! assert_eq!(solver.iterations, 1, "as in the table");
//! assert_eq!(solver.settings().integer("substeps"), Some(60));
//! ```

use crate::parameter::{Entry, Setting, Settings};

/// Settings with a type, of an entry of the catalogue.
///
/// ```
/// use muslin::energy::bend::isometric::Isometric;
/// use muslin::settings::Typed;
///
/// let bend = Isometric { damping: 0.01, ..Default::default() };
/// assert_eq!(bend.entry().name, "isometric");
/// assert_eq!(bend.settings().number("damping"), Some(0.01));
/// ```
pub trait Typed {
    /// The entry that they are settings of.
    fn entry(&self) -> &'static Entry;
    /// The values by their names; what is left to a default or to a fabric is not among them.
    fn settings(&self) -> Settings;
}

/// The settings of a solver.
///
/// ```
/// use muslin::settings::SolverSettings;
/// use muslin::solver::{Newton, Xpbd};
///
/// fn name(solver: impl SolverSettings) -> &'static str {
///     solver.entry().name
/// }
/// assert_eq!([name(Xpbd::default()), name(Newton::default())], ["xpbd", "newton"]);
/// ```
pub trait SolverSettings: Typed {}

/// The settings of a stretch model.
///
/// ```
/// use muslin::energy::stretch::{spring::Spring, stvk::Stvk};
/// use muslin::settings::StretchSettings;
///
/// fn name(model: impl StretchSettings) -> &'static str {
///     model.entry().name
/// }
/// assert_eq!([name(Spring::default()), name(Stvk::default())], ["spring", "stvk"]);
/// ```
pub trait StretchSettings: Typed {}

/// The settings of a bend model.
///
/// ```
/// use muslin::energy::bend::{dihedral::Dihedral, shell::Shell};
/// use muslin::settings::BendSettings;
///
/// fn name(model: impl BendSettings) -> &'static str {
///     model.entry().name
/// }
/// assert_eq!([name(Dihedral::default()), name(Shell::default())], ["dihedral", "shell"]);
/// ```
pub trait BendSettings: Typed {}

/// A value that typed settings have as a field.
pub(crate) trait SettingField: Sized {
    /// The value of a parameter when nobody says anything.
    fn of(entry: &Entry, key: &str) -> Self;
    /// Says it.
    fn write(self, key: &'static str, settings: &mut Settings);
}

fn default(entry: &Entry, key: &str) -> Option<Setting> {
    entry.parameters.iter().find(|parameter| parameter.name == key)?.default
}

impl SettingField for f64 {
    fn of(entry: &Entry, key: &str) -> Self {
        match default(entry, key) {
            Some(Setting::Number(x)) => x,
            _ => Self::NAN,
        }
    }

    fn write(self, key: &'static str, settings: &mut Settings) {
        settings.set(key, Setting::Number(self));
    }
}

impl SettingField for u32 {
    fn of(entry: &Entry, key: &str) -> Self {
        match default(entry, key) {
            Some(Setting::Integer(i)) => Self::try_from(i).unwrap_or(0),
            _ => 0,
        }
    }

    fn write(self, key: &'static str, settings: &mut Settings) {
        // A solver that is told no substeps chooses them.
        if !(self == 0 && key == "substeps") {
            settings.set(key, Setting::Integer(self.into()));
        }
    }
}

/// As the words "on" and "off".
impl SettingField for bool {
    fn of(entry: &Entry, key: &str) -> Self {
        default(entry, key) == Some(Setting::Choice("on"))
    }

    fn write(self, key: &'static str, settings: &mut Settings) {
        settings.set(key, Setting::Choice(if self { "on" } else { "off" }));
    }
}

/// `None` leaves it to the fabric or to the table.
impl<T: SettingField> SettingField for Option<T> {
    fn of(_entry: &Entry, _key: &str) -> Self {
        None
    }

    fn write(self, key: &'static str, settings: &mut Settings) {
        if let Some(value) = self {
            value.write(key, settings);
        }
    }
}

/// Wires a struct to the table of its kind: every field is the parameter of its name, or of the name that is given.
macro_rules! typed {
    ($name:ident: $family:ident, $kind:expr, { $($field:ident $(= $key:literal)?),* $(,)? }) => {
        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $crate::settings::SettingField::of(&$kind.entry, $crate::settings::key!($field $($key)?))),* }
            }
        }

        impl $crate::settings::Typed for $name {
            fn entry(&self) -> &'static $crate::parameter::Entry {
                &$kind.entry
            }

            fn settings(&self) -> $crate::parameter::Settings {
                #[allow(unused_mut, reason = "some have no fields")]
                let mut settings = $crate::parameter::Settings::default();
                $($crate::settings::SettingField::write(self.$field, $crate::settings::key!($field $($key)?), &mut settings);)*
                settings
            }
        }

        impl $crate::settings::$family for $name {}
    };
}

/// The key of a field: its name, unless another is given.
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

/// Wires an enumeration to the words of a parameter.
macro_rules! word {
    ($name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $crate::settings::SettingField for $name {
            fn of(entry: &$crate::parameter::Entry, key: &str) -> Self {
                let parameter = entry.parameters.iter().find(|parameter| parameter.name == key);
                let default = parameter.and_then(|parameter| parameter.default);
                $(if default == Some($crate::parameter::Setting::Choice($word)) {
                    return Self::$variant;
                })+
                [$(Self::$variant),+][0]
            }

            fn write(self, key: &'static str, settings: &mut $crate::parameter::Settings) {
                let word = match self {
                    $(Self::$variant => $word,)+
                };
                settings.set(key, $crate::parameter::Setting::Choice(word));
            }
        }
    };
}

pub(crate) use {key, typed, word};
