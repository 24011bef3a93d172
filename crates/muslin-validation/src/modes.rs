//! T2.5 to 2.7: small oscillations of chains and strips.

use muslin::Simulation;
use muslin::math::Vec3;

use crate::fixtures::{
    BEAM_MODES, BEAM_MODES_EXACT, CHAIN_MODES, CHAIN_MODES_EXACT, STIFF_STRIP_MODES, STIFF_STRIP_MODES_EXACT, STRIP_MODES, lookup,
};
use crate::report::Section;
use crate::row::Row;
use crate::stage::{
    Chain, STATIC_GRAVITY, advance, eigenvalues, has_bend, has_solver, in_state, narrow_strip, relax, set_state, simulation,
    static_solver,
};
use crate::{Scope, Test, Try};

/// The tests of this file.
pub(crate) const TESTS: &[Test] = &[
    Test { number: "2.5", title: "Modes of a hanging chain and a hanging strip", run: hanging },
    Test { number: "2.6", title: "Modes of a cantilever", run: cantilever },
    Test { number: "2.7", title: "Modes of a hanging strip with bending", run: stiff_strip },
];

/// Stiffness against moves of groups of vertices along `direction`, and their masses, at the current state.
///
/// Second differences of the energy of the model, which is even in these moves: a strip or a chain lies in a plane, and
/// they leave it. Groups farther apart than three have no common element.
fn stiffness(simulation: &Simulation, groups: &[Vec<usize>], direction: Vec3<f64>, step: f64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let model = simulation.model();
    let base = &simulation.state().positions;
    let energy = |moves: [(usize, f64); 2]| {
        let mut x = base.clone();
        for (group, amount) in moves {
            for &v in &groups[group] {
                x[v] += direction * amount;
            }
        }
        model.terms.iter().map(|term| term.value(&x)).sum::<f64>()
    };
    let n = groups.len();
    let rest = model.terms.iter().map(|term| term.value(base)).sum::<f64>();
    let mut k = vec![vec![0.0; n]; n];
    for i in 0..n {
        k[i][i] = 2.0 * (energy([(i, step), (i, 0.0)]) - rest) / (step * step);
        for j in i + 1..n.min(i + 4) {
            let mixed = (energy([(i, step), (j, step)]) - energy([(i, step), (j, -step)])) / (2.0 * step * step);
            k[i][j] = mixed;
            k[j][i] = mixed;
        }
    }
    let masses = groups.iter().map(|group| group.iter().map(|&v| model.masses[v]).sum()).collect();
    (k, masses)
}

/// Angular frequencies, rising.
fn frequencies(k: &[Vec<f64>], masses: &[f64]) -> Vec<f64> {
    let n = masses.len();
    let scaled = (0..n).map(|i| (0..n).map(|j| k[i][j] / (masses[i] * masses[j]).sqrt()).collect()).collect();
    eigenvalues(scaled).into_iter().map(|l: f64| l.max(0.0).sqrt()).collect()
}

/// The shape of the lowest mode: inverse iteration, with elimination that keeps no factor.
fn lowest_shape(k: &[Vec<f64>], masses: &[f64]) -> Vec<f64> {
    let n = masses.len();
    let mut shape = vec![1.0; n];
    for _ in 0..30 {
        let mut a: Vec<Vec<f64>> = (0..n)
            .map(|i| k[i].iter().copied().chain([masses[i] * shape[i]]).collect())
            .collect();
        for p in 0..n {
            for q in p + 1..n {
                let factor = a[q][p] / a[p][p];
                for c in p..=n {
                    let above = a[p][c];
                    a[q][c] -= factor * above;
                }
            }
        }
        for p in (0..n).rev() {
            let known: f64 = (p + 1..n).map(|c| a[p][c] * shape[c]).sum();
            shape[p] = (a[p][n] - known) / a[p][p];
        }
        let scale = shape[n - 1];
        shape.iter_mut().for_each(|s| *s /= scale);
    }
    shape
}

/// The columns of a strip that are free, as vertices of the state; column 0 is behind the clamp, 1 on it.
fn columns(simulation: &Simulation, cells: u32) -> Vec<Vec<usize>> {
    (2..cells as usize + 2).map(|c| vec![in_state(simulation, 2 * c), in_state(simulation, 2 * c + 1)]).collect()
}

