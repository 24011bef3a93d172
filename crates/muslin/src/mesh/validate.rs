//! Validation of a mesh: everything that is wrong with it, at once.
//!
//! Meshes come from files, so a broken one is a mistake to report, never a panic; and a person wants the whole list,
//! not the first line of it. Of each kind the first ten are named and the rest counted, so that a broken mesh of a
//! million triangles still gives an answer that can be read.

use std::fmt;

use crate::mesh::Mesh;
use crate::mesh::half_edge::directed;
use crate::mesh::survey::{Fault, Survey};

/// The largest coordinate, in m.
///
/// Single precision resolves 0.06 m there, which is already too coarse for cloth; further out nothing sensible is left.
pub const MAX_COORDINATE: f64 = 1e6;

/// A triangle whose area is at most this share of its longest edge squared counts as having none.
///
/// The ratio does not depend on the scale of the mesh (equilateral: 0.43). At 1e-12 the height is 2e-12 of the longest
/// edge: thousands of times the rounding of double precision, and far below any triangle somebody meant.
pub const ZERO_AREA_RATIO: f64 = 1e-12;

/// How many findings of one kind are named.
const LISTED: usize = 10;

/// The most triangles whose half-edges can be numbered, [`u32::MAX`] being kept for "none".
const MAX_TRIANGLES: usize = u32::MAX as usize / 3;

/// Whether a mesh or a scene can be simulated in spite of a finding.
///
/// ```
/// use muslin::mesh::{Mesh, Severity, check};
///
/// assert_eq!(check(&Mesh::default())[0].severity, Severity::Error);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It can, but perhaps not as meant.
    Warning,
    /// It cannot.
    Error,
}

/// One thing that is wrong with a mesh.
///
/// ```
/// use muslin::mesh::{Diagonals, Mesh, check};
///
/// let mut mesh = Mesh::grid([1.0, 1.0], [1, 1], Diagonals::Forward)?;
/// mesh.triangles[1][0] = 99;
/// assert_eq!(check(&mesh)[0].to_string(), "triangle 1 uses vertex 99, but the mesh has 4 vertices");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The mistake and its place; prints as a sentence.
    pub kind: FindingKind,
    /// Whether [`repair`](crate::mesh::repair()) mends it.
    pub repairable: bool,
}

