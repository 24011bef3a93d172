//! The weightless elastica that is clamped upright at its top and pressed on a floor, on which its tip is stuck below the clamp.
//!
//! ```text
//!   ║   θ(0) = 0           B θ″ = −(H cos θ + V sin θ)        θ from the vertical, s from the clamp
//!    ╲                     θ(0) = 0, θ′(L) = 0, ∫ sin θ ds = 0
//!     ╲                    ε = 1 − ∫ cos θ ds / L
//!     ╱
//!   _╱_  ← H, ↑ V          it slips where |H| = μ V
//! ```
//!
//! It follows from ½ ∫ B θ′² ds − H x(L) − V y(L) being stationary. |H|/V does not depend on B or L, rises with the compression ε, and is
//! near zero as √ε: at ε = 0 the column of Euler, clamped and hinged, buckles at V L²/B = 20.19.
//! The experiment is that of the stick–slip test of Romero et al. 2021 (Physical validation of simulators in computer graphics), here without weight.

use crate::Try;

/// Steps along the strip.
const STEPS: usize = 400;

/// V L²/B at which it buckles: the square of the first root of tan k = k.
const BUCKLING: f64 = 20.190_728_556_426_63;

/// A strip of length 1 and B = 1 that is stuck.
#[derive(Clone, Copy, Debug)]
pub(super) struct Equilibrium {
    /// ε.
    pub(super) compression: f64,
    /// |H|/V.
    pub(super) ratio: f64,
    /// V.
    #[cfg(test)]
    load: f64,
}

/// θ, θ′, ∫ sin θ and ∫ cos θ at the tip, for θ′(0), H and V.
fn shoot([curvature, across, along]: [f64; 3]) -> [f64; 4] {
    let rate = |y: [f64; 4]| {
        let (sin, cos) = (libm::sin(y[0]), libm::cos(y[0]));
        [y[1], -(across * cos + along * sin), sin, cos]
    };
    let h = 1.0 / STEPS as f64;
    let step = |y: [f64; 4], k: [f64; 4], part: f64| std::array::from_fn(|i| y[i] + part * h * k[i]);
    (0..STEPS).fold([0.0, curvature, 0.0, 0.0], |y, _| {
        let a = rate(y);
        let b = rate(step(y, a, 0.5));
        let c = rate(step(y, b, 0.5));
        let d = rate(step(y, c, 1.0));
        std::array::from_fn(|i| y[i] + h / 6.0 * (a[i] + 2.0 * (b[i] + c[i]) + d[i]))
    })
}

/// The equilibria from a weak bow on, until the tip is stuck no longer for the largest friction that is asked for.
pub(super) fn equilibria(largest_ratio: f64) -> Try<Vec<Equilibrium>> {
    let (mut across, mut along) = (0.0, BUCKLING);
    let mut all: Vec<Equilibrium> = Vec::new();
    for step in 1..200 {
        let curvature = 0.1 * f64::from(step);
        if step == 1 {
            // A weak bow is θ = κ₀/k sin ks + H/V (cos ks − 1), whose tip is straight for H/V = κ₀/k².
            across = curvature;
        }
        let mut left = f64::INFINITY;
        for _ in 0..30 {
            let miss = |across: f64, along: f64| {
                let y = shoot([curvature, across, along]);
                [y[1], y[2]]
            };
            let (d, at) = (1e-6, miss(across, along));
            let (a, b) = (miss(across + d, along), miss(across, along + d));
            let jacobian = [0, 1].map(|i| [(a[i] - at[i]) / d, (b[i] - at[i]) / d]);
            let det = jacobian[0][0] * jacobian[1][1] - jacobian[0][1] * jacobian[1][0];
            across -= (at[0] * jacobian[1][1] - at[1] * jacobian[0][1]) / det;
            along -= (at[1] * jacobian[0][0] - at[0] * jacobian[1][0]) / det;
            left = at[0].abs().max(at[1].abs());
            if left < 1e-12 {
                break;
            }
        }
        if left.is_nan() || left > 1e-9 {
            return Err(format!("the elastica with κ₀ = {curvature} was left with {left:.1e}"));
        }
        let compression = 1.0 - shoot([curvature, across, along])[3];
        all.push(Equilibrium {
            compression,
            ratio: across.abs() / along,
            #[cfg(test)]
            load: along,
        });
        if all[all.len() - 1].ratio > largest_ratio {
            return Ok(all);
        }
    }
    Err(format!("no equilibrium has |H|/V = {largest_ratio}"))
}

/// The compression at which the tip slips for a friction; ε goes as the square of the ratio.
pub(super) fn slip(all: &[Equilibrium], friction: f64) -> Try<f64> {
    let after = all.iter().position(|e| e.ratio >= friction).filter(|&i| i > 0);
    let after = after.ok_or_else(|| format!("μ = {friction} is outside of the curve"))?;
    let [a, b] = [all[after - 1], all[after]];
    let part = (friction * friction - a.ratio * a.ratio) / (b.ratio * b.ratio - a.ratio * a.ratio);
    Ok(a.compression + part * (b.compression - a.compression))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weak_bow_is_that_of_euler() {
        let all = equilibria(0.1).expect("a curve");
        let first = all[0];
        assert!((first.load / BUCKLING - 1.0).abs() < 1e-3, "{first:?}");
        assert!((first.ratio * BUCKLING / 0.1 - 1.0).abs() < 1e-3, "{first:?}");
        // ε = ½ ∫ θ², of θ = κ₀/k (sin ks + (cos ks − 1)/k), by the midpoint rule.
        let k = BUCKLING.sqrt();
        let theta = |s: f64| 0.1 / k * (libm::sin(k * s) + (libm::cos(k * s) - 1.0) / k);
        let exact: f64 = (0..1000).map(|i| 0.5 * theta((f64::from(i) + 0.5) / 1000.0).powi(2) / 1000.0).sum();
        assert!((first.compression / exact - 1.0).abs() < 1e-3, "{first:?}, {exact}");
    }
}
