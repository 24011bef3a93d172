//! Finds the pairs that may come to touch: a vertex and a triangle, or two edges, nearer than a radius.
//!
//! All cloths and bodies are one array of vertices. Left out are pairs with a vertex in common, and pairs of which no
//! vertex can be moved: a body does not collide with itself or with another.
//!
//! # A list for many steps
//!
//! A list found with radius R holds every pair that is not farther apart than R. Vertices that have moved by at most ρ
//! since bring a pair together by at most 2ρ, so the list still holds every pair within R − 2ρ ([`Candidates::reach`]),
//! and a pair that was g apart is still g − 2ρ apart. What all vertices do together brings no pair together: ρ is
//! taken about the middle of all motions where that is less. So a falling cloth keeps its list.
//!
//! # Order and memory
//!
//! The list is sorted by the numbers of vertices, triangles and edges. So it depends neither on the number of threads nor
//! on how old the trees are. Buffers grow and are kept; nothing is capped.
//!
//! # Rounding
//!
//! A pair is left out only if it is certainly farther apart than R: its boxes, rounded outwards, are; or the bound of
//! [`guard::gap_along`](super::guard), which is never above the distance, is.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::bvh::{Aabb, Bvh, round_down};
use super::closest::{point_triangle, segment_segment};
use super::guard::{Motion, gap_along};
use crate::math::Vec3;
use crate::parallel::Team;

/// Pairs that may come to touch. See the module's comment.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// A vertex and the corners of a triangle.
    pub vertex_triangle: Vec<[u32; 4]>,
    /// The ends of an edge and those of another.
    pub edge_edge: Vec<[u32; 4]>,
    /// How far apart each pair was, at least, in m: of `vertex_triangle` and of `edge_edge`.
    pub(super) gaps: [Vec<f32>; 2],
    /// The positions in which they were found.
    reference: Vec<Vec3<f64>>,
    radius: f64,
    /// Whether the pairs are only those of cloth and bodies, of which one cannot be moved.
    pub(super) is_across: bool,
}

impl Candidates {
    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.vertex_triangle.len() + self.edge_edge.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The radius within which the list holds every pair at `positions`, in m. Not positive: find anew.
    pub fn reach(&self, positions: &[Vec3<f64>]) -> f64 {
        self.reach_after(self.drift(positions))
    }

    /// The same where no vertex has come farther than `drift`.
    pub(super) fn reach_after(&self, drift: f64) -> f64 {
        // Rounded down: the difference by half a unit, the factor by as much.
        let reach = self.radius - 2.0 * drift;
        reach - 4.0 * f64::EPSILON * reach.abs()
    }

    /// How far a vertex has come since, at most, but for what all have done together.
    pub(super) fn drift(&self, positions: &[Vec3<f64>]) -> f64 {
        Motion::between(&self.reference, positions).spread()
    }

    /// The lists of both kinds.
    pub(super) fn lists(&self) -> [List<'_>; 2] {
        [(&self.vertex_triangle, &self.gaps[0], 1), (&self.edge_edge, &self.gaps[1], 2)]
    }
}

/// Pairs of one kind, how far apart they were, and how many of the four vertices are the first primitive's.
type List<'a> = (&'a [[u32; 4]], &'a [f32], usize);

/// One pair as it is found.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// Sorts: kind (1 bit), first primitive (31 bits), second (32 bits).
    key: u64,
    gap: f32,
}

const EDGES: u64 = 1 << 63;

/// Work is handed out in this many parts, whatever the team.
const PARTS: usize = 16;

/// Trees over the vertices, edges and triangles of everything.
#[derive(Debug)]
pub struct Search {
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    /// Those of a triangle.
    vertices: Vec<u32>,
    boxes: Vec<Aabb>,
    movable: Vec<bool>,
    /// Over everything; or over what is below the divide, and the rest.
    trees: [Trees; 2],
    is_divided: bool,
    /// Where the vertices of bodies begin: zero without any.
    cloth_end: u32,
    tasks: Vec<Task>,
    parts: [Mutex<Vec<Found>>; PARTS],
    found: Vec<Found>,
}

