//! The patterns that come with the crate can be read, meshed and sewn, and are placed around a figure.

use std::collections::BTreeMap;

use muslin_pattern::{BUILT_IN, Garment, Limits, Pattern};

type Vec3 = [f64; 3];

fn garment(json: &str, edge_length: f64) -> (Pattern, Garment) {
    let pattern = Pattern::from_json(json, &Limits::default()).expect("it can be read").pattern;
    let garment = pattern.assemble(&pattern.mesh(edge_length).expect("it can be meshed"));
    (pattern, garment)
}

fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[test]
fn nothing_is_odd_about_them() {
    for built_in in BUILT_IN {
        let reading = Pattern::from_json(built_in.json, &Limits::default()).unwrap();
        assert_eq!(reading.warnings, [], "{}", built_in.name);
        assert!(reading.pattern.panels().iter().all(|panel| !panel.is_turned()), "{}", built_in.name);
    }
}

/// Sewn together they are one surface with the right number of openings, oriented alike everywhere: a stitch that runs the wrong way would make a Möbius
/// strip or an edge with three triangles.
#[test]
fn they_are_sewn_completely() {
    let openings = [("circle_skirt", 2), ("tunic", 4), ("shirt", 4), ("trousers", 3)];
    assert_eq!(
        openings.map(|(name, _)| name).to_vec(),
        BUILT_IN.iter().map(|built_in| built_in.name).collect::<Vec<_>>()
    );
    for (built_in, (name, openings)) in BUILT_IN.iter().zip(openings) {
        let (_, garment) = garment(built_in.json, 0.02);
        let merged = garment.merged();
        let triangles: Vec<[u32; 3]> = garment.triangles.iter().map(|t| t.map(|v| merged[v as usize])).collect();
        let mut next = BTreeMap::new();
        let mut sides = BTreeMap::new();
        for triangle in &triangles {
            for k in 0..3 {
                let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
                assert_ne!(a, b, "{name}: a triangle collapses");
                assert!(sides.insert((a, b), ()).is_none(), "{name}: two triangles on one side of an edge");
            }
        }
        for &(a, b) in sides.keys().filter(|&&(a, b)| !sides.contains_key(&(b, a))) {
            assert!(next.insert(b, a).is_none(), "{name}: two openings meet in a vertex");
        }
        let mut loops = 0;
        while let Some((&start, _)) = next.first_key_value() {
            let mut at = start;
            while let Some(to) = next.remove(&at) {
                at = to;
            }
            assert_eq!(at, start, "{name}: an opening that is not closed");
            loops += 1;
        }
        assert_eq!(loops, openings, "{name}");
        // Euler: a sphere with so many holes has 2 less as many.
        let vertices = merged.iter().enumerate().filter(|&(vertex, &lowest)| vertex == lowest as usize).count() as i64;
        let edges = sides.keys().filter(|&&(a, b)| a < b || !sides.contains_key(&(b, a))).count() as i64;
        assert_eq!(vertices - edges + triangles.len() as i64, 2 - openings, "{name} is not one sphere with holes");
    }
}

#[test]
fn seams_have_matching_sides() {
    for built_in in BUILT_IN {
        let (pattern, garment) = garment(built_in.json, 0.01);
        for (stitch, seam) in pattern.stitches().iter().zip(&garment.seams) {
            let [a, b] = &seam.chains;
            assert_eq!(a.len(), b.len(), "{} {}", built_in.name, seam.name);
            let lengths = stitch.sides.map(|side| pattern.panels()[side.panel].edges()[side.edge].curve().length());
            assert!((lengths[0] / lengths[1] - 1.0).abs() < 0.04, "{} {} {lengths:?}", built_in.name, seam.name);
            let apart = |other: &mut dyn Iterator<Item = &u32>| -> f64 {
                let pairs = a.iter().zip(other);
                pairs
                    .map(|(&a, &b)| sub(garment.positions[a as usize], garment.positions[b as usize]))
                    .map(|d| dot(d, d).sqrt())
                    .sum::<f64>()
                    / a.len() as f64
            };
            let (straight, swapped) = (apart(&mut b.iter()), apart(&mut b.iter().rev()));
            assert!(straight < swapped && straight < 0.5, "{} {}: {straight} {swapped}", built_in.name, seam.name);
        }
    }
}

#[test]
fn panels_face_away_from_the_figure() {
    for built_in in BUILT_IN {
        let (pattern, garment) = garment(built_in.json, 0.02);
        for (panel, group) in pattern.panels().iter().zip(&garment.panels) {
            let [.., front] = panel.placement().translation;
            let triangle = garment.triangles[group.triangles.start as usize];
            let [a, b, c] = triangle.map(|vertex| garment.positions[vertex as usize]);
            let normal = cross(sub(b, a), sub(c, a));
            assert!(front * normal[2] > 0.0, "{} {} faces inwards", built_in.name, panel.name());
        }
        let heights = garment.positions.iter().map(|position| position[1]);
        let (low, high) = heights.fold((f64::INFINITY, 0.0_f64), |(low, high), y| (low.min(y), high.max(y)));
        assert!(low > 0.05 && high < 1.6, "{}: from {low} to {high} m", built_in.name);
    }
}

