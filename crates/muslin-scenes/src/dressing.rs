//! A body of any unit and axis, and a pattern of any origin, brought together.

use muslin::mesh::Mesh;
use muslin_pattern::{EDGE_LENGTHS, Limits, Pattern, Standing};

use crate::patterns::MOST_GATHER;

/// Heights of a person, in m.
const HEIGHTS: [f64; 2] = [1.0, 2.4];
/// Units in which bodies are modelled, in m.
const UNITS: [(&str, f64); 5] = [("m", 1.0), ("dm", 0.1), ("cm", 0.01), ("inches", 0.0254), ("mm", 0.001)];
/// The height of the figure that patterns are drawn for, in m, and how far up it they hang, as a part of it.
const DRAWN_FOR: f64 = 1.75;
const HANGS_AT: f64 = 0.7;
/// A pattern that reaches this far below the floor has its origin at the waist, in m.
const BELOW_FLOOR: f64 = -0.05;

/// Where body and pattern have to be, so that the body stands at the origin and wears the pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Dressing {
    /// Factor on the body.
    pub scale: f64,
    /// Turn of the body, in degrees about x, then y, then z.
    pub rotate: [f64; 3],
    /// Displacement of the body after that, in m.
    pub translate: [f64; 3],
    /// Displacement of the pattern, in m.
    pub pattern: [f64; 3],
    /// What was assumed, in words.
    pub notes: Vec<String>,
}

impl Dressing {
    /// Of a pattern, as its name and the text of its file, and a body, with its name, that stands upright and faces +z, or −y with +z up.
    pub fn of((name, text): (&str, &str), (body_name, body): (&str, &Mesh)) -> Result<Self, String> {
        let of_pattern = |error: String| format!("{name}: {error}");
        let of_body = |error: String| format!("{body_name}: {error}");
        let reading =
            Pattern::from_json(text, &Limits { gather: MOST_GATHER }).map_err(|error| of_pattern(error.to_string()))?;
        let sides = bounds(&body.positions).map(|[low, high]| high - low);
        let is_z_up = sides[2] > 1.3 * sides[1];
        let height = if is_z_up { sides[2] } else { sides[1] };
        let (unit, scale) = unit(height).map_err(of_body)?;
        let rotate = if is_z_up { [-90.0, 0.0, 0.0] } else { [0.0; 3] };
        let upright = |p: &[f64; 3]| if is_z_up { [p[0], p[2], -p[1]] } else { *p }.map(|x| x * scale);
        let points: Vec<[f64; 3]> = body.positions.iter().map(upright).collect();
        let low = bounds(&points)[1][0];
        let translate = [0.0, -low, 0.0];
        let axis = if is_z_up { "z" } else { "y" };
        let mut notes = vec![format!(
            "body: {} vertices, {:.2} m high, read as {unit} with {axis} up",
            body.positions.len(),
            height * scale
        )];
        let standing = Standing::of(&points).ok_or_else(|| {
            of_body(
                "the body has no trunk where a standing person has one; give a body that stands upright and faces +z"
                    .to_owned(),
            )
        })?;
        // As coarse as may be: only its box is wanted.
        let mesh =
            reading.pattern.mesh(0.05_f64.max(EDGE_LENGTHS[0])).map_err(|error| of_pattern(error.to_string()))?;
        let [across, up, along] = bounds(&reading.pattern.assemble(&mesh).positions);
        let trunk = standing.limbs[0].axis[0];
        let middle = |[low, high]: [f64; 2]| 0.5 * (low + high);
        let (y, why) = if up[0] < BELOW_FLOOR {
            (standing.waist - low, "its origin is at the waist")
        } else {
            (HANGS_AT * (height * scale - DRAWN_FOR), "its origin is on the floor")
        };
        // One that lies flat around the body is not centred by its box.
        let z = if along[0] < 0.0 && along[1] > 0.0 { trunk[2] - middle(along) } else { 0.0 };
        let pattern = [trunk[0] - middle(across), y, z];
        notes.push(format!(
            "pattern: {}, {}; moved by [{:.3}, {:.3}, {:.3}] m, as {why}",
            count(reading.pattern.panels().len(), "panel"),
            count(reading.pattern.stitches().len(), "seam"),
            pattern[0],
            pattern[1],
            pattern[2]
        ));
        Ok(Self { scale, rotate, translate, pattern, notes })
    }
}

/// `1 panel`, `2 panels`.
fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// The unit in which a height is that of a person.
fn unit(height: f64) -> Result<(&'static str, f64), String> {
    let is_fit = |unit: &&(&str, f64)| (HEIGHTS[0]..=HEIGHTS[1]).contains(&(height * unit.1));
    UNITS.iter().find(is_fit).copied().ok_or_else(|| {
        format!(
            "the body is {height} units high, which is no person of {} to {} m in m, dm, cm, inches or mm; scale it, or write a scene with `pattern`, where any body will do",
            HEIGHTS[0], HEIGHTS[1]
        )
    })
}

/// Lowest and highest along each axis.
fn bounds(points: &[[f64; 3]]) -> [[f64; 2]; 3] {
    [0, 1, 2].map(|axis| {
        let low = points.iter().map(|p| p[axis]).fold(f64::INFINITY, f64::min);
        [low, points.iter().map(|p| p[axis]).fold(f64::NEG_INFINITY, f64::max)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A post with the proportions of a trunk and legs, in m, y up.
    fn post(height: f64) -> Mesh {
        let ring = |y: f64| {
            let r = 0.1 + 0.2 * (y / height - 0.62).abs();
            (0..24)
                .map(move |k| f64::from(k) * std::f64::consts::TAU / 24.0)
                .map(move |a| [r * libm::cos(a), y, r * libm::sin(a)])
        };
        let positions = (0..=100).flat_map(|k| ring(height * f64::from(k) / 100.0)).collect();
        Mesh { positions, ..Mesh::default() }
    }

    #[test]
    fn a_body_is_turned_scaled_and_put_on_the_floor() {
        let text = crate::patterns::built_in("tunic").unwrap();
        let plain = Dressing::of(("tunic", text), ("post", &post(1.75))).unwrap();
        assert_eq!((plain.scale, plain.rotate), (1.0, [0.0; 3]));
        assert!(plain.translate[1].abs() < 1e-12 && plain.pattern[1].abs() < 1e-12, "{plain:?}");
        let mut other = post(1.75);
        for p in &mut other.positions {
            *p = [100.0 * p[0], -100.0 * p[2], 100.0 * p[1] + 30.0];
        }
        let turned = Dressing::of(("tunic", text), ("post", &other)).unwrap();
        assert_eq!((turned.scale, turned.rotate), (0.01, [-90.0, 0.0, 0.0]));
        assert!((turned.translate[1] + 0.3).abs() < 1e-12, "{turned:?}");
        assert!(turned.notes[0].contains("1.75 m high, read as cm with z up"), "{:?}", turned.notes);
    }

    #[test]
    fn what_is_no_person_is_refused() {
        let text = crate::patterns::built_in("tunic").unwrap();
        let error = Dressing::of(("tunic", text), ("post", &post(0.6))).unwrap_err();
        assert!(error.starts_with("post: the body is 0.6 units high"), "{error}");
    }
}
