//! Closed polygons: their area, and where they meet themselves.

use crate::curve::{Point, cross, distance, dot, norm, sub};

/// The area of a closed polygon, positive where it runs counter-clockwise.
pub(crate) fn area(points: &[Point]) -> f64 {
    let Some(&origin) = points.first() else { return 0.0 };
    let corners = points.windows(2).map(|side| cross(sub(side[0], origin), sub(side[1], origin)));
    0.5 * corners.sum::<f64>()
}

/// The box around some points: lowest and highest.
pub(crate) fn bounds(points: impl IntoIterator<Item = Point>) -> [Point; 2] {
    points.into_iter().fold([[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]], |[low, high], point| {
        [[0, 1].map(|k| low[k].min(point[k])), [0, 1].map(|k| high[k].max(point[k]))]
    })
}

/// The first two sides, by their numbers, of a closed polygon that come nearer than `tolerance` although they do not follow each other, or that
/// follow each other and fold back.
///
/// Side i runs from point i to the next. Sides are visited by their lowest x, so that only those are compared that lie
/// above each other.
pub(crate) fn meeting(points: &[Point], tolerance: f64) -> Option<[usize; 2]> {
    let count = points.len();
    let side = |index: usize| [points[index], points[(index + 1) % count]];
    let box_of = |index: usize| bounds(side(index));
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| box_of(a)[0][0].total_cmp(&box_of(b)[0][0]).then(a.cmp(&b)));
    let boxes: Vec<[Point; 2]> = order.iter().map(|&index| box_of(index)).collect();
    let mut found: Option<[usize; 2]> = None;
    for (at, &first) in order.iter().enumerate() {
        for (other, &second) in order.iter().enumerate().skip(at + 1) {
            if boxes[other][0][0] > boxes[at][1][0] + tolerance {
                break;
            }
            if boxes[other][0][1] > boxes[at][1][1] + tolerance || boxes[at][0][1] > boxes[other][1][1] + tolerance {
                continue;
            }
            let pair = [first.min(second), first.max(second)];
            let meets = if pair[0] + 1 == pair[1] || (pair[0] == 0 && pair[1] == count - 1) {
                let (before, after) = if pair[0] + 1 == pair[1] { (pair[0], pair[1]) } else { (pair[1], pair[0]) };
                count > 2 && folds_back(side(before), side(after))
            } else {
                sides_meet(side(pair[0]), side(pair[1]), tolerance)
            };
            if meets && found.is_none_or(|found| pair < found) {
                found = Some(pair);
            }
        }
    }
    found
}

/// Whether the way back is the way there: by less than 0.2°.
fn folds_back([a, b]: [Point; 2], [_, c]: [Point; 2]) -> bool {
    let (first, second) = (sub(b, a), sub(c, b));
    dot(first, second) < 0.0 && cross(first, second).abs() < 0.0035 * norm(first) * norm(second)
}

fn sides_meet([a, b]: [Point; 2], [c, d]: [Point; 2], tolerance: f64) -> bool {
    let of = |p: Point, q: Point, r: Point| cross(sub(q, p), sub(r, p));
    let crosses = of(a, b, c) * of(a, b, d) < 0.0 && of(c, d, a) * of(c, d, b) < 0.0;
    crosses
        || [(a, [c, d]), (b, [c, d]), (c, [a, b]), (d, [a, b])]
            .iter()
            .any(|&(point, side)| distance_to(point, side) < tolerance)
}

/// The distance of a point to a side.
pub(crate) fn distance_to(point: Point, [a, b]: [Point; 2]) -> f64 {
    let along = sub(b, a);
    let squared = dot(along, along);
    let t = if squared > 0.0 { (dot(sub(point, a), along) / squared).clamp(0.0, 1.0) } else { 0.0 };
    distance(point, [a[0] + t * along[0], a[1] + t * along[1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_has_its_area_and_does_not_meet_itself() {
        let square = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]];
        assert_eq!(area(&square), 2.0);
        assert_eq!(meeting(&square, 1e-5), None);
    }

    #[test]
    fn crossings_touches_and_folds_are_found() {
        let bow = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]];
        assert_eq!(meeting(&bow, 1e-5), Some([0, 2]));
        let touch = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 0.0], [0.0, 1.0]];
        assert_eq!(meeting(&touch, 1e-5), Some([0, 2]));
        let fold = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [1.0, 1.0]];
        assert_eq!(meeting(&fold, 1e-5), Some([0, 1]));
        let last = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 2.0], [0.0, 0.5]];
        assert_eq!(meeting(&last, 1e-5), Some([1, 3]));
    }

    #[test]
    fn a_triangle_may_be_as_thin_as_one_degree() {
        let sharp = [[0.0, 0.0], [1.0, 0.0], [1.0, 0.0175]];
        assert_eq!(meeting(&sharp, 1e-5), None);
    }
}
