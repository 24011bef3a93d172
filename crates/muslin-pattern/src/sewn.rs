//! A garment with its seams closed: vertices that are sewn together are one, and the cloth beside them is stretched to where they meet.
//!
//! Where a seam closes, its vertices are put halfway between their places. The cloth that reaches there must not go through the body: a vertex is moved on,
//! out of the panels that it joins or along another of some directions, until all edges that lead to it are clear.
//!
//! ```text
//!          ● meets here: over the shoulder
//!         ╱ ╲
//!  front │ ▒ │ back         dir: sum of the ways out of the panels, in their planes
//!        │▒▒▒│
//! ```

use std::collections::BTreeSet;

use crate::assemble::{Garment, PanelGroup};
use crate::clear::Clear;
use crate::curve::Point;
use crate::mesh::Seam;
use crate::wrap::Body;

type Vec3 = [f64; 3];

/// A garment as one cloth with closed seams.
///
/// ```
/// # let text = muslin_pattern::BUILT_IN[0].json;
/// # let pattern = muslin_pattern::Pattern::from_json(text, &Default::default())?.pattern;
/// let garment = pattern.assemble(&pattern.mesh(0.02)?);
/// let sewn = garment.sewn(None);
/// assert!(sewn.positions.len() < garment.positions.len());
/// assert_eq!(sewn.uv.len(), garment.positions.len(), "flat it is still in pieces");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sewn {
    /// Where each vertex is, in m.
    pub positions: Vec<Vec3>,
    /// Vertex triples, counter-clockwise seen from the outer side.
    pub triangles: Vec<[u32; 3]>,
    /// The flat rest shape, in m, as of the [`Garment`].
    pub uv: Vec<Point>,
    /// The corners of each triangle in `uv`.
    pub uv_triangles: Vec<[u32; 3]>,
    /// A group of triangles for each panel; its `vertices` are those of `uv`.
    pub panels: Vec<PanelGroup>,
    /// For each vertex of the garment, which it is here.
    pub vertices: Vec<u32>,
    /// The seams, numbered as the garment is.
    pub seams: Vec<Seam>,
    /// Vertices of seams for which no place clear of the body was found.
    pub blocked: usize,
}

/// How far a vertex is moved on at most, in m, and by what at a time.
const FARTHEST: f64 = 0.3;
const STEP: f64 = 0.01;
/// How much less far than its neighbours a vertex of a seam may be moved, in m for each m between them.
const SLOPE: f64 = 0.5;
/// Parts of the clearance that are asked for, one after the other.
const SHARES: [f64; 3] = [1.0, 0.5, 0.2];
/// Sums of directions shorter than this say nothing.
const OPPOSED: f64 = 0.5;

impl Sewn {
    /// The names of seams whose two sides face each other the wrong way, so that triangles beside them run around an edge in the same direction: one stitch too many or too few is `right_wrong`.
    pub fn twisted(&self) -> Vec<&str> {
        let mut ways: Vec<[u32; 2]> = self.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
        ways.sort_unstable();
        let repeated: BTreeSet<[u32; 2]> =
            ways.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        let is_twisted = |seam: &&Seam| {
            let side: Vec<u32> = seam.chains[0].iter().map(|&v| self.vertices[v as usize]).collect();
            side.windows(2)
                .any(|pair| [[pair[0], pair[1]], [pair[1], pair[0]]].iter().any(|way| repeated.contains(way)))
        };
        self.seams.iter().filter(is_twisted).map(|seam| seam.name.as_str()).collect()
    }
}

