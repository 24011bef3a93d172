//! Term of the potential as the solvers see it: the elements of a model behind the sweeps of all of them.

use std::fmt;

use crate::energy::{Batch, Energy, Sink};
use crate::math::Vec3;
use crate::model::Model;
use crate::solver::position_based::{pbd, xpbd};
use crate::solver::{BufferedForces, Elastic, Place, projective, vbd};

/// A batch with its model erased: one virtual call per sweep, none per element.
///
/// A program reads from it; it cannot implement it, since the sweeps of the solvers are the crate's own.
///
/// ```
/// use muslin::{Cloth, Simulation};
///
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [2, 2])).build()?;
/// let counts: Vec<_> = simulation.terms().iter().map(|term| (term.name(), term.element_count())).collect();
/// assert_eq!(counts, [("spring", 16), ("isometric", 8)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[allow(private_bounds, reason = "sealed: a term is a batch, whose sweeps solvers alone call")]
pub trait Term: Sweeps + Send + Sync {
    /// [`Energy::NAME`].
    fn name(&self) -> &'static str;
    /// [`Energy::IS_QUADRATIC`].
    fn is_quadratic(&self) -> bool;
    /// Number of elements.
    fn element_count(&self) -> usize;
    /// Vertices of each element.
    fn width(&self) -> usize;
    /// The vertices of one element.
    fn stencil(&self, element: usize) -> &[u32];
    /// Number of colours.
    fn color_count(&self) -> usize;
    /// Σψ, in J.
    fn value(&self, x: &[Vec3<f64>]) -> f64;
}

/// The sweeps of all solvers. Each supertrait is that of one solver and lives in that solver's file.
pub(crate) trait Sweeps:
    Place<f32>
    + Place<f64>
    + xpbd::Project<f32>
    + xpbd::Project<f64>
    + pbd::Project<f32>
    + pbd::Project<f64>
    + Elastic
    + BufferedForces
    + projective::LocalStep
    + vbd::VertexBlocks
{
}

impl<E: Energy<N>, const N: usize> Sweeps for Batch<E, N> {}

impl<E: Energy<N>, const N: usize> Term for Batch<E, N> {
    fn name(&self) -> &'static str {
        E::NAME
    }

    fn is_quadratic(&self) -> bool {
        E::IS_QUADRATIC
    }

    fn element_count(&self) -> usize {
        self.stencils().len()
    }

    fn width(&self) -> usize {
        N
    }

    fn stencil(&self, element: usize) -> &[u32] {
        &self.stencils()[element]
    }

    fn color_count(&self) -> usize {
        self.colors().len()
    }

    fn value(&self, x: &[Vec3<f64>]) -> f64 {
        self.stencils().iter().zip(self.rest()).map(|(s, r)| E::value(r, &s.map(|v| x[v as usize]))).sum()
    }
}

impl fmt::Debug for dyn Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Sink for Vec<Box<dyn Term>> {
    fn add<E: Energy<N>, const N: usize>(&mut self, batch: Batch<E, N>) {
        self.push(Box::new(batch));
    }

    fn count(&self) -> usize {
        self.len()
    }
}

/// The elastic energy of a model with the vertices at x, in J: of its terms, and of its shape matching.
pub fn elastic_energy(model: &Model, terms: &[Box<dyn Term>], x: &[Vec3<f64>]) -> f64 {
    let sum: f64 = terms.iter().map(|term| term.value(x)).sum();
    sum + model.matchings.iter().map(|matching| matching.value(x)).sum::<f64>()
}
