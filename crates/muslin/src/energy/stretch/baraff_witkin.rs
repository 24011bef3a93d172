//! The conditions of Baraff and Witkin: stretch along warp and weft, and shear between them.
//!
//! ```text
//! C_u = ‖f_u‖ − 1,   C_v = ‖f_v‖ − 1,   C_s = f_u·f_v        F = [f_u, f_v]: see the module `membrane`
//! ψ = ½ A ( k_u C_u² + k_v C_v² + k_s C_s² )                 A rest area [m²], k_u, k_v, k_s [N/m]
//! ```
//!
//! The paper multiplies each C by the area, which makes ψ grow with A²: the sheet gets four times softer with every
//! refinement. Here the factor is √A, so `k_u` and `k_v` are Young's modulus × thickness along warp and weft, and `k_s` is the shear
//! modulus G × thickness, on every mesh. There is no Poisson effect: a strip does not narrow. `k_s` = Y/2 makes a sheet of
//! `k_u` = `k_v` = Y isotropic at small strains, and is the default.
//!
//! Warp is along û, weft along v̂ across it. û is the direction in which the mesh's texture coordinate u grows along the
//! rest triangle (of texture coordinates only this direction counts; lengths are those of the rest shape). A mesh without
//! texture coordinates, or a triangle whose coordinates have no area, has û along the x axis of the mesh, projected into the
//! triangle; along the y axis where x is within 6° of the triangle's normal. So on a grid warp is along x, weft along z.
//!
//! The three conditions of a triangle are three elements. Position-based solvers then project each with its own
//! compliance α = 1/(kA), and internal damping acts on each, as the paper has it. For the Hessian, stretch is a spring of rest length
//! 1 over f. Shear is, over `(f_u, f_v) = (a, b)` with k = A `k_s`,
//!
//! ```text
//! H = k (g gᵀ + C_s K),   g = (b, a),   K = [0 I; I 0]
//! ```
//!
//! K is +1 on vectors (w, w) and −1 on (w, −w): of the six eigenvalues two are `k C_s`, two `−k C_s`, and two those of a 2 × 2 matrix, in
//! the plane of the two parts of g. `clamped` drops the negative ones, of each condition by itself.
//!
//! Use it for woven cloth with different warp, weft and shear.
//!
//! [Baraff, Witkin 1998, §4.2 and §4.3], [Kim 2020, "A Finite Element Formulation of Baraff-Witkin Cloth"].

use crate::energy::stiffness::{DAMPING, modulus, physical};
use crate::energy::stretch::membrane::{
    Symmetric, Tangent, at_corners, corner_weight, deformation, rest_weights, spread, spread_at,
};
use crate::energy::stretch::spring;
use crate::energy::stretch::spring::Spring;
use crate::energy::{Batch, Blocks, Corner, Energy, EnergyKind, Forms, Row, Sink, Site, energy_of, force_of};
use crate::math::{Mat3, Scalar, Sym3, Vec3, each};
use crate::parameter::{Entry, Settings};
use crate::settings::typed;

/// Three conditions per triangle.
///
/// ```
/// use muslin::energy::stretch::baraff_witkin::BaraffWitkin;
/// use muslin::{Cloth, Simulation};
///
/// let model = BaraffWitkin { warp: Some(2000.0), ..Default::default() };
/// let simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4]).stretch(model)).build()?;
/// assert!(simulation.terms().iter().any(|term| term.name() == "baraff_witkin"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaraffWitkin {
    /// In-plane stiffness Y, in N/m; `None` = as the fabric, or 1000.
    pub stiffness: Option<f64>,
    /// Stiffness along warp, in N/m; `None` = `stiffness`.
    pub warp: Option<f64>,
    /// Stiffness along weft, in N/m; `None` = `stiffness`.
    pub weft: Option<f64>,
    /// Shear stiffness, in N/m; `None` = half of `stiffness`.
    pub shear: Option<f64>,
    /// Time constant of internal damping, in s.
    pub damping: f64,
}