impl Garment {
    /// Closes all seams, clear of a body where there is one and it can be done.
    pub fn sewn(&self, body: Option<(&Body<'_>, f64)>) -> Sewn {
        let merged = self.merged();
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); self.positions.len()];
        for (vertex, &first) in merged.iter().enumerate() {
            members[first as usize].push(vertex as u32);
        }
        let mut new_from_first = vec![0; merged.len()];
        let mut count = 0;
        for (first, members) in members.iter().enumerate() {
            if !members.is_empty() {
                new_from_first[first] = count;
                count += 1;
            }
        }
        let vertices: Vec<u32> = merged.iter().map(|&first| new_from_first[first as usize]).collect();
        members.retain(|members| !members.is_empty());
        let places = self.places(&members, &vertices, body);
        let triangles = self.triangles.iter().map(|triangle| triangle.map(|v| vertices[v as usize])).collect();
        Sewn {
            positions: places.iter().map(|place| place.position).collect(),
            triangles,
            uv: self.uv.clone(),
            uv_triangles: self.triangles.clone(),
            panels: self.panels.clone(),
            vertices,
            seams: self.seams.clone(),
            blocked: places.iter().filter(|place| place.is_blocked).count(),
        }
    }

    fn places(&self, members: &[Vec<u32>], vertices: &[u32], body: Option<(&Body<'_>, f64)>) -> Vec<Meeting> {
        let neighbors = self.neighbors();
        let is_seam = |vertex: u32| members[vertices[vertex as usize] as usize].len() > 1;
        let clear = body.map(|(body, clearance)| Clear::new(body.positions, body.triangles, clearance));
        let meet = |group: &Vec<u32>| {
            let mut meeting = Meeting::between(group.iter().map(|&v| self.positions[v as usize]));
            let Some(clear) = clear.as_ref().filter(|_| group.len() > 1) else { return meeting };
            let ring = group.iter().flat_map(|&v| &neighbors[v as usize]).filter(|&&v| !is_seam(v));
            let ring: Vec<Vec3> = ring.map(|&v| self.positions[v as usize]).collect();
            let directions = self.directions(group, &neighbors, body);
            let clearance = body.map_or(0.0, |(_, clearance)| clearance);
            // Between two legs there is not always room for all of it.
            if !SHARES.iter().any(|share| meeting.lift(&ring, &directions, clear, share * clearance)) {
                meeting.is_blocked = true;
            }
            meeting
        };
        let mut places: Vec<Meeting> = members.iter().map(meet).collect();
        self.smooth(&mut places, vertices);
        for place in &mut places {
            place.position = place.at(place.lifted);
        }
        places
    }

    /// Where a vertex of a seam may be moved: out of its panels, away from the limb, down and up.
    fn directions(&self, group: &[u32], neighbors: &[Vec<u32>], body: Option<(&Body<'_>, f64)>) -> Vec<Vec3> {
        let mut sum = [0.0; 3];
        for &v in group {
            let ring = &neighbors[v as usize];
            let count = ring.len().max(1) as f64;
            let center = [0, 1, 2].map(|k| ring.iter().map(|&n| self.positions[n as usize][k]).sum::<f64>() / count);
            let out = unit(sub(self.positions[v as usize], center));
            sum = [0, 1, 2].map(|k| sum[k] + out[k]);
        }
        let middle = Meeting::between(group.iter().map(|&v| self.positions[v as usize])).position;
        let mut directions = Vec::new();
        if norm(sum) > OPPOSED {
            directions.push(unit(sum));
        }
        if let Some(limb) = body.and_then(|(body, _)| body.limbs.first()) {
            let out = sub(middle, limb.axis[0]);
            directions.push(unit([out[0], 0.0, out[2]]));
        }
        directions.extend([[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]]);
        directions
    }

    /// Moves neighbours along a seam on too, in the same direction, so that edges along it are clear as well.
    fn smooth(&self, places: &mut [Meeting], vertices: &[u32]) {
        for seam in &self.seams {
            let chain: Vec<usize> = seam.chains[0].iter().map(|&v| vertices[v as usize] as usize).collect();
            for chain in [chain.clone(), chain.into_iter().rev().collect()] {
                for pair in chain.windows(2) {
                    let (before, next) = (&places[pair[0]], &places[pair[1]]);
                    let gap = norm(sub(before.at(0.0), next.at(0.0)));
                    let least = before.lifted - SLOPE * gap;
                    let direction = before.direction;
                    let next = &mut places[pair[1]];
                    if least > next.lifted && !next.is_blocked {
                        if next.lifted == 0.0 {
                            next.direction = direction;
                        }
                        next.lifted = least;
                    }
                }
            }
        }
    }

    /// The vertices that share an edge with each.
    fn neighbors(&self) -> Vec<Vec<u32>> {
        let mut neighbors = vec![Vec::new(); self.positions.len()];
        for &[a, b, c] in &self.triangles {
            for [from, to] in [[a, b], [b, c], [c, a], [b, a], [c, b], [a, c]] {
                let list: &mut Vec<u32> = &mut neighbors[from as usize];
                if !list.contains(&to) {
                    list.push(to);
                }
            }
        }
        neighbors
    }
}

/// Where vertices become one.
struct Meeting {
    position: Vec3,
    direction: Vec3,
    /// How far it is moved along the direction, in m.
    lifted: f64,
    is_blocked: bool,
}

impl Meeting {
    fn between(places: impl Iterator<Item = Vec3>) -> Self {
        let (sum, count) =
            places.fold(([0.0; 3], 0.0), |(sum, count), p| ([0, 1, 2].map(|k| sum[k] + p[k]), count + 1.0));
        Self { position: sum.map(|x| x / f64::max(count, 1.0)), direction: [0.0; 3], lifted: 0.0, is_blocked: false }
    }

    fn at(&self, lifted: f64) -> Vec3 {
        [0, 1, 2].map(|k| self.position[k] + lifted * self.direction[k])
    }

    /// Moves it on until the ways from all of `ring` are clear: as little as does, in the first of the directions that needs no more than another. Whether that is possible.
    fn lift(&mut self, ring: &[Vec3], directions: &[Vec3], clear: &Clear<'_>, clearance: f64) -> bool {
        let is_clear = |place: Vec3| ring.iter().all(|&from| clear.is_way(from, place, clearance));
        if is_clear(self.position) {
            return true;
        }
        for step in 1..=(FARTHEST / STEP) as u32 {
            let lifted = STEP * f64::from(step);
            for &direction in directions {
                self.direction = direction;
                if is_clear(self.at(lifted)) {
                    self.lifted = lifted;
                    return true;
                }
            }
        }
        self.direction = [0.0; 3];
        false
    }
}

fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn norm(a: Vec3) -> f64 {
    (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt()
}

fn unit(a: Vec3) -> Vec3 {
    let length = norm(a);
    if length > 1e-12 { a.map(|x| x / length) } else { [0.0; 3] }
}
