//! Points and sides sorted into the boxes of a grid, to find those near a point.

use crate::curve::Point;
use crate::outline;

/// A grid of boxes over a part of the plane, with numbers of things in them.
pub(super) struct Boxes {
    low: Point,
    size: f64,
    counts: [usize; 2],
    content: Vec<Vec<u32>>,
}

impl Boxes {
    /// Boxes of about `size`, over some points; no more than a million, so that a long thin thing across the grid takes no memory.
    pub(super) fn over(points: &[Point], size: f64) -> Self {
        let [low, high] = outline::bounds(points.iter().copied());
        let (width, height) = (high[0] - low[0], high[1] - low[1]);
        let size = size.max((width * height / 1e6).sqrt()).max(width.max(height) / 1e5);
        let counts = [width, height].map(|side| (side / size) as usize + 1);
        Self { low, size, counts, content: vec![Vec::new(); counts[0] * counts[1]] }
    }

    fn index(&self, value: f64, axis: usize) -> usize {
        // A cast of a negative number is 0.
        (((value - self.low[axis]) / self.size) as usize).min(self.counts[axis] - 1)
    }

    /// Puts a thing into all boxes that the box from `low` to `high` meets.
    pub(super) fn insert(&mut self, number: u32, low: Point, high: Point) {
        for y in self.index(low[1], 1)..=self.index(high[1], 1) {
            for x in self.index(low[0], 0)..=self.index(high[0], 0) {
                self.content[y * self.counts[0] + x].push(number);
            }
        }
    }

    /// All things in boxes that reach into the square around a point; one in several boxes comes several times.
    pub(super) fn near(&self, [x, y]: Point, reach: f64) -> impl Iterator<Item = u32> {
        let columns = self.index(x - reach, 0)..=self.index(x + reach, 0);
        let rows = self.index(y - reach, 1)..=self.index(y + reach, 1);
        rows.flat_map(move |row| columns.clone().map(move |column| row * self.counts[0] + column))
            .flat_map(|at| self.content[at].iter().copied())
    }
}
