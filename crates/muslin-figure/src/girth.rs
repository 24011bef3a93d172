//! Girths: how long the loops are in which a plane cuts a closed surface.

use std::collections::BTreeMap;

use crate::vector::{Vec3, add, distance, dot, scale, sub};

/// The length in m of the loop in which a plane cuts a closed surface; of several loops, that whose middle is nearest to `origin`.
///
/// `None` if the plane cuts nothing, or if the surface has a border there.
///
/// ```
/// use muslin_figure::{Figure, girth};
///
/// let figure = Figure::new();
/// let waist = girth(figure.rest_positions(), figure.triangles(), [0.0, figure.landmarks().waist, 0.0], [0.0, 1.0, 0.0]);
/// assert!((waist.unwrap() - 0.74).abs() < 0.01);
/// ```
pub fn girth(positions: &[[f64; 3]], triangles: &[[u32; 3]], origin: [f64; 3], normal: [f64; 3]) -> Option<f64> {
    let height: Vec<f64> = positions.iter().map(|&position| dot(sub(position, origin), normal)).collect();
    // In a triangle that is cut, the loop runs from one cut edge to the other; below is what is not above, so no vertex is met twice.
    let mut next: BTreeMap<[u32; 2], [u32; 2]> = BTreeMap::new();
    for triangle in triangles {
        let above = triangle.map(|vertex| height[vertex as usize] > 0.0);
        let (mut from, mut to) = (None, None);
        for k in 0..3 {
            let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
            match (above[k], above[(k + 1) % 3]) {
                (false, true) => from = Some([a.min(b), a.max(b)]),
                (true, false) => to = Some([a.min(b), a.max(b)]),
                _ => {}
            }
        }
        if let (Some(from), Some(to)) = (from, to) {
            next.insert(from, to);
        }
    }
    let place = |[a, b]: [u32; 2]| -> Vec3 {
        let (low, high) = (height[a as usize], height[b as usize]);
        let t = low / (low - high);
        add(scale(positions[a as usize], 1.0 - t), scale(positions[b as usize], t))
    };
    let mut best: Option<(f64, f64)> = None;
    while let Some((first, mut edge)) = next.pop_first() {
        let (start, mut here) = (place(first), place(first));
        let (mut long, mut moment) = (0.0, [0.0; 3]);
        loop {
            let there = place(edge);
            let step = distance(here, there);
            long += step;
            moment = add(moment, scale(add(here, there), 0.5 * step));
            here = there;
            if edge == first {
                break;
            }
            edge = next.remove(&edge)?;
        }
        debug_assert!(distance(here, start) == 0.0, "the loop is not closed");
        let off = distance(scale(moment, 1.0 / long.max(1e-12)), origin);
        if best.is_none_or(|(nearest, _)| off < nearest) {
            best = Some((off, long));
        }
    }
    best.map(|(_, long)| long)
}
