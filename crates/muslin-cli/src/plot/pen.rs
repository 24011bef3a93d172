//! Lines, marks and words on a picture, whatever it is made of.

use plotters::coord::Shift;
use plotters::element::{Circle, PathElement, Polygon, Text};
use plotters::prelude::{DrawingArea, DrawingBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontTransform, IntoFont, RGBColor, ShapeStyle, TextStyle};

/// Pixels of the backend for one of the picture: the finer ones are averaged, which makes lines smooth.
pub(crate) const SCALE: usize = 2;
/// The font in assets/ is registered under this name; an SVG is shown with whatever the reader has.
pub(crate) const FONT: &str = "sans-serif";

/// A point of the picture, in pixels from the top left.
pub(crate) type Point = (f64, f64);

/// Why something could not be drawn.
pub(crate) type Drawn = Result<(), String>;

/// Draws on an area.
pub(crate) struct Pen<'a, B: DrawingBackend> {
    pub(crate) area: &'a DrawingArea<B, Shift>,
}

/// How a run looks in all panels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    pub(crate) color: RGBColor,
    pub(crate) width: f64,
    pub(crate) is_dashed: bool,
    pub(crate) mark: Mark,
}

/// The shape of a point, so that nobody has to tell colours apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    None,
    Circle,
    Square,
    Triangle,
    Diamond,
}

/// Words: how large, in which colour and on which side of their point.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    pub(crate) size: f64,
    pub(crate) color: RGBColor,
    pub(crate) across: HPos,
    pub(crate) along: VPos,
    pub(crate) is_upright: bool,
}

impl Words {
    pub(crate) fn new(size: f64, color: RGBColor) -> Self {
        Self { size, color, across: HPos::Left, along: VPos::Center, is_upright: false }
    }

    fn style(&self) -> TextStyle<'_> {
        let font = (FONT, self.size * SCALE as f64).into_font();
        let font = if self.is_upright { font.transform(FontTransform::Rotate270) } else { font };
        TextStyle::from(font).color(&self.color).pos(Pos::new(self.across, self.along))
    }
}

impl<B: DrawingBackend> Pen<'_, B> {
    fn at((x, y): Point) -> (i32, i32) {
        let pixel = |value: f64| (value * SCALE as f64).round() as i32;
        (pixel(x), pixel(y))
    }

    fn stroke(color: RGBColor, width: f64) -> ShapeStyle {
        ShapeStyle::from(&color).stroke_width((width * SCALE as f64).round().max(1.0) as u32)
    }

    pub(crate) fn line(&self, points: &[Point], color: RGBColor, width: f64) -> Drawn {
        let points: Vec<_> = points.iter().copied().map(Self::at).collect();
        self.area.draw(&PathElement::new(points, Self::stroke(color, width))).map_err(|error| error.to_string())
    }

    pub(crate) fn dashes(&self, points: &[Point], color: RGBColor, width: f64, dash: f64) -> Drawn {
        for piece in cut(points, dash).iter().step_by(2) {
            self.line(piece, color, width)?;
        }
        Ok(())
    }

    /// A closed shape without an outline.
    pub(crate) fn fill(&self, points: &[Point], color: RGBColor) -> Drawn {
        let points: Vec<_> = points.iter().copied().map(Self::at).collect();
        self.area.draw(&Polygon::new(points, color)).map_err(|error| error.to_string())
    }

    pub(crate) fn path(&self, points: &[Point], look: &Look) -> Drawn {
        match look.is_dashed {
            true => self.dashes(points, look.color, look.width, 9.0),
            false => self.line(points, look.color, look.width),
        }
    }

    pub(crate) fn mark(&self, (x, y): Point, look: &Look, radius: f64, is_filled: bool) -> Drawn {
        let corners = |corners: &[Point]| corners.iter().map(|(dx, dy)| (x + radius * dx, y + radius * dy)).collect();
        let corners: Vec<Point> = match look.mark {
            Mark::None => return Ok(()),
            Mark::Circle => {
                let style = Self::stroke(look.color, 2.0);
                let style = if is_filled { style.filled() } else { style };
                let circle = Circle::new(Self::at((x, y)), (radius * SCALE as f64) as i32, style);
                return self.area.draw(&circle).map_err(|error| error.to_string());
            }
            Mark::Square => corners(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            Mark::Triangle => corners(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
            Mark::Diamond => corners(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        };
        if is_filled {
            let points: Vec<_> = corners.into_iter().map(Self::at).collect();
            return self.area.draw(&Polygon::new(points, look.color)).map_err(|error| error.to_string());
        }
        let closed: Vec<Point> = corners.iter().chain(&corners[..1]).copied().collect();
        self.line(&closed, look.color, 2.0)
    }

    /// A cross where a run ended before its time.
    pub(crate) fn cross(&self, (x, y): Point, color: RGBColor) -> Drawn {
        let r = 7.0;
        self.line(&[(x - r, y - r), (x + r, y + r)], color, 3.0)?;
        self.line(&[(x - r, y + r), (x + r, y - r)], color, 3.0)
    }

    pub(crate) fn words(&self, text: &str, at: Point, words: &Words) -> Drawn {
        self.area.draw(&Text::new(text.to_owned(), Self::at(at), words.style())).map_err(|error| error.to_string())
    }

    /// Width and height of some words, in pixels.
    pub(crate) fn extent(&self, text: &str, words: &Words) -> Point {
        let (width, height) = self.area.estimate_text_size(text, &words.style()).unwrap_or((0, 0));
        (f64::from(width) / SCALE as f64, f64::from(height) / SCALE as f64)
    }
}

/// A path in pieces of a length, the last one shorter.
fn cut(points: &[Point], length: f64) -> Vec<Vec<Point>> {
    let mut pieces = Vec::new();
    let mut piece: Vec<Point> = points.first().copied().into_iter().collect();
    let mut left = length;
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let (dx, dy) = (to.0 - from.0, to.1 - from.1);
            let distance = (dx * dx + dy * dy).sqrt();
            if distance < left || distance == 0.0 {
                left -= distance;
                piece.push(to);
                break;
            }
            let t = left / distance;
            from = (from.0 + t * dx, from.1 + t * dy);
            piece.push(from);
            pieces.push(std::mem::replace(&mut piece, vec![from]));
            left = length;
        }
    }
    if piece.iter().any(|point| *point != piece[0]) {
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cut_to_length() {
        let pieces = cut(&[(0.0, 0.0), (3.0, 0.0), (3.0, 3.0)], 2.0);
        assert_eq!(pieces.len(), 3);
        assert_eq!(pieces[1], [(2.0, 0.0), (3.0, 0.0), (3.0, 1.0)], "around a corner");
        assert_eq!(cut(&[], 2.0).len() + cut(&[(1.0, 1.0)], 2.0).len(), 0);
    }
}
