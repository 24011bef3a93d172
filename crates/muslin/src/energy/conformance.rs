//! The checks that every energy passes; a model's test module calls [`check`] and adds its own.

use crate::energy::{Blocks, Constraint, Energy, Multiplier, Treatment, derivative};
use crate::math::{Dual, F32x4, Mat3, Real, Scalar, Sym3, Vec3};
use crate::solver::Bundle;
use crate::solver::position_based::{pbd, xpbd};

/// Random numbers that repeat, with the vectors of this crate.
pub(crate) type Random = muslin_testing::Random<Vec3<f64>>;

/// Random elements of the size of one metre.
pub(crate) fn random_stencils<const N: usize>() -> Vec<[Vec3<f64>; N]> {
    let mut random = Random::new(7);
    (0..100).map(|_| std::array::from_fn(|_| random.vector())).collect()
}

/// Everything an energy must hold, at every sample.
pub(crate) fn check<E: Energy<N>, const N: usize>(rest: &E::Rest<f64>, samples: &[[Vec3<f64>; N]]) {
    collapsed_elements_stay_finite::<E, N>(rest);
    let mut random = Random::new(11);
    for x in samples {
        gradient_is_exact::<E, N>(rest, x);
        no_net_force_or_torque::<E, N>(rest, x);
        row_agrees::<E, N>(rest, x, &mut random);
        rigid_motion_changes_nothing::<E, N>(rest, x, &mut random);
        single_precision_agrees::<E, N>(rest, x);
        hessian_is_exact::<E, N>(rest, x);
        treated_hessians_are_not_negative::<E, N>(rest, x);
        corners_agree::<E, N>(rest, x);
        pull_agrees::<E, N>(rest, x);
    }
}

/// The largest number of blocks.
fn scale_of_blocks<const N: usize>(blocks: &Blocks<N>) -> f64 {
    blocks.iter().flatten().flat_map(|b| b.0).flatten().map(f64::abs).fold(0.0, f64::max)
}

/// Hessian and its blocks against dual numbers through the gradient, before any projection.
fn hessian_is_exact<E: Energy<N>, const N: usize>(rest: &E::Rest<f64>, x: &[Vec3<f64>; N]) {
    let (got, expected) = (E::hessian(rest, x), derivative::hessian::<E, N>(rest, x));
    let scale = scale_of_blocks(&expected);
    for i in 0..N {
        for j in 0..N {
            let error = scale_of_blocks(&[[got[i][j] - expected[i][j]]]);
            assert!(error <= 1e-11 * scale, "{}: block {i} {j} is off by {error} of {scale} at {x:?}", E::NAME);
            assert_eq!(got[i][j], got[j][i].transposed(), "{}: not symmetric at {x:?}", E::NAME);
        }
        let error = scale_of_blocks(&[[E::block(rest, x, i) - expected[i][i]]]);
        assert!(error <= 1e-11 * scale, "{}: block of vertex {i} is off by {error} of {scale}", E::NAME);
    }
}

/// What the solvers factorise has no negative eigenvalue, and moves of the whole cost nothing in it.
fn treated_hessians_are_not_negative<E: Energy<N>, const N: usize>(rest: &E::Rest<f64>, x: &[Vec3<f64>; N]) {
    for treatment in [Treatment::Clamp, Treatment::Drop, Treatment::ChoiKo] {
        let blocks = treatment.stiffness::<E, N>(rest, x);
        let scale = scale_of_blocks(&blocks);
        assert!(not_negative(&blocks, 1e-11 * scale), "{}: {treatment:?} left less than 0 at {x:?}", E::NAME);
        for row in &blocks {
            let sum = row.iter().fold(Mat3::ZERO, |sum, block| sum + *block);
            let error = scale_of_blocks(&[[sum]]);
            assert!(error <= 1e-10 * scale, "{}: {treatment:?} resists a shift by {error}", E::NAME);
        }
    }
}

/// The corner of a vertex has its gradient, and a block without negative eigenvalues.
fn corners_agree<E: Energy<N>, const N: usize>(rest: &E::Rest<f64>, x: &[Vec3<f64>; N]) {
    let gradient = E::gradient(rest, x);
    for (i, expected) in gradient.into_iter().enumerate() {
        let corner = E::corner(rest, x, i);
        let error = (corner.gradient - expected).norm();
        // Stresses may be computed in another way: both have the rounding of ln and of large parts.
        assert!(error <= 1e-10 * scale_of(&gradient), "{}: {error} at corner {i} of {x:?}", E::NAME);
        let block = dense(&corner.block);
        let scale = scale_of_blocks(&[[block]]);
        assert!(not_negative(&[[block]], 1e-12 * scale), "{}: less than 0 at corner {i} of {x:?}", E::NAME);
    }
}

