//! How far a body is from a point or from a way, as far as that is near.

use std::collections::BTreeMap;

type Vec3 = [f64; 3];

/// The triangles of a body, sorted into boxes.
pub(crate) struct Clear<'a> {
    positions: &'a [Vec3],
    triangles: &'a [[u32; 3]],
    size: f64,
    boxes: BTreeMap<[i64; 3], Vec<u32>>,
}

impl<'a> Clear<'a> {
    /// Of a body, for questions about a clearance of no more than this, in m.
    pub(crate) fn new(positions: &'a [Vec3], triangles: &'a [[u32; 3]], clearance: f64) -> Self {
        let size = (4.0 * clearance).max(0.02);
        let mut boxes: BTreeMap<[i64; 3], Vec<u32>> = BTreeMap::new();
        for (index, triangle) in triangles.iter().enumerate() {
            let Some(corners) = corners(positions, triangle) else { continue };
            let bound = |axis: usize, shift: f64, pick: fn(f64, f64) -> f64| {
                let bound = corners.iter().map(|p| p[axis]).reduce(pick).unwrap_or(0.0);
                ((bound + shift) / size).floor() as i64
            };
            let low = [0, 1, 2].map(|axis| bound(axis, -clearance, f64::min));
            let high = [0, 1, 2].map(|axis| bound(axis, clearance, f64::max));
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    for z in low[2]..=high[2] {
                        boxes.entry([x, y, z]).or_default().push(index as u32);
                    }
                }
            }
        }
        Self { positions, triangles, size, boxes }
    }

    /// Whether no point of the straight way between two points is nearer to the surface than about a clearance, in m.
    pub(crate) fn is_way(&self, from: Vec3, to: Vec3, clearance: f64) -> bool {
        // Points half a clearance from each other leave no gap through which the way could cross.
        let steps = (norm(sub(to, from)) / (0.5 * clearance)).ceil().max(1.0) as u32;
        (0..=steps).all(|step| {
            let t = f64::from(step) / f64::from(steps);
            self.is_point([0, 1, 2].map(|k| from[k] + t * (to[k] - from[k])), clearance)
        })
    }

    fn is_point(&self, point: Vec3, clearance: f64) -> bool {
        let at = point.map(|x| (x / self.size).floor() as i64);
        let near = self.boxes.get(&at).into_iter().flatten();
        near.filter_map(|&index| corners(self.positions, &self.triangles[index as usize]))
            .all(|triangle| distance(point, triangle) > clearance)
    }
}

fn corners(positions: &[Vec3], triangle: &[u32; 3]) -> Option<[Vec3; 3]> {
    let [a, b, c] = triangle.map(|v| positions.get(v as usize).copied());
    Some([a?, b?, c?])
}

/// From a point to a triangle, in m [Ericson 2005, section 5.1.5].
fn distance(p: Vec3, [a, b, c]: [Vec3; 3]) -> f64 {
    let (ab, ac) = (sub(b, a), sub(c, a));
    let [d1, d2] = [ab, ac].map(|side| dot(side, sub(p, a)));
    let [d3, d4] = [ab, ac].map(|side| dot(side, sub(p, b)));
    let [d5, d6] = [ab, ac].map(|side| dot(side, sub(p, c)));
    let at = |v: f64, w: f64| norm(sub(p, [0, 1, 2].map(|k| a[k] + v * ab[k] + w * ac[k])));
    if d1 <= 0.0 && d2 <= 0.0 {
        return at(0.0, 0.0);
    }
    if d3 >= 0.0 && d4 <= d3 {
        return at(1.0, 0.0);
    }
    if d6 >= 0.0 && d5 <= d6 {
        return at(0.0, 1.0);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return at(d1 / (d1 - d3), 0.0);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return at(0.0, d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return at(1.0 - w, w);
    }
    let sum = va + vb + vc;
    // A triangle without area has no inside.
    if sum > 0.0 { at(vb / sum, vc / sum) } else { at(0.0, 0.0) }
}

fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn norm(a: Vec3) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_clear_of_a_triangle_or_not() {
        let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
        let clear = Clear::new(&positions, &[[0, 1, 2]], 0.01);
        assert!(clear.is_way([0.2, 0.02, 0.2], [0.9, 0.02, 0.9], 0.01));
        assert!(!clear.is_way([0.2, 0.02, 0.2], [0.9, 0.005, 0.05], 0.01));
        assert!(!clear.is_way([0.2, 0.5, 0.2], [0.2, -0.5, 0.2], 0.01), "through it");
        assert!(clear.is_way([0.6, 0.5, 0.6], [0.6, -0.5, 0.6], 0.01), "beside it");
    }

    #[test]
    fn distances_are_those_of_sampling() {
        let triangle = [[0.1, 0.0, 0.3], [0.9, 0.2, 0.1], [0.3, 0.8, 0.5]];
        let number = |seed: u32| f64::from(seed.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24) * 2.0 - 0.5;
        for seed in 0..200 {
            let p = [number(3 * seed), number(3 * seed + 1), number(3 * seed + 2)];
            let mut nearest = f64::INFINITY;
            for i in 0..=200 {
                for j in 0..=200 - i {
                    let (v, w) = (f64::from(i) / 200.0, f64::from(j) / 200.0);
                    let [a, b, c] = triangle;
                    let x = [0, 1, 2].map(|k| a[k] + v * (b[k] - a[k]) + w * (c[k] - a[k]));
                    nearest = nearest.min(norm(sub(p, x)));
                }
            }
            let exact = distance(p, triangle);
            assert!(exact <= nearest + 1e-12 && nearest - exact < 0.006, "{p:?}: {exact} {nearest}");
        }
    }
}
