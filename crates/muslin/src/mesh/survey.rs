//! The facts about a mesh from which its findings and its repair both follow.
//!
//! Connectivity is judged over the sound triangles only: those in range, with three different vertices, some area, and
//! no twin before them. The others are reported as what they are, and a repair drops them; letting them take part would
//! bury the cause under its consequences (a triangle listed twice gives three edges of too many triangles).
//!
//! Every pass is linear in the mesh, apart from the sort of [`EdgeTable`].

use crate::mesh::half_edge::{EdgeTable, EdgeUses, NONE, directed};
use crate::mesh::{Mesh, ZERO_AREA_RATIO};

/// A fault that makes a triangle unsound by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    OutOfRange,
    RepeatedVertex,
    ZeroArea,
    Duplicate,
}

/// A mesh, looked at once.
pub(super) struct Survey {
    /// One for each triangle.
    pub(super) faults: Vec<Fault>,
    /// Pairs of a duplicate triangle and the first one over the same vertices, by rising duplicate.
    pub(super) duplicates: Vec<[u32; 2]>,
    /// The edges of the sound triangles.
    pub(super) edges: EdgeTable,
    /// Across each half-edge of the sound triangles.
    pub(super) opposites: Vec<u32>,
    /// Which way the sound triangles wind.
    pub(super) orientation: Orientation,
}

/// The winding of every connected part of a mesh.
pub(super) struct Orientation {
    /// Whether a triangle must be turned over to agree with the majority of its part.
    pub(super) flips: Vec<bool>,
    /// A half-edge of each part that no winding makes consistent, where the contradiction was met.
    pub(super) one_sided: Vec<u32>,
    /// Whether a triangle belongs to such a part.
    pub(super) is_one_sided: Vec<bool>,
}

impl Survey {
    pub(super) fn of(mesh: &Mesh) -> Self {
        let (vertex_count, triangles) = (mesh.vertex_count(), &mesh.triangles);
        let mut faults: Vec<Fault> = (0..triangles.len()).map(|triangle| own_fault(mesh, triangle)).collect();
        let table = |faults: &[Fault]| EdgeTable::build(vertex_count, triangles, |t| faults[t] == Fault::None);
        let mut edges = table(&faults);
        let duplicates = duplicates(&edges, triangles);
        if !duplicates.is_empty() {
            for &[duplicate, _] in &duplicates {
                faults[duplicate as usize] = Fault::Duplicate;
            }
            edges = table(&faults);
        }
        let opposites = edges.opposites(triangles.len());
        let orientation = Orientation::of(triangles, &faults, &opposites);
        Self { faults, duplicates, edges, opposites, orientation }
    }

    /// Indices of the triangles with a fault.
    pub(super) fn with(&self, fault: Fault) -> impl Iterator<Item = u32> {
        (0_u32..).zip(&self.faults).filter(move |&(_, &f)| f == fault).map(|(triangle, _)| triangle)
    }

    /// Edges between two triangles that run along them in the same direction, outside one-sided parts.
    pub(super) fn inconsistent_edges<'a>(&'a self, triangles: &'a [[u32; 3]]) -> impl Iterator<Item = EdgeUses<'a>> {
        self.edges.edges().filter(|edge| {
            let Some([first, second]) = edge.pair() else { return false };
            !agree(triangles, first, second) && !self.orientation.is_one_sided[first as usize / 3]
        })
    }

    /// Number of sound triangles around each vertex.
    pub(super) fn valences(&self, mesh: &Mesh) -> Vec<u32> {
        let mut valences = vec![0; mesh.vertex_count()];
        for triangle in self.with(Fault::None) {
            for vertex in mesh.triangles[triangle as usize] {
                valences[vertex as usize] += 1;
            }
        }
        valences
    }

    /// Vertices whose triangles do not hang together around them.
    ///
    /// One walk around each vertex, from triangle to triangle across their common edges, must meet all its triangles.
    /// Ends of an edge of three or more triangles are left out: nothing can be said about what lies around them.
    pub(super) fn bow_ties(&self, mesh: &Mesh, valences: &[u32]) -> Vec<u32> {
        let mut first_corner = vec![NONE; mesh.vertex_count()];
        for triangle in self.with(Fault::None) {
            for (corner, vertex) in (3 * triangle..).zip(mesh.triangles[triangle as usize]) {
                if first_corner[vertex as usize] == NONE {
                    first_corner[vertex as usize] = corner;
                }
            }
        }
        for edge in self.edges.edges().filter(|edge| edge.len() > 2) {
            for vertex in edge.vertices {
                first_corner[vertex as usize] = NONE;
            }
        }
        let starts = (0_u32..).zip(&first_corner).filter(|&(_, &corner)| corner != NONE);
        let walks = starts.map(|(vertex, &corner)| (vertex, self.fan_size(&mesh.triangles, corner)));
        walks.filter(|&(vertex, size)| size < valences[vertex as usize]).map(|(vertex, _)| vertex).collect()
    }

