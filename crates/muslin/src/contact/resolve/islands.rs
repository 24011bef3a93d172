//! Contact islands: contacts of two islands have no vertex in common that moves.
//!
//! So islands can be pushed apart at the same time, each by one thread from its first sweep to its last, and nobody has to wait for anybody.
//! Within an island contacts are taken one after the other as they were found, and none sees another island: the bits do not depend on who does what.

use crate::contact::advancement::RelativePath;
use crate::contact::collider::Solid;
use crate::contact::context::ContactContext;
use crate::contact::kinematics::ColliderOverSubstep;
use crate::contact::response::pair_projection::PairContact;
use crate::contact::untangle::Untangle;
use crate::math::Vec3;
use crate::parallel::{Shared, Team};

/// Sweeps over the contacts in a substep.
const SWEEPS: usize = 8;

/// Contacts from which on islands are shared among threads.
const FEW: usize = 16;

/// No place, no island.
const NONE: u32 = u32::MAX;

/// The contacts of a substep.
#[derive(Default)]
pub(crate) struct Islands {
    /// Island by island, and as they were found within one; once they are pushed apart.
    contacts: Vec<PairContact>,
    /// Which list they are from, and their place in it.
    sources: Vec<[u32; 2]>,
    /// The vertices of contacts that are free to move, likewise.
    touched: Vec<u32>,
    /// Where the contacts and the vertices of every island begin, and where the last one's end.
    starts: Vec<[usize; 2]>,
    /// Of each vertex its place among those that are free to move, in the order in which they were found.
    places: Vec<u32>,
    /// Those vertices.
    found: Vec<u32>,
    /// For each of them the place of one before it in the same island, or its own if there is none: a forest [Tarjan 1975].
    forest: Vec<u32>,
    /// The islands of the trees of the forest.
    islands: Vec<u32>,
    /// The islands of the contacts as they were found.
    island_of: Vec<u32>,
    /// For each vertex, what moving colliders with a formula have done on it, in J times h²; empty where none moves.
    supported: Vec<f64>,
}

/// What contacts do to a substep.
pub(crate) struct Push<'a> {
    /// The contacts, as they were sorted.
    pub(crate) lists: &'a [&'a [PairContact]],
    pub(crate) colliders: &'a [ColliderOverSubstep],
    /// In m.
    pub(crate) thickness: f64,
    /// How far a pair that began too near is lifted at most, in m.
    pub(crate) lift: f64,
    /// In 1/kg.
    pub(crate) inverse_masses: &'a [f64],
}

impl Islands {
    pub(crate) fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The vertices that may have been moved.
    pub(crate) fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// Forgets all contacts, and that anything was lifted.
    pub(crate) fn forget(&mut self, lifts: &mut [Vec3<f64>]) {
        self.sources.clear();
        self.touched.clear();
        for vertex in self.found.drain(..) {
            self.places[vertex as usize] = NONE;
            // Nothing else was lifted.
            lifts[vertex as usize] = Vec3::ZERO;
        }
    }

    /// Sorts the contacts of some lists into islands; the free vertices have an inverse mass `w`, in 1/kg.
    pub(crate) fn sort(&mut self, lists: &[&[PairContact]], w: &[f64]) {
        self.places.resize(w.len(), NONE);
        self.forest.clear();
        self.island_of.clear();
        for contact in lists.iter().copied().flatten() {
            let mut first = NONE;
            for vertex in contact.vertices.into_iter().filter(|&vertex| w[vertex as usize] > 0.0) {
                let place = self.place(vertex);
                first = if first == NONE { place } else { self.join(first, place) };
            }
            // For now, a place in it.
            self.island_of.push(first);
        }
        // Islands in the order of their first contact.
        self.islands.clear();
        self.islands.resize(self.forest.len(), NONE);
        self.starts.clear();
        for contact in 0..self.island_of.len() {
            // A contact of nothing that moves does nothing.
            if self.island_of[contact] == NONE {
                continue;
            }
            let root = self.root(self.island_of[contact]) as usize;
            if self.islands[root] == NONE {
                self.islands[root] = self.starts.len() as u32;
                self.starts.push([0; 2]);
            }
            self.island_of[contact] = self.islands[root];
            self.starts[self.islands[root] as usize][0] += 1;
        }
        for place in 0..self.forest.len() as u32 {
            let root = self.root(place);
            let island = self.islands[root as usize];
            self.islands[place as usize] = island;
            self.starts[island as usize][1] += 1;
        }
        self.spread(lists);
    }

