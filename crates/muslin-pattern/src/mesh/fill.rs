//! Fills a polygon with nearly equilateral triangles, without a new vertex on its sides.
//!
//! A hexagonal lattice is laid over the polygon and cut back from its sides. Then, in turns: points come where a triangle
//! is too large, and go where two are too close; every inner vertex moves to the centre of its triangles; all is triangulated anew. The centre is weighted by
//! area/size⁴, the density of an optimal mesh whose sides have a given size [Du, Faber, Gunzburger 1999].
//! Decision 053 compares this with refinement by circumcentres.

use super::boxes::Boxes;
use super::delaunay::triangulate;
use super::size::Sizes;
use crate::curve::{Point, cross, distance, dot, sub};
use crate::outline;

/// Turns with points coming and going.
const TURNS: usize = 5;
/// Triangulations in each turn.
const STEPS: usize = 3;
/// Triangulations after the last turn.
const LAST_STEPS: usize = 6;
/// How near a point may come to another, and to a side, in sizes.
const NEAREST: f64 = 0.62;
const NEAREST_SIDE: f64 = 0.45;
/// From which circumradius a triangle is too large, in those of an equilateral one.
const LARGE: f64 = 1.3;
/// An inner vertex with a shorter side goes, in sizes.
const SHORT: f64 = 0.6;
const SQRT_3: f64 = 1.732_050_807_568_877_2;

/// Vertices, the outline first, and triangles.
pub(super) fn fill(outline: Vec<Point>, edge_length: f64) -> Option<(Vec<Point>, Vec<[u32; 3]>)> {
    let sizes = Sizes::new(&outline, edge_length);
    let count = outline.len();
    let mut points = outline;
    lattice(&mut points, &sizes, edge_length);
    let mut triangles = triangulate(&points, count)?;
    for turn in 0..TURNS + 1 {
        if turn < TURNS {
            let added = insert(&mut points, &triangles, count, &sizes);
            let removed = remove(&mut points, &triangles, count, &sizes); // new points have no triangles yet
            if added || removed {
                triangles = triangulate(&points, count)?;
            }
        }
        for _ in 0..if turn < TURNS { STEPS } else { LAST_STEPS } {
            relax(&mut points, &triangles, count, &sizes);
            triangles = triangulate(&points, count)?;
        }
    }
    Some((points, triangles))
}

/// Points of a hexagonal lattice that lie within the outline and away from it.
fn lattice(points: &mut Vec<Point>, sizes: &Sizes, edge_length: f64) {
    let outline = points.clone();
    let [low, high] = outline::bounds(outline.iter().copied());
    let step = 0.5 * SQRT_3 * edge_length;
    let rows = ((high[1] - low[1]) / step) as usize;
    // Half of what is left over goes below the first row.
    let first = low[1] + 0.5 * (high[1] - low[1] - rows as f64 * step);
    let sides = crossings(&outline, first, step, rows + 1);
    for (row, crossings) in sides.into_iter().enumerate() {
        let y = first + row as f64 * step;
        let shift = if row % 2 == 0 { 0.25 } else { 0.75 } * edge_length;
        for span in crossings.chunks_exact(2) {
            let start = ((span[0] - low[0] - shift) / edge_length).ceil().max(0.0) as usize;
            let end = ((span[1] - low[0] - shift) / edge_length).floor().max(0.0) as usize;
            for column in start..=end {
                let point = [low[0] + shift + column as f64 * edge_length, y];
                let is_inside = span[0] < point[0] && point[0] < span[1];
                if is_inside && sizes.at(point) > 0.9 * edge_length && sizes.is_clear(point, 0.6 * edge_length) {
                    points.push(point);
                }
            }
        }
    }
}

/// Where the outline crosses rows, from left to right.
fn crossings(outline: &[Point], first: f64, step: f64, rows: usize) -> Vec<Vec<f64>> {
    let mut found = vec![Vec::new(); rows];
    for (index, &a) in outline.iter().enumerate() {
        let b = outline[(index + 1) % outline.len()];
        let (low, high) = if a[1] < b[1] { (a, b) } else { (b, a) };
        // A row is crossed where low ≤ y < high, so that a row through a vertex counts it once.
        let from = ((low[1] - first) / step).ceil().max(0.0) as usize;
        for (row, crossings) in found.iter_mut().enumerate().skip(from) {
            let y = first + row as f64 * step;
            if y >= high[1] {
                break;
            }
            if y >= low[1] {
                crossings.push(low[0] + (y - low[1]) / (high[1] - low[1]) * (high[0] - low[0]));
            }
        }
    }
    found.iter_mut().for_each(|crossings| crossings.sort_by(f64::total_cmp));
    found
}

