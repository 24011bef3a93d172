//! T0.15 and 0.16: one implicit step of small nets, and what a descent may not do on the way.

use muslin::math::Vec3;
use muslin::mesh::Mesh;
use muslin::model::Model;
use muslin::parallel::Team;
use muslin::scene::parse;
use muslin::solver::{self, Context, NoClock, Term};
use muslin::state::State;
use serde_json::Value;

use super::{cases, get, vec3};
use crate::fixtures::ONE_STEP;
use crate::report::Section;
use crate::row::Row;
use crate::stage::Random;
use crate::{Scope, Try};

/// Size of a cell of the nets, in m.
const CELL: f64 = 0.1;

/// Positions that were reached, and the objective there.
type Outcome = (Vec<Vec3<f64>>, f64);

/// A net of the fixture with the state before its step.
struct Net {
    case: Value,
    model: Model,
    terms: Vec<Box<dyn Term>>,
    state: State,
    step: f64,
}

fn vectors(list: &Value) -> Vec<Vec3<f64>> {
    list.as_array().into_iter().flatten().map(vec3).collect()
}

impl Net {
    fn all() -> Try<Vec<Self>> {
        cases(ONE_STEP, "cases")?.iter().map(Self::new).collect()
    }

    fn has_hinges(&self) -> bool {
        self.case["hinges"].as_array().is_some_and(|hinges| !hinges.is_empty())
    }

    fn name(&self) -> String {
        let hinges = if self.has_hinges() { " and hinges" } else { "" };
        format!("{0} × {0} springs{hinges}, k = {1} N/m", self.case["n"], self.case["k"])
    }

    fn new(case: &Value) -> Try<Self> {
        let n = get(case, "n") as u32;
        let cell = |i: u32, j: u32| {
            let id = |i: u32, j: u32| i * n + j;
            [[id(i, j), id(i + 1, j + 1), id(i + 1, j)], [id(i, j), id(i, j + 1), id(i + 1, j + 1)]]
        };
        let mesh = Mesh {
            positions: vectors(&case["rest_positions"]).iter().map(|x| x.to_array()).collect(),
            triangles: (0..n - 1).flat_map(|i| (0..n - 1).flat_map(move |j| cell(i, j))).collect(),
            ..Mesh::default()
        };
        let c = get(case, "hinge_c");
        let bend = if c > 0.0 {
            format!("model = \"dihedral\", compliance = {:?}", 1.0 / c)
        } else {
            "model = \"none\"".to_owned()
        };
        let text = format!(
            "contact.self_contact = false\n[[cloth]]\nmesh = \"net.obj\"\npins = [ {{ vertices = {} }} ]\n\
             material = {{ stretch = {{ compliance = {:?} }}, bend = {{ {bend} }} }}",
            case["pins"],
            1.0 / get(case, "k")
        );
        let scene = parse(&text, &[]).into_result().map_err(|e| e.to_string())?;
        let compiled = muslin::setup::compile(&scene, &mut |_| Ok(mesh.clone())).map_err(|p| format!("{p:?}"))?;
        let (mut model, terms, mut state) = (compiled.model, compiled.terms, compiled.state);
        let ordering = &model.cloths[0].ordering;
        state.positions = ordering.reordered(&vectors(&case["x_n"]));
        state.velocities = ordering.reordered(&vectors(&case["v_n"]));
        let mass = get(case, "mass");
        // Every particle of the net weighs the same.
        model.initial_positions.clone_from(&state.positions);
        model.masses.fill(mass);
        model.inverse_masses.fill(1.0 / mass);
        Ok(Self { case: case.clone(), model, terms, state, step: get(case, "h") })
    }

    /// One step from the state before.
    fn after(&self, settings: &str) -> Try<Outcome> {
        let text = format!(
            "solver = {{ substeps = 1, {settings} }}\n[[cloth]]\ngrid = {{ size = [1, 1], cells = [1, 1] }}\nmaterial.bend.model = \"none\""
        );
        let scene = parse(&text, &[]).into_result().map_err(|e| e.to_string())?;
        let kind = solver::find(scene.solver.entry.name).ok_or("no such solver")?;
        let mut solver = (kind.build)(&scene.solver.settings);
        let context =
            Context { model: &self.model, terms: &self.terms, team: &Team::solo(), threads: 1, clock: &NoClock };
        let mut state = self.state.clone();
        solver.advance(&context, &mut state, self.step).map_err(|e| e.to_string())?;
        let value = self.objective(&state.positions);
        Ok((state.positions, value))
    }

