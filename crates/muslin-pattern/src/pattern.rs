//! A pattern as typed values: panels, edges, stitches, in metres and radians, y up.
//!
//! Every panel's loop runs counter-clockwise in its own axes, so that its outer side is +z of them. A file may have a loop that runs clockwise, which
//! makes −z the outer side: such a panel is turned about its y axis (x negated, the rotation followed by half a turn), which moves no point in space.

use std::f64::consts::PI;

use crate::curve::{Curve, Point};
use crate::outline;

/// A sewing pattern.
///
/// ```
/// use muslin_pattern::{Limits, Pattern};
///
/// let text = r#"{ "pattern": { "panels": { "square": {
///         "translation": [0, 100, 15], "rotation": [0, 0, 0],
///         "vertices": [[0, 0], [10, 0], [10, 10], [0, 10]],
///         "edges": [{"endpoints": [0, 1]}, {"endpoints": [1, 2]}, {"endpoints": [2, 3]}, {"endpoints": [3, 0]}] } },
///     "stitches": [] }, "properties": { "units_in_meter": 100, "curvature_coords": "relative" } }"#;
/// let pattern = Pattern::from_json(text, &Limits::default())?.pattern;
/// assert_eq!(pattern.panels()[0].name(), "square");
/// assert!((pattern.panels()[0].edges()[0].curve().length() - 0.1).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    pub(crate) panels: Vec<Panel>,
    pub(crate) stitches: Vec<Stitch>,
}

impl Pattern {
    /// Its panels, in the order of `panel_order`, or of the file.
    pub fn panels(&self) -> &[Panel] {
        &self.panels
    }

    /// Its stitches, in the order of the file.
    pub fn stitches(&self) -> &[Stitch] {
        &self.stitches
    }

    /// What a stitch is called: its two edges with their numbers in the file, `front.3 + back.1`.
    pub fn stitch_name(&self, stitch: &Stitch) -> String {
        let [a, b] = stitch.sides.map(|side| {
            let panel = &self.panels[side.panel];
            format!("{}.{}", panel.name, panel.edges[side.edge].number)
        });
        format!("{a} + {b}")
    }
}

/// A piece of cloth.
///
/// ```
/// # let text = r#"{"pattern": {"panels": {"p": {"translation": [0, 0, 0], "rotation": [0, 0, 0], "vertices": [[0, 0], [0, 9], [9, 0]],
/// #   "edges": [{"endpoints": [0, 1]}, {"endpoints": [1, 2]}, {"endpoints": [2, 0]}]}}, "stitches": []}, "properties": {"units_in_meter": 100}}"#;
/// # let pattern = muslin_pattern::Pattern::from_json(text, &Default::default())?.pattern;
/// let panel = &pattern.panels()[0]; // a triangle that runs clockwise in the file
/// assert!(panel.is_turned());
/// assert!(panel.area() > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    pub(crate) name: String,
    pub(crate) label: Option<String>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) placement: Placement,
    pub(crate) is_turned: bool,
}

impl Panel {
    /// Its name in the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The part of the body that it may touch, where the file says one: `body`, `leg`, `arm` and the like.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Its edges: one loop, counter-clockwise in the axes of the panel; each begins where the one before ends.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Where it is in space.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// Whether its loop runs clockwise in the file, so that x is negated here.
    pub fn is_turned(&self) -> bool {
        self.is_turned
    }

    /// Its area in m², of its outline as lines that are close to the curves.
    pub fn area(&self) -> f64 {
        outline::area(&self.outline().0)
    }

    /// The box around it in its own axes, in m: lowest and highest.
    pub fn bounds(&self) -> [Point; 2] {
        outline::bounds(self.outline().0)
    }

    /// Its outline as a polygon, and the edge of each side.
    pub(crate) fn outline(&self) -> (Vec<Point>, Vec<usize>) {
        let (mut points, mut edges) = (Vec::new(), Vec::new());
        for (index, edge) in self.edges.iter().enumerate() {
            let mut flat = edge.curve.flat();
            flat.pop(); // the next edge begins there
            edges.extend(std::iter::repeat_n(index, flat.len()));
            points.extend(flat);
        }
        (points, edges)
    }
}

/// A side of a panel, from corner to corner.
///
/// ```
/// # let text = r#"{"pattern": {"panels": {"p": {"translation": [0, 0, 0], "rotation": [0, 0, 0], "vertices": [[0, 0], [9, 0], [0, 9]],
/// #   "edges": [{"endpoints": [0, 1], "label": "hem"}, {"endpoints": [1, 2]}, {"endpoints": [2, 0]}]}}, "stitches": []}, "properties": {"units_in_meter": 100}}"#;
/// # let pattern = muslin_pattern::Pattern::from_json(text, &Default::default())?.pattern;
/// let edge = &pattern.panels()[0].edges()[0];
/// assert_eq!((edge.number(), edge.label()), (0, Some("hem")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    pub(crate) number: usize,
    pub(crate) curve: Curve,
    pub(crate) label: Option<String>,
}