/// Trees over a part of the vertices, edges and triangles: which, and the trees.
#[derive(Debug, Default)]
struct Trees {
    vertices: Range<usize>,
    edges: Range<usize>,
    triangles: Range<usize>,
    vertex_tree: Bvh,
    edge_tree: Bvh,
    triangle_tree: Bvh,
}

/// What is to be compared.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Edges of the first trees with each other,
    Edges,
    /// or with those of the second.
    EdgesAcross,
    /// Vertices of these trees with triangles of those.
    VerticesWithTriangles(usize, usize),
}

/// Two nodes whose items are to be compared.
#[derive(Clone, Copy, Debug)]
struct Task {
    kind: Kind,
    first: u32,
    second: u32,
}

impl Search {
    /// For a mesh of `vertex_count` vertices. Triangles with a vertex that does not exist, or twice the same, are left out.
    pub fn new(vertex_count: usize, triangles: &[[u32; 3]]) -> Self {
        let is_whole = |&[a, b, c]: &[u32; 3]| {
            a != b && b != c && c != a && [a, b, c].iter().all(|&vertex| (vertex as usize) < vertex_count)
        };
        let triangles: Vec<_> = triangles.iter().copied().filter(is_whole).collect();
        let sides = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let mut edges: Vec<_> = sides.map(|[a, b]| [a.min(b), a.max(b)]).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut vertices: Vec<_> = triangles.iter().flatten().copied().collect();
        vertices.sort_unstable();
        vertices.dedup();
        let all = Trees {
            vertices: 0..vertices.len(),
            edges: 0..edges.len(),
            triangles: 0..triangles.len(),
            ..Trees::default()
        };
        Self {
            triangles,
            edges,
            vertices,
            boxes: Vec::new(),
            movable: Vec::new(),
            trees: [all, Trees::default()],
            is_divided: false,
            cloth_end: 0,
            tasks: Vec::new(),
            parts: std::array::from_fn(|_| Mutex::new(Vec::new())),
            found: Vec::new(),
        }
    }

    /// The same for pairs only of which one has vertices below `divide` and the other from there on: cloth and bodies. A triangle with
    /// vertices of both is left out.
    pub fn across(vertex_count: usize, triangles: &[[u32; 3]], divide: u32) -> Self {
        let is_below = |triangle: &&[u32; 3]| triangle.iter().all(|&vertex| vertex < divide);
        let is_beyond = |triangle: &&[u32; 3]| triangle.iter().all(|&vertex| vertex >= divide);
        let sorted = triangles.iter().filter(is_below).chain(triangles.iter().filter(is_beyond));
        let mut search = Self::new(vertex_count, &sorted.copied().collect::<Vec<_>>());
        let Self { vertices, edges, triangles, .. } = &search;
        let (v, e, t) = (
            vertices.partition_point(|&vertex| vertex < divide),
            edges.partition_point(|edge| edge[0] < divide),
            triangles.partition_point(|triangle| triangle[0] < divide),
        );
        let below = Trees { vertices: 0..v, edges: 0..e, triangles: 0..t, ..Trees::default() };
        let beyond = Trees {
            vertices: v..vertices.len(),
            edges: e..edges.len(),
            triangles: t..triangles.len(),
            ..Trees::default()
        };
        search.trees = [below, beyond];
        search.is_divided = true;
        search.cloth_end = divide;
        search
    }

    /// For a mesh in which the vertices from `cloth_end` on are those of bodies. Pairs of cloth and body count even where no vertex can be
    /// moved: if they touch, what hangs on them is cut.
    pub fn with_bodies(vertex_count: usize, triangles: &[[u32; 3]], cloth_end: u32) -> Self {
        Self { cloth_end, ..Self::new(vertex_count, triangles) }
    }

