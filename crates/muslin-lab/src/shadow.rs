//! The shadow of a draped sample: its outline, what it covers, and its folds.
//!
//! ```text
//! r(φ)    the farthest point of the sample in each direction from the axis, seen from above
//! DC      (shadow − disc)/(flat sample − disc), the drape coefficient
//! r(φ) = a₀ + Σ aₙ cos(n φ + φₙ)      the fold number is the n ≥ 2 of the largest aₙ
//! ```
//!
//! [Cusick 1968, The Measurement of Fabric Drape; BS 5058.] The waves of the outline show in its Fourier spectrum [Fischer et al. 1999]; a₁ is a sample that hangs to one side, and no fold.

use std::f64::consts::{PI, TAU};

/// Directions in which an outline is known.
pub const DIRECTIONS: usize = 720;
/// The largest fold number that is looked for: beyond it waves are those of the mesh.
pub const MOST_FOLDS: usize = 16;

/// The outline of a shadow about the axis of the disc.
#[derive(Clone, Debug, PartialEq)]
pub struct Shadow {
    /// Its radius in evenly spaced directions from x to z, in m.
    pub radii: Vec<f64>,
}

/// The waves of an outline.
#[derive(Clone, Debug, PartialEq)]
pub struct Folds {
    /// The n of the largest aₙ.
    pub number: usize,
    /// aₙ for n from 0, in m.
    pub amplitudes: Vec<f64>,
    /// Crests of the outline with waves up to [`MOST_FOLDS`]: what a person would count.
    pub crests: usize,
    /// Mean height of crests over the mean of the troughs, in m.
    pub depth: f64,
}

impl Shadow {
    /// The shadow of a mesh in light from above.
    pub fn of_mesh(positions: &[[f64; 3]], triangles: &[[u32; 3]]) -> Self {
        let mut radii = vec![0.0_f64; DIRECTIONS];
        let at = |v: u32| [positions[v as usize][0], positions[v as usize][2]];
        for t in triangles {
            for k in 0..3 {
                // The edge between two triangles is seen twice, which costs little.
                cast(at(t[k]), at(t[(k + 1) % 3]), &mut radii);
            }
        }
        Self { radii }
    }

    /// What it covers, in m², of an outline that every ray from the axis meets once.
    pub fn area(&self) -> f64 {
        let count = self.radii.len();
        let wedge = libm::sin(TAU / count as f64);
        (0..count).map(|i| 0.5 * wedge * self.radii[i] * self.radii[(i + 1) % count]).sum()
    }

    /// The drape coefficient, in %, of a sample and a disc of these radii, in m.
    pub fn coefficient(&self, disc: f64, sample: f64) -> f64 {
        100.0 * (self.area() - PI * disc * disc) / (PI * (sample * sample - disc * disc))
    }

    /// The waves of the outline.
    pub fn folds(&self) -> Folds {
        let count = self.radii.len() as f64;
        let angle = |i: usize| TAU * i as f64 / count;
        let part = |n: usize| {
            let [mut cos, mut sin] = [0.0; 2];
            for (i, r) in self.radii.iter().enumerate() {
                cos += r * libm::cos(n as f64 * angle(i));
                sin += r * libm::sin(n as f64 * angle(i));
            }
            let scale = if n == 0 { 1.0 } else { 2.0 } / count;
            [scale * cos, scale * sin]
        };
        let parts: Vec<[f64; 2]> = (0..=MOST_FOLDS).map(part).collect();
        let amplitudes: Vec<f64> = parts.iter().map(|[c, s]| libm::hypot(*c, *s)).collect();
        let number = (2..=MOST_FOLDS).max_by(|&a, &b| amplitudes[a].total_cmp(&amplitudes[b])).unwrap_or(0);
        let smooth = |i: usize| -> f64 {
            let wave = |(n, [c, s]): (usize, &[f64; 2])| {
                let angle = n as f64 * angle(i);
                c * libm::cos(angle) + s * libm::sin(angle)
            };
            parts.iter().enumerate().map(wave).sum()
        };
        let outline: Vec<f64> = (0..self.radii.len()).map(smooth).collect();
        // A ripple is no fold: a crest stands out by a tenth of the largest wave at least.
        let (crests, depth) = crests(&outline, 0.2 * amplitudes[number]);
        Folds { number, amplitudes, crests, depth }
    }
}