/// The scene's `baraff_witkin`.
pub const KIND: EnergyKind = EnergyKind {
    entry: Entry {
        name: BaraffWitkin::NAME,
        summary: "stretch along warp and weft and shear between them, per triangle; for woven cloth",
        source: "Baraff, Witkin 1998, Large Steps in Cloth Simulation; scaled by √area so that it converges",
        parameters: &[
            physical("N/m", 1000.0, "in-plane stiffness Y along warp and weft: Young's modulus × thickness"),
            modulus("warp", "stiffness along warp (texture u; x on a grid); default: stiffness"),
            modulus("weft", "stiffness along weft, across warp; default: stiffness"),
            modulus("shear", "shear stiffness G: force per width over shear angle; default: half of stiffness"),
            DAMPING,
        ],
        one_of: &[],
    },
    flat_only: false,
    forms: Forms::USUAL,
};

typed!(BaraffWitkin: StretchSettings, KIND, { stiffness, warp, weft, shear, damping });

/// Rest data of one condition.
///
/// ```
/// use muslin::energy::Energy;
/// use muslin::energy::stretch::baraff_witkin::{BaraffWitkin, Rest};
/// use muslin::energy::stretch::membrane::rest_weights;
/// use muslin::math::Vec3;
///
/// let x = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]].map(Vec3::from);
/// let weights = rest_weights(&x, Vec3::new(1.0, 0.0, 0.0));
/// let rest = Rest { weights, shear: 1.0, compliance: 0.01 };
/// assert!(BaraffWitkin::value(&rest, &x).abs() < 1e-20);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rest<S> {
    /// D of the triangle, in 1/m; for stretch, its column of the other direction is not read.
    pub weights: [[S; 2]; 2],
    /// 1 for shear, 0 for stretch, which is that of `f_u`.
    pub shear: S,
    /// α = 1/(kA), in 1/J.
    pub compliance: S,
}

/// The stiffness of a sheet, in N/m.
#[derive(Clone, Copy, Debug)]
struct Weave {
    warp: f64,
    weft: f64,
    shear: f64,
}

impl Weave {
    fn read(settings: &Settings) -> Option<Self> {
        let stiffness = settings.number("stiffness")?;
        let or = |name, default| settings.number(name).unwrap_or(default);
        Some(Self { warp: or("warp", stiffness), weft: or("weft", stiffness), shear: or("shear", 0.5 * stiffness) })
    }
}

pub(crate) fn assemble(settings: &Settings, site: &Site<'_>, sink: &mut impl Sink) {
    let Some(weave) = Weave::read(settings) else { return };
    let elements = elements(site, weave);
    sink.add(Batch::<BaraffWitkin, 3>::new(site, settings, elements));
}

/// The conditions of all triangles; one without stiffness is none.
fn elements(site: &Site<'_>, weave: Weave) -> Vec<([u32; 3], Rest<f64>)> {
    let of_triangle = |(t, &vertices): (usize, &[u32; 3])| {
        let weights = rest_weights(&site.mesh.triangle(t), warp(site, t));
        conditions(weights, site.mesh.area(t), weave).map(|rest| rest.map(|rest| (site.stencil(vertices), rest)))
    };
    site.mesh.triangles.iter().enumerate().flat_map(of_triangle).flatten().collect()
}

/// The conditions of a triangle of weights D.
fn conditions(weights: [[f64; 2]; 2], area: f64, weave: Weave) -> [Option<Rest<f64>>; 3] {
    let swapped = weights.map(|[u, v]| [v, u]);
    [(weights, 0.0, weave.warp), (swapped, 0.0, weave.weft), (weights, 1.0, weave.shear)].map(
        |(weights, shear, stiffness)| {
            (stiffness > 0.0).then(|| Rest { weights, shear, compliance: 1.0 / (stiffness * area) })
        },
    )
}

/// The direction of warp in a rest triangle, up to a part along the normal and its length.
fn warp(site: &Site<'_>, triangle: usize) -> Vec3<f64> {
    let [x0, x1, x2] = site.mesh.triangle(triangle);
    let (a, b) = (x1 - x0, x2 - x0);
    let from_texture = site.mesh.uv.as_ref().and_then(|uv| {
        let [p, q, r] = uv.triangles[triangle].map(|corner| uv.coordinates[corner as usize]);
        let (dq, dr) = ([q[0] - p[0], q[1] - p[1]], [r[0] - p[0], r[1] - p[1]]);
        let determinant = dq[0] * dr[1] - dr[0] * dq[1];
        let scale = (dq[0] * dq[0] + dq[1] * dq[1]).max(dr[0] * dr[0] + dr[1] * dr[1]);
        // ∂X/∂u from X₁ − X₀ = ∂X/∂u Δu + ∂X/∂v Δv and the same for X₂, up to a positive factor.
        (determinant.abs() > 1e-9 * scale).then(|| (a * dr[1] - b * dq[1]) * determinant.signum())
    });
    from_texture.unwrap_or_else(|| {
        let x = Vec3::new(1.0, 0.0, 0.0);
        let is_across = a.cross(b).normalized_or_zero().dot(x).abs() > 0.995;
        if is_across { Vec3::new(0.0, 1.0, 0.0) } else { x }
    })
}