    /// The edges of the triangles, each once.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// Finds all pairs within `radius` at `positions`, on `threads` of the team.
    ///
    /// A vertex that is not finite is in no pair.
    pub fn find(
        &mut self,
        team: &Team,
        threads: usize,
        positions: &[Vec3<f64>],
        movable: impl Fn(usize) -> bool,
        radius: f64,
        candidates: &mut Candidates,
    ) {
        self.movable.clear();
        self.movable.extend((0..positions.len()).map(movable));
        self.fit(positions, radius);
        self.plan();
        let search = &*self;
        team.run(threads, |worker| {
            for part in worker.share_pieces(PARTS) {
                let mut found = search.parts[part].lock().unwrap_or_else(PoisonError::into_inner);
                found.clear();
                search.tasks.iter().skip(part).step_by(PARTS).for_each(|task| {
                    search.carry_out(task, positions, radius, &mut found);
                });
            }
        });
        self.found.clear();
        for part in &mut self.parts {
            self.found.extend_from_slice(part.get_mut().unwrap_or_else(PoisonError::into_inner));
        }
        self.found.sort_unstable_by_key(|found| found.key);
        self.write(candidates);
        candidates.reference.clear();
        candidates.reference.extend_from_slice(positions);
        candidates.radius = radius;
        candidates.is_across = self.is_divided;
    }

    /// Boxes of everything within half the radius, and the trees over them.
    fn fit(&mut self, positions: &[Vec3<f64>], radius: f64) {
        self.boxes.clear();
        self.boxes.extend(positions.iter().map(|&point| Aabb::about(point, 0.5 * radius)));
        let (boxes, movable, cloth_end) = (&self.boxes, &self.movable, self.cloth_end);
        fn all<const N: usize>(corners: [u32; N], boxes: &[Aabb], can_move: impl Fn(u32) -> bool) -> (Aabb, bool) {
            let corner_boxes = corners.map(|vertex| boxes[vertex as usize]);
            if corner_boxes.iter().any(Aabb::is_empty) {
                return (Aabb::EMPTY, false);
            }
            let aabb = corner_boxes.iter().skip(1).fold(corner_boxes[0], |sum, o| sum.union(o));
            (aabb, corners.iter().any(|&vertex| can_move(vertex)))
        }
        let (vertices, edges, triangles) = (&self.vertices, &self.edges, &self.triangles);
        let can_move = |vertex: u32| movable[vertex as usize] || vertex < cloth_end;
        for part in &mut self.trees {
            let (v, e, t) =
                (&vertices[part.vertices.clone()], &edges[part.edges.clone()], &triangles[part.triangles.clone()]);
            fit_tree(&mut part.vertex_tree, v.len(), |item| all([v[item as usize]], boxes, can_move));
            fit_tree(&mut part.edge_tree, e.len(), |item| all(e[item as usize], boxes, can_move));
            fit_tree(&mut part.triangle_tree, t.len(), |item| all(t[item as usize], boxes, can_move));
        }
    }

    /// Pairs of nodes some levels down that have to be compared.
    fn plan(&mut self) {
        /// Up to 32 nodes of each tree.
        const LEVEL: u32 = 5;
        self.tasks.clear();
        let tasks = &mut self.tasks;
        let [below, beyond] = &self.trees;
        let mut add = |kind: Kind, first: u32, second: u32| tasks.push(Task { kind, first, second });
        if self.is_divided {
            let faces = |i, j| Kind::VerticesWithTriangles(i, j);
            below.edge_tree.for_each_node_overlap_with(&beyond.edge_tree, LEVEL, |m, n| add(Kind::EdgesAcross, m, n));
            below.vertex_tree.for_each_node_overlap_with(&beyond.triangle_tree, LEVEL, |m, n| add(faces(0, 1), m, n));
            beyond.vertex_tree.for_each_node_overlap_with(&below.triangle_tree, LEVEL, |m, n| add(faces(1, 0), m, n));
        } else {
            let faces = Kind::VerticesWithTriangles(0, 0);
            below.edge_tree.for_each_node_overlap(LEVEL, |m, n| add(Kind::Edges, m, n));
            below.vertex_tree.for_each_node_overlap_with(&below.triangle_tree, LEVEL, |m, n| add(faces, m, n));
        }
    }