/// For models that say so: at an element under tension nothing of a corner's block is left out.
pub(crate) fn corners_are_exact<E: Energy<N>, const N: usize>(rest: &E::Rest<f64>, x: &[Vec3<f64>; N]) {
    for i in 0..N {
        let (got, exact) = (dense(&E::corner(rest, x, i).block), E::block(rest, x, i));
        let (error, scale) = (scale_of_blocks(&[[got - exact]]), scale_of_blocks(&[[exact]]));
        assert!(error <= 1e-10 * scale, "{}: {error} of {scale} is missing at corner {i} of {x:?}", E::NAME);
    }
}

/// The same matrix in full.
fn dense(block: &Sym3<f64>) -> Mat3 {
    let (d, a) = (block.diagonal, block.across);
    Mat3([[d.x, a.z, a.y], [a.z, d.y, a.x], [a.y, a.x, d.z]])
}

/// Whether no eigenvalue is below −`tolerance`: whether what is more by that has a Cholesky factor.
fn not_negative<const N: usize>(blocks: &Blocks<N>, tolerance: f64) -> bool {
    if tolerance == 0.0 {
        // Nothing but zeros.
        return true;
    }
    let mut left: Vec<Vec<f64>> =
        (0..3 * N).map(|i| (0..3 * N).map(|j| blocks[i / 3][j / 3].0[i % 3][j % 3]).collect()).collect();
    (0..3 * N).for_each(|i| left[i][i] += tolerance);
    for k in 0..3 * N {
        let row = left[k].clone();
        if row[k].is_nan() || row[k] <= 0.0 {
            return false;
        }
        for i in k + 1..3 * N {
            for j in k + 1..3 * N {
                left[i][j] -= row[i] * row[j] / row[k];
            }
        }
    }
    true
}

/// The force of ½ s ‖Σ kx − p‖², p held, is that of ψ, and ψ is not below it: a step that lowers it lowers ψ.
///
/// The force determines p; where p is a projection, that makes the two energies equal.
fn pull_agrees<E: Energy<N>, const N: usize>(rest: &E::Rest<f64>, x: &[Vec3<f64>; N]) {
    let Some(pull) = E::pull(rest) else { return };
    let sum = x.iter().zip(pull.weights).fold(Vec3::ZERO, |sum, (x, k)| sum + *x * k);
    let away = sum - E::target(rest, sum);
    let psi = 0.5 * pull.stiffness * away.norm_squared();
    let value = E::value(rest, x);
    assert!(psi <= value + 1e-11 * value.max(1e-12), "{}: {psi} but ψ = {value} at {x:?}", E::NAME);
    let gradient = E::gradient(rest, x);
    // A force near zero is a difference of lengths that are not: it has their rounding.
    let allowed = 1e-11 * scale_of(&gradient) + 1e-14 * pull.stiffness * sum.norm();
    for (i, (k, g)) in pull.weights.into_iter().zip(gradient).enumerate() {
        let error = (away * (pull.stiffness * k) - g).norm();
        assert!(error <= allowed, "{}: the pull on vertex {i} is off by {error} at {x:?}", E::NAME);
    }
}

fn scale_of<const N: usize>(gradient: &[Vec3<f64>; N]) -> f64 {
    gradient.iter().map(|g| g.norm()).fold(1e-300, f64::max)
}

fn collapsed_elements_stay_finite<E: Energy<N>, const N: usize>(rest: &E::Rest<f64>) {
    let line: [Vec3<f64>; N] = std::array::from_fn(|i| Vec3::new(i as f64, 2.0 * i as f64, 0.0));
    let mut pair = line;
    pair[1] = pair[0];
    for x in [[Vec3::splat(1.0); N], line, pair, line.map(|p| p * 1e-30)] {
        let finite = E::value(rest, &x).is_finite() && E::gradient(rest, &x).iter().all(|g| g.is_finite());
        assert!(finite, "{}: not finite at the collapsed element {x:?}", E::NAME);
        projections_stay_finite::<E, f64, f64, N>(rest, &x, |x| x);
        projections_stay_finite::<E, f32, f32, N>(rest, &x, Vec3::cast);
        projections_stay_finite::<E, f32, F32x4, N>(rest, &x, |x| {
            let lanes = |x: f64| F32x4::new([x as f32; 4]);
            Vec3::new(lanes(x.x), lanes(x.y), lanes(x.z))
        });
    }
}

