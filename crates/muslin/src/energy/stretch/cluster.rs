//! Clusters of vertices that want to be where their rest shape, moved as a whole, would put them: what the solver and the model
//! `shape_matching` share.
//!
//! ```text
//! c = Σ wᵢxᵢ/Σ wᵢ,   c₀ = Σ wᵢpᵢ/Σ wᵢ,   qᵢ = pᵢ − c₀            p rest positions, w weights: masses, or areas
//! A_pq = Σ wᵢ (xᵢ − c) qᵢᵀ,   A_qq = Σ wᵢ qᵢqᵢᵀ
//! goal of i = c + T qᵢ        rigid: T = R, the rotation nearest to A_pq
//!                             linear: T = β A_pq A_qq⁻¹ + (1 − β) R, which lets a share β of stretch and shear pass
//! ```
//!
//! `A_qq` of a flat rest shape has no inverse; the pseudo-inverse is taken, and it does not matter what T does across the plane, since no q
//! has a part there. The determinant of the linear part is left as it is: a flat cluster has no volume to keep.
//!
//! The sum of wᵢ(goal − xᵢ) is zero, and so is that of wᵢ(xᵢ − c) × (goal − xᵢ): both `A_pq Rᵀ` and `A_pq A_qq⁻¹ A_pqᵀ` are symmetric. So a pull towards the
//! goals changes neither momentum nor angular momentum.
//!
//! **Regions.** One cluster for a whole cloth makes it a plate. Overlapping regions make it bend: going through the vertices in order, each that is farther than
//! half the radius from every centre so far becomes a centre, and its region is what lies within the radius along edges at rest. A vertex belongs
//! to its regions in shares that add up to one and fade to zero at the rim, (1 − d²/r²)²; its mass and its goal are shared alike, so momentum is still kept.
//!
//! To the solver a held vertex counts a million times the free mass of its cluster: the fit then goes through it, and its cluster turns about it.
//!
//! [Müller et al. 2005, Meshless Deformations Based on Shape Matching], [Rivers, James 2007] for shares of mass.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::math::{Mat3, Small, Vec3, polar_rotation};
use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};
use crate::settings::SettingField;
use crate::topology::Adjacency;

/// The size of the clusters.
pub const REGION: Parameter = Parameter {
    name: "region",
    unit: "m",
    kind: Kind::Number { min: 0.0, max: f64::INFINITY },
    default: Some(Setting::Number(0.2)),
    meaning: "radius of the regions that keep their shape, at least two edges; 0 = the whole cloth is one",
};

/// Which [`Mode`].
pub const MODE: Parameter = Parameter {
    name: "mode",
    unit: "",
    kind: Kind::Choice(&["rigid", LINEAR]),
    default: Some(Setting::Choice("rigid")),
    meaning: "what a region may do freely: move and turn, or stretch and shear by a share `beta` too",
};

const LINEAR: &str = "linear";

/// The share of [`Mode::Linear`].
pub const BETA: Parameter = Parameter {
    name: "beta",
    unit: "",
    kind: Kind::Number { min: 0.0, max: 1.0 },
    default: Some(Setting::Number(0.5)),
    meaning: "share of stretch and shear that mode \"linear\" lets pass",
};

/// How much a held vertex weighs, in free masses of its cluster.
const HELD: f64 = 1e6;

/// A region reaches at least this many of the longest edge, or its vertices would have no neighbours in it.
const FEWEST_EDGES: f64 = 2.0;

/// The freedom of the rest shape to meet the vertices.
///
/// ```
/// use muslin::energy::stretch::cluster::Mode;
/// use muslin::solver::ShapeMatching;
///
/// let solver = ShapeMatching { mode: Mode::Linear(0.5), ..Default::default() };
/// assert_eq!((solver.mode.share(), Mode::Rigid.share()), (0.5, 0.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// Move and turn.
    Rigid,
    /// Stretch and shear too, by this share.
    Linear(f64),
}

/// As [`MODE`] and [`BETA`].
impl SettingField for Mode {
    fn of(_entry: &Entry, _key: &str) -> Self {
        Self::Rigid
    }

    fn write(self, key: &'static str, settings: &mut Settings) {
        settings.set(key, Setting::Choice(if self == Self::Rigid { "rigid" } else { LINEAR }));
        if let Self::Linear(share) = self {
            settings.set(BETA.name, Setting::Number(share));
        }
    }
}

