//! The three forms in which a scene may give a stiffness.

use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};
use crate::settings::SettingField;

/// How stiff a model is.
///
/// ```
/// use muslin::energy::Stiffness;
/// use muslin::energy::stretch::spring::Spring;
///
/// let spring = Spring { stiffness: Some(Stiffness::Physical(2000.0)), ..Default::default() };
/// assert_eq!(Stiffness::Physical(2000.0).compliance(1.0), 1.0 / 2000.0);
/// assert_eq!(Stiffness::Projection(0.5).projection(), Some(0.5));
/// # let _ = spring;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stiffness {
    /// Physical: Y, in N/m for stretch, B, in N·m for bending; independent of mesh and time step.
    Physical(f64),
    /// α of every constraint, as in the XPBD literature.
    Compliance(f64),
    /// k in [0, 1], the part of the error that a PBD step removes.
    Projection(f64),
}

impl Stiffness {
    /// Reads the one form that the scene module let through.
    pub fn read(settings: &Settings) -> Option<Self> {
        let form = |name, make: fn(f64) -> Self| settings.number(name).map(make);
        form("stiffness", Self::Physical)
            .or_else(|| form("compliance", Self::Compliance))
            .or_else(|| form("k", Self::Projection))
    }

    /// α of a constraint whose compliance at unit stiffness is `unit`; zero for [`Projection`](Self::Projection).
    pub fn compliance(self, unit: f64) -> f64 {
        match self {
            Self::Physical(stiffness) => unit / stiffness,
            Self::Compliance(compliance) => compliance,
            Self::Projection(_) => 0.0,
        }
    }

    /// PBD's k, if that is the form.
    pub fn projection(self) -> Option<f64> {
        match self {
            Self::Projection(k) => Some(k),
            _ => None,
        }
    }
}

/// One of three keys, which exclude each other.
impl SettingField for Stiffness {
    fn of(entry: &Entry, key: &str) -> Self {
        Self::Physical(f64::of(entry, key))
    }

    fn write(self, _key: &'static str, settings: &mut Settings) {
        let (key, value) = match self {
            Self::Physical(stiffness) => ("stiffness", stiffness),
            Self::Compliance(compliance) => ("compliance", compliance),
            Self::Projection(k) => ("k", k),
        };
        value.write(key, settings);
    }
}

/// A stiffness in physical units with its default.
pub(super) const fn physical(unit: &'static str, default: f64, meaning: &'static str) -> Parameter {
    Parameter { name: "stiffness", unit, kind: Kind::Positive, default: Some(Setting::Number(default)), meaning }
}

/// B of a bend model.
pub(super) const RIGIDITY: Parameter = physical("N·m", 1e-5, "bending rigidity B: ½Bκ² per area of a cylinder");

/// Y of a stretch model.
pub(super) const YOUNG: Parameter = physical("N/m", 1000.0, "in-plane stiffness Y: Young's modulus × thickness");

/// α, given directly.
pub(super) const fn compliance(unit: &'static str) -> Parameter {
    Parameter {
        name: "compliance",
        unit,
        kind: Kind::Number { min: 0.0, max: f64::INFINITY },
        default: None,
        meaning: "inverse stiffness α of every constraint (raw XPBD form); 0 = rigid",
    }
}

/// PBD's k.
pub(super) const K: Parameter = Parameter {
    name: "k",
    unit: "",
    kind: Kind::Number { min: 0.0, max: 1.0 },
    default: None,
    meaning: "part of the error removed in one step (raw PBD form), whatever the number of iterations",
};

/// ν of a sheet.
pub(super) const POISSON: Parameter = Parameter {
    name: "poisson",
    unit: "",
    kind: Kind::Number { min: -0.9, max: 0.9 },
    default: Some(Setting::Number(0.3)),
    meaning: "Poisson's ratio ν: how much of a stretch the sheet narrows by",
};

/// An optional modulus of its own, which may be zero.
pub(super) const fn modulus(name: &'static str, meaning: &'static str) -> Parameter {
    let kind = Kind::Number { min: 0.0, max: f64::INFINITY };
    Parameter { name, unit: "N/m", kind, default: None, meaning }
}

/// Internal damping.
pub(super) const DAMPING: Parameter = Parameter {
    name: "damping",
    unit: "s",
    kind: Kind::Number { min: 0.0, max: f64::INFINITY },
    default: Some(Setting::Number(0.0)),
    meaning: "time constant of internal damping: damping force = time constant × stiffness × rate",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_form_is_read() {
        let mut settings = Settings::default();
        assert_eq!(Stiffness::read(&settings), None);
        settings.set("compliance", Setting::Number(1e-3));
        assert_eq!(Stiffness::read(&settings), Some(Stiffness::Compliance(1e-3)));
    }

    #[test]
    fn physical_stiffness_divides_the_unit_compliance() {
        assert_eq!(Stiffness::Physical(4.0).compliance(2.0), 0.5);
        assert_eq!(Stiffness::Compliance(3.0).compliance(2.0), 3.0);
        assert_eq!(Stiffness::Projection(0.5).compliance(2.0), 0.0);
    }
}
