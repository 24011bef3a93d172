//! Contact of pairs for the solvers that minimise, with friction: cloth with cloth, with itself and with mesh colliders.
//!
//! ```text
//! Φ(x) + Σ ψ(rₚ)        over pairs p;  rₚ = Σ bᵢ xᵢ        ∂ψ/∂xᵢ = bᵢ ∇ψ,  ∂²ψ/∂xᵢ∂xⱼ = bᵢ bⱼ ∇²ψ
//! ```
//!
//! r leads from the one closest point of the pair to the other, as in [`pair_projection`](super::pair_projection), and ψ is the potential of a vertex in front of a collider,
//! [`PenaltyPotential`], of the point r before the plane n·r = t. Its stiffness is k = 100 m/h² with the inertia m = 1/Σ wᵢ bᵢ² of the pair. n and b are fixed while an
//! iteration runs, so ψ is convex but for friction; they and the set of pairs are found anew for where the iteration ended.
//!
//! At a solution a hundredth of the depth without contact is left; [`resolve`](crate::contact::resolve) projects it at the end of the substep.
//!
//! Vertices that are led do not move while a solver iterates: their part of r is a constant.

use crate::contact::response::collider_penalties::ColliderPenalties;
use crate::contact::response::pair_projection::PairContact;
use crate::contact::response::penalty_potential::{PenaltyForce, PenaltyPotential};
use crate::contact::response::touch::Touch;
use crate::math::{Mat3, Vec3};

/// Iterations for which a pair that came apart still rubs, each time with half the force.
const LINGERS: u8 = 4;

/// Pairs that are near, as a part of the objective of a substep.
#[derive(Default)]
pub(crate) struct PairPenalties {
    /// In the order of their keys.
    pairs: Vec<PairPenalty>,
    /// Those of the iteration before.
    old: Vec<PairPenalty>,
    /// Those of them that were not found again.
    lingering: Vec<PairPenalty>,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairPenalty {
    /// Vertices, the first of which belong to the first of the two, and how many these are: together the key.
    vertices: [u32; 4],
    first_count: u8,
    /// bᵢ; zero for a vertex that is led.
    weights: [f64; 4],
    /// The part of r that is led, in m, and its way in the substep by pins and by mesh colliders.
    led: Vec3<f64>,
    led_ways: [Vec3<f64>; 2],
    /// r at the start of the substep, in m.
    start: Vec3<f64>,
    /// Toward the first, a unit vector; the distance that is kept along it, and n·r − t at the start, in m.
    normal: Vec3<f64>,
    thickness: f64,
    start_error: f64,
    friction: f64,
    /// m/h², in N/m.
    inertia: f64,
    /// Of the last iterations, in N.
    normal_force: Vec3<f64>,
    /// For how many iterations the pair has been farther apart than its thickness: it rubs and does not press.
    apart_for: u8,
}

impl PairPenalty {
    /// The penalty of a contact in a substep of `step` seconds. `start` and `end` are of all vertices, led ones at their ends, and those of cloths are the first
    /// `cloth`. `None` where nothing of it can move.
    pub(crate) fn new(
        contact: &PairContact,
        first_count: usize,
        (start, end): (&[Vec3<f64>], &[Vec3<f64>]),
        cloth: usize,
        step: f64,
    ) -> Option<Self> {
        let inertia = contact.inertia() / (step * step);
        if inertia <= 0.0 {
            return None;
        }
        let (mut led, mut led_ways) = (Vec3::ZERO, [Vec3::ZERO; 2]);
        let mut weights = contact.weights();
        for (k, weight) in weights.iter_mut().enumerate().filter(|(k, _)| contact.is_led(*k)) {
            let vertex = contact.vertices[k] as usize;
            led += end[vertex] * *weight;
            led_ways[usize::from(vertex >= cloth)] += (end[vertex] - start[vertex]) * *weight;
            *weight = 0.0;
        }
        let (from, start_error) = contact.start();
        Some(Self {
            vertices: contact.vertices,
            first_count: first_count as u8,
            weights,
            led,
            led_ways,
            start: from,
            normal: contact.normal(),
            thickness: contact.thickness(),
            start_error,
            friction: contact.friction(),
            inertia,
            normal_force: Vec3::ZERO,
            apart_for: 0,
        })
    }