impl Mode {
    /// Reads [`MODE`] and [`BETA`].
    pub fn read(settings: &Settings) -> Self {
        let is_linear = settings.choice(MODE.name) == Some(LINEAR);
        if is_linear { Self::Linear(settings.number(BETA.name).unwrap_or(0.0)) } else { Self::Rigid }
    }

    /// β.
    pub fn share(self) -> f64 {
        match self {
            Self::Rigid => 0.0,
            Self::Linear(share) => share,
        }
    }
}

/// A cloth as its clusters are made from it; vertices are counted from zero.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)] // the validation fits regions of its own
pub struct Patch<'a> {
    /// Rest positions, in m.
    pub rest: &'a [Vec3<f64>],
    /// The edges, sorted.
    pub edges: &'a [[u32; 2]],
    /// Index of its first vertex in the state.
    pub first_vertex: u32,
}

/// A vertex in a cluster.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)] // the validation fits regions of its own
pub struct Member {
    /// The vertex, in the state.
    pub vertex: u32,
    /// How much of it belongs to this cluster: its shares add up to one.
    pub share: f64,
    /// p, in m.
    rest: Vec3<f64>,
    /// w.
    pub weight: f64,
}

/// The part of a cluster that depends on the weights alone.
#[derive(Clone, Copy, Debug)]
struct MatchedShape {
    /// 1/Σw, or zero.
    inverse_weight: f64,
    /// c₀, in m.
    center: Vec3<f64>,
    /// `A_qq`.
    moments: Mat3,
    /// The pseudo-inverse of `A_qq`.
    inverse: Mat3,
}

/// Where a cluster is.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)] // the validation fits regions of its own
pub struct Fit {
    /// c, in m.
    pub center: Vec3<f64>,
    /// R.
    pub rotation: Mat3,
    /// T.
    pub map: Mat3,
    /// `A_pq A_qq⁻¹`, the best linear map; R in rigid mode, which does not need it.
    pub linear: Mat3,
    rest_center: Vec3<f64>,
}

impl Default for Fit {
    /// At the origin, unmoved.
    fn default() -> Self {
        let (center, rest_center) = (Vec3::ZERO, Vec3::ZERO);
        Self { center, rotation: Mat3::IDENTITY, map: Mat3::IDENTITY, linear: Mat3::IDENTITY, rest_center }
    }
}

impl Fit {
    /// Where a member should be, in m.
    #[inline]
    pub fn goal(&self, member: &Member) -> Vec3<f64> {
        self.goal_by(&self.map, member)
    }

    /// Where another map would have it, in m.
    #[inline]
    pub fn goal_by(&self, map: &Mat3, member: &Member) -> Vec3<f64> {
        self.center + map.apply(member.rest - self.rest_center)
    }
}

/// Clusters of vertices.
#[derive(Clone, Debug)]
#[doc(hidden)] // the validation fits regions of its own
pub struct Clusters {
    mode: Mode,
    /// Of each cluster the place of its first member; one more than there are clusters.
    starts: Vec<usize>,
    members: Vec<Member>,
    shapes: Vec<MatchedShape>,
}

impl Clusters {
    /// No clusters yet.
    pub fn new(mode: Mode) -> Self {
        Self { mode, starts: vec![0], members: Vec::new(), shapes: Vec::new() }
    }

    /// Adds those of a cloth: overlapping regions of a radius, in m, or one of it all for a radius of zero.
    pub fn add(&mut self, patch: &Patch<'_>, radius: f64) {
        let regions = if radius > 0.0 { regions(patch, radius) } else { vec![whole(patch)] };
        let mut total = vec![0.0; patch.rest.len()];
        for &(vertex, strength) in regions.iter().flatten() {
            total[vertex as usize] += strength;
        }
        for region in regions {
            self.members.extend(region.into_iter().map(|(vertex, strength)| Member {
                vertex: vertex + patch.first_vertex,
                share: strength / total[vertex as usize],
                rest: patch.rest[vertex as usize],
                weight: 0.0,
            }));
            self.starts.push(self.members.len());
            let (center, moments, inverse) = (Vec3::ZERO, Mat3::ZERO, Mat3::ZERO);
            self.shapes.push(MatchedShape { inverse_weight: 0.0, center, moments, inverse });
        }
    }