/// A mistake of a mesh. Indices count from 0.
///
/// ```
/// use muslin::mesh::{FindingKind, Mesh, check};
///
/// let kinds: Vec<_> = check(&Mesh::default()).into_iter().map(|finding| finding.kind).collect();
/// assert!(kinds.contains(&FindingKind::NoVertices));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FindingKind {
    /// There is nothing at all.
    #[error("the mesh has no vertices")]
    NoVertices,
    /// There are only vertices.
    #[error("the mesh has no triangles: export it with its faces")]
    NoTriangles,
    /// All triangles are of the kinds that a repair would drop.
    #[error("no triangle of the mesh is usable: all are without area or repeat another")]
    NoUsableTriangles,
    /// More triangles than can be numbered.
    #[error("the mesh has {count} triangles, but the limit is {MAX_TRIANGLES}")]
    TooManyTriangles {
        /// Number of triangles.
        count: usize,
    },
    /// A position that is NaN or infinite.
    #[error("vertex {vertex} is at {position:?}, which is not finite")]
    NonFinitePosition {
        /// The vertex.
        vertex: u32,
        /// Where it is, in m.
        position: [f64; 3],
    },
    /// A position too far out for single precision.
    #[error(
        "vertex {vertex} is at {position:?}, but coordinates are limited to {MAX_COORDINATE:e} m, \
         beyond which single precision cannot resolve cloth: scale the mesh or move it to the origin"
    )]
    PositionTooLarge {
        /// The vertex.
        vertex: u32,
        /// Where it is, in m.
        position: [f64; 3],
    },
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} uses vertex {vertex}, but the mesh has {vertex_count} vertices")]
    IndexOutOfRange {
        /// The triangle.
        triangle: u32,
        /// The vertex it names.
        vertex: u32,
        /// Number of vertices in the mesh.
        vertex_count: usize,
    },
    /// A triangle names a vertex twice.
    #[error("triangle {triangle} uses vertex {vertex} more than once")]
    RepeatedVertex {
        /// The triangle.
        triangle: u32,
        /// The vertex.
        vertex: u32,
    },
    /// A triangle's area is at most [`ZERO_AREA_RATIO`] of its longest edge squared.
    #[error("triangle {triangle} has no area: its vertices {} lie on a line", named(.vertices))]
    ZeroArea {
        /// The triangle.
        triangle: u32,
        /// Its vertices.
        vertices: [u32; 3],
    },
    /// Two triangles over the same vertices.
    #[error("triangle {triangle} repeats triangle {first}: both join vertices {}", named(.vertices))]
    DuplicateTriangle {
        /// The later of the two.
        triangle: u32,
        /// The earlier.
        first: u32,
        /// The vertices of the later one.
        vertices: [u32; 3],
    },
    /// More than two triangles meet in an edge.
    #[error(
        "edge {}–{} belongs to {} triangles ({}), but at most two may meet: split the mesh there",
        edge[0], edge[1], triangles.len(), named(triangles)
    )]
    NonManifoldEdge {
        /// Its vertices.
        edge: [u32; 2],
        /// The triangles.
        triangles: Vec<u32>,
    },
    /// Two neighbours wind in opposite ways.
    #[error(
        "triangles {} both run from vertex {} to vertex {}: one of them is wound the wrong way",
        named(triangles), edge[0], edge[1]
    )]
    InconsistentWinding {
        /// The vertices of their common edge, in the direction in which both run along it.
        edge: [u32; 2],
        /// The two triangles.
        triangles: [u32; 2],
    },
    /// A surface with one side only, like a Möbius strip.
    #[error(
        "the surface of triangle {triangle} has only one side: no winding is consistent across edge {}–{}: cut it open",
        edge[0], edge[1]
    )]
    NonOrientable {
        /// A triangle of it.
        triangle: u32,
        /// The vertices of the edge at which the contradiction was met.
        edge: [u32; 2],
    },
    /// Vertices that belong to no triangle: they have no mass.
    #[error("vertex {first}{} to no triangle: without mass, nothing moves it", more_belong(*.count))]
    IsolatedVertices {
        /// The first of them.
        first: u32,
        /// How many there are.
        count: usize,
    },
    /// Parts of the mesh that touch in a vertex but share no edge there.
    #[error("vertex {vertex} joins triangles that share no edge there: the cloth hangs together by a point")]
    BowTie {
        /// The vertex.
        vertex: u32,
    },
    /// Not one uv triple for each triangle.
    #[error("uv has {uv_triangle_count} triangles, but the mesh has {triangle_count}")]
    UvCount {
        /// Number of uv triples.
        uv_triangle_count: usize,
        /// Number of triangles.
        triangle_count: usize,
    },
    /// A triangle names a uv coordinate that does not exist.
    #[error("triangle {triangle} uses uv {index}, but the mesh has {coordinate_count} uv coordinates")]
    UvIndexOutOfRange {
        /// The triangle.
        triangle: u32,
        /// The coordinate it names.
        index: u32,
        /// Number of uv coordinates.
        coordinate_count: usize,
    },
    /// A uv coordinate that is NaN or infinite.
    #[error("uv {index} is {coordinates:?}, which is not finite")]
    NonFiniteUv {
        /// Its index.
        index: u32,
        /// Its value.
        coordinates: [f64; 2],
    },
    /// Not one flat rest shape for each triangle.
    #[error("the flat rest shape has {flat_count} triangles, but the mesh has {triangle_count}")]
    FlatCount {
        /// Number of triangles with a rest shape.
        flat_count: usize,
        /// Number of triangles.
        triangle_count: usize,
    },
    /// A flat rest shape with a coordinate that is NaN or infinite.
    #[error("triangle {triangle} has its flat rest shape at {corners:?}, which is not finite")]
    NonFiniteFlat {
        /// The triangle.
        triangle: u32,
        /// Its corners, in m.
        corners: [[f64; 2]; 3],
    },
    /// A group names a triangle that does not exist.
    #[error("group {name:?} names triangle {triangle}, but the mesh has {triangle_count} triangles")]
    GroupIndexOutOfRange {
        /// The group.
        name: String,
        /// The triangle it names.
        triangle: u32,
        /// Number of triangles in the mesh.
        triangle_count: usize,
    },
    /// Findings like the one before this, beyond the first ten.
    #[error("and {count} more ({what})")]
    More {
        /// How many.
        count: usize,
        /// Their kind.
        what: &'static str,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

/// Everything that is wrong with a mesh; empty where nothing is.
///
/// Errors stand beside warnings, in the order: sizes, positions, triangles, connectivity, uv, flat rest shape, groups.
pub fn check(mesh: &Mesh) -> Vec<Finding> {
    examine(mesh).0
}

/// The findings, and the survey they come from where the mesh is not too large for one.
pub(super) fn examine(mesh: &Mesh) -> (Vec<Finding>, Option<Survey>) {
    let mut report = Report::default();
    report.size(mesh.vertex_count(), mesh.triangle_count());
    report.positions(mesh);
    let survey = (mesh.triangle_count() <= MAX_TRIANGLES).then(|| Survey::of(mesh));
    if let Some(survey) = &survey {
        report.triangles(mesh, survey);
        report.edges(mesh, survey);
        report.vertices(mesh, survey);
    }
    report.uv(mesh);
    report.flat(mesh);
    report.groups(mesh);
    (report.findings, survey)
}

#[derive(Default)]
struct Report {
    findings: Vec<Finding>,
}

/// How a kind of finding is treated.
#[derive(Clone, Copy)]
enum Verdict {
    Warn,
    Refuse,
    Mend,
}

impl Report {
    fn add(&mut self, verdict: Verdict, kind: FindingKind) {
        let severity = if let Verdict::Warn = verdict { Severity::Warning } else { Severity::Error };
        self.findings.push(Finding { severity, kind, repairable: matches!(verdict, Verdict::Mend) });
    }

    /// Adds the first of `kinds` and counts the others, which are described by `what`.
    fn list(&mut self, verdict: Verdict, what: &'static str, mut kinds: impl Iterator<Item = FindingKind>) {
        for kind in kinds.by_ref().take(LISTED) {
            self.add(verdict, kind);
        }
        let count = kinds.count();
        if count > 0 {
            self.add(verdict, FindingKind::More { count, what });
        }
    }

    fn size(&mut self, vertex_count: usize, triangle_count: usize) {
        if vertex_count == 0 {
            self.add(Verdict::Refuse, FindingKind::NoVertices);
        }
        if triangle_count == 0 {
            self.add(Verdict::Refuse, FindingKind::NoTriangles);
        }
        if triangle_count > MAX_TRIANGLES {
            self.add(Verdict::Refuse, FindingKind::TooManyTriangles { count: triangle_count });
        }
    }

    fn positions(&mut self, mesh: &Mesh) {
        let is_finite = |position: &[f64; 3]| position.iter().all(|x| x.is_finite());
        let positions = || (0_u32..).zip(mesh.positions.iter().copied());
        let broken = positions().filter(|(_, position)| !is_finite(position));
        self.list(
            Verdict::Refuse,
            "vertices that are not finite",
            broken.map(|(vertex, position)| FindingKind::NonFinitePosition { vertex, position }),
        );
        let too_large = |position: &[f64; 3]| position.iter().any(|x| x.abs() > MAX_COORDINATE);
        let far = positions().filter(|(_, position)| is_finite(position) && too_large(position));
        self.list(
            Verdict::Refuse,
            "vertices too far out",
            far.map(|(vertex, position)| FindingKind::PositionTooLarge { vertex, position }),
        );
    }

    fn triangles(&mut self, mesh: &Mesh, survey: &Survey) {
        let vertices = |triangle: u32| mesh.triangles[triangle as usize];
        let vertex_count = mesh.vertex_count();
        self.list(
            Verdict::Refuse,
            "triangles that use missing vertices",
            survey.with(Fault::OutOfRange).filter_map(|triangle| {
                let vertex = vertices(triangle).into_iter().find(|&vertex| vertex as usize >= vertex_count)?;
                Some(FindingKind::IndexOutOfRange { triangle, vertex, vertex_count })
            }),
        );
        self.list(
            Verdict::Mend,
            "triangles that repeat a vertex",
            survey.with(Fault::RepeatedVertex).map(|triangle| {
                let [a, b, c] = vertices(triangle);
                FindingKind::RepeatedVertex { triangle, vertex: if b == c { b } else { a } }
            }),
        );
        self.list(
            Verdict::Mend,
            "triangles without area",
            survey
                .with(Fault::ZeroArea)
                .map(|triangle| FindingKind::ZeroArea { triangle, vertices: vertices(triangle) }),
        );
        self.list(
            Verdict::Mend,
            "triangles that repeat another",
            survey.duplicates.iter().map(|&[triangle, first]| FindingKind::DuplicateTriangle {
                triangle,
                first,
                vertices: vertices(triangle),
            }),
        );
        let is_droppable = |fault: &Fault| !matches!(fault, Fault::None | Fault::OutOfRange);
        if !survey.faults.is_empty() && survey.faults.iter().all(is_droppable) {
            self.add(Verdict::Refuse, FindingKind::NoUsableTriangles);
        }
    }

    fn edges(&mut self, mesh: &Mesh, survey: &Survey) {
        self.list(
            Verdict::Refuse,
            "edges of more than two triangles",
            survey.edges.edges().filter(|edge| edge.len() > 2).map(|edge| FindingKind::NonManifoldEdge {
                edge: edge.vertices,
                triangles: edge.half_edges().map(|half_edge| half_edge / 3).collect(),
            }),
        );
        self.list(
            Verdict::Mend,
            "edges between triangles of opposite winding",
            survey.inconsistent_edges(&mesh.triangles).filter_map(|edge| {
                let [first, second] = edge.pair()?;
                let [start, end, _] = directed(&mesh.triangles, first);
                Some(FindingKind::InconsistentWinding { edge: [start, end], triangles: [first / 3, second / 3] })
            }),
        );
        self.list(
            Verdict::Refuse,
            "one-sided surfaces",
            survey.orientation.one_sided.iter().map(|&half_edge| {
                let [start, end, _] = directed(&mesh.triangles, half_edge);
                FindingKind::NonOrientable { triangle: half_edge / 3, edge: [start.min(end), start.max(end)] }
            }),
        );
    }

    fn vertices(&mut self, mesh: &Mesh, survey: &Survey) {
        let valences = survey.valences(mesh);
        let mut isolated = (0_u32..).zip(&valences).filter(|&(_, &valence)| valence == 0).map(|(vertex, _)| vertex);
        if let Some(first) = isolated.next() {
            self.add(Verdict::Warn, FindingKind::IsolatedVertices { first, count: 1 + isolated.count() });
        }
        self.list(
            Verdict::Warn,
            "vertices where triangles only touch",
            survey.bow_ties(mesh, &valences).into_iter().map(|vertex| FindingKind::BowTie { vertex }),
        );
    }

    fn uv(&mut self, mesh: &Mesh) {
        let Some(uv) = &mesh.uv else { return };
        let (uv_triangle_count, triangle_count) = (uv.triangles.len(), mesh.triangle_count());
        if uv_triangle_count != triangle_count {
            self.add(Verdict::Refuse, FindingKind::UvCount { uv_triangle_count, triangle_count });
        }
        let coordinate_count = uv.coordinates.len();
        self.list(
            Verdict::Refuse,
            "triangles that use missing uv coordinates",
            (0_u32..).zip(&uv.triangles).filter_map(|(triangle, corners)| {
                let &index = corners.iter().find(|&&index| index as usize >= coordinate_count)?;
                Some(FindingKind::UvIndexOutOfRange { triangle, index, coordinate_count })
            }),
        );
        let broken = (0_u32..).zip(&uv.coordinates).filter(|(_, [u, v])| !(u.is_finite() && v.is_finite()));
        self.list(
            Verdict::Refuse,
            "uv coordinates that are not finite",
            broken.map(|(index, &coordinates)| FindingKind::NonFiniteUv { index, coordinates }),
        );
    }

    fn flat(&mut self, mesh: &Mesh) {
        let Some(flat) = &mesh.flat else { return };
        let (flat_count, triangle_count) = (flat.len(), mesh.triangle_count());
        if flat_count != triangle_count {
            self.add(Verdict::Refuse, FindingKind::FlatCount { flat_count, triangle_count });
        }
        let is_broken = |corners: &[[f64; 2]; 3]| corners.as_flattened().iter().any(|x| !x.is_finite());
        let broken = (0_u32..).zip(flat).filter(|(_, corners)| is_broken(corners));
        self.list(
            Verdict::Refuse,
            "flat rest shapes that are not finite",
            broken.map(|(triangle, &corners)| FindingKind::NonFiniteFlat { triangle, corners }),
        );
    }

    fn groups(&mut self, mesh: &Mesh) {
        let triangle_count = mesh.triangle_count();
        self.list(
            Verdict::Refuse,
            "missing triangles named by groups",
            mesh.groups.iter().flat_map(|group| {
                let missing = group.triangles.iter().filter(|&&triangle| triangle as usize >= triangle_count);
                missing.map(|&triangle| FindingKind::GroupIndexOutOfRange {
                    name: group.name.clone(),
                    triangle,
                    triangle_count,
                })
            }),
        );
    }
}

/// `0, 1 and 2`; beyond ten, `0, 1, …, 9 and 245 more`.
pub(super) fn named(indices: &[u32]) -> String {
    let join = |some: &[u32]| some.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    match indices {
        [] | [_] => join(indices),
        [most @ .., last] if indices.len() <= LISTED => format!("{} and {last}", join(most)),
        _ => format!("{} and {} more", join(&indices[..LISTED]), indices.len() - LISTED),
    }
}

fn more_belong(count: usize) -> String {
    if count > 1 { format!(" and {} more belong", count - 1) } else { " belongs".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_triangles_than_can_be_numbered_are_refused() {
        let mut report = Report::default();
        report.size(3, MAX_TRIANGLES);
        assert_eq!(report.findings, []);
        report.size(3, MAX_TRIANGLES + 1);
        assert_eq!(report.findings[0].to_string(), "the mesh has 1431655766 triangles, but the limit is 1431655765");
    }
}
