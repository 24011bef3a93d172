//! The left half of the surface: from a net to nearly equilateral triangles, and mirrored to the whole.
//!
//! Four turns of remeshing [Botsch, Kobbelt 2004]: long edges are split, short ones collapse, edges flip where that makes their
//! triangles Delaunay, vertices move along the surface to the middle of their neighbours and back onto it. The border lies on
//! the plane x = 0 and stays there, so the mirrored whole is symmetric to the bit.

use crate::shape::Shape;
use crate::vector::{Vec3, add, cross, distance, dot, length, scale, sub, unit};

/// Turns of remeshing: more of them change little.
const TURNS: usize = 4;

/// Moves of all vertices in each turn.
const MOVES: usize = 4;

/// Half of a surface that is symmetric in x.
#[derive(Debug, Clone, Default)]
pub(crate) struct Half {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Whether a vertex lies on the plane of symmetry.
    pub(crate) on_plane: Vec<bool>,
}

/// An edge of the half: its vertices a < b, and for its one or two triangles their number and the vertex across.
#[derive(Debug, Clone, Copy)]
struct Edge {
    ends: [u32; 2],
    sides: [(u32, u32); 2],
    side_count: usize,
}

impl Half {
    /// Triangles with edges near what the shape asks for, times `goal`.
    pub(crate) fn remesh(&mut self, shape: &Shape, goal: f64) {
        for _ in 0..TURNS {
            self.split(shape, 1.35 * goal);
            self.collapse(shape, 0.75 * goal, 1.35 * goal);
            self.flip();
            for _ in 0..MOVES {
                self.relax(shape);
            }
            self.flip();
        }
        for _ in 0..MOVES {
            self.relax(shape);
            self.flip();
        }
        for position in &mut self.positions {
            let x = position[0];
            *position = shape.project(shape.project(*position));
            position[0] = if x == 0.0 { 0.0 } else { position[0] };
        }
    }

    /// Whether every edge has a triangle on each side or lies on the plane, and the triangles of every vertex are one fan.
    pub(crate) fn is_manifold(&self) -> bool {
        let is_border = |edge: &Edge| edge.ends.iter().all(|&end| self.is_on_plane(end));
        let edges = self.edges();
        if !edges.iter().all(|edge| edge.side_count == 2 || edge.side_count == 1 && is_border(edge)) {
            return false;
        }
        let mut fans = vec![Vec::new(); self.positions.len()];
        for triangle in &self.triangles {
            for k in 0..3 {
                fans[triangle[k] as usize].push([triangle[(k + 1) % 3], triangle[(k + 2) % 3]]);
            }
        }
        fans.iter().all(|fan| {
            // Around the vertex from its border, or from anywhere.
            let is_first = |side: &&[u32; 2]| !fan.iter().any(|other| other[1] == side[0]);
            let Some(&[first, mut at]) = fan.iter().find(is_first).or(fan.first()) else { return false };
            let mut count = 1;
            while at != first {
                let Some(next) = fan.iter().find(|side| side[0] == at) else { break };
                (at, count) = (next[1], count + 1);
            }
            count == fan.len()
        })
    }

