//! Sweeps of vertex block descent in single precision, several vertices side by side.
//!
//! They go the way of [`vbd`](crate::solver::vbd) with two things left out that cost more than they bring where nothing goes wrong: the block of a vertex is
//! [`Energy::corner`](crate::energy::Energy::corner), which has no negative eigenvalue by itself, and no move is searched for less energy. So a sweep may raise G. The solver looks
//! at G after all sweeps, and at a substep that has raised it sweeps again in double precision with both.
//!
//! G is a sum in double precision of the numbers of vertices, each with the elements whose first vertex it is; these are known to some 10⁻⁷ of themselves.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::contact::response::collider_penalties::ColliderPenalties;
use crate::contact::response::penalty_potential::PenaltyForce;
#[cfg(target_arch = "x86_64")]
use crate::math::F32x8;
use crate::math::{F32x4, Real, Scalar, Sym3, Vec3};
use crate::parallel::{Pieces, Shared, Worker};
use crate::solver::position_based::particle::{Bundle, Particle};
use crate::solver::substep_loop::Motion;
use crate::solver::vbd::incident::{IncidentElements, Plan, Sums, View};
use crate::solver::{Context, Term};
use crate::topology::{Adjacency, Coloring};

/// Vertices whose energies are summed into one number.
pub(crate) const PIECE: usize = 512;

/// ωₖ of the extrapolation of sweep `iteration`, from the one before.
pub(crate) fn extrapolation(iteration: usize, acceleration: f64, before: f64) -> f64 {
    match iteration {
        0 => 1.0,
        1 => 2.0 / (2.0 - acceleration * acceleration),
        _ => 4.0 / (4.0 - acceleration * acceleration * before),
    }
}

/// What the sweeps keep.
pub(crate) struct Single {
    plan: Plan,
    is_wide: bool,
    terms: Vec<Box<dyn IncidentElements>>,
    /// Number of elements of each term.
    counts: Vec<usize>,
    rest_offsets: Vec<f32>,
    /// m, in kg, in the lanes of the plan.
    masses: Vec<f32>,
    /// [`Sums`] of the bundles.
    sums: Vec<f32>,
    /// Energies of elements, in J, in the lanes of the plan, then those of vertices.
    energies: [Vec<f32>; 2],
    pieces: Vec<f64>,
    /// xⁿ, with held vertices at their targets, in m.
    origins: Vec<Vec3<f64>>,
    /// From there, in m: nothing; x; xⁿ; y; x⁽ᵏ⁻¹⁾; x⁽ᵏ⁻²⁾.
    start: Vec<Particle<f32>>,
    particles: Vec<Particle<f32>>,
    previous: Vec<Particle<f32>>,
    predicted: Vec<Particle<f32>>,
    last: Vec<Particle<f32>>,
    before_last: Vec<Particle<f32>>,
}

/// What the sweeps of a substep ask about vertices besides their energies.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    /// In kg.
    pub(crate) masses: &'a [f64],
    pub(crate) inverse_masses: &'a [f64],
    /// xⁿ, in m.
    pub(crate) previous: &'a [Vec3<f64>],
    /// h, in s.
    pub(crate) step: f64,
    pub(crate) collider_penalties: ColliderPenalties<'a>,
    /// By slots of `collider_penalties`, in N.
    pub(crate) normal_forces: Shared<'a, Vec3<f64>>,
}

