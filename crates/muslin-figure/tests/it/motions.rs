//! Motions: where they begin, how fast they are, where the feet are.

use muslin_figure::{Figure, Joint, Measures, Motion, Pose};

use super::{distance, figure};

const MOTIONS: [(&str, Motion); 5] = [
    ("still", Motion::Still),
    ("walk", Motion::WALK),
    ("walk forward", Motion::Walk { speed: Motion::TOP_SPEED, in_place: false }),
    ("turn", Motion::TURN),
    ("arms_raised", Motion::ARMS_RAISED),
];

#[test]
fn motions_begin_at_rest() {
    for (name, motion) in MOTIONS {
        assert_eq!(motion.pose(figure(), 0.0), Pose::default(), "{name}");
        let frames = motion.frames(figure(), 0.01, 100.0);
        let speed = frames[0].iter().zip(&frames[1]).map(|(a, b)| distance(a.map(f64::from), b.map(f64::from)) / 0.01);
        let fastest = speed.fold(0.0, f64::max);
        assert!(fastest < 0.05, "{name}: {fastest} m/s in the first 10 ms");
    }
}

#[test]
fn no_vertex_is_faster_than_six_metres_a_second() {
    for (name, motion) in MOTIONS {
        let rate = 120.0;
        let frames = motion.frames(figure(), 4.4, rate);
        assert_eq!(frames.len(), 529);
        let mut fastest = 0.0_f64;
        for pair in frames.windows(2) {
            for (a, b) in pair[0].iter().zip(&pair[1]) {
                fastest = fastest.max(distance(a.map(f64::from), b.map(f64::from)) * rate);
            }
        }
        println!("{name}: {fastest} m/s");
        assert!(fastest < 6.0, "{name}: {fastest} m/s");
    }
}

#[test]
fn velocities_do_not_jump() {
    for (name, motion) in MOTIONS {
        let step = 1e-3;
        let joints = |k: i32| figure().joints_in(&motion.pose(figure(), f64::from(k) * step));
        let mut before = joints(0);
        let mut speeds = [[0.0; 3]; Joint::COUNT];
        for k in 1..=4400 {
            let now = joints(k);
            for index in 0..Joint::COUNT {
                let speed = [0, 1, 2].map(|axis| (now[index][axis] - before[index][axis]) / step);
                let jump = distance(speed, speeds[index]);
                assert!(jump < 0.5, "{name}: {} by {jump} m/s at {} s", Joint::ALL[index].name(), f64::from(k) * step);
                speeds[index] = speed;
            }
            before = now;
        }
    }
}

#[test]
fn feet_stay_above_the_floor() {
    let small = Figure::to_measure(Measures { height: 1.55, ..Measures::default() }).unwrap();
    for figure in [figure(), &small] {
        let rest = figure.rest_positions().iter().map(|position| position[1]).fold(f64::INFINITY, f64::min);
        for (name, motion) in MOTIONS {
            for k in 0..132 {
                let positions = figure.positions(&motion.pose(figure, f64::from(k) / 60.0));
                let lowest = positions.iter().map(|position| position[1]).fold(f64::INFINITY, f64::min);
                assert!(lowest > rest - 1e-3, "{name}: {lowest} m in frame {k}");
                assert!(lowest < rest + 0.02, "{name}: in the air by {lowest} m in frame {k}");
            }
        }
    }
}

/// Between heel strike and lift-off a foot of a walk stays where it is.
#[test]
fn a_standing_foot_does_not_slip() {
    let motion = Motion::Walk { speed: 0.9, in_place: false };
    let ankle = |time: f64| figure().joints_in(&motion.pose(figure(), time))[Joint::AnkleLeft.index()];
    // The left foot is flat from 0.13 to 0.38 of its cycle of 1.1 s; its second step begins at 0.73 of it.
    let (first, last) = (1.1 * (1.0 - 0.27 + 0.15), 1.1 * (1.0 - 0.27 + 0.36));
    let way = distance(ankle(first), ankle(last));
    assert!(way < 0.01, "{way} m");
}

#[test]
fn a_walk_covers_ground() {
    let motion = Motion::Walk { speed: 0.9, in_place: false };
    let [_, _, z] = motion.pose(figure(), 3.0).translation;
    assert!((z - 0.9 * 2.75).abs() < 1e-12, "{z} m");
}

#[test]
fn a_turn_comes_back() {
    let there = figure().positions(&Motion::TURN.pose(figure(), 4.0));
    let farthest = there.iter().zip(figure().rest_positions()).map(|(a, b)| distance(*a, *b)).fold(0.0, f64::max);
    assert!(farthest < 1e-12, "{farthest} m");
    let half = figure().joints_in(&Motion::TURN.pose(figure(), 2.0))[Joint::WristLeft.index()];
    assert!(half[0] < -0.5, "{half:?}");
}

#[test]
fn arms_go_up_to_150_degrees() {
    let joints = figure().joints_in(&Motion::ARMS_RAISED.pose(figure(), 2.0));
    let [shoulder, wrist] = [Joint::ShoulderLeft, Joint::WristLeft].map(|joint| joints[joint.index()]);
    let from_hanging = libm::atan2(wrist[0] - shoulder[0], shoulder[1] - wrist[1]).to_degrees();
    assert!((from_hanging - 150.0).abs() < 0.5, "{from_hanging}°");
}

#[test]
fn strange_numbers_do_no_harm() {
    assert_eq!(Motion::WALK.frames(figure(), f64::NAN, 24.0).len(), 1);
    assert_eq!(Motion::WALK.frames(figure(), 1.0, f64::INFINITY).len(), 1);
    for motion in [Motion::Walk { speed: f64::NAN, in_place: false }, Motion::Turn { seconds: -1.0 }] {
        let positions = figure().positions(&motion.pose(figure(), 0.7));
        assert!(positions.iter().flatten().all(|x| x.is_finite()), "{motion:?}");
    }
}
