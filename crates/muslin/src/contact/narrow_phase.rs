//! Narrow phase: candidate pairs that are, or would come, nearer than their thickness become contacts.
//!
//! Closest points are found of four pairs at a time. A lane has the bits of a pair alone, so who stands beside whom decides nothing.

use crate::contact::response::pair_projection::PairContact;
use crate::contact::{Closest, is_beyond};
use crate::math::Vec3;
use crate::model::Model;

/// A step, to look for contacts in.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    pub(crate) model: &'a Model,
    /// Positions at the start and at the end, in m.
    pub(crate) start: &'a [Vec3<f64>],
    pub(crate) end: &'a [Vec3<f64>],
    /// In 1/kg; zero for what is led.
    pub(crate) inverse_masses: &'a [f64],
}

/// The contacts among some pairs.
#[derive(Default)]
pub(crate) struct Contacts {
    /// Those of a vertex and a triangle, then those of two edges.
    pub(crate) all: Vec<PairContact>,
    face_count: usize,
    /// The directions of the closest points at the start, pair by pair; not numbers where they were not needed.
    pub(crate) normals: Vec<Vec3<f64>>,
    /// Pairs that are not far apart, by their place among those that are looked at.
    near: Vec<u32>,
    /// Pairs that are or come too near along the direction of the start.
    nearer: Vec<Nearer>,
}

/// A pair whose closest points at the end are to be found.
struct Nearer {
    vertices: [u32; 4],
    /// At the start.
    closest: Closest,
    thickness: f64,
}

impl Contacts {
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.face_count = 0;
        self.normals.clear();
    }

    /// All contacts, each with the number of its vertices that are the first's.
    pub(crate) fn with_first_counts(&self) -> impl Iterator<Item = (&PairContact, usize)> {
        let (faces, edges) = self.all.split_at(self.face_count);
        faces.iter().map(|contact| (contact, 1)).chain(edges.iter().map(|contact| (contact, 2)))
    }

    /// Adds those of some pairs, of which the first `FIRST` vertices are the first's.
    pub(crate) fn add<const FIRST: usize>(&mut self, step: Step<'_>, pairs: &[[u32; 4]]) {
        let begin = self.normals.len();
        self.normals.resize(begin + pairs.len(), Vec3::splat(f64::NAN));
        let thickness = step.model.thickness;
        // Most pairs are far apart along an axis.
        let is_near = |vertices| {
            !(is_beyond::<FIRST>(&step.starts(vertices), thickness)
                && is_beyond::<FIRST>(&step.ends(vertices), thickness))
        };
        self.near.clear();
        self.near.extend((0_u32..).zip(pairs).filter(|(_, vertices)| is_near(**vertices)).map(|(place, _)| place));
        self.nearer.clear();
        for places in self.near.chunks(4) {
            let closest = Closest::of_each::<FIRST>(four(places, |place| step.starts(pairs[*place as usize])));
            for (&place, closest) in places.iter().zip(&closest) {
                self.normals[begin + place as usize] = closest.normal;
                self.nearer.extend(step.nearer::<FIRST>(pairs[place as usize], closest));
            }
        }
        for pairs in self.nearer.chunks(4) {
            let ends = Closest::of_each::<FIRST>(four(pairs, |pair| step.ends(pair.vertices)));
            self.all.extend(pairs.iter().zip(&ends).filter_map(|(pair, end)| step.contact::<FIRST>(pair, end)));
        }
        if FIRST == 1 {
            self.face_count = self.all.len();
        }
    }
}

/// Something of each of up to four items; the last stands for those that are missing.
#[inline]
fn four<T, U>(items: &[T], of: impl Fn(&T) -> U) -> [U; 4] {
    std::array::from_fn(|lane| of(&items[lane.min(items.len() - 1)]))
}

/// Σ wᵢ xᵢ.
#[inline]
fn along(x: &[Vec3<f64>; 4], weights: &[f64; 4]) -> Vec3<f64> {
    (0..4).fold(Vec3::ZERO, |sum, k| sum + x[k] * weights[k])
}

impl Step<'_> {
    #[inline]
    fn starts(&self, vertices: [u32; 4]) -> [Vec3<f64>; 4] {
        vertices.map(|vertex| self.start[vertex as usize])
    }

    #[inline]
    fn ends(&self, vertices: [u32; 4]) -> [Vec3<f64>; 4] {
        vertices.map(|vertex| self.end[vertex as usize])
    }

    /// A pair, if it is or comes too near along the direction of the start.
    #[inline]
    fn nearer<const FIRST: usize>(&self, vertices: [u32; 4], closest: &Closest) -> Option<Nearer> {
        let end = closest.normal.dot(along(&self.ends(vertices), &closest.weights));
        let is_near = |thickness: f64| closest.distance < thickness || end < thickness;
        if !is_near(self.model.thickness) {
            return None;
        }
        let thickness = self.model.pair_thickness::<FIRST>(vertices);
        is_near(thickness).then_some(Nearer { vertices, closest: *closest, thickness })
    }

    /// The same as a contact, if it is one with the closest points at the end.
    #[inline]
    fn contact<const FIRST: usize>(&self, pair: &Nearer, end: &Closest) -> Option<PairContact> {
        let &Nearer { vertices, ref closest, thickness } = pair;
        let x = self.starts(vertices);
        // Where the direction at the end separates the two at the start as well, nothing has passed through anything, and it is the better
        // one: seen from the start, what slides over an edge between two triangles runs against the second of them.
        let separates = (0..FIRST).all(|i| (FIRST..4).all(|j| end.normal.dot(x[i] - x[j]) > 0.0));
        let is_end_better = separates && end.distance > 0.0;
        if is_end_better && end.distance >= thickness {
            return None;
        }
        let closest = if is_end_better { end } else { closest };
        Some(PairContact::new(
            vertices,
            closest,
            along(&x, &closest.weights),
            vertices.map(|v| self.inverse_masses[v as usize]),
            thickness,
            friction(self.model, vertices),
        ))
    }
}

/// Coulomb's μ of a pair: that of the body, or of cloth on cloth.
fn friction(model: &Model, vertices: [u32; 4]) -> f64 {
    let last = vertices.into_iter().fold(0, u32::max);
    let of_cloth = || model.self_contact.as_ref().map_or(0.0, |rules| rules.friction);
    model.body_of(last as usize).map_or_else(of_cloth, |body| body.friction)
}
