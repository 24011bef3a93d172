//! Polygons into triangles.
//!
//! A strictly convex polygon becomes a fan. Any other is cut by clipping ears [Meisters 1975]: a corner is an ear if it
//! turns left and no other corner lies in its triangle. Both happen in the polygon's plane, seen along its
//! normal [Newell's sum over the edges], so that no triangle of a simple polygon flips, and corners that lie in line
//! with their neighbours make no empty triangle. What is left when no ear is found (the polygon has no area or cuts
//! itself) becomes a fan: whether such triangles are acceptable is for the mesh's user to say.

/// Clipping ears takes quadratic time; at this size it is still a few milliseconds.
pub(super) const MOST_CONCAVE_CORNERS: usize = 4096;

/// Share of the polygon's area below which a corner counts as straight; rounding is around 1e-16.
const STRAIGHT: f64 = 1e-12;

/// Buffers that are kept from polygon to polygon.
#[derive(Default)]
pub(super) struct Cutter {
    points: Vec<[f64; 2]>,
    remaining: Vec<usize>,
}

/// A concave polygon has more than [`MOST_CONCAVE_CORNERS`] corners.
#[derive(Debug, PartialEq)]
pub(super) struct TooManyCorners;

impl Cutter {
    /// Calls `emit` with the corners, counted from 0, of each triangle of a polygon of at least 3.
    pub(super) fn cut(
        &mut self,
        corner_count: usize,
        position_of: impl Fn(usize) -> [f64; 3],
        mut emit: impl FnMut([usize; 3]),
    ) -> Result<(), TooManyCorners> {
        self.remaining.clear();
        self.remaining.extend(0..corner_count);
        if corner_count > 3
            && let Some(area) = self.project(corner_count, position_of)
            && !self.is_convex(STRAIGHT * area)
        {
            if corner_count > MOST_CONCAVE_CORNERS {
                return Err(TooManyCorners);
            }
            self.clip_ears(STRAIGHT * area, &mut emit);
        }
        if let [first, rest @ ..] = &self.remaining[..] {
            rest.windows(2).for_each(|edge| emit([*first, edge[0], edge[1]]));
        }
        Ok(())
    }

    /// Projects the corners onto the coordinate plane that the polygon faces most, such that it runs counter-clockwise,
    /// and returns twice its area there; `None` if it has none.
    fn project(&mut self, corner_count: usize, position_of: impl Fn(usize) -> [f64; 3]) -> Option<f64> {
        let origin = position_of(0); // relative to a corner, far polygons keep their digits
        let relative = |corner: usize| {
            let p = position_of(corner);
            [p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]]
        };
        let mut normal = [0.0; 3];
        let mut a = relative(corner_count - 1);
        for corner in 0..corner_count {
            let b = relative(corner);
            for (axis, sum) in normal.iter_mut().enumerate() {
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                *sum += a[u] * b[v] - a[v] * b[u];
            }
            a = b;
        }
        let axis = (0..3).max_by(|&i, &j| normal[i].abs().total_cmp(&normal[j].abs()))?;
        let area = normal[axis].abs();
        if !area.is_normal() {
            return None;
        }
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let (u, v) = if normal[axis] > 0.0 { (u, v) } else { (v, u) };
        self.points.clear();
        self.points.extend((0..corner_count).map(relative).map(|p| [p[u], p[v]]));
        Some(area)
    }

    fn is_convex(&self, straight: f64) -> bool {
        let n = self.points.len();
        (0..n).all(|i| turn(self.points[(i + n - 1) % n], self.points[i], self.points[(i + 1) % n]) > straight)
    }

    fn clip_ears(&mut self, straight: f64, emit: &mut impl FnMut([usize; 3])) {
        let mut start = 0;
        while self.remaining.len() > 3 {
            let n = self.remaining.len();
            // Going on behind the last ear, rather than from 0, spreads the cuts instead of making slivers.
            let around = || (0..n).map(|step| (start + step) % n);
            let found =
                around().find(|&i| self.is_ear(i, straight)).or_else(|| around().find(|&i| self.is_ear(i, 0.0)));
            let Some(ear) = found else { return };
            emit([self.remaining[(ear + n - 1) % n], self.remaining[ear], self.remaining[(ear + 1) % n]]);
            self.remaining.remove(ear);
            start = (ear + 1) % (n - 1);
        }
    }

    fn is_ear(&self, at: usize, least_turn: f64) -> bool {
        let n = self.remaining.len();
        let [a, b, c] = [at + n - 1, at, at + 1].map(|i| self.points[self.remaining[i % n]]);
        let contains = |p: [f64; 2]| {
            // A corner at the same place is the other side of a bridge to a hole, and does not obstruct.
            p != a && p != b && p != c && turn(a, b, p) >= 0.0 && turn(b, c, p) >= 0.0 && turn(c, a, p) >= 0.0
        };
        turn(a, b, c) > least_turn && !self.remaining.iter().any(|&corner| contains(self.points[corner]))
    }
}