    /// Sorts contacts and vertices by their islands, whose sizes are known.
    fn spread(&mut self, lists: &[&[PairContact]]) {
        let mut ends = [0; 2];
        for start in &mut self.starts {
            let sizes = std::mem::replace(start, ends);
            ends = [ends[0] + sizes[0], ends[1] + sizes[1]];
        }
        self.sources.resize(ends[0], [NONE; 2]);
        self.touched.resize(ends[1], NONE);
        // What is put down moves the start of its island on, to that of the next in the end.
        let sources = (0..).zip(lists).flat_map(|(list, contacts)| (0..contacts.len() as u32).map(move |i| [list, i]));
        for (source, &island) in sources.zip(&self.island_of).filter(|(_, island)| **island != NONE) {
            let next = &mut self.starts[island as usize][0];
            self.sources[*next] = source;
            *next += 1;
        }
        for (&vertex, &island) in self.found.iter().zip(&self.islands) {
            let next = &mut self.starts[island as usize][1];
            self.touched[*next] = vertex;
            *next += 1;
        }
        self.starts.insert(0, [0; 2]);
    }

    fn place(&mut self, vertex: u32) -> u32 {
        let place = &mut self.places[vertex as usize];
        if *place == NONE {
            *place = self.found.len() as u32;
            self.found.push(vertex);
            self.forest.push(*place);
        }
        *place
    }

    /// The root of a tree; what leads to it is made shorter.
    fn root(&mut self, mut place: u32) -> u32 {
        while self.forest[place as usize] != place {
            let above = self.forest[place as usize];
            self.forest[place as usize] = self.forest[above as usize];
            place = above;
        }
        place
    }

    /// Joins two trees; the root of both.
    fn join(&mut self, a: u32, b: u32) -> u32 {
        let (a, b) = (self.root(a), self.root(b));
        // The older one remains.
        self.forest[a.max(b) as usize] = a.min(b);
        a.min(b)
    }

    /// Pushes the vertices of all contacts apart, from `end`, in m; `lifts`, in m, are what was lifted of where they were.
    pub(crate) fn push(
        &mut self,
        context: &ContactContext<'_>,
        push: &Push<'_>,
        end: &mut [Vec3<f64>],
        lifts: &mut [Vec3<f64>],
    ) {
        self.clear_supported(push, end.len());
        let (sources, touched, starts, count) = (&self.sources, &self.touched, &self.starts, self.sources.len());
        self.contacts.resize(count, PairContact::default());
        let team = context.team;
        // An island is of one worker; no other gets or sets the vertices that it moves, and nobody sets the others.
        let (end, lifts) = (Shared::open(team, end), Shared::open(team, lifts));
        let supported = Shared::open(team, &mut self.supported);
        // Of each worker the islands whose first contact is in its share of all contacts.
        let island = |cut: usize| starts.partition_point(|start| start[0] < cut);
        let threads = if team.shares(count, FEW) { context.threads } else { 1 };
        team.for_each_part(
            threads,
            &mut self.contacts,
            count,
            |cut| starts[island(cut)][0],
            |share, mut part| {
                let mut supports = Supports::default();
                let [from, to] = [share.start, share.end].map(island);
                for (start, next) in starts[from..to].iter().zip(&starts[from + 1..]) {
                    let contacts;
                    (contacts, part) = part.split_at_mut(next[0] - start[0]);
                    for (contact, &[list, i]) in contacts.iter_mut().zip(&sources[start[0]..next[0]]) {
                        *contact = push.lists[list as usize][i as usize];
                    }
                    let touched = &touched[start[1]..next[1]];
                    contacts.iter().for_each(|contact| contact.lift(&lifts, push.lift));
                    for vertex in touched.iter().map(|&vertex| vertex as usize) {
                        end.set(vertex, end.get(vertex) + lifts.get(vertex));
                    }
                    contacts.iter_mut().for_each(|contact| contact.start_from(&lifts));
                    supports.find(touched, push, &end);
                    for _ in 0..SWEEPS {
                        contacts.iter_mut().for_each(|contact| contact.project(&end));
                        supports.keep_out(push, &end, &supported);
                    }
                }
            },
        );
    }

