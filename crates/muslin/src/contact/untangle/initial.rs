//! Check of the start of a run: no triangles cut each other, and nothing touches.
//!
//! The guarantee of [`Truncation`](crate::contact::Truncation) is one of steps: what is apart stays apart. So a cloth that cuts itself, another or a mesh at
//! the start would do so for ever, held in place by the same rule that keeps others from it. And what touches is on neither side
//! of the other: nothing says on which it should stay.
//!
//! Cloth with cloth matters where there is self-contact, cloth with bodies that are meshes always. A scene may ask for such a start to
//! be [untangled](crate::description::Start); else it is refused.

use crate::contact::{Pair, extent, rounding};
use crate::description;
use crate::description::Problems;
use crate::math::Vec3;
use crate::model::Model;

/// So many are named; the rest is counted.
const NAMED: usize = 4;

/// Looks at the start of a model, which is refused, or will be untangled, if anything is wrong with it.
pub(crate) fn check(model: &mut Model, rule: description::Start, problems: &mut Problems) {
    let contact = model.self_contact.is_some() || !model.bodies.is_empty();
    if rule == description::Start::Untangle && !contact {
        let message = "has nothing to do: there is neither self-contact nor a collider that is a mesh";
        problems.warning("contact.start", message);
    }
    let clashes = Start::look(model).clashes();
    model.is_tangled = rule == description::Start::Untangle && !clashes.is_empty();
    for clash in clashes {
        match rule {
            description::Start::Error => clash.refuse(problems),
            description::Start::Untangle => {
                problems.warning(clash.place, format!("{}; untangled as the run goes", clash.what));
            }
        }
    }
}

/// What is wrong with vertices at x at a time, as at the start of a run: the first of it, in words.
pub(crate) fn clash_at(model: &Model, x: &[Vec3<f64>], time: f64) -> Option<String> {
    let clash = Start::look_at(model, x, time).clashes().into_iter().next()?;
    Some(format!("{}: {}", clash.place, clash.what.replace(" at the start", "")))
}

/// Something that is wrong with a start.
pub(crate) struct Clash {
    place: String,
    what: String,
    remedy: &'static str,
}

impl Clash {
    pub(crate) fn refuse(self, problems: &mut Problems) {
        problems.error(self.place, format!("{}; {}", self.what, self.remedy));
    }
}

/// Whose a triangle is.
pub(crate) enum Owner {
    Cloth(usize),
    Body(usize),
}

/// The start of a model.
pub(crate) struct Start<'a> {
    model: &'a Model,
    /// Triangles that cut each other, the lesser number first, sorted. Numbers are those of [`Model::surface_triangles`].
    cuts: Vec<[u32; 2]>,
    /// Pairs that touch, sorted; not looked for where anything cuts.
    touches: Vec<Pair>,
    /// Distance that counts as touching, in m.
    radius: f64,
}

impl<'a> Start<'a> {
    pub(crate) fn look(model: &'a Model) -> Self {
        Self::look_at(model, &model.initial_positions, 0.0)
    }

    /// The same with the vertices at x, in m, at a time, in s.
    fn look_at(model: &'a Model, x: &[Vec3<f64>], time: f64) -> Self {
        let mut start = Self { model, cuts: Vec::new(), touches: Vec::new(), radius: 0.0 };
        if model.self_contact.is_none() && model.bodies.is_empty() {
            return start;
        }
        let add = |i: usize, j: usize| start.cuts.push([i.min(j) as u32, i.max(j) as u32]);
        model.for_each_cut(x, time, model.self_contact.is_some(), add);
        start.cuts.sort_unstable();
        // Two places this near may be one when both are written in single precision.
        start.radius = 2.0 * rounding(extent(x));
        if start.cuts.is_empty() {
            // A distance is looked for that is less than another.
            let reach = start.radius * (1.0 + f64::EPSILON) + f64::MIN_POSITIVE;
            model.for_each_near((x, time), reach, |pair, _| start.touches.push(pair));
            start.touches.sort_unstable_by_key(|pair| pair_key(*pair));
        }
        start
    }

