//! Properties that every model must have, at random shapes.

use muslin::energy::bend::buckling::{self, Buckling};
use muslin::energy::bend::cubic_shell::{self, CubicShell};
use muslin::energy::bend::dihedral::{self, Dihedral};
use muslin::energy::bend::distance::Distance;
use muslin::energy::bend::hinge_force::{self, HingeForce};
use muslin::energy::bend::isometric::{self, Isometric, IsometricScalar, cotangent_weights};
use muslin::energy::bend::projective::{self, ProjectiveBend};
use muslin::energy::bend::shell::{self, CurvedShell, Shell};
use muslin::energy::stretch::baraff_witkin::{self, BaraffWitkin};
use muslin::energy::stretch::membrane::{self, Membrane, Moduli, rest_weights};
use muslin::energy::stretch::neo_hookean::NeoHookean;
use muslin::energy::stretch::spring::{self, SlackRest, SlackSpring, Spring};
use muslin::energy::stretch::stvk::Stvk;
use muslin::energy::{Blocks, Energy};
use muslin::math::{Dual, Mat3, Vec3};

use super::{distance, worse};
use crate::report::Section;
use crate::row::Row;
use crate::stage::Random;
use crate::{Scope, Try};

/// The worst errors of one model over all shapes, relative to its largest force or stiffness.
struct Worst {
    name: &'static str,
    net_force: f64,
    net_torque: f64,
    value_after_motion: f64,
    force_after_motion: f64,
    gradient: f64,
    hessian: f64,
    asymmetry: f64,
}

/// A hinge of two triangles, flat.
const FLAT: [[f64; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.1], [0.4, 0.0, -0.8], [0.6, 0.0, 0.9]];

/// The same, bent.
const BENT: [[f64; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.1], [0.4, 0.0, -0.8], [0.6, 0.5, 0.7]];

fn all() -> Vec<Worst> {
    let weights = cotangent_weights(&FLAT.map(Vec3::from));
    let corners = [FLAT[0], FLAT[2], FLAT[1]].map(Vec3::from);
    let triangle = membrane::Rest {
        weights: rest_weights(&corners, Vec3::new(1.0, 0.0, 0.0)),
        moduli: Moduli::plane_stress(1000.0, 0.3, 0.4),
    };
    vec![
        worst::<Spring, 2>(&spring::Rest { length: 1.0, compliance: 0.01 }),
        worst::<SlackSpring, 2>(&SlackRest::new(1.0, 0.01, 0.1, 0.5)),
        worst::<Membrane<Stvk>, 3>(&triangle),
        worst::<Membrane<NeoHookean>, 3>(&triangle),
        worst::<Distance, 2>(&spring::Rest { length: 0.8, compliance: 0.3 }),
        worst::<Dihedral, 4>(&dihedral::Rest { angle: -0.7, compliance: 0.01 }),
        worst::<Isometric, 4>(&isometric::Rest { weights, compliance: 0.1 }),
        worst::<HingeForce, 4>(&hinge_force::Rest::new(0.4, 0.01)),
        worst::<CubicShell, 4>(&cubic_shell::Rest::new(&BENT.map(Vec3::from), 0.1)),
        worst::<ProjectiveBend, 4>(&projective::Rest { weights, length: 0.3, compliance: 0.1 }),
        worst::<IsometricScalar, 4>(&isometric::ScalarRest { weights, scale: 3.0, compliance: 0.1 }),
        worst::<Shell, 8>(&shell_rest(0.0)),
        worst::<CurvedShell, 8>(&shell_rest(0.7)),
        worst::<BaraffWitkin, 3>(&baraff_witkin::Rest { weights: triangle.weights, shear: 0.0, compliance: 0.01 }),
        worst::<BaraffWitkin, 3>(&baraff_witkin::Rest { weights: triangle.weights, shear: 1.0, compliance: 0.01 }),
        // As long as the diagonal of the cube of random shapes: some buckle a little, some by half.
        worst::<Buckling, 2>(&buckling::Rest { length: 3.5, scale: 3.0 }),
    ]
}

/// Weights that add up to zero.
fn shell_rest<const N: usize>(curvature: f64) -> shell::Rest<f64, N> {
    let mut weights = std::array::from_fn(|i| 0.3 * i as f64 - 0.8 + 0.1 * (i * i % 5) as f64);
    weights[0] = -weights[1..].iter().sum::<f64>();
    shell::Rest { weights, curvature, compliance: 0.1 }
}