    /// `½‖x − y‖²_M/h² + E`.
    fn objective(&self, x: &[Vec3<f64>]) -> f64 {
        let (model, h) = (&self.model, self.step);
        let is_held = |i: usize| model.pinned.iter().any(|pinned| pinned.vertex as usize == i);
        let inertia = |i: usize| {
            let y = self.state.positions[i] + (self.state.velocities[i] + model.gravity * h) * h;
            0.5 * model.masses[i] / (h * h) * (x[i] - y).norm_squared()
        };
        (0..x.len()).filter(|&i| !is_held(i)).map(inertia).sum::<f64>() + solver::elastic_energy(model, &self.terms, x)
    }

    /// The springs as the fixture lists them, in the numbers of the state.
    fn listed_springs(&self) -> Vec<[usize; 2]> {
        let new = &self.model.cloths[0].ordering.new_from_old;
        let end = |value: &Value| new[value.as_u64().unwrap_or(0) as usize] as usize;
        self.case["springs"].as_array().into_iter().flatten().map(|s| [end(&s[0]), end(&s[1])]).collect()
    }

    /// The springs in the order of the solver.
    fn colored_springs(&self) -> Vec<[usize; 2]> {
        let springs = &self.terms[0];
        (0..springs.element_count()).map(|e| [0, 1].map(|i| springs.stencil(e)[i] as usize)).collect()
    }

    /// XPBD as its paper has it: Gauss–Seidel from y with multipliers, every spring of the same stiffness.
    fn sweep(&self, springs: &[[usize; 2]], iterations: u32) -> Vec<Vec3<f64>> {
        let (model, h) = (&self.model, self.step);
        let mut w = model.inverse_masses.clone();
        model.pinned.iter().for_each(|pinned| w[pinned.vertex as usize] = 0.0);
        let before = &self.state;
        let y = |i: usize| before.positions[i] + (before.velocities[i] + model.gravity * h) * h;
        let mut x: Vec<Vec3<f64>> = (0..w.len()).map(|i| if w[i] > 0.0 { y(i) } else { before.positions[i] }).collect();
        let rest = vectors(&self.case["rest_positions"]);
        let rest = model.cloths[0].ordering.reordered(&rest);
        let compliance = 1.0 / (get(&self.case, "k") * h * h);
        let mut multipliers = vec![0.0; springs.len()];
        for _ in 0..iterations {
            for (&[a, b], multiplier) in springs.iter().zip(&mut multipliers) {
                if w[a] + w[b] == 0.0 {
                    continue;
                }
                let (apart, length) = (x[a] - x[b], (rest[a] - rest[b]).norm());
                let c = apart.norm() - length;
                let change = (-c - compliance * *multiplier) / (w[a] + w[b] + compliance);
                *multiplier += change;
                let push = apart * (change / apart.norm());
                x[a] += push * w[a];
                x[b] -= push * w[b];
            }
        }
        x
    }

    /// The largest distance from positions of the fixture, over a cell.
    fn distance(&self, x: &[Vec3<f64>], expected: &Value) -> f64 {
        let expected = self.model.cloths[0].ordering.reordered(&vectors(expected));
        x.iter().zip(expected).map(|(a, b)| (*a - b).norm()).fold(0.0, f64::max) / CELL
    }
}

