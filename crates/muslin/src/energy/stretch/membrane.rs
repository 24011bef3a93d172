//! Triangles of uniform strain: what the membrane models share. Not a model itself.
//!
//! ```text
//!          2
//!        ╱   ╲          rest: X₀ X₁ X₂ in a frame (û, v̂) of the triangle's plane, A its area
//!       ╱  A  ╲         D = [X₁ − X₀, X₂ − X₀]⁻¹                       2 × 2
//!      0 ───── 1        F = [x₁ − x₀, x₂ − x₀] D = [f_u, f_v]          3 × 2
//!                       E = ½ (FᵀF − I)                                Green's strain
//! ψ = A W(E)            S = ∂W/∂E,   ∂ψ/∂F = A F S
//! ∂²ψ/∂f_a∂f_b = A ( S_ab I + Σ f_c 𝒞_acbd f_dᵀ ),   𝒞 = ∂S/∂E         geometric + material part
//! ```
//!
//! The third principal direction does not appear: a sheet is thin, and moduli are integrated over its thickness (in N/m). From Young's
//! modulus times thickness Y and Poisson's ratio ν, for plane stress,
//!
//! ```text
//! μ = Y/(2(1 + ν)),   λ = Yν/(1 − ν²)
//! ```
//!
//! Clamping: with the singular values σ₁, σ₂ of F, its left vectors u₁, u₂, the normal n and right vectors v₁, v₂, the Hessian of
//! an isotropic W over the six numbers of F has the eigenvectors
//!
//! ```text
//! (u₁v₂ᵀ − u₂v₁ᵀ)/√2   (ψ₁ + ψ₂)/(σ₁ + σ₂)        ψᵢ = ∂ψ/∂σᵢ
//! (u₁v₂ᵀ + u₂v₁ᵀ)/√2   (ψ₁ − ψ₂)/(σ₁ − σ₂)
//! n vᵢᵀ                 ψᵢ/σᵢ
//! and two mixtures of u₁v₁ᵀ and u₂v₂ᵀ: those of the 2 × 2 matrix ψᵢⱼ
//! ```
//!
//! so the negative ones are set to zero without a numerical eigenproblem. This is the nearest Hessian over F, not over x; both
//! have no negative eigenvalue.
//!
//! As a constraint a triangle has three numbers, ψ = ½‖C‖² with α = 1, which each law chooses so that they are smooth at rest. The
//! obvious single one, C = √2ψ, is not: its gradient turns at once with the least change near rest, and XPBD, which adds up
//! multipliers of gradients that turn, then settles at another stretch (a hanging sheet 0.3 % too long where it started at rest, 1.5 to 3 %
//! where it had fallen there, however many iterations; with three numbers below 0.02 %).
//!
//! [Teran et al. 2005, "Robust Quasistatic Finite Elements and Flesh Simulation"], [Smith, de Goes, Kim 2019, "Analytic Eigensystems for Isotropic Distortion Energies"].

use std::marker::PhantomData;

use crate::energy::stiffness::POISSON;
use crate::energy::{Batch, Blocks, Corner, Energy, Sink, Site, TripleRow};
use crate::math::{Mat3, Scalar, Sym3, Vec3, each};
use crate::parameter::Settings;

/// An isotropic law of a sheet. Moduli are given times the area of the triangle, so energies are in J.
pub(crate) trait Law: Send + Sync + 'static {
    /// [`Energy::NAME`].
    const NAME: &'static str;
    /// C, smooth at rest, with A W = ½‖C‖².
    fn conditions<S: Scalar>(moduli: &Moduli<S>, strain: &Symmetric<S>) -> [Condition<S>; 3];
    /// A S, and 𝒞 seen along one direction: `w` the weights of a corner.
    fn along<S: Scalar>(
        moduli: &Moduli<S>,
        strain: &Symmetric<S>,
        f: [Vec3<S>; 2],
        w: [S; 2],
    ) -> (Symmetric<S>, Sym3<S>);
    /// The part of the Hessian over F that comes from 𝒞.
    fn material(moduli: &Moduli<f64>, strain: &Symmetric<f64>, f: [Vec3<f64>; 2]) -> Tangent;
    /// The eigenvalues over F at the singular values σ.
    fn modes(moduli: &Moduli<f64>, sigma: [f64; 2]) -> Modes;
}

