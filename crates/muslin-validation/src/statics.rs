//! T1.1 to T1.6: particles and chains at rest.

use muslin::Simulation;
use muslin::math::Vec3;

use crate::fixtures::{CATENARY_DISCRETE, CATENARY_ELASTIC, CATENARY_NODES, lookup, num, table};
use crate::plot::{Plot, Scale, Series};
use crate::report::Section;
use crate::row::Row;
use crate::stage::{
    Chain, STATIC_GRAVITY, advance, has_solver, in_state, pendant, pendant_scene, positions, relax, set_state,
    simulation, static_solver,
};
use crate::{Scope, Test, Try};

/// The tests of this file.
pub(crate) const TESTS: &[Test] = &[
    Test { number: "1.1", title: "Particle on a compliant constraint", run: hanging_particle },
    Test { number: "1.2", title: "Vertical chain of springs", run: vertical_chain },
    Test { number: "1.3", title: "Top force of a falling chain (XPBD paper, 6.2)", run: falling_chain },
    Test { number: "1.4", title: "Inextensible chain, one sweep per substep", run: inextensible_chain },
    Test { number: "1.5", title: "Catenary", run: catenary },
    Test { number: "1.6", title: "Elastic catenary", run: elastic_catenary },
];

const GRAVITY: f64 = 9.81;

/// Runs until the fastest vertex has been slower than `speed`, in m/s, for ten frames: longer than a turning point.
fn settle(simulation: &mut Simulation, speed: f64, frames: usize) -> Try<()> {
    let mut slow = 0;
    for _ in 0..frames {
        advance(simulation)?;
        slow = if simulation.diagnose().max_speed < speed { slow + 1 } else { 0 };
        if slow == 10 {
            return Ok(());
        }
    }
    Err(format!("still moving at {:.1e} m/s after {frames} frames", simulation.diagnose().max_speed))
}

/// The elongation of a particle of 0.05 kg on α = 0.0125 m/N and 1 cm.
fn elongation(fps: u32, solver: &str, bend: &str) -> Try<f64> {
    let (mass, rest) = (0.05, 0.01);
    let top = format!("fps = {fps}\nsolver = {{ {solver} }}");
    let text = pendant_scene(&top, mass, rest, bend).replace("material = {", "material = { damping = 80.0,");
    let mut simulation = simulation(&text, &pendant(rest))?;
    settle(&mut simulation, 1e-13, 100 * fps as usize)?;
    let x = positions(&simulation);
    Ok((x[2] - x[3]).norm() - rest)
}

