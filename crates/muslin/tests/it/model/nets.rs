//! Models that no scene describes: chosen springs and hinges between chosen masses.

use muslin::energy::bend::dihedral;
use muslin::energy::stretch::spring;
use muslin::energy::{Batch, Site};
use muslin::math::Vec3;
use muslin::mesh::{Diagonals, Mesh};
use muslin::model::Model;
use muslin::parallel::Team;
use muslin::parameter::{Setting, Settings};
use muslin::solver::{self, Context, NoClock, Solver, StepError, StepReport, Term};
use muslin::state::State;
use muslin::topology::Topology;

use crate::common::compiled;

/// Points with masses, springs and hinges between them.
pub(crate) struct Net {
    pub(crate) model: Model,
    pub(crate) terms: Vec<Box<dyn Term>>,
    pub(crate) state: State,
    solver: Box<dyn Solver>,
    team: Team,
}

/// What a net is made of.
pub(crate) struct Plan<'a> {
    /// As many as a grid of `columns` × rows.
    pub(crate) positions: Vec<Vec3<f64>>,
    pub(crate) columns: usize,
    pub(crate) mass: f64,
    pub(crate) pins: &'a [u32],
    pub(crate) gravity: Vec3<f64>,
    /// Vertices and rest length, in m.
    pub(crate) springs: Vec<([u32; 2], f64)>,
    /// In N/m.
    pub(crate) stiffness: f64,
    /// τ, in s.
    pub(crate) damping: f64,
    /// Flat at rest, and c of ½ c θ², in N·m.
    pub(crate) hinges: (Vec<[u32; 4]>, f64),
}

/// Settings of a solver as text, for example `kind = "vbd", iterations = 4`.
pub(crate) fn settings_of(solver: &str) -> (&'static solver::SolverKind, Settings) {
    let text = format!("solver = {{ {solver} }}\n[[cloth]]\ngrid = {{ size = [1, 1], cells = [1, 1] }}");
    let scene = crate::common::scene(&text);
    (solver::find(scene.solver.entry.name).expect("a solver"), scene.solver.settings)
}

impl Net {
    pub(crate) fn new(plan: &Plan<'_>, solver: &str) -> Self {
        let (columns, count) = (plan.columns, plan.positions.len());
        let cells = [columns - 1, count / columns - 1];
        let pins =
            if plan.pins.is_empty() { String::new() } else { format!("pins = [{{ vertices = {:?} }}]", plan.pins) };
        let mut compiled = compiled(&format!(
            "[[cloth]]\ngrid = {{ size = [1, 1], cells = {cells:?} }}\nmaterial = {{ damping = 0 }}\n{pins}"
        ));
        assert!(compiled.model.cloths[0].ordering.is_identity(), "the numbers of the vertices are kept");
        let grid = Mesh::grid([1.0, 1.0], cells.map(|n| n as u32), Diagonals::Alternating).expect("a grid");
        let clamped = vec![false; count];
        let site = Site {
            mesh: &grid,
            topology: &Topology::build(&grid),
            clamped: &clamped,
            first_vertex: 0,
            vertex_count: count,
        };
        let mut settings = Settings::default();
        settings.set("damping", Setting::Number(plan.damping));
        let compliance = 1.0 / plan.stiffness;
        let springs = plan.springs.iter().map(|&(pair, length)| (pair, spring::Rest { length, compliance })).collect();
        let mut terms: Vec<Box<dyn Term>> = vec![Box::new(Batch::<spring::Spring, 2>::new(&site, &settings, springs))];
        let (hinges, c) = &plan.hinges;
        if !hinges.is_empty() {
            let rest = dihedral::Rest { angle: 0.0, compliance: 1.0 / c };
            let hinges = hinges.iter().map(|&stencil| (stencil, rest)).collect();
            terms.push(Box::new(Batch::<dihedral::Dihedral, 4>::new(&site, &Settings::default(), hinges)));
        }
        let model = &mut compiled.model;
        model.masses = vec![plan.mass; count];
        model.inverse_masses = vec![1.0 / plan.mass; count];
        model.initial_positions = plan.positions.clone();
        model.gravity = plan.gravity;
        model.edges = plan.springs.clone();
        let state = model.initial_state();
        let (kind, settings) = settings_of(solver);
        Self { model: compiled.model, terms, state, solver: (kind.build)(&settings), team: Team::solo() }
    }

    pub(crate) fn advance(&mut self, dt: f64) -> Result<StepReport, StepError> {
        let context = Context { model: &self.model, terms: &self.terms, team: &self.team, threads: 1, clock: &NoClock };
        self.solver.advance(&context, &mut self.state, dt)
    }

    /// Another solver for the same net.
    pub(crate) fn solve_with(&mut self, solver: &str) {
        let (kind, settings) = settings_of(solver);
        self.solver = (kind.build)(&settings);
    }
}

/// Two equal rows of `free` masses with unit springs between unit distances, held at one end or at both.
pub(crate) fn chains(free: usize, both_ends: bool, damping: f64) -> Plan<'static> {
    let columns = free + 1 + usize::from(both_ends);
    let at = |row: usize| (0..columns).map(move |i| Vec3::new(i as f64, 0.0, row as f64));
    let positions: Vec<Vec3<f64>> = at(0).chain(at(1)).collect();
    let pair =
        |row: usize| (1..columns).map(move |i| ([row * columns + i - 1, row * columns + i].map(|v| v as u32), 1.0));
    let mut pins = vec![0, columns as u32];
    if both_ends {
        pins.extend([columns as u32 - 1, 2 * columns as u32 - 1]);
    }
    Plan {
        positions,
        columns,
        mass: 1.0,
        pins: pins.leak(),
        gravity: Vec3::ZERO,
        springs: pair(0).chain(pair(1)).collect(),
        stiffness: 1.0,
        damping,
        hinges: (Vec::new(), 0.0),
    }
}