/// A number that depends on the strain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition<S> {
    /// Cᵢ, in √J.
    pub value: S,
    /// ∂Cᵢ/∂E.
    pub slope: Symmetric<S>,
}

/// A S = Σ Cᵢ ∂Cᵢ/∂E.
#[inline(always)]
fn stress<S: Scalar>(conditions: &[Condition<S>; 3]) -> Symmetric<S> {
    let mut sum = Symmetric { uu: S::ZERO, vv: S::ZERO, uv: S::ZERO };
    for Condition { value, slope } in conditions {
        sum.uu += *value * slope.uu;
        sum.vv += *value * slope.vv;
        sum.uv += *value * slope.uv;
    }
    sum
}

/// M F: how a number that changes with E by M changes with `(f_u, f_v)`.
#[inline(always)]
fn over_f<S: Scalar>(m: &Symmetric<S>, f: [Vec3<S>; 2]) -> [Vec3<S>; 2] {
    [f[0] * m.uu + f[1] * m.uv, f[0] * m.uv + f[1] * m.vv]
}

/// Lamé's constants of a sheet times the area of a triangle, in J.
///
/// ```
/// use muslin::energy::stretch::membrane::Moduli;
///
/// let moduli = Moduli::plane_stress(1000.0, 0.25, 0.5);
/// assert_eq!(moduli.mu, 200.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Moduli<S> {
    /// A μ.
    pub mu: S,
    /// A λ.
    pub lambda: S,
}

impl Moduli<f64> {
    /// Of a sheet in plane stress: `young` Y, in N/m, `area` A, in m².
    pub fn plane_stress(young: f64, poisson: f64, area: f64) -> Self {
        Self { mu: area * young / (2.0 * (1.0 + poisson)), lambda: area * young * poisson / (1.0 - poisson * poisson) }
    }
}

/// A symmetric matrix over (u, v).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symmetric<S> {
    /// Along u.
    pub uu: S,
    /// Along v.
    pub vv: S,
    /// Between them.
    pub uv: S,
}

impl<S: Scalar> Symmetric<S> {
    /// The sum of the diagonal.
    #[inline(always)]
    pub(crate) fn trace(&self) -> S {
        self.uu + self.vv
    }

    /// The determinant.
    #[inline(always)]
    pub(crate) fn determinant(&self) -> S {
        self.uu * self.vv - self.uv * self.uv
    }

    /// E of F.
    #[inline(always)]
    pub(crate) fn strain([u, v]: [Vec3<S>; 2]) -> Self {
        let half = S::from_f64(0.5);
        Self { uu: half * (u.dot(u) - S::ONE), vv: half * (v.dot(v) - S::ONE), uv: half * u.dot(v) }
    }
}

impl Symmetric<f64> {
    /// The eigenvalues, the larger first, and their eigenvectors.
    pub(crate) fn eigen(&self) -> ([f64; 2], [[f64; 2]; 2]) {
        let (mean, half) = (0.5 * self.trace(), 0.5 * (self.uu - self.vv));
        let radius = (half * half + self.uv * self.uv).sqrt();
        let along = if half >= 0.0 { [half + radius, self.uv] } else { [self.uv, radius - half] };
        let norm = (along[0] * along[0] + along[1] * along[1]).sqrt();
        let [c, s] = if norm > 0.0 { along.map(|x| x / norm) } else { [1.0, 0.0] };
        ([mean + radius, mean - radius], [[c, s], [-s, c]])
    }

    /// The nearest matrix without negative eigenvalues.
    pub(crate) fn clamped(&self) -> Self {
        let (values, vectors) = self.eigen();
        let sum = |a: usize, b: usize| (0..2).map(|m| values[m].max(0.0) * vectors[m][a] * vectors[m][b]).sum();
        Self { uu: sum(0, 0), vv: sum(1, 1), uv: sum(0, 1) }
    }
}

/// Second derivatives over `(f_u, f_v)`.
pub(crate) type Tangent = [[Mat3; 2]; 2];