/// A strip that hangs down from a clamp in the static world, at rest; its normal is along x.
fn hanging_strip(cells: u32, bend: &str) -> Try<Simulation> {
    let text = format!(
        r#"
        fps = 1.0
        gravity = [0.0, {:?}, 0.0]
        solver = {{ {} }}
        [[cloth]]
        mesh = "strip.obj"
        rotate = [0.0, 0.0, -90.0]
        pins = [ {{ within = {{ min = [-1.0, -1e-9, -9.0], max = [1.0, 9.0, 9.0] }} }} ]
        [cloth.material]
        density = {:?}
        stretch = {{ model = "spring", stiffness = 1e4 }}
        bend = {{ {bend} }}
        "#,
        -STATIC_GRAVITY,
        static_solver(1.0),
        1.0 / STATIC_GRAVITY
    );
    let mut simulation = simulation(&text, &narrow_strip(cells, 10.0))?;
    relax(&mut simulation, 1e-6)?;
    Ok(simulation)
}

fn hanging(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "Eigenvalues of the stiffness at rest, second differences of the energy, in units of √(g/L). A chain of N equal masses has the roots of the Laguerre \
         polynomial L_N; a strip whose masses are lumped by area has half a mass at its end and converges with 1/N², the chain only with 1/N. \
         Then the first mode in motion: 2000 steps of `newton` with BDF2 to a period, from zero crossings of the tip.",
    );
    if !has_solver("newton") {
        return Ok(section);
    }
    let links = 20_u32;
    let chain = Chain::new(links as usize, 1.0 / f64::from(links));
    let top = format!("fps = 1.0\ngravity = [0.0, {:?}, 0.0]\nsolver = {{ {} }}", -STATIC_GRAVITY, static_solver(1.0));
    let mass = 1.0 / (STATIC_GRAVITY * f64::from(links));
    let mut hung = simulation(&chain.scene(&top, mass, &format!("compliance = {:?}", 1e-6 / f64::from(links)), ""), &chain.mesh)?;
    relax(&mut hung, 1e-6)?;
    let nodes: Vec<Vec<usize>> = (1..=links as usize).map(|n| vec![in_state(&hung, chain.vertex(n))]).collect();
    let unit = STATIC_GRAVITY.sqrt();
    let (k, masses) = stiffness(&hung, &nodes, Vec3::new(0.0, 0.0, 1.0), 1e-4);
    for (mode, omega) in frequencies(&k, &masses).into_iter().take(3).enumerate() {
        let mode = (mode + 1).to_string();
        let discrete = lookup(CHAIN_MODES, &[&links.to_string(), &mode], 3)?;
        section.push(Row::relative(format!("chain, N = {links}, mode {mode}, discrete"), discrete, omega / unit, 1e-5).note("links stretch by 1e-6"));
    }
    let shape = lowest_shape(&k, &masses);
    let exact = lookup(CHAIN_MODES, &[&links.to_string(), "1"], 3)?;
    let moving = swing(&chain, &shape, exact)?;
    section.push(Row::relative(format!("chain, N = {links}, mode 1 in motion, discrete"), exact, moving, 2e-3));
    let sizes: &[u32] = if scope.quick { &[20] } else { &[20, 40] };
    for &cells in sizes {
        let strip = hanging_strip(cells, "model = \"none\"")?;
        let (k, masses) = stiffness(&strip, &columns(&strip, cells), Vec3::new(1.0, 0.0, 0.0), 1e-4);
        for (mode, omega) in frequencies(&k, &masses).into_iter().take(3).enumerate() {
            let mode = (mode + 1).to_string();
            let discrete = lookup(STRIP_MODES, &[&cells.to_string(), &mode], 2)?;
            section.push(Row::relative(format!("strip, N = {cells}, mode {mode}, discrete"), discrete, omega / unit, 2e-4).note("the strip stretches by 1e-4"));
            if mode == "1" {
                let exact = lookup(CHAIN_MODES_EXACT, &["1"], 2)?;
                section.push(Row::relative(format!("strip, N = {cells}, mode 1, exact"), exact, omega / unit, 1e-3));
            }
        }
    }
    Ok(section)
}

