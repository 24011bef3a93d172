//! Bending by the angle between two triangles.
//!
//! ```text
//!           c
//!         ╱   ╲          A = (a, b, c), B = (a, d, b): both wound the same way
//!        ╱  A  ╲         e  = x_b − x_a,           ℓ = ‖e‖
//!       a ───── b        n_A = e × (x_c − x_a),    n_B = (x_d − x_a) × e
//!        ╲  B  ╱         θ  = atan2( ê·(n̂_A × n̂_B), n̂_A·n̂_B )
//!         ╲   ╱
//!           d            C = θ − θ₀,   ψ = C²/2α,   α = (A₀ + A₁)/(B ℓ²)
//! ```
//!
//! θ is signed (0 = flat, positive = the flaps fall away from the normals), so it knows a hill from a valley and
//! its derivatives are finite everywhere but on collapsed triangles; `arccos(n₁·n₂)` loses the sign and divides by
//! zero at 0 and π. With PBD's angle φ of two normals, φ = π − |θ|.
//!
//! ```text
//! ∂θ/∂x_c = −ℓ n_A/‖n_A‖²                 s_A = (x_c − x_a)·e/ℓ²   (foot of the apex on the edge)
//! ∂θ/∂x_d = −ℓ n_B/‖n_B‖²                 s_B = (x_d − x_a)·e/ℓ²
//! ∂θ/∂x_b = −s_A ∂θ/∂x_c − s_B ∂θ/∂x_d
//! ∂θ/∂x_a = −(1−s_A) ∂θ/∂x_c − (1−s_B) ∂θ/∂x_d
//! ```
//!
//! The second derivatives [Tamstorf, Grinspun 2013], written here as sums over the two flaps (n̂ normal, p̂ the
//! direction in the flap from the edge to the apex, h its height, s the foot of the apex) of symmetric products of
//! vectors of all four vertices, with the weights u = (s − 1, −s, 1) of a, b and the apex, v = (−1, 1, 0) and xy =
//! xyᵀ + yxᵀ:
//!
//! ```text
//! ∂²θ = Σ  (u n̂)(u p̂)/h²  +  (v n̂)(v p̂)/2ℓ²  +  (u ê)(v n̂)/hℓ
//! ```
//!
//! Derivation: the normal n of a flap changes by E × dx when a corner moves, E the edge opposite to it, so n/‖n‖²
//! changes by −(n̂ (n̂ × E))/‖n‖² times dx, which is symmetric; the rest is the product rule on ℓ and s. Both flaps
//! together have u n̂, u p̂, u ê for each and two directions of v: ∂²ψ = (∂θ∂θᵀ + C ∂²θ)/α has a range of eight
//! dimensions, and its negative eigenvalues are found there.
//!
//! B (in N·m) is the flexural rigidity: ½ B κ² per area of a cylinder. Rest angles come from the rest shape, so
//! curved shapes keep their curve. Like every hinge model it depends on the pattern of the mesh: exact on
//! equilateral triangles, up to 1.5 times too stiff on alternating diagonals, 0.75 to 3 times on parallel ones.
//!
//! [Müller et al. 2007, §4.1 and appendix], [Grinspun et al. 2003], [Tamstorf, Grinspun 2013] for the gradients.

use crate::energy::stiffness::{DAMPING, K, RIGIDITY, compliance};
use crate::energy::{
    Batch, Blocks, Energy, EnergyKind, Forms, Row, Sink, Site, Stiffness, derivative, energy_of, force_of,
};
use crate::math::{Mat3, Scalar, Vec3, each, inlined};
use crate::parameter::{Entry, Settings};
use crate::settings::typed;

/// One angle per hinge.
///
/// ```
/// use muslin::energy::Stiffness;
/// use muslin::energy::bend::dihedral::Dihedral;
/// use muslin::{Cloth, Simulation};
///
/// let model = Dihedral { stiffness: Some(Stiffness::Physical(1e-4)), ..Default::default() };
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4]).bend(model)).build()?;
/// assert!(simulation.terms().iter().any(|term| term.name() == "dihedral"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dihedral {
    /// How stiff it is; `None` = as the fabric, or 10⁻⁵ N·m.
    pub stiffness: Option<Stiffness>,
    /// Time constant of internal damping, in s.
    pub damping: f64,
}

/// The scene's `dihedral`.
pub const KIND: EnergyKind = EnergyKind {
    entry: Entry {
        name: Dihedral::NAME,
        summary: "the signed angle between neighbouring triangles; keeps a curved rest shape",
        source: "Müller et al. 2007, Position Based Dynamics, §4.1; Grinspun et al. 2003, Discrete Shells",
        parameters: &[RIGIDITY, compliance("1/(N·m)"), K, DAMPING],
        one_of: &["stiffness", "compliance", "k"],
    },
    flat_only: false,
    forms: Forms::USUAL,
};