/// Eigenvalues of the Hessian over F, in the terms of the module's header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Modes {
    /// ψᵢⱼ.
    pub scaling: Symmetric<f64>,
    /// (ψ₁ − ψ₂)/(σ₁ − σ₂).
    pub flip: f64,
    /// (ψ₁ + ψ₂)/(σ₁ + σ₂).
    pub twist: f64,
    /// ψᵢ/σᵢ.
    pub normal: [f64; 2],
}

/// Rest data of one triangle.
///
/// ```
/// use muslin::energy::Energy;
/// use muslin::energy::stretch::membrane::{Membrane, Moduli, Rest, rest_weights};
/// use muslin::energy::stretch::stvk::Stvk;
/// use muslin::math::Vec3;
///
/// let x = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]].map(Vec3::from);
/// let weights = rest_weights(&x, Vec3::new(1.0, 0.0, 0.0));
/// let rest = Rest { weights, moduli: Moduli::plane_stress(1000.0, 0.3, 0.5) };
/// assert!(<Membrane<Stvk>>::value(&rest, &x).abs() < 1e-20);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rest<S> {
    /// D: of each of the two edges at vertex 0 its share in `f_u` and in `f_v`, in 1/m.
    pub weights: [[S; 2]; 2],
    /// Its stiffness.
    pub moduli: Moduli<S>,
}

/// D of a rest triangle whose û is `axis` projected into its plane; v̂ completes a right-handed frame with its normal.
pub fn rest_weights(x: &[Vec3<f64>; 3], axis: Vec3<f64>) -> [[f64; 2]; 2] {
    let edges = [x[1] - x[0], x[2] - x[0]];
    let normal = edges[0].cross(edges[1]).normalized_or_zero();
    let u = (axis - normal * normal.dot(axis)).normalized_or_zero();
    let v = normal.cross(u);
    let [a, b] = edges.map(|e| [e.dot(u), e.dot(v)]);
    let determinant = a[0] * b[1] - b[0] * a[1];
    [[b[1] / determinant, -b[0] / determinant], [-a[1] / determinant, a[0] / determinant]]
}

/// `F = [f_u, f_v]`.
#[inline(always)]
pub fn deformation<S: Scalar>(weights: &[[S; 2]; 2], x: &[Vec3<S>; 3]) -> [Vec3<S>; 2] {
    let (a, b) = (x[1] - x[0], x[2] - x[0]);
    [a * weights[0][0] + b * weights[1][0], a * weights[0][1] + b * weights[1][1]]
}

/// A number over `(f_u, f_v)` at the corners: `p` is ∂/∂f.
#[inline(always)]
pub(crate) fn at_corners<S: Scalar>(weights: &[[S; 2]; 2], p: [Vec3<S>; 2]) -> [Vec3<S>; 3] {
    let [b, c] = each(
        *weights,
        #[inline(always)]
        |w: [S; 2]| p[0] * w[0] + p[1] * w[1],
    );
    [-(b + c), b, c]
}

/// ∂f/∂xᵢ of a corner.
#[inline(always)]
pub(crate) fn corner_weight<S: Scalar>(weights: &[[S; 2]; 2], vertex: usize) -> [S; 2] {
    let [b, c] = *weights;
    match vertex {
        0 => [-(b[0] + c[0]), -(b[1] + c[1])],
        1 => b,
        _ => c,
    }
}

/// One block of a Hessian over F.
fn spread_block([a, b]: [[f64; 2]; 2], tangent: &Tangent) -> Mat3 {
    let mut sum = Mat3::ZERO;
    for i in 0..2 {
        for j in 0..2 {
            sum += tangent[i][j] * (a[i] * b[j]);
        }
    }
    sum
}

/// A Hessian over F as one over the corners, symmetric to the last bit.
pub(crate) fn spread(weights: &[[f64; 2]; 2], tangent: &Tangent) -> Blocks<3> {
    let corner = [0, 1, 2].map(|vertex| corner_weight(weights, vertex));
    let mut blocks = [[Mat3::ZERO; 3]; 3];
    for i in 0..3 {
        for j in 0..=i {
            let block = spread_block([corner[i], corner[j]], tangent);
            let block = if i == j { (block + block.transposed()) * 0.5 } else { block };
            blocks[i][j] = block;
            blocks[j][i] = block.transposed();
        }
    }
    blocks
}

