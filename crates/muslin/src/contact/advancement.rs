//! Conservative advancement: where a point that moves first enters a solid that moves.
//!
//! ```text
//! y(s) = R(−sθ)(p(s) − c(s)) + c(0),   p(s) = xⁿ + s (x − xⁿ),   0 ≤ s ≤ 1        the way of the point, as the solid sees it where it starts
//! ‖y′(s)‖ ≤ L                                                                     how far it goes at most
//! s ← s + |d(y(s))|/L                                                             d changes no faster than y: no surface is leapt over
//! ```
//!
//! A way that ends in front of the surface which it comes near has not passed through that. Where it ends behind, that is the surface of entry:
//! contact with it is measured along its normal, wherever the point has come to, and so the point stays on the side that it came from.
//!
//! Steps get no smaller than a tolerance, so a way may end up to that much inside before it is noticed; a body as thin as that could be
//! missed, and one that is passed so near may count as touched. The tolerance is a tenth of the thickness, or 1/4096 of L if that is more.
//!
//! [Mirtich 1996]; on a distance function, sphere tracing: [Hart 1996].

use crate::contact::collider::Solid;
use crate::math::Vec3;
use crate::motion::Travel;
use crate::shape::Probe;

/// The tolerance, as a part of the thickness.
const PART: f64 = 0.1;
/// The tolerance is at least L divided by this: the most steps there can be.
const STEPS: f64 = 4096.0;

/// The least cosine of two normals that count as those of one side of a body: two faces of a box that meet do, for what enters near their edge may go out through either.
const SAME_SIDE: f64 = -0.1;

/// A way through a substep, as a body sees it.
pub(crate) struct RelativePath<'a> {
    /// Where the point starts and ends in the world, in m.
    start: Vec3<f64>,
    end: Vec3<f64>,
    /// How the body moves, if it does.
    travel: Option<&'a Travel>,
    /// L², in m².
    pub(crate) longest_squared: f64,
}

/// A surface behind which a way ends; all where the body starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryPoint {
    /// The point of the surface, in m.
    pub(crate) surface: Vec3<f64>,
    /// Unit normal, out of the body.
    pub(crate) normal: Vec3<f64>,
    /// How far the end of the way is in front of the surface, along the normal, in m: negative.
    pub(crate) distance: f64,
}

impl EntryPoint {
    /// Whether the end alone shows it: nearest to the same side, and inside, or out of what the way began in; `normal` is that of the entry there.
    pub(crate) fn is_shown_by(&self, end: &Probe, normal: Vec3<f64>, start_distance: f64) -> bool {
        (end.distance < 0.0 || start_distance < 0.0) && normal.dot(end.normal) >= SAME_SIDE
    }
}

impl<'a> RelativePath<'a> {
    #[inline]
    pub(crate) fn new(start: Vec3<f64>, end: Vec3<f64>, travel: Option<&'a Travel>) -> Self {
        let longest_squared = match travel {
            None => (end - start).norm_squared(),
            Some(travel) => travel.longest_squared(start, end),
        };
        Self { start, end, travel, longest_squared }
    }

    /// L, or a little more.
    #[inline]
    pub(crate) fn longest(&self) -> f64 {
        self.longest_squared.sqrt() * (1.0 + 1e-9)
    }

    /// Whether a body that is so far from the start and from the end cannot be between them, in m.
    #[inline]
    pub(crate) fn is_too_short(&self, start_distance: f64, end_distance: f64) -> bool {
        let between = start_distance + end_distance;
        start_distance > 0.0 && end_distance >= 0.0 && between * between > self.longest_squared * (1.0 + 1e-9)
    }

    /// y(s), in m.
    fn at(&self, part: f64) -> Vec3<f64> {
        let p = self.start + (self.end - self.start) * part;
        self.travel.map_or(p, |travel| travel.undo(p, part))
    }

