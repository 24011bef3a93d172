//! Panels → triangles: edges divided alike on both sides of a seam, and filled with nearly equilateral triangles.
//!
//! Both edges of a stitch get the same number of sides: what the longer one needs for the edge length that is asked for.
//! A gathered edge is thus divided as often as the longer one that it gathers, more finely.

mod boxes;
mod collapse;
mod delaunay;
mod fill;
mod size;

use thiserror::Error;

pub(crate) use collapse::merge;

use crate::curve::{Point, cross, distance, dot, sub};
use crate::outline;
use crate::pattern::{EdgeRef, Panel, Pattern};

/// The most vertices of a pattern.
pub const MAX_VERTICES: usize = 1_000_000;
/// The edge lengths that may be asked for, in m.
pub const EDGE_LENGTHS: [f64; 2] = [5e-4, 1.0];

/// A pattern that cannot be meshed.
///
/// ```
/// # let text = r#"{"pattern": {"panels": {"p": {"translation": [0, 0, 0], "rotation": [0, 0, 0], "vertices": [[0, 0], [9, 0], [0, 9]],
/// #   "edges": [{"endpoints": [0, 1]}, {"endpoints": [1, 2]}, {"endpoints": [2, 0]}]}}, "stitches": []}, "properties": {"units_in_meter": 100}}"#;
/// # let pattern = muslin_pattern::Pattern::from_json(text, &Default::default())?.pattern;
/// let error = pattern.mesh(5.0).unwrap_err();
/// assert_eq!(error.to_string(), "the edge length is 5 m, but must be from 0.0005 to 1 m");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MeshError {
    /// An edge length that no cloth has.
    #[error("the edge length is {found} m, but must be from {} to {} m", EDGE_LENGTHS[0], EDGE_LENGTHS[1])]
    EdgeLength {
        /// What was asked for, in m.
        found: f64,
    },
    /// More vertices than anybody waits for.
    #[error(
        "an edge length of {edge_length} m makes about {count} vertices, but at most {MAX_VERTICES} are made; take a longer one"
    )]
    TooManyVertices {
        /// What was asked for, in m.
        edge_length: f64,
        /// About how many vertices it makes.
        count: u64,
    },
    /// Sides so long that a panel would cross itself.
    #[error("panel {panel:?}: with an edge length of {edge_length} m its edges {} and {} meet, as their curves are cut short; take a shorter one", edges[0], edges[1])]
    TooCoarse {
        /// The name of the panel.
        panel: String,
        /// The numbers of its edges in the file.
        edges: [usize; 2],
        /// What was asked for, in m.
        edge_length: f64,
    },
    /// A panel so narrow that sewing joins corners of its triangles.
    #[error(
        "panel {panel:?}: with an edge length of {edge_length} m its seams join two corners of a triangle; take a shorter one, or correct the stitches"
    )]
    Collapses {
        /// The name of the panel.
        panel: String,
        /// What was asked for, in m.
        edge_length: f64,
    },
    /// A panel that could not be filled.
    #[error(
        "panel {panel:?}: its outline could not be filled with triangles of {edge_length} m; take another edge length"
    )]
    Triangulation {
        /// The name of the panel.
        panel: String,
        /// What was asked for, in m.
        edge_length: f64,
    },
}

/// The panels of a pattern as triangles, flat, each in its own axes.
///
/// ```
/// # let text = r#"{"pattern": {"panels": {"p": {"translation": [0, 0, 0], "rotation": [0, 0, 0], "vertices": [[0, 0], [9, 0], [0, 9]],
/// #   "edges": [{"endpoints": [0, 1]}, {"endpoints": [1, 2]}, {"endpoints": [2, 0]}]}},
/// #   "stitches": [[{"panel": "p", "edge": 0}, {"panel": "p", "edge": 2}]]}, "properties": {"units_in_meter": 100}}"#;
/// # let pattern = muslin_pattern::Pattern::from_json(text, &Default::default())?.pattern;
/// let mesh = pattern.mesh(0.01)?;
/// assert_eq!(mesh.seams[0].chains.each_ref().map(Vec::len), [10, 10]); // 9 cm on both sides
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PatternMesh {
    /// In the order of [`Pattern::panels`].
    pub panels: Vec<PanelMesh>,
    /// In the order of [`Pattern::stitches`].
    pub seams: Vec<Seam>,
}