impl Surroundings<'_> {
    /// m/h², in N/m.
    #[inline]
    pub(crate) fn inertia(&self, vertex: usize) -> f64 {
        self.masses[vertex] / (self.step * self.step)
    }

    /// The contact of a vertex at `x`.
    #[inline]
    pub(crate) fn each_press(&self, vertex: usize, x: Vec3<f64>, visit: impl FnMut(usize, PenaltyForce)) {
        let ends = (x, self.previous[vertex]);
        let normal_force = |slot| self.normal_forces.get(slot);
        self.collider_penalties.each_press(vertex, self.inertia(vertex), ends, normal_force, visit);
    }

    /// Takes the normal forces of a vertex at `x` for the friction of the next sweep. Returns whether a body presses on it.
    #[inline]
    pub(crate) fn settle(&self, vertex: usize, x: Vec3<f64>) -> bool {
        let mut is_pressed = false;
        if self.inverse_masses[vertex] > 0.0 {
            self.each_press(vertex, x, |slot, press| {
                self.normal_forces.set(slot, press.normal_force);
                is_pressed |= press.normal_force != Vec3::ZERO;
            });
        }
        is_pressed
    }
}

impl Single {
    /// `places` lists for each term the elements and corners of each vertex, `coloring` has no neighbours in a colour.
    pub(crate) fn new(context: &Context<'_>, places: &[Adjacency], coloring: &Coloring) -> Self {
        let (model, is_wide) = (context.model, context.team.is_wide());
        let lanes = match is_wide {
            #[cfg(target_arch = "x86_64")]
            true => F32x8::LANES,
            _ => F32x4::LANES,
        };
        let count = model.masses.len();
        // How often a vertex is each corner of each term: bundles of such that are alike have no empty places.
        let signature = |vertex: u32| {
            let of_term = |term: &dyn Term, places: &Adjacency| {
                let mut often = vec![0_u8; term.width()];
                places.of(vertex).iter().for_each(|&place| {
                    let corner = &mut often[place as usize % term.width()];
                    *corner = corner.saturating_add(1);
                });
                often
            };
            context.terms.iter().zip(places).flat_map(|(term, places)| of_term(&**term, places)).collect::<Vec<u8>>()
        };
        let plan = Plan::new(coloring, lanes, count, signature);
        let terms: Vec<_> =
            context.terms.iter().zip(places).map(|(term, places)| term.corners(&plan, places)).collect();
        let slots = (0..plan.len()).flat_map(|bundle| plan.lanes_of(bundle));
        let all = || vec![Particle::default(); count];
        Self {
            is_wide,
            counts: context.terms.iter().map(|term| term.element_count()).collect(),
            rest_offsets: vec![0.0; terms.iter().map(|term| term.rest_offset_count()).sum()],
            masses: slots.map(|&v| model.masses[v as usize] as f32).collect(),
            sums: vec![0.0; plan.len() * 9 * lanes],
            energies: [vec![0.0; plan.len() * lanes], vec![0.0; count]],
            pieces: vec![0.0; count.div_ceil(PIECE)],
            origins: Vec::new(),
            start: all(),
            particles: all(),
            previous: all(),
            predicted: all(),
            last: all(),
            before_last: all(),
            terms,
            plan,
        }
    }

    /// Whether it was made for a model of these numbers. Stiffness and masses are copied: a solver is for one model, as with the streams of `explicit`.
    pub(crate) fn fits(&self, context: &Context<'_>) -> bool {
        self.is_wide == context.team.is_wide()
            && self.plan.vertex_count() == context.model.masses.len()
            && self.counts.iter().copied().eq(context.terms.iter().map(|term| term.element_count()))
    }

    /// Takes xⁿ and y of a substep, and measures the elements.
    pub(crate) fn load(&mut self, context: &Context<'_>, motion: &Motion) {
        self.origins.clone_from(&motion.positions);
        let Self { terms, origins, rest_offsets, start, previous, predicted, .. } = self;
        let all = (&mut start[..], &mut previous[..], &mut predicted[..]);
        context.team.for_each_mut(context.threads, all, |i, (start, previous, predicted)| {
            let w = motion.inverse_masses[i] as f32;
            let since = |x: Vec3<f64>| Particle::new((x - origins[i]).cast(), w);
            *start = Particle::new(Vec3::ZERO, w);
            *previous = since(motion.previous[i]);
            *predicted = since(motion.predicted[i]);
        });
        let rest_offsets = Shared::open(context.team, rest_offsets);
        context.team.run(context.threads, |worker| {
            let mut first = 0;
            for term in terms.iter() {
                term.place(worker, origins, &rest_offsets, first);
                first += term.rest_offset_count();
            }
        });
    }