typed!(Dihedral: BendSettings, KIND, { stiffness, damping });

/// Rest data of one hinge.
///
/// ```
/// use muslin::energy::Energy;
/// use muslin::energy::bend::dihedral::{Dihedral, Rest, angle};
/// use muslin::math::Vec3;
///
/// let flat = [[0.0_f64, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, -1.0], [0.5, 0.0, 1.0]].map(Vec3::from);
/// let folded = [flat[0], flat[1], flat[2], Vec3::new(0.5, -1.0, 0.0)];
/// let rest = Rest { angle: 0.0, compliance: 0.1 };
/// let theta = angle(&folded);
/// assert_eq!(theta.abs(), std::f64::consts::FRAC_PI_2);
/// assert!((Dihedral::value(&rest, &folded) - 0.5 * theta * theta / 0.1).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rest<S> {
    /// θ₀, in rad.
    pub angle: S,
    /// α, in 1/(N·m).
    pub compliance: S,
}

pub(crate) fn assemble(settings: &Settings, site: &Site<'_>, sink: &mut impl Sink) {
    let Some(stiffness) = Stiffness::read(settings) else { return };
    let elements = site.hinges().map(|hinge| {
        let x = site.hinge(hinge);
        let unit_compliance = site.hinge_area(hinge) / (x[1] - x[0]).norm_squared();
        let rest = Rest { angle: angle(&x), compliance: stiffness.compliance(unit_compliance) };
        (site.stencil(hinge.vertices), rest)
    });
    sink.add(Batch::<Dihedral, 4>::new(site, settings, elements.collect()));
}

/// Edge and normals of a hinge: `e`, `n_A`, `n_B`.
#[inline(always)]
fn frame<S: Scalar>(x: &[Vec3<S>; 4]) -> [Vec3<S>; 3] {
    let e = x[1] - x[0];
    [e, e.cross(x[2] - x[0]), (x[3] - x[0]).cross(e)]
}

/// sin θ and cos θ, both times the lengths of the normals: finite on a collapsed edge.
///
/// ```text
/// n_A × n_B = (e × c) × (d × e) = −(n_A·d) e        c and d the rest offsets of the apexes
/// ê·(n_A × n_B) = −ℓ n_A·d
/// ```
#[inline(always)]
pub(crate) fn scaled_sine_cosine<S: Scalar>(x: &[Vec3<S>; 4]) -> [S; 2] {
    let [e, normal_a, normal_b] = frame(x);
    [-(normal_a.dot(x[3] - x[0]) * e.norm()), normal_a.dot(normal_b)]
}

/// θ, in rad, in (−π, π].
#[inline(always)]
pub fn angle<S: Scalar>(x: &[Vec3<S>; 4]) -> S {
    let [sine, cosine] = scaled_sine_cosine(x);
    sine.atan2(cosine)
}

/// ∂θ/∂xᵢ, in 1/m.
#[inline(always)]
pub fn angle_gradient<S: Scalar>(x: &[Vec3<S>; 4]) -> [Vec3<S>; 4] {
    let [e, normal_a, normal_b] = frame(x);
    let length_squared = e.norm_squared();
    let length = length_squared.sqrt();
    let inverse_squared = S::ONE / length_squared;
    // ‖∂θ/∂x‖ is 1/height of the apex over the edge, which has no limit on a collapsed triangle: such a flap, whose side is along the edge but for
    // the rounding, gets none.
    let resolution = S::from_f64(16.0 * S::EPSILON * S::EPSILON);
    let apex = inlined(
        #[inline(always)]
        |normal: Vec3<S>, side: Vec3<S>| {
            let (n2, along) = (normal.norm_squared(), side.dot(e));
            let sound = n2.greater(resolution * (along * along));
            let gradient = normal * S::select(sound, -length / n2, S::ZERO);
            (gradient, S::select(sound, along * inverse_squared, S::ZERO))
        },
    );
    let (at_c, foot_a) = apex(normal_a, x[2] - x[0]);
    let (at_d, foot_b) = apex(normal_b, x[3] - x[0]);
    let at_b = -(at_c * foot_a + at_d * foot_b);
    [-(at_c + at_d) - at_b, at_b, at_c, at_d]
}

/// a bᵀ + b aᵀ.
#[inline(always)]
fn twice_symmetric(a: Vec3<f64>, b: Vec3<f64>) -> Mat3 {
    let product = Mat3::outer(a, b);
    product + product.transposed()
}

/// One triangle of a hinge, as the second derivatives of the angle see it.
#[derive(Clone, Copy)]
struct Flap {
    /// u of the four vertices.
    weights: [f64; 4],
    normal: Vec3<f64>,
    /// p̂, from the edge to the apex.
    inward: Vec3<f64>,
    /// 1/h, in 1/m; zero for a collapsed flap, which has no derivatives.
    slope: f64,
}