/// Widens an outline by an edge, seen from above.
fn cast(a: [f64; 2], b: [f64; 2], radii: &mut [f64]) {
    let step = TAU / radii.len() as f64;
    let from = libm::atan2(a[1], a[0]);
    let mut way = libm::atan2(b[1], b[0]) - from;
    // The shorter way around the axis.
    way -= TAU * libm::round(way / TAU);
    let (low, high) = (from.min(from + way), from.max(from + way));
    let cross = a[0] * b[1] - a[1] * b[0];
    for i in libm::ceil(low / step) as i64..=libm::floor(high / step) as i64 {
        let (sin, cos) = (libm::sin(i as f64 * step), libm::cos(i as f64 * step));
        // The point of the line through a and b in this direction.
        let across = cos * (b[1] - a[1]) - sin * (b[0] - a[0]);
        let radius = if across == 0.0 { libm::hypot(a[0], a[1]).max(libm::hypot(b[0], b[1])) } else { cross / across };
        let slot = &mut radii[i.rem_euclid(radii.len() as i64) as usize];
        *slot = slot.max(radius);
    }
}

/// Crests of a closed outline that stand out by `least` on both sides, and their mean height over the troughs between them.
fn crests(outline: &[f64], least: f64) -> (usize, f64) {
    let (low, high) = outline.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), r| (l.min(*r), h.max(*r)));
    if outline.is_empty() || high - low < 1e-12 {
        return (0, 0.0);
    }
    // From the lowest point around, turning whenever the outline has come back by `least`.
    let start = (0..outline.len()).min_by(|&a, &b| outline[a].total_cmp(&outline[b])).unwrap_or(0);
    let (mut extremes, mut is_rising, mut extreme) = (vec![low], true, low);
    for i in 1..=outline.len() {
        let r = outline[(start + i) % outline.len()];
        let is_beyond = if is_rising { r > extreme } else { r < extreme };
        if is_beyond {
            extreme = r;
        } else if (r - extreme).abs() > least {
            extremes.push(extreme);
            (is_rising, extreme) = (!is_rising, r);
        }
    }
    let heights: Vec<f64> = extremes.iter().skip(1).step_by(2).copied().collect();
    let troughs: Vec<f64> = extremes.iter().step_by(2).copied().collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    (heights.len(), if heights.is_empty() { 0.0 } else { mean(&heights) - mean(&troughs) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(radius: impl Fn(f64) -> f64) -> Shadow {
        Shadow { radii: (0..DIRECTIONS).map(|i| radius(TAU * i as f64 / DIRECTIONS as f64)).collect() }
    }

    #[test]
    fn the_coefficient_of_a_circle_is_that_of_its_ring() {
        // A circle whose ring has half the area.
        let radius = (0.5 * (0.15 * 0.15 + 0.09 * 0.09_f64)).sqrt();
        let coefficient = outline(|_| radius).coefficient(0.09, 0.15);
        assert!((coefficient - 50.0).abs() < 0.01, "{coefficient} %");
        assert!(outline(|_| 0.09).coefficient(0.09, 0.15).abs() < 0.01, "nothing beyond the disc");
    }

    #[test]
    fn the_area_of_a_wave_is_known() {
        let (a, b) = (0.12, 0.012);
        let area = outline(|phi| a + b * libm::cos(5.0 * phi)).area();
        assert!((area / (PI * (a * a + 0.5 * b * b)) - 1.0).abs() < 2e-4, "{area} m²");
    }

    #[test]
    fn five_waves_are_five_folds() {
        let folds = outline(|phi| 1.0 + 0.1 * libm::cos(5.0 * phi)).folds();
        assert_eq!((folds.number, folds.crests), (5, 5));
        assert!((folds.amplitudes[5] - 0.1).abs() < 1e-12 && (folds.depth - 0.2).abs() < 1e-3, "{folds:?}");
        let folds =
            outline(|phi| 1.0 + 0.3 * libm::cos(phi) + 0.1 * libm::cos(3.0 * phi + 1.0) + 0.01 * libm::cos(9.0 * phi))
                .folds();
        assert_eq!(folds.number, 3, "hanging to one side is no fold, and a ripple none either");
        assert_eq!(outline(|_| 0.1).folds().crests, 0, "a circle has none");
    }

    #[test]
    fn a_mesh_casts_its_outline() {
        // A square of side 2 that begins behind the axis: r = 1 / max(|cos φ|, |sin φ|).
        let positions = [[-1.0, 0.3, -1.0], [1.0, 0.0, -1.0], [1.0, -0.2, 1.0], [-1.0, 0.0, 1.0]];
        let shadow = Shadow::of_mesh(&positions, &[[0, 2, 1], [0, 3, 2]]);
        for (i, r) in shadow.radii.iter().enumerate() {
            let phi = TAU * i as f64 / DIRECTIONS as f64;
            let known = 1.0 / libm::cos(phi).abs().max(libm::sin(phi).abs());
            assert!((r - known).abs() < 1e-9, "direction {i}: {r} of {known}");
        }
        assert!((shadow.area() - 4.0).abs() < 1e-3, "{} m²", shadow.area());
    }
}
