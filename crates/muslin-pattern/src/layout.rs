//! Panels side by side on a table, without overlap.

use crate::curve::Point;
use crate::pattern::Pattern;

/// Free cloth between panels, in m: room for notches and names.
pub(crate) const GAP: f64 = 0.06;

/// Where panels lie on a table.
///
/// ```
/// # let text = r#"{"pattern": {"panels": {"p": {"translation": [0, 0, 0], "rotation": [0, 0, 0], "vertices": [[-4, 0], [5, 0], [0, 9]],
/// #   "edges": [{"endpoints": [0, 1]}, {"endpoints": [1, 2]}, {"endpoints": [2, 0]}]}}, "stitches": []}, "properties": {"units_in_meter": 100}}"#;
/// # let pattern = muslin_pattern::Pattern::from_json(text, &Default::default())?.pattern;
/// let layout = pattern.layout();
/// assert_eq!(layout.offsets, [[0.04, 0.0]]); // the panel begins 4 cm left of its origin
/// assert_eq!(layout.size, [0.09, 0.09]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// What to add to the points of each panel, in m.
    pub offsets: Vec<Point>,
    /// Width and height of the table, in m; it begins at the origin.
    pub size: Point,
}

impl Pattern {
    /// Lays the panels side by side in rows, in their order, the first row on top, each with its grain along y.
    ///
    /// A row is about as wide as all is high, and panels stand on its lower edge.
    pub fn layout(&self) -> Layout {
        let boxes: Vec<[Point; 2]> = self.panels.iter().map(crate::Panel::bounds).collect();
        let sides = boxes.iter().map(|[low, high]| [high[0] - low[0], high[1] - low[1]]);
        let area: f64 = sides.clone().map(|[width, height]| (width + GAP) * (height + GAP)).sum();
        let widest = sides.clone().map(|[width, _]| width).fold(0.0, f64::max);
        let row_width = (1.3 * area.sqrt()).max(widest);
        // The row of each panel, and where it begins in it; then how high each row is.
        let (mut places, mut heights) = (Vec::with_capacity(boxes.len()), vec![0.0_f64]);
        let (mut x, mut width_used) = (0.0, 0.0_f64);
        for [width, height] in sides {
            if x > 0.0 && x + width > row_width {
                x = 0.0;
                heights.push(0.0);
            }
            let row = heights.len() - 1;
            places.push((row, x));
            heights[row] = heights[row].max(height);
            width_used = width_used.max(x + width);
            x += width + GAP;
        }
        let below = |row: usize| heights[row + 1..].iter().map(|height| height + GAP).sum::<f64>();
        let offsets = boxes.iter().zip(places).map(|([low, _], (row, x))| [x - low[0], below(row) - low[1]]).collect();
        Layout { offsets, size: [width_used, heights[0] + below(0)] }
    }
}