    /// Every triangle that cuts or touches another, rising.
    pub(crate) fn triangles(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.cuts.iter().flatten().copied().collect();
        let sorted = |mut vertices: Vec<u32>| {
            vertices.sort_unstable();
            vertices
        };
        let parts = self.touches.iter().flat_map(|pair| match *pair {
            Pair::VertexTriangle([a, b, c, d]) => [vec![a], sorted(vec![b, c, d])],
            Pair::EdgeEdge([a, b, c, d]) => [sorted(vec![a, b]), sorted(vec![c, d])],
        });
        let mut parts: Vec<Vec<u32>> = parts.collect();
        parts.sort_unstable();
        for (number, triangle) in self.model.surface_triangles().iter().enumerate() {
            let [a, b, c] = *triangle;
            let has = |part: Vec<u32>| parts.binary_search(&sorted(part)).is_ok();
            if [vec![a], vec![b], vec![c], vec![a, b], vec![b, c], vec![c, a], vec![a, b, c]].into_iter().any(has) {
                all.push(number as u32);
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    pub(crate) fn clashes(&self) -> Vec<Clash> {
        let of_cloths = self.cloths_cut().or_else(|| self.cloths_touch());
        let bodies = 0..self.model.bodies.len();
        bodies.filter_map(|body| self.body_cuts(body).or_else(|| self.body_touches(body))).chain(of_cloths).collect()
    }

    fn cloths_cut(&self) -> Option<Clash> {
        let cloth = self.model.triangles.len() as u32;
        let pairs: Vec<[u32; 2]> = self.cuts.iter().copied().filter(|pair| pair[1] < cloth).collect();
        let (first, count) = (pairs.first()?, pairs.len());
        let named: Vec<String> = pairs.iter().take(NAMED).map(|pair| self.model.name_triangles(*pair)).collect();
        let cut = if count == 1 { "pair" } else { "pairs" };
        let what = format!(
            "{count} {cut} of triangles cut each other at the start, and contact.self_contact keeps apart only what is apart: {}{}",
            named.join("; "),
            and_more(count - named.len())
        );
        let place = format!("cloth[{}]", self.model.cloth_of(self.model.triangles[first[1] as usize][0]));
        let remedy =
            "move the cloths, mend the mesh, set contact.start = \"untangle\", or set contact.self_contact = false";
        Some(Clash { place, what, remedy })
    }

    fn cloths_touch(&self) -> Option<Clash> {
        let cloth = self.model.masses.len() as u32;
        let pairs: Vec<Pair> =
            self.touches.iter().copied().filter(|pair| pair_key(*pair).1.iter().all(|v| *v < cloth)).collect();
        let (first, count) = (pair_key(*pairs.first()?), pairs.len());
        let other = if first.0 { first.1[2] } else { first.1[1] };
        let name = |pair: &Pair| match *pair {
            Pair::VertexTriangle([a, b, c, d]) => {
                format!("{} and the triangle of vertices {}", self.name_vertices(&[a]), self.name_vertices(&[b, c, d]))
            }
            Pair::EdgeEdge([a, b, c, d]) => {
                format!("the edges of vertices {} and {}", self.name_vertices(&[a, b]), self.name_vertices(&[c, d]))
            }
        };
        let named: Vec<String> = pairs.iter().take(NAMED).map(name).collect();
        let what = format!(
            "{count} {} at the start (nearer than {:.1e} m), and contact.self_contact keeps apart only what is apart: {}{}",
            if count == 1 { "pair touches" } else { "pairs touch" },
            self.radius,
            named.join("; "),
            and_more(count - named.len())
        );
        let place = format!("cloth[{}]", self.model.cloth_of(first.1[0].max(other)));
        let remedy = "move the cloths apart, join the vertices of a seam in the mesh, set contact.start = \"untangle\", or set \
                      contact.self_contact = false";
        Some(Clash { place, what, remedy })
    }

    fn body_cuts(&self, body: usize) -> Option<Clash> {
        let model = self.model;
        let of_body = |pair: &&[u32; 2]| match model.owner_of_triangle(pair[1]) {
            (Owner::Body(other), _) => other == body,
            _ => false,
        };
        let mut pairs = self.cuts.iter().filter(of_body);
        let &[triangle, other] = pairs.next()?;
        let (Owner::Cloth(cloth), own) = model.owner_of_triangle(triangle) else { return None };
        let other = model.owner_of_triangle(other).1;
        let more = pairs.count();
        let more = if more > 0 { format!(", and {more} more pairs do") } else { String::new() };
        let name = &model.cloths[cloth].name;
        Some(Clash {
            place: format!("collider[{}].mesh", model.bodies[body].index),
            what: format!("its triangle {other} cuts triangle {own} of cloth \"{name}\" at the start{more}"),
            remedy: "move one of them, or set contact.start = \"untangle\"",
        })
    }

    fn body_touches(&self, body: usize) -> Option<Clash> {
        let (model, body) = (self.model, &self.model.bodies[body]);
        let vertices = self.touches.iter().map(|pair| pair_key(*pair).1);
        let mut of_body = vertices.filter(|pair| pair.iter().any(|&v| body.vertices.contains(&(v as usize))));
        let vertex = of_body.next()?.into_iter().find(|&v| (v as usize) < model.masses.len())?;
        let (name, vertex) = model.user_vertex(vertex as usize);
        Some(Clash {
            place: format!("collider[{}].mesh", body.index),
            what: format!("it touches cloth \"{name}\" at the start, at vertex {vertex}"),
            remedy: "move one of them a little, or set contact.start = \"untangle\"",
        })
    }

    fn name_vertices(&self, vertices: &[u32]) -> String {
        let numbers: Vec<String> = vertices.iter().map(|&v| self.model.user_vertex(v as usize).1.to_string()).collect();
        let cloth = vertices.first().map_or("", |&v| self.model.user_vertex(v as usize).0);
        let word = if numbers.len() == 1 { "vertex " } else { "" };
        format!("{word}{} of cloth {cloth:?}", numbers.join(", "))
    }
}

/// Whether it is one of edges, and the vertices: what pairs are sorted by.
fn pair_key(pair: Pair) -> (bool, [u32; 4]) {
    match pair {
        Pair::VertexTriangle(vertices) => (false, vertices),
        Pair::EdgeEdge(vertices) => (true, vertices),
    }
}

fn and_more(count: usize) -> String {
    if count == 0 { String::new() } else { format!("; and {count} more") }
}

impl Model {
    /// Whose a triangle of [`surface_triangles`](Self::surface_triangles) is, and its number there, as the user counts: cloths keep the order of
    /// their triangles.
    pub(crate) fn owner_of_triangle(&self, triangle: u32) -> (Owner, u32) {
        let mut own = triangle;
        let cloths = self.cloths.iter().enumerate().map(|(i, cloth)| (Owner::Cloth(i), cloth.mesh.triangle_count()));
        let bodies = self.bodies.iter().enumerate().map(|(i, body)| (Owner::Body(i), body.mesh.triangle_count()));
        for (owner, count) in cloths.chain(bodies) {
            if (own as usize) < count {
                return (owner, own);
            }
            own -= count as u32;
        }
        (Owner::Cloth(0), triangle)
    }

    /// Two triangles, for a person.
    pub(crate) fn name_triangles(&self, pair: [u32; 2]) -> String {
        let [first, second] = pair.map(|triangle| match self.owner_of_triangle(triangle) {
            (Owner::Cloth(cloth), own) => ("cloth", &self.cloths[cloth].name, own),
            (Owner::Body(body), own) => ("collider", &self.bodies[body].name, own),
        });
        if first.1 == second.1 {
            return format!("triangles {} and {} of {} {:?}", first.2, second.2, first.0, first.1);
        }
        let kind = if first.0 == second.0 { String::new() } else { format!("{} ", second.0) };
        format!("triangle {} of {} {:?} and {} of {kind}{:?}", first.2, first.0, first.1, second.2, second.1)
    }
}
