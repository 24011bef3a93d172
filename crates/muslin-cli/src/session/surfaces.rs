//! The surfaces of colliders as they are drawn.

use muslin::contact::Collider;
use muslin::math::Vec3;
use muslin::model::Model;
use muslin::shape::{HalfSpace, Tessellation};
use muslin_render::Solid;

/// A collider that is no mesh: what it looks like in the initial state, and where its path has put it.
pub(super) struct Surface<'a> {
    collider: &'a Collider,
    half_space: Option<HalfSpace>,
    initial: Tessellation,
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
}

impl<'a> Surface<'a> {
    /// All of them, at the start.
    pub(super) fn of_model(model: &'a Model) -> Vec<Self> {
        let surface = |collider: &'a Collider| {
            let mut surface = Self {
                half_space: collider.shape.half_space(),
                initial: collider.shape.tessellation(),
                collider,
                positions: Vec::new(),
                normals: Vec::new(),
            };
            surface.place(0.0);
            surface
        };
        model.colliders.iter().map(surface).collect()
    }

    /// Puts it where it is at `time`, in s.
    pub(super) fn place(&mut self, time: f64) {
        let pose = self.collider.motion.pose(time);
        let single = |v: Vec3<f64>| v.cast::<f32>().to_array();
        self.positions.clear();
        self.positions.extend(self.initial.positions.iter().map(|&p| single(pose.apply(p.into()))));
        self.normals.clear();
        self.normals.extend(self.initial.normals.iter().map(|&n| single(pose.turn(n.into()))));
        self.half_space = self
            .collider
            .shape
            .half_space()
            .map(|HalfSpace { point, normal }| HalfSpace { point: pose.apply(point), normal: pose.turn(normal) });
    }

    pub(super) fn solid(&self) -> Solid<'_> {
        match self.half_space {
            Some(HalfSpace { point, normal }) => Solid::Plane { point: point.to_array(), normal: normal.to_array() },
            None => Solid::Surface {
                positions: &self.positions,
                normals: &self.normals,
                triangles: &self.initial.triangles,
            },
        }
    }
}
