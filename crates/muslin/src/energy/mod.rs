//! Potentials: one file per model, one line per model in [`STRETCH`] or [`BEND`].
//!
//! A model is written once, over [`Scalar`], and runs in every solver that is defined for it. Its scene key, the
//! row of `muslin models` and its error messages follow from its [`EnergyKind`]; its test module calls the conformance
//! suite.

mod batch;
#[cfg(test)]
pub(crate) mod conformance;
pub(crate) mod derivative;
mod row;
mod stiffness;

pub mod bend;
pub mod stretch;

pub use batch::Batch;
pub(crate) use batch::ParticleSpots;
pub(crate) use batch::WideRest;
pub use row::{Constraint, LinearRow, Multiplier, PairRow, Row, TripleRow};
pub use stiffness::Stiffness;

use crate::math::{Mat3, Scalar, Sym3, Vec3};
use crate::mesh::Mesh;
use crate::parameter::{Entry, Settings};
use crate::settings::{BendSettings, typed};
use crate::topology::{self, Hinge, Topology};

/// One term of the potential, E(x) = Σ ψ(xₑ), over elements of `N` vertices.
///
/// ```
/// use muslin::energy::Energy;
/// use muslin::energy::stretch::spring::{Rest, Spring};
/// use muslin::math::Vec3;
///
/// // A spring of 1 m and 1/α = 100 N/m, a tenth longer than at rest.
/// let (rest, x) = (Rest { length: 1.0_f64, compliance: 0.01 }, [Vec3::ZERO, Vec3::new(1.1, 0.0, 0.0)]);
/// assert!((Spring::value(&rest, &x) - 0.5 * 100.0 * 0.1 * 0.1).abs() < 1e-12);
/// assert!((Spring::gradient(&rest, &x)[1].x - 10.0).abs() < 1e-12);
/// ```
pub trait Energy<const N: usize>: Sized + Send + Sync + 'static {
    /// Key of the model in scene files, and the stem of its file.
    const NAME: &'static str;
    /// Whether ψ is quadratic, so that its Hessian, and with it its fastest motion, is the same in every state.
    const IS_QUADRATIC: bool = false;
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

    /// ∂²ψ/∂xᵢ∂xⱼ, in N/m: exact, so it may have negative eigenvalues.
    ///
    /// Dual numbers through the gradient unless the model has a closed form, which is many times faster.
    fn hessian(rest: &Self::Rest<f64>, x: &[Vec3<f64>; N]) -> Blocks<N> {
        derivative::hessian::<Self, N>(rest, x)
    }
    /// ∂²ψ/∂xᵢ², in N/m: one block of the diagonal.
    fn block(rest: &Self::Rest<f64>, x: &[Vec3<f64>; N], vertex: usize) -> Mat3 {
        derivative::block::<Self, N>(rest, x, vertex)
    }
    /// ∂ψ/∂xᵢ and a block for ∂²ψ/∂xᵢ² without negative eigenvalues, for one vertex of each element; in any precision, and cheap.
    ///
    /// The square ∇C∇Cᵀ/α unless the model knows more. Under tension it should: what turns ∇C there resists too, and a solver that does not know it goes too far.
    #[inline(always)]
    fn corner<S: Scalar>(rest: &Self::Rest<S>, x: &[Vec3<S>; N], vertex: usize) -> Corner<S> {
        let row = Self::row(rest, x);
        let stiffness = force_of(S::ONE, row.compliance());
        Corner { gradient: row.pull(vertex, row.value() * stiffness), block: row.square(vertex, stiffness) }
    }
    /// The Hessian with its negative eigenvalues set to zero.
    fn clamped(rest: &Self::Rest<f64>, x: &[Vec3<f64>; N]) -> Blocks<N> {
        derivative::clamp(&Self::hessian(rest, x))
    }
    /// The part of the Hessian that is a square, ∇C∇Cᵀ/α, without the part that comes from the turning of ∇C.
    ///
    /// It has no negative eigenvalues. A model whose C is √2ψ overrides it with something of more than one direction.
    fn square(rest: &Self::Rest<f64>, x: &[Vec3<f64>; N]) -> Blocks<N> {
        derivative::square(&Self::row(rest, x))
    }
    /// The Hessian of an element that gives way once it is compressed, where a model knows such a thing; else as clamped.
    ///
    /// Only the Hessian: the force stays that of the energy. It has no negative eigenvalues.
    fn buckled(rest: &Self::Rest<f64>, x: &[Vec3<f64>; N]) -> Blocks<N> {
        Self::clamped(rest, x)
    }
    /// The element as the distance to a projection, for the models that are one.
    fn pull(_rest: &Self::Rest<f64>) -> Option<Pull<N>> {
        None
    }
    /// Where [`Pull::weights`] would have the weighted sum Σ kᵢxᵢ of a [`pull`](Self::pull): the nearest point that costs nothing.
    fn target(_rest: &Self::Rest<f64>, sum: Vec3<f64>) -> Vec3<f64> {
        sum
    }
}

