//! A picture of the flat pattern: panels with names and grain, seams in matching colours with numbers and notches, a scale.
//!
//! It is drawn in true size, seen from the outer side. The two edges of a seam have one colour and one number, and a notch on each at a third of the way: they
//! meet when it is sewn.

use std::fmt::Write;

use crate::curve::{Curve, Point, distance, sub};
use crate::layout::GAP;
use crate::pattern::{EdgeRef, Panel, Pattern};

/// Around everything, in m.
const MARGIN: f64 = 0.05;
/// Room for the scale below the panels, in m.
const SCALE: f64 = 0.05;
/// Panels lower than this have no room for a name beside the number of a seam, in m.
const LOW: f64 = 0.08;
/// Letters lower than this are not read on a table, in m.
const SMALL: f64 = 0.008;
/// Letters are about as wide as this times their height.
const LETTER: f64 = 0.56;

impl Pattern {
    /// Draws the panels as they lie in [`Pattern::layout`], as an SVG image in true size.
    pub fn to_svg(&self) -> String {
        let layout = self.layout();
        let [width, height] = [0, 1].map(|k| (layout.size[k] + 2.0 * MARGIN) * 100.0);
        let height = height + SCALE * 100.0;
        let mut svg = String::new();
        // Writing to a String cannot fail.
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.2}cm\" height=\"{height:.2}cm\" \
             viewBox=\"0 0 {width:.2} {height:.2}\" font-family=\"Helvetica, Arial, sans-serif\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        );
        let drawn = |panel: usize| Drawn { offset: layout.offsets[panel], top: layout.size[1] };
        for (index, panel) in self.panels.iter().enumerate() {
            let is_sewn = |edge: usize| {
                let this = EdgeRef { panel: index, edge };
                self.stitches.iter().any(|stitch| stitch.sides.contains(&this))
            };
            draw_panel(&mut svg, panel, is_sewn, &drawn(index));
        }
        for (number, stitch) in self.stitches.iter().enumerate() {
            for (index, side) in stitch.sides.iter().enumerate() {
                let is_forward = index == 0 || stitch.is_right_to_wrong;
                let panel = &self.panels[side.panel];
                draw_seam(&mut svg, number, panel, &panel.edges[side.edge].curve, is_forward, &drawn(side.panel));
            }
        }
        draw_scale(&mut svg, height);
        svg += "</svg>\n";
        svg
    }
}

/// Where a panel is drawn.
struct Drawn {
    offset: Point,
    top: f64,
}

impl Drawn {
    /// A point of the panel in cm of the picture, y down.
    fn at(&self, [x, y]: Point) -> Point {
        [(x + self.offset[0] + MARGIN) * 100.0, (self.top - y - self.offset[1] + MARGIN) * 100.0]
    }

    /// What comes after the start of a curve in a path.
    fn path(&self, curve: &Curve) -> String {
        let shown = |point: Point| {
            let [x, y] = self.at(point);
            format!("{x:.3} {y:.3}")
        };
        match curve {
            Curve::Line([_, end]) => format!("L {}", shown(*end)),
            Curve::Quadratic([_, control, end]) => format!("Q {} {}", shown(*control), shown(*end)),
            Curve::Cubic([_, first, second, end]) => format!("C {} {} {}", shown(*first), shown(*second), shown(*end)),
            Curve::Arc { end, radius, sweep, .. } => {
                let is_large = u8::from(sweep.abs() > std::f64::consts::PI);
                let is_clockwise = u8::from(*sweep < 0.0); // counter-clockwise with y up is the sweep flag 0 with y down
                let radius = radius * 100.0;
                format!("A {radius:.3} {radius:.3} 0 {is_large} {is_clockwise} {}", shown(*end))
            }
        }
    }
}