/// Frequency of a chain in its first mode, in √(g/L), by BDF2.
fn swing(chain: &Chain, shape: &[f64], known: f64) -> Try<f64> {
    let g = 9.81_f64;
    let step = std::f64::consts::TAU / (known * g.sqrt()) / 2000.0;
    let solver = r#"kind = "newton", scheme = "bdf2", substeps = 1, iterations = 30, tolerance = 1e-13"#;
    let top = format!("fps = {:?}\ngravity = [0.0, {:?}, 0.0]\nsolver = {{ {solver} }}", 1.0 / step, -g);
    let mass = 1.0 / (g * chain.links as f64);
    let mut moving = simulation(&chain.scene(&top, mass, &format!("compliance = {:?}", 1e-5 * chain.length), ""), &chain.mesh)?;
    let nodes: Vec<usize> = (1..=chain.links).map(|n| in_state(&moving, chain.vertex(n))).collect();
    set_state(&mut moving, |state| {
        for (&v, s) in nodes.iter().zip(shape) {
            state.positions[v].z = 1e-3 * s;
        }
    })?;
    let tip = nodes[chain.links - 1];
    let (mut last, mut crossings) = (moving.state().positions[tip].z, Vec::new());
    for n in 1..=1800 {
        advance(&mut moving)?;
        let now = moving.state().positions[tip].z;
        if last * now < 0.0 {
            crossings.push((f64::from(n) - now / (now - last)) * step);
        }
        last = now;
    }
    match crossings[..] {
        [first, second, ..] => Ok(std::f64::consts::PI / (second - first) / g.sqrt()),
        _ => Err(format!("{} zero crossings", crossings.len())),
    }
}

/// Bend models of strips whose linear limit is the hinge.
const HINGES: [&str; 5] = ["dihedral", "isometric", "bridson", "cubic_shell", "projective_bend"];

fn cantilever(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "Eigenvalues of the bending stiffness of a strip of N cells at rest, in √(B/ρL⁴). The hinge on the clamp carries half the length, \
         without which mode 1 would be 2.5 % off at N = 40.",
    );
    let sizes: &[u32] = if scope.quick { &[20, 40] } else { &[10, 20, 40] };
    for model in HINGES.into_iter().filter(|model| has_bend(model)) {
        let mut errors = Vec::new();
        for &cells in sizes {
            let text = format!(
                r#"
                solver = {{ kind = "xpbd" }}
                [[cloth]]
                mesh = "strip.obj"
                pins = [ {{ within = {{ min = [-9.0, -1.0, -9.0], max = [1e-9, 1.0, 9.0] }} }} ]
                material = {{ density = 1.0, stretch = {{ model = "none" }}, bend = {{ model = "{model}", stiffness = 1.0 }} }}
                "#
            );
            let strip = simulation(&text, &narrow_strip(cells, 10.0))?;
            let (k, masses) = stiffness(&strip, &columns(&strip, cells), Vec3::new(0.0, 1.0, 0.0), 1e-5);
            let found = frequencies(&k, &masses);
            for mode in 1..=3_usize {
                let discrete = lookup(BEAM_MODES, &["half_hinge_at_clamp", &cells.to_string(), &mode.to_string()], 3)?;
                if cells == 40 {
                    section.push(Row::relative(format!("`{model}`, N = {cells}, mode {mode}, discrete"), discrete, found[mode - 1], 1e-5));
                }
            }
            errors.push(found[0] / lookup(BEAM_MODES_EXACT, &["1"], 2)? - 1.0);
        }
        let n = errors.len();
        section.push(Row::bound(format!("`{model}`, N = 40, mode 1, relative error against the exact one"), errors[n - 1].abs(), 5.5e-4).note(format!("order {:.2}", crate::stage::order(errors[n - 2], errors[n - 1]))));
    }
    Ok(section)
}

fn stiff_strip(scope: Scope) -> Try<Section> {
    let mut section = Section::new("As 2.5 and 2.6 together: gravity and bending, Γ = ρ g L³/B, in √(g/L).");
    if !has_solver("newton") {
        return Ok(section);
    }
    let gammas: &[f64] = if scope.quick { &[100.0] } else { &[10.0, 100.0, 1000.0] };
    let cells = 40;
    for &gamma in gammas {
        let strip = hanging_strip(cells, &format!("model = \"dihedral\", stiffness = {:?}", 1.0 / gamma))?;
        let (k, masses) = stiffness(&strip, &columns(&strip, cells), Vec3::new(1.0, 0.0, 0.0), 1e-4);
        let found = frequencies(&k, &masses);
        let discrete = lookup(STIFF_STRIP_MODES, &[&gamma.to_string(), &cells.to_string(), "1"], 3)?;
        let exact = lookup(STIFF_STRIP_MODES_EXACT, &[&gamma.to_string(), "1"], 2)?;
        let omega = found[0] / STATIC_GRAVITY.sqrt();
        section.push(Row::relative(format!("`dihedral`, Γ = {gamma}, N = 40, mode 1, discrete"), discrete, omega, 2e-4).note("the strip stretches by 1e-4"));
        section.push(Row::relative(format!("`dihedral`, Γ = {gamma}, N = 40, mode 1, exact"), exact, omega, 1.5e-3));
    }
    Ok(section)
}
