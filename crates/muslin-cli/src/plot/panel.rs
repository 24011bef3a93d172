//! One of the four diagrams.

use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::Axis;
use super::pen::{Drawn, Look, Pen, Point, Words};

const GRID: RGBColor = RGBColor(225, 225, 225);
const FRAME: RGBColor = RGBColor(110, 110, 110);
const INK: RGBColor = RGBColor(30, 30, 30);
/// Marks along a curve.
const MARKS: usize = 6;

/// Left, top, right and bottom, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Frame {
    fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    fn holds(&self, other: &Self) -> bool {
        self.left <= other.left && other.right <= self.right && self.top <= other.top && other.bottom <= self.bottom
    }
}

/// A diagram with its axes.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) frame: Frame,
    pub(crate) title: &'static str,
    pub(crate) across: &'static str,
    pub(crate) along: &'static str,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

/// A run in a diagram over time.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub(crate) look: Look,
    pub(crate) points: Vec<Point>,
    pub(crate) has_failed: bool,
}

/// A run in a diagram without time.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub(crate) look: Look,
    pub(crate) at: Point,
    pub(crate) label: String,
}

impl Panel {
    /// Title, axes and grid.
    pub(crate) fn lay_out<B: DrawingBackend>(&self, pen: &Pen<'_, B>) -> Drawn {
        let Frame { left, top, right, bottom } = self.frame;
        let small = Words::new(16.0, INK);
        for tick in self.x.ticks() {
            let x = left + tick.place * (right - left);
            pen.line(&[(x, top), (x, bottom)], GRID, 1.0)?;
            let words = Words { across: HPos::Center, along: VPos::Top, ..small };
            pen.words(&tick.label, (x, bottom + 7.0), &words)?;
        }
        for tick in self.y.ticks() {
            let y = bottom - tick.place * (bottom - top);
            pen.line(&[(left, y), (right, y)], GRID, 1.0)?;
            pen.words(&tick.label, (left - 8.0, y), &Words { across: HPos::Right, ..small })?;
        }
        pen.line(&[(left, top), (left, bottom), (right, bottom)], FRAME, 1.5)?;
        pen.words(self.title, (left, top - 20.0), &Words::new(20.0, INK))?;
        let middle = 0.5 * (left + right);
        let below = Words { across: HPos::Center, along: VPos::Top, ..Words::new(17.0, INK) };
        pen.words(self.across, (middle, bottom + 32.0), &below)?;
        let beside = Words { across: HPos::Center, along: VPos::Top, is_upright: true, ..Words::new(17.0, INK) };
        pen.words(self.along, (left - 92.0, 0.5 * (top + bottom)), &beside)
    }

    /// Says that there is nothing to be drawn, and why.
    pub(crate) fn remark<B: DrawingBackend>(&self, pen: &Pen<'_, B>, text: &str) -> Drawn {
        let Frame { left, top, right, bottom } = self.frame;
        let words = Words { across: HPos::Center, ..Words::new(18.0, FRAME) };
        pen.words(text, (0.5 * (left + right), 0.5 * (top + bottom)), &words)
    }

    fn point(&self, (x, y): Point) -> Point {
        let Frame { left, top, right, bottom } = self.frame;
        (left + x * (right - left), bottom - y * (bottom - top))
    }

    /// A curve, with what has no place on the axes left out and what is outside of them cut off. `turn` of `turns`
    /// keeps the marks of curves that lie upon each other apart.
    pub(crate) fn curve<B: DrawingBackend>(
        &self,
        pen: &Pen<'_, B>,
        curve: &Curve,
        (turn, turns): (usize, usize),
    ) -> Drawn {
        let places: Vec<Option<Point>> =
            curve.points.iter().map(|&(x, y)| Some((self.x.place(x)?, self.y.place(y)?))).collect();
        for run in visible(&places) {
            let points: Vec<Point> = run.into_iter().map(|place| self.point(place)).collect();
            pen.path(&points, &curve.look)?;
        }
        let is_inside = |place: &&Point| (-1e-9..=1.0 + 1e-9).contains(&place.1);
        for i in 0..MARKS {
            let at = (i as f64 + (turn as f64 + 0.5) / turns.max(1) as f64) / MARKS as f64;
            let index = (at * places.len() as f64) as usize;
            if let Some(place) = places.get(index).and_then(Option::as_ref).filter(is_inside) {
                pen.mark(self.point(*place), &curve.look, 5.5, true)?;
            }
        }
        match places.iter().flatten().last().filter(|_| curve.has_failed) {
            Some(&(x, y)) => pen.cross(self.point((x, y.clamp(0.0, 1.0))), curve.look.color),
            None => Ok(()),
        }
    }