/// A panel as triangles.
///
/// ```
/// # let text = r#"{"pattern": {"panels": {"p": {"translation": [0, 0, 0], "rotation": [0, 0, 0], "vertices": [[0, 0], [9, 0], [0, 9]],
/// #   "edges": [{"endpoints": [0, 1]}, {"endpoints": [1, 2]}, {"endpoints": [2, 0]}]}}, "stitches": []}, "properties": {"units_in_meter": 100}}"#;
/// # let pattern = muslin_pattern::Pattern::from_json(text, &Default::default())?.pattern;
/// let panel = &pattern.mesh(0.01)?.panels[0];
/// assert_eq!(panel.edges[0].len(), 10);
/// assert_eq!(panel.points[panel.edges[0][9] as usize], [0.09, 0.0]);
/// assert!(panel.quality().min_angle > 0.5); // rad
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PanelMesh {
    /// Vertices in the axes of the panel, in m; the grain is y. Those of the outline come first, in its order.
    pub points: Vec<Point>,
    /// Vertex triples, counter-clockwise seen from the outer side, which is +z.
    pub triangles: Vec<[u32; 3]>,
    /// The vertices along each edge of [`Panel::edges`], ends included.
    pub edges: Vec<Vec<u32>>,
}

/// Where two edges are sewn together: vertex k of the one chain to vertex k of the other.
///
/// ```
/// use muslin_pattern::Seam;
///
/// let seam = Seam { name: "front.0 + back.0".to_owned(), panels: [0, 1], chains: [vec![0, 1, 2], vec![9, 8, 7]] };
/// assert_eq!(seam.chains[0].len(), seam.chains[1].len());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seam {
    /// What [`Pattern::stitch_name`] says.
    pub name: String,
    /// The panels of both sides.
    pub panels: [usize; 2],
    /// Vertices of both sides, as many on each, numbered in their panels.
    pub chains: [Vec<u32>; 2],
}

/// How good the triangles of a panel are.
///
/// ```
/// use muslin_pattern::PanelMesh;
///
/// let square = PanelMesh { points: vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], triangles: vec![[0, 1, 2], [0, 2, 3]], edges: Vec::new() };
/// let quality = square.quality();
/// assert!((quality.min_angle.to_degrees() - 45.0).abs() < 1e-12);
/// assert!((quality.max_length / quality.min_length - 2f64.sqrt()).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// The smallest angle of a triangle, in rad.
    pub min_angle: f64,
    /// The mean of the smallest angles of all triangles, in rad; π/3 if all are equilateral.
    pub mean_min_angle: f64,
    /// The shortest side, in m.
    pub min_length: f64,
    /// The mean side, in m; a side between two triangles counts twice.
    pub mean_length: f64,
    /// The longest side, in m.
    pub max_length: f64,
}

impl PanelMesh {
    /// Measures its triangles.
    pub fn quality(&self) -> Quality {
        let (mut min_angle, mut sum_angle) = (f64::INFINITY, 0.0);
        let (mut min_length, mut sum_length, mut max_length) = (f64::INFINITY, 0.0, 0.0_f64);
        for triangle in &self.triangles {
            let corners = triangle.map(|vertex| self.points[vertex as usize]);
            let mut smallest = f64::INFINITY;
            for k in 0..3 {
                let [a, b, c] = [0, 1, 2].map(|step| corners[(k + step) % 3]);
                let (ab, ac) = (sub(b, a), sub(c, a));
                smallest = smallest.min(libm::atan2(cross(ab, ac), dot(ab, ac)));
                let length = distance(a, b);
                min_length = min_length.min(length);
                max_length = max_length.max(length);
                sum_length += length;
            }
            min_angle = min_angle.min(smallest);
            sum_angle += smallest;
        }
        let count = self.triangles.len().max(1) as f64;
        let (mean_min_angle, mean_length) = (sum_angle / count, sum_length / (3.0 * count));
        Quality { min_angle, mean_min_angle, min_length, mean_length, max_length }
    }
}