pub(super) fn one_step(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "One step of implicit Euler of five nets, whose minimiser is known to 1e-28; distances over a cell of 10 cm. `projective` is compared with the recorded iterates of its \
         algorithm, which is the same whatever the order of the elements. `xpbd` is no implicit Euler: what it converges to is up to 1.9 mm away and \
         depends on the order of the springs, which is by colours here and as they are listed in the fixture. So a plain loop over the springs is compared with the recorded \
         iterates in that order, and the solver with the loop in its own.",
    );
    for (index, net) in Net::all()?.iter().enumerate() {
        let what = |solver: &str| format!("`{solver}`, {}", net.name());
        let star = &net.case["x_star"];
        let (x, _) = net.after(r#"kind = "newton", iterations = 300, tolerance = 1e-14"#)?;
        section.push(Row::bound(what("newton"), net.distance(&x, star), 1e-9));
        // The third net is pressed so hard that its springs buckle to one side or the other, and the order of the vertices decides to which.
        if index != 2 {
            let (x, _) = net.after(r#"kind = "vbd", iterations = 200, acceleration = 0, precision = "f64""#)?;
            section.push(Row::bound(what("vbd") + ", 200 sweeps", net.distance(&x, star), 1e-9));
        }
        if net.has_hinges() {
            continue;
        }
        let counts: &[u32] = if scope.quick { &[1, 10] } else { &[1, 10, 100, 200] };
        let mut worst = 0.0_f64;
        for n in counts {
            let (x, _) = net.after(&format!(r#"kind = "projective", iterations = {n}"#))?;
            worst = worst.max(net.distance(&x, &net.case["projective_dynamics"][n.to_string()]["x"]));
        }
        section.push(Row::bound(what("projective") + ", recorded iterates", worst, 1e-12));
        let (mut listed, mut colored) = (0.0_f64, 0.0_f64);
        for &n in counts.iter().filter(|n| **n <= 100) {
            listed =
                listed.max(net.distance(&net.sweep(&net.listed_springs(), n), &net.case["xpbd"][n.to_string()]["x"]));
            let (x, _) = net.after(&format!(r#"kind = "xpbd", precision = "f64", iterations = {n}"#))?;
            let loops = net.sweep(&net.colored_springs(), n);
            colored = x.iter().zip(&loops).map(|(a, b)| (*a - *b).norm() / CELL).fold(colored, f64::max);
        }
        section.push(Row::bound(what("xpbd") + ", a plain loop, recorded iterates", listed, 1e-12));
        section.push(Row::bound(what("xpbd") + ", the solver against the loop", colored, 1e-12));
        let (x, _) = net.after(r#"kind = "xpbd", precision = "f64", iterations = 2000"#)?;
        let recorded = get(&net.case["xpbd"]["2000"], "dist_to_x_star_max") / CELL;
        section.push(
            Row::measured(
                what("xpbd") + ", 2000 iterations; reference: the recorded distance",
                Some(recorded),
                net.distance(&x, star),
            )
            .note("it drops the turning of the springs"),
        );
    }
    Ok(section)
}

pub(super) fn monotony(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "The nets of 0.15, as they are and shaken by 0.5, 3 and 20 cm: the objective after 1, 2, 3 … iterations of one step. How often it is higher than \
         before, by more than 1e-12 of itself.",
    );
    let sweeps = if scope.quick { 10 } else { 40 };
    for (name, settings) in [("projective", ""), ("vbd", ", acceleration = 0, precision = \"f64\"")] {
        let (mut violations, mut steps) = (0, 0);
        for (index, mut net) in Net::all()?.into_iter().enumerate() {
            // Hinges on the angle are no projection.
            if name == "projective" && net.has_hinges() {
                continue;
            }
            let before = net.state.clone();
            for (seed, disorder) in [(1, 0.0), (2, 0.005), (3, 0.03), (4, 0.2)] {
                let mut random = Random::new(seed + 10 * index as u64);
                net.state = before.clone();
                for i in 0..net.state.positions.len() {
                    if net.model.pinned.iter().all(|pinned| pinned.vertex as usize != i) {
                        net.state.positions[i] += random.vector() * disorder;
                        net.state.velocities[i] += random.vector() * (50.0 * disorder);
                    }
                }
                let mut last = f64::INFINITY;
                for n in 1..=sweeps {
                    let (_, value) = net.after(&format!("kind = \"{name}\", iterations = {n}{settings}"))?;
                    violations += u32::from(value.is_nan() || value > last * (1.0 + 1e-12));
                    steps += 1;
                    last = value;
                }
            }
        }
        section.push(
            Row::absolute(format!("`{name}`: iterations that went up, of {steps}"), 0.0, f64::from(violations), 0.0)
                .note(if name == "vbd" { "without acceleration, which does not promise it" } else { "" }),
        );
    }
    Ok(section)
}
