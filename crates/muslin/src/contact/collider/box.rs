//! A box, turned in any way.
//!
//! ```text
//!   edge │   face    │ edge        b = |R⁻¹(x − c)| − size/2   how far beyond each face
//!   ─────┼───────────┼─────        beyond one face or none:  d = max b
//!        │  inside   │ face        beyond two or three:      d = ‖max(b, 0)‖
//! ```

use crate::contact::collider::{BuiltIn, Posed};
use crate::math::{Mat3, Vec3};
use crate::mesh::Bounds;
use crate::motion::Pose;
use crate::parameter::{Entry, Kind, Parameter, Setting, Settings};
use crate::shape::{Probe, Shape, Tessellation};

/// A box, turned in any way.
///
/// ```
/// use muslin::contact::Cuboid;
/// use muslin::math::Vec3;
/// use muslin::shape::Shape;
///
/// let body = Cuboid { center: [0.0; 3], size: [1.0, 2.0, 1.0], rotate: [0.0; 3] };
/// assert_eq!(body.probe(Vec3::new(0.0, 1.5, 0.0)).distance, 0.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuboid {
    /// Centre, in m.
    pub center: [f64; 3],
    /// Full extents along its own axes, in m.
    pub size: [f64; 3],
    /// Degrees about x, then y, then z.
    pub rotate: [f64; 3],
}

/// A [`Cuboid`] in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PosedCuboid {
    center: Vec3<f64>,
    /// Its own axes, as unit vectors.
    axes: [Vec3<f64>; 3],
    /// Half the extent along each axis.
    half: Vec3<f64>,
}

impl BuiltIn for Cuboid {
    type Posed = PosedCuboid;

    const ENTRY: Entry = Entry {
        name: "box",
        summary: "a box, turned in any way",
        source: "",
        parameters: &[
            Parameter { name: "center", unit: "m", kind: Kind::Point, default: None, meaning: "its middle" },
            Parameter {
                name: "size",
                unit: "m",
                kind: Kind::Vector { min: 1e-6, max: 1e6 },
                default: None,
                meaning: "its full extents",
            },
            Parameter {
                name: "rotate",
                unit: "degrees",
                kind: Kind::Vector { min: -1e6, max: 1e6 },
                default: Some(Setting::Vector([0.0; 3])),
                meaning: "about x, then y, then z",
            },
        ],
        one_of: &[],
    };

    const EXAMPLE: Self = Self { center: [0.0, 0.5, 0.0], size: [1.0; 3], rotate: [0.0; 3] };

    fn read(settings: &Settings) -> Option<Self> {
        let [center, size, rotate] = ["center", "size", "rotate"].map(|key| settings.vector(key));
        Some(Self { center: center?, size: size?, rotate: rotate? })
    }

    fn settings(&self) -> Settings {
        Settings::from_iter([
            ("center", self.center.into()),
            ("size", self.size.into()),
            ("rotate", self.rotate.into()),
        ])
    }

    fn placed(&self) -> PosedCuboid {
        PosedCuboid {
            center: self.center.into(),
            axes: Mat3::from_degrees_xyz(self.rotate).transposed().0.map(Vec3::from),
            half: Vec3::from(self.size) * 0.5,
        }
    }
}

impl Shape for Cuboid {
    fn probe(&self, p: Vec3<f64>) -> Probe {
        self.placed().probe(p)
    }

    fn bounds(&self) -> Bounds {
        let PosedCuboid { center, axes, half } = self.placed();
        let parts = axes.into_iter().zip(half.to_array()).map(|(axis, half)| axis * half);
        let reach = parts.fold(Vec3::ZERO, |sum, part| sum + Vec3::new(part.x.abs(), part.y.abs(), part.z.abs()));
        Bounds { min: (center - reach).to_array(), max: (center + reach).to_array() }
    }

    fn center(&self) -> Vec3<f64> {
        self.center.into()
    }

    fn tessellation(&self) -> Tessellation {
        // Light varies from vertex to vertex, so a face has some in its middle.
        const CELLS: usize = 12;
        let PosedCuboid { center, axes, half } = self.placed();
        let edges: [Vec3<f64>; 3] = std::array::from_fn(|i| axes[i] * half.to_array()[i]);
        // The same sum for every face, so that faces meet to the bit.
        let place = |at: [f64; 3]| center + edges[0] * at[0] + edges[1] * at[1] + edges[2] * at[2];
        let mut surface = Tessellation::default();
        for (axis, side) in (0..3).flat_map(|axis| [-1.0, 1.0].map(|side| (axis, side))) {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            // To the bit the negative of what is opposite.
            let at = |i: usize| (2.0 * i as f64 - CELLS as f64) / CELLS as f64;
            surface.lattice(CELLS, CELLS, |row, column| {
                let mut corner = [side; 3];
                // u × v points along the axis; on the other side rows go the other way.
                corner[u] = side * at(column);
                corner[v] = at(row);
                (place(corner), axes[axis] * side)
            });
        }
        surface
    }

    fn described(&self) -> Option<(&'static Entry, Settings)> {
        Some((&Self::ENTRY, self.settings()))
    }
}

impl Posed for PosedCuboid {
    fn posed(&self, pose: &Pose) -> Self {
        Self { center: pose.apply(self.center), axes: self.axes.map(|axis| pose.turn(axis)), half: self.half }
    }

    fn largest_displacement(&self, other: &Self) -> f64 {
        let Self { center, axes, half } = self;
        let turns = axes.iter().zip(&other.axes).zip(half.to_array()).map(|((a, b), half)| (*b - *a).norm() * half);
        (other.center - *center).norm() + turns.sum::<f64>()
    }

    #[inline]
    fn probe_within(&self, p: Vec3<f64>, reach: f64) -> Option<Probe> {
        let (d, axes, half) = (p - self.center, &self.axes, self.half.to_array());
        let local = [axes[0].dot(d), axes[1].dot(d), axes[2].dot(d)];
        // Beyond each face; negative = inside of it.
        let beyond: [f64; 3] = std::array::from_fn(|i| local[i].abs() - half[i]);
        let mut farthest = if beyond[1] > beyond[0] { 1 } else { 0 };
        farthest = if beyond[2] > beyond[farthest] { 2 } else { farthest };
        if beyond[farthest] > reach {
            return None;
        }
        let out = |i: usize| if local[i] < 0.0 { -axes[i] } else { axes[i] };
        let faces_beyond = beyond.iter().filter(|b| **b > 0.0).count();
        if faces_beyond <= 1 {
            // Inside, or over the middle of a face.
            return Some(Probe { distance: beyond[farthest], normal: out(farthest) });
        }
        let outside = (0..3).fold(Vec3::ZERO, |sum, i| sum + out(i) * beyond[i].max(0.0));
        let distance = outside.norm();
        (distance <= reach).then(|| Probe { distance, normal: outside * (1.0 / distance) })
    }
}