/// An energy around one vertex.
///
/// ```
/// use muslin::energy::Energy;
/// use muslin::energy::stretch::spring::{Rest, Spring};
/// use muslin::math::Vec3;
///
/// let (rest, x) = (Rest { length: 1.0_f64, compliance: 0.01 }, [Vec3::ZERO, Vec3::new(2.0, 0.0, 0.0)]);
/// let corner = Spring::corner(&rest, &x, 1);
/// assert!((corner.gradient.x - 100.0).abs() < 1e-9 && (corner.block.diagonal.x - 100.0).abs() < 1e-9);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Corner<S> {
    /// ∂ψ/∂xᵢ, in N.
    pub gradient: Vec3<S>,
    /// A stiffness for ∂²ψ/∂xᵢ², in N/m.
    pub block: Sym3<S>,
}

/// The second derivatives of an element, by vertices.
///
/// ```
/// use muslin::energy::{Blocks, Energy};
/// use muslin::energy::stretch::spring::{Rest, Spring};
/// use muslin::math::Vec3;
///
/// let (rest, x) = (Rest { length: 1.0_f64, compliance: 0.01 }, [Vec3::ZERO, Vec3::new(1.0, 0.0, 0.0)]);
/// let hessian: Blocks<2> = Spring::hessian(&rest, &x);
/// assert_eq!(hessian[0][1].apply(Vec3::new(1.0, 0.0, 0.0)), Vec3::new(-100.0, 0.0, 0.0));
/// ```
pub type Blocks<const N: usize> = [[Mat3; N]; N];

/// ψ = ½ s ‖Σ kᵢxᵢ − p‖², p the projection of Σ kᵢxᵢ onto what costs nothing: what projective dynamics asks of an element.
///
/// ```
/// use muslin::energy::Energy;
/// use muslin::energy::stretch::spring::{Rest, Spring};
/// use muslin::math::Vec3;
///
/// let rest = Rest { length: 1.0, compliance: 0.01 };
/// let pull = Spring::pull(&rest).ok_or("a spring is a distance to a projection")?;
/// assert_eq!((pull.weights, pull.stiffness), ([-1.0, 1.0], 100.0));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull<const N: usize> {
    /// kᵢ; their sum is zero.
    pub weights: [f64; N],
    /// s.
    pub stiffness: f64,
}

/// How the Hessian of an element is made free of negative eigenvalues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// Not at all.
    Plain,
    /// [`Energy::clamped`].
    Clamp,
    /// [`Energy::square`].
    Drop,
    /// [`Energy::buckled`], after Choi and Ko 2002: a spring under compression has buckled and resists no more.
    ChoiKo,
}

impl Treatment {
    /// The Hessian of an element, treated.
    pub(crate) fn stiffness<E: Energy<N>, const N: usize>(self, rest: &E::Rest<f64>, x: &[Vec3<f64>; N]) -> Blocks<N> {
        match self {
            Self::Plain => E::hessian(rest, x),
            Self::Clamp => E::clamped(rest, x),
            Self::Drop => E::square(rest, x),
            Self::ChoiKo => E::buckled(rest, x),
        }
    }
}

