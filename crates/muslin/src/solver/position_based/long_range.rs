//! Long-range constraints and tethers bound the distance between distant vertices of a cloth. A sweep over edges carries a correction from a vertex to its neighbours only, so
//! a pull at a pin needs as many sweeps to arrive at a vertex as there are edges on the way.
//!
//! ```text
//! long-range constraints      ‖xᵢ − xⱼ‖ ≤ d(i, j)     for vertices 2, 4, 8 … edges apart on the lines of the mesh (`topology/lines.rs`),
//!                                    and for joined nodes of coarser and coarser graphs over the vertices (`topology/hierarchy.rs`)
//! tethers    ‖xᵢ − xₐ‖ ≤ d(i, a)     for every vertex i and pins a [Kim, Chentanez, Müller 2012, "Long Range Attachments"]
//! ```
//!
//! d is the length of the straight line in the flat rest shape (`topology/chart.rs`): cloth that does not stretch is never farther apart than that, however
//! it is folded, and over whatever it lies. So where the true motion hardly stretches, these constraints change nothing but how soon a sweep knows of it.
//! Where a limit of strain holds a softer cloth, they are longer by that limit. Cloth that may stretch as it likes must not have them, and whoever asks for them
//! decides. Rest shapes that are not flat get none.
//!
//! A long-range constraint keeps momentum: it moves both of its ends, each by its inverse mass. Every line has long-range constraints of its own, because a sudden pull stretches a line
//! without any as if the cloth had none. A line has about as many of them as edges, since those of twice the length are half as many. There are two such sets, which end at
//! different vertices of the line; even substeps project the one, odd substeps the other.
//!
//! A sheet of 64 × 64 vertices and 25 kN/m, hung by two corners, is 6 cm (root mean square) from the converged motion after half a second of 40 substeps a frame
//! without them, 1.6 cm with long-range constraints, 0.8 cm with tethers, 0.7 cm with both, and at 128 × 128 vertices still 0.7 cm.

use crate::math::Real;
use crate::model::{Cloth, Model, Pinned};
use crate::solver::position_based::distance_limits::{DistanceLimit, DistanceLimits};
use crate::solver::position_based::particle::Bundled;
use crate::solver::position_based::tethers::{Tether, Tethers};
use crate::topology::{Chart, Topology, coarsen};

/// Pins that a vertex is tied to at most.
const MOST_TETHERS: usize = 4;
/// Where lines have to be walked, or vertices compared with many pins, only so many vertices get tethers.
const MOST_WALKS: usize = 50_000;
/// So many comparisons of a vertex with a pin are made at most.
const MOST_COMPARISONS: usize = 200_000_000;

/// Long-range constraints and tethers of all cloths.
pub(crate) struct LongRange<R: Real> {
    /// Two sets that take turns, each with those of each level, the longest long-range constraints first.
    pub(crate) constraints: [Vec<DistanceLimits<R>>; 2],
    pub(crate) tethers: Tethers<R>,
}

/// The long-range constraints of each level, the shortest first.
type Levels = Vec<Vec<DistanceLimit>>;

impl<R: Bundled> LongRange<R> {
    /// For the cloths of a model whose rest shapes are flat; all of it is longer than the cloth by the part `elongation`. Side by side for the widest registers, if `is_wide`.
    pub(crate) fn new(model: &Model, elongation: f64, is_wide: bool) -> Self {
        let mut sets: [Levels; 2] = Default::default();
        let mut tethers = Vec::new();
        for cloth in &model.cloths {
            let mesh = cloth.ordering.apply(&cloth.mesh);
            let topology = Topology::build(&mesh);
            let Some(chart) = Chart::new(&mesh, &topology) else { continue };
            add_constraints(model, cloth, (&topology, &chart), 1.0 + elongation, &mut sets);
            add_tethers(model, cloth, (&topology, &chart), 1.0 + elongation, &mut tethers);
        }
        let count = model.masses.len();
        let distance_limits = |mut limits: Vec<DistanceLimit>| {
            // In the order of their vertices, as all that is swept over.
            limits.sort_by_key(|limit| limit.ends[0].min(limit.ends[1]));
            DistanceLimits::new(count, &limits, 1.0, is_wide)
        };
        let constraints = sets.map(|levels| levels.into_iter().rev().map(distance_limits).collect());
        Self { constraints, tethers: Tethers::new(count, &tethers, is_wide) }
    }