/// The block of one corner of [`spread`].
pub(crate) fn spread_at(weights: &[[f64; 2]; 2], tangent: &Tangent, vertex: usize) -> Mat3 {
    let corner = corner_weight(weights, vertex);
    spread_block([corner, corner], tangent)
}

/// Adds s m mᵀ to a Hessian over F, `m = [m_u, m_v]`.
fn add_mode(tangent: &mut Tangent, stiffness: f64, mode: [Vec3<f64>; 2]) {
    for i in 0..2 {
        for j in 0..2 {
            tangent[i][j] += Mat3::outer(mode[i], mode[j] * stiffness);
        }
    }
}

/// A unit vector across a unit vector.
fn any_across(n: Vec3<f64>) -> Vec3<f64> {
    let axis = if n.x.abs() < 0.6 { Vec3::new(1.0, 0.0, 0.0) } else { Vec3::new(0.0, 1.0, 0.0) };
    n.cross(axis).normalized_or_zero()
}

/// Triangles under a law.
///
/// ```
/// use muslin::energy::Energy;
/// use muslin::energy::stretch::membrane::{Membrane, Moduli, Rest, rest_weights};
/// use muslin::energy::stretch::stvk::Stvk;
/// use muslin::math::Vec3;
///
/// let x = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]].map(Vec3::from);
/// let weights = rest_weights(&x, Vec3::new(1.0, 0.0, 0.0));
/// let rest = Rest { weights, moduli: Moduli::plane_stress(1000.0, 0.3, 0.5) };
/// let stretched = x.map(|x| x * 1.1);
/// assert!(<Membrane<Stvk>>::value(&rest, &stretched) > 0.0);
/// ```
pub struct Membrane<L>(PhantomData<L>);

#[allow(private_bounds, reason = "sealed: the laws are those of the crate")]
impl<L: Law> Membrane<L> {
    /// All elements of a cloth, with the numbers that the scene gives.
    pub(crate) fn assemble(settings: &Settings, site: &Site<'_>, sink: &mut impl Sink) {
        let number = |name| settings.number(name).unwrap_or(0.0);
        let elements = Self::elements(site, number("stiffness"), number(POISSON.name));
        sink.add(Batch::<Self, 3>::new(site, settings, elements));
    }

    /// The triangles of a cloth of Young's modulus × thickness `young`, in N/m.
    pub(crate) fn elements(site: &Site<'_>, young: f64, poisson: f64) -> Vec<([u32; 3], Rest<f64>)> {
        let element = |(t, &vertices): (usize, &[u32; 3])| {
            let x = site.mesh.triangle(t);
            let moduli = Moduli::plane_stress(young, poisson, site.mesh.area(t));
            (site.stencil(vertices), Rest { weights: rest_weights(&x, x[1] - x[0]), moduli })
        };
        site.mesh.triangles.iter().enumerate().map(element).collect()
    }

    /// The exact Hessian over F.
    fn tangent(rest: &Rest<f64>, f: [Vec3<f64>; 2]) -> Tangent {
        let strain = Symmetric::strain(f);
        let stress = stress(&L::conditions(&rest.moduli, &strain));
        let mut tangent = L::material(&rest.moduli, &strain, f);
        tangent[0][0] += Mat3::scalar(stress.uu);
        tangent[1][1] += Mat3::scalar(stress.vv);
        tangent[0][1] += Mat3::scalar(stress.uv);
        tangent[1][0] += Mat3::scalar(stress.uv);
        tangent
    }

