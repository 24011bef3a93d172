//! The surface: closed, oriented, symmetric, of good triangles.

use std::collections::BTreeMap;

use muslin_figure::{Figure, Joint, Measures, girth};

use super::{Vec3, cross, distance, dot, figure, sub};

/// Panics unless every edge has one triangle on each side, every vertex one fan, and the whole is one sphere that faces out.
pub(super) fn assert_is_a_sphere(figure: &Figure, what: &str) {
    let (positions, triangles) = (figure.rest_positions(), figure.triangles());
    let mut edges = BTreeMap::new();
    for triangle in triangles {
        for k in 0..3 {
            let ends = (triangle[k], triangle[(k + 1) % 3]);
            assert!(edges.insert(ends, triangle[(k + 2) % 3]).is_none(), "{what}: two triangles have {ends:?}");
        }
    }
    for &(a, b) in edges.keys() {
        assert!(edges.contains_key(&(b, a)), "{what}: the edge {a} {b} is a border");
    }
    let mut degrees = vec![0; positions.len()];
    edges.keys().for_each(|&(a, _)| degrees[a as usize] += 1);
    let mut seen = vec![false; positions.len()];
    for &(a, b) in edges.keys().filter(|&&(a, b)| a != b) {
        if std::mem::replace(&mut seen[a as usize], true) {
            continue;
        }
        let (mut at, mut count) = (b, 0);
        loop {
            (at, count) = (edges[&(a, at)], count + 1);
            if at == b {
                break;
            }
        }
        assert_eq!(count, degrees[a as usize], "{what}: vertex {a} has two fans");
    }
    assert!(seen.iter().all(|&seen| seen), "{what}: a vertex has no triangle");
    let euler = positions.len() as i64 - edges.len() as i64 / 2 + triangles.len() as i64;
    assert_eq!(euler, 2, "{what}: Euler's characteristic");
    let volume: f64 = triangles
        .iter()
        .map(|triangle| {
            let [a, b, c] = triangle.map(|vertex| positions[vertex as usize]);
            dot(a, cross(b, c)) / 6.0
        })
        .sum();
    assert!((0.03..0.15).contains(&volume), "{what}: {volume} m³");
}

pub(super) fn smallest_angle(figure: &Figure) -> f64 {
    let angles = figure.triangles().iter().flat_map(|triangle| {
        let corners = triangle.map(|vertex| figure.rest_positions()[vertex as usize]);
        (0..3).map(move |k| {
            let [p, q] = [1, 2].map(|next| sub(corners[(k + next) % 3], corners[k]));
            libm::acos(dot(p, q) / (dot(p, p) * dot(q, q)).sqrt()).to_degrees()
        })
    });
    angles.fold(180.0, f64::min)
}

#[test]
fn it_is_a_closed_manifold_that_faces_out() {
    assert_is_a_sphere(figure(), "default");
}

#[test]
fn it_stands_on_the_floor_and_has_its_height() {
    let heights = figure().rest_positions().iter().map(|position| position[1]);
    let (low, high) = heights.fold((f64::INFINITY, 0.0_f64), |(low, high), y| (low.min(y), high.max(y)));
    assert!(low.abs() < 0.002, "{low}");
    assert!((high - 1.75).abs() < 0.005, "{high}");
}

#[test]
fn it_is_symmetric_to_the_bit() {
    let key = |[x, y, z]: Vec3| [x + 0.0, y + 0.0, z + 0.0].map(f64::to_bits);
    let mut places: Vec<_> = figure().rest_positions().iter().map(|&position| key(position)).collect();
    places.sort_unstable();
    for &[x, y, z] in figure().rest_positions() {
        assert!(places.binary_search(&key([-x, y, z])).is_ok(), "[{x}, {y}, {z}] has no image");
    }
}

