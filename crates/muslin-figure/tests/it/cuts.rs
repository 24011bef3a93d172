//! Triangles of the surface that cut each other.

use muslin_figure::{Motion, Pose};

use super::{Vec3, cross, dot, figure, sub};

/// Pairs of triangles without a common vertex that cut each other.
pub(super) fn cuts(positions: &[Vec3], triangles: &[[u32; 3]]) -> usize {
    let corners = |triangle: &[u32; 3]| triangle.map(|vertex| positions[vertex as usize]);
    let side = 0.03;
    let cell = |position: Vec3| position.map(|x| (x / side).floor() as i32);
    // Every triangle in all cells that its bounds touch.
    let mut entries = Vec::new();
    for (index, triangle) in triangles.iter().enumerate() {
        let corners = corners(triangle);
        let bound =
            |pick: fn(f64, f64) -> f64| [0, 1, 2].map(|k| pick(pick(corners[0][k], corners[1][k]), corners[2][k]));
        let (low, high) = (cell(bound(f64::min)), cell(bound(f64::max)));
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for z in low[2]..=high[2] {
                    entries.push(([x, y, z], index as u32));
                }
            }
        }
    }
    entries.sort_unstable();
    let mut found = Vec::new();
    for same in entries.chunk_by(|a, b| a.0 == b.0) {
        for (k, &(_, first)) in same.iter().enumerate() {
            for &(_, second) in &same[k + 1..] {
                let [a, b] = [first, second].map(|index| triangles[index as usize]);
                if !a.iter().any(|vertex| b.contains(vertex)) && cut(corners(&a), corners(&b)) {
                    found.push((first, second));
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found.len()
}

/// Two triangles cut each other if an edge of one goes through the other.
fn cut(a: [Vec3; 3], b: [Vec3; 3]) -> bool {
    let pierces = |a: [Vec3; 3], b: [Vec3; 3]| (0..3).any(|k| through(a[k], a[(k + 1) % 3], b));
    pierces(a, b) || pierces(b, a)
}

/// Six times the signed volume of a tetrahedron.
fn volume(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> f64 {
    dot(sub(a, d), cross(sub(b, d), sub(c, d)))
}

fn through(p: Vec3, q: Vec3, [a, b, c]: [Vec3; 3]) -> bool {
    if (volume(a, b, c, p) > 0.0) == (volume(a, b, c, q) > 0.0) {
        return false;
    }
    let sides = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)].map(|volume| volume > 0.0);
    sides[0] == sides[1] && sides[1] == sides[2]
}

#[test]
fn two_triangles_that_cross_are_found() {
    let positions = [
        [0.0, 0.0, 0.0],
        [0.02, 0.0, 0.0],
        [0.0, 0.02, 0.0],
        [0.005, 0.005, -0.01],
        [0.005, 0.005, 0.01],
        [0.03, 0.03, 0.0],
    ];
    assert_eq!(cuts(&positions, &[[0, 1, 2], [3, 4, 5]]), 1);
    let apart = positions.map(|[x, y, z]| if z == 0.0 { [x, y, z] } else { [x + 0.02, y, z] });
    assert_eq!(cuts(&apart, &[[0, 1, 2], [3, 4, 5]]), 0);
}

#[test]
fn the_rest_pose_does_not_cut_itself() {
    assert_eq!(cuts(&figure().positions(&Pose::default()), figure().triangles()), 0);
}

#[test]
fn motions_do_not_make_the_surface_cut_itself() {
    for (name, motion, seconds) in
        [("walk", Motion::WALK, 1.7), ("turn", Motion::TURN, 0.5), ("arms_raised", Motion::ARMS_RAISED, 2.0)]
    {
        for frame in 0..=24 {
            let pose = motion.pose(figure(), seconds * f64::from(frame) / 24.0);
            assert_eq!(cuts(&figure().positions(&pose), figure().triangles()), 0, "{name}, frame {frame}");
        }
    }
}