/// The stretch of `f_u` as a spring of rest length 1 from the origin.
fn as_spring(rest: &Rest<f64>, u: Vec3<f64>) -> (spring::Rest<f64>, [Vec3<f64>; 2]) {
    (spring::Rest { length: 1.0, compliance: rest.compliance }, [Vec3::ZERO, u])
}

/// A Hessian over `f_u` alone.
fn along_u(block: Mat3) -> Tangent {
    [[block, Mat3::ZERO], [Mat3::ZERO, Mat3::ZERO]]
}

/// The exact Hessian of a condition over F.
fn tangent(rest: &Rest<f64>, [u, v]: [Vec3<f64>; 2]) -> Tangent {
    if rest.shear == 0.0 {
        let (spring, x) = as_spring(rest, u);
        return along_u(Spring::block(&spring, &x, 1));
    }
    let k = force_of(1.0, rest.compliance);
    let mixed = Mat3::outer(v, u * k) + Mat3::scalar(k * u.dot(v));
    [[Mat3::outer(v, v * k), mixed], [mixed.transposed(), Mat3::outer(u, u * k)]]
}

/// The same without its negative eigenvalues.
fn clamped_tangent(rest: &Rest<f64>, [u, v]: [Vec3<f64>; 2]) -> Tangent {
    if rest.shear == 0.0 {
        let (spring, x) = as_spring(rest, u);
        return along_u(Spring::clamped(&spring, &x)[1][1]);
    }
    let k = force_of(1.0, rest.compliance);
    let (c, half) = (u.dot(v), 0.5_f64.sqrt());
    // g in the halves of K: vectors (w, w)/√2 and (w, −w)/√2.
    let (plus, minus) = ((v + u) * half, (v - u) * half);
    let (p, m) = (plus.normalized_or_zero(), minus.normalized_or_zero());
    let mixed = Symmetric { uu: plus.norm_squared() + c, vv: minus.norm_squared() - c, uv: plus.norm() * minus.norm() };
    let mixed = mixed.clamped();
    let side = |across: f64, along: f64, n: Vec3<f64>| {
        (Mat3::scalar(across) + Mat3::outer(n, n) * (along - across)) * (0.5 * k)
    };
    let (pp, mm) = (side(c.max(0.0), mixed.uu, p), side((-c).max(0.0), mixed.vv, m));
    let pm = Mat3::outer(p, m) * (0.5 * k * mixed.uv);
    let mp = pm.transposed();
    let uv = pp - mm - pm + mp;
    [[pp + mm + pm + mp, uv], [uv.transposed(), pp + mm - pm - mp]]
}

impl Energy<3> for BaraffWitkin {
    const NAME: &'static str = "baraff_witkin";
    type Rest<S: Scalar> = Rest<S>;
    type Row<S: Scalar> = Row<S, 3>;

    fn cast<S: Scalar>(rest: &[Rest<f64>]) -> Rest<S> {
        let weight = |edge: usize, axis: usize| S::gather(rest, |r| r.weights[edge][axis]);
        Rest {
            weights: [[weight(0, 0), weight(0, 1)], [weight(1, 0), weight(1, 1)]],
            shear: S::gather(rest, |r| r.shear),
            compliance: S::gather(rest, |r| r.compliance),
        }
    }

