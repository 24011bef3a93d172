//! Contact statistics of a frame: vertices that contact held back or cut, counted, so that nothing is held back in silence.

use crate::math::Vec3;

/// Vertices of cloths that did not go where the solver led them, each counted once in a frame.
///
/// ```
/// use muslin::{Cloth, Simulation};
///
/// let mut simulation = Simulation::builder().cloth(Cloth::grid([1.0, 1.0], [4, 4])).build()?;
/// let stats = simulation.advance()?.contact_stats;
/// assert_eq!((stats.cut, stats.held), (0, 0), "a sheet that falls freely touches nothing");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContactStats {
    /// Their motion was too long to be followed in a substep, and was cut.
    pub cut: usize,
    /// They were held back, or pushed aside, so that nothing passes through anything.
    pub held: usize,
    /// Whether, at the end of the frame, something still cuts or touches that did at the start and is being untangled.
    pub is_tangled: bool,
}

const CUT: u8 = 1;
const HELD: u8 = 2;

/// Counts over the substeps of a frame; keeps its memory.
#[derive(Debug, Default)]
pub(crate) struct StatsPerThread {
    count: ContactStats,
    marks: Vec<u8>,
    /// Where vertices were led, in m.
    wanted: Vec<Vec3<f64>>,
}

impl StatsPerThread {
    /// Begins a frame of so many vertices of cloths.
    pub(crate) fn begin(&mut self, vertices: usize) {
        self.count = ContactStats::default();
        self.marks.clear();
        self.marks.resize(vertices, 0);
    }

    /// What was counted since.
    pub(crate) fn count(&self) -> ContactStats {
        self.count
    }

    /// The motion of a vertex was cut.
    pub(crate) fn cut(&mut self, vertex: usize) {
        self.count.cut += usize::from(mark(&mut self.marks, vertex, CUT));
    }

    /// Where vertices are led before they are held back.
    pub(crate) fn want(&mut self, ends: &[Vec3<f64>]) {
        self.wanted.clear();
        self.wanted.extend(ends.iter().take(self.marks.len()));
    }

    /// Where they end.
    pub(crate) fn compare(&mut self, ends: &[Vec3<f64>]) {
        for (vertex, (wanted, end)) in self.wanted.iter().zip(ends).enumerate() {
            if wanted != end {
                self.count.held += usize::from(mark(&mut self.marks, vertex, HELD));
            }
        }
    }
}

/// Marks a vertex; whether it was not before.
fn mark(marks: &mut [u8], vertex: usize, bit: u8) -> bool {
    marks.get_mut(vertex).is_some_and(|mark| std::mem::replace(mark, *mark | bit) & bit == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vertex_counts_once_in_a_frame() {
        let mut all = StatsPerThread::default();
        all.begin(3);
        let here = [Vec3::ZERO; 4];
        let mut there = here;
        (there[1].x, there[3].x) = (1.0, 1.0); // the last is of a body
        for _ in 0..2 {
            all.cut(2);
            all.want(&here);
            all.compare(&there);
        }
        assert_eq!(all.count(), ContactStats { cut: 1, held: 1, is_tangled: false });
        all.begin(3);
        assert_eq!(all.count(), ContactStats::default());
    }
}
