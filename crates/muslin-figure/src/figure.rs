//! The figure: a closed surface, its skeleton and its skin.

use crate::measures::{MeasureError, Measures};
use crate::net::surface_net;
use crate::pose::Pose;
use crate::shape::Shape;
use crate::skeleton::{Joint, Landmarks, Limb, landmarks, limbs, rest_joints};
use crate::skin::{Skin, skin};
use crate::surface::Half;
use crate::vector::{Vec3, add, scale, sub};

/// Sides of the cells of the first net at the drawn height, in m: a third of a hand's thickness, and others to fall back on.
const CELLS: [f64; 5] = [0.0125, 0.0121, 0.0117, 0.0109, 0.0103];

/// Edges that the triangles are to have at the drawn height, in m.
const EDGE: f64 = 0.0175;

/// A human figure that stands at the origin on y = 0 and faces +z, its arms about 40° below the level.
///
/// ```
/// use muslin_figure::{Figure, Motion};
///
/// let figure = Figure::new();
/// assert_eq!(figure.positions(&Default::default()), figure.rest_positions());
/// let frames = Motion::WALK.frames(&figure, 2.0, 24.0);
/// assert_eq!((frames.len(), frames[0].len()), (49, figure.rest_positions().len()));
/// ```
#[derive(Debug, Clone)]
pub struct Figure {
    measures: Measures,
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    skin: Vec<Skin>,
    joints: [Vec3; Joint::COUNT],
    limbs: [Limb; 6],
    landmarks: Landmarks,
    sole: Vec<u32>,
}

/// The net of the left half, from below its soles to above its head.
fn first_net(shape: &Shape, side: f64) -> Half {
    let size = shape.frame.size;
    // The sole is half-way between two sheets of nodes, so that no value of the field there is about zero.
    surface_net(shape, side, [-2.5 * side, -0.22 * size], [0.85 * size, 1.78 * size, 0.24 * size])
}

impl Default for Figure {
    fn default() -> Self {
        Self::made(Measures::default())
    }
}

impl Figure {
    /// The figure of the default measures.
    pub fn new() -> Self {
        Self::default()
    }

    /// A figure of other measures.
    ///
    /// # Errors
    ///
    /// If a measure is out of its [limits](Measures::LIMITS).
    pub fn to_measure(measures: Measures) -> Result<Self, MeasureError> {
        measures.check()?;
        Ok(Self::made(measures))
    }

    fn made(measures: Measures) -> Self {
        let shape = Shape::new(&measures);
        let size = shape.frame.size;
        // Where two sheets of the surface pass through one cell, as between thumb and hand, a net may touch itself. Other cells rarely do
        // so at the same place.
        let mut half = first_net(&shape, CELLS[0] * size);
        for cell in &CELLS[1..] {
            if half.is_manifold() {
                break;
            }
            half = first_net(&shape, cell * size);
        }
        half.remesh(&shape, EDGE * size);
        let (positions, triangles) = half.mirrored();
        let lowest = |&vertex: &u32| positions[vertex as usize][0] > 0.0 && positions[vertex as usize][1] < 0.05 * size;
        Self {
            sole: (0..positions.len() as u32).filter(lowest).collect(),
            measures,
            skin: skin(&shape, &positions, &triangles),
            positions,
            triangles,
            joints: rest_joints(&shape),
            limbs: limbs(&shape),
            landmarks: landmarks(&shape),
        }
    }

    /// What it was made to.
    pub fn measures(&self) -> Measures {
        self.measures
    }

    /// Its vertices in the rest pose, in m.
    pub fn rest_positions(&self) -> &[[f64; 3]] {
        &self.positions
    }

    /// Its triangles, counter-clockwise seen from outside. They are the same in every pose.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// For every vertex the joints that move it.
    pub fn skin(&self) -> &[Skin] {
        &self.skin
    }

    /// Where its joints are in the rest pose, in the order of [`Joint::ALL`], in m.
    pub fn rest_joints(&self) -> &[[f64; 3]; Joint::COUNT] {
        &self.joints
    }

    /// The axes of its limbs in the rest pose.
    pub fn limbs(&self) -> &[Limb; 6] {
        &self.limbs
    }

    /// Its levels in the rest pose.
    pub fn landmarks(&self) -> Landmarks {
        self.landmarks
    }

    /// The vertices of the lowest part of the left foot.
    pub(crate) fn sole(&self) -> &[u32] {
        &self.sole
    }

    /// Where its vertices are in a pose: linear blend skinning [Magnenat-Thalmann, Laperrière, Thalmann 1988].
    pub fn positions(&self, pose: &Pose) -> Vec<[f64; 3]> {
        let maps = pose.maps(&self.joints);
        let moved = |(&position, skin): (&Vec3, &Skin)| {
            // Sums of ways, not of places: the rest pose gives back the same bits.
            let way = |k: usize| scale(sub(maps[skin.joints[k].index()].apply(position), position), skin.shares[k]);
            (0..4).fold(position, |sum, k| add(sum, way(k)))
        };
        self.positions.iter().zip(&self.skin).map(moved).collect()
    }

    /// Where its joints are in a pose, in the order of [`Joint::ALL`], in m.
    pub fn joints_in(&self, pose: &Pose) -> [[f64; 3]; Joint::COUNT] {
        let maps = pose.maps(&self.joints);
        std::array::from_fn(|index| maps[index].apply(self.joints[index]))
    }
}
