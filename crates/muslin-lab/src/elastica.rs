//! The heavy elastica: how a strip bends under its own weight, exactly.
//!
//! ```text
//!   ═══════┐ θ = 0            B θ″ = −ρ g (L − s) cos θ       s along the strip, θ its angle below the horizontal
//!   clamp  └╮                 θ(0) = 0, θ′(L) = 0
//!            ╲  ↓ ρ g         Γ = ρ g L³/B
//! ```
//!
//! One number says the shape: Γ. With t = 1 − s/L the equation is θ″ = −Γ t cos θ from the tip, where θ′ = 0. The angle there is found by bisection, so that θ
//! vanishes at the clamp. The chord is the line from the edge of the clamp to the tip: at 41.5° below the horizontal Γ = 8.00, which is Peirce's B = ρ g c³ with c = L/2
//! [Peirce 1930, The Handle of Cloth as a Measurable Quantity; ASTM D1388].

/// Peirce's angle of the chord, in rad.
pub const PEIRCE_ANGLE: f64 = 41.5 * std::f64::consts::PI / 180.0;

/// Steps along the strip, of a method of fourth order.
const STEPS: usize = 400;

/// Where the tip of a strip is: over its length, horizontally and downwards.
pub fn tip(gamma: f64) -> [f64; 2] {
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        // A steeper tip leaves a larger angle at the clamp.
        if shoot(gamma, middle).0 > 0.0 { high = middle } else { low = middle }
    }
    shoot(gamma, 0.5 * (low + high)).1
}

/// The angle of the chord below the horizontal, in rad.
pub fn chord(gamma: f64) -> f64 {
    let [across, down] = tip(gamma);
    libm::atan2(down, across)
}

/// Γ of a strip whose chord has an angle, in rad, from 0.1° to 88°; the nearest of these outside.
pub fn gamma(angle: f64) -> f64 {
    let (mut low, mut high) = (libm::log(1e-2), libm::log(2e3));
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if chord(libm::exp(middle)) < angle { low = middle } else { high = middle }
    }
    libm::exp(0.5 * (low + high))
}

/// The angle at the clamp and the place of the tip, for an angle of the tip (Runge and Kutta's method of fourth order).
fn shoot(gamma: f64, tip: f64) -> (f64, [f64; 2]) {
    let rate = |t: f64, [angle, slope, _, _]: [f64; 4]| {
        let cos = libm::cos(angle);
        [slope, -gamma * t * cos, cos, libm::sin(angle)]
    };
    let h = 1.0 / STEPS as f64;
    let mut y = [tip, 0.0, 0.0, 0.0];
    for i in 0..STEPS {
        let t = i as f64 * h;
        let moved = |y: [f64; 4], k: [f64; 4], by: f64| -> [f64; 4] { std::array::from_fn(|j| y[j] + by * k[j]) };
        let a = rate(t, y);
        let b = rate(t + 0.5 * h, moved(y, a, 0.5 * h));
        let c = rate(t + 0.5 * h, moved(y, b, 0.5 * h));
        let d = rate(t + h, moved(y, c, h));
        y = std::array::from_fn(|j| y[j] + h / 6.0 * (a[j] + 2.0 * b[j] + 2.0 * c[j] + d[j]));
        // Beyond the vertical it would swing back; it has left the clamp far behind by then.
        if y[0] < -std::f64::consts::FRAC_PI_2 {
            break;
        }
    }
    (y[0], [y[2], y[3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From an independent solution to 30 digits, of which ten: Γ, tip over L horizontally and downwards, chord in degrees.
    const KNOWN: [[f64; 4]; 5] = [
        [0.1, 0.999910732, 0.012498437, 0.716134375],
        [1.0, 0.991246395, 0.123471401, 7.100292374],
        [8.0, 0.724424734, 0.640630717, 41.487302559],
        [10.0, 0.656353761, 0.700199715, 46.851245752],
        [100.0, 0.159223382, 0.937523935, 80.361202297],
    ];

    #[test]
    fn tips_are_where_they_are_known_to_be() {
        for [number, across, down, angle] in KNOWN {
            let [x, y] = tip(number);
            assert!((x - across).abs() < 1e-8 && (y - down).abs() < 1e-8, "Γ = {number}: {x}, {y}");
            assert!((chord(number).to_degrees() - angle).abs() < 1e-5, "Γ = {number}: {}°", chord(number).to_degrees());
            assert!(
                (gamma(angle.to_radians()) / number - 1.0).abs() < 1e-5,
                "Γ = {number}: {}",
                gamma(angle.to_radians())
            );
        }
    }

    #[test]
    fn peirce_is_right_at_his_angle() {
        let number = gamma(PEIRCE_ANGLE);
        assert!((number - 8.0).abs() < 0.01, "{number}");
    }
}
