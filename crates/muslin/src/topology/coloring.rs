//! Sorts elements into colours, such that no two elements of a colour share a vertex.
//!
//! All elements of one colour can then be projected at once, by threads or by lanes, with no atomics and with the same
//! bits for any number of threads: within a colour the order does not matter.
//!
//! Greedy: each element, in input order, takes the lowest colour that none of its vertices has used. That needs at
//! most N·(d − 1) + 1 colours for N vertices a stencil and d elements at a vertex; for the edges of a mesh it is d or a
//! few more.
//!
//! Balanced: the last colours are then almost empty, too small for threads. So a second pass moves elements out of
//! overfull colours into the emptiest one they may take [Lu, Halappanavar et al. 2015, "Balanced coloring for parallel
//! computing applications"], a run of elements at a time, so that colours are balanced in every region. It adds no colour. Taking the emptiest colour from the start
//! adds many: the hinges of a million-vertex sheet take 21 instead of 19, shuffled 33 instead of 25.
//!
//! Where a vertex has as many elements as there are colours
//! nothing can move: the edges of an alternating sheet stay at four colours of a sixth and four of a twelfth of them.
//!
//! Input order is kept within a colour: a sweep then runs through memory as the mesh was numbered.

use std::ops::Range;

/// Elements sorted by colour.
///
/// ```
/// use muslin::topology::color;
///
/// let coloring = color(&[[0, 1], [1, 2], [2, 3]], 4);
/// assert_eq!(coloring.color_count(), 2, "the middle edge touches both others");
/// assert_eq!(coloring.elements(0), [0, 2]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coloring {
    /// Element indices: colour by colour, and rising within a colour.
    pub order: Vec<u32>,
    /// The place of each colour in `order`.
    pub ranges: Vec<Range<usize>>,
}

/// Why a colouring is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ColoringError {
    /// Two elements of a colour share a vertex.
    #[error("elements {} and {} of color {color} share vertex {vertex}", elements[0], elements[1])]
    Conflict {
        /// The two elements, in the order of the colouring.
        elements: [u32; 2],
        /// Their colour.
        color: usize,
        /// The vertex.
        vertex: u32,
    },
    /// An element occurs never or more than once.
    #[error("element {element} occurs {count} times, but every element must occur once")]
    Occurrence {
        /// The element.
        element: u32,
        /// How often it occurs.
        count: usize,
    },
}

/// Colours tried at a time: the bits of a mask.
const MASK_BITS: usize = u64::BITS as usize;

/// Elements, or vertices, of so many are balanced among themselves: an eighth, but no fewer than a thousand.
///
/// Threads take a part each of a colour, and what one of them has written is read fastest by itself: a part has to be of the same region of the mesh in every colour. That
/// is so if the colours are of the same size wherever one looks, not only in the whole. Shorter runs cost `auto` more sweeps: see `benches/JOURNAL.md`.
fn run_length(count: usize) -> usize {
    count.div_ceil(8).max(1024)
}

/// Not coloured yet.
const UNSET: u32 = u32::MAX;

/// Colours elements by the vertices they touch.
///
/// The same input gives the same colours everywhere. There is no limit to the number of colours, but time grows with
/// the square of the largest number of elements at one vertex, divided by 64.
///
/// # Panics
///
/// If a stencil uses a vertex from `vertex_count` up.
pub fn color<const N: usize>(stencils: &[[u32; N]], vertex_count: usize) -> Coloring {
    let mut greedy = Greedy { stencils, taken: vec![0; vertex_count], colors: vec![UNSET; stencils.len()] };
    let mut waiting: Vec<u32> = (0..stencils.len() as u32).collect();
    let mut color_count = 0;
    // An element that finds all colours of a round taken can only take a later one, and no element that fitted competes
    // for those: taking 64 colours at a time gives the very same colours as one pass with unlimited masks.
    while !waiting.is_empty() {
        let (count, deferred) = greedy.fill(&waiting, color_count);
        for run in waiting.chunks(run_length(waiting.len())) {
            greedy.balance(run, color_count, count);
        }
        greedy.clear(&waiting);
        color_count += count;
        waiting = deferred;
    }
    sorted(&greedy.colors, color_count)
}