fn draw_panel(svg: &mut String, panel: &Panel, is_sewn: impl Fn(usize) -> bool, drawn: &Drawn) {
    let mut path = String::new();
    for (index, edge) in panel.edges.iter().enumerate() {
        if index == 0 {
            let [x, y] = drawn.at(edge.curve.start());
            let _ = write!(path, "M {x:.3} {y:.3}");
        }
        let _ = write!(path, " {}", drawn.path(&edge.curve));
    }
    let _ = writeln!(
        svg,
        "<path d=\"{path} Z\" fill=\"#f5f1e8\" stroke=\"#3a3a3a\" stroke-width=\"0.25\" stroke-linejoin=\"round\"/>"
    );
    draw_name(svg, panel, drawn);
    let [low, high] = panel.bounds();
    for (index, edge) in panel.edges.iter().enumerate() {
        let Some(label) = &edge.label else { continue };
        // A seam has its number in the middle.
        let (share, room) = if is_sewn(index) { (0.8, 0.35) } else { (0.5, 0.8) };
        let points = edge.curve.divide(2);
        let along = sub(drawn.at(points[2]), drawn.at(points[0]));
        let [x, y] = drawn.at(inside(&edge.curve, share, (0.22 * (high[1] - low[1])).min(0.02)));
        let degrees = libm::atan2(along[1], along[0]).to_degrees();
        let upright = if degrees.abs() > 90.5 { degrees + 180.0 } else { degrees };
        let turn = format!(" transform=\"rotate({upright:.2} {x:.3} {y:.3})\"");
        let size = (room * edge.curve.length() / (LETTER * label.chars().count() as f64)).min(0.012);
        draw_text(svg, [x, y], size, "#8a8a8a", label, &turn);
    }
}

/// The name, and the arrow of the grain: left of the name where there is room, else above it.
fn draw_name(svg: &mut String, panel: &Panel, drawn: &Drawn) {
    let (outline, _) = panel.outline();
    let [low, high] = panel.bounds();
    let letters = panel.name.chars().count().max(1) as f64;
    let (place, span) = widest(&outline, low[1], high[1]);
    let size = (0.6 * span / (LETTER * letters)).min(0.03);
    if high[1] - low[1] < LOW || size < SMALL {
        // A small panel has room for the numbers of its seams only; the gap to the next one has room for the name.
        let size = (0.9 * (high[0] - low[0] + GAP) / (LETTER * letters)).min(0.016);
        draw_text(svg, drawn.at([0.5 * (low[0] + high[0]), high[1] + 0.014]), size, "#3a3a3a", &panel.name, "");
        let x = if span > 2.0 * LOW { low[0] + 0.04 } else { place[0] - 0.22 * span };
        let [bottom, top] = chord(&outline, [x, place[1]], 0).unwrap_or([place[1]; 2]);
        let inset = 0.2 * (top - bottom);
        draw_grain(svg, drawn.at([x, bottom + inset]), drawn.at([x, top - inset]));
        return;
    }
    draw_text(svg, drawn.at(place), size, "#3a3a3a", &panel.name, "");
    let beside = [place[0] - 0.5 * size * LETTER * letters - 0.02, place[1]];
    let has_room = place[0] - 0.5 * span + 0.04 < beside[0];
    let upright = |point: Point| chord(&outline, point, 0).unwrap_or([place[1]; 2]);
    let [bottom, top] = upright(beside);
    let whole = upright(place);
    if has_room && top - bottom > 0.6 * (whole[1] - whole[0]) {
        let (half, middle) = (0.3 * (top - bottom).min(0.5), 0.5 * (bottom + top));
        draw_grain(svg, drawn.at([beside[0], middle - half]), drawn.at([beside[0], middle + half]));
    } else {
        let from = place[1] + size;
        let to = from + (0.7 * (whole[1] - from)).min(0.25);
        draw_grain(svg, drawn.at([place[0], from]), drawn.at([place[0], to]));
    }
}