/// v of the four vertices.
const ALONG: [f64; 4] = [-1.0, 1.0, 0.0, 0.0];

/// The two flaps, ê, and 1/ℓ in 1/m.
struct Geometry {
    flaps: [Flap; 2],
    direction: Vec3<f64>,
    inverse_length: f64,
}

impl Geometry {
    fn new(x: &[Vec3<f64>; 4]) -> Self {
        let [e, normal_a, normal_b] = frame(x);
        let length = e.norm();
        let direction = e.normalized_or_zero();
        let gradient = angle_gradient(x);
        let flap = |normal: Vec3<f64>, apex: usize| {
            let slope = gradient[apex].norm();
            let arm = x[apex] - x[0];
            let foot = if slope > 0.0 { arm.dot(direction) / length } else { 0.0 };
            let mut weights = [foot - 1.0, -foot, 0.0, 0.0];
            weights[apex] = 1.0;
            let normal = normal.normalized_or_zero();
            let side = normal.cross(direction);
            Flap { weights, normal, inward: if apex == 2 { side } else { -side }, slope }
        };
        let inverse_length = if length > 0.0 { 1.0 / length } else { 0.0 };
        Self { flaps: [flap(normal_a, 2), flap(normal_b, 3)], direction, inverse_length }
    }

    fn block(&self, i: usize, j: usize) -> Mat3 {
        let mut block = Mat3::ZERO;
        for flap in self.flaps.iter().filter(|flap| flap.slope > 0.0) {
            let (u, v) = (&flap.weights, &ALONG);
            let (a, b) = (flap.slope, self.inverse_length);
            block += twice_symmetric(flap.normal, flap.inward) * (u[i] * u[j] * (a * a) + v[i] * v[j] * (0.5 * b * b));
            let product = Mat3::outer(self.direction, flap.normal);
            block += product * (u[i] * v[j] * (a * b)) + product.transposed() * (v[i] * u[j] * (a * b));
        }
        block
    }

    /// Vectors of all four vertices in whose span the gradient and the Hessian of every function of θ lie.
    fn basis(&self) -> [[Vec3<f64>; 4]; 8] {
        let [a, b] = &self.flaps;
        let spread = |weights: &[f64; 4], direction: Vec3<f64>| weights.map(|w| direction * w);
        let across = if a.slope > 0.0 { a.normal } else { b.normal };
        [
            spread(&ALONG, across),
            spread(&ALONG, self.direction.cross(across)),
            spread(&a.weights, a.normal),
            spread(&a.weights, a.inward),
            spread(&a.weights, self.direction),
            spread(&b.weights, b.normal),
            spread(&b.weights, b.inward),
            spread(&b.weights, self.direction),
        ]
    }
}

/// ∂²θ/∂xᵢ∂xⱼ, in 1/m².
pub fn angle_hessian(x: &[Vec3<f64>; 4]) -> Blocks<4> {
    let geometry = Geometry::new(x);
    let mut blocks = [[Mat3::ZERO; 4]; 4];
    for i in 0..4 {
        for j in 0..=i {
            // The two terms v v have antisymmetric parts that cancel, up to rounding.
            blocks[i][j] = geometry.block(i, j);
            blocks[j][i] = blocks[i][j].transposed();
        }
    }
    blocks
}

/// A potential of the angle alone at one state of a hinge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfAngle {
    /// dψ/dθ, in N·m.
    pub(crate) moment: f64,
    /// d²ψ/dθ², in N·m.
    pub(crate) stiffness: f64,
}

impl OfAngle {
    /// ∂²ψ/∂xᵢ∂xⱼ, in N/m.
    pub(crate) fn hessian(self, x: &[Vec3<f64>; 4]) -> Blocks<4> {
        let mut blocks = angle_hessian(x);
        let gradient = angle_gradient(x);
        for i in 0..4 {
            for j in 0..=i {
                let square = Mat3::outer(gradient[i], gradient[j]) * self.stiffness;
                blocks[i][j] = blocks[i][j] * self.moment + square;
                blocks[j][i] = blocks[i][j].transposed();
            }
        }
        blocks
    }

    /// ∂²ψ/∂xᵢ², in N/m.
    pub(crate) fn block(self, x: &[Vec3<f64>; 4], vertex: usize) -> Mat3 {
        let gradient = angle_gradient(x)[vertex];
        Geometry::new(x).block(vertex, vertex) * self.moment + Mat3::outer(gradient, gradient) * self.stiffness
    }

    /// The Hessian with its negative eigenvalues set to zero.
    pub(crate) fn clamped(self, x: &[Vec3<f64>; 4]) -> Blocks<4> {
        let blocks = self.hessian(x);
        if self.moment == 0.0 && self.stiffness >= 0.0 {
            return blocks;
        }
        derivative::clamp_within(&blocks, Geometry::new(x).basis())
    }
}