    /// Has the sweeps begin at some positions, in m.
    pub(crate) fn place(&mut self, positions: &[Vec3<f64>]) {
        for (i, (particle, start)) in self.particles.iter_mut().zip(&self.start).enumerate() {
            *particle = Particle::new((positions[i] - self.origins[i]).cast(), start.inverse_mass());
        }
    }

    /// Whether no vertex is farther than so many metres from xⁿ.
    pub(crate) fn is_at_start(&self, distance: f64) -> bool {
        self.particles.iter().all(|u| f64::from(u.xyz().norm()) <= distance)
    }

    /// Back to xⁿ.
    pub(crate) fn return_to_start(&mut self) {
        self.particles.copy_from_slice(&self.start);
    }

    /// x, in m; of held vertices xⁿ, which is their target.
    pub(crate) fn store(&self, positions: &mut [Vec3<f64>]) {
        for (x, (u, origin)) in positions.iter_mut().zip(self.particles.iter().zip(&self.origins)) {
            *x = *origin + u.xyz().cast();
        }
    }

    /// G at xⁿ, in J, with the normal forces as they are.
    pub(crate) fn objective_at_start(&mut self, context: &Context<'_>, around: &Surroundings<'_>) -> f64 {
        std::mem::swap(&mut self.particles, &mut self.start);
        let objective = self.objective(context, around);
        std::mem::swap(&mut self.particles, &mut self.start);
        objective
    }

    /// G at x, in J, with the normal forces as they are.
    pub(crate) fn objective(&mut self, context: &Context<'_>, around: &Surroundings<'_>) -> f64 {
        let Self { terms, plan, origins, particles, previous, predicted, rest_offsets, energies, pieces, .. } = self;
        let [of_lanes, of_vertices] = energies;
        let lanes = of_lanes.len() / plan.len().max(1);
        // Each worker sets the lanes of its own bundles and their vertices, and after the barrier the pieces of its own share. Nobody sets a vertex.
        let team = context.team;
        let (particles, previous) = (Shared::open(team, particles), Shared::open(team, previous));
        let view = View { particles, previous, rest_offsets, first_rest_offset: 0, step: around.step };
        let (of_lanes, of_vertices) = (Shared::open(team, of_lanes), Shared::open(team, of_vertices));
        let pieces = Shared::open(team, pieces);
        let count = plan.vertex_count();
        team.run(context.threads, |worker| {
            let (bundles, of_lanes) = worker.part(&of_lanes, &Pieces::large(0, lanes, plan.len()));
            of_lanes.iter().for_each(|value| value.set(0.0));
            let mut view = view;
            for term in terms.iter() {
                term.add_values(bundles.clone(), &view, of_lanes);
                view.first_rest_offset += term.rest_offset_count();
            }
            for (bundle, values) in bundles.zip(of_lanes.chunks_exact(lanes)) {
                for (&v, value) in plan.bundle(bundle).iter().zip(values) {
                    of_vertices.set(v as usize, value.get());
                }
            }
            worker.barrier();
            for piece in worker.share_pieces(count.div_ceil(PIECE)) {
                let mut sum = 0.0;
                for i in piece * PIECE..count.min((piece + 1) * PIECE) {
                    sum += f64::from(of_vertices.get(i));
                    if around.inverse_masses[i] > 0.0 {
                        let u = view.particles.get(i).xyz();
                        let off = (u - predicted[i].xyz()).cast::<f64>();
                        sum += 0.5 * around.inertia(i) * off.norm_squared();
                        around.each_press(i, origins[i] + u.cast(), |_, press| sum += press.value);
                    }
                }
                pieces.set(piece, sum);
            }
        });
        self.pieces.iter().sum()
    }