fn hanging_particle(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "m = 0.05 kg on one constraint of α = 0.0125 m/N; elongation m g α for every step and iteration count. Air slows it down \
         on the way and takes no part in the equilibrium.",
    );
    let (mass, compliance) = (0.05, 0.0125);
    let exact = mass * GRAVITY * compliance;
    let steps: &[u32] = if scope.quick { &[30, 240] } else { &[30, 60, 240, 1000] };
    let bend = format!("compliance = {compliance}");
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    let mut farthest = exact;
    for &fps in steps {
        for iterations in [1, 10, 100] {
            let solver = format!(r#"kind = "xpbd", precision = "f64", substeps = 1, iterations = {iterations}"#);
            let got = elongation(fps, &solver, &bend)?;
            (least, most) = (least.min(got), most.max(got));
            if (got - exact).abs() > (farthest - exact).abs() {
                farthest = got;
            }
        }
    }
    let count = 3 * steps.len();
    section.push(Row::relative(format!("`xpbd`, farthest of {count} runs"), exact, farthest, 1e-10));
    section.push(Row::bound(format!("`xpbd`, spread of {count} runs"), (most - least) / exact, 1e-10));
    for (kind, settings) in [
        ("newton", "iterations = 50, tolerance = 1e-15"),
        ("explicit", "precision = \"f64\""),
        ("vbd", "iterations = 100, precision = \"f64\""),
    ] {
        if has_solver(kind) {
            let comma = if settings.is_empty() { "" } else { ", " };
            let solver = format!(r#"kind = "{kind}", substeps = 1{comma}{settings}"#);
            section.push(Row::relative(format!("`{kind}`, h = 1/60 s"), exact, elongation(60, &solver, &bend)?, 1e-10));
        }
    }
    for fps in [60, 240] {
        let (k, h) = (0.2, 1.0 / f64::from(fps));
        let law = (1.0 - k) / k * h * h * GRAVITY;
        let got = elongation(fps, r#"kind = "pbd", precision = "f64", substeps = 1"#, "k = 0.2")?;
        section.push(Row::relative(format!("`pbd`, k = 0.2, h = 1/{fps} s"), law, got, 1e-8).by_nature(
            "a part of the error per step is no stiffness: (1 − k)/k g h², which falls with the square of the step",
        ));
    }
    Ok(section)
}

fn vertical_chain(_: Scope) -> Try<Section> {
    let (links, mass, compliance) = (10_usize, 0.1, 1e-3);
    let mut section = Section::new(
        "Ten springs of k = 1000 N/m with 0.1 kg at each node. Node i hangs by (m g/k) Σ_{j≤i} (N − j + 1) below its rest.",
    );
    let chain = Chain::new(links, 0.1);
    let exact = |node: usize| {
        (1..=node).map(|j| mass * GRAVITY * compliance * (links - j + 1) as f64 + chain.length).sum::<f64>()
    };
    let farthest = |solver: &str| -> Try<(f64, f64)> {
        let top = format!("fps = 60\nsolver = {{ {solver} }}");
        let text = chain.scene(&top, mass, &format!("compliance = {compliance}"), "");
        let text = text.replace("[cloth.material]", "[cloth.material]\ndamping = 20.0");
        let mut simulation = simulation(&text, &chain.mesh)?;
        settle(&mut simulation, 1e-12, 6000)?;
        let nodes = chain.nodes(&simulation);
        let error = (1..=links).map(|i| (-nodes[i].y / exact(i) - 1.0).abs()).fold(0.0, f64::max);
        Ok((error, -nodes[links].y))
    };
    for (kind, settings) in [
        ("newton", "substeps = 1, iterations = 50, tolerance = 1e-15"),
        ("explicit", "precision = \"f64\", substeps = 10"),
        ("vbd", "precision = \"f64\", substeps = 1, iterations = 300"),
        ("xpbd", "precision = \"f64\", substeps = 1, iterations = 300"),
    ] {
        if has_solver(kind) {
            let (error, _) = farthest(&format!(r#"kind = "{kind}", {settings}"#))?;
            section.push(Row::bound(format!("`{kind}`, all nodes, relative"), error, 1e-9).note(settings));
        }
    }
    for (substeps, iterations) in [(1, 1), (1, 10), (10, 1), (100, 1)] {
        let solver = format!(r#"kind = "xpbd", precision = "f64", substeps = {substeps}, iterations = {iterations}"#);
        let (_, tip) = farthest(&solver)?;
        section.push(
            Row::measured(
                format!("`xpbd`, tip, {substeps} substeps × {iterations} iterations"),
                Some(exact(links)),
                tip,
            )
            .note("iterations that have not converged leave the chain too long"),
        );
    }
    Ok(section)
}

/// The force on the support at every step of a chain that is let go straight along a direction: from the change of momentum.
fn support_forces(chain: &Chain, along: Vec3<f64>, solver: &str, step: f64, steps: usize) -> Try<Vec<f64>> {
    let top = format!("fps = {:?}\ngravity = [0.0, -10.0, 0.0]\nsolver = {{ {solver}, substeps = 1 }}", 1.0 / step);
    let mut simulation = simulation(&chain.scene(&top, 1.0, "compliance = 1e-8", ""), &chain.mesh)?;
    let free: Vec<usize> = (1..=chain.links).map(|node| in_state(&simulation, chain.vertex(node))).collect();
    let free_of_state = free.clone();
    set_state(&mut simulation, |state| {
        for (i, &v) in free_of_state.iter().enumerate() {
            state.positions[v] = along * (chain.length * (i + 1) as f64);
        }
    })?;
    let momentum = |s: &Simulation| free.iter().fold(Vec3::ZERO, |sum, &v| sum + s.state().velocities[v]);
    let weight = Vec3::new(0.0, -10.0 * chain.links as f64, 0.0);
    let mut forces = Vec::new();
    for _ in 0..steps {
        let before = momentum(&simulation);
        advance(&mut simulation)?;
        forces.push(((momentum(&simulation) - before) * (1.0 / step) - weight).norm());
    }
    Ok(forces)
}

fn falling_chain(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "20 particles of 1 kg on links of 1 cm with α = 1e-8 m/N, h = 1/60 s, let go as a straight line that hangs or is level; the force on the support over 30 steps, from the change of \
         momentum, against `newton`. The XPBD paper reports 6, 2 and 0.5 % of error of a hanging chain for 50, 100 and 1000 iterations, and says neither its step nor its start: that is the tolerance \
         for the force of the chain that hangs. The largest error on the way there is that of the first steps, in which the whole weight comes on at once; it has no tolerance.",
    );
    if !has_solver("newton") {
        return Ok(section);
    }
    let chain = Chain::new(19, 0.01);
    let (step, steps) = (1.0 / 60.0, 30);
    let iterations: &[(u32, f64)] =
        if scope.quick { &[(50, 0.06), (1000, 0.005)] } else { &[(50, 0.06), (100, 0.02), (1000, 0.005)] };
    for (name, along) in [("hanging", Vec3::new(0.0, -1.0, 0.0)), ("level", Vec3::new(1.0, 0.0, 0.0))] {
        let newton = r#"kind = "newton", iterations = 400, tolerance = 1e-12"#;
        let exact = support_forces(&chain, along, newton, step, steps)?;
        let scale = exact.iter().fold(0.0_f64, |m, f| m.max(*f));
        for &(n, published) in iterations {
            let xpbd = format!(r#"kind = "xpbd", precision = "f64", iterations = {n}"#);
            let got = support_forces(&chain, along, &xpbd, step, steps)?;
            let error = got.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / scale;
            if name == "hanging" {
                let (got, exact) = (got[steps - 1], exact[steps - 1]);
                let what = format!("`xpbd`, hanging at the start, {n} iterations: force after half a second");
                section.push(Row::relative(what, exact, got, published));
            }
            let what = format!("`xpbd`, {name} at the start, {n} iterations: largest error over the largest force");
            section.push(
                Row::measured(what, None, error).note("while it falls into place, which is not what was published"),
            );
        }
    }
    Ok(section)
}

/// What a coloured sweep leaves of an inextensible chain of N particles at rest, over g h².
///
/// A link must give the tension `λ_i` = (N − i + 1) g h² in one visit, and a visit gives C/(w + w′): so C at the visit is `λ_1` for
/// the link at the support and `2λ_i` for the others. Falling stretches the first link by g h² and no other, and links visited
/// before have stretched their neighbour by their own λ. With every second link first, what is left adds up to
/// (N² − 1)/2 for odd N, whichever half comes first; from the top down it is N(N − 1)/2.
fn coloured_law(n: f64) -> f64 {
    0.5 * (n * n - 1.0)
}

fn inextensible_chain(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "20 particles of 1 kg, links of 1 cm, α = 0, g = 10 m/s², one Gauss–Seidel sweep per substep (Macklin et al. 2019, 6.1). Swept from the top \
         down the tip hangs g h² N(N−1)/2 too low. Muslin sweeps by colours, every second link first, which gives g h² (N²−1)/2 (5 % more \
         for N = 19): each link must make its tension λ in one visit, and what its neighbours left it adds up to that.",
    );
    let chain = Chain::new(19, 0.01);
    let measure = |kind: &str, bend: &str, substeps: u32| -> Try<f64> {
        let top = format!(
            "fps = 60\ngravity = [0.0, -10.0, 0.0]\nsolver = {{ kind = \"{kind}\", precision = \"f64\", substeps = {substeps}, iterations = 1 }}"
        );
        let text = chain.scene(&top, 1.0, bend, "").replace("[cloth.material]", "[cloth.material]\ndamping = 10.0");
        let mut simulation = simulation(&text, &chain.mesh)?;
        settle(&mut simulation, 1e-11, 3000)?;
        Ok(-chain.nodes(&simulation)[19].y - 0.19)
    };
    let substeps: &[u32] = if scope.quick { &[10] } else { &[1, 10, 100] };
    for (kind, bend) in [("xpbd", "compliance = 0"), ("pbd", "k = 1")] {
        for &n in substeps {
            let h = 1.0 / (60.0 * f64::from(n));
            let got = measure(kind, bend, n)?;
            section.push(
                Row::relative(
                    format!("`{kind}`, {n} substeps, stretch of the tip"),
                    coloured_law(19.0) * 10.0 * h * h,
                    got,
                    1e-6,
                )
                .note(format!("from the top down it would be {:.4e} m", 171.0 * 10.0 * h * h)),
            );
        }
    }
    Ok(section)
}

/// A chain between level ends `span` apart, at rest; ends are nodes 0 and N.
fn hung(chain: &Chain, span: f64, compliance: f64, solver: Option<(&str, f64)>) -> Try<Simulation> {
    let (count, total) = (chain.links, chain.length * chain.links as f64);
    // In the static world a particle weighs 1 N for the total length of links, N of them.
    let (solver, gravity, fps) = match solver {
        None => (static_solver(1.0), STATIC_GRAVITY, 1.0),
        Some((solver, fps)) => (solver.to_owned(), GRAVITY, fps),
    };
    let mass = 1.0 / (gravity * count as f64);
    let top = format!("fps = {fps:?}\ngravity = [0.0, {:?}, 0.0]\nsolver = {{ {solver} }}", -gravity);
    let offset = format!("[{span:?}, {total:?}, 0.0]");
    let last = format!(", {{ vertices = [{}], path = [{{ time = 0.0, offset = {offset} }}] }}", chain.vertex(count));
    let text = chain.scene(&top, mass, &format!("compliance = {compliance:?}"), &last);
    let text = text.replace("[cloth.material]", "[cloth.material]\ndamping = 4.0");
    let mut simulation = simulation(&text, &chain.mesh)?;
    let nodes: Vec<usize> = (0..=count).map(|node| in_state(&simulation, chain.vertex(node))).collect();
    set_state(&mut simulation, |state| {
        // A V whose links all have their rest length, or a straight line where the span is too wide for one.
        let run = span / count as f64;
        let drop = (chain.length * chain.length - run * run).max(0.0).sqrt();
        for (i, &v) in nodes.iter().enumerate() {
            state.positions[v] = Vec3::new(run * i as f64, -drop * i.min(count - i) as f64, 0.0);
        }
    })?;
    Ok(simulation)
}

fn catenary(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "Particles on nearly rigid links between level ends, span D; the exact polygon is known to all digits, and its sag differs from the \
         catenary's by O(1/N²).",
    );
    if has_solver("newton") {
        let mut sags = Vec::new();
        for (links, span) in [(10_usize, 0.5), (20, 0.5), (20, 0.8)] {
            let chain = Chain::new(links, 1.0 / links as f64);
            // A strain of 1e-7 at the tension of the weight.
            let compliance = 1e-7 * chain.length;
            let mut simulation = hung(&chain, span, compliance, None)?;
            let residual = relax(&mut simulation, 1e-6)?;
            let nodes = chain.nodes(&simulation);
            let known: Vec<Vec3<f64>> = table(CATENARY_NODES)
                .iter()
                .filter(|row| num(&row[0]) == links as f64 && num(&row[1]) == span)
                .map(|row| Vec3::new(num(&row[3]), num(&row[4]), 0.0))
                .collect();
            let sag = -nodes.iter().map(|x| x.y).fold(0.0, f64::min);
            let [discrete, continuous] =
                [2, 3].map(|column| lookup(CATENARY_DISCRETE, &[&links.to_string(), &span.to_string()], column));
            if known.len() == nodes.len() {
                let error = nodes.iter().zip(&known).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max);
                section.push(
                    Row::bound(format!("`newton`, N = {links}, D = {span}: nodes, over L"), error, 1e-6)
                        .note(format!("residual {:.0e}", residual.0)),
                );
            }
            section.push(Row::absolute(
                format!("`newton`, N = {links}, D = {span}: sag/L of the polygon"),
                discrete?,
                sag,
                1e-6,
            ));
            if span == 0.5 {
                sags.push((links, sag / continuous? - 1.0));
            }
        }
        for (links, error) in sags {
            section.push(
                Row::measured(format!("N = {links}, D = 0.5: sag against the continuous catenary"), None, error)
                    .note("relative"),
            );
        }
    }
    let chain = Chain::new(10, 0.1);
    let exact = lookup(CATENARY_DISCRETE, &["10", "0.5"], 2)?;
    let budgets: &[(u32, u32)] = if scope.quick { &[(20, 1)] } else { &[(1, 20), (20, 1), (100, 1), (10, 100)] };
    for &(substeps, iterations) in budgets {
        for kind in ["xpbd", "pbd"] {
            let solver =
                format!(r#"kind = "{kind}", precision = "f64", substeps = {substeps}, iterations = {iterations}"#);
            let mut simulation = hung(&chain, 0.5, 0.0, Some((&solver, 60.0)))?;
            settle(&mut simulation, 1e-7, 3000)?;
            let sag = -chain.nodes(&simulation).iter().map(|x| x.y).fold(0.0, f64::min);
            section.push(Row::measured(
                format!("`{kind}`, N = 10, D = 0.5, {substeps} × {iterations}: sag/L"),
                Some(exact),
                sag,
            ));
        }
    }
    Ok(section)
}

fn elastic_catenary(scope: Scope) -> Try<Section> {
    let mut section =
        Section::new("Springs between level ends, N = 50; e = w L/EA is the strain under the whole weight (Irvine).");
    if !has_solver("newton") {
        return Ok(section);
    }
    let links = 50;
    let chain = Chain::new(links, 1.0 / links as f64);
    let mut curves: Vec<[f64; 2]> = Vec::new();
    for row in table(CATENARY_ELASTIC) {
        let (span, extensibility) = (num(&row[0]), num(&row[1]));
        if (scope.quick && span != 0.5) || extensibility < 1e-3 {
            continue;
        }
        let compliance = extensibility * chain.length;
        let mut simulation = hung(&chain, span, compliance, None)?;
        relax(&mut simulation, 1e-6)?;
        let nodes = chain.nodes(&simulation);
        let sag = -nodes.iter().map(|x| x.y).fold(0.0, f64::min);
        let link = nodes[1] - nodes[0];
        let tension = (link.norm() - chain.length) / compliance;
        let force = link.normalized_or_zero() * tension;
        // The node at the support has half a particle, which the first link does not carry.
        let top =
            (force.x * force.x + (force.y.abs() + 0.5 / links as f64) * (force.y.abs() + 0.5 / links as f64)).sqrt();
        section.push(Row::relative(format!("D = {span}, e = {extensibility}: sag/L"), num(&row[4]), sag, 2e-3));
        section.push(Row::relative(
            format!("D = {span}, e = {extensibility}: end tension over weight"),
            num(&row[3]),
            top,
            2e-3,
        ));
        if span == 0.5 {
            curves.push([extensibility, (sag / num(&row[4]) - 1.0).abs()]);
        }
    }
    section.plots.push(Plot {
        stem: "elastic_catenary".to_owned(),
        title: "Elastic catenary, D = 0.5 L, N = 50: error of the sag".to_owned(),
        axes: ["w L / EA".to_owned(), "relative error".to_owned()],
        scales: [Scale::Log, Scale::Log],
        series: vec![Series::points("newton", curves)],
    });
    Ok(section)
}