    /// The same without its negative eigenvalues.
    fn clamped_tangent(rest: &Rest<f64>, f: [Vec3<f64>; 2]) -> Tangent {
        let strain = Symmetric::strain(f);
        let (strains, right) = strain.eigen();
        let sigma = strains.map(|e| (1.0 + 2.0 * e).max(0.0).sqrt());
        // Right to left vectors; where a singular value is zero, any direction across will do.
        let image = right.map(|v| f[0] * v[0] + f[1] * v[1]);
        let first = image[0].normalized_or_zero();
        let first = if first == Vec3::ZERO { Vec3::new(1.0, 0.0, 0.0) } else { first };
        let across = image[1] - first * first.dot(image[1]);
        let second = if across.norm() > 1e-12 * sigma[0] { across.normalized_or_zero() } else { any_across(first) };
        let normal = first.cross(second);

        let modes = L::modes(&rest.moduli, sigma);
        let scaling = modes.scaling.clamped();
        let mode = |p: Vec3<f64>, v: [f64; 2]| [p * v[0], p * v[1]];
        let [along, cross] = [mode(first, right[0]), mode(second, right[1])];
        let [ahead, back] = [mode(first, right[1]), mode(second, right[0])];
        let mut tangent = [[Mat3::ZERO; 2]; 2];
        for i in 0..2 {
            for j in 0..2 {
                tangent[i][j] += Mat3::outer(along[i], along[j]) * scaling.uu;
                tangent[i][j] += Mat3::outer(cross[i], cross[j]) * scaling.vv;
                tangent[i][j] += (Mat3::outer(along[i], cross[j]) + Mat3::outer(cross[i], along[j])) * scaling.uv;
            }
        }
        add_mode(&mut tangent, 0.5 * modes.flip.max(0.0), [ahead[0] + back[0], ahead[1] + back[1]]);
        add_mode(&mut tangent, 0.5 * modes.twist.max(0.0), [ahead[0] - back[0], ahead[1] - back[1]]);
        for (stiffness, v) in modes.normal.into_iter().zip(right) {
            add_mode(&mut tangent, stiffness.max(0.0), mode(normal, v));
        }
        tangent
    }
}

impl<L: Law> Energy<3> for Membrane<L> {
    const NAME: &'static str = L::NAME;
    type Rest<S: Scalar> = Rest<S>;
    type Row<S: Scalar> = TripleRow<S, 3>;

    fn cast<S: Scalar>(rest: &[Rest<f64>]) -> Rest<S> {
        let weight = |edge: usize, axis: usize| S::gather(rest, |r| r.weights[edge][axis]);
        Rest {
            weights: [[weight(0, 0), weight(0, 1)], [weight(1, 0), weight(1, 1)]],
            moduli: Moduli { mu: S::gather(rest, |r| r.moduli.mu), lambda: S::gather(rest, |r| r.moduli.lambda) },
        }
    }

