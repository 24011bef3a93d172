//! Which joints move a vertex, and by how much.
//!
//! Levels and lengths along the arm give first shares, with smooth steps across every joint. Where the arm meets the torso they
//! jump; then all shares spread over the surface as heat does, a few centimetres far, so that skin bends and does not
//! fold. The four largest are kept.

use crate::shape::Shape;
use crate::skeleton::{ARM_LENGTHS, Joint};
use crate::vector::{Vec3, dot, smooth_step, sub};

/// Passes of spreading; each goes about as far as 0.6 of an edge, and their squares add.
const PASSES: usize = 36;

/// The joints that move a vertex, the strongest first, with their shares, whose sum is 1.
///
/// ```
/// use muslin_figure::{Figure, Joint};
///
/// let figure = Figure::new();
/// let top = (0..figure.skin().len()).max_by(|&a, &b| {
///     figure.rest_positions()[a][1].total_cmp(&figure.rest_positions()[b][1])
/// });
/// let skin = figure.skin()[top.unwrap()];
/// assert!(skin.joints[0] == Joint::Head && skin.shares[0] > 0.999);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Skin {
    /// Four joints; one with no share says nothing.
    pub joints: [Joint; 4],
    /// Their shares, none below 0.
    pub shares: [f64; 4],
}

type Shares = [f64; Joint::COUNT];

pub(crate) fn skin(shape: &Shape, positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Skin> {
    let rings = rings(positions.len(), triangles);
    let mut shares: Vec<Shares> = positions.iter().map(|&position| first_shares(shape, position)).collect();
    for _ in 0..PASSES {
        shares = (0..shares.len()).map(|vertex| spread(&shares, vertex, &rings[vertex])).collect();
    }
    shares.iter().map(strongest).collect()
}

/// Half of a vertex's own shares, half of the mean of its neighbours.
fn spread(shares: &[Shares], vertex: usize, ring: &[u32]) -> Shares {
    std::array::from_fn(|joint| {
        let sum: f64 = ring.iter().map(|&other| shares[other as usize][joint]).sum();
        0.5 * (shares[vertex][joint] + sum / ring.len() as f64)
    })
}

/// On a closed surface every neighbour follows the vertex in exactly one triangle.
fn rings(count: usize, triangles: &[[u32; 3]]) -> Vec<Vec<u32>> {
    let mut rings = vec![Vec::new(); count];
    for triangle in triangles {
        for k in 0..3 {
            rings[triangle[k] as usize].push(triangle[(k + 1) % 3]);
        }
    }
    rings
}

fn first_shares(shape: &Shape, position: Vec3) -> Shares {
    let frame = &shape.frame;
    let [x, y, z] = position.map(|coordinate| coordinate / frame.size);
    let mut shares = [0.0; Joint::COUNT];
    let mut give = |joint: Joint, share: f64| shares[(if x < 0.0 { joint.mirrored() } else { joint }).index()] += share;
    if shape.is_arm(position) {
        let along = dot(sub([x.abs() * frame.size, position[1], position[2]], frame.shoulder), frame.arm) / frame.size;
        let below_elbow = smooth_step(ARM_LENGTHS[0] - 0.05, ARM_LENGTHS[0] + 0.05, along);
        let hand = smooth_step(ARM_LENGTHS[1] - 0.03, ARM_LENGTHS[1] + 0.03, along);
        give(Joint::ShoulderLeft, 1.0 - below_elbow);
        give(Joint::ElbowLeft, below_elbow - hand);
        give(Joint::WristLeft, hand);
        return shares;
    }
    let above_legs = smooth_step(0.79, 0.95, y);
    let (above_ankle, above_knee) = (smooth_step(0.07, 0.13, y), smooth_step(0.41, 0.53, y));
    // In the groin both legs pull.
    let left = smooth_step(-0.04, 0.04, x.abs());
    for (joint, share) in [
        (Joint::AnkleLeft, 1.0 - above_ankle),
        (Joint::KneeLeft, above_ankle - above_knee),
        (Joint::HipLeft, above_knee - above_legs),
    ] {
        give(joint, share * left);
        give(joint.mirrored(), share * (1.0 - left));
    }
    let (spine, chest) = (smooth_step(0.94, 1.14, y), smooth_step(1.08, 1.26, y));
    let (neck, head) = (smooth_step(1.42, 1.51, y), smooth_step(1.53, 1.59, y + 0.3 * z));
    let collar = smooth_step(0.03, 0.15, x.abs()) * smooth_step(1.30, 1.40, y);
    give(Joint::Pelvis, above_legs * (1.0 - spine));
    give(Joint::Spine, spine - chest);
    give(Joint::Chest, (chest - neck).max(0.0) * (1.0 - collar));
    give(Joint::CollarLeft, (chest - neck).max(0.0) * collar);
    give(Joint::Neck, (neck - head).max(0.0));
    give(Joint::Head, head);
    shares
}

fn strongest(shares: &Shares) -> Skin {
    let mut order = Joint::ALL;
    order.sort_by(|a, b| shares[b.index()].total_cmp(&shares[a.index()]));
    let joints = [order[0], order[1], order[2], order[3]];
    let kept = joints.map(|joint| shares[joint.index()]);
    let sum: f64 = kept.iter().sum();
    Skin { joints, shares: kept.map(|share| share / sum) }
}
