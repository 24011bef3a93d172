//! Conformance of a shape: the properties that contact and pictures rely on.

use std::collections::HashMap;

use super::*;
use crate::description::{Path, Waypoint};
use crate::energy::conformance::Random;

/// Asks everything of a shape that is no mesh.
pub(crate) fn check(shape: &ColliderShape) {
    let (shape, solid) = Solid::new(shape).unwrap();
    going_out_by_the_distance_reaches_the_surface(&solid);
    the_normal_is_the_gradient_of_the_distance(&solid);
    a_probe_within_reach_is_the_probe(&solid);
    the_shape_is_probed_as_the_solid(&*shape, &solid);
    no_point_goes_farther_than_the_largest_displacement(&*shape, &solid);
    the_bounds_hold_it(&*shape);
    let probe = solid.probe(shape.center());
    assert!(probe.normal.is_finite() && probe.distance.is_finite(), "{solid:?} at its centre: {probe:?}");
    assert!(solid.probe(Vec3::splat(f64::NAN)).distance.is_nan(), "{solid:?}: nowhere is not inside");
    if shape.half_space().is_none() {
        the_tessellation_lies_on_the_surface_and_closes(&*shape);
    }
}

fn going_out_by_the_distance_reaches_the_surface(solid: &Solid) {
    let mut random = Random::new(3);
    for p in (0..300).map(|_| random.vector()) {
        let probe = solid.probe(p);
        assert!((probe.normal.norm() - 1.0).abs() < 1e-12, "{solid:?}: normal {:?}", probe.normal);
        let surface = solid.probe(p - probe.normal * probe.distance);
        assert!(surface.distance.abs() < 1e-12, "{solid:?} at {p:?}: {}", surface.distance);
    }
}

fn the_normal_is_the_gradient_of_the_distance(solid: &Solid) {
    let (mut random, h) = (Random::new(5), 1e-6);
    let mut smooth = 0;
    for p in (0..200).map(|_| random.vector()) {
        let distance = |d: Vec3<f64>| solid.probe(p + d).distance;
        let slope = |axis: Vec3<f64>| (distance(axis * h) - distance(axis * -h)) / (2.0 * h);
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let gradient = Vec3::from(axes.map(|axis| slope(axis.into())));
        // Not differentiable where two parts of the surface are equally near: there the slopes have no unit length.
        if (gradient.norm() - 1.0).abs() < 1e-6 {
            assert!((gradient - solid.probe(p).normal).norm() < 1e-5, "{solid:?} at {p:?}");
            smooth += 1;
        }
    }
    assert!(smooth > 150, "{solid:?}: {smooth} of 200 places are smooth");
}

fn a_probe_within_reach_is_the_probe(solid: &Solid) {
    let mut random = Random::new(9);
    for _ in 0..300 {
        let (p, reach) = (random.vector(), 0.2 * random.signed().abs());
        let (all, near) = (solid.probe(p), solid.probe_within(p, reach));
        let expected = (all.distance <= reach).then_some((all.distance, all.normal));
        assert_eq!(near.map(|probe| (probe.distance, probe.normal)), expected, "{solid:?} at {p:?}");
    }
}

fn the_shape_is_probed_as_the_solid(shape: &dyn Shape, solid: &Solid) {
    let mut random = Random::new(13);
    for p in (0..100).map(|_| random.vector()) {
        let [a, b] = [shape.probe(p), solid.probe(p)];
        assert_eq!((a.distance, a.normal), (b.distance, b.normal), "{shape:?} at {p:?}");
    }
}