    #[inline(always)]
    fn value<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 3]) -> S {
        let [a, b, c] = L::conditions(&rest.moduli, &Symmetric::strain(deformation(&rest.weights, x)));
        S::from_f64(0.5) * Vec3::new(a.value, b.value, c.value).norm_squared()
    }

    #[inline(always)]
    fn gradient<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 3]) -> [Vec3<S>; 3] {
        let f = deformation(&rest.weights, x);
        let stress = stress(&L::conditions(&rest.moduli, &Symmetric::strain(f)));
        at_corners(&rest.weights, over_f(&stress, f))
    }

    #[inline(always)]
    fn row<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 3]) -> TripleRow<S, 3> {
        let f = deformation(&rest.weights, x);
        let conditions = L::conditions(&rest.moduli, &Symmetric::strain(f));
        let [a, b, c] = each(
            conditions,
            #[inline(always)]
            |condition| condition.value,
        );
        let gradients = each(
            conditions,
            #[inline(always)]
            |condition| at_corners(&rest.weights, over_f(&condition.slope, f)),
        );
        TripleRow { value: Vec3::new(a, b, c), gradients, compliance: S::ONE }
    }

    /// `Σ w_a w_b ∂²ψ/∂f_a∂f_b`: the law's part, and wᵀ S w times I, not below zero.
    #[inline(always)]
    fn corner<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 3], vertex: usize) -> Corner<S> {
        let f = deformation(&rest.weights, x);
        let w = corner_weight(&rest.weights, vertex);
        let (stress, mut block) = L::along(&rest.moduli, &Symmetric::strain(f), f, w);
        let [u, v] = over_f(&stress, f);
        let tension = w[0] * (w[0] * stress.uu + w[1] * stress.uv) + w[1] * (w[0] * stress.uv + w[1] * stress.vv);
        block += Sym3::scalar(S::select(tension.greater(S::ZERO), tension, S::ZERO));
        Corner { gradient: u * w[0] + v * w[1], block }
    }

    fn hessian(rest: &Rest<f64>, x: &[Vec3<f64>; 3]) -> Blocks<3> {
        spread(&rest.weights, &Self::tangent(rest, deformation(&rest.weights, x)))
    }

    fn block(rest: &Rest<f64>, x: &[Vec3<f64>; 3], vertex: usize) -> Mat3 {
        spread_at(&rest.weights, &Self::tangent(rest, deformation(&rest.weights, x)), vertex)
    }

    fn clamped(rest: &Rest<f64>, x: &[Vec3<f64>; 3]) -> Blocks<3> {
        spread(&rest.weights, &Self::clamped_tangent(rest, deformation(&rest.weights, x)))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::energy::conformance::{Random, random_stencils};
    use crate::energy::derivative;
    use crate::mesh::{Diagonals, Mesh};
    use crate::topology::Topology;

    /// An equilateral triangle of 1 m.
    pub(in crate::energy) const SIDE: [[f64; 3]; 3] =
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.866_025_403_784_438_6, 0.0]];

    /// The same longer in all directions by a few percent, and turned.
    pub(in crate::energy) const TENSE: [[f64; 3]; 3] = [[0.1, 0.0, 0.0], [1.07, 0.3, 0.2], [0.3, 0.95, 0.6]];

    pub(in crate::energy) fn rest_of(young: f64, poisson: f64) -> Rest<f64> {
        let x = SIDE.map(Vec3::from);
        Rest { weights: rest_weights(&x, x[1] - x[0]), moduli: Moduli::plane_stress(young, poisson, 0.433) }
    }

    /// A sheet in the xy plane whose inner vertices are moved at random, without uv.
    pub(in crate::energy) fn distorted() -> Mesh {
        let mut mesh = Mesh::grid([1.0, 1.0], [5, 5], Diagonals::Alternating).unwrap();
        let mut random = Random::new(5);
        mesh.uv = None;
        for p in &mut mesh.positions {
            let inner = p.iter().all(|c| c.abs() < 0.49);
            let shift = if inner { [0.05 * random.signed(), 0.05 * random.signed()] } else { [0.0; 2] };
            // Turned so that the normal stays towards the viewer.
            *p = [p[0] + shift[0], -p[2] + shift[1], 0.0];
        }
        mesh
    }

    /// Forces at the vertices of a deformed mesh, and its energy.
    pub(in crate::energy) fn response<E: Energy<3>>(
        mesh: &Mesh,
        elements: impl Fn(&Site<'_>) -> Vec<([u32; 3], E::Rest<f64>)>,
        map: impl Fn([f64; 3]) -> Vec3<f64>,
    ) -> (Vec<Vec3<f64>>, f64) {
        let topology = Topology::build(mesh);
        let clamped = vec![false; mesh.vertex_count()];
        let vertex_count = mesh.vertex_count();
        let site = Site { mesh, topology: &topology, clamped: &clamped, first_vertex: 0, vertex_count };
        let x: Vec<Vec3<f64>> = mesh.positions.iter().map(|&p| map(p)).collect();
        let mut forces = vec![Vec3::ZERO; vertex_count];
        let mut energy = 0.0;
        for (stencil, rest) in elements(&site) {
            let corners = stencil.map(|v| x[v as usize]);
            energy += E::value(&rest, &corners);
            for (v, g) in stencil.into_iter().zip(E::gradient(&rest, &corners)) {
                forces[v as usize] -= g;
            }
        }
        (forces, energy)
    }

    /// The patch test: a homogeneous deformation F = [[a, g], [0, b]] of a distorted mesh leaves inner vertices in balance.
    ///
    /// Returns the energy per area, in J/m², and the nominal stress P, in N/m, by rows, from the forces on the sides x = ½ and y = ½.
    pub(in crate::energy) fn patch<E: Energy<3>>(
        elements: impl Fn(&Site<'_>) -> Vec<([u32; 3], E::Rest<f64>)>,
        [a, b, g]: [f64; 3],
    ) -> (f64, [[f64; 2]; 2]) {
        let mesh = distorted();
        let turn = Mat3::about(Vec3::new(0.6, 0.0, 0.8), 0.7);
        let flat = |p: [f64; 3]| Vec3::new(a * p[0] + g * p[1], b * p[1], 0.0);
        let (forces, energy) = response::<E>(&mesh, elements, |p| turn.apply(flat(p)) + Vec3::new(3.0, -2.0, 1.0));
        let largest = forces.iter().map(|f| f.norm()).fold(0.0, f64::max);
        let mut sides = [Vec3::ZERO; 2];
        for (p, force) in mesh.positions.iter().zip(&forces) {
            if p.iter().all(|c| c.abs() < 0.49) {
                assert!(force.norm() <= 1e-10 * largest, "{}: an inner vertex at {p:?} feels {force:?}", E::NAME);
            }
            // A corner feels two sides; over a whole side, what comes from the two next to it cancels.
            for axis in 0..2 {
                if (p[axis] - 0.5).abs() < 1e-9 {
                    sides[axis] -= turn.transposed().apply(*force);
                }
            }
        }
        (energy, [[sides[0].x, sides[1].x], [sides[0].y, sides[1].y]])
    }

    /// Against Jacobi's rotations over the six numbers of F.
    pub(in crate::energy) fn check_clamping<L: Law>(rest: &Rest<f64>) {
        for x in random_stencils::<3>() {
            let f = deformation(&rest.weights, &x);
            let exact = derivative::clamp(&Membrane::<L>::tangent(rest, f));
            let got = Membrane::<L>::clamped_tangent(rest, f);
            let scale = exact.iter().flatten().flat_map(|m| m.0).flatten().map(f64::abs).fold(0.0, f64::max);
            for (a, b) in got.iter().flatten().zip(exact.iter().flatten()) {
                let error = (*a - *b).0.iter().flatten().map(|x| x.abs()).fold(0.0, f64::max);
                assert!(error <= 1e-10 * scale, "{}: off by {error} of {scale} at {x:?}", L::NAME);
            }
        }
    }

    /// Collapsed, folded over and tiny triangles: everything stays finite.
    pub(in crate::energy) fn check_finite<L: Law>(rest: &Rest<f64>) {
        let [a, b, c] = SIDE.map(Vec3::from);
        let foot = Vec3::new(0.5, 0.0, 0.0);
        let mirrored = Vec3::new(c.x, -c.y, 0.0);
        for x in [[a, b, foot], [a, b, mirrored], [a, a, a], [a, a, c], [a * 1e-200, b * 1e-200, c * 1e-200]] {
            let all =
                [Membrane::<L>::hessian(rest, &x), Membrane::<L>::clamped(rest, &x), Membrane::<L>::square(rest, &x)];
            for blocks in all {
                let finite = blocks.iter().flatten().flat_map(|m| m.0).flatten().all(f64::is_finite);
                assert!(finite, "{} at {x:?}: {blocks:?}", L::NAME);
            }
            assert!(Membrane::<L>::value(rest, &x).is_finite(), "{} at {x:?}", L::NAME);
            assert!(Membrane::<L>::gradient(rest, &x).iter().all(|g| g.is_finite()), "{} at {x:?}", L::NAME);
        }
    }

    #[test]
    fn the_eigenvectors_of_a_matrix_are_found() {
        for [uu, vv, uv] in [[2.0, -1.0, 0.5], [-1.0, 2.0, -3.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]] {
            let (values, vectors) = Symmetric { uu, vv, uv }.eigen();
            for (value, [x, y]) in values.into_iter().zip(vectors) {
                let error = [uu * x + uv * y - value * x, uv * x + vv * y - value * y];
                assert!(error.iter().all(|e| e.abs() < 1e-15 * 8.0), "{error:?}");
            }
        }
    }

    #[test]
    fn plane_stress_has_the_young_and_poisson_it_was_given() {
        let Moduli { mu, lambda } = Moduli::plane_stress(700.0, 0.3, 1.0);
        assert!((4.0 * mu * (lambda + mu) / (lambda + 2.0 * mu) - 700.0).abs() < 1e-12, "Young's modulus");
        assert!((lambda / (lambda + 2.0 * mu) - 0.3).abs() < 1e-15, "Poisson's ratio");
    }
}