#[test]
fn its_triangles_are_nearly_equilateral() {
    let figure = figure();
    let count = figure.rest_positions().len();
    assert!((6000..12000).contains(&count), "{count} vertices");
    let angle = smallest_angle(figure);
    assert!(angle > 25.0, "{angle}°");
    let mut lengths: Vec<f64> = figure
        .triangles()
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[a, b]| distance(figure.rest_positions()[a as usize], figure.rest_positions()[b as usize]))
        .collect();
    lengths.sort_by(f64::total_cmp);
    let part = |share: f64| lengths[(share * (lengths.len() - 1) as f64) as usize];
    println!(
        "{count} vertices, {angle:.1}°, edges {:.4} {:.4} {:.4} {:.4} {:.4}",
        part(0.0),
        part(0.25),
        part(0.5),
        part(0.95),
        part(1.0)
    );
    assert!(part(0.0) > 0.006 && part(0.25) > 0.012 && part(0.95) < 0.022 && part(1.0) < 0.028, "{}", part(1.0));
}

#[test]
fn girths_are_those_of_the_table() {
    let figure = figure();
    let (joints, levels) = (figure.rest_joints(), figure.landmarks());
    let across = |from: Joint, to: Joint, share: f64| {
        let [a, b] = [from, to].map(|joint| joints[joint.index()]);
        let along = sub(b, a);
        ([0, 1, 2].map(|k| a[k] + share * along[k]), along)
    };
    let level = |y: f64, x: f64| ([x, y, 0.0], [0.0, 1.0, 0.0]);
    let knee = joints[Joint::KneeLeft.index()];
    for (name, (origin, normal), wanted) in [
        ("chest", level(levels.chest, 0.0), 0.94),
        ("waist", level(levels.waist, 0.0), 0.74),
        ("hip", level(levels.hip, 0.0), 0.96),
        ("neck", across(Joint::Neck, Joint::Head, 0.5), 0.37),
        ("upper arm", across(Joint::ShoulderLeft, Joint::ElbowLeft, 0.5), 0.28),
        ("wrist", across(Joint::ElbowLeft, Joint::WristLeft, 0.96), 0.17),
        ("thigh", level(0.74, knee[0]), 0.56),
        ("knee", level(knee[1], knee[0]), 0.37),
        ("calf", level(0.33, knee[0]), 0.36),
        ("ankle", level(0.11, knee[0]), 0.24),
    ] {
        let around = girth(figure.rest_positions(), figure.triangles(), origin, normal).unwrap();
        assert!((around / wanted - 1.0).abs() < 0.03, "{name}: {around} m, not {wanted} m");
    }
}

#[test]
fn a_plane_that_misses_has_no_girth() {
    assert_eq!(girth(figure().rest_positions(), figure().triangles(), [0.0, 2.0, 0.0], [0.0, 1.0, 0.0]), None);
}

#[test]
fn legs_stand_apart() {
    let inner = |low: f64, high: f64| {
        let there =
            figure().rest_positions().iter().filter(|position| position[0] > 0.0 && (low..high).contains(&position[1]));
        there.map(|position| position[0]).fold(f64::INFINITY, f64::min)
    };
    assert!(2.0 * inner(0.42, 0.52) > 0.025, "knees");
    assert!(2.0 * inner(0.1, 0.76) > 0.01, "thighs {}", inner(0.1, 0.76));
    let crotch = figure().landmarks().crotch;
    assert!((crotch - 0.80).abs() < 0.01, "{crotch}");
}

#[test]
fn the_same_measures_give_the_same_bits() {
    let hash = |figure: &Figure| {
        // FNV-1a over the bits of positions, triangles and skin.
        let numbers = figure.rest_positions().iter().flatten().map(|x| x.to_bits());
        let indices = figure.triangles().iter().flatten().map(|&vertex| u64::from(vertex));
        let shares = figure.skin().iter().flat_map(|skin| skin.shares).map(f64::to_bits);
        numbers
            .chain(indices)
            .chain(shares)
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, bits| (hash ^ bits).wrapping_mul(0x0100_0000_01b3))
    };
    let again = Figure::to_measure(Measures::default()).unwrap();
    assert_eq!(hash(figure()), hash(&again));
    assert_eq!(format!("{:016x}", hash(figure())), HASH, "the figure has changed; if it was meant to, pin this hash");
}

/// The bits of the default figure.
const HASH: &str = "50ca1418e95f019c";