impl Edge {
    /// Its number in the file, counted from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Its shape, in the axes of the panel.
    pub fn curve(&self) -> &Curve {
        &self.curve
    }

    /// What the file calls it: `lower_interface`, `left_collar` and the like.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }
}

/// Two edges that are sewn together, whole.
///
/// ```
/// use muslin_pattern::{EdgeRef, Stitch};
///
/// let dart = Stitch { sides: [EdgeRef { panel: 0, edge: 1 }, EdgeRef { panel: 0, edge: 2 }], is_right_to_wrong: false };
/// assert!(dart.is_within_panel());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stitch {
    /// The two edges.
    pub sides: [EdgeRef; 2],
    /// Whether the right side of one cloth is sewn to the wrong side of the other: then their starts meet, else the end of one meets the start of the other.
    pub is_right_to_wrong: bool,
}

impl Stitch {
    /// Whether both edges are of one panel, as in a dart or a tube.
    pub fn is_within_panel(&self) -> bool {
        self.sides[0].panel == self.sides[1].panel
    }
}

/// An edge of a panel, by their places in [`Pattern::panels`] and [`Panel::edges`].
///
/// ```
/// use muslin_pattern::EdgeRef;
///
/// assert!(EdgeRef { panel: 0, edge: 3 } < EdgeRef { panel: 1, edge: 0 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EdgeRef {
    /// The panel.
    pub panel: usize,
    /// The edge, by its place in the loop.
    pub edge: usize,
}

/// Where a panel is in space: first turned, then moved.
///
/// ```
/// use muslin_pattern::Placement;
///
/// let behind = Placement::from_angles([0.0, std::f64::consts::PI, 0.0], [0.0, 1.0, -0.1]);
/// let [x, y, z] = behind.apply([0.2, 0.3]);
/// assert!((x + 0.2).abs() < 1e-15 && (y - 1.3).abs() < 1e-15 && (z + 0.1).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// The rotation, row by row.
    pub rotation: [[f64; 3]; 3],
    /// Where the origin of the panel goes, in m.
    pub translation: [f64; 3],
}

impl Placement {
    /// Rotations about x, then y, then z (R = Rz·Ry·Rx), in rad, and then a translation in m.
    pub fn from_angles(angles: [f64; 3], translation: [f64; 3]) -> Self {
        let [(sx, cx), (sy, cy), (sz, cz)] = angles.map(|angle| (libm::sin(angle), libm::cos(angle)));
        let rotation = [
            [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
            [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
            [-sy, cy * sx, cy * cx],
        ];
        Self { rotation, translation }
    }

    /// As a file has it, in degrees. Whole right angles come out exact, as if the sine of 180° were 0.
    pub(crate) fn from_degrees(degrees: [f64; 3], translation: [f64; 3]) -> Self {
        let mut placed = Self::from_angles(degrees.map(|angle| (angle % 360.0) * (PI / 180.0)), translation);
        if degrees.iter().all(|angle| angle % 90.0 == 0.0) {
            placed.rotation = placed.rotation.map(|row| row.map(f64::round));
        }
        placed
    }

    /// Where a point of the panel goes, in m.
    pub fn apply(&self, [x, y]: Point) -> [f64; 3] {
        [0, 1, 2].map(|k| self.rotation[k][0] * x + self.rotation[k][1] * y + self.translation[k])
    }

    /// The outer side's direction: where the panel's +z goes.
    pub fn normal(&self) -> [f64; 3] {
        self.rotation.map(|row| row[2])
    }

    /// The same place for a panel whose x is negated.
    pub(crate) fn turned(mut self) -> Self {
        for row in &mut self.rotation {
            *row = [-row[0], row[1], -row[2]];
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_are_about_x_then_y_then_z() {
        let placed = Placement::from_degrees([90.0, 0.0, 90.0], [0.0; 3]);
        // y goes to z by x, and stays there; x stays by x, and goes to y.
        assert_eq!(placed.apply([0.0, 1.0]), [0.0, 0.0, 1.0]);
        assert_eq!(placed.apply([1.0, 0.0]), [0.0, 1.0, 0.0]);
        let back = Placement::from_degrees([180.0, 0.0, 180.0], [0.0; 3]);
        assert_eq!(back.normal(), [0.0, 0.0, -1.0]);
        assert_eq!(back.apply([1.0, 2.0]), [-1.0, 2.0, 0.0]);
    }

    #[test]
    fn a_turned_panel_stays_where_it_is() {
        let placed = Placement::from_degrees([-36.3, 90.0, 12.0], [1.0, 2.0, 3.0]);
        assert_eq!(placed.apply([0.3, 0.4]), placed.turned().apply([-0.3, 0.4]));
        assert_eq!(placed.normal().map(|x| -x), placed.turned().normal());
    }
}
