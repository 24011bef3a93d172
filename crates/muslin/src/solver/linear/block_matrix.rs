//! Symmetric sparse matrix of 3 × 3 blocks.

use crate::math::{Mat3, Vec3};

/// Rows of blocks, each with rising columns; both triangles are stored, so a product goes by rows and a column is a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockMatrix {
    /// Where each row begins, and one past the last.
    starts: Vec<u32>,
    columns: Vec<u32>,
    /// Where the diagonal block of each row is.
    diagonal: Vec<u32>,
    blocks: Vec<Mat3>,
}

impl BlockMatrix {
    /// An empty matrix with a block wherever two vertices share a stencil, and on the diagonal.
    ///
    /// `each_stencil` calls its argument with the vertices of every element; it is called twice.
    pub(crate) fn new(vertex_count: usize, each_stencil: impl Fn(&mut dyn FnMut(&[u32]))) -> Self {
        let mut starts = vec![0_u32; vertex_count + 1];
        let mut count = |stencil: &[u32]| {
            for &v in stencil {
                starts[v as usize + 1] += stencil.len() as u32 - 1;
            }
        };
        each_stencil(&mut count);
        for v in 0..vertex_count {
            starts[v + 1] += starts[v];
        }
        let mut fill = starts.clone();
        let mut neighbors = vec![0_u32; starts[vertex_count] as usize];
        each_stencil(&mut |stencil| {
            for &v in stencil {
                for &other in stencil.iter().filter(|&&other| other != v) {
                    neighbors[fill[v as usize] as usize] = other;
                    fill[v as usize] += 1;
                }
            }
        });

        let mut matrix = Self { starts: vec![0], ..Self::default() };
        for v in 0..vertex_count {
            let row = &mut neighbors[starts[v] as usize..fill[v] as usize];
            row.sort_unstable();
            let mut last = None;
            for &other in row.iter() {
                if last == Some(other) {
                    continue;
                }
                if other > v as u32 && last.is_none_or(|last| last < v as u32) {
                    matrix.push_diagonal(v as u32);
                }
                matrix.columns.push(other);
                last = Some(other);
            }
            if last.is_none_or(|last| last < v as u32) {
                matrix.push_diagonal(v as u32);
            }
            matrix.starts.push(matrix.columns.len() as u32);
        }
        matrix.blocks = vec![Mat3::ZERO; matrix.columns.len()];
        matrix
    }

    fn push_diagonal(&mut self, v: u32) {
        self.diagonal.push(self.columns.len() as u32);
        self.columns.push(v);
    }

    /// Number of rows.
    pub(crate) fn row_count(&self) -> usize {
        self.diagonal.len()
    }

    /// The block on the diagonal of a row.
    pub(crate) fn diagonal_block(&self, row: usize) -> Mat3 {
        self.blocks[self.diagonal[row] as usize]
    }

    /// Index of the block of two vertices; `None` if no stencil has both.
    pub(crate) fn slot(&self, row: u32, column: u32) -> Option<u32> {
        let start = self.starts[row as usize];
        let range = start as usize..self.starts[row as usize + 1] as usize;
        self.columns[range].binary_search(&column).ok().map(|at| start + at as u32)
    }

    /// Index of the diagonal block of a vertex.
    pub(crate) fn diagonal_slot(&self, row: usize) -> usize {
        self.diagonal[row] as usize
    }

    /// The blocks, in order of rows.
    pub(crate) fn blocks(&self) -> &[Mat3] {
        &self.blocks
    }

    /// The blocks, to be filled.
    #[cfg(test)]
    pub(crate) fn blocks_mut(&mut self) -> &mut [Mat3] {
        &mut self.blocks
    }

    /// The blocks, to be filled, and where those of the diagonal are.
    pub(crate) fn parts_mut(&mut self) -> (&mut [Mat3], &[u32]) {
        (&mut self.blocks, &self.diagonal)
    }

    /// The columns and blocks of a row.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (u32, &Mat3)> + '_ {
        let range = self.starts[row] as usize..self.starts[row + 1] as usize;
        self.columns[range.clone()].iter().copied().zip(&self.blocks[range])
    }

    /// Adds to a block; one that the pattern does not have is left out.
    pub(crate) fn add(&mut self, row: u32, column: u32, block: Mat3) {
        if let Some(slot) = self.slot(row, column) {
            self.blocks[slot as usize] += block;
        }
    }

    /// Rows and columns of a held vertex become those of the identity: it does not move.
    pub(crate) fn hold(&mut self, vertex: usize) {
        for at in self.starts[vertex] as usize..self.starts[vertex + 1] as usize {
            let column = self.columns[at];
            self.blocks[at] = Mat3::ZERO;
            if let Some(mirror) = self.slot(column, vertex as u32) {
                self.blocks[mirror as usize] = Mat3::ZERO;
            }
        }
        self.blocks[self.diagonal[vertex] as usize] = Mat3::IDENTITY;
    }

    /// One row of the product with a vector.
    #[inline]
    pub(crate) fn row_product(&self, row: usize, x: impl Fn(usize) -> Vec3<f64>) -> Vec3<f64> {
        self.row(row).fold(Vec3::ZERO, |sum, (column, block)| sum + block.apply(x(column as usize)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_is_the_pairs_of_the_stencils() {
        let stencils = [[0_u32, 1, 2], [1, 2, 4]];
        let matrix = BlockMatrix::new(5, |visit| stencils.iter().for_each(|s| visit(s)));
        let columns: Vec<Vec<u32>> = (0..5).map(|row| matrix.row(row).map(|(column, _)| column).collect()).collect();
        assert_eq!(columns, [vec![0, 1, 2], vec![0, 1, 2, 4], vec![0, 1, 2, 4], vec![3], vec![1, 2, 4]]);
        for row in 0..5 {
            assert_eq!(matrix.slot(row, row), Some(matrix.diagonal_slot(row as usize) as u32));
        }
        assert_eq!(matrix.slot(0, 4), None);
    }

    #[test]
    fn a_held_vertex_is_cut_out() {
        let mut matrix = BlockMatrix::new(3, |visit| visit(&[0, 1, 2]));
        matrix.blocks_mut().fill(Mat3::scalar(2.0));
        matrix.hold(1);
        let x = [Vec3::splat(1.0), Vec3::splat(10.0), Vec3::splat(100.0)];
        assert_eq!(matrix.row_product(0, |i| x[i]), Vec3::splat(202.0));
        assert_eq!(matrix.row_product(1, |i| x[i]), Vec3::splat(10.0));
    }
}
