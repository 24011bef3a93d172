//! Potentials: one file per model, one line per model in [`STRETCH`] or [`BEND`].
//!
//! A model is written once, over [`Scalar`], and runs in every solver that is defined for it. Its scene key, the
//! row of `muslin models` and its error messages follow from its [`EnergyKind`]; its test module calls the conformance
//! suite.

mod batch;
#[cfg(test)]
pub(crate) mod conformance;
mod row;
mod stiffness;

pub mod contact;
pub mod dihedral;
pub mod distance;
pub mod isometric;
pub mod spring;

pub use batch::{Batch, Term, WideRest};
pub use row::{Constraint, LinearRow, Multiplier, PairRow, Row};
pub use stiffness::Stiffness;

use crate::math::{Scalar, Vec3};
use crate::mesh::Mesh;
use crate::parameter::{Entry, Settings};
use crate::topology::{Hinge, Topology};

/// One term of the potential, E(x) = Σ ψ(xₑ), over elements of `N` vertices.
pub trait Energy<const N: usize>: Sized + Send + Sync + 'static {
    /// Key of the model in scene files, and the stem of its file.
    const NAME: &'static str;
    /// Rest data of one element: plain numbers.
    type Rest<S: Scalar>: Copy + Send + Sync;
    /// The element as a compliant constraint.
    type Row<S: Scalar>: Constraint<S, N>;

    /// Rest data of as many elements as `S` has lanes, in its precision.
    fn cast<S: Scalar>(rest: &[Self::Rest<f64>]) -> Self::Rest<S>;
    /// ψ, in J; zero for a rigid element (α = 0), which stores no energy.
    fn value<S: Scalar>(rest: &Self::Rest<S>, x: &[Vec3<S>; N]) -> S;
    /// ∂ψ/∂xᵢ, in N.
    fn gradient<S: Scalar>(rest: &Self::Rest<S>, x: &[Vec3<S>; N]) -> [Vec3<S>; N];
    /// C, ∇C and α with ψ = ‖C‖²/2α.
    fn row<S: Scalar>(rest: &Self::Rest<S>, x: &[Vec3<S>; N]) -> Self::Row<S>;
}

/// ‖C‖²/2α, and zero for a rigid element.
fn energy_of<S: Scalar>(squared: S, compliance: S) -> S {
    S::select(compliance.greater(S::ZERO), S::from_f64(0.5) * squared / compliance, S::ZERO)
}

/// C/α, and zero for a rigid element.
fn force_of<S: Scalar>(value: S, compliance: S) -> S {
    S::select(compliance.greater(S::ZERO), value / compliance, S::ZERO)
}

/// Where a model is assembled: one cloth, in the order the solver sees it.
pub struct Site<'a> {
    /// The rest shape.
    pub mesh: &'a Mesh,
    /// Its connectivity.
    pub topology: &'a Topology,
    /// Whether a vertex is held for the whole run.
    pub clamped: &'a [bool],
    /// Index of the cloth's first vertex in the state.
    pub first_vertex: u32,
    /// Number of vertices in the state.
    pub vertex_count: usize,
}

impl Site<'_> {
    /// Rest position of a vertex of this cloth, in m.
    pub fn position(&self, vertex: u32) -> Vec3<f64> {
        self.mesh.positions[vertex as usize].into()
    }

    /// Rest distance of two vertices, in m.
    pub fn distance(&self, a: u32, b: u32) -> f64 {
        (self.position(b) - self.position(a)).norm()
    }

    /// A stencil of this cloth as indices into the state.
    pub fn stencil<const N: usize>(&self, vertices: [u32; N]) -> [u32; N] {
        vertices.map(|v| v + self.first_vertex)
    }

    /// A₀ + A₁ of a hinge, in m².
    ///
    /// A triangle that is wholly clamped counts no area: the hinge on a clamp line then carries half the tributary
    /// length (stiffness 2B/h), without which every cantilever is off by the first order in the cell size.
    pub fn hinge_area(&self, hinge: &Hinge) -> f64 {
        let [a0, a1] = hinge.triangles.map(|t| {
            let held = self.mesh.triangles[t as usize].iter().all(|&v| self.clamped[v as usize]);
            if held { 0.0 } else { self.mesh.area(t as usize) }
        });
        a0 + a1
    }

    /// Hinges that can move: one with two clamped triangles is rigid and has no energy to vary.
    pub fn hinges(&self) -> impl Iterator<Item = &Hinge> {
        self.topology.hinges.iter().filter(|h| self.hinge_area(h) > 0.0)
    }
}

/// A model as a scene can name it.
pub struct EnergyKind {
    /// Key, parameters, source.
    pub entry: Entry,
    /// Lists the elements on a cloth; `None` for a model without elements.
    pub assemble: fn(&Settings, &Site<'_>) -> Option<Box<dyn Term>>,
    /// Whether it flattens a curved rest shape.
    pub flat_only: bool,
}

/// "No such energy", for studies of the others.
const NONE: EnergyKind = EnergyKind {
    entry: Entry { name: "none", summary: "no such energy", source: "", parameters: &[], one_of: &[] },
    assemble: |_, _| None,
    flat_only: false,
};

/// Every stretch model.
pub const STRETCH: &[EnergyKind] = &[spring::KIND, NONE];

/// Every bend model.
pub const BEND: &[EnergyKind] = &[isometric::KIND, dihedral::KIND, distance::KIND, NONE];