    /// Number of triangles that a walk from this corner around its vertex meets.
    fn fan_size(&self, triangles: &[[u32; 3]], corner: u32) -> u32 {
        let (triangle, here) = (corner / 3, corner % 3);
        let vertex = triangles[triangle as usize][here as usize];
        let mut size = 1;
        // The two edges at a corner are the half-edge that starts there and the one before it.
        for exit in [corner, 3 * triangle + (here + 2) % 3] {
            let mut across = self.opposites[exit as usize];
            while across != NONE {
                if across / 3 == triangle {
                    return size; // all the way round
                }
                size += 1;
                let [start, _, _] = directed(triangles, across);
                let (base, side) = (across / 3 * 3, across % 3);
                // Of the other two half-edges, the one before this ends where it starts, the one after starts where
                // it ends: leave along the one that touches the vertex.
                let turn = if start == vertex { 2 } else { 1 };
                across = self.opposites[(base + (side + turn) % 3) as usize];
            }
        }
        size
    }
}

impl Orientation {
    /// Spreads a winding from the first triangle of each part, then keeps that of the majority.
    fn of(triangles: &[[u32; 3]], faults: &[Fault], opposites: &[u32]) -> Self {
        let count = triangles.len();
        let mut found = Self { flips: vec![false; count], one_sided: Vec::new(), is_one_sided: vec![false; count] };
        let mut reached = vec![false; count];
        let mut part: Vec<u32> = Vec::new();
        for seed in (0..count).filter(|&triangle| faults[triangle] == Fault::None) {
            if !reached[seed] {
                reached[seed] = true;
                part.clear();
                part.push(seed as u32);
                let contradiction = found.spread(triangles, opposites, &mut reached, &mut part);
                found.settle(&part, contradiction);
            }
        }
        found
    }

    /// Completes a part, breadth first. Returns the first half-edge at which its winding contradicts itself.
    fn spread(
        &mut self,
        triangles: &[[u32; 3]],
        opposites: &[u32],
        reached: &mut [bool],
        part: &mut Vec<u32>,
    ) -> Option<u32> {
        let mut contradiction = None;
        let mut next = 0;
        while let Some(&triangle) = part.get(next) {
            next += 1;
            for half_edge in 3 * triangle..3 * triangle + 3 {
                let across = opposites[half_edge as usize];
                if across == NONE {
                    continue;
                }
                let neighbor = across as usize / 3;
                let flip = self.flips[triangle as usize] == agree(triangles, half_edge, across);
                if !reached[neighbor] {
                    reached[neighbor] = true;
                    self.flips[neighbor] = flip;
                    part.push(neighbor as u32);
                } else if self.flips[neighbor] != flip {
                    contradiction = contradiction.or(Some(half_edge));
                }
            }
        }
        contradiction
    }

    fn settle(&mut self, part: &[u32], contradiction: Option<u32>) {
        if let Some(half_edge) = contradiction {
            self.one_sided.push(half_edge);
            for &triangle in part {
                self.is_one_sided[triangle as usize] = true;
                self.flips[triangle as usize] = false;
            }
            return;
        }
        let flipped = part.iter().filter(|&&triangle| self.flips[triangle as usize]).count();
        if 2 * flipped > part.len() {
            for &triangle in part {
                self.flips[triangle as usize] ^= true;
            }
        }
    }
}

/// Whether two half-edges of one edge run against each other, as those of consistently wound neighbours do.
fn agree(triangles: &[[u32; 3]], first: u32, second: u32) -> bool {
    directed(triangles, first)[0] != directed(triangles, second)[0]
}

fn own_fault(mesh: &Mesh, triangle: usize) -> Fault {
    let [a, b, c] = mesh.triangles[triangle];
    if [a, b, c].iter().any(|&vertex| vertex as usize >= mesh.vertex_count()) {
        Fault::OutOfRange
    } else if a == b || b == c || c == a {
        Fault::RepeatedVertex
    } else if has_no_area(mesh, triangle) {
        Fault::ZeroArea
    } else {
        Fault::None
    }
}

fn has_no_area(mesh: &Mesh, triangle: usize) -> bool {
    let [a, b, c] = mesh.triangle(triangle);
    let longest_squared = [b - a, c - b, a - c].into_iter().map(|edge| edge.norm_squared()).fold(0.0, f64::max);
    // Coordinates that overflow are reported as too large, and say nothing about the shape.
    longest_squared.is_finite() && mesh.area(triangle) <= ZERO_AREA_RATIO * longest_squared
}

/// Triangles over the same three vertices, whichever way they wind.
///
/// Twins share all their edges, so each pair is met at the edge of its two lowest vertices.
fn duplicates(edges: &EdgeTable, triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut found = Vec::new();
    let mut tips: Vec<[u32; 2]> = Vec::new();
    for edge in edges.edges().filter(|edge| edge.len() > 1) {
        tips.clear();
        let contact_normal = edge.half_edges().map(|half_edge| [directed(triangles, half_edge)[2], half_edge / 3]);
        tips.extend(contact_normal.filter(|&[tip, _]| tip > edge.vertices[1]));
        tips.sort_unstable();
        for twins in tips.chunk_by(|a, b| a[0] == b[0]) {
            found.extend(twins[1..].iter().map(|&[_, triangle]| [triangle, twins[0][1]]));
        }
    }
    found.sort_unstable();
    found
}