    /// Weighs the vertices: by masses, in kg, held ones heavily.
    pub fn weigh(&mut self, masses: &[f64], is_held: impl Fn(usize) -> bool) {
        for (range, shape) in self.starts.windows(2).map(|s| s[0]..s[1]).zip(&mut self.shapes) {
            let members = &mut self.members[range];
            let free: f64 = members.iter().filter(|m| !is_held(m.vertex as usize)).map(|m| m.share_of(masses)).sum();
            for member in members.iter_mut() {
                let is_free = !is_held(member.vertex as usize);
                member.weight = if is_free { member.share_of(masses) } else { HELD * free };
            }
            let weight: f64 = members.iter().map(|m| m.weight).sum();
            let inverse_weight = if weight > 0.0 { 1.0 / weight } else { 0.0 };
            let center = members.iter().fold(Vec3::ZERO, |sum, m| sum + m.rest * m.weight) * inverse_weight;
            let moments = members.iter().fold(Mat3::ZERO, |sum, m| {
                let q = m.rest - center;
                sum + Mat3::outer(q, q * m.weight)
            });
            *shape = MatchedShape { inverse_weight, center, moments, inverse: pseudo_inverse(&moments) };
        }
    }

    /// The members of each cluster, one cluster after the other.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[Member])> {
        self.starts.windows(2).map(|s| &self.members[s[0]..s[1]]).enumerate()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// Where a cluster is with the vertices at `x`.
    pub fn fit(&self, cluster: usize, x: &[Vec3<f64>]) -> Fit {
        let (members, shape) = (self.members(cluster), &self.shapes[cluster]);
        // Sums of differences from one of the members: exact under translation, however far from the origin.
        let origin = members.first().map_or(Vec3::ZERO, |m| x[m.vertex as usize]);
        let arm = |m: &Member| x[m.vertex as usize] - origin;
        let center = members.iter().fold(Vec3::ZERO, |sum, m| sum + arm(m) * m.weight) * shape.inverse_weight;
        let cross = members
            .iter()
            .fold(Mat3::ZERO, |sum, m| sum + Mat3::outer(arm(m) - center, (m.rest - shape.center) * m.weight));
        let rotation = polar_rotation(&cross);
        let (map, linear) = match self.mode {
            Mode::Rigid => (rotation, rotation),
            Mode::Linear(share) => {
                let linear = cross.times(&shape.inverse);
                (linear * share + rotation * (1.0 - share), linear)
            }
        };
        Fit { center: origin + center, rotation, map, linear, rest_center: shape.center }
    }

    /// The members of a cluster.
    pub fn members(&self, cluster: usize) -> &[Member] {
        &self.members[self.starts[cluster]..self.starts[cluster + 1]]
    }

    /// The members of all clusters, one cluster after the other.
    pub fn all_members(&self) -> &[Member] {
        &self.members
    }

    /// The freedom of the clusters.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The trace of `A_qq`, Σ w ‖q‖².
    pub fn extent(&self, cluster: usize) -> f64 {
        self.shapes[cluster].moments.trace()
    }

    /// The directions d in which a cluster has an extent: those of the axes of `A_qq`, with Σ w (d·q)² = 1.
    pub fn directions(&self, cluster: usize) -> impl Iterator<Item = Vec3<f64>> {
        extents(&self.shapes[cluster].moments).map(|(value, axis)| axis * (1.0 / value.sqrt()))
    }

    /// q of a member of a cluster, in m.
    pub fn arm(&self, cluster: usize, member: &Member) -> Vec3<f64> {
        member.rest - self.shapes[cluster].center
    }
}

impl Member {
    fn share_of(&self, masses: &[f64]) -> f64 {
        self.share * masses[self.vertex as usize]
    }
}

/// The inverse where there is one, and zero along the directions in which the matrix has no extent.
fn pseudo_inverse(moments: &Mat3) -> Mat3 {
    extents(moments).fold(Mat3::ZERO, |sum, (value, axis)| sum + Mat3::outer(axis, axis * (1.0 / value)))
}

/// The eigenvalues that are not rounding, with their vectors.
fn extents(moments: &Mat3) -> impl Iterator<Item = (f64, Vec3<f64>)> + use<> {
    /// Below this part of the largest an extent is rounding: moments are squares, so a sheet a millionth as thick as wide is flat.
    const FLAT: f64 = 1e-12;
    let (values, vectors) = Small::new(3, |i, j| moments.0[i][j]).eigen();
    let largest = values.iter().take(3).fold(0.0, |largest: f64, x| largest.max(*x));
    let axis = move |k: usize| Vec3::new(vectors[0][k], vectors[1][k], vectors[2][k]);
    (0..3).filter(move |&k| values[k] > FLAT * largest).map(move |k| (values[k], axis(k)))
}

/// All vertices, with the same strength.
fn whole(patch: &Patch<'_>) -> Vec<(u32, f64)> {
    (0..patch.rest.len() as u32).map(|vertex| (vertex, 1.0)).collect()
}

