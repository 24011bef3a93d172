//! Coarser and coarser graphs over some of the vertices of a mesh.
//!
//! ```text
//! nodes of level 0        all vertices, joined by the edges of the mesh
//! nodes of level k + 1    nodes of level k, no two of them joined, as many as fit
//! joined in level k + 1   nodes whose surroundings touch: every node of level k belongs to the nearest one that was kept
//! ```
//!
//! On a grid each level has a quarter of the nodes of the one before, twice as far apart. The choice goes by rank and then by number, so it
//! depends on the mesh alone.

use crate::topology::Adjacency;

/// Levels beyond the mesh at most: of more than 10⁹ vertices only a few are left.
const MOST_LEVELS: usize = 16;
/// Ranks of vertices.
pub(crate) const RANKS: u32 = 3;
/// A level with fewer nodes is the last.
const FEWEST_NODES: usize = 4;

/// The pairs of joined vertices of each level from 1 up, the finest first; vertices of a higher `rank`, below [`RANKS`], are chosen before all others, and
/// `distance` says which of the chosen nodes is the nearest.
pub(crate) fn coarsen(
    vertex_count: usize,
    edges: &[[u32; 2]],
    rank: impl Fn(u32) -> u32,
    distance: impl Fn(u32, u32) -> f64,
) -> Vec<Vec<[u32; 2]>> {
    let mut levels = Vec::new();
    let mut pairs = edges.to_vec();
    let mut nodes: Vec<u32> = (0..vertex_count as u32).collect();
    while levels.len() < MOST_LEVELS && nodes.len() >= FEWEST_NODES {
        let neighbors = Adjacency::of_edges(vertex_count, &pairs);
        let (kept, owners) = thin_out(&nodes, &neighbors, &rank, &distance);
        if kept.len() == nodes.len() {
            break;
        }
        let joined = |&[a, b]: &[u32; 2]| {
            let [a, b] = [owners[a as usize], owners[b as usize]];
            (a != b).then(|| [a.min(b), a.max(b)])
        };
        pairs = pairs.iter().filter_map(joined).collect();
        pairs.sort_unstable();
        pairs.dedup();
        if pairs.is_empty() {
            break;
        }
        levels.push(pairs.clone());
        nodes = kept;
    }
    levels
}

/// Nodes of which no two are joined, in rising order, and for every vertex that is a node the one it belongs to.
fn thin_out(
    nodes: &[u32],
    neighbors: &Adjacency,
    rank: &impl Fn(u32) -> u32,
    distance: &impl Fn(u32, u32) -> f64,
) -> (Vec<u32>, Vec<u32>) {
    let mut owners: Vec<u32> = (0..neighbors.len() as u32).collect();
    let mut is_kept = vec![false; neighbors.len()];
    for wanted in (0..RANKS).rev() {
        for &node in nodes.iter().filter(|node| rank(**node) == wanted) {
            is_kept[node as usize] = !neighbors.of(node).iter().any(|n| is_kept[*n as usize]);
        }
    }
    for &node in nodes.iter().filter(|node| !is_kept[**node as usize]) {
        let kept = neighbors.of(node).iter().copied().filter(|n| is_kept[*n as usize]);
        let nearest = kept.min_by(|a, b| distance(node, *a).total_cmp(&distance(node, *b)).then(a.cmp(b)));
        owners[node as usize] = nearest.unwrap_or(node);
    }
    (nodes.iter().copied().filter(|node| is_kept[*node as usize]).collect(), owners)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_halved_until_it_is_short() {
        let edges: Vec<[u32; 2]> = (0..16).map(|i| [i, i + 1]).collect();
        let levels = coarsen(17, &edges, |_| 0, |a, b| f64::from(a.abs_diff(b)));
        let lengths: Vec<Vec<u32>> = levels.iter().map(|pairs| pairs.iter().map(|[a, b]| b - a).collect()).collect();
        assert_eq!(lengths, [vec![2; 8], vec![4; 4], vec![8; 2]]);
    }

    #[test]
    fn a_vertex_of_high_rank_is_in_every_level() {
        let edges: Vec<[u32; 2]> = (0..16).map(|i| [i, i + 1]).collect();
        let levels = coarsen(17, &edges, |v| u32::from(v == 7), |a, b| f64::from(a.abs_diff(b)));
        assert!(levels.len() >= 3);
        assert!(levels.iter().all(|pairs| pairs.iter().any(|pair| pair.contains(&7))), "{levels:?}");
    }

    #[test]
    fn parts_that_do_not_touch_stay_apart() {
        let edges: Vec<[u32; 2]> = (0..8).map(|i| [i, i + 1]).chain((9..17).map(|i| [i, i + 1])).collect();
        let levels = coarsen(18, &edges, |_| 0, |a, b| f64::from(a.abs_diff(b)));
        assert!(levels.iter().flatten().all(|[a, b]| (*a < 9) == (*b < 9)), "{levels:?}");
    }
}