    /// Both halves: the left one, then the mirror images of all its vertices off the plane.
    pub(crate) fn mirrored(&self) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let mut positions = self.positions.clone();
        let mut twin = Vec::with_capacity(positions.len());
        for (index, (&[x, y, z], &on_plane)) in self.positions.iter().zip(&self.on_plane).enumerate() {
            if on_plane {
                twin.push(index as u32);
            } else {
                twin.push(positions.len() as u32);
                positions.push([-x, y, z]);
            }
        }
        let other = self.triangles.iter().map(|&[a, b, c]| [a, c, b].map(|vertex| twin[vertex as usize]));
        let triangles = self.triangles.iter().copied().chain(other).collect();
        (positions, triangles)
    }

    fn at(&self, vertex: u32) -> Vec3 {
        self.positions[vertex as usize]
    }

    fn is_on_plane(&self, vertex: u32) -> bool {
        self.on_plane[vertex as usize]
    }

    /// How long an edge is where the shape asks for edges of 1.
    fn long(&self, shape: &Shape, edge: &Edge) -> f64 {
        let [a, b] = edge.ends.map(|end| self.at(end));
        distance(a, b) / shape.fineness(scale(add(a, b), 0.5))
    }

    /// Edges that are chosen by their length, those with the least key first.
    fn chosen(&self, shape: &Shape, is_chosen: impl Fn(f64) -> bool, key: impl Fn(f64) -> f64) -> Vec<Edge> {
        let all = self.edges().into_iter().map(|edge| (self.long(shape, &edge), edge));
        let mut chosen: Vec<(f64, Edge)> = all.filter(|&(long, _)| is_chosen(long)).collect();
        chosen.sort_by(|a, b| key(a.0).total_cmp(&key(b.0)));
        chosen.into_iter().map(|(_, edge)| edge).collect()
    }

    /// Edges sorted by their ends.
    fn edges(&self) -> Vec<Edge> {
        let mut sides = Vec::with_capacity(3 * self.triangles.len());
        for (index, triangle) in self.triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b, c) = (triangle[k], triangle[(k + 1) % 3], triangle[(k + 2) % 3]);
                sides.push(([a.min(b), a.max(b)], (index as u32, c)));
            }
        }
        sides.sort_unstable();
        let edges = sides.chunk_by(|a, b| a.0 == b.0).map(|same| {
            let second = same.get(1).map_or(same[0].1, |side| side.1);
            Edge { ends: same[0].0, sides: [same[0].1, second], side_count: same.len() }
        });
        edges.collect()
    }

    /// Cuts edges in the middle, at most one of a triangle in a pass.
    fn split(&mut self, shape: &Shape, longest: f64) {
        for _ in 0..3 {
            let long = self.chosen(shape, |long| long > longest, |long| -long);
            let mut touched = vec![false; self.triangles.len()];
            for edge in &long {
                let sides = &edge.sides[..edge.side_count];
                if sides.iter().any(|side| touched[side.0 as usize]) {
                    continue;
                }
                let middle = self.positions.len() as u32;
                let [a, b] = edge.ends;
                self.positions.push(scale(add(self.at(a), self.at(b)), 0.5));
                self.on_plane.push(edge.side_count == 1);
                for &(index, _) in sides {
                    touched[index as usize] = true;
                    let old = self.triangles[index as usize];
                    self.triangles[index as usize] = old.map(|vertex| if vertex == b { middle } else { vertex });
                    self.triangles.push(old.map(|vertex| if vertex == a { middle } else { vertex }));
                }
            }
        }
    }

    /// Takes short edges out, where the surface stays a surface and no long edge arises.
    fn collapse(&mut self, shape: &Shape, shortest: f64, longest: f64) {
        for _ in 0..6 {
            let short = self.chosen(shape, |long| long < shortest, |long| long);
            let rings = self.rings();
            let mut touched = vec![false; self.positions.len()];
            let mut into: Vec<u32> = (0..self.positions.len() as u32).collect();
            for edge in &short {
                let [a, b] = edge.ends;
                let [ring_a, ring_b] = [a, b].map(|end| &rings[end as usize]);
                let common = ring_a.iter().filter(|vertex| ring_b.contains(vertex)).count();
                let on_plane = [a, b].map(|end| self.is_on_plane(end));
                // Only the border joins two vertices on the plane: any other edge between them would be its own mirror image.
                let across_middle = on_plane[0] != on_plane[1] && {
                    let (moved, other) = if on_plane[0] { (ring_b, ring_a) } else { (ring_a, ring_b) };
                    let is_new = |&vertex: &u32| vertex != a && vertex != b && !other.contains(&vertex);
                    moved.iter().any(|vertex| self.is_on_plane(*vertex) && is_new(vertex))
                };
                let dirty = [a, b].iter().chain(ring_a).chain(ring_b).any(|&vertex| touched[vertex as usize]);
                let is_fold = on_plane == [true, true] && edge.side_count == 2;
                if dirty || across_middle || is_fold || common != edge.side_count {
                    continue;
                }
                let (keep, go) = if on_plane == [false, true] { (b, a) } else { (a, b) };
                let place =
                    if on_plane[0] == on_plane[1] { scale(add(self.at(a), self.at(b)), 0.5) } else { self.at(keep) };
                let longest = longest * shape.fineness(place);
                if ring_a.iter().chain(ring_b).any(|&vertex| distance(self.at(vertex), place) > longest) {
                    continue;
                }
                for &vertex in [a, b].iter().chain(ring_a).chain(ring_b) {
                    touched[vertex as usize] = true;
                }
                self.positions[keep as usize] = place;
                into[go as usize] = keep;
            }
            self.merge(&into);
        }
    }

    /// Replaces vertices by others, and drops what is left over.
    fn merge(&mut self, into: &[u32]) {
        let mut number = vec![0; into.len()];
        let mut kept = Self::default();
        for (index, &to) in into.iter().enumerate() {
            if to as usize == index {
                number[index] = kept.positions.len() as u32;
                kept.positions.push(self.positions[index]);
                kept.on_plane.push(self.on_plane[index]);
            }
        }
        let moved = self.triangles.iter().map(|triangle| triangle.map(|vertex| number[into[vertex as usize] as usize]));
        kept.triangles = moved.filter(|[a, b, c]| a != b && b != c && c != a).collect();
        *self = kept;
    }

    /// The neighbours of every vertex, sorted.
    fn rings(&self) -> Vec<Vec<u32>> {
        let mut rings = vec![Vec::new(); self.positions.len()];
        for edge in self.edges() {
            let [a, b] = edge.ends;
            rings[a as usize].push(b);
            rings[b as usize].push(a);
        }
        rings
    }

    /// Flips edges whose opposite angles are together more than π, until few are left.
    fn flip(&mut self) {
        for _ in 0..4 {
            let mut rings = self.rings();
            let mut touched = vec![false; self.triangles.len()];
            for edge in self.edges().iter().filter(|edge| edge.side_count == 2) {
                let [(first, c), (second, d)] = edge.sides;
                let [a, b] = edge.ends;
                let across_middle = self.is_on_plane(c) && self.is_on_plane(d);
                let dirty = touched[first as usize] || touched[second as usize];
                if dirty || across_middle || rings[c as usize].contains(&d) {
                    continue;
                }
                if self.cotangent(c, a, b) + self.cotangent(d, a, b) > -1e-9 || self.is_sharp(first, second) {
                    continue;
                }
                for index in [first, second] {
                    touched[index as usize] = true;
                }
                // `first` has a → b or b → a; its copy keeps that sense.
                let (from, to) = if follows(self.triangles[first as usize], a, b) { (a, b) } else { (b, a) };
                self.triangles[first as usize] = [from, d, c];
                self.triangles[second as usize] = [d, to, c];
                rings[c as usize].push(d);
                rings[d as usize].push(c);
            }
        }
    }

    /// Whether two triangles meet at an angle that a flip would cut off.
    fn is_sharp(&self, first: u32, second: u32) -> bool {
        let [n, m] = [first, second].map(|index| unit(self.normal(self.triangles[index as usize])));
        dot(n, m) < 0.3
    }

    fn normal(&self, [a, b, c]: [u32; 3]) -> Vec3 {
        cross(sub(self.at(b), self.at(a)), sub(self.at(c), self.at(a)))
    }

    /// The cotangent of the angle at c towards a and b.
    fn cotangent(&self, c: u32, a: u32, b: u32) -> f64 {
        let (p, q) = (sub(self.at(a), self.at(c)), sub(self.at(b), self.at(c)));
        dot(p, q) / length(cross(p, q)).max(1e-12)
    }

    /// Moves vertices along the surface to the middle of their neighbours, weighted by area, and onto the surface.
    fn relax(&mut self, shape: &Shape) {
        let mut sums = vec![([0.0; 3], 0.0, [0.0; 3]); self.positions.len()];
        for triangle in &self.triangles {
            let normal = self.normal(*triangle);
            let area = length(normal);
            let center = scale(triangle.iter().fold([0.0; 3], |sum, &vertex| add(sum, self.at(vertex))), 1.0 / 3.0);
            let fineness = shape.fineness(center);
            let weight = area / (fineness * fineness);
            for &vertex in triangle {
                let sum = &mut sums[vertex as usize];
                sum.0 = add(sum.0, scale(center, weight));
                sum.1 += weight;
                sum.2 = add(sum.2, normal);
            }
        }
        for (index, (center, weight, mut normal)) in sums.into_iter().enumerate() {
            let mut center = scale(center, 1.0 / weight);
            // The mirror image of the ring of a vertex on the plane adds the same with the other sign.
            if self.on_plane[index] {
                center[0] = 0.0;
                normal[0] = 0.0;
            }
            let normal = unit(normal);
            let here = self.positions[index];
            let step = sub(center, here);
            let mut position = add(here, sub(step, scale(normal, dot(step, normal))));
            position = shape.project(position);
            if self.on_plane[index] {
                position[0] = 0.0;
            }
            self.positions[index] = position;
        }
    }
}

/// Whether a triangle has b after a.
fn follows(triangle: [u32; 3], a: u32, b: u32) -> bool {
    (0..3).any(|k| triangle[k] == a && triangle[(k + 1) % 3] == b)
}