    /// All sweeps of a substep, with the largest move of each, in m, as bits, in `moves`: they end with the first that is not beyond `still`.
    pub(crate) fn descend(
        &mut self,
        context: &Context<'_>,
        around: &Surroundings<'_>,
        acceleration: f64,
        (moves, still): (&[AtomicU64], f64),
    ) {
        let is_accelerated = acceleration > 0.0;
        if is_accelerated {
            self.last.copy_from_slice(&self.particles);
            self.before_last.copy_from_slice(&self.particles);
        }
        let Self { terms, plan, masses, origins, particles, previous, predicted, rest_offsets, sums, is_wide, .. } =
            self;
        let Self { last, before_last, .. } = self;
        // A sweep sets the vertices of one colour and the sums of their bundles, each by one worker, and gets these and their neighbours,
        // which have other colours; the extrapolation gets and sets its share of the vertices. There is a barrier after each. The normal forces of
        // a vertex are got and set by the worker that has the vertex.
        let team = context.team;
        let (particles, previous) = (Shared::open(team, particles), Shared::open(team, previous));
        let view = View { particles, previous, rest_offsets, first_rest_offset: 0, step: around.step };
        let sums = Shared::open(team, sums);
        let (last, before_last) = (Shared::open(team, last), Shared::open(team, before_last));
        let sweep = Sweep { terms, plan, masses, origins, predicted, view, sums, around };
        let is_free = around.collider_penalties.is_empty();
        let x = view.particles;
        context.team.run(context.threads, |worker| {
            if !is_free {
                worker.share(0..x.len()).for_each(|i| {
                    around.settle(i, sweep.position(i));
                });
                worker.barrier();
            }
            let mut omega = 1.0;
            for (iteration, largest) in moves.iter().enumerate() {
                let moved = match is_wide {
                    #[cfg(target_arch = "x86_64")]
                    true => sweep.run::<F32x8>(worker),
                    _ => sweep.run::<F32x4>(worker),
                };
                // A maximum does not depend on the order in which the threads come.
                largest.fetch_max(f64::from(moved).to_bits(), Ordering::Relaxed);
                worker.barrier();
                if f64::from_bits(largest.load(Ordering::Relaxed)) <= still {
                    break;
                }
                omega = extrapolation(iteration, acceleration, omega);
                if is_accelerated || !is_free {
                    let factor = F32x4::from_f64(omega);
                    for i in worker.share(0..x.len()) {
                        let is_pressed = !is_free && around.settle(i, sweep.position(i));
                        if is_accelerated {
                            let (u, base) = (x.get(i).four(), before_last.get(i).four());
                            let u = if is_pressed { u } else { (u - base) * factor + base };
                            before_last.set(i, last.get(i));
                            last.set(i, Particle::from_four(u));
                            x.set(i, Particle::from_four(u));
                        }
                    }
                }
                worker.barrier();
            }
        });
    }
}

/// The problem of one substep.
struct Sweep<'a> {
    terms: &'a [Box<dyn IncidentElements>],
    plan: &'a Plan,
    masses: &'a [f32],
    origins: &'a [Vec3<f64>],
    predicted: &'a [Particle<f32>],
    view: View<'a>,
    sums: Shared<'a, f32>,
    around: &'a Surroundings<'a>,
}

