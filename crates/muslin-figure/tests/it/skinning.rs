//! Weights, and what they do to the surface.

use muslin_figure::{Joint, Pose, Rotation};

use super::{cross, distance, dot, figure, sub};

#[test]
fn shares_are_sorted_and_sum_to_one() {
    for skin in figure().skin() {
        assert!((skin.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{skin:?}");
        assert!(skin.shares.is_sorted_by(|a, b| a >= b) && skin.shares[3] >= 0.0, "{skin:?}");
    }
}

#[test]
fn shares_change_little_from_vertex_to_vertex() {
    let share = |vertex: u32, joint: Joint| {
        let skin = &figure().skin()[vertex as usize];
        skin.joints.iter().position(|&other| other == joint).map_or(0.0, |k| skin.shares[k])
    };
    for &[a, b, _] in figure().triangles() {
        for joint in Joint::ALL {
            let jump = (share(a, joint) - share(b, joint)).abs();
            assert!(jump < 0.25, "{} jumps by {jump} at {:?}", joint.name(), figure().rest_positions()[a as usize]);
        }
    }
}

#[test]
fn the_rest_pose_is_the_identity() {
    assert_eq!(figure().positions(&Pose::default()), figure().rest_positions());
    assert_eq!(figure().joints_in(&Pose::default()), *figure().rest_joints());
}

#[test]
fn turning_the_pelvis_turns_all_of_it() {
    let turn = Rotation::about([0.3, 1.0, -0.2], 1.0);
    let mut pose = Pose { translation: [0.1, 0.2, 0.3], ..Pose::default() };
    pose.turn(Joint::Pelvis, turn);
    let center = figure().rest_joints()[Joint::Pelvis.index()];
    for (rest, moved) in figure().rest_positions().iter().zip(figure().positions(&pose)) {
        let turned = turn.apply(sub(*rest, center));
        let expected = [0, 1, 2].map(|k| turned[k] + center[k] + pose.translation[k]);
        assert!(distance(moved, expected) < 1e-12, "{rest:?}");
    }
}

#[test]
fn a_bent_elbow_moves_the_hand_and_nothing_else() {
    let mut pose = Pose::default();
    pose.turn(Joint::ElbowLeft, Rotation::about([-0.643, -0.766, 0.0], 1.0));
    for (rest, moved) in figure().rest_positions().iter().zip(figure().positions(&pose)) {
        let way = distance(*rest, moved);
        assert!(if rest[0] > 0.55 { way > 0.1 } else { rest[0] > 0.3 || way < 2e-3 }, "{rest:?} moves by {way}");
    }
}

#[test]
fn mirrored_joints_mirror_their_places() {
    for joint in Joint::ALL {
        let [x, y, z] = figure().rest_joints()[joint.index()];
        let expected = [-x, y, z];
        assert!(distance(figure().rest_joints()[joint.mirrored().index()], expected) < 1e-15, "{}", joint.name());
        assert!(joint.parent().is_none_or(|parent| parent < joint), "{}", joint.name());
    }
}

#[test]
fn rotations_compose() {
    let (a, b) = (Rotation::about([1.0, 2.0, 3.0], 0.7), Rotation::about([0.0, 1.0, -1.0], -1.2));
    let vector = [0.3, -0.4, 0.5];
    assert!(distance(a.then(&b).apply(vector), b.apply(a.apply(vector))) < 1e-15, "order");
    assert!(distance(a.then(&a.inverse()).apply(vector), vector) < 1e-15, "inverse");
    let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| a.apply(axis));
    assert!((dot(cross(x, y), z) - 1.0).abs() < 1e-15, "handedness");
}
