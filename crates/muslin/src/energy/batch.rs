//! All elements of one model on one cloth.

use std::ops::Range;
use std::sync::OnceLock;

use crate::energy::stiffness::DAMPING;
use crate::energy::{Energy, Site, Stiffness};
#[cfg(target_arch = "x86_64")]
use crate::math::F32x8;
use crate::math::{F32x4, Scalar};
use crate::parallel::{ColoredStencils, Spots};
use crate::parameter::Settings;
use crate::topology::color;

/// Indices of particles, which are four numbers in single precision each, or twice as much.
pub(crate) type ParticleSpots<const N: usize> = Spots<[f32; 4], N>;

/// The elements of one model, sorted by colour: elements of a colour share no vertex.
#[doc(hidden)] // integration tests make batches of chosen elements
pub struct Batch<E: Energy<N>, const N: usize> {
    stencils: ColoredStencils<N>,
    /// The same for the fast sweeps, made when the first one comes.
    spots: OnceLock<ParticleSpots<N>>,
    rest: Vec<E::Rest<f64>>,
    /// As many as a sweep takes at once, made when the first one comes: the elements of each colour, four or eight at a time; what is left over is
    /// not here.
    rest_by_four: OnceLock<Vec<E::Rest<F32x4>>>,
    #[cfg(target_arch = "x86_64")]
    rest_by_eight: OnceLock<Vec<E::Rest<F32x8>>>,
    projection: Option<f64>,
    damping: f64,
}

impl<E: Energy<N>, const N: usize> Batch<E, N> {
    /// Colours the elements and stores them in the order of their colours.
    ///
    /// `elements` pairs stencils (indices into the state) with their rest data.
    pub fn new(site: &Site<'_>, settings: &Settings, elements: Vec<([u32; N], E::Rest<f64>)>) -> Self {
        let vertex_count = site.vertex_count;
        let stencils: Vec<[u32; N]> = elements.iter().map(|e| e.0).collect();
        let coloring = color(&stencils, vertex_count);
        let in_color_order = |e: &u32| &elements[*e as usize];
        let stencils = coloring.order.iter().map(|e| in_color_order(e).0).collect();
        let rest: Vec<E::Rest<f64>> = coloring.order.iter().map(|e| in_color_order(e).1).collect();
        Self {
            spots: OnceLock::new(),
            rest_by_four: OnceLock::new(),
            #[cfg(target_arch = "x86_64")]
            rest_by_eight: OnceLock::new(),
            stencils: ColoredStencils::new(stencils, coloring.ranges, vertex_count),
            rest,
            projection: Stiffness::read(settings).and_then(Stiffness::projection),
            damping: settings.number(DAMPING.name).unwrap_or(0.0),
        }
    }

    /// Vertices of each element.
    pub fn stencils(&self) -> &[[u32; N]] {
        self.stencils.all()
    }

    /// The same, as sweeps visit them colour by colour.
    pub(crate) fn colored(&self) -> &ColoredStencils<N> {
        &self.stencils
    }

    /// The same, as the fast sweeps follow them.
    pub(crate) fn spots(&self) -> &ParticleSpots<N> {
        self.spots.get_or_init(|| ParticleSpots::new(self.stencils().iter().copied(), self.vertex_count()))
    }

    /// Rest data of each element.
    pub fn rest(&self) -> &[E::Rest<f64>] {
        &self.rest
    }

    /// Runs of elements that may be moved together.
    pub fn colors(&self) -> &[Range<usize>] {
        self.stencils.colors()
    }

    /// PBD's k, where the scene gave that.
    pub fn projection(&self) -> Option<f64> {
        self.projection
    }

    /// Internal damping τ, in s.
    pub fn damping(&self) -> f64 {
        self.damping
    }

    /// The rest data of the full bundles of every colour.
    fn bundles<S: Scalar>(&self) -> Vec<E::Rest<S>> {
        let elements = |color: &Range<usize>| self.rest[color.clone()].chunks_exact(S::LANES);
        self.colors().iter().flat_map(elements).map(|bundle| E::cast(bundle)).collect()
    }

    /// Length a state must have.
    pub fn vertex_count(&self) -> usize {
        self.stencils.bound()
    }
}

/// The rest data of a batch, as many elements side by side as `S` has lanes.
pub(crate) trait WideRest<S: Scalar, E: Energy<N>, const N: usize> {
    /// The full bundles of every colour, one colour after the other.
    fn wide_rest(&self) -> &[E::Rest<S>];
}

impl<E: Energy<N>, const N: usize> WideRest<F32x4, E, N> for Batch<E, N> {
    fn wide_rest(&self) -> &[E::Rest<F32x4>] {
        self.rest_by_four.get_or_init(|| self.bundles())
    }
}

#[cfg(target_arch = "x86_64")]
impl<E: Energy<N>, const N: usize> WideRest<F32x8, E, N> for Batch<E, N> {
    fn wide_rest(&self) -> &[E::Rest<F32x8>] {
        self.rest_by_eight.get_or_init(|| self.bundles())
    }
}

impl<E: Energy<N>, const N: usize> WideRest<f64, E, N> for Batch<E, N> {
    fn wide_rest(&self) -> &[E::Rest<f64>] {
        &self.rest
    }
}