impl Sweep<'_> {
    /// x of a vertex, in m.
    #[inline]
    fn position(&self, vertex: usize) -> Vec3<f64> {
        self.origins[vertex] + self.view.particles.get(vertex).xyz().cast()
    }

    /// Moves the vertices of all colours once; the largest move of this worker's share, in m.
    fn run<S: Bundle<f32>>(&self, worker: &Worker<'_>) -> f32 {
        let mut largest = 0.0_f32;
        for color in self.plan.colors() {
            let size = Sums::<S>::SIZE;
            let (share, sums) = worker.part(&self.sums, &Pieces::large(color.start * size, size, color.len()));
            let bundles = color.start + share.start..color.start + share.end;
            S::compiled(
                #[inline(always)]
                || self.begin::<S>(bundles.clone(), sums),
            );
            let mut view = self.view;
            for term in self.terms {
                term.add(bundles.clone(), &view, sums);
                view.first_rest_offset += term.rest_offset_count();
            }
            if !self.around.collider_penalties.is_empty() {
                bundles.clone().zip(sums.chunks_exact(size)).for_each(|(bundle, sums)| self.press::<S>(bundle, sums));
            }
            let moved = S::compiled(
                #[inline(always)]
                || self.end::<S>(bundles.clone(), sums),
            );
            largest = Real::max(moved, largest);
            worker.barrier();
        }
        largest
    }

    /// m/h² of a bundle, in N/m.
    #[inline(always)]
    fn inertia<S: Bundle<f32>>(&self, bundle: usize) -> S {
        let step = self.view.step;
        let masses = &self.masses[bundle * S::LANES..][..S::LANES];
        S::load_number(|lane| masses[lane]) * S::from_f64(1.0 / (step * step))
    }

    /// Inertia of the vertices of some bundles.
    #[inline(always)]
    fn begin<S: Bundle<f32>>(&self, bundles: Range<usize>, sums: &[Cell<f32>]) {
        for (place, bundle) in bundles.enumerate() {
            let vertices = self.plan.lanes_of(bundle);
            let inertia = self.inertia::<S>(bundle);
            let u = S::load(|lane| self.view.particles.get(vertices[lane] as usize)).0;
            let y = S::load(|lane| self.predicted[vertices[lane] as usize]).0;
            Sums { gradient: (u - y) * inertia, block: Sym3::scalar(inertia) }.store(sums, place);
        }
    }

    /// Adds bodies to the vertices of a bundle.
    fn press<S: Bundle<f32>>(&self, bundle: usize, sums: &[Cell<f32>]) {
        // Those that are there twice too: what a lane does counts for the largest move.
        for (lane, &v) in self.plan.lanes_of(bundle).iter().enumerate() {
            let i = v as usize;
            if self.around.inverse_masses[i] == 0.0 {
                continue;
            }
            self.around.each_press(i, self.position(i), |_, press| {
                let h = &press.hessian.0;
                let g = press.gradient.to_array();
                let parts = [g[0], g[1], g[2], h[0][0], h[1][1], h[2][2], h[1][2], h[0][2], h[0][1]];
                for (part, number) in parts.into_iter().enumerate() {
                    let sum = &sums[part * S::LANES + lane];
                    sum.set(sum.get() + number as f32);
                }
            });
        }
    }

    /// Moves the vertices of some bundles by −H⁻¹ g; the largest move, in m.
    #[inline(always)]
    fn end<S: Bundle<f32>>(&self, bundles: Range<usize>, sums: &[Cell<f32>]) -> f32 {
        let mut largest = S::ZERO;
        for (place, bundle) in bundles.enumerate() {
            let vertices = self.plan.lanes_of(bundle);
            let sums = Sums::<S>::load(sums, place);
            let (u, w) = S::load(|lane| self.view.particles.get(vertices[lane] as usize));
            let whole = sums.block.solve(sums.gradient, self.inertia::<S>(bundle));
            let moved = Vec3::select(w.greater(S::ZERO), whole, Vec3::ZERO);
            let length = moved.norm_squared();
            largest = S::select(length.greater(largest), length, largest);
            let filled = self.plan.bundle(bundle).len();
            S::store(u - moved, w, |lane, particle| {
                if lane < filled {
                    self.view.particles.set(vertices[lane] as usize, particle);
                }
            });
        }
        largest.sqrt().largest()
    }
}