/// ‖C‖²/2α, and zero for a rigid element.
#[inline(always)]
fn energy_of<S: Scalar>(squared: S, compliance: S) -> S {
    S::select(compliance.greater(S::ZERO), S::from_f64(0.5) * squared / compliance, S::ZERO)
}

/// C/α, and zero for a rigid element.
#[inline(always)]
fn force_of<S: Scalar>(value: S, compliance: S) -> S {
    S::select(compliance.greater(S::ZERO), value / compliance, S::ZERO)
}

/// Where a model is assembled: one cloth, in the order the solver sees it.
#[doc(hidden)] // integration tests make batches of chosen elements
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
    /// Rest position of a vertex of this cloth, in m; where it is in [`Mesh::positions`], if the mesh is flat.
    pub fn position(&self, vertex: u32) -> Vec3<f64> {
        self.mesh.positions[vertex as usize].into()
    }

    /// Rest length of an edge, in m: the mean of that of its triangles, which cloth that is gathered has two of.
    pub fn edge_length(&self, edge: usize) -> f64 {
        let [a, b] = self.topology.edges[edge];
        let sides = self.topology.edge_triangles[edge].into_iter().filter(|triangle| *triangle != topology::NONE);
        let length = |triangle: u32| (self.corner(triangle, b) - self.corner(triangle, a)).norm();
        let (sum, count) = sides.fold((0.0, 0.0), |(sum, count), triangle| (sum + length(triangle), count + 1.0));
        if self.mesh.flat.is_some() { sum / count } else { self.distance(a, b) }
    }

    /// Rest position of a corner of a triangle, as [`Mesh::triangle`] gives it.
    pub fn corner(&self, triangle: u32, vertex: u32) -> Vec3<f64> {
        let corners = &self.mesh.triangles[triangle as usize];
        let at = corners.iter().position(|&corner| corner == vertex).unwrap_or(0);
        self.mesh.triangle(triangle as usize)[at]
    }

    /// Rest positions of the vertices of a hinge, in m.
    ///
    /// Flat triangles are laid side by side: each keeps its height over the edge and the part of the edge where that stands, and the edge has its [length](Self::edge_length).
    pub fn hinge(&self, hinge: &Hinge) -> [Vec3<f64>; 4] {
        if self.mesh.flat.is_none() {
            return hinge.vertices.map(|v| self.position(v));
        }
        let [a, b, c, d] = hinge.vertices;
        let length = self.edge_length(hinge.edge as usize);
        let apex = |triangle: u32, apex: u32, side: f64| {
            let origin = self.corner(triangle, a);
            let (e, arm) = (self.corner(triangle, b) - origin, self.corner(triangle, apex) - origin);
            Vec3::new(length * arm.dot(e) / e.norm_squared(), side * e.cross(arm).norm() / e.norm(), 0.0)
        };
        let [first, second] = hinge.triangles;
        [Vec3::ZERO, Vec3::new(length, 0.0, 0.0), apex(first, c, 1.0), apex(second, d, -1.0)]
    }

    /// Rest distance of two vertices, in m, where the mesh is not flat.
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
        let [a0, a1] = hinge.triangles.map(|t| if self.held(t) { 0.0 } else { self.mesh.area(t as usize) });
        a0 + a1
    }

    /// Whether all three vertices of a triangle are held for the whole run.
    pub fn held(&self, triangle: u32) -> bool {
        self.mesh.triangles[triangle as usize].iter().all(|&v| self.clamped[v as usize])
    }

    /// Hinges that can move: one with two clamped triangles is rigid and has no energy to vary.
    pub fn hinges(&self) -> impl Iterator<Item = &Hinge> {
        self.topology.hinges.iter().filter(|h| self.hinge_area(h) > 0.0)
    }
}

/// Takes batches as they are assembled, whatever it makes of them: what sweeps them stands above the energies.
pub(crate) trait Sink {
    /// Takes elements of one size of a model on one cloth.
    fn add<E: Energy<N>, const N: usize>(&mut self, batch: Batch<E, N>);
    /// How many batches it has taken.
    fn count(&self) -> usize;
}