/// θ − θ₀, the short way round.
#[inline(always)]
fn bend<S: Scalar>(theta: S, rest: S) -> S {
    let pi = S::from_f64(std::f64::consts::PI);
    let turn = S::from_f64(std::f64::consts::TAU);
    let difference = theta - rest;
    let lowered = S::select(difference.greater(pi), difference - turn, difference);
    S::select((-pi).greater(difference), difference + turn, lowered)
}

impl Energy<4> for Dihedral {
    const NAME: &'static str = "dihedral";
    type Rest<S: Scalar> = Rest<S>;
    type Row<S: Scalar> = Row<S, 4>;

    fn cast<S: Scalar>(rest: &[Rest<f64>]) -> Rest<S> {
        Rest { angle: S::gather(rest, |r| r.angle), compliance: S::gather(rest, |r| r.compliance) }
    }

    #[inline(always)]
    fn value<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> S {
        let c = bend(angle(x), rest.angle);
        energy_of(c * c, rest.compliance)
    }

    #[inline(always)]
    fn gradient<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> [Vec3<S>; 4] {
        let row = Self::row(rest, x);
        each(
            row.gradient,
            #[inline(always)]
            |g| g * force_of(row.value, rest.compliance),
        )
    }

    #[inline(always)]
    fn row<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 4]) -> Row<S, 4> {
        Row { value: bend(angle(x), rest.angle), gradient: angle_gradient(x), compliance: rest.compliance }
    }

    fn hessian(rest: &Rest<f64>, x: &[Vec3<f64>; 4]) -> Blocks<4> {
        of_angle(rest, x).hessian(x)
    }

    fn block(rest: &Rest<f64>, x: &[Vec3<f64>; 4], vertex: usize) -> Mat3 {
        of_angle(rest, x).block(x, vertex)
    }

    fn clamped(rest: &Rest<f64>, x: &[Vec3<f64>; 4]) -> Blocks<4> {
        of_angle(rest, x).clamped(x)
    }
}

fn of_angle(rest: &Rest<f64>, x: &[Vec3<f64>; 4]) -> OfAngle {
    let moment = force_of(bend(angle(x), rest.angle), rest.compliance);
    OfAngle { moment, stiffness: force_of(1.0, rest.compliance) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance;

    /// A hinge of unit triangles folded by `theta` about the x axis.
    fn folded(theta: f64) -> [Vec3<f64>; 4] {
        let (s, c) = (libm::sin(theta), libm::cos(theta));
        [Vec3::new(0.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.5, 0.0, -1.0), Vec3::new(0.5, -s, c)]
    }

    #[test]
    fn conforms() {
        for angle in [0.0, -0.7, 2.5] {
            conformance::check::<Dihedral, 4>(&Rest { angle, compliance: 0.01 }, &conformance::random_stencils());
        }
    }

    /// Set to zero in eight dimensions is set to zero in all twelve.
    #[test]
    fn the_clamped_hessian_is_the_nearest_one() {
        let rest = Rest { angle: 0.4, compliance: 0.01 };
        for x in conformance::random_stencils() {
            let (got, expected) = (Dihedral::clamped(&rest, &x), derivative::clamp(&Dihedral::hessian(&rest, &x)));
            let largest =
                |b: &Blocks<4>| b.iter().flatten().flat_map(|b| b.0).flatten().map(f64::abs).fold(0.0, f64::max);
            let difference = std::array::from_fn(|i| std::array::from_fn(|j| got[i][j] - expected[i][j]));
            let (error, scale) = (largest(&difference), largest(&expected));
            assert!(error <= 1e-11 * scale, "off by {error} of {scale} at {x:?}");
        }
    }

    #[test]
    fn the_angle_is_signed_and_reaches_both_ends() {
        for theta in [0.0, 1e-8, -1e-8, 0.5, -0.5, 3.0, -3.0, std::f64::consts::PI - 1e-9] {
            assert!((angle(&folded(theta)) - theta).abs() < 1e-14, "{theta}: {}", angle(&folded(theta)));
        }
    }

    #[test]
    fn gradients_are_finite_when_flat_and_when_folded_over() {
        for theta in [0.0, std::f64::consts::PI, -std::f64::consts::PI] {
            let g = angle_gradient(&folded(theta));
            assert!(g.iter().all(|g| g.is_finite() && g.norm() < 3.0), "{theta}: {g:?}");
        }
    }

    #[test]
    fn a_fold_past_half_a_turn_goes_on_the_short_way() {
        let rest = Rest { angle: 3.0, compliance: 1.0 };
        let row = Dihedral::row(&rest, &folded(-3.0));
        assert!((row.value - (2.0 * std::f64::consts::PI - 6.0)).abs() < 1e-14, "{}", row.value);
    }
}