fn draw_grain(svg: &mut String, low: Point, high: Point) {
    let (x, bottom, top) = (low[0], low[1], high[1]);
    let tip = (0.15 * (bottom - top)).min(1.2);
    let _ = writeln!(
        svg,
        "<path d=\"M {x:.3} {bottom:.3} V {top:.3} M {:.3} {:.3} L {x:.3} {top:.3} L {:.3} {:.3} M {:.3} {:.3} L {x:.3} {bottom:.3} L {:.3} {:.3}\" \
         fill=\"none\" stroke=\"#8a8a8a\" stroke-width=\"0.15\" stroke-linecap=\"round\"/>",
        x - 0.5 * tip,
        top + tip,
        x + 0.5 * tip,
        top + tip,
        x - 0.5 * tip,
        bottom - tip,
        x + 0.5 * tip,
        bottom - tip,
    );
}

fn draw_seam(svg: &mut String, number: usize, panel: &Panel, curve: &Curve, is_forward: bool, drawn: &Drawn) {
    let color = color(number);
    let [x, y] = drawn.at(curve.start());
    let _ = writeln!(
        svg,
        "<path d=\"M {x:.3} {y:.3} {}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"0.6\" stroke-linecap=\"butt\"/>",
        drawn.path(curve)
    );
    let share = if is_forward { 1.0 / 3.0 } else { 2.0 / 3.0 };
    let notch = [inside(curve, share, -0.004), inside(curve, share, 0.012)].map(|point| drawn.at(point));
    let _ = writeln!(
        svg,
        "<path d=\"M {:.3} {:.3} L {:.3} {:.3}\" stroke=\"{color}\" stroke-width=\"0.35\"/>",
        notch[0][0], notch[0][1], notch[1][0], notch[1][1]
    );
    let [low, high] = panel.bounds();
    // Small panels have small numbers, so that those of opposite edges do not meet.
    let radius = (0.22 * (high[0] - low[0]).min(high[1] - low[1])).min(0.011).min(0.3 * curve.length());
    let [x, y] = drawn.at(inside(curve, 0.5, 1.25 * radius));
    let _ = writeln!(svg, "<circle cx=\"{x:.3}\" cy=\"{y:.3}\" r=\"{:.3}\" fill=\"{color}\"/>", radius * 100.0);
    let ink = if is_light(number) { "#222222" } else { "#ffffff" };
    draw_text(svg, [x, y], 1.25 * radius, ink, &(number + 1).to_string(), " font-weight=\"bold\"");
}

/// A bar of 10 cm.
fn draw_scale(svg: &mut String, height: f64) {
    let (x, y) = (MARGIN * 100.0, height - 2.5);
    for centimetre in 0..10 {
        let fill = if centimetre % 2 == 0 { "#3a3a3a" } else { "#ffffff" };
        let _ = writeln!(
            svg,
            "<rect x=\"{:.2}\" y=\"{y:.2}\" width=\"1\" height=\"0.6\" fill=\"{fill}\" stroke=\"#3a3a3a\" stroke-width=\"0.08\"/>",
            x + f64::from(centimetre)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.2}\" y=\"{:.2}\" font-size=\"1.6\" fill=\"#3a3a3a\">10 cm</text>",
        x + 10.8,
        y + 0.9
    );
}

fn draw_text(svg: &mut String, [x, y]: Point, size: f64, color: &str, text: &str, more: &str) {
    let size = size * 100.0;
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => shown += "&amp;",
            '<' => shown += "&lt;",
            '>' => shown += "&gt;",
            letter if letter.is_control() => shown.push('\u{fffd}'), // XML has no way to write most of them
            letter => shown.push(letter),
        }
    }
    let _ = writeln!(
        svg,
        "<text x=\"{x:.3}\" y=\"{:.3}\" font-size=\"{size:.3}\" text-anchor=\"middle\" fill=\"{color}\"{more}>{shown}</text>",
        y + 0.36 * size
    );
}

