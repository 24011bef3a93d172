//! Panels curved around a figure of capsules.

use muslin_pattern::{BUILT_IN, Bend, Body, Garment, Limb, PanelGroup, Pattern};

use super::SQUARES;
use super::built_in::panels_that_cut;

type Vec3 = [f64; 3];

/// Limbs with their radii: arms about 40° below the level.
fn figure() -> Vec<(Limb, f64)> {
    let limb = |label: &str, a: Vec3, b: Vec3, radius: f64| (Limb { label: label.to_owned(), axis: [a, b] }, radius);
    vec![
        limb("body", [0.0, 0.92, 0.0], [0.0, 1.3, 0.0], 0.13),
        limb("neck", [0.0, 1.3, 0.0], [0.0, 1.6, 0.0], 0.06),
        limb("arm_left", [0.18, 1.39, 0.0], [0.62, 1.02, 0.0], 0.045),
        limb("arm_right", [-0.18, 1.39, 0.0], [-0.62, 1.02, 0.0], 0.045),
        limb("leg_left", [0.1, 0.08, 0.0], [0.1, 0.85, 0.0], 0.08),
        limb("leg_right", [-0.1, 0.08, 0.0], [-0.1, 0.85, 0.0], 0.08),
    ]
}

fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn distance(a: Vec3, b: Vec3) -> f64 {
    dot(sub(a, b), sub(a, b)).sqrt()
}

fn distance_to_axis(point: Vec3, [a, b]: [Vec3; 2]) -> f64 {
    let along = sub(b, a);
    let t = (dot(sub(point, a), along) / dot(along, along)).clamp(0.0, 1.0);
    distance(point, [0, 1, 2].map(|k| a[k] + t * along[k]))
}

/// A capsule as triangles that contain it: a ring is a little larger than the capsule, as its chords are inside of their circle.
fn capsule(limb: &Limb, radius: f64, positions: &mut Vec<Vec3>, triangles: &mut Vec<[u32; 3]>) {
    let [a, b] = limb.axis;
    let length = distance(a, b);
    let axis = sub(b, a).map(|x| x / length);
    let side = if axis[0].abs() < 0.9 { [1.0, 0.0, 0.0] } else { [0.0, 0.0, 1.0] };
    let side = sub(side, axis.map(|x| x * dot(axis, side)));
    let side = side.map(|x| x / dot(side, side).sqrt());
    let other = [
        axis[1] * side[2] - axis[2] * side[1],
        axis[2] * side[0] - axis[0] * side[2],
        axis[0] * side[1] - axis[1] * side[0],
    ];
    let (around, rings) = (48, 40);
    let first = positions.len() as u32;
    for ring in 0..=rings {
        // From one pole over the cylinder to the other.
        let at = -radius + (length + 2.0 * radius) * f64::from(ring) / f64::from(rings);
        let off = (at - at.clamp(0.0, length)).abs();
        let wide = 1.003 * (radius * radius - off * off).max(1e-6).sqrt();
        for step in 0..around {
            let angle = f64::from(step) * std::f64::consts::TAU / f64::from(around);
            let (sin, cos) = angle.sin_cos();
            positions.push([0, 1, 2].map(|k| a[k] + at * axis[k] + wide * (cos * side[k] + sin * other[k])));
        }
    }
    for ring in 0..rings as u32 {
        for step in 0..around as u32 {
            let at = |ring: u32, step: u32| first + ring * around as u32 + step % around as u32;
            let [p, q, r, s] = [at(ring, step), at(ring, step + 1), at(ring + 1, step + 1), at(ring + 1, step)];
            triangles.extend([[p, q, r], [p, r, s]]);
        }
    }
}

fn wrapped(json: &str, edge_length: f64) -> (Pattern, Garment, Garment, Vec<Bend>) {
    wrapped_on(&figure(), json, edge_length)
}

fn wrapped_on(figure: &[(Limb, f64)], json: &str, edge_length: f64) -> (Pattern, Garment, Garment, Vec<Bend>) {
    let pattern = Pattern::from_json(json, &Default::default()).expect("it can be read").pattern;
    let flat = pattern.assemble(&pattern.mesh(edge_length).expect("it can be meshed"));
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for (limb, radius) in figure {
        capsule(limb, *radius, &mut positions, &mut triangles);
    }
    let limbs: Vec<Limb> = figure.iter().map(|(limb, _)| limb.clone()).filter(|limb| limb.label != "neck").collect();
    let body = Body { positions: &positions, triangles: &triangles, limbs: &limbs };
    let mut garment = flat.clone();
    let bends = pattern.wrap(&mut garment, &body, 0.01);
    (pattern, flat, garment, bends)
}

#[test]
fn wrapped_panels_are_clear_of_the_figure() {
    for built_in in BUILT_IN {
        let (_, _, garment, bends) = wrapped(built_in.json, 0.02);
        for (group, bend) in garment.panels.iter().zip(&bends) {
            for vertex in group.vertices.clone() {
                for (limb, radius) in figure() {
                    let clear = distance_to_axis(garment.positions[vertex as usize], limb.axis) - radius;
                    assert!(
                        clear > 0.009,
                        "{}: {} is {clear} m from {} {bend:?}",
                        built_in.name,
                        group.name,
                        limb.label
                    );
                }
            }
        }
    }
}