fn worst<E: Energy<N>, const N: usize>(rest: &E::Rest<f64>) -> Worst {
    let mut random = Random::new(7);
    let mut worst = Worst {
        name: E::NAME,
        net_force: 0.0,
        net_torque: 0.0,
        value_after_motion: 0.0,
        force_after_motion: 0.0,
        gradient: 0.0,
        hessian: 0.0,
        asymmetry: 0.0,
    };
    for _ in 0..100 {
        let x: [Vec3<f64>; N] = std::array::from_fn(|_| random.vector());
        let gradient = E::gradient(rest, &x);
        let scale = gradient.iter().map(|g| g.norm()).fold(1e-300, f64::max);
        let force = gradient.iter().fold(Vec3::ZERO, |sum, g| sum + *g);
        let torque = x.iter().zip(&gradient).fold(Vec3::ZERO, |sum, (x, g)| sum + x.cross(*g));
        worst.net_force = worse(worst.net_force, force.norm() / scale);
        worst.net_torque = worse(worst.net_torque, torque.norm() / scale);

        let turn = Mat3::about(random.vector().normalized_or_zero(), 3.0 * random.signed());
        let shift = random.vector() * 10.0;
        let moved = x.map(|p| turn.apply(p) + shift);
        let (before, after) = (E::value(rest, &x), E::value(rest, &moved));
        worst.value_after_motion = worse(worst.value_after_motion, (before - after).abs() / before.max(1e-3));
        let turned = gradient.map(|g| turn.apply(g));
        worst.force_after_motion = worse(worst.force_after_motion, distance(&E::gradient(rest, &moved), &turned));

        let (by_dual, columns) = duals::<E, N>(rest, &x);
        worst.gradient = worse(worst.gradient, distance(&gradient, &by_dual));
        let (hessian, asymmetry) = compare(&E::hessian(rest, &x), &columns);
        worst.hessian = worse(worst.hessian, hessian);
        worst.asymmetry = worse(worst.asymmetry, asymmetry);
    }
    worst
}

/// ∂ψ/∂x and ∂(∇ψ)/∂x by dual numbers: the column of each coordinate.
fn duals<E: Energy<N>, const N: usize>(
    rest: &E::Rest<f64>,
    x: &[Vec3<f64>; N],
) -> ([Vec3<f64>; N], Vec<[Vec3<f64>; N]>) {
    let rest = E::cast::<Dual<f64>>(std::slice::from_ref(rest));
    let mut gradient = [[0.0; 3]; N];
    let mut columns = Vec::new();
    for vertex in 0..N {
        for axis in 0..3 {
            let seeded: [Vec3<Dual<f64>>; N] = std::array::from_fn(|i| {
                let mut p = x[i].to_array().map(Dual::constant);
                if i == vertex {
                    p[axis] = Dual::variable(p[axis].value);
                }
                p.into()
            });
            gradient[vertex][axis] = E::value(&rest, &seeded).derivative;
            let column = E::gradient(&rest, &seeded);
            columns.push(column.map(|g| Vec3::new(g.x.derivative, g.y.derivative, g.z.derivative)));
        }
    }
    (gradient.map(Vec3::from), columns)
}

/// The largest difference of a Hessian and its columns, and of it and its transpose, relative to its largest number.
fn compare<const N: usize>(blocks: &Blocks<N>, columns: &[[Vec3<f64>; N]]) -> (f64, f64) {
    let number = |i: usize, j: usize| blocks[i / 3][j / 3].0[i % 3][j % 3];
    let pairs = || (0..3 * N).flat_map(|i| (0..3 * N).map(move |j| (i, j)));
    let scale = pairs().map(|(i, j)| number(i, j).abs()).fold(1e-300, f64::max);
    let difference = pairs().map(|(i, j)| (number(i, j) - columns[j][i / 3].to_array()[i % 3]).abs()).fold(0.0, worse);
    let asymmetry = pairs().map(|(i, j)| (number(i, j) - number(j, i)).abs()).fold(0.0, worse);
    (difference / scale, asymmetry / scale)
}

pub(super) fn net_force(_: Scope) -> Try<Section> {
    let mut section = Section::new(
        "Σ g and Σ x × g over the vertices of an element, at 100 random shapes, relative to the largest g.",
    );
    for w in all() {
        section.push(Row::bound(format!("`{}`: net force", w.name), w.net_force, 1e-12));
        section.push(Row::bound(format!("`{}`: net torque", w.name), w.net_torque, 1e-12));
    }
    Ok(section)
}

pub(super) fn rigid_motion(_: Scope) -> Try<Section> {
    let mut section =
        Section::new("100 random turns and shifts of ten times the element's size: E stays, forces turn along.");
    for w in all() {
        section.push(Row::bound(format!("`{}`: energy", w.name), w.value_after_motion, 1e-11));
        section.push(Row::bound(format!("`{}`: forces", w.name), w.force_after_motion, 1e-10));
    }
    Ok(section)
}

pub(super) fn forces(_: Scope) -> Try<Section> {
    let mut section =
        Section::new("Dual numbers through the energy, at 100 random shapes: exact, without a step size.");
    for w in all() {
        section.push(Row::bound(format!("`{}`", w.name), w.gradient, 1e-11));
    }
    Ok(section)
}

pub(super) fn hessians(_: Scope) -> Try<Section> {
    let mut section = Section::new("Dual numbers through the gradient, at 100 random shapes.");
    for w in all() {
        section.push(Row::bound(format!("`{}`: Hessian", w.name), w.hessian, 1e-11));
        section.push(Row::bound(format!("`{}`: symmetry", w.name), w.asymmetry, 1e-15));
    }
    Ok(section)
}