    /// What pins and colliders have done on the cloth through the contacts of a substep of `step` seconds, in J; led vertices from `cloth` on are those of meshes.
    ///
    /// A contact gives the vertex i an impulse bᵢ p/h. What leads a vertex gives it −bᵢ p/h besides, over the way that it is led.
    pub(crate) fn work(&self, (start, end): (&[Vec3<f64>], &[Vec3<f64>]), cloth: usize, step: f64) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for contact in &self.contacts[..self.sources.len().min(self.contacts.len())] {
            contact.each_led(|vertex, push| {
                let vertex = vertex as usize;
                sums[usize::from(vertex >= cloth)] -= push.dot(end[vertex] - start[vertex]);
            });
        }
        if !self.supported.is_empty() {
            sums[1] += self.touched.iter().map(|&vertex| self.supported[vertex as usize]).sum::<f64>();
        }
        sums.map(|sum| sum / (step * step))
    }

    /// The same in a tangle, which may move every vertex: all of them count as touched. The rest is as for [`Untangle::lift`].
    pub(crate) fn push_tangled(
        &mut self,
        (team, untangle): (&Team, &Untangle),
        push: &Push<'_>,
        (w, edge, step): (&[f64], f64, f64),
        start: &[Vec3<f64>],
        end: &mut [Vec3<f64>],
        lifts: &mut [Vec3<f64>],
    ) {
        self.clear_supported(push, end.len());
        let Self { contacts, sources, touched, supported, .. } = self;
        contacts.clear();
        contacts.extend(sources.iter().map(|&[list, i]| push.lists[list as usize][i as usize]));
        contacts.iter().for_each(|contact| contact.lift(&Shared::open(team, lifts), push.lift));
        untangle.lift(w, lifts, edge, step);
        end.iter_mut().zip(&*lifts).for_each(|(x, lift)| *x += *lift);
        contacts.iter_mut().for_each(|contact| contact.start_from(&Shared::open(team, lifts)));
        let mut supports = Supports::default();
        supports.find(touched, push, &Shared::open(team, end));
        touched.clear();
        touched.extend((0..w.len() as u32).filter(|&vertex| w[vertex as usize] > 0.0));
        for _ in 0..SWEEPS {
            contacts.iter_mut().for_each(|contact| contact.project(&Shared::open(team, end)));
            untangle.stop(w, start, lifts, end);
            supports.keep_out(push, &Shared::open(team, end), &Shared::open(team, supported));
        }
    }

    fn clear_supported(&mut self, push: &Push<'_>, vertices: usize) {
        self.supported.clear();
        if push.colliders.iter().any(ColliderOverSubstep::moves) {
            self.supported.resize(vertices, 0.0);
        }
    }
}

/// Vertices in contact with cloth that lie on colliders as well.
#[derive(Default)]
struct Supports(Vec<Support>);

/// A vertex on a collider.
struct Support {
    vertex: u32,
    collider: u32,
    /// The least distance that it keeps, in m.
    least: f64,
    /// Where it is before the sweeps, in m.
    start: Vec3<f64>,
}

impl Supports {
    /// Those at `x` that are near a collider: a few sweeps take nothing farther than that.
    fn find(&mut self, touched: &[u32], push: &Push<'_>, x: &Shared<'_, Vec3<f64>>) {
        self.0.clear();
        for &vertex in touched {
            let start = x.get(vertex as usize);
            for (index, collider) in push.colliders.iter().enumerate() {
                if let Some(probe) = collider.after.probe_within(start, 2.0 * push.thickness) {
                    let least = probe.distance.min(push.thickness);
                    self.0.push(Support { vertex, collider: index as u32, least, start });
                }
            }
        }
    }

