//! The first mesh of the left half: a surface net [Gibson 1998] on a grid.
//!
//! Every cell that the surface passes through gets a vertex, the mean of where it crosses the cell's edges; every edge of the
//! grid that it crosses gets a quad of its four cells. Cells of the first column are centred on the plane x = 0, so their vertices lie
//! on it and the half ends in a clean border.
//!
//! ```text
//!      x = 0
//!   ┌────┼────┬─────────┬──
//!   │    ●    │    ●    │      ● a vertex in each cell
//!   └────┼────┴─────────┴──
//!       -h/2      h/2  nodes of the grid
//! ```

use crate::shape::Shape;
use crate::surface::Half;
use crate::vector::{Vec3, add, scale};

/// The twelve edges of a cell by its corners, whose bits are x, y, z.
const EDGES: [[usize; 2]; 12] =
    [[0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [1, 3], [4, 6], [5, 7], [0, 4], [1, 5], [2, 6], [3, 7]];

/// Values of the field on the nodes.
struct Grid {
    side: f64,
    low: Vec3,
    counts: [usize; 3],
    values: Vec<f64>,
}

impl Grid {
    fn node(&self, [i, j, k]: [usize; 3]) -> usize {
        (i * self.counts[1] + j) * self.counts[2] + k
    }

    fn place(&self, at: [usize; 3]) -> Vec3 {
        std::array::from_fn(|k| self.low[k] + self.side * at[k] as f64)
    }
}

/// Cells of the given side over the box from the plane x = 0 to `high`, from `low` in y and z.
pub(crate) fn surface_net(shape: &Shape, side: f64, low: [f64; 2], high: Vec3) -> Half {
    let low = [-0.5 * side, low[0], low[1]];
    let counts = [0, 1, 2].map(|k| ((high[k] - low[k]) / side).ceil() as usize + 1);
    let mut grid = Grid { side, low, counts, values: Vec::with_capacity(counts.iter().product()) };
    for i in 0..counts[0] {
        for j in 0..counts[1] {
            for k in 0..counts[2] {
                grid.values.push(shape.field(grid.place([i, j, k])));
            }
        }
    }
    let mut half = Half::default();
    let mut vertex_of = vec![u32::MAX; grid.values.len()];
    for i in 0..counts[0] - 1 {
        for j in 0..counts[1] - 1 {
            for k in 0..counts[2] - 1 {
                if let Some(mut position) = cell_vertex(&grid, [i, j, k]) {
                    if i == 0 {
                        position[0] = 0.0;
                    }
                    vertex_of[grid.node([i, j, k])] = half.positions.len() as u32;
                    half.positions.push(position);
                    half.on_plane.push(i == 0);
                }
            }
        }
    }
    for i in 0..counts[0] - 1 {
        for j in 1..counts[1] - 1 {
            for k in 1..counts[2] - 1 {
                add_quads(&grid, &vertex_of, [i, j, k], &mut half.triangles);
            }
        }
    }
    half
}

/// The mean of the crossings of a cell's edges.
fn cell_vertex(grid: &Grid, at: [usize; 3]) -> Option<Vec3> {
    let corners: [[usize; 3]; 8] =
        std::array::from_fn(|bits| [at[0] + (bits & 1), at[1] + (bits >> 1 & 1), at[2] + (bits >> 2)]);
    let values = corners.map(|corner| grid.values[grid.node(corner)]);
    let (mut sum, mut count) = ([0.0; 3], 0);
    for [a, b] in EDGES {
        if (values[a] < 0.0) != (values[b] < 0.0) {
            let t = values[a] / (values[a] - values[b]);
            let (from, to) = (grid.place(corners[a]), grid.place(corners[b]));
            sum = add(sum, [0, 1, 2].map(|k| from[k] + t * (to[k] - from[k])));
            count += 1;
        }
    }
    (count > 0).then(|| scale(sum, 1.0 / f64::from(count)))
}

/// The quads of the three edges that begin at a node, as two triangles each, wound to face out.
fn add_quads(grid: &Grid, vertex_of: &[u32], at: [usize; 3], triangles: &mut Vec<[u32; 3]>) {
    let inside = grid.values[grid.node(at)] < 0.0;
    for axis in 0..3 {
        let mut end = at;
        end[axis] += 1;
        let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
        // Edges in the first sheet of nodes have cells on the other side of the plane.
        let is_border = at[0] == 0 && axis != 0;
        if is_border || inside == (grid.values[grid.node(end)] < 0.0) {
            continue;
        }
        let cell = |back_b: usize, back_c: usize| {
            let mut cell = at;
            cell[b] -= back_b;
            cell[c] -= back_c;
            vertex_of[grid.node(cell)]
        };
        let mut quad = [cell(1, 1), cell(0, 1), cell(0, 0), cell(1, 0)];
        if !inside {
            quad.reverse();
        }
        triangles.extend([[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]);
    }
}