/// A start without cuts is what sewing needs. An edge that runs through a triangle of another panel is a cut.
#[test]
fn placed_panels_do_not_cut_each_other() {
    for built_in in BUILT_IN {
        let (_, garment) = garment(built_in.json, 0.05);
        assert_eq!(panels_that_cut(&garment), [] as [(String, String); 0], "{}", built_in.name);
    }
}

/// Pairs of panels of which an edge of the first runs through a triangle of the second.
pub(crate) fn panels_that_cut(garment: &Garment) -> Vec<(String, String)> {
    let corners = |index: u32| garment.triangles[index as usize].map(|vertex| garment.positions[vertex as usize]);
    let mut found = Vec::new();
    for (first, a) in garment.panels.iter().enumerate() {
        for (_, b) in garment.panels.iter().enumerate().filter(|&(second, _)| second != first) {
            let mut edges = a.triangles.clone().map(corners).flat_map(|[p, q, r]| [[p, q], [q, r], [r, p]]);
            if edges.any(|edge| b.triangles.clone().map(corners).any(|triangle| cuts(edge, triangle))) {
                found.push((a.name.clone(), b.name.clone()));
            }
        }
    }
    found
}

/// Whether a line between two points goes through a triangle, or lies in its plane and touches it.
fn cuts([p, q]: [Vec3; 2], [a, b, c]: [Vec3; 3]) -> bool {
    let normal = cross(sub(b, a), sub(c, a));
    let (from, to) = (dot(normal, sub(p, a)), dot(normal, sub(q, a)));
    let tiny = 1e-12;
    if from.abs() < tiny && to.abs() < tiny {
        // In one plane, seen along its normal: the ends lie within, or it crosses a side.
        let left = |u: Vec3, v: Vec3, w: Vec3| dot(normal, cross(sub(v, u), sub(w, u)));
        let within = |x: Vec3| [[a, b], [b, c], [c, a]].iter().all(|&[u, v]| left(u, v, x) >= 0.0);
        let crosses = |[u, v]: [Vec3; 2]| left(u, v, p) * left(u, v, q) < 0.0 && left(p, q, u) * left(p, q, v) < 0.0;
        return within(p) || within(q) || [[a, b], [b, c], [c, a]].into_iter().any(crosses);
    }
    if from * to > 0.0 {
        return false;
    }
    let t = from / (from - to);
    let x = [0, 1, 2].map(|k| p[k] + t * (q[k] - p[k]));
    [[a, b], [b, c], [c, a]].iter().all(|&[u, v]| dot(normal, cross(sub(v, u), sub(x, u))) >= 0.0)
}

/// With `rest = "uv"` and a scale of 1 the panels are flat, in true size, and apart from each other.
#[test]
fn uv_is_the_flat_pattern() {
    for built_in in BUILT_IN {
        let (_, garment) = garment(built_in.json, 0.02);
        for triangle in &garment.triangles {
            let ([a, b, c], [u, v, w]) = (
                triangle.map(|vertex| garment.positions[vertex as usize]),
                triangle.map(|vertex| garment.uv[vertex as usize]),
            );
            for ((a, b), (u, v)) in [((a, b), (u, v)), ((b, c), (v, w)), ((c, a), (w, u))] {
                let in_space = dot(sub(b, a), sub(b, a)).sqrt();
                let flat = ((v[0] - u[0]).powi(2) + (v[1] - u[1]).powi(2)).sqrt();
                assert!((in_space - flat).abs() < 1e-12, "{}", built_in.name);
            }
            let turn = (v[0] - u[0]) * (w[1] - u[1]) - (v[1] - u[1]) * (w[0] - u[0]);
            assert!(turn > 0.0, "{}: mirrored", built_in.name);
        }
        let boxes: Vec<[[f64; 2]; 2]> = garment
            .panels
            .iter()
            .map(|group| {
                let points = &garment.uv[group.vertices.start as usize..group.vertices.end as usize];
                let of =
                    |axis: usize, pick: fn(f64, f64) -> f64| points.iter().map(|uv| uv[axis]).reduce(pick).unwrap();
                [[of(0, f64::min), of(1, f64::min)], [of(0, f64::max), of(1, f64::max)]]
            })
            .collect();
        for (index, a) in boxes.iter().enumerate() {
            assert!(a[0].iter().all(|&low| low > -1e-3), "{}: the table begins at the origin", built_in.name);
            for b in &boxes[index + 1..] {
                assert!((0..2).any(|k| a[1][k] < b[0][k] || b[1][k] < a[0][k]), "{}: panels overlap", built_in.name);
            }
        }
    }
}