    fn key(&self) -> (u8, [u32; 4]) {
        (self.first_count, self.vertices)
    }

    /// r, in m.
    fn along(&self, x: &[Vec3<f64>]) -> Vec3<f64> {
        self.free().fold(self.led, |sum, (vertex, weight)| sum + x[vertex] * weight)
    }

    /// The vertices that move, and their weights.
    fn free(&self) -> impl Iterator<Item = (usize, f64)> {
        let places = (0..4).filter(|k| self.weights[*k] != 0.0);
        places.map(|k| (self.vertices[k] as usize, self.weights[k]))
    }

    /// How deep the two are in each other's distance, in m; zero where they are not.
    fn depth(&self, x: &[Vec3<f64>]) -> f64 {
        let depth = (self.thickness - self.normal.dot(self.along(x))).max(0.0);
        if self.apart_for == 0 { depth } else { 0.0 }
    }

    /// The pair after an iteration that has moved it apart, as long as it still rubs.
    fn moved_apart(&self) -> Option<Self> {
        let apart_for = self.apart_for + 1;
        (self.normal_force != Vec3::ZERO && apart_for <= LINGERS).then_some(Self { apart_for, ..*self })
    }

    /// ψ(r) and its derivatives by r.
    fn press(&self, x: &[Vec3<f64>]) -> PenaltyForce {
        let r = self.along(x);
        let gap = self.normal.dot(r) - self.thickness;
        let touch = Touch {
            gap: if self.apart_for == 0 { gap } else { gap.max(0.0) },
            previous_gap: self.start_error,
            normal: self.normal,
            // What is led is a part of r.
            surface_step: Vec3::ZERO,
            friction: self.friction,
            lift_limit: 0.0,
            is_entry: false,
        };
        self.potential().press(&touch, r, self.start)
    }

