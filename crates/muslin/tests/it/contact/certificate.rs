//! The certificate of the certificate against exact arithmetic: what it calls apart never touches; how often it says no in vain.

use muslin::contact::{is_certified, point_triangle, segment_segment};
use muslin::math::Vec3;
use rayon::prelude::*;

use crate::common::Random;
use crate::contact::exact_motion::{Truth, decide};

/// 10^x for a random x between.
fn power(random: &mut Random, low: f64, high: f64) -> f64 {
    libm::pow(10.0, low + (high - low) * random.unit())
}

fn weights(random: &mut Random) -> [f64; 3] {
    let [a, b, c] = [0; 3].map(|_: i32| 0.02 + random.unit());
    let sum = a + b + c;
    [a / sum, b / sum, c / sum]
}

type Query = ([Vec3<f64>; 4], [Vec3<f64>; 4]);

fn mix(a: Vec3<f64>, b: Vec3<f64>, t: f64) -> Vec3<f64> {
    a * (1.0 - t) + b * t
}

fn moved(random: &mut Random, x: [Vec3<f64>; 4], length: f64) -> Query {
    (x, x.map(|point| point + random.vector() * length))
}

fn anywhere(random: &mut Random, _: usize) -> Query {
    let (x, length) = ([0; 4].map(|_: i32| random.vector()), power(random, -2.0, 0.3));
    moved(random, x, length)
}

/// No vertex moves by half the distance.
fn small_steps(random: &mut Random, first_count: usize) -> Query {
    let x = [0; 4].map(|_: i32| random.vector());
    let [a, b, c, d] = x;
    let closest = if first_count == 1 { point_triangle(a, [b, c, d]) } else { segment_segment([a, b], [c, d]) };
    (x, x.map(|point| point + random.vector().normalized_or_zero() * (closest.distance * 0.499)))
}

/// Edges that stay parallel, or nearly; triangles that are needles.
fn parallel(random: &mut Random, _: usize) -> Query {
    let mut make = |offset: Vec3<f64>, along: Vec3<f64>| {
        let beside = [0.0, 1e-16, 1e-12, 1e-6][random.bits() as usize % 4];
        [0.0, 1.0, 0.3, 1.4]
            .map(|s| along * s + random.vector() * beside + if s == 0.3 || s == 1.4 { offset } else { Vec3::ZERO })
    };
    let (offset, along) = (make(Vec3::ZERO, Vec3::splat(0.2))[1], Vec3::new(0.3, -0.8, 0.5));
    let x = make(offset, along);
    let y = make(-offset * 0.5, along);
    if random.bits().is_multiple_of(2) { (x, y) } else { moved(random, x, 0.2) }
}

/// Everything stays in one plane.
fn coplanar(random: &mut Random, _: usize) -> Query {
    let axes = [(1.0, 1.0, 0.0), (1.0, -0.5, 0.75), (0.1, 0.7, 0.3)][random.bits() as usize % 3];
    let flat = |p: Vec3<f64>| Vec3::new(p.x, p.z * axes.1 * 0.5, p.z * axes.0);
    let (x, y) = anywhere(random, 0);
    (x.map(flat), y.map(flat))
}

/// Two points, one of each primitive, that meet at some time but for a little.
fn aimed(random: &mut Random, first_count: usize, miss: f64) -> Query {
    let (x, mut y) = anywhere(random, 0);
    let time = random.unit();
    let w = weights(random);
    let at = |k: usize, y: &[Vec3<f64>; 4]| mix(x[k], y[k], time);
    let gap = if first_count == 1 {
        at(1, &y) * w[0] + at(2, &y) * w[1] + at(3, &y) * w[2] - at(0, &y)
    } else {
        mix(at(2, &y), at(3, &y), w[0]) - mix(at(0, &y), at(1, &y), w[1])
    };
    let shift = (gap + random.vector() * miss) * (1.0 / time.max(0.01));
    y[..first_count].iter_mut().for_each(|point| *point += shift);
    (x, y)
}

fn hitting(random: &mut Random, first_count: usize) -> Query {
    aimed(random, first_count, 0.0)
}

/// Aimed at the border: a corner or an edge of the triangle, an end of an edge, missed by next to nothing.
fn grazing(random: &mut Random, first_count: usize) -> Query {
    let (x, mut y) = anywhere(random, 0);
    let time = 0.1 + 0.9 * random.unit();
    let goal = mix(
        mix(x[3], y[3], time),
        mix(x[2], y[2], time),
        if random.bits().is_multiple_of(2) { 0.0 } else { random.unit() },
    );
    let miss = power(random, -12.0, 0.3);
    let shift = (goal - mix(x[0], y[0], time) + random.vector() * miss) * (1.0 / time);
    y[..first_count].iter_mut().for_each(|point| *point += shift);
    (x, y)
}

fn fast(random: &mut Random, first_count: usize) -> Query {
    let (x, y) = if random.bits().is_multiple_of(2) { aimed(random, first_count, 1e-3) } else { anywhere(random, 0) };
    let speed = power(random, 1.0, 4.0);
    (x, [0, 1, 2, 3].map(|k| x[k] + (y[k] - x[k]) * speed))
}

fn scaled(query: Query, scale: f64, offset: Vec3<f64>) -> Query {
    (query.0.map(|point| point * scale + offset), query.1.map(|point| point * scale + offset))
}

fn of_three_kinds(random: &mut Random, first_count: usize) -> Query {
    let miss = power(random, -16.0, 0.0);
    match random.bits() % 3 {
        0 => anywhere(random, first_count),
        1 => nearly_touching(random, first_count),
        _ => aimed(random, first_count, miss),
    }
}