/// Both solvers make finite moves of an element, whatever its shape.
fn projections_stay_finite<E: Energy<N>, R: Real, S: Bundle<R>, const N: usize>(
    rest: &E::Rest<f64>,
    x: &[Vec3<f64>; N],
    cast: impl Fn(Vec3<f64>) -> Vec3<S>,
) {
    let row = E::row(&E::cast::<S>(&vec![*rest; S::LANES]), &x.map(cast));
    let w = [S::ONE; N];
    let step = xpbd::Compliant { inverse_step_squared: 1e6, damping: 0.5 };
    let compliant = xpbd::multiplier_step(&row, &w, None, step, || [Vec3::splat(S::ONE); N]);
    let rigid = pbd::correction(&row, &w, |_| S::ONE);
    for (solver, change) in [("xpbd", compliant), ("pbd", rigid)] {
        for i in 0..N {
            let pull = row.pull(i, change);
            for number in [pull.x, pull.y, pull.z] {
                number.store_number(|_, n| assert!(n.to_f64().is_finite(), "{}: {solver} at {x:?}", E::NAME));
            }
        }
    }
}

fn gradient_is_exact<E: Energy<N>, const N: usize>(rest: &E::Rest<f64>, x: &[Vec3<f64>; N]) {
    let gradient = E::gradient(rest, x);
    let scale = scale_of(&gradient);
    let dual_rest = E::cast::<Dual<f64>>(std::slice::from_ref(rest));
    for i in 0..N {
        for axis in 0..3 {
            let seeded: [Vec3<Dual<f64>>; N] = std::array::from_fn(|j| {
                let mut p = x[j].to_array().map(Dual::constant);
                if j == i {
                    p[axis] = Dual::variable(p[axis].value);
                }
                p.into()
            });
            let expected = E::value(&dual_rest, &seeded).derivative;
            let got = gradient[i].to_array()[axis];
            assert!(
                (got - expected).abs() <= 1e-11 * scale,
                "{}: ∂ψ/∂x[{i}][{axis}] is {got}, dual numbers say {expected} at {x:?}",
                E::NAME
            );
        }
    }
}

fn no_net_force_or_torque<E: Energy<N>, const N: usize>(rest: &E::Rest<f64>, x: &[Vec3<f64>; N]) {
    let gradient = E::gradient(rest, x);
    let scale = scale_of(&gradient);
    let mut force = Vec3::ZERO;
    let mut torque = Vec3::ZERO;
    for (x, g) in x.iter().zip(gradient) {
        force += g;
        torque += x.cross(g);
    }
    assert!(force.norm() <= 1e-12 * scale, "{}: net force {force:?} at {x:?}", E::NAME);
    assert!(torque.norm() <= 1e-12 * scale, "{}: net torque {torque:?} at {x:?}", E::NAME);
}

/// The numbers that a multiplier is made of.
fn parts<S: Scalar, M: Multiplier<S>>(multiplier: M) -> Vec<S> {
    let mut parts = vec![S::ZERO; M::PARTS];
    multiplier.store(|part, value| parts[part] = value);
    parts
}