    fn potential(&self) -> PenaltyPotential {
        let stiffness = ColliderPenalties::stiffness(self.inertia);
        PenaltyPotential { stiffness, normal_force: self.normal_force, is_searched: true }
    }
}

impl PairPenalties {
    /// Begins a substep.
    pub(crate) fn clear(&mut self) {
        self.pairs.clear();
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The vertices of each pair, led ones among them.
    pub(crate) fn stencils(&self) -> impl Iterator<Item = &[u32; 4]> {
        self.pairs.iter().map(|pair| &pair.vertices)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Takes pairs that were found for vertices at `x`. Those that are known keep their forces, and those that were not found again linger. Returns by how much a depth has changed
    /// at most, in m.
    pub(crate) fn replace(&mut self, found: impl Iterator<Item = PairPenalty>, x: &[Vec3<f64>]) -> f64 {
        std::mem::swap(&mut self.pairs, &mut self.old);
        self.pairs.clear();
        self.pairs.extend(found);
        self.pairs.sort_unstable_by_key(PairPenalty::key);
        let (mut old, mut change) = (self.old.iter().peekable(), 0.0_f64);
        let Self { pairs, lingering, .. } = self;
        lingering.clear();
        for pair in pairs.iter_mut() {
            while let Some(gone) = old.next_if(|old| old.key() < pair.key()) {
                change = change.max(gone.depth(x));
                lingering.extend(gone.moved_apart());
            }
            let known = old.next_if(|old| old.key() == pair.key());
            pair.normal_force = known.map_or(Vec3::ZERO, |known| known.normal_force);
            change = change.max((pair.depth(x) - known.map_or(0.0, |known| known.depth(x))).abs());
        }
        for gone in old {
            change = change.max(gone.depth(x));
            lingering.extend(gone.moved_apart());
        }
        if !lingering.is_empty() {
            pairs.extend_from_slice(lingering);
            pairs.sort_unstable_by_key(PairPenalty::key);
        }
        change
    }

    /// Σ ψ, in J.
    pub(crate) fn value(&self, x: &[Vec3<f64>]) -> f64 {
        self.pairs.iter().map(|pair| pair.press(x).value).sum()
    }

    /// Adds Σ ∇ψ, in N.
    pub(crate) fn add_gradient(&self, x: &[Vec3<f64>], out: &mut [Vec3<f64>]) {
        for pair in &self.pairs {
            let gradient = pair.press(x).gradient;
            if gradient != Vec3::ZERO {
                pair.free().for_each(|(vertex, weight)| out[vertex] += gradient * weight);
            }
        }
    }

    /// Tells the blocks of the Hessian of Σ ψ, in N/m: row, column, block. It has no negative eigenvalue.
    pub(crate) fn each_block(&self, x: &[Vec3<f64>], mut visit: impl FnMut(u32, u32, Mat3)) {
        for pair in &self.pairs {
            let hessian = pair.press(x).hessian;
            if hessian == Mat3::ZERO {
                continue;
            }
            for (i, a) in pair.free() {
                pair.free().for_each(|(j, b)| visit(i as u32, j as u32, hessian * (a * b)));
            }
        }
    }

    /// Takes the normal forces at x for the friction of the next iteration: k d, less what is not in balance yet. `gradient` is that of the whole objective and
    /// `diagonal_block` tells Hᵢᵢ of its Hessian. Returns how far the change could move a pair by friction, in m.
    ///
    /// N ← ½ N + ½ k (d + u)₊ with u = Σ bᵢ n·∇φᵢ/(n·Hᵢᵢ n), how far the unbalanced forces would still move the two: a pair that the first iterations press together presses a
    /// hundred times as much as it will. Half of the old force stays, for a vertex in several pairs presses on one of them now and on another then, and together they balance it.
    pub(crate) fn update_forces(
        &mut self,
        x: &[Vec3<f64>],
        gradient: &[Vec3<f64>],
        diagonal_block: impl Fn(usize) -> Mat3,
    ) -> f64 {
        let mut change = 0.0_f64;
        for pair in &mut self.pairs {
            let pressed = pair.press(x).normal_force.norm();
            let mut new = Vec3::ZERO;
            if pressed > 0.0 {
                let along = |(v, b): (usize, f64)| {
                    b * pair.normal.dot(gradient[v]) / pair.normal.dot(diagonal_block(v).apply(pair.normal))
                };
                let unbalanced = pair.free().map(along).sum::<f64>();
                new = pair.normal * (pressed + ColliderPenalties::stiffness(pair.inertia) * unbalanced).max(0.0);
            }
            change = change.max((new - pair.normal_force).norm() / pair.inertia);
            pair.normal_force = (pair.normal_force + new) * 0.5;
        }
        change
    }

    /// Raises normal forces to what each pair would press with if its vertices came to `y` alone.
    pub(crate) fn guess_forces(&mut self, y: &[Vec3<f64>]) {
        for pair in &mut self.pairs {
            let k = ColliderPenalties::stiffness(pair.inertia);
            let guess = pair.press(y).normal_force * (pair.inertia / (k + pair.inertia));
            if guess.norm_squared() > pair.normal_force.norm_squared() {
                pair.normal_force = guess;
            }
        }
    }

    /// Tells of each vertex that a pair presses on at x, perhaps more than once.
    pub(crate) fn each_pressed(&self, x: &[Vec3<f64>], mut visit: impl FnMut(usize)) {
        for pair in self.pairs.iter().filter(|pair| pair.press(x).normal_force != Vec3::ZERO) {
            pair.free().for_each(|(vertex, _)| visit(vertex));
        }
    }

    /// The work of pins and of mesh colliders on the cloth over the substep, in J.
    pub(crate) fn work(&self, x: &[Vec3<f64>]) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for pair in self.pairs.iter().filter(|pair| pair.led_ways != [Vec3::ZERO; 2]) {
            let gradient = pair.press(x).gradient;
            sums = std::array::from_fn(|of| sums[of] + gradient.dot(pair.led_ways[of]));
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance::Random;

    /// A vertex before a triangle one of whose corners is led, some way into its distance.
    fn pair(random: &mut Random) -> (PairPenalties, Vec<Vec3<f64>>) {
        let mut number = || random.signed();
        let normal = Vec3::new(0.2 * number(), 1.0, 0.2 * number()).normalized_or_zero();
        let x = vec![
            Vec3::new(0.0, 0.9, 0.0) + Vec3::new(number(), number(), number()) * 0.05,
            Vec3::new(1.0, 0.0, 0.0),
            Vec3::new(-0.5, 0.0, 1.0),
        ];
        let pair = PairPenalty {
            vertices: [0, 1, 2, 3],
            first_count: 1,
            weights: [1.0, -0.3, -0.5, 0.0],
            led: Vec3::new(-0.5, 0.0, -1.0) * -0.2,
            led_ways: [Vec3::ZERO; 2],
            start: Vec3::new(0.02, 1.05, -0.01),
            normal,
            thickness: 1.0,
            start_error: 0.05,
            friction: 0.4,
            inertia: 2.0,
            normal_force: normal * 5.0,
            apart_for: 0,
        };
        (PairPenalties { pairs: vec![pair], ..PairPenalties::default() }, x)
    }

    fn moved(x: &[Vec3<f64>], vertex: usize, axis: usize, by: f64) -> Vec<Vec3<f64>> {
        let mut x = x.to_vec();
        let mut numbers = x[vertex].to_array();
        numbers[axis] += by;
        x[vertex] = Vec3::from(numbers);
        x
    }

    #[test]
    fn forces_are_the_derivative_of_the_potential_and_blocks_that_of_the_forces() {
        let (mut random, h) = (Random::new(11), 1e-6);
        for _ in 0..20 {
            let (pairs, x) = pair(&mut random);
            assert!(pairs.pairs[0].depth(&x) > 0.0, "they touch");
            let gradient_at = |x: &[Vec3<f64>]| {
                let mut gradient = vec![Vec3::ZERO; x.len()];
                pairs.add_gradient(x, &mut gradient);
                gradient
            };
            let gradient = gradient_at(&x);
            let mut hessian = vec![[Mat3::ZERO; 3]; 3];
            pairs.each_block(&x, |i, j, block| hessian[i as usize][j as usize] = block);
            for (vertex, axis) in (0..3).flat_map(|vertex| (0..3).map(move |axis| (vertex, axis))) {
                let [after, before] = [h, -h].map(|by| moved(&x, vertex, axis, by));
                let slope = (pairs.value(&after) - pairs.value(&before)) / (2.0 * h);
                let exact = gradient[vertex].to_array()[axis];
                assert!((slope - exact).abs() < 1e-5 * exact.abs().max(1.0), "{slope}, not {exact}");
                for other in 0..3 {
                    let bend = (gradient_at(&after)[other] - gradient_at(&before)[other]) * (0.5 / h);
                    let exact: [f64; 3] = std::array::from_fn(|row| hessian[other][vertex].0[row][axis]);
                    assert!((bend - Vec3::from(exact)).norm() < 1e-3, "{bend:?}, not {exact:?}");
                }
            }
        }
    }

    #[test]
    fn a_pair_that_is_found_again_keeps_its_force_and_tells_how_its_depth_changed() {
        let (mut pairs, x) = pair(&mut Random::new(3));
        let known = pairs.pairs[0];
        let again = PairPenalty { normal_force: Vec3::ZERO, ..known };
        assert_eq!(pairs.replace([again].into_iter(), &x), 0.0);
        assert_eq!(pairs.pairs[0].normal_force, known.normal_force);
        assert_eq!(pairs.replace([].into_iter(), &x), known.depth(&x), "a depth that is gone");
        assert!(pairs.pairs[0].press(&x).normal_force == Vec3::ZERO && pairs.value(&x) > 0.0, "it rubs on");
        (0..LINGERS).for_each(|_| assert_eq!(pairs.replace([].into_iter(), &x), 0.0));
        assert!(pairs.is_empty());
    }
}