    #[inline(always)]
    fn value<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 3]) -> S {
        let c = Self::row(rest, x).value;
        energy_of(c * c, rest.compliance)
    }

    #[inline(always)]
    fn gradient<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 3]) -> [Vec3<S>; 3] {
        let row = Self::row(rest, x);
        each(
            row.gradient,
            #[inline(always)]
            |g| g * force_of(row.value, rest.compliance),
        )
    }

    #[inline(always)]
    fn row<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 3]) -> Row<S, 3> {
        let [u, v] = deformation(&rest.weights, x);
        let is_shear = rest.shear.greater(S::ZERO);
        let length = u.norm();
        let direction = u * S::select(length.greater(S::ZERO), S::ONE / length, S::ZERO);
        let value = S::select(is_shear, u.dot(v), length - S::ONE);
        let p = [Vec3::select(is_shear, v, direction), Vec3::select(is_shear, u, Vec3::ZERO)];
        Row { value, gradient: at_corners(&rest.weights, p), compliance: rest.compliance }
    }

    /// Of stretch, a spring over `w_u f_u`; of shear, the square, and what the condition turns by where that resists.
    #[inline(always)]
    fn corner<S: Scalar>(rest: &Rest<S>, x: &[Vec3<S>; 3], vertex: usize) -> Corner<S> {
        let [u, v] = deformation(&rest.weights, x);
        let w = corner_weight(&rest.weights, vertex);
        let k = force_of(S::ONE, rest.compliance);
        let length = u.norm();
        let direction = u * S::select(length.greater(S::ZERO), S::ONE / length, S::ZERO);
        let stretch = spring::corner(direction, length, length - S::ONE, k, 1);
        let (c, g) = (k * u.dot(v), v * w[0] + u * w[1]);
        let turn = (w[0] + w[0]) * w[1] * c;
        let mut shear = Sym3::outer(g, k);
        shear += Sym3::scalar(S::select(turn.greater(S::ZERO), turn, S::ZERO));
        let is_shear = rest.shear.greater(S::ZERO);
        Corner {
            gradient: Vec3::select(is_shear, g * c, stretch.gradient * w[0]),
            block: Sym3::select(is_shear, shear, stretch.block * (w[0] * w[0])),
        }
    }

    fn hessian(rest: &Rest<f64>, x: &[Vec3<f64>; 3]) -> Blocks<3> {
        spread(&rest.weights, &tangent(rest, deformation(&rest.weights, x)))
    }

    fn block(rest: &Rest<f64>, x: &[Vec3<f64>; 3], vertex: usize) -> Mat3 {
        spread_at(&rest.weights, &tangent(rest, deformation(&rest.weights, x)), vertex)
    }

    fn clamped(rest: &Rest<f64>, x: &[Vec3<f64>; 3]) -> Blocks<3> {
        spread(&rest.weights, &clamped_tangent(rest, deformation(&rest.weights, x)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::stretch::membrane::tests::{SIDE, TENSE, distorted, patch};
    use crate::energy::{conformance, derivative};
    use crate::mesh::{Diagonals, Mesh, Uv};
    use crate::topology::Topology;

    const WEAVE: Weave = Weave { warp: 300.0, weft: 170.0, shear: 40.0 };

    fn of_side() -> [Rest<f64>; 3] {
        let x = SIDE.map(Vec3::from);
        conditions(rest_weights(&x, Vec3::new(0.9, 0.2, 0.0)), 0.433, WEAVE).map(Option::unwrap)
    }

    #[test]
    fn conforms() {
        for rest in of_side() {
            conformance::check::<BaraffWitkin, 3>(&rest, &conformance::random_stencils());
        }
    }

    /// Of shear only where it turns the right way.
    #[test]
    fn a_corner_under_tension_is_exact() {
        for rest in &of_side()[..2] {
            conformance::corners_are_exact::<BaraffWitkin, 3>(rest, &TENSE.map(Vec3::from));
        }
    }

    #[test]
    fn the_closed_clamp_is_that_of_jacobi() {
        for rest in of_side() {
            for x in conformance::random_stencils() {
                let f = deformation(&rest.weights, &x);
                let (got, exact) = (clamped_tangent(&rest, f), derivative::clamp(&tangent(&rest, f)));
                let size =
                    |t: &Tangent| t.iter().flatten().flat_map(|m| m.0).flatten().map(f64::abs).fold(0.0, f64::max);
                let scale = size(&exact);
                let difference: Tangent = std::array::from_fn(|i| std::array::from_fn(|j| got[i][j] - exact[i][j]));
                assert!(size(&difference) <= 1e-12 * scale, "{} of {scale} at {x:?}", size(&difference));
            }
        }
    }

    /// Warp carries `k_u` (a − 1) along x, weft `k_v` (b − 1), and shear G sin γ.
    #[test]
    fn a_patch_carries_warp_weft_and_shear() {
        let of = |site: &Site<'_>| elements(site, WEAVE);
        let (_, [[along, _], [_, across]]) = patch::<BaraffWitkin>(of, [1.1, 0.95, 0.0]);
        assert!((along - 30.0).abs() < 1e-9, "{along}");
        assert!((across + 8.5).abs() < 1e-9, "{across}");
        // f_u = (1, 0), f_v = (g, 1): the force along x on the side y = ½ is that of shear and the slant of weft.
        let g = 0.2_f64;
        let (_, [[_, got], _]) = patch::<BaraffWitkin>(of, [1.0, 1.0, g]);
        let exact = 40.0 * g + 170.0 * (1.0 - 1.0 / (1.0 + g * g).sqrt()) * g;
        assert!((got - exact).abs() < 1e-10 * exact, "{got} {exact}");
    }

    /// Y/2 is the shear of an isotropic sheet without Poisson effect: stretching along any direction costs the same.
    #[test]
    fn the_default_shear_is_isotropic() {
        let mut settings = Settings::default();
        settings.set("stiffness", crate::parameter::Setting::Number(200.0));
        let weave = Weave::read(&settings).unwrap();
        let x = SIDE.map(Vec3::from);
        let strain = 1e-6;
        for degrees in [0.0_f64, 20.0, 45.0, 70.0] {
            let (s, c) = (libm::sin(degrees.to_radians()), libm::cos(degrees.to_radians()));
            let axis = Vec3::new(c, s, 0.0);
            let stretched = x.map(|p| p + axis * (strain * axis.dot(p)));
            let rests = conditions(rest_weights(&x, Vec3::new(1.0, 0.0, 0.0)), 1.0, weave);
            let energy: f64 = rests.iter().flatten().map(|rest| BaraffWitkin::value(rest, &stretched)).sum();
            let exact = 0.5 * 200.0 * strain * strain;
            assert!((energy - exact).abs() < 1e-5 * exact, "{degrees}: {energy} {exact}");
        }
    }

    fn warp_of(mesh: &Mesh) -> Vec<Vec3<f64>> {
        let topology = Topology::build(mesh);
        let clamped = vec![false; mesh.vertex_count()];
        let vertex_count = mesh.vertex_count();
        let site = Site { mesh, topology: &topology, clamped: &clamped, first_vertex: 0, vertex_count };
        (0..mesh.triangle_count()).map(|t| warp(&site, t).normalized_or_zero()).collect()
    }

    #[test]
    fn warp_is_along_u_or_along_x() {
        let x = Vec3::new(1.0, 0.0, 0.0);
        let grid = Mesh::grid([2.0, 1.0], [3, 4], Diagonals::Alternating).unwrap();
        for along in warp_of(&grid).into_iter().chain(warp_of(&distorted())) {
            assert!((along - x).norm() < 1e-12, "{along:?}");
        }
        // Texture turned by a right angle and mirrored: u along −z.
        let turned = |[u, v]: [f64; 2]| [v, u];
        let uv = grid.uv.clone().unwrap();
        let coordinates = uv.coordinates.into_iter().map(turned).collect();
        let mesh = Mesh { uv: Some(Uv { coordinates, triangles: uv.triangles }), ..grid };
        for along in warp_of(&mesh) {
            assert!((along - Vec3::new(0.0, 0.0, -1.0)).norm() < 1e-12, "{along:?}");
        }
    }

    /// A triangle across the x axis, or without texture area, still has a warp.
    #[test]
    fn degenerate_frames_fall_back() {
        let mut mesh = distorted();
        mesh.positions.iter_mut().for_each(|p| *p = [0.0, p[0], p[1]]);
        mesh.uv = Some(Uv { coordinates: vec![[0.5, 0.5]], triangles: vec![[0; 3]; mesh.triangle_count()] });
        for along in warp_of(&mesh) {
            assert_eq!(along, Vec3::new(0.0, 1.0, 0.0));
        }
    }
}