    /// Number of long-range constraints and tethers.
    pub(crate) fn len(&self) -> usize {
        self.tethers.len() + self.constraints.iter().flatten().map(DistanceLimits::len).sum::<usize>()
    }
}

fn add_constraints(
    model: &Model,
    cloth: &Cloth,
    (topology, chart): (&Topology, &Chart<'_>),
    stretch: f64,
    sets: &mut [Levels; 2],
) {
    let first = cloth.vertices.start as u32;
    let mut add = |set: usize, level: usize, a: u32, b: u32| {
        let levels = &mut sets[set];
        while levels.len() <= level {
            levels.push(Vec::new());
        }
        let limit = |length: f64| DistanceLimit { ends: [first + a, first + b], low: 0.0, high: stretch * length };
        levels[level].extend(chart.distance(a, b).map(limit));
    };
    let lines = chart.lines();
    // Where there are lines, it is enough to have the others every second time.
    let coarse_sets = if lines.is_empty() { &[0, 1][..] } else { &[1] };
    for (l, line) in (0_u32..).zip(&lines) {
        // In no order from line to line, and in the second set between those of the first.
        let phase = l.wrapping_mul(0x9E37_79B9) >> 16;
        for (set, phase) in [phase, phase ^ 0x5555].into_iter().enumerate() {
            for level in 0..line.len().ilog2() as usize {
                spans(line.len(), 2 << level, phase as usize).for_each(|[i, j]| add(set, level, line[i], line[j]));
            }
        }
    }
    let is_pinned = |v: u32| model.pinned.binary_search_by_key(&(first + v), |pinned| pinned.vertex).is_ok();
    let mut is_border = vec![false; cloth.vertices.len()];
    let borders = topology.boundary_edges.iter().flat_map(|&e| topology.edges[e as usize]);
    borders.for_each(|v| is_border[v as usize] = true);
    // What is pinned pulls, and a border is pulled from one side only: without long-range constraints along it, it is the first to be torn.
    let rank = |v: u32| if is_pinned(v) { 2 } else { u32::from(is_border[v as usize]) };
    let far = |a, b| chart.distance(a, b).unwrap_or(f64::INFINITY);
    let pairs = coarsen(cloth.vertices.len(), &topology.edges, rank, far);
    for (level, pairs) in pairs.iter().enumerate() {
        for (&set, &[a, b]) in coarse_sets.iter().flat_map(|set| pairs.iter().map(move |pair| (set, pair))) {
            add(set, level, a, b);
        }
    }
}

/// Pairs of places in a line of `count` vertices, `stride` apart; the first and the last may be half as far apart. `phase` says where they begin.
fn spans(count: usize, stride: usize, phase: usize) -> impl Iterator<Item = [usize; 2]> {
    let last = count.saturating_sub(1);
    let inner = (stride - phase % stride..last).step_by(stride);
    let ends = inner.clone().chain([last]);
    [0].into_iter().chain(inner).zip(ends).map(|(i, j)| [i, j]).filter(move |[i, j]| 2 * (j - i) >= stride)
}

fn add_tethers(
    model: &Model,
    cloth: &Cloth,
    (topology, chart): (&Topology, &Chart<'_>),
    stretch: f64,
    tethers: &mut Vec<Tether>,
) {
    let first = cloth.vertices.start as u32;
    let range = cloth.vertices.clone();
    let begin = model.pinned.partition_point(|p| (p.vertex as usize) < range.start);
    let end = model.pinned.partition_point(|p| (p.vertex as usize) < range.end);
    // A vertex of no triangle stays where it is, and holds nothing.
    let holds = |p: &&Pinned| model.masses[p.vertex as usize] > 0.0;
    let pinned: Vec<Pinned> = model.pinned[begin..end].iter().filter(holds).copied().collect();
    if pinned.is_empty() {
        return;
    }
    let clusters = clusters(pinned.iter().map(|p| p.vertex - first), topology);
    let walks = if chart.is_convex() { usize::MAX } else { MOST_WALKS };
    let most = walks.min(MOST_COMPARISONS / pinned.len());
    // Every vertex, or one of so many.
    let stride = cloth.vertices.len().div_ceil(most.max(1)).max(1);
    let mut nearest: Vec<(f64, u32, u32)> = Vec::new();
    for vertex in (0..cloth.vertices.len() as u32).step_by(stride) {
        if pinned.binary_search_by_key(&(first + vertex), |p| p.vertex).is_ok() {
            continue;
        }
        nearest.clear();
        for cluster in &clusters {
            let distances = cluster.iter().map(|&p| (chart.straight(vertex, p), p));
            let closest = distances.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            nearest.extend(closest.map(|(distance, p)| (distance, vertex, p)));
        }
        nearest.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        let first_tether = tethers.len();
        for &(_, vertex, anchor) in &nearest {
            let place = pinned.binary_search_by_key(&(first + anchor), |p| p.vertex);
            let (Some(length), Ok(place)) = (chart.distance(vertex, anchor), place) else { continue };
            let [vertex, anchor] = [vertex, anchor].map(|v| first + v);
            tethers.push(Tether { vertex, anchor, pin: pinned[place].pin, length: stretch * length });
            if tethers.len() == first_tether + MOST_TETHERS {
                break;
            }
        }
        // Where pins are farther apart than the cloth is long, the nearest has the last word.
        tethers[first_tether..].reverse();
    }
}

/// Pinned vertices of a cloth, those that are joined by edges together; rising.
fn clusters(pinned: impl Iterator<Item = u32>, topology: &Topology) -> Vec<Vec<u32>> {
    let all: Vec<u32> = pinned.collect();
    let mut is_open: Vec<bool> = vec![true; all.len()];
    let mut clusters = Vec::new();
    for i in 0..all.len() {
        if !is_open[i] {
            continue;
        }
        is_open[i] = false;
        let (mut cluster, mut front) = (Vec::new(), vec![i]);
        while let Some(at) = front.pop() {
            cluster.push(all[at]);
            for neighbor in topology.vertex_neighbors.of(all[at]) {
                if let Ok(j) = all.binary_search(neighbor)
                    && is_open[j]
                {
                    is_open[j] = false;
                    front.push(j);
                }
            }
        }
        cluster.sort_unstable();
        clusters.push(cluster);
    }
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_cover_a_line_but_for_short_ends() {
        assert_eq!(spans(9, 4, 0).collect::<Vec<_>>(), [[0, 4], [4, 8]]);
        assert_eq!(spans(9, 4, 1).collect::<Vec<_>>(), [[0, 3], [3, 7]]);
        assert_eq!(spans(9, 4, 7).collect::<Vec<_>>(), [[1, 5], [5, 8]]);
        assert_eq!(spans(2, 2, 0).collect::<Vec<_>>(), [[0, 1]]);
        assert_eq!(spans(1, 2, 1).count(), 0);
    }

    /// Those of each length together are half as many as those of half the length.
    #[test]
    fn a_line_has_about_as_many_long_range_constraints_as_edges() {
        let count: usize = (0..6).map(|level| spans(65, 2 << level, 21).count()).sum();
        assert!((60..=66).contains(&count), "{count}");
    }
}