/// Colours vertices such that no two neighbours have the same: the lowest colour that is free, in the order of the vertices,
/// and then the smallest that is, for those of overfull colours.
///
/// `visit` calls its second argument with every neighbour of a vertex, in any order, however often.
pub(crate) fn color_vertices(vertex_count: usize, visit: impl Fn(u32, &mut dyn FnMut(u32))) -> Coloring {
    let mut colors = vec![UNSET; vertex_count];
    // For each colour the last vertex that found it taken.
    let mut taken_for: Vec<u32> = Vec::new();
    let mark = |vertex: u32, colors: &[u32], taken_for: &mut [u32]| {
        visit(vertex, &mut |neighbor| {
            let color = colors[neighbor as usize];
            if neighbor != vertex && color != UNSET {
                taken_for[color as usize] = vertex;
            }
        });
    };
    for vertex in 0..vertex_count as u32 {
        mark(vertex, &colors, &mut taken_for);
        let color = taken_for.iter().position(|&last| last != vertex).unwrap_or(taken_for.len());
        if color == taken_for.len() {
            taken_for.push(UNSET);
        }
        colors[vertex as usize] = color as u32;
    }
    taken_for.fill(UNSET);
    let length = run_length(vertex_count);
    for start in (0..vertex_count).step_by(length) {
        let run = start..vertex_count.min(start + length);
        let mean = run.len().div_ceil(taken_for.len());
        let mut sizes = vec![0; taken_for.len()];
        colors[run.clone()].iter().for_each(|&color| sizes[color as usize] += 1);
        for vertex in run.start as u32..run.end as u32 {
            let from = colors[vertex as usize] as usize;
            if sizes[from] <= mean {
                continue;
            }
            mark(vertex, &colors, &mut taken_for);
            let free = (0..sizes.len()).filter(|&color| taken_for[color] != vertex);
            if let Some(to) = free.min_by_key(|&color| sizes[color]).filter(|&to| sizes[to] < mean) {
                colors[vertex as usize] = to as u32;
                sizes[from] -= 1;
                sizes[to] += 1;
            }
        }
    }
    sorted(&colors, taken_for.len())
}

struct Greedy<'a, const N: usize> {
    stencils: &'a [[u32; N]],
    /// For each vertex the colours of this round that its elements have.
    taken: Vec<u64>,
    colors: Vec<u32>,
}

impl<const N: usize> Greedy<'_, N> {
    /// Gives each element the lowest free colour from `base` up. Returns the number of colours, and who found none.
    fn fill(&mut self, waiting: &[u32], base: usize) -> (usize, Vec<u32>) {
        let mut count = 0;
        let mut deferred = Vec::new();
        for &element in waiting {
            let color = self.taken_around(element).trailing_ones() as usize;
            if color == MASK_BITS {
                deferred.push(element);
                continue;
            }
            count = count.max(color + 1);
            self.colors[element as usize] = (base + color) as u32;
            self.toggle(element, 1 << color);
        }
        (count, deferred)
    }

    /// Moves some elements of colours above the mean size to the smallest colour they may take, while that is below it; sizes are of these elements
    /// alone, and there are `count` colours from `base` up.
    fn balance(&mut self, placed: &[u32], base: usize, count: usize) {
        let mut sizes = vec![0; count];
        let found = placed.iter().map(|&element| self.colors[element as usize]).filter(|&color| color != UNSET);
        found.for_each(|color| sizes[color as usize - base] += 1);
        let mean = sizes.iter().sum::<usize>().div_ceil(count);
        let colors = u64::MAX >> (MASK_BITS - count);
        for &element in placed {
            if self.colors[element as usize] == UNSET {
                continue;
            }
            let from = self.colors[element as usize] as usize - base;
            if sizes[from] <= mean {
                continue;
            }
            let free = colors & !self.taken_around(element);
            let Some(to) = bits(free).min_by_key(|&color| sizes[color]) else { continue };
            if sizes[to] < mean {
                self.toggle(element, 1 << from | 1 << to);
                self.colors[element as usize] = (base + to) as u32;
                sizes[from] -= 1;
                sizes[to] += 1;
            }
        }
    }

    fn clear(&mut self, elements: &[u32]) {
        for &element in elements {
            for vertex in self.stencils[element as usize] {
                self.taken[vertex as usize] = 0;
            }
        }
    }

    fn taken_around(&self, element: u32) -> u64 {
        self.stencils[element as usize].iter().fold(0, |mask, &vertex| mask | self.taken[vertex as usize])
    }

    /// Flips colours of an element's vertices; a vertex that the stencil repeats is flipped once.
    fn toggle(&mut self, element: u32, mask: u64) {
        let stencil = &self.stencils[element as usize];
        for (place, &vertex) in stencil.iter().enumerate() {
            if !stencil[..place].contains(&vertex) {
                self.taken[vertex as usize] ^= mask;
            }
        }
    }
}