/// What a pose changes of a distance is no more than the largest displacement.
fn no_point_goes_farther_than_the_largest_displacement(shape: &dyn Shape, solid: &Solid) {
    let mut random = Random::new(11);
    let is_endless = shape.half_space().is_some();
    for turn in [0.0, 0.3, 40.0] {
        let waypoint = |time: f64, offset: [f64; 3], turn: f64| Waypoint { time, offset, turn };
        let waypoints = vec![waypoint(0.0, [0.0; 3], 0.0), waypoint(1.0, [0.03, -0.02, 0.05], turn)];
        let path = Path { waypoints, axis: [0.3, 1.0, 0.2], ..Path::still() };
        let motion = Motion::new(&path, shape.center());
        let moved = solid.posed(&motion.pose(1.0));
        let bound = solid.posed(&motion.pose(0.0)).largest_displacement(&moved);
        assert_eq!(bound.is_infinite(), is_endless && turn > 0.0, "{solid:?}, {turn}");
        let change = |p: Vec3<f64>| (moved.probe(p).distance - solid.probe(p).distance).abs();
        let most = (0..300).map(|_| change(random.vector() * 1.5)).fold(0.0, f64::max);
        assert!(most <= bound * (1.0 + 1e-12), "{solid:?}, {turn}: {most} and {bound}");
        assert!(bound.is_infinite() || bound < 20.0 * most, "{solid:?}, {turn}: {most} and {bound}");
    }
}

fn the_bounds_hold_it(shape: &dyn Shape) {
    let (bounds, mut random) = (shape.bounds(), Random::new(17));
    for p in (0..500).map(|_| random.vector()) {
        let probe = shape.probe(p);
        let surface = (p - probe.normal * probe.distance).to_array();
        for axis in 0..3 {
            let is_held = surface[axis] >= bounds.min[axis] - 1e-9 && surface[axis] <= bounds.max[axis] + 1e-9;
            assert!(is_held, "{shape:?}: {surface:?} is not in {bounds:?}");
        }
    }
}

fn the_tessellation_lies_on_the_surface_and_closes(shape: &dyn Shape) {
    let surface = shape.tessellation();
    assert!(surface.triangles.len() > 100, "{shape:?}: {} triangles", surface.triangles.len());
    let place = |i: u32| Vec3::from(surface.positions[i as usize]);
    for (p, n) in surface.positions.iter().zip(&surface.normals) {
        let distance = shape.probe((*p).into()).distance;
        assert!(distance.abs() < 1e-9, "{shape:?}: a vertex at {p:?} is {distance} m off");
        assert!((Vec3::from(*n).norm() - 1.0).abs() < 1e-9, "{shape:?}: a normal {n:?}");
        let [out, into] = [1e-4, -1e-4].map(|way| shape.probe(Vec3::from(*p) + Vec3::from(*n) * way).distance);
        // From an edge, one step along the normal of one face stays on the other.
        assert!(out > 0.0 && into < 1e-9, "{shape:?}: the normal at {p:?} leads from {into} to {out}");
    }
    // Joined by place, each edge is passed as often one way as the other.
    let mut numbers = HashMap::new();
    let joined: Vec<usize> = (0..surface.positions.len())
        .map(|i| {
            let bits = surface.positions[i].map(|x| (x + 0.0).to_bits());
            let next = numbers.len();
            *numbers.entry(bits).or_insert(next)
        })
        .collect();
    let mut passes: HashMap<(usize, usize), i32> = HashMap::new();
    let mut volume = 0.0;
    for &[a, b, c] in &surface.triangles {
        let normal = (place(b) - place(a)).cross(place(c) - place(a));
        let outward = [a, b, c].iter().fold(Vec3::ZERO, |sum, &i| sum + Vec3::from(surface.normals[i as usize]));
        assert!(normal.dot(outward) > 0.0, "{shape:?}: a triangle at {:?} winds inwards", place(a));
        volume += (place(a) - shape.center()).dot(normal) / 6.0;
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let (from, to) = (joined[from as usize], joined[to as usize]);
            *passes.entry((from.min(to), from.max(to))).or_default() += if from < to { 1 } else { -1 };
        }
    }
    assert!(passes.values().all(|passes| *passes == 0), "{shape:?}: the surface has a hole");
    assert!(volume > 0.0, "{shape:?}: {volume} m³");
}