/// Overlapping regions, as vertices with their strengths.
fn regions(patch: &Patch<'_>, radius: f64) -> Vec<Vec<(u32, f64)>> {
    let neighbors = Adjacency::of_edges(patch.rest.len(), patch.edges);
    let length = |a: u32, b: u32| (patch.rest[b as usize] - patch.rest[a as usize]).norm();
    let longest = patch.edges.iter().map(|&[a, b]| length(a, b)).fold(0.0, f64::max);
    let radius = radius.max(FEWEST_EDGES * longest);
    let mut is_covered = vec![false; patch.rest.len()];
    let mut distance = vec![f64::INFINITY; patch.rest.len()];
    let mut regions = Vec::new();
    for center in 0..patch.rest.len() as u32 {
        if is_covered[center as usize] {
            continue;
        }
        // Dijkstra's search, as far as the radius. Distances are not negative, so their bits are in their order.
        let mut heap = BinaryHeap::from([Reverse((0_u64, center))]);
        distance[center as usize] = 0.0;
        let mut reached = Vec::new();
        while let Some(Reverse((bits, vertex))) = heap.pop() {
            let d = f64::from_bits(bits);
            if d > distance[vertex as usize] {
                continue;
            }
            reached.push((vertex, d));
            for &next in neighbors.of(vertex) {
                let longer = d + length(vertex, next);
                if longer < radius && longer < distance[next as usize] {
                    distance[next as usize] = longer;
                    heap.push(Reverse((longer.to_bits(), next)));
                }
            }
        }
        for &(vertex, d) in &reached {
            is_covered[vertex as usize] |= d <= 0.5 * radius;
            distance[vertex as usize] = f64::INFINITY;
        }
        reached.sort_unstable_by_key(|&(vertex, _)| vertex);
        let strength = |d: f64| (1.0 - (d / radius) * (d / radius)) * (1.0 - (d / radius) * (d / radius));
        regions.push(reached.into_iter().map(|(vertex, d)| (vertex, strength(d))).collect());
    }
    regions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Diagonals, Mesh};
    use crate::topology::Topology;

    fn vectors(list: &serde_json::Value) -> Vec<Vec3<f64>> {
        let number = |value: &serde_json::Value| value.as_f64().unwrap();
        list.as_array().unwrap().iter().map(|v| Vec3::new(number(&v[0]), number(&v[1]), number(&v[2]))).collect()
    }

    /// One cluster of the fixture with its positions and masses.
    struct Case {
        clusters: Clusters,
        masses: Vec<f64>,
        x: Vec<Vec3<f64>>,
        data: serde_json::Value,
    }

    fn cases(mode: Mode) -> Vec<Case> {
        let text = include_str!("../../../tests/fixtures/shape_matching.json");
        let all: serde_json::Value = serde_json::from_str(text).unwrap();
        let case = |data: &serde_json::Value| {
            let masses: Vec<f64> = data["mass"].as_array().unwrap().iter().map(|m| m.as_f64().unwrap()).collect();
            let mut clusters = Clusters::new(mode);
            clusters.add(&Patch { rest: &vectors(&data["rest"]), edges: &[], first_vertex: 0 }, 0.0);
            clusters.weigh(&masses, |_| false);
            Case { clusters, masses, x: vectors(&data["x"]), data: data.clone() }
        };
        all["cases"].as_array().unwrap().iter().map(case).collect()
    }

    #[test]
    fn rotations_and_goals_are_those_of_the_fixture() {
        let cases = cases(Mode::Rigid);
        assert_eq!(cases.len(), 8, "clusters");
        for case in &cases {
            let fit = case.clusters.fit(0, &case.x);
            assert!((fit.rotation.determinant() - 1.0).abs() < 1e-14, "{fit:?}");
            if case.data["unique"].as_bool().unwrap() {
                let (_, members) = case.clusters.iter().next().unwrap();
                for (member, goal) in members.iter().zip(vectors(&case.data["goals"])) {
                    assert!((fit.goal(member) - goal).norm() < 1e-13, "{:?} {goal:?}", fit.goal(member));
                }
            }
        }
    }

    #[test]
    fn goals_pull_without_force_or_torque_flat_and_collinear_clusters_included() {
        for mode in [Mode::Rigid, Mode::Linear(0.6), Mode::Linear(1.0)] {
            for case in &cases(mode) {
                let fit = case.clusters.fit(0, &case.x);
                let (_, members) = case.clusters.iter().next().unwrap();
                let (mut force, mut torque) = (Vec3::ZERO, Vec3::ZERO);
                for (i, member) in members.iter().enumerate() {
                    let pull = (fit.goal(member) - case.x[i]) * case.masses[i];
                    force += pull;
                    torque += (case.x[i] - fit.center).cross(pull);
                }
                assert!(force.norm() < 1e-14 && torque.norm() < 1e-14, "{mode:?}: {force:?} {torque:?}");
            }
        }
    }

    #[test]
    fn the_linear_map_of_a_flat_sheet_follows_stretch_and_shear_in_its_plane() {
        let mesh = Mesh::grid([1.0, 1.0], [4, 4], Diagonals::Alternating).unwrap();
        let rest: Vec<Vec3<f64>> = mesh.positions.iter().map(|&p| p.into()).collect();
        let mut clusters = Clusters::new(Mode::Linear(1.0));
        clusters.add(&Patch { rest: &rest, edges: &[], first_vertex: 0 }, 0.0);
        clusters.weigh(&vec![1.0; rest.len()], |_| false);
        let turn = Mat3::from_degrees_xyz([20.0, 130.0, -40.0]);
        let deform = |p: &Vec3<f64>| turn.apply(Vec3::new(1.4 * p.x + 0.3 * p.z, 0.0, 0.8 * p.z));
        let x: Vec<Vec3<f64>> = rest.iter().map(deform).collect();
        let fit = clusters.fit(0, &x);
        for (_, members) in clusters.iter() {
            for member in members {
                let error = (fit.goal(member) - x[member.vertex as usize]).norm();
                assert!(error < 1e-14, "{error}");
            }
        }
    }

    #[test]
    fn regions_cover_the_cloth_overlap_and_share_every_vertex() {
        let mesh = Mesh::grid([1.0, 1.0], [20, 20], Diagonals::Alternating).unwrap();
        let rest: Vec<Vec3<f64>> = mesh.positions.iter().map(|&p| p.into()).collect();
        let topology = Topology::build(&mesh);
        let patch = Patch { rest: &rest, edges: &topology.edges, first_vertex: 7 };
        let mut clusters = Clusters::new(Mode::Rigid);
        clusters.add(&patch, 0.3);
        let mut shares = vec![0.0; rest.len()];
        let mut counts = vec![0; rest.len()];
        for (_, members) in clusters.iter() {
            for member in members {
                shares[member.vertex as usize - 7] += member.share;
                counts[member.vertex as usize - 7] += 1;
            }
        }
        assert!(shares.iter().all(|share| (share - 1.0_f64).abs() < 1e-15), "{shares:?}");
        assert!(clusters.len() > 20 && clusters.len() < 100, "{} regions", clusters.len());
        let shared = counts.iter().filter(|count| **count > 1).count();
        assert!(shared > rest.len() * 9 / 10, "only {shared} vertices are in several regions");
        // A radius below the edges is no region of its own for each vertex.
        let mut small = Clusters::new(Mode::Rigid);
        small.add(&patch, 1e-3);
        assert!(small.iter().all(|(_, members)| members.len() >= 3), "a region without neighbours");
    }

    #[test]
    fn the_fit_goes_through_held_vertices() {
        let mesh = Mesh::grid([1.0, 1.0], [8, 8], Diagonals::Alternating).unwrap();
        let rest: Vec<Vec3<f64>> = mesh.positions.iter().map(|&p| p.into()).collect();
        let mut clusters = Clusters::new(Mode::Rigid);
        clusters.add(&Patch { rest: &rest, edges: &[], first_vertex: 0 }, 0.0);
        clusters.weigh(&vec![1e-3; rest.len()], |v| v == 0 || v == 8);
        let x: Vec<Vec3<f64>> = rest
            .iter()
            .enumerate()
            .map(|(v, p)| *p - Vec3::new(0.0, if v == 0 || v == 8 { 0.0 } else { 0.01 }, 0.0))
            .collect();
        let fit = clusters.fit(0, &x);
        let (_, members) = clusters.iter().next().unwrap();
        for v in [0, 8] {
            let error = (fit.goal(&members[v]) - x[v]).norm();
            assert!(error < 1e-7, "{error}");
        }
        // The rest turns about them: least squares of rows at z = j/8 that fell by 0.01 m, Σ z/Σ z² of it at z = 1.
        let far = -(fit.goal(&members[76]) - rest[76]).y;
        let expected = 0.01 * (36.0 / 8.0) / (204.0 / 64.0);
        assert!((far / expected - 1.0).abs() < 1e-3, "{far} {expected}");
    }
}