fn tiny(random: &mut Random, first_count: usize) -> Query {
    scaled(of_three_kinds(random, first_count), 1e-9, Vec3::ZERO)
}

/// Far off, where positions are 10⁻¹⁰ apart; some pairs are hardly larger than that.
fn huge(random: &mut Random, first_count: usize) -> Query {
    let query = of_three_kinds(random, first_count);
    let (size, offset) = (power(random, -9.0, 1.0), random.vector() * 1e6);
    scaled(query, size, offset)
}

/// A hair above each other, sliding, lifting, or going in by less than that.
fn nearly_touching(random: &mut Random, first_count: usize) -> Query {
    let up = random.vector().normalized_or_zero();
    let across = up.cross(random.vector()).normalized_or_zero();
    let along = up.cross(across);
    let mut in_plane = |size: f64| across * (random.signed() * size) + along * (random.signed() * size);
    let (gap, slide) = (1.0, [0; 4].map(|_: i32| in_plane(0.2)));
    let base = in_plane(0.3);
    let flat = if first_count == 1 {
        [base, along - across * 0.5, across, -along - across * 0.5]
    } else {
        [base - along, base + along, -across, across]
    };
    let lift = gap * power(random, -16.0, -4.0);
    let x = [0, 1, 2, 3].map(|k| flat[k] + if k < first_count { up * lift } else { Vec3::ZERO });
    (x, [0, 1, 2, 3].map(|k| x[k] + slide[k] + up * (lift * 0.6 * random.signed())))
}

/// Vertices in the same place, at either end of the step; coordinates on a coarse lattice.
fn degenerate(random: &mut Random, _: usize) -> Query {
    let mut lattice = || [0; 4].map(|_: i32| Vec3::from([0; 3].map(|_: i32| (random.bits() % 5) as f64 * 0.25)));
    (lattice(), lattice())
}

struct Class {
    name: &'static str,
    query: fn(&mut Random, usize) -> Query,
    /// Of those that are free, the part that is not certified, at most; for points and triangles, and for edges. What was
    /// measured, and three standard deviations of a sample of this size.
    in_vain: [f64; 2],
}

const CLASSES: &[Class] = &[
    Class { name: "anywhere", query: anywhere, in_vain: [0.06, 0.1] },
    Class { name: "small steps", query: small_steps, in_vain: [0.0, 0.0] },
    Class { name: "parallel", query: parallel, in_vain: [0.002, 0.42] },
    Class { name: "coplanar", query: coplanar, in_vain: [0.08, 0.145] },
    Class { name: "hitting", query: hitting, in_vain: [1.0, 1.0] },
    Class { name: "grazing", query: grazing, in_vain: [0.97, 0.97] },
    Class { name: "fast", query: fast, in_vain: [0.48, 0.6] },
    Class { name: "tiny", query: tiny, in_vain: [0.105, 0.13] },
    Class { name: "huge", query: huge, in_vain: [0.18, 0.29] },
    Class { name: "nearly touching", query: nearly_touching, in_vain: [0.11, 0.125] },
    Class { name: "degenerate", query: degenerate, in_vain: [0.65, 0.72] },
];

/// What became of the queries of a class.
#[derive(Default)]
struct Count {
    free: usize,
    contact: usize,
    undecided: usize,
    certified: usize,
}

fn count(class: &Class, first_count: usize, queries: usize) -> Count {
    let seed = class.name.bytes().fold(first_count as u64, |seed, byte| seed.wrapping_mul(257) + u64::from(byte));
    let mut random = Random::new(seed);
    let mut count = Count::default();
    for _ in 0..queries {
        let (start, end) = (class.query)(&mut random, first_count);
        let is_apart = is_certified(first_count == 1, start, end);
        // What is certified has to be decided; what is not is only counted.
        let truth = decide(start, end, first_count, if is_apart { 120 } else { 60 });
        let at = || format!("{}, {first_count} first: {start:?} to {end:?}", class.name);
        assert!(!is_apart || truth == Truth::Free, "{truth:?}, but certified: {}", at());
        count.free += usize::from(truth == Truth::Free);
        count.contact += usize::from(truth == Truth::Contact);
        count.undecided += usize::from(truth == Truth::Undecided);
        count.certified += usize::from(is_apart);
    }
    count
}

#[test]
fn what_is_certified_never_touches_in_exact_arithmetic() {
    const QUERIES: usize = 5000;
    let jobs: Vec<_> = CLASSES.iter().flat_map(|class| [(class, 1), (class, 2)]).collect();
    assert!(jobs.len() * QUERIES >= 100_000, "too few queries");
    let counts: Vec<_> = jobs.par_iter().map(|&(class, first_count)| count(class, first_count, QUERIES)).collect();
    let mut too_many = Vec::new();
    for (&(class, first_count), count) in jobs.iter().zip(&counts) {
        let in_vain = (count.free - count.certified) as f64 / count.free.max(1) as f64;
        println!(
            "{:16} {}: {} free, {} touch, {} too near to tell; {} certified, {in_vain:.4} in vain",
            class.name,
            ["point and triangle", "edges"][first_count - 1],
            count.free,
            count.contact,
            count.undecided,
            count.certified
        );
        if in_vain > class.in_vain[first_count - 1] {
            too_many.push((class.name, first_count, in_vain));
        }
    }
    assert!(too_many.is_empty(), "certified too few: {too_many:?}");
    let [free, contact] = [|c: &Count| c.free, |c: &Count| c.contact].map(|of| counts.iter().map(of).sum::<usize>());
    assert!(free > 50_000 && contact > 20_000, "{free} free and {contact} touching say little");
}