/// A point beside a curve: at a share of its length, and so far to its left, which is within the panel.
fn inside(curve: &Curve, share: f64, distance_in: f64) -> Point {
    let points = curve.divide(60);
    let at = ((share * 60.0).round() as usize).clamp(1, 59);
    let along = sub(points[at + 1], points[at - 1]);
    let length = distance(points[at + 1], points[at - 1]).max(1e-12);
    [points[at][0] - along[1] / length * distance_in, points[at][1] + along[0] / length * distance_in]
}

/// The middle of the widest horizontal span of a panel, and how wide it is; the middle rows are preferred.
fn widest(outline: &[Point], low: f64, high: f64) -> (Point, f64) {
    let mut best = ([0.5 * (outline[0][0] + outline[1][0]), 0.5 * (low + high)], 0.0, 0.0);
    for row in 1..20 {
        let share = f64::from(row) / 20.0;
        let y = low + share * (high - low);
        let preference = 1.0 - 1.6 * (share - 0.5).abs();
        for span in spans(outline, y, 1) {
            let width = span[1] - span[0];
            if width * preference > best.2 {
                best = ([0.5 * (span[0] + span[1]), y], width, width * preference);
            }
        }
    }
    (best.0, best.1)
}

/// The part of the line through a point along an axis (0: upright, 1: level) that lies within an outline and has the point.
fn chord(outline: &[Point], point: Point, axis: usize) -> Option<[f64; 2]> {
    let at = point[1 - axis];
    spans(outline, point[axis], axis).into_iter().find(|span| span[0] <= at && at <= span[1])
}

/// Where the line with the given coordinate along an axis is within an outline.
fn spans(outline: &[Point], value: f64, axis: usize) -> Vec<[f64; 2]> {
    let mut crossings = Vec::new();
    for (index, a) in outline.iter().enumerate() {
        let b = outline[(index + 1) % outline.len()];
        if (a[axis] <= value) != (b[axis] <= value) {
            let t = (value - a[axis]) / (b[axis] - a[axis]);
            crossings.push(a[1 - axis] + t * (b[1 - axis] - a[1 - axis]));
        }
    }
    crossings.sort_by(f64::total_cmp);
    crossings.chunks_exact(2).map(|span| [span[0], span[1]]).collect()
}

/// Colours far from each other: hues a golden angle apart, in turns darker and lighter. Red, green and blue from 0 to 1.
fn channels(number: usize) -> [f64; 3] {
    let hue = (number as f64 * 137.508) % 360.0 / 60.0;
    let (light, depth) = if number.is_multiple_of(2) { (0.42, 0.36) } else { (0.5, 0.3) };
    [5.0, 3.0, 1.0].map(|shift: f64| {
        let k = (shift + hue) % 6.0;
        light + depth - 2.0 * depth * k.min(4.0 - k).clamp(0.0, 1.0)
    })
}

fn color(number: usize) -> String {
    let [red, green, blue] = channels(number).map(|value| (value * 255.0).round() as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Whether white letters cannot be read on the colour of a seam.
fn is_light(number: usize) -> bool {
    let [red, green, blue] = channels(number);
    0.299 * red + 0.587 * green + 0.114 * blue > 0.55
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_the_first_seams_differ() {
        let all: std::collections::BTreeSet<String> = (0..40).map(color).collect();
        assert_eq!(all.len(), 40);
        assert_eq!(color(0), "#c70f0f"); // red
    }

    #[test]
    fn a_line_through_a_u_has_two_spans() {
        let u = [[0.0, 0.0], [3.0, 0.0], [3.0, 2.0], [2.0, 2.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
        assert_eq!(spans(&u, 1.5, 1), [[0.0, 1.0], [2.0, 3.0]]);
        assert_eq!(chord(&u, [2.5, 0.5], 0), Some([0.0, 2.0]));
        assert_eq!(chord(&u, [1.5, 1.5], 0), None);
    }
}