/// A chord of a side h on a cylinder of radius ρ is shorter than its arc by a share of (h/ρ)²/24.
#[test]
fn wrapped_panels_keep_their_lengths() {
    for built_in in BUILT_IN {
        let (_, flat, garment, bends) = wrapped(built_in.json, 0.01);
        for (group, bend) in garment.panels.iter().zip(&bends) {
            for triangle in &garment.triangles[group.triangles.start as usize..group.triangles.end as usize] {
                for k in 0..3 {
                    let ends = [triangle[k] as usize, triangle[(k + 1) % 3] as usize];
                    let [before, after] =
                        [&flat, &garment].map(|g| distance(g.positions[ends[0]], g.positions[ends[1]]));
                    let shorter = (before * bend.curvature).powi(2) / 24.0 + 1e-9;
                    let ratio = after / before;
                    assert!(ratio < 1.0 + 1e-9 && ratio > 1.0 - 1.01 * shorter, "{}: {ratio}", group.name);
                }
            }
        }
    }
}

#[test]
fn wrapping_brings_sides_together_and_cuts_nothing() {
    for built_in in BUILT_IN {
        let (_, flat, garment, bends) = wrapped(built_in.json, 0.05);
        assert_eq!(panels_that_cut(&garment), [] as [(String, String); 0], "{}", built_in.name);
        let apart = |garment: &Garment| -> f64 {
            let pairs = garment.seams.iter().flat_map(|seam| seam.chains[0].iter().zip(&seam.chains[1]));
            pairs.map(|(&a, &b)| distance(garment.positions[a as usize], garment.positions[b as usize])).sum()
        };
        let (before, after) = (apart(&flat), apart(&garment));
        let is_curved = bends.iter().any(|bend| bend.curvature > 0.0);
        assert_eq!(
            is_curved,
            built_in.name != "circle_skirt",
            "{}: only its panels lie across the body",
            built_in.name
        );
        assert!(
            if is_curved { after < before } else { after == before },
            "{}: {before} m, then {after} m",
            built_in.name
        );
    }
}

#[test]
fn a_panel_in_the_body_is_pushed_out() {
    let skirt = BUILT_IN.iter().find(|built_in| built_in.name == "trousers").unwrap();
    let inside = skirt.json.replace("[6, 0, 16]", "[6, 0, 3]");
    assert_ne!(inside, skirt.json, "the panel is not where the test thinks");
    let (pattern, _, garment, bends) = wrapped(&inside, 0.02);
    let index = pattern.panels().iter().position(|panel| panel.name() == "front_left").unwrap();
    // The capsule of the torso reaches 0.13 m to the front, and 1 cm is asked for; up to 3 cm more let it curve.
    assert!((0.108..0.142).contains(&bends[index].pushed), "{:?}", bends[index]);
    for vertex in garment.panels[index].vertices.clone() {
        for (limb, radius) in figure() {
            assert!(distance_to_axis(garment.positions[vertex as usize], limb.axis) > radius + 0.009, "{}", limb.label);
        }
    }
}

/// Generators give the panels of a skirt the label of the legs.
#[test]
fn a_skirt_goes_around_both_legs() {
    let skirt = SQUARES.replace("[0, 100, ", "[0, 40, ").replace("\"body\"", "\"leg\"");
    let (_, _, garment, bends) = wrapped(&skirt, 0.02);
    assert!(bends.iter().all(|bend| bend.curvature > 1.0), "{bends:?}");
    for group in &garment.panels {
        let across = group.vertices.clone().map(|vertex| garment.positions[vertex as usize][0]);
        let (low, high) = across.fold((0.0_f64, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
        assert!((low + high).abs() < 1e-9, "{} is from {low} to {high}", group.name);
    }
}

#[test]
fn sleeves_follow_arms_that_point_forwards() {
    let mut figure = figure();
    for (limb, _) in figure.iter_mut().filter(|(limb, _)| limb.label.starts_with("arm")) {
        limb.axis[1][2] = 0.2;
    }
    let shirt = BUILT_IN.iter().find(|built_in| built_in.name == "shirt").unwrap();
    let (pattern, flat, garment, bends) = wrapped_on(&figure, shirt.json, 0.02);
    let inside = |garment: &Garment, group: &PanelGroup| {
        let is_inside = |vertex: &u32| {
            let position = garment.positions[*vertex as usize];
            figure.iter().any(|(limb, radius)| distance_to_axis(position, limb.axis) < radius + 0.009)
        };
        group.vertices.clone().filter(is_inside).count()
    };
    assert!(flat.panels.iter().any(|group| inside(&flat, group) > 0), "the arms are where the sleeves are");
    for (panel, (group, bend)) in pattern.panels().iter().zip(garment.panels.iter().zip(&bends)) {
        assert_eq!(inside(&garment, group), 0, "{} {bend:?}", panel.name());
        // The arm rises by 0.2 m over its length of 0.61 m.
        let turned = if panel.label() == Some("arm") { 19.2 } else { 0.0 };
        assert!((bend.turned.to_degrees().abs() - turned).abs() < 0.1, "{} {bend:?}", panel.name());
    }
    assert_eq!(panels_that_cut(&garment), [] as [(String, String); 0]);
}

#[test]
fn without_limbs_nothing_moves() {
    let pattern = Pattern::from_json(BUILT_IN[1].json, &Default::default()).unwrap().pattern;
    let flat = pattern.assemble(&pattern.mesh(0.05).unwrap());
    let mut garment = flat.clone();
    let bends = pattern.wrap(&mut garment, &Body { positions: &[], triangles: &[], limbs: &[] }, 0.01);
    assert_eq!((garment, bends), (flat, vec![Bend::default(); 2]));
}