/// A model as a scene can name it.
///
/// ```
/// use muslin::energy::{BEND, STRETCH};
///
/// let names: Vec<_> = STRETCH.iter().map(|kind| kind.entry.name).collect();
/// assert!(names.contains(&"spring") && names.contains(&"neo_hookean"));
/// assert!(BEND.iter().any(|kind| kind.entry.name == "isometric" && kind.forms.projection));
/// ```
pub struct EnergyKind {
    /// Key, parameters, source.
    pub entry: Entry,
    /// Whether it flattens a curved rest shape.
    pub flat_only: bool,
    /// The forms that it has, and so the solvers that are defined for it.
    pub forms: Forms,
}

/// The forms in which a model is given, each of which some solvers need.
///
/// ```
/// use muslin::energy::Forms;
/// use muslin::solver::Need;
///
/// assert!(Need::Constraints.met_by(Forms::USUAL) && !Need::Projections.met_by(Forms::USUAL));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forms {
    /// As a constraint, [`Energy::row`].
    pub constraint: bool,
    /// As a potential with forces and a Hessian.
    pub potential: bool,
    /// As a distance to a projection, [`Energy::pull`].
    pub projection: bool,
}

impl Forms {
    /// A model without elements is every solver's.
    pub const ALL: Self = Self { constraint: true, potential: true, projection: true };
    /// Most models: everything but a projection.
    pub const USUAL: Self = Self { projection: false, ..Self::ALL };
}

/// A key of a model that only means something beside others.
pub(crate) struct Requirement {
    /// The model.
    pub model: &'static str,
    /// The key.
    pub key: &'static str,
    /// Whether the settings that have it are right.
    pub holds: fn(&Settings) -> bool,
    /// The message if they are not.
    pub message: &'static str,
}

/// Every such key.
pub(crate) const REQUIREMENTS: &[Requirement] = &stretch::spring::REQUIREMENTS;

/// "No such energy", for studies of the others.
const NONE: EnergyKind = EnergyKind {
    entry: Entry { name: "none", summary: "no such energy", source: "", parameters: &[], one_of: &[] },
    flat_only: false,
    forms: Forms::ALL,
};

/// The typed form of the model `none`, of stretch or of bending.
///
/// ```
/// use muslin::energy::NoEnergy;
/// use muslin::{Cloth, Simulation};
///
/// let dust = Cloth::grid([1.0, 1.0], [2, 2]).stretch(NoEnergy {}).bend(NoEnergy {});
/// assert!(Simulation::builder().cloth(dust).build()?.terms().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoEnergy {}

typed!(NoEnergy: StretchSettings, NONE, {});
impl BendSettings for NoEnergy {}

/// One list of the files of a family: the table of its models, and the function that assembles the one of a name.
macro_rules! family {
    ($family:ident, $(#[$of_table:meta])* $table:ident, $(#[$of_function:meta])* $assemble:ident, [$($model:ident,)*]) => {
        $(#[$of_table])*
        pub const $table: &[EnergyKind] = &[$($family::$model::KIND,)* NONE];

        $(#[$of_function])*
        pub(crate) fn $assemble(name: &str, settings: &Settings, site: &Site<'_>, sink: &mut impl Sink) {
            $(if name == $family::$model::KIND.entry.name {
                $family::$model::assemble(settings, site, sink);
            })*
        }
    };
}

family!(
    stretch,
    /// Every stretch model.
    STRETCH,
    /// Lists the elements of the stretch model of a name on a cloth, one batch for each size of element; none for "none".
    assemble_stretch,
    [spring, baraff_witkin, stvk, neo_hookean, shape_matching,]
);

family!(
    bend,
    /// Every bend model.
    BEND,
    /// Lists the elements of the bend model of a name on a cloth, as [`assemble_stretch`] does.
    assemble_bend,
    [isometric, dihedral, hinge_force, cubic_shell, projective, shell, distance, buckling,]
);