    /// Takes them out again: no deeper in than they were, unless they keep the thickness, and not out on another side.
    fn keep_out(&self, push: &Push<'_>, x: &Shared<'_, Vec3<f64>>, supported: &Shared<'_, f64>) {
        for support in &self.0 {
            let (vertex, collider) = (support.vertex as usize, &push.colliders[support.collider as usize]);
            let y = x.get(vertex);
            if let Some(change) = out_of(&collider.after, (support.start, y), support.least, push.thickness) {
                x.set(vertex, y + change);
                if !supported.is_empty() && collider.moves() {
                    let work = change.dot(collider.surface_step(y)) / push.inverse_masses[vertex];
                    supported.set(vertex, supported.get(vertex) + work);
                }
            }
        }
    }
}

/// What takes a point that came straight from `start` to `y` to the least distance from a solid that stands still, in m; `None` where it keeps that.
fn out_of(solid: &Solid, (start, y): (Vec3<f64>, Vec3<f64>), least: f64, thickness: f64) -> Option<Vec3<f64>> {
    let path = RelativePath::new(start, y, None);
    let now = solid.probe_within(y, least.max(path.longest()))?;
    // It was `least` away, or farther.
    if !path.is_too_short(least, now.distance)
        && let Some(entry) = path.entry(solid, thickness)
        && !entry.is_shown_by(&now, entry.normal, least)
    {
        return Some(entry.normal * (least - entry.distance));
    }
    (now.distance <= least).then(|| now.normal * (least - now.distance).max(0.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Contacts of these vertices.
    fn contacts(all: &[[u32; 4]]) -> Vec<PairContact> {
        let of = |vertices: &[u32; 4]| {
            let mut contact = PairContact::default();
            contact.vertices = *vertices;
            contact
        };
        all.iter().map(of).collect()
    }

    /// The island of each contact by definition: contacts that lead to each other over free vertices. None for those without.
    fn by_spreading(all: &[[u32; 4]], is_free: impl Fn(u32) -> bool) -> Vec<Option<usize>> {
        let mut islands: Vec<Option<usize>> =
            (0..all.len()).map(|i| all[i].iter().any(|&v| is_free(v)).then_some(i)).collect();
        for _ in 0..all.len() {
            for (i, j) in (0..all.len()).flat_map(|i| (0..all.len()).map(move |j| (i, j))) {
                if all[i].iter().any(|&v| is_free(v) && all[j].contains(&v)) {
                    islands[i] = islands[i].min(islands[j]);
                }
            }
        }
        islands
    }

    proptest! {
        #[test]
        fn islands_are_what_free_vertices_join(
            all in prop::collection::vec([0_u32..60, 0_u32..60, 0_u32..60, 0_u32..60], 0..24),
            cut in 0_usize..24,
            fixed in prop::collection::vec(any::<bool>(), 60),
        ) {
            let found = contacts(&all);
            let (first, second) = found.split_at(cut.min(found.len()));
            let w: Vec<f64> = fixed.iter().map(|&is_fixed| if is_fixed { 0.0 } else { 2.0 }).collect();
            let (mut islands, mut lifts) = (Islands::default(), vec![Vec3::ZERO; 60]);
            // The second time in what the first has left.
            for _ in 0..2 {
                islands.forget(&mut lifts);
                islands.sort(&[first, &[], second], &w);
            }
            let expected = by_spreading(&all, |v| !fixed[v as usize]);
            let mut roots: Vec<usize> = expected.iter().flatten().copied().collect();
            roots.sort_unstable();
            roots.dedup();
            prop_assert_eq!(islands.starts.len(), roots.len() + 1);
            for (root, ends) in roots.iter().zip(islands.starts.windows(2)) {
                let own = (0..all.len()).filter(|&i| expected[i] == Some(*root));
                let sources: Vec<usize> = islands.sources[ends[0][0]..ends[1][0]]
                    .iter()
                    .map(|&[list, i]| i as usize + if list == 2 { first.len() } else { 0 })
                    .collect();
                prop_assert_eq!(&sources, &own.clone().collect::<Vec<_>>(), "as they were found");
                let mut vertices: Vec<u32> = own.flat_map(|i| all[i]).filter(|&v| !fixed[v as usize]).collect();
                vertices.sort_unstable();
                vertices.dedup();
                let mut touched = islands.touched[ends[0][1]..ends[1][1]].to_vec();
                touched.sort_unstable();
                prop_assert_eq!(touched, vertices);
            }
        }
    }
}