/// Adds a point in triangles that are too large, the largest first; whether there was one.
fn insert(points: &mut Vec<Point>, triangles: &[[u32; 3]], outline_count: usize, sizes: &Sizes) -> bool {
    let mut wanted: Vec<(f64, usize, Point)> = Vec::new();
    for (index, triangle) in triangles.iter().enumerate() {
        let (place, radius) = center(triangle.map(|vertex| points[vertex as usize]), *triangle, outline_count);
        let Some(place) = place else { continue };
        let ratio = radius * SQRT_3 / sizes.at(place);
        if ratio > LARGE {
            wanted.push((ratio, index, place));
        }
    }
    wanted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let before = points.len();
    let mut boxes = Boxes::over(points, sizes.at([f64::INFINITY; 2]));
    points.iter().enumerate().for_each(|(index, &point)| boxes.insert(index as u32, point, point));
    for (_, _, place) in wanted {
        let size = sizes.at(place);
        let nearest = NEAREST * size;
        let is_free = boxes.near(place, nearest).all(|index| distance(points[index as usize], place) > nearest);
        if is_free && sizes.is_clear(place, NEAREST_SIDE * size) {
            boxes.insert(points.len() as u32, place, place);
            points.push(place);
        }
    }
    points.len() > before
}

/// Where a triangle would be divided, and its circumradius: at the centre of its circle, or in the middle of its longest side where that is beyond it and
/// inside of the panel.
fn center([a, b, c]: [Point; 3], triangle: [u32; 3], outline_count: usize) -> (Option<Point>, f64) {
    let (ab, ac) = (sub(b, a), sub(c, a));
    let twice = cross(ab, ac);
    let (bb, cc) = (dot(ab, ab), dot(ac, ac));
    let offset = [(ac[1] * bb - ab[1] * cc) / (2.0 * twice), (ab[0] * cc - ac[0] * bb) / (2.0 * twice)];
    let radius = dot(offset, offset).sqrt();
    let corners = [a, b, c];
    let squared = [0, 1, 2].map(|k| {
        let side = sub(corners[(k + 1) % 3], corners[k]);
        dot(side, side)
    });
    let longest = (0..3).max_by(|&i, &j| squared[i].total_cmp(&squared[j])).unwrap_or(0);
    if 2.0 * squared[longest] <= squared.iter().sum() {
        return (Some([a[0] + offset[0], a[1] + offset[1]]), radius);
    }
    let ends = [triangle[longest], triangle[(longest + 1) % 3]].map(|vertex| vertex as usize);
    let is_side = ends.iter().all(|&end| end < outline_count)
        && (ends[0].abs_diff(ends[1]) == 1 || ends[0].abs_diff(ends[1]) == outline_count - 1);
    let (p, q) = (corners[longest], corners[(longest + 1) % 3]);
    // Half of the longest side stands for the radius: that of the circle over it.
    ((!is_side).then_some([0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])]), 0.5 * squared[longest].sqrt())
}

/// Takes out inner vertices that are too close to another; whether there was one.
fn remove(points: &mut Vec<Point>, triangles: &[[u32; 3]], outline_count: usize, sizes: &Sizes) -> bool {
    let mut goes = vec![false; points.len()];
    let mut stays = vec![false; points.len()];
    for triangle in triangles {
        for k in 0..3 {
            let [a, b] = [triangle[k] as usize, triangle[(k + 1) % 3] as usize];
            let later = a.max(b);
            if later < outline_count || goes[a] || goes[b] || stays[later] {
                continue;
            }
            if distance(points[a], points[b]) < SHORT * sizes.at(points[later]) {
                goes[later] = true;
                stays[a.min(b)] = true;
            }
        }
    }
    let before = points.len();
    let mut index = 0;
    points.retain(|_| {
        index += 1;
        !goes[index - 1]
    });
    points.len() < before
}

/// Moves every inner vertex to the centre of its triangles, one after the other, unless that would turn one over.
fn relax(points: &mut [Point], triangles: &[[u32; 3]], outline_count: usize, sizes: &Sizes) {
    let (starts, around) = triangles_around(points.len(), triangles);
    for vertex in outline_count..points.len() {
        let own = &around[starts[vertex]..starts[vertex + 1]];
        let (mut sum, mut weights) = ([0.0; 2], 0.0);
        for &triangle in own {
            let [a, b, c] = triangles[triangle as usize].map(|vertex| points[vertex as usize]);
            let middle = [0, 1].map(|k| (a[k] + b[k] + c[k]) / 3.0);
            let size = sizes.at(middle);
            let weight = cross(sub(b, a), sub(c, a)) / (size * size * size * size);
            sum = [0, 1].map(|k| sum[k] + weight * middle[k]);
            weights += weight;
        }
        // Without weight this is no number, and no triangle stays up.
        let place = sum.map(|sum| sum / weights);
        let stays_up = own.iter().all(|&triangle| {
            let triangle = triangles[triangle as usize];
            let at = |k: usize| if triangle[k] as usize == vertex { place } else { points[triangle[k] as usize] };
            cross(sub(at(1), at(0)), sub(at(2), at(0))) > 0.0
        });
        if stays_up {
            points[vertex] = place;
        }
    }
}

/// The triangles around each vertex: where those of a vertex begin, and their numbers.
fn triangles_around(count: usize, triangles: &[[u32; 3]]) -> (Vec<usize>, Vec<u32>) {
    let mut starts = vec![0; count + 1];
    triangles.iter().flatten().for_each(|&vertex| starts[vertex as usize + 1] += 1);
    for vertex in 0..count {
        starts[vertex + 1] += starts[vertex];
    }
    let mut next = starts.clone();
    let mut around = vec![0; starts[count]];
    for (index, triangle) in triangles.iter().enumerate() {
        for &vertex in triangle {
            around[next[vertex as usize]] = index as u32;
            next[vertex as usize] += 1;
        }
    }
    (starts, around)
}