    fn carry_out(&self, task: &Task, positions: &[Vec3<f64>], radius: f64, found: &mut Vec<Found>) {
        let at = |vertex: u32| positions[vertex as usize];
        let can_move = |vertices: [u32; 4]| {
            let is_across = (vertices[0] < self.cloth_end) != (vertices[3] < self.cloth_end);
            is_across || vertices.iter().any(|&vertex| self.movable[vertex as usize])
        };
        let (first, second) = (task.first as usize, task.second as usize);
        let mut of_edges = |i: u32, j: u32| {
            let (i, j) = (i.min(j), i.max(j));
            let ([a, b], [c, d]) = (self.edges[i as usize], self.edges[j as usize]);
            if a == c || a == d || b == c || b == d || !can_move([a, b, c, d]) {
                return;
            }
            let x = [at(a), at(b), at(c), at(d)];
            if let Some(gap) = gap_within(radius, &x, 2) {
                found.push(Found { key: EDGES | u64::from(i) << 32 | u64::from(j), gap });
            }
        };
        match task.kind {
            Kind::Edges => self.trees[0].edge_tree.for_each_overlap_of(first, second, of_edges),
            Kind::EdgesAcross => {
                let [below, beyond] = &self.trees;
                let offset = beyond.edges.start as u32;
                let tree = &beyond.edge_tree;
                below.edge_tree.for_each_overlap_of_with(first, tree, second, |i, j| of_edges(i, j + offset));
            }
            Kind::VerticesWithTriangles(one, other) => {
                let (one, other) = (&self.trees[one], &self.trees[other]);
                let (first_vertex, first_triangle) = (one.vertices.start as u32, other.triangles.start as u32);
                one.vertex_tree.for_each_overlap_of_with(first, &other.triangle_tree, second, |i, j| {
                    let (i, j) = (i + first_vertex, j + first_triangle);
                    let (vertex, [a, b, c]) = (self.vertices[i as usize], self.triangles[j as usize]);
                    if vertex == a || vertex == b || vertex == c || !can_move([vertex, a, b, c]) {
                        return;
                    }
                    let x = [at(vertex), at(a), at(b), at(c)];
                    if let Some(gap) = gap_within(radius, &x, 1) {
                        found.push(Found { key: u64::from(i) << 32 | u64::from(j), gap });
                    }
                });
            }
        }
    }

    fn write(&self, candidates: &mut Candidates) {
        let split = self.found.partition_point(|found| found.key < EDGES);
        let (of_triangles, of_edges) = self.found.split_at(split);
        let numbers = |found: &Found| (((found.key & !EDGES) >> 32) as usize, found.key as u32 as usize);
        candidates.vertex_triangle.clear();
        candidates.vertex_triangle.extend(of_triangles.iter().map(numbers).map(|(i, j)| {
            let [a, b, c] = self.triangles[j];
            [self.vertices[i], a, b, c]
        }));
        candidates.edge_edge.clear();
        candidates.edge_edge.extend(of_edges.iter().map(numbers).map(|(i, j)| {
            let ([a, b], [c, d]) = (self.edges[i], self.edges[j]);
            [a, b, c, d]
        }));
        for (gaps, list) in candidates.gaps.iter_mut().zip([of_triangles, of_edges]) {
            gaps.clear();
            gaps.extend(list.iter().map(|found| found.gap));
        }
    }
}

fn fit_tree(tree: &mut Bvh, count: usize, box_of: impl Fn(u32) -> (Aabb, bool)) {
    if tree.len() != count {
        tree.sort(count, |item| box_of(item).0);
    }
    tree.refit(&box_of);
    if tree.has_decayed() {
        tree.sort(count, |item| box_of(item).0);
        tree.refit(&box_of);
    }
}

/// How far apart a pair is at least, unless that is certainly more than the radius.
fn gap_within(radius: f64, x: &[Vec3<f64>; 4], first_count: usize) -> Option<f32> {
    let [a, b, c, d] = *x;
    // Most pairs whose boxes overlap are told apart along the line of their centres.
    let centres = if first_count == 1 { a - (b + c + d) * (1.0 / 3.0) } else { (a + b - c - d) * 0.5 };
    let gap = gap_along(centres, x, first_count);
    if gap > 0.0 && gap * gap * (1.0 - 16.0 * f64::EPSILON) > radius * radius * centres.norm_squared() {
        return None;
    }
    let closest = if first_count == 1 { point_triangle(a, [b, c, d]) } else { segment_segment([a, b], [c, d]) };
    // The normal has length 1 up to some 4 units of rounding.
    let gap = gap_along(closest.normal, x, first_count) * (1.0 - 4.0 * f64::EPSILON);
    if gap > radius { None } else { Some(round_down(gap).max(0.0)) }
}