    /// Points with their labels beside them, where there is room. What has no place on the y axis is drawn hollow at
    /// its lower end. `line` is the x of an upright line, with its label.
    pub(crate) fn spots<B: DrawingBackend>(
        &self,
        pen: &Pen<'_, B>,
        spots: &[Spot],
        line: Option<(f64, String)>,
    ) -> Drawn {
        let words = Words::new(16.0, INK);
        let room = 9.0;
        let around = |(x, y): Point, r: f64| Frame { left: x - r, right: x + r, top: y - r, bottom: y + r };
        let placed = |spot: &Spot| {
            let y = self.y.place(spot.at.1);
            Some((self.point((self.x.place(spot.at.0)?, y.unwrap_or(0.0).max(0.0))), y.is_some()))
        };
        let spots: Vec<(&Spot, Point, bool)> =
            spots.iter().filter_map(|spot| placed(spot).map(|(at, has_place)| (spot, at, has_place))).collect();
        let mut taken: Vec<Frame> = spots.iter().map(|(_, at, _)| around(*at, room)).collect();
        if let Some((x, label)) = line
            && let Some(place) = self.x.place(x)
        {
            let ((x, top), (_, bottom)) = (self.point((place, 1.0)), self.point((place, 0.0)));
            pen.dashes(&[(x, top), (x, bottom)], INK, 2.0, 8.0)?;
            let (width, height) = pen.extent(&label, &words);
            let left = if x + room + width <= self.frame.right { x + room } else { x - room - width };
            pen.words(&label, (left, top + height), &words)?;
            taken.push(Frame { left, right: left + width, top, bottom: top + 2.0 * height });
            taken.push(Frame { left: x - 1.0, right: x + 1.0, top, bottom });
        }
        for (spot, at, has_place) in spots {
            pen.mark(at, &spot.look, 8.0, has_place)?;
            let (width, height) = pen.extent(&spot.label, &words);
            let boxed = |left: f64, middle: f64| Frame {
                left,
                right: left + width,
                top: middle - 0.5 * height,
                bottom: middle + 0.5 * height,
            };
            let sides = [at.0 + room + 3.0, at.0 - room - 3.0 - width, at.0 - 0.5 * width];
            let steps = [0.0, 1.0, -1.0, 1.6, -1.6, 2.4, -2.4, 3.4, -3.4, 4.4, -4.4].map(|step| at.1 + step * height);
            let frames = steps.into_iter().flat_map(|middle| sides.map(|left| boxed(left, middle)));
            let is_free = |frame: &Frame| self.frame.holds(frame) && !taken.iter().any(|other| other.overlaps(frame));
            let frame = frames.into_iter().find(is_free).unwrap_or(boxed(sides[0], at.1));
            pen.words(&spot.label, (frame.left, 0.5 * (frame.top + frame.bottom)), &words)?;
            taken.push(frame);
        }
        Ok(())
    }
}

/// The parts of a path between 0 and 1 in y.
fn visible(places: &[Option<Point>]) -> Vec<Vec<Point>> {
    let mut runs: Vec<Vec<Point>> = Vec::new();
    let mut last: Option<Point> = None;
    for pair in places.windows(2) {
        let piece = pair[0].zip(pair[1]).and_then(|(a, b)| clip(a, b));
        if let Some((from, to)) = piece {
            match runs.last_mut().filter(|_| last == Some(from)) {
                Some(run) => run.push(to),
                None => runs.push(vec![from, to]),
            }
        }
        last = piece.map(|(_, to)| to);
    }
    runs
}

/// The part of a segment between 0 and 1 in y.
fn clip(a: Point, b: Point) -> Option<(Point, Point)> {
    let rise = b.1 - a.1;
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    if rise == 0.0 {
        return (0.0..=1.0).contains(&a.1).then_some((a, b));
    }
    let [low, high] = [-a.1 / rise, (1.0 - a.1) / rise];
    from = from.max(low.min(high));
    to = to.min(low.max(high));
    let at = |t: f64| match t {
        0.0 => a,
        1.0 => b,
        t => (a.0 + t * (b.0 - a.0), a.1 + t * rise),
    };
    (from <= to).then(|| (at(from), at(to)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_cut_at_the_frame() {
        assert_eq!(clip((0.0, 0.5), (1.0, 1.5)), Some(((0.0, 0.5), (0.5, 1.0))));
        assert_eq!(clip((0.0, -1.0), (1.0, 2.0)).map(|(a, b)| (a.1.round(), b.1.round())), Some((0.0, 1.0)));
        assert_eq!(clip((0.0, 2.0), (1.0, 3.0)), None);
        assert_eq!(clip((0.0, 0.5), (1.0, 0.5)), Some(((0.0, 0.5), (1.0, 0.5))));
        assert_eq!(clip((0.0, 1.5), (1.0, 1.5)), None);
    }

    #[test]
    fn a_curve_has_gaps_where_it_has_no_place() {
        let place = |x: f64, y: f64| Some((x, y));
        let path = [place(0.0, 0.2), place(0.1, 0.3), None, place(0.3, 0.3), place(0.4, 0.4), place(0.5, 0.5)];
        assert_eq!(visible(&path).iter().map(Vec::len).collect::<Vec<_>>(), [2, 3]);
    }
}
