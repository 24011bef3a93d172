//! Registry of solvers: every solver that a scene can name is one line of [`SOLVERS`].
//!
//! A line is a [`SolverKind`]: name, parameters and the forms of energy it [needs](Need). Scene keys, errors and `muslin models` follow from it.
//! Parameters that several solvers have stand here too.

use crate::energy::Forms;
use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};
use crate::settings::word;
use crate::solver::adaptive::{Adaptive, Paced};
use crate::solver::auto::QUALITY;
use crate::solver::{Solver, auto, explicit, newton, pbd, projective, shape_matching, vbd, xpbd};

/// The most substeps a scene may ask for.
pub(crate) const MOST_SUBSTEPS: i64 = 10_000;

/// A solver as a scene can name it.
///
/// ```
/// use muslin::solver::{Need, find};
///
/// let kind = find("projective").ok_or("there is projective dynamics")?;
/// assert_eq!((kind.needs, kind.reads_k), (Need::Projections, false));
/// # Ok::<(), &str>(())
/// ```
pub struct SolverKind {
    /// Key, parameters, source.
    pub entry: Entry,
    /// Makes one from its settings.
    pub build: fn(&Settings) -> Box<dyn Solver>,
    /// Whether it reads the stiffness `k` of a model.
    pub reads_k: bool,
    /// Whether it reads the internal `damping` of a model.
    pub reads_damping: bool,
    /// The form of energy that it needs.
    pub needs: Need,
}

/// The form in which a solver takes the energies of a scene.
///
/// ```
/// use muslin::solver::{Need, SOLVERS};
///
/// let takes_no_notice = SOLVERS.iter().find(|kind| kind.needs == Need::Nothing);
/// assert_eq!(takes_no_notice.map(|kind| kind.entry.name), Some("shape_matching"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Constraints, [`Forms::constraint`].
    Constraints,
    /// Potentials, [`Forms::potential`]: no rigid constraints.
    Potentials,
    /// Projections, [`Forms::projection`]: no rigid constraints.
    Projections,
    /// None: it has a stiffness of its own, and the energies of the scene do not matter to it.
    Nothing,
}

impl Need {
    /// Whether a model in these forms is enough.
    pub fn met_by(self, forms: Forms) -> bool {
        match self {
            Self::Constraints => forms.constraint,
            Self::Potentials => forms.potential,
            Self::Projections => forms.projection,
            Self::Nothing => true,
        }
    }

    /// The same for a person: what a model has to be given as.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Constraints => "a constraint C with a compliance",
            Self::Potentials => "a potential with forces and their derivatives",
            Self::Projections => "the distance to a projection, the nearest shape that costs nothing",
            Self::Nothing => "nothing: it has a stiffness of its own, and takes no notice of the model's",
        }
    }
}

/// The solver of a name.
pub fn find(name: &str) -> Option<&'static SolverKind> {
    SOLVERS.iter().find(|kind| kind.entry.name == name)
}

/// Every solver.
pub const SOLVERS: &[SolverKind] = &[
    xpbd::KIND,
    pbd::KIND,
    newton::KIND,
    vbd::KIND,
    projective::KIND,
    explicit::KIND,
    shape_matching::KIND,
    auto::KIND,
];

/// A whole number, at least one, whose range the scene has checked.
pub(crate) fn count(settings: &Settings, name: &str) -> u32 {
    settings.integer(name).and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1)
}

/// Time steps in a frame; see `adaptive.rs` for how a solver chooses them.
pub(crate) const SUBSTEPS: Parameter = Parameter {
    name: "substeps",
    unit: "",
    kind: Kind::Integer { min: 1, max: MOST_SUBSTEPS },
    default: None,
    meaning: "time steps in a frame; default: chosen from the mesh, the material, the speeds, the energy error and the strain",
};

/// Builds a solver with the substeps of its settings, or with those that it chooses.
pub(crate) fn paced(
    settings: &Settings,
    follows_energies: bool,
    make: impl FnOnce(u32) -> Box<dyn Paced>,
) -> Box<dyn Solver> {
    match settings.integer("substeps").and_then(|n| u32::try_from(n).ok()) {
        None if follows_energies => Box::new(Adaptive::within_strain(make(1), QUALITY)),
        None => Box::new(Adaptive::unaware(make(1))),
        Some(substeps) => make(substeps.max(1)),
    }
}

pub(crate) const fn iterations(default: i64) -> Parameter {
    Parameter {
        name: "iterations",
        unit: "",
        kind: Kind::Integer { min: 1, max: 10_000 },
        default: Some(Setting::Integer(default)),
        meaning: "sweeps over the constraints in a substep",
    }
}

/// Numbers of a sweep.
///
/// ```
/// use muslin::solver::{Precision, Xpbd};
///
/// let solver = Xpbd { precision: Precision::F64, ..Default::default() };
/// assert_eq!(Xpbd::default().precision, Precision::F32);
/// # let _ = solver;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Single: faster.
    F32,
    /// Double: for small motions and stiff cloth.
    F64,
}

word!(Precision { F32 = "f32", F64 = "f64" });

pub(crate) const PRECISION: Parameter = Parameter {
    name: "precision",
    unit: "",
    kind: Kind::Choice(&["f32", "f64"]),
    default: Some(Setting::Choice("f32")),
    meaning: "numbers of the sweeps: single is faster, double for small motions and stiff cloth",
};