    /// Where it enters a body that is `solid` at its start, if it ends behind that surface; the body is kept `thickness` away, in m.
    #[cold]
    pub(crate) fn entry(&self, solid: &Solid, thickness: f64) -> Option<EntryPoint> {
        let longest = self.longest();
        let tolerance = (PART * thickness).max(longest / STEPS);
        let end = self.at(1.0);
        let mut part = 0.0;
        // What is not a number ends it too.
        while part < 1.0 {
            let y = self.at(part);
            let Probe { distance, normal } = solid.probe(y);
            if distance <= tolerance {
                let surface = y - normal * distance;
                let entry = EntryPoint { surface, normal, distance: normal.dot(end - surface) };
                if entry.distance < 0.0 {
                    return Some(entry);
                }
            }
            part += distance.abs().max(tolerance) / longest;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::kinematics::Kinematics;
    use crate::energy::conformance::Random;
    use crate::scene::parse;
    use crate::setup::Compiled;

    /// Thick ones and thin ones, each on a way with a turn.
    const SHAPES: &[&str] = &[
        "plane = { point = [0, -0.1, 0], normal = [0.2, 1, 0.1] }",
        "sphere = { center = [0.1, 0, 0.05], radius = 0.3 }",
        "sphere = { center = [0, 0, 0], radius = 0.02 }",
        "capsule = { a = [-0.3, 0, 0.1], b = [0.4, 0.2, 0], radius = 0.04 }",
        "box = { center = [0, 0, 0], size = [0.9, 0.01, 0.8], rotate = [10, 0, 20] }",
        "box = { center = [0, 0.1, 0], size = [0.3, 0.4, 0.5] }",
        "cylinder = { a = [0, -0.01, 0], b = [0, 0.01, 0], radius = 0.4 }",
        "torus = { center = [0, 0, 0], major_radius = 0.35, minor_radius = 0.05 }",
    ];

    fn compiled(shape: &str, offset: Vec3<f64>, turn: f64) -> Compiled {
        let [x, y, z] = offset.to_array();
        let text = format!(
            "[[cloth]]\ngrid = {{ size = [1, 1], cells = [2, 2] }}\n[[collider]]\n{shape}\naxis = [0.3, 1, -0.5]\n\
             path = [{{ time = 0 }}, {{ time = 1, offset = [{x:?}, {y:?}, {z:?}], turn = {turn:?} }}]"
        );
        let outcome = parse(&text, &[]);
        let scene = outcome.scene.unwrap_or_else(|| panic!("{:?}\n{text}", outcome.findings));
        crate::setup::compile(&scene, &mut |_| Err(String::new())).unwrap()
    }

    /// The first place, of so many along the way, that is in the body, where the end is well behind that surface.
    fn first_inside(solid: &Solid, path: &RelativePath<'_>, samples: u32, margin: f64) -> Option<Vec3<f64>> {
        let end = path.at(1.0);
        (0..=samples).map(|k| path.at(f64::from(k) / f64::from(samples))).find(|y| {
            let Probe { distance, normal } = solid.probe(*y);
            distance <= 0.0 && normal.dot(end - (*y - normal * distance)) < -margin
        })
    }

    /// Ways of any length past bodies that move and turn by anything: where many places along a way are looked at and one is inside, the entry is found, near the first.
    #[test]
    fn no_crossing_is_missed_and_the_entry_is_where_it_is() {
        const THICKNESS: f64 = 1e-3;
        const SAMPLES: u32 = 4000;
        let (mut random, mut found, mut missed) = (Random::new(7), 0, 0);
        for shape in SHAPES {
            for turn in [0.0, 20.0, 170.0, 900.0] {
                let Compiled { model, .. } = compiled(shape, random.vector() * 0.7, turn);
                let mut kinematics = Kinematics::default();
                kinematics.load(&model, 0.0, 1.0, 1);
                let body = &kinematics.colliders(0)[0];
                for _ in 0..60 {
                    let (start, end) = (random.vector() * 0.6, random.vector() * 0.6);
                    // What begins inside has entered already, elsewhere.
                    if body.start().probe(start).distance < THICKNESS {
                        continue;
                    }
                    let path = body.path(start, end);
                    // As far as a sample may be from where it is entered.
                    let spacing = path.longest() / f64::from(SAMPLES);
                    let entry = path.entry(body.start(), THICKNESS);
                    let inside = first_inside(body.start(), &path, SAMPLES, 2.0 * spacing + THICKNESS);
                    match (&entry, inside) {
                        (Some(entry), Some(place)) => {
                            let off = (place - entry.surface).norm();
                            // A way that grazes is along the surface for a while.
                            let fall = entry.normal.dot(path.at(1.0) - path.at(0.0)).abs() / path.longest();
                            let tolerance = spacing.max(PART * THICKNESS).max(path.longest() / STEPS);
                            assert!(
                                turn > 20.0 || fall < 0.1 || off < 30.0 * tolerance,
                                "{shape}, {turn}: {off} m off"
                            );
                            found += 1;
                        }
                        (None, Some(place)) => panic!("{shape}, {turn}: {start:?} to {end:?} enters at {place:?}"),
                        (Some(entry), None) => {
                            let nearest = (0..=SAMPLES)
                                .map(|k| body.start().probe(path.at(f64::from(k) / f64::from(SAMPLES))).distance);
                            let nearest = nearest.fold(f64::INFINITY, f64::min);
                            let tolerance = spacing + (PART * THICKNESS).max(path.longest() / STEPS);
                            assert!(nearest <= tolerance && entry.distance < 0.0, "{shape}, {turn}: {nearest} m near");
                        }
                        (None, None) => missed += 1,
                    }
                }
            }
        }
        assert!(found > 200 && missed > 200, "{found} enter and {missed} do not");
    }

    /// Short ways near a surface, as most are: none enters, and nothing is looked at along them.
    #[test]
    fn a_way_that_is_shorter_than_there_is_room_is_too_short() {
        let model = compiled(SHAPES[4], Vec3::ZERO, 0.0).model;
        let mut kinematics = Kinematics::default();
        kinematics.load(&model, 0.0, 1.0, 1);
        let body = &kinematics.colliders(0)[0];
        let mut random = Random::new(3);
        let mut short = 0;
        for _ in 0..2000 {
            let start = random.vector() * 0.6;
            let end = start + random.vector() * 0.05;
            let path = body.path(start, end);
            if path.is_too_short(body.start().probe(start).distance, body.after.probe(end).distance) {
                assert!(path.entry(body.start(), 1e-9).is_none(), "{start:?} to {end:?}");
                short += 1;
            }
        }
        assert!(short > 1000, "{short}");
    }

    #[test]
    fn numbers_that_are_not_end_the_search() {
        let model = compiled(SHAPES[1], Vec3::ZERO, 90.0).model;
        let mut kinematics = Kinematics::default();
        kinematics.load(&model, 0.0, 1.0, 1);
        let body = &kinematics.colliders(0)[0];
        for bad in [f64::NAN, f64::INFINITY] {
            let path = body.path(Vec3::ZERO + Vec3::splat(2.0), Vec3::splat(bad));
            assert!(path.entry(body.start(), 1e-3).is_none());
            assert!(body.touch(Vec3::splat(bad), || Vec3::splat(2.0), 1e-3, 1e-2).is_none());
        }
    }
}
