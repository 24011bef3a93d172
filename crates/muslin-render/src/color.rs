//! Colours: the transfer curve between linear light and sRGB bytes, and a palette of dyed cloth.
//!
//! All shading happens in linear light. Colours of the interface are sRGB in [0, 1], as every colour picker shows them.

use crate::math::{Vec3, vec3};

/// Muted dyes that stay apart from each other, from the background and from the warning red: sRGB in [0, 1].
pub const CLOTH_COLORS: [[f32; 3]; 6] = [
    [0.200, 0.420, 0.500], // indigo teal
    [0.760, 0.450, 0.330], // terracotta
    [0.830, 0.640, 0.330], // ochre
    [0.460, 0.560, 0.410], // sage
    [0.490, 0.340, 0.450], // plum
    [0.340, 0.420, 0.600], // slate blue
];

/// The colour of solids: unglazed plaster, sRGB in [0, 1].
pub const SOLID_COLOR: [f32; 3] = [0.830, 0.815, 0.790];

/// The colour of marked triangles, linear.
pub(crate) const WARNING: Vec3 = vec3(0.72, 0.035, 0.03);

/// The `index`-th colour of the palette, which repeats.
pub fn cloth_color(index: usize) -> [f32; 3] {
    CLOTH_COLORS[index % CLOTH_COLORS.len()]
}

/// Linear light of an sRGB colour; components outside [0, 1], NaN included, are clamped [IEC 61966-2-1].
pub(crate) fn linear_from_srgb(color: [f32; 3]) -> Vec3 {
    let decode = |c: f32| {
        let c = if c.is_nan() { 0.0 } else { c.clamp(0.0, 1.0) };
        if c <= 0.040_45 { c / 12.92 } else { libm::powf((c + 0.055) / 1.055, 2.4) }
    };
    vec3(decode(color[0]), decode(color[1]), decode(color[2]))
}

/// The tone of the other side of a cloth: paler, as if dyed from the front; a cloth that is pale already turns darker
/// instead.
pub(crate) fn back_of(front: Vec3) -> Vec3 {
    let gray = Vec3::ONE * front.luminance();
    if front.luminance() < 0.45 {
        front.mix(gray, 0.1).mix(vec3(0.80, 0.74, 0.66), 0.45)
    } else {
        front.mix(gray, 0.2) * 0.55
    }
}

/// Keeps highlights from clipping: the identity below the knee, then a curve with the same slope that tends to 1.
pub(crate) fn shoulder(light: Vec3) -> Vec3 {
    const KNEE: f32 = 0.72;
    let bend = |x: f32| {
        if x <= KNEE {
            x
        } else {
            let t = (x - KNEE) / (1.0 - KNEE);
            KNEE + (1.0 - KNEE) * t / (1.0 + t)
        }
    };
    vec3(bend(light.x), bend(light.y), bend(light.z))
}

/// sRGB bytes from linear light, by table.
///
/// The table is indexed by the leading bits of the number itself: its exponent, from 2⁻¹³ (less than half a byte) to 1,
/// and 8 bits of its mantissa, a step of at most 255 / (2.4 · 256) = 0.42 of a byte. Bytes are dithered with a fixed
/// pattern [Bayer 1973]: without it, soft gradients show as bands.
#[derive(Debug)]
pub(crate) struct Encoder {
    /// Bytes in fixed point, with 8 bits after the point.
    table: Vec<u16>,
}

/// Ranks of the 4 × 4 ordered dither.
const BAYER: [[u8; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

impl Encoder {
    /// The mantissa of an `f32` has 23 bits, of which 8 are kept.
    const SHIFT: u32 = 23 - 8;

    /// The bits of 2⁻¹³ and of 1.
    const FIRST: i32 = (127 - 13) << 23;
    const LAST: i32 = 127 << 23;

    pub(crate) fn new() -> Self {
        let encode = |i: usize| {
            let low = Self::FIRST as u32 + ((i as u32) << Self::SHIFT);
            // The middle of the step, except for black and white, which are exact.
            let x = if low == Self::LAST as u32 { 1.0 } else { f32::from_bits(low + (1 << (Self::SHIFT - 1))) };
            let x = if i == 0 { 0.0 } else { x };
            let c = if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * libm::powf(x, 1.0 / 2.4) - 0.055 };
            (c * 255.0 * 256.0) as u16
        };
        Self { table: (0..=((Self::LAST - Self::FIRST) >> Self::SHIFT) as usize).map(encode).collect() }
    }

    /// The bytes of the pixel in column `x` and row `y`.
    pub(crate) fn encode(&self, light: Vec3, x: usize, y: usize) -> [u8; 3] {
        let rounding = 16 * u16::from(BAYER[y % 4][x % 4]) + 8;
        // As integers, negative numbers are below the first and infinities above the last; NaN is either.
        let byte = |x: f32| {
            let place = (x.to_bits() as i32).clamp(Self::FIRST, Self::LAST) - Self::FIRST;
            ((self.table[(place >> Self::SHIFT) as usize] + rounding) >> 8) as u8
        };
        [byte(light.x), byte(light.y), byte(light.z)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_their_mean() {
        let encoder = Encoder::new();
        for byte in 0..=255_u8 {
            let light = linear_from_srgb([f32::from(byte) / 255.0; 3]);
            let sum: u32 = (0..16).map(|i| u32::from(encoder.encode(light, i % 4, i / 4)[0])).sum();
            let mean = sum as f32 / 16.0;
            assert!((mean - f32::from(byte)).abs() < 0.5, "{byte} became {mean}");
        }
    }

    #[test]
    fn colors_that_are_no_colors_are_clamped() {
        let encoder = Encoder::new();
        assert_eq!(encoder.encode(vec3(-f32::NAN, f32::INFINITY, f32::NEG_INFINITY), 2, 1)[1..], [255, 0]);
        assert_eq!(linear_from_srgb([f32::NAN, 7.0, -7.0]), vec3(0.0, 1.0, 0.0));
    }

    #[test]
    fn both_sides_of_every_cloth_can_be_told_apart() {
        for color in CLOTH_COLORS.into_iter().chain([[1.0; 3], [0.0; 3], [0.9, 0.87, 0.8]]) {
            let front = linear_from_srgb(color);
            let difference = back_of(front) - front;
            assert!(difference.length() > 0.1, "{color:?} has the back {:?}", back_of(front));
        }
    }
}