/// The places of the ones of a mask, rising.
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (bit < MASK_BITS).then_some(bit)
    })
}

/// A counting sort of the elements by colour.
fn sorted(colors: &[u32], color_count: usize) -> Coloring {
    let mut sizes = vec![0; color_count];
    for &color in colors {
        sizes[color as usize] += 1;
    }
    let mut ranges = Vec::with_capacity(color_count);
    let mut start = 0;
    for size in sizes {
        ranges.push(start..start + size);
        start += size;
    }
    let mut next: Vec<usize> = ranges.iter().map(|range| range.start).collect();
    let mut order = vec![0; colors.len()];
    for (element, &color) in (0_u32..).zip(colors) {
        let slot = &mut next[color as usize];
        order[*slot] = element;
        *slot += 1;
    }
    Coloring { order, ranges }
}

impl Coloring {
    /// Number of colours.
    pub fn color_count(&self) -> usize {
        self.ranges.len()
    }

    /// The elements of a colour, rising.
    pub fn elements(&self, color: usize) -> &[u32] {
        &self.order[self.ranges[color].clone()]
    }

    /// Checks that every element occurs once and that no two of a colour share a vertex.
    ///
    /// # Panics
    ///
    /// If a stencil uses a vertex from `vertex_count` up, or a range lies outside the order.
    pub(crate) fn verify<const N: usize>(
        &self,
        stencils: &[[u32; N]],
        vertex_count: usize,
    ) -> Result<(), ColoringError> {
        let mut counts = vec![0; stencils.len()];
        // For each vertex the last color and element that used it.
        let mut last = vec![(usize::MAX, 0); vertex_count];
        for color in 0..self.color_count() {
            for &element in self.elements(color) {
                let Some(stencil) = stencils.get(element as usize) else {
                    return Err(ColoringError::Occurrence { element, count: 1 });
                };
                counts[element as usize] += 1;
                for &vertex in stencil {
                    let (last_color, other) = last[vertex as usize];
                    if last_color == color && other != element {
                        return Err(ColoringError::Conflict { elements: [other, element], color, vertex });
                    }
                    last[vertex as usize] = (color, element);
                }
            }
        }
        let odd = (0_u32..).zip(counts).find(|&(_, count)| count != 1);
        odd.map_or(Ok(()), |(element, count)| Err(ColoringError::Occurrence { element, count }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Diagonals, Mesh};
    use crate::topology::Topology;
    use proptest::prelude::*;

    /// The greedy colours by definition, without masks or rounds.
    fn plain_greedy<const N: usize>(stencils: &[[u32; N]]) -> Vec<u32> {
        let mut colors: Vec<u32> = Vec::new();
        for (element, stencil) in stencils.iter().enumerate() {
            let rivals = (0..element).filter(|&other| stencils[other].iter().any(|vertex| stencil.contains(vertex)));
            let taken: Vec<u32> = rivals.map(|other| colors[other]).collect();
            colors.extend((0..).find(|color| !taken.contains(color)));
        }
        colors
    }

    fn sizes(coloring: &Coloring) -> Vec<usize> {
        coloring.ranges.iter().map(ExactSizeIterator::len).collect()
    }

    #[test]
    fn nothing_has_no_colors() {
        assert_eq!(color::<2>(&[], 5), Coloring::default());
    }

    #[test]
    fn a_fan_of_a_thousand_edges_takes_a_thousand_colors() {
        let spokes: Vec<[u32; 2]> = (1..=1000).map(|tip| [tip, 0]).collect();
        let coloring = color(&spokes, 1001);
        assert_eq!(coloring.verify(&spokes, 1001), Ok(()));
        assert_eq!(sizes(&coloring), [1; 1000]);
    }

    #[test]
    fn sheets_take_few_colors_of_fair_sizes() {
        let mesh = Mesh::grid([1.0, 1.0], [64, 64], Diagonals::Alternating).unwrap();
        let (topology, count) = (Topology::build(&mesh), mesh.vertex_count());
        let hinges: Vec<[u32; 4]> = topology.hinges.iter().map(|hinge| hinge.vertices).collect();
        let colorings = [color(&topology.edges, count), color(&mesh.triangles, count), color(&hinges, count)];
        assert_eq!(colorings[0].verify(&topology.edges, count), Ok(()));
        assert_eq!(colorings[1].verify(&mesh.triangles, count), Ok(()));
        assert_eq!(colorings[2].verify(&hinges, count), Ok(()));
        for (coloring, most) in colorings.iter().zip([9, 9, 21]) {
            let sizes = sizes(coloring);
            assert!(sizes.len() <= most, "{} colors instead of {most}", sizes.len());
            let (least, greatest) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(greatest <= &(3 * least), "unbalanced: {sizes:?}");
        }
    }

    #[test]
    fn colors_are_spread_evenly_over_a_sheet() {
        let mesh = Mesh::grid([1.0, 1.0], [100, 100], Diagonals::Alternating).unwrap();
        let (topology, count) = (Topology::build(&mesh), mesh.vertex_count());
        let hinges: Vec<[u32; 4]> = topology.hinges.iter().map(|hinge| hinge.vertices).collect();
        let coloring = color(&hinges, count);
        // Two threads have a half of each color, and the same half of the sheet.
        for color in 0..coloring.color_count() {
            let elements = coloring.elements(color);
            let before = elements.partition_point(|&element| (element as usize) < hinges.len() / 2);
            assert!((2 * before).abs_diff(elements.len()) * 20 < elements.len(), "{before} of {}", elements.len());
        }
    }

    #[test]
    fn wrong_colorings_are_told_apart() {
        let stencils = [[0, 1], [1, 2], [2, 3]];
        let wrong = |order: &[u32], ranges: &[Range<usize>]| {
            let coloring = Coloring { order: order.to_vec(), ranges: ranges.to_vec() };
            coloring.verify(&stencils, 4).unwrap_err().to_string()
        };
        assert_eq!(wrong(&[0, 2, 1], &[0..1, 1..3]), "elements 2 and 1 of color 1 share vertex 2");
        assert_eq!(wrong(&[0, 2], &[0..1, 1..2]), "element 1 occurs 0 times, but every element must occur once");
        assert_eq!(
            wrong(&[0, 1, 1, 2], &[0..1, 1..2, 2..3, 3..4]),
            "element 1 occurs 2 times, but every element must occur once"
        );
    }

    #[test]
    fn neighbors_have_different_colors_of_fair_sizes() {
        let mesh = Mesh::grid([1.0, 1.0], [40, 30], Diagonals::Alternating).unwrap();
        let topology = Topology::build(&mesh);
        let count = mesh.vertex_count();
        // The four vertices of a hinge are neighbours of each other.
        let around = |v: u32, visit: &mut dyn FnMut(u32)| {
            let hinges = topology.hinges.iter().filter(|hinge| hinge.vertices.contains(&v));
            hinges.for_each(|hinge| hinge.vertices.iter().for_each(|&n| visit(n)));
        };
        let coloring = color_vertices(count, around);
        let mut color_of = vec![0; count];
        for color in 0..coloring.color_count() {
            coloring.elements(color).iter().for_each(|&v| color_of[v as usize] = color);
        }
        for hinge in &topology.hinges {
            let mut colors = hinge.vertices.map(|v| color_of[v as usize]).to_vec();
            colors.sort_unstable();
            colors.dedup();
            assert_eq!(colors.len(), 4, "{hinge:?}");
        }
        let sizes = sizes(&coloring);
        assert!(sizes.len() <= 9 && 2 * sizes.iter().min().unwrap() > *sizes.iter().max().unwrap(), "{sizes:?}");
        assert_eq!(sizes.iter().sum::<usize>(), count, "each vertex once");
    }

    proptest! {
        #[test]
        fn random_stencils_are_colored_right(stencils in prop::collection::vec([0_u32..30, 0_u32..30, 0_u32..30], 0..300)) {
            let coloring = color(&stencils, 30);
            prop_assert_eq!(coloring.verify(&stencils, 30), Ok(()));
            for color in 0..coloring.color_count() {
                prop_assert!(coloring.elements(color).is_sorted(), "input order lost in color {}", color);
            }
            let needed = plain_greedy(&stencils).into_iter().max().map_or(0, |color| color as usize + 1);
            prop_assert_eq!(coloring.color_count(), needed);
        }
    }
}