/// Twice the area of the triangle, positive if it turns left.
fn turn(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(points: &[[f64; 3]]) -> Vec<[usize; 3]> {
        let mut triangles = Vec::new();
        Cutter::default().cut(points.len(), |i| points[i], |t| triangles.push(t)).unwrap();
        triangles
    }

    /// The triangles' areas as seen along `axis`.
    fn areas(points: &[[f64; 3]], triangles: &[[usize; 3]], axis: usize) -> Vec<f64> {
        let flat = |i: usize| [points[i][(axis + 1) % 3], points[i][(axis + 2) % 3]];
        triangles.iter().map(|&[a, b, c]| turn(flat(a), flat(b), flat(c)) / 2.0).collect()
    }

    #[test]
    fn a_convex_polygon_becomes_a_fan() {
        let square = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
        assert_eq!(cut(&square[..3]), [[0, 1, 2]], "triangle");
        assert_eq!(cut(&square), [[0, 1, 2], [0, 2, 3]], "square");
    }

    #[test]
    fn no_triangle_of_a_concave_polygon_flips() {
        let arrow = [[0.0, 0.0], [2.0, 0.0], [0.5, 0.5], [0.0, 2.0]];
        let comb = [
            [0.0, 0.0],
            [5.0, 0.0],
            [5.0, 3.0],
            [4.0, 3.0],
            [4.0, 1.0],
            [3.0, 1.0],
            [3.0, 3.0],
            [2.0, 3.0],
            [2.0, 1.0],
            [1.0, 1.0],
            [1.0, 3.0],
            [0.0, 3.0],
        ];
        let straight = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]]; // a corner within an edge
        for (outline, area) in [(&arrow[..], 1.0), (&comb[..], 11.0), (&straight[..], 4.0)] {
            for axis in 0..3 {
                for start in 0..outline.len() {
                    let mut points: Vec<[f64; 3]> = outline
                        .iter()
                        .map(|&[u, v]| {
                            let mut p = [0.1 * u; 3]; // leaning, so that the projection matters
                            p[(axis + 1) % 3] = u;
                            p[(axis + 2) % 3] = v;
                            p
                        })
                        .collect();
                    points.rotate_left(start);
                    let triangles = cut(&points);
                    assert_eq!(triangles.len(), points.len() - 2, "triangles fill the polygon");
                    let parts = areas(&points, &triangles, axis);
                    assert!(parts.iter().all(|&part| part > 0.0), "{parts:?} are all turned like the polygon");
                    assert!((parts.iter().sum::<f64>() - area).abs() < 1e-12, "{parts:?} add up to {area}");
                    points.reverse();
                    let parts = areas(&points, &cut(&points), axis);
                    assert!(
                        parts.iter().all(|&part| part < 0.0),
                        "{parts:?} follow the polygon when it is turned over"
                    );
                }
            }
        }
    }

    #[test]
    fn a_polygon_with_a_bridged_hole_is_filled() {
        let outline = [
            [0.0, 0.0],
            [3.0, 0.0],
            [3.0, 3.0],
            [0.0, 3.0],
            [0.0, 0.0],
            [1.0, 1.0],
            [1.0, 2.0],
            [2.0, 2.0],
            [2.0, 1.0],
            [1.0, 1.0],
        ];
        let points: Vec<[f64; 3]> = outline.iter().map(|&[u, v]| [u, v, 0.0]).collect();
        let parts = areas(&points, &cut(&points), 2);
        assert!(parts.iter().all(|&part| part >= 0.0), "{parts:?} do not flip");
        assert!((parts.iter().sum::<f64>() - 8.0).abs() < 1e-12, "{parts:?} leave the hole open");
    }

    #[test]
    fn degenerate_polygons_become_fans() {
        for point in [0.0, f64::MAX, f64::MIN_POSITIVE] {
            assert_eq!(cut(&[[point; 3]; 5]), [[0, 1, 2], [0, 2, 3], [0, 3, 4]], "all corners at {point}");
        }
        let huge = [[f64::MAX, 0.0, 0.0], [-f64::MAX, 0.0, 0.0], [0.0, f64::MAX, 0.0], [0.0, -f64::MAX, 1.0]];
        assert_eq!(cut(&huge).len(), 2, "overflowing corners");
    }

    #[test]
    fn only_concave_polygons_are_limited() {
        let count = MOST_CONCAVE_CORNERS + 1;
        let circle = |i: usize| {
            let angle = i as f64 / count as f64 * std::f64::consts::TAU;
            [libm::cos(angle), libm::sin(angle), 0.0]
        };
        let mut triangle_count = 0;
        assert_eq!(Cutter::default().cut(count, circle, |_| triangle_count += 1), Ok(()), "convex");
        assert_eq!(triangle_count, count - 2, "triangles of the circle");
        let dented = |i: usize| if i == 0 { [0.0; 3] } else { circle(i) };
        assert_eq!(Cutter::default().cut(count, dented, |_| ()), Err(TooManyCorners), "concave");
    }
}
