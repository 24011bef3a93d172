//! How long sides should be at a place: as asked for, and finer near an outline that is divided more finely.

use super::boxes::Boxes;
use crate::curve::{Point, distance};
use crate::outline::distance_to;

/// How fast sides may grow away from a fine outline: m per m. Neighbours then differ by a third.
const GROWTH: f64 = 0.3;
/// What counts as fine.
const FINE: f64 = 0.9;

/// An outline, with the length that sides should have near it.
pub(super) struct Sizes {
    outline: Vec<Point>,
    edge_length: f64,
    sides: Boxes,
    /// Vertices of the outline whose sides are short.
    fine: Boxes,
    spacing: Vec<f64>,
    reach: f64,
}

impl Sizes {
    pub(super) fn new(outline: &[Point], edge_length: f64) -> Self {
        let count = outline.len();
        let side = |index: usize| distance(outline[index % count], outline[(index + 1) % count]);
        let spacing: Vec<f64> = (0..count).map(|index| 0.5 * (side(index + count - 1) + side(index))).collect();
        let (mut sides, mut fine) = (Boxes::over(outline, edge_length), Boxes::over(outline, edge_length));
        let mut finest = edge_length;
        for index in 0..count {
            let (a, b) = (outline[index], outline[(index + 1) % count]);
            sides.insert(index as u32, [0, 1].map(|k| a[k].min(b[k])), [0, 1].map(|k| a[k].max(b[k])));
            if spacing[index] < FINE * edge_length {
                fine.insert(index as u32, a, a);
                finest = finest.min(spacing[index]);
            }
        }
        let reach = (edge_length - finest) / GROWTH;
        Self { outline: outline.to_vec(), edge_length, sides, fine, spacing, reach }
    }

    /// The length of sides at a point.
    pub(super) fn at(&self, point: Point) -> f64 {
        if self.reach == 0.0 {
            return self.edge_length;
        }
        let near = self.fine.near(point, self.reach);
        near.map(|index| index as usize).fold(self.edge_length, |size, index| {
            size.min(self.spacing[index] + GROWTH * distance(point, self.outline[index]))
        })
    }

    /// Whether a point is farther from the outline than a distance.
    pub(super) fn is_clear(&self, point: Point, clearance: f64) -> bool {
        let count = self.outline.len();
        let side = |index: u32| [self.outline[index as usize], self.outline[(index as usize + 1) % count]];
        self.sides.near(point, clearance).all(|index| distance_to(point, side(index)) > clearance)
    }
}
