//! All panels as one cloth: in space, flat as uv, with groups, seams and named edges.

use std::ops::Range;

use crate::curve::Point;
use crate::mesh::{PatternMesh, Seam, merge};
use crate::pattern::Pattern;

/// One cloth of all panels, not yet sewn.
///
/// ```
/// # let text = r#"{"pattern": {"panels": {"p": {"translation": [0, 100, 0], "rotation": [0, 0, 0], "vertices": [[0, 0], [9, 0], [0, 9]],
/// #   "edges": [{"endpoints": [0, 1], "label": "hem"}, {"endpoints": [1, 2]}, {"endpoints": [2, 0]}]}}, "stitches": []}, "properties": {"units_in_meter": 100}}"#;
/// # let pattern = muslin_pattern::Pattern::from_json(text, &Default::default())?.pattern;
/// let garment = pattern.assemble(&pattern.mesh(0.01)?);
/// assert_eq!(garment.positions[0], [0.0, 1.0, 0.0]);
/// assert_eq!(garment.uv[0], [0.0, 0.0]);
/// assert_eq!(garment.labelled[0].label, "hem");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Garment {
    /// Where the pattern places each vertex, in m.
    pub positions: Vec<[f64; 3]>,
    /// The flat rest shape, in m: panels side by side without overlap, y along the grain.
    pub uv: Vec<Point>,
    /// Vertex triples, counter-clockwise seen from the outer side, in space and in uv.
    pub triangles: Vec<[u32; 3]>,
    /// A group for each panel.
    pub panels: Vec<PanelGroup>,
    /// Both sides of each stitch, numbered in the garment.
    pub seams: Vec<Seam>,
    /// Edges that have a label.
    pub labelled: Vec<LabelledEdge>,
}

/// What of a garment is one panel.
///
/// ```
/// use muslin_pattern::PanelGroup;
///
/// let group = PanelGroup { name: "front".to_owned(), label: None, vertices: 0..100, triangles: 0..162 };
/// assert!(group.vertices.contains(&99));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelGroup {
    /// Name of the panel.
    pub name: String,
    /// The part of the body that it may touch, where the file says one.
    pub label: Option<String>,
    /// Its vertices.
    pub vertices: Range<u32>,
    /// Its triangles.
    pub triangles: Range<u32>,
}

/// An edge with a label.
///
/// ```
/// use muslin_pattern::LabelledEdge;
///
/// let hem = LabelledEdge { label: "hem".to_owned(), panel: 0, vertices: vec![0, 1, 2] };
/// assert_eq!(hem.vertices.len(), 3);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledEdge {
    /// The label, which several edges may share.
    pub label: String,
    /// The panel, by its place in [`Garment::panels`].
    pub panel: usize,
    /// Its vertices in order, ends included.
    pub vertices: Vec<u32>,
}

impl Pattern {
    /// Puts the panels of a mesh of this pattern together.
    ///
    /// # Panics
    ///
    /// If the mesh is of a pattern with fewer panels or edges.
    pub fn assemble(&self, mesh: &PatternMesh) -> Garment {
        let layout = self.layout();
        let (mut positions, mut uv, mut triangles) = (Vec::new(), Vec::new(), Vec::<[u32; 3]>::new());
        let (mut panels, mut labelled) = (Vec::new(), Vec::new());
        for (index, (panel, flat)) in self.panels.iter().zip(&mesh.panels).enumerate() {
            let (first, first_triangle) = (positions.len() as u32, triangles.len() as u32);
            positions.extend(flat.points.iter().map(|&point| panel.placement.apply(point)));
            let offset = layout.offsets[index];
            uv.extend(flat.points.iter().map(|&[x, y]| [x + offset[0], y + offset[1]]));
            triangles.extend(flat.triangles.iter().map(|triangle| triangle.map(|vertex| first + vertex)));
            for (edge, chain) in panel.edges.iter().zip(&flat.edges) {
                if let Some(label) = &edge.label {
                    let vertices = chain.iter().map(|vertex| first + vertex).collect();
                    labelled.push(LabelledEdge { label: label.clone(), panel: index, vertices });
                }
            }
            panels.push(PanelGroup {
                name: panel.name.clone(),
                label: panel.label.clone(),
                vertices: first..positions.len() as u32,
                triangles: first_triangle..triangles.len() as u32,
            });
        }
        let seam = |seam: &Seam| {
            let mut seam = seam.clone();
            for (chain, panel) in seam.chains.iter_mut().zip(seam.panels) {
                chain.iter_mut().for_each(|vertex| *vertex += panels[panel].vertices.start);
            }
            seam
        };
        let seams = mesh.seams.iter().map(seam).collect();
        Garment { positions, uv, triangles, panels, seams, labelled }
    }
}

impl Garment {
    /// The vertex that each vertex becomes when all seams are closed: the lowest of those that meet.
    ///
    /// Corners that several seams share meet through all of them.
    pub fn merged(&self) -> Vec<u32> {
        let pairs =
            self.seams.iter().flat_map(|seam| seam.chains[0].iter().copied().zip(seam.chains[1].iter().copied()));
        merge(self.positions.len(), pairs)
    }
}