impl Pattern {
    /// Divides edges and fills panels with triangles whose sides are about `edge_length` m long.
    ///
    /// No vertex is added on an edge beyond those that both sides of its seam have. The same pattern gives the same bits.
    ///
    /// # Errors
    ///
    /// Where the edge length is out of range, or does not fit the panels.
    pub fn mesh(&self, edge_length: f64) -> Result<PatternMesh, MeshError> {
        if !(EDGE_LENGTHS[0]..=EDGE_LENGTHS[1]).contains(&edge_length) {
            return Err(MeshError::EdgeLength { found: edge_length });
        }
        let parts = self.parts(edge_length);
        // An equilateral triangle has √3/4 of its side squared, and there are two for each vertex.
        let inside: f64 = self.panels.iter().map(|panel| panel.area() / (0.866 * edge_length * edge_length)).sum();
        let count = inside as u64 + parts.iter().flatten().map(|&parts| parts as u64).sum::<u64>();
        if count > MAX_VERTICES as u64 {
            return Err(MeshError::TooManyVertices { edge_length, count });
        }
        let meshes = self.panels.iter().zip(&parts).map(|(panel, parts)| mesh_panel(panel, parts, edge_length));
        let mut panels: Vec<PanelMesh> = meshes.collect::<Result<_, _>>()?;
        let seams = self.seams(&panels);
        let collapses = |panel: usize| MeshError::Collapses { panel: self.panels[panel].name.clone(), edge_length };
        collapse::open(&mut panels, &seams).map_err(collapses)?;
        Ok(PatternMesh { panels, seams })
    }

    /// How many parts each edge of each panel gets.
    fn parts(&self, edge_length: f64) -> Vec<Vec<usize>> {
        let of_panel = |panel: &Panel| panel.edges.iter().map(|edge| edge_parts(&edge.curve, edge_length)).collect();
        let mut parts: Vec<Vec<usize>> = self.panels.iter().map(of_panel).collect();
        for stitch in &self.stitches {
            let most = stitch.sides.iter().map(|side| parts[side.panel][side.edge]).max().unwrap_or(1);
            stitch.sides.iter().for_each(|side| parts[side.panel][side.edge] = most);
        }
        parts
    }

    fn seams(&self, panels: &[PanelMesh]) -> Vec<Seam> {
        let chain = |side: EdgeRef| panels[side.panel].edges[side.edge].clone();
        let seam = |stitch: &crate::Stitch| {
            let mut chains = stitch.sides.map(chain);
            if !stitch.is_right_to_wrong {
                chains[1].reverse();
            }
            Seam { name: self.stitch_name(stitch), panels: stitch.sides.map(|side| side.panel), chains }
        };
        self.stitches.iter().map(seam).collect()
    }
}

/// As many parts as come nearest to the edge length, and enough that a curve turns by 60° at most between two sides.
fn edge_parts(curve: &crate::Curve, edge_length: f64) -> usize {
    let for_length = (curve.length() / edge_length).round();
    let for_turning = (curve.turning() / (std::f64::consts::PI / 3.0) - 1e-9).ceil();
    for_length.max(for_turning).max(1.0) as usize
}

fn mesh_panel(panel: &Panel, parts: &[usize], edge_length: f64) -> Result<PanelMesh, MeshError> {
    let (mut outline, mut edges, mut owners) = (Vec::new(), Vec::new(), Vec::new());
    for (edge, &parts) in panel.edges.iter().zip(parts) {
        let start = outline.len() as u32;
        let mut points = edge.curve.divide(parts);
        points.pop(); // the next edge begins there
        owners.extend(std::iter::repeat_n(edge.number, points.len()));
        outline.extend(points);
        edges.push((start..=outline.len() as u32).collect::<Vec<u32>>());
    }
    if let Some(last) = edges.last_mut().and_then(|edge| edge.last_mut()) {
        *last = 0;
    }
    let too_coarse = |edges| MeshError::TooCoarse { panel: panel.name.clone(), edges, edge_length };
    if outline.len() < 3 {
        return Err(too_coarse([owners[0], owners[owners.len() - 1]]));
    }
    if let Some([first, second]) = outline::meeting(&outline, 0.1 * crate::read::TOUCH) {
        return Err(too_coarse([owners[first], owners[second]]));
    }
    let failed = || MeshError::Triangulation { panel: panel.name.clone(), edge_length };
    if outline::area(&outline) <= 0.0 {
        return Err(failed());
    }
    let (points, triangles) = fill::fill(outline, edge_length).ok_or_else(failed)?;
    Ok(PanelMesh { points, triangles, edges })
}
