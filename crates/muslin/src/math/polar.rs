//! The rotation nearest to a matrix: the first factor of its polar decomposition A = R S.
//!
//! ```text
//! A = Σ σₖ uₖ vₖᵀ,  σ₁ ≥ σ₂ ≥ σ₃ ≥ 0        R = u₁v₁ᵀ + u₂v₂ᵀ + (u₁ × u₂)(v₁ × v₂)ᵀ
//! ```
//!
//! R maximises trace(RᵀA) over the rotations, and is the nearest in the Frobenius norm: with u₃ and v₃ replaced by products
//! it has the determinant +1 whatever A has, and where A reflects it is the smallest σ that is given up. u₃ is never
//! divided by σ₃, so a flat cluster (σ₃ = 0) is no special case. Where R is not unique (σ₂ = 0; a reflection with σ₂ = σ₃) it is one
//! of the best; of the zero matrix it is the identity.
//!
//! The singular vectors come from Jacobi's one-sided rotations, which turn the columns of A until they are
//! orthogonal: small singular values keep their relative accuracy, and no start has to be guessed (iterations that start at the identity
//! stall at half turns).
//!
//! [Hestenes 1958], [Kabsch 1976; 1978 for the sign], [Müller et al. 2005, §3.3].

use crate::math::{Mat3, Vec3};

/// The rotation R that maximises trace(RᵀA); the identity for a matrix that is not finite.
pub fn polar_rotation(a: &Mat3) -> Mat3 {
    let scale = a.0.iter().flatten().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if !(scale > 0.0 && a.0.iter().flatten().all(|x| x.is_finite())) {
        return Mat3::IDENTITY;
    }
    let columns = a.transposed().0.map(|column| Vec3::from(column.map(|x| x / scale)));
    let (columns, v) = orthogonalized(columns);
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| columns[j].norm_squared().total_cmp(&columns[i].norm_squared()));
    let [first, second, _] = order;
    let u1 = columns[first].normalized_or_zero();
    let u2 = perpendicular(u1, columns[second], columns[first].norm(), v[second]);
    let (u3, v3) = (u1.cross(u2), v[first].cross(v[second]));
    Mat3::outer(u1, v[first]) + Mat3::outer(u2, v[second]) + Mat3::outer(u3, v3)
}

/// Turns the columns into each other until they are orthogonal; returns them and the columns of the turn.
fn orthogonalized(mut columns: [Vec3<f64>; 3]) -> ([Vec3<f64>; 3], [Vec3<f64>; 3]) {
    /// Convergence is quadratic: five sweeps suffice in practice, more never hurt.
    const SWEEPS: usize = 30;
    let mut turn = Mat3::IDENTITY.0.map(Vec3::from);
    for _ in 0..SWEEPS {
        let mut is_done = true;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let (a, b, c) = (columns[p].norm_squared(), columns[q].norm_squared(), columns[p].dot(columns[q]));
            if c.abs() <= f64::EPSILON * (a * b).sqrt() {
                continue;
            }
            is_done = false;
            let ratio = (b - a) / (2.0 * c);
            let t = ratio.signum() / (ratio.abs() + (ratio * ratio + 1.0).sqrt());
            let cosine = 1.0 / (t * t + 1.0).sqrt();
            let sine = t * cosine;
            for pair in [&mut columns, &mut turn] {
                let (x, y) = (pair[p], pair[q]);
                pair[p] = x * cosine - y * sine;
                pair[q] = x * sine + y * cosine;
            }
        }
        if is_done {
            break;
        }
    }
    (columns, turn)
}

/// The direction of `column` across the unit vector `u`; where it has none to speak of beside `largest`, that of `guess`, or any.
fn perpendicular(u: Vec3<f64>, column: Vec3<f64>, largest: f64, guess: Vec3<f64>) -> Vec3<f64> {
    let across = |w: Vec3<f64>| {
        let once = (w - u * u.dot(w)).normalized_or_zero();
        // Twice is enough: the first pass leaves a rounding error relative to w, the second one relative to what is left.
        (once - u * u.dot(once)).normalized_or_zero()
    };
    // Below this a column is the rounding of A, and its direction means nothing.
    if column.norm() > 4.0 * f64::EPSILON * largest {
        return across(column);
    }
    let axes = Mat3::IDENTITY.0.map(Vec3::from);
    // One of these four is always farther than 45 degrees from u.
    let far = |w: &Vec3<f64>| u.dot(*w).abs() < 0.8;
    [guess, axes[0], axes[1], axes[2]].into_iter().find(far).map_or(axes[0], across)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Small;

    fn largest(m: Mat3) -> f64 {
        m.0.iter().flatten().fold(0.0, |largest, x| x.abs().max(largest))
    }

    fn matrix(value: &serde_json::Value) -> Mat3 {
        Mat3(std::array::from_fn(|i| std::array::from_fn(|j| value[i][j].as_f64().expect("a number"))))
    }

    #[test]
    fn the_nearest_rotations_of_32_matrices() {
        let text = include_str!("../../tests/fixtures/polar.json");
        let all: serde_json::Value = serde_json::from_str(text).unwrap();
        let cases = all["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 32, "matrices");
        for case in cases {
            let (name, a) = (&case["name"], matrix(&case["A"]));
            let r = polar_rotation(&a);
            let skew = largest(r.transposed().times(&r) - Mat3::IDENTITY);
            assert!(skew < 1e-14 && (r.determinant() - 1.0).abs() < 1e-14, "{name}: {r:?} is no rotation: {skew}");
            let (trace, best) = (r.transposed().times(&a).trace(), case["max_trace_RtA"].as_f64().unwrap());
            let scale = case["sigma"][0].as_f64().unwrap();
            assert!((trace - best).abs() <= 1e-14 * scale, "{name}: trace {trace}, the largest is {best}");
            if case["unique"].as_bool().unwrap() {
                let error = largest(r - matrix(&case["R"]));
                assert!(error < 1e-13, "{name}: off by {error}");
            }
        }
    }

    #[test]
    fn what_is_not_finite_gives_no_nan() {
        for x in [f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, 5e-324, f64::MAX] {
            let r = polar_rotation(&Mat3::scalar(x));
            assert_eq!(r, Mat3::IDENTITY, "{x}");
        }
    }

    #[test]
    fn lines_of_every_direction_give_rotations() {
        // Rank one, with u and v along, against and across the axes.
        let ends = [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.6, 0.8], [-0.6, 0.0, 0.8], [1.0, 1.0, 1.0]];
        for u in ends.map(Vec3::from) {
            for v in ends.map(Vec3::from) {
                let a = Mat3::outer(u, v);
                let r = polar_rotation(&a);
                assert!((r.determinant() - 1.0).abs() < 1e-14, "{u:?} {v:?}: {r:?}");
                let trace = r.transposed().times(&a).trace();
                assert!((trace - u.norm() * v.norm()).abs() < 1e-14, "{u:?} {v:?}: {trace}");
            }
        }
    }

    #[test]
    fn the_rest_is_symmetric_and_not_negative() {
        let a = Mat3([[0.3, -1.0, 0.2], [0.9, 0.1, 0.4], [-0.2, 0.5, 0.7]]);
        let s = polar_rotation(&a).transposed().times(&a);
        assert!(largest(s - s.transposed()) < 1e-15, "{s:?}");
        assert!(Small::new(3, |i, j| s.0[i][j]).eigenvalues()[0] > 0.0, "{s:?}");
    }
}