fn row_agrees<E: Energy<N>, const N: usize>(rest: &E::Rest<f64>, x: &[Vec3<f64>; N], random: &mut Random) {
    let row = E::row(rest, x);
    let psi = row.value().norm_squared() / (2.0 * row.compliance());
    let value = E::value(rest, x);
    assert!((psi - value).abs() <= 1e-13 * value, "{}: C²/2α = {psi}, but ψ = {value}", E::NAME);

    // ∇ψ = ∇C C/α.
    let gradient = E::gradient(rest, x);
    let scale = scale_of(&gradient);
    for i in 0..N {
        let from_row = row.pull(i, row.value() * (1.0 / row.compliance()));
        assert!((from_row - gradient[i]).norm() <= 1e-12 * scale, "{}: row gradient {i} at {x:?}", E::NAME);
    }

    // ∇C·d is the derivative of C along d.
    let d: [Vec3<f64>; N] = std::array::from_fn(|_| random.vector());
    let dual = |x: f64, d: f64| Dual { value: x, derivative: d };
    let seeded: [Vec3<Dual<f64>>; N] =
        std::array::from_fn(|i| Vec3::new(dual(x[i].x, d[i].x), dual(x[i].y, d[i].y), dual(x[i].z, d[i].z)));
    let exact = parts(E::row(&E::cast::<Dual<f64>>(std::slice::from_ref(rest)), &seeded).value());
    let along = parts::<f64, _>(row.along(&d));
    let unit = |part: usize| Multiplier::load(|p| if p == part { 1.0 } else { 0.0 });
    for part in 0..along.len() {
        let pulls: [Vec3<f64>; N] = std::array::from_fn(|i| row.pull(i, unit(part)));
        let error = (along[part] - exact[part].derivative).abs();
        assert!(error <= 1e-11 * scale_of(&pulls), "{}: ∇C·d is off by {error} at {x:?}", E::NAME);
    }
    resolving_takes_the_error_off::<E, N>(&row, random, x);
}

/// A full share of the inertia leaves nothing, to first order, of the part of an error that is answered last; of a number, or of
/// parts that do not interact, that is all of it.
fn resolving_takes_the_error_off<E: Energy<N>, const N: usize>(
    row: &E::Row<f64>,
    random: &mut Random,
    x: &[Vec3<f64>; N],
) {
    let w: [f64; N] = std::array::from_fn(|i| 0.5 + i as f64);
    let numbers: Vec<f64> = parts::<f64, _>(row.value()).iter().map(|_| random.signed()).collect();
    let error = Multiplier::load(|part| numbers[part]);
    let change = row.resolve(&w, error, 1.0, |inertia| if inertia > 0.0 { 1.0 / inertia } else { 0.0 });
    let moved: [Vec3<f64>; N] = std::array::from_fn(|i| row.pull(i, change) * w[i]);
    let left = parts::<f64, _>(row.along(&moved) + error);
    let last = left.len() - 1;
    let unit = Multiplier::load(|p| if p == last { 1.0 } else { 0.0 });
    // A part without a gradient cannot be answered.
    if (0..N).any(|i| row.pull(i, unit).norm() > 0.0) {
        let scale = numbers.iter().zip(parts::<f64, _>(change)).map(|(e, c)| e.abs().max(c.abs())).fold(1.0, f64::max);
        assert!(left[last].abs() <= 1e-11 * scale, "{}: {left:?} is left of {numbers:?} at {x:?}", E::NAME);
    }
}

fn rigid_motion_changes_nothing<E: Energy<N>, const N: usize>(
    rest: &E::Rest<f64>,
    x: &[Vec3<f64>; N],
    random: &mut Random,
) {
    let turn = Mat3::about(random.vector().normalized_or_zero(), 3.0 * random.signed());
    let shift = random.vector() * 10.0;
    let moved = x.map(|p| turn.apply(p) + shift);
    let (value, after) = (E::value(rest, x), E::value(rest, &moved));
    assert!((value - after).abs() <= 1e-11 * value.max(1e-3), "{}: ψ {value} became {after} at {x:?}", E::NAME);
    let gradient = E::gradient(rest, x);
    let scale = scale_of(&gradient);
    for (before, after) in gradient.into_iter().zip(E::gradient(rest, &moved)) {
        let error = (turn.apply(before) - after).norm();
        assert!(error <= 1e-10 * scale, "{}: a force did not turn with the element: {error} at {x:?}", E::NAME);
    }
}

fn single_precision_agrees<E: Energy<N>, const N: usize>(rest: &E::Rest<f64>, x: &[Vec3<f64>; N]) {
    let single = x.map(Vec3::cast::<f32>);
    // Compared at the rounded positions, so that only the arithmetic differs.
    let rounded = single.map(Vec3::cast::<f64>);
    let gradient = E::gradient(rest, &rounded);
    let scale = scale_of(&gradient);
    for (a, b) in gradient.into_iter().zip(E::gradient(&E::cast::<f32>(std::slice::from_ref(rest)), &single)) {
        let error = (a - b.cast()).norm();
        assert!(error <= 1e-3 * scale, "{}: f32 differs by {error} of {scale} at {x:?}", E::NAME);
    }
}
