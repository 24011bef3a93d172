//! T2.5 to 2.7: small oscillations of chains and strips.

use muslin::Simulation;
use muslin::math::Vec3;

use crate::fixtures::{
    BEAM_MODES, BEAM_MODES_EXACT, CHAIN_MODES, CHAIN_MODES_EXACT, STIFF_STRIP_MODES, STIFF_STRIP_MODES_EXACT,
    STRIP_MODES, lookup,
};
use crate::report::Section;
use crate::row::Row;
use crate::stage::{
    Chain, STATIC_GRAVITY, advance, eigenvalues, has_bend, has_solver, in_state, narrow_strip, relax, set_state,
    simulation, static_solver,
};
use crate::strips::bend_keys;
use crate::{Scope, Test, Try};

/// The tests of this file.
pub(crate) const TESTS: &[Test] = &[
    Test { number: "2.5", title: "Modes of a hanging chain and a hanging strip", run: hanging },
    Test { number: "2.6", title: "Modes of a cantilever", run: cantilever },
    Test { number: "2.7", title: "Modes of a hanging strip with bending", run: stiff_strip },
];

/// How far shapes move. Energies are differences of terms of the size of the weight, so rounding is a part ε/slope² of a frequency, 1e-9; three slopes leave the eighth power
/// of the energy, (4 slope)⁶/strain: 6e-12.
const SLOPE: f64 = 5e-4;

/// The force that a static shape may have left, in weights of a vertex: rounding of positions times the stiffness of a cell.
const RESIDUAL: f64 = 2e-8;

/// A reduced model of moves out of a plane: shapes of whole strips, their stiffness and mass.
struct Reduced {
    /// For each shape, how far each group of vertices moves.
    shapes: Vec<Vec<f64>>,
    stiffness: Vec<Vec<f64>>,
    mass: Vec<Vec<f64>>,
}

/// Polynomials that vanish at the support: s `P_k(2s − 1)`, `P_k` Legendre's, at s = 1/n … 1, scaled to slopes of about 1.
fn shapes(n: usize) -> Vec<Vec<f64>> {
    let count = (8 * n / 10).min(22);
    let column = |i: usize| {
        let s = (i + 1) as f64 / n as f64;
        let t = 2.0 * s - 1.0;
        let mut p = vec![1.0, t];
        for k in 2..count {
            let k = k as f64;
            p.push(((2.0 * k - 1.0) * t * p[p.len() - 1] - (k - 1.0) * p[p.len() - 2]) / k);
        }
        p.into_iter().take(count).enumerate().map(|(k, p)| s * p / (1.0 + (k * k) as f64)).collect::<Vec<f64>>()
    };
    let columns: Vec<Vec<f64>> = (0..n).map(column).collect();
    (0..count).map(|k| columns.iter().map(|c| c[k]).collect()).collect()
}

impl Reduced {
    /// Second differences of the energy of the model, which is even in moves out of the plane in which the strip lies.
    ///
    /// Smooth shapes keep their digits, where moves of single vertices would lose those of the lowest modes in the stiffness of
    /// the highest. `slope` is small enough for the energy to be quadratic, large enough not to drown in rounding.
    fn new(simulation: &Simulation, groups: &[Vec<usize>], direction: Vec3<f64>, slope: f64) -> Self {
        let model = simulation.model();
        let base = &simulation.state().positions;
        let shapes = shapes(groups.len());
        let energy = |moves: &[(usize, f64)]| {
            let mut x = base.clone();
            for (group, vertices) in groups.iter().enumerate() {
                let amount: f64 = moves.iter().map(|(shape, factor)| factor * shapes[*shape][group]).sum();
                vertices.iter().for_each(|&v| x[v] += direction * amount);
            }
            simulation.terms().iter().map(|term| term.value(&x)).sum::<f64>()
        };
        let n = shapes.len();
        let rest = energy(&[]);
        let difference = |i: usize, j: usize, slope: f64| {
            if i == j {
                2.0 * (energy(&[(i, slope)]) - rest) / (slope * slope)
            } else {
                let (i, j) = (i.min(j), i.max(j));
                (energy(&[(i, slope), (j, slope)]) - energy(&[(i, slope), (j, -slope)])) / (2.0 * slope * slope)
            }
        };
        // Three slopes take the fourth and the sixth power of the energy out.
        let stiffness = |i: usize, j: usize| {
            let [one, two, four] = [1.0, 2.0, 4.0].map(|factor| difference(i, j, factor * slope));
            let without_fourth = |near: f64, far: f64| (4.0 * near - far) / 3.0;
            (16.0 * without_fourth(one, two) - without_fourth(two, four)) / 15.0
        };
        let masses: Vec<f64> = groups.iter().map(|group| group.iter().map(|&v| model.masses[v]).sum()).collect();
        let mass = |i: usize, j: usize| masses.iter().enumerate().map(|(g, m)| m * shapes[i][g] * shapes[j][g]).sum();
        let square = |f: &dyn Fn(usize, usize) -> f64| (0..n).map(|i| (0..n).map(|j| f(i, j)).collect()).collect();
        Self { stiffness: square(&stiffness), mass: square(&mass), shapes }
    }

    /// Angular frequencies, rising: eigenvalues of L⁻¹ K L⁻ᵀ, M = L Lᵀ.
    fn frequencies(&self) -> Vec<f64> {
        let n = self.mass.len();
        let mut l = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..=i {
                let sum: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
                let rest = self.mass[i][j] - sum;
                l[i][j] = if i == j { rest.sqrt() } else { rest / l[j][j] };
            }
        }
        // L⁻¹ from the left on the columns, twice with a transposition between.
        let apply = |a: &[Vec<f64>]| {
            let mut out = vec![vec![0.0; n]; n];
            for c in 0..n {
                for i in 0..n {
                    let sum: f64 = (0..i).map(|k| l[i][k] * out[c][k]).sum();
                    out[c][i] = (a[i][c] - sum) / l[i][i];
                }
            }
            out
        };
        eigenvalues(apply(&apply(&self.stiffness))).into_iter().map(|value| value.max(0.0).sqrt()).collect()
    }

    /// How far each group moves in the lowest mode, the last by 1: inverse iteration.
    fn lowest_shape(&self) -> Vec<f64> {
        let n = self.mass.len();
        let mut c = vec![0.0; n];
        c[0] = 1.0;
        for _ in 0..30 {
            let right: Vec<f64> = self.mass.iter().map(|row| row.iter().zip(&c).map(|(m, c)| m * c).sum()).collect();
            c = solve(&self.stiffness, &right);
            let scale = c.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
            c.iter_mut().for_each(|c| *c /= scale);
        }
        let groups = self.shapes[0].len();
        let shape: Vec<f64> = (0..groups).map(|g| c.iter().zip(&self.shapes).map(|(c, s)| c * s[g]).sum()).collect();
        shape.iter().map(|s| s / shape[groups - 1]).collect()
    }
}

/// K x = b by elimination.
fn solve(k: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut a: Vec<Vec<f64>> = k.iter().zip(b).map(|(row, b)| row.iter().copied().chain([*b]).collect()).collect();
    for p in 0..n {
        let (above, below) = a.split_at_mut(p + 1);
        for row in below {
            let factor = row[p] / above[p][p];
            row[p..].iter_mut().zip(&above[p][p..]).for_each(|(x, y)| *x -= factor * y);
        }
    }
    let mut x = vec![0.0; n];
    for p in (0..n).rev() {
        let known: f64 = (p + 1..n).map(|c| a[p][c] * x[c]).sum();
        x[p] = (a[p][n] - known) / a[p][p];
    }
    x
}

/// The columns of a strip that are free, as vertices of the state; column 0 is behind the clamp, 1 on it.
fn columns(simulation: &Simulation, cells: u32) -> Vec<Vec<usize>> {
    (2..cells as usize + 2).map(|c| vec![in_state(simulation, 2 * c), in_state(simulation, 2 * c + 1)]).collect()
}

/// The strain under the whole weight of the strips and chains here, and of their second run: frequencies are linear in it.
const STRAIN: f64 = 1e-5;

/// Frequencies without stretch, from those at [`STRAIN`] and at half of it.
fn unstretched(at: impl Fn(f64) -> Try<Vec<f64>>) -> Try<Vec<f64>> {
    let (whole, half) = (at(STRAIN)?, at(0.5 * STRAIN)?);
    Ok(whole.into_iter().zip(half).map(|(whole, half)| 2.0 * half - whole).collect())
}

/// A strip that hangs down from a clamp in the static world, at rest; its normal is along x.
fn hanging_strip(cells: u32, bend: &str, strain: f64) -> Try<Simulation> {
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
        stretch = {{ model = "spring", stiffness = {:?} }}
        bend = {{ {bend} }}
        "#,
        -STATIC_GRAVITY,
        static_solver(1.0),
        1.0 / STATIC_GRAVITY,
        1.0 / strain
    );
    let mut simulation = simulation(&text, &narrow_strip(cells, 10.0))?;
    relax(&mut simulation, RESIDUAL)?;
    Ok(simulation)
}

fn hanging(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "Eigenvalues of the stiffness at rest, second differences of the energy, in units of √(g/L). Chains and strips stretch, by 1e-5 and by half of that; the frequencies are \
         linear in it, and those without stretch are compared. A chain of N equal masses has the roots of the Laguerre \
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
    let unit = STATIC_GRAVITY.sqrt();
    let of_chain = |strain: f64| -> Try<Reduced> {
        let bend = format!("compliance = {:?}", strain / f64::from(links));
        let mut hung = simulation(&chain.scene(&top, mass, &bend, ""), &chain.mesh)?;
        relax(&mut hung, RESIDUAL)?;
        let nodes: Vec<Vec<usize>> = (1..=links as usize).map(|n| vec![in_state(&hung, chain.vertex(n))]).collect();
        Ok(Reduced::new(&hung, &nodes, Vec3::new(0.0, 0.0, 1.0), SLOPE))
    };
    let found = unstretched(|strain| Ok(of_chain(strain)?.frequencies()))?;
    for (mode, omega) in found.into_iter().take(3).enumerate() {
        let mode = (mode + 1).to_string();
        let discrete = lookup(CHAIN_MODES, &[&links.to_string(), &mode], 3)?;
        section.push(Row::relative(format!("chain, N = {links}, mode {mode}, discrete"), discrete, omega / unit, 1e-8));
    }
    let shape = of_chain(STRAIN)?.lowest_shape();
    let exact = lookup(CHAIN_MODES, &[&links.to_string(), "1"], 3)?;
    let moving = swing(&chain, &shape, exact)?;
    section.push(Row::relative(format!("chain, N = {links}, mode 1 in motion, discrete"), exact, moving, 2e-3));
    let sizes: &[u32] = if scope.quick { &[20] } else { &[20, 40] };
    for &cells in sizes {
        let found = unstretched(|strain| {
            let strip = hanging_strip(cells, "model = \"none\"", strain)?;
            Ok(Reduced::new(&strip, &columns(&strip, cells), Vec3::new(1.0, 0.0, 0.0), SLOPE).frequencies())
        })?;
        for (mode, omega) in found.into_iter().take(3).enumerate() {
            let mode = (mode + 1).to_string();
            let discrete = lookup(STRIP_MODES, &[&cells.to_string(), &mode], 2)?;
            section.push(Row::relative(
                format!("strip, N = {cells}, mode {mode}, discrete"),
                discrete,
                omega / unit,
                1e-8,
            ));
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
    let solver = r#"kind = "newton", integrator = "bdf2", substeps = 10, iterations = 30, tolerance = 1e-13"#;
    let top = format!("fps = {:?}\ngravity = [0.0, {:?}, 0.0]\nsolver = {{ {solver} }}", 0.1 / step, -g);
    let mass = 1.0 / (g * chain.links as f64);
    let mut moving =
        simulation(&chain.scene(&top, mass, &format!("compliance = {:?}", 1e-5 * chain.length), ""), &chain.mesh)?;
    let nodes: Vec<usize> = (1..=chain.links).map(|n| in_state(&moving, chain.vertex(n))).collect();
    set_state(&mut moving, |state| {
        for (&v, s) in nodes.iter().zip(shape) {
            state.positions[v].z = 1e-3 * s;
        }
    })?;
    let tip = nodes[chain.links - 1];
    let (mut last, mut crossings) = (moving.state().positions[tip].z, Vec::new());
    for n in 1..=180 {
        advance(&mut moving)?;
        let now = moving.state().positions[tip].z;
        if last * now < 0.0 {
            crossings.push(10.0 * (f64::from(n) - now / (now - last)) * step);
        }
        last = now;
    }
    match crossings[..] {
        [first, second, ..] => Ok(std::f64::consts::PI / (second - first) / g.sqrt()),
        _ => Err(format!("{} zero crossings", crossings.len())),
    }
}

/// Bend models that are chains of plates on a narrow strip, in the limit of small angles.
const HINGES: [&str; 6] = ["dihedral", "isometric", "hinge_force", "cubic_shell", "projective", "shell"];

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
                material = {{ density = 1.0, stretch = {{ model = "none" }}, bend = {{ model = "{model}", {}stiffness = 1.0 }} }}
                "#,
                bend_keys(model)
            );
            let strip = simulation(&text, &narrow_strip(cells, 10.0))?;
            let found = Reduced::new(&strip, &columns(&strip, cells), Vec3::new(0.0, 1.0, 0.0), 1e-4).frequencies();
            for mode in 1..=3_usize {
                let discrete = lookup(BEAM_MODES, &["half_hinge_at_clamp", &cells.to_string(), &mode.to_string()], 3)?;
                if cells == 40 {
                    section.push(Row::relative(
                        format!("`{model}`, N = {cells}, mode {mode}, discrete"),
                        discrete,
                        found[mode - 1],
                        1e-5,
                    ));
                }
            }
            errors.push(found[0] / lookup(BEAM_MODES_EXACT, &["1"], 2)? - 1.0);
        }
        let n = errors.len();
        section.push(
            Row::bound(
                format!("`{model}`, N = 40, mode 1, relative error against the exact one"),
                errors[n - 1].abs(),
                5.5e-4,
            )
            .note(format!("order {:.2}", crate::stage::order(errors[n - 2], errors[n - 1]))),
        );
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
        let bend = format!("model = \"dihedral\", stiffness = {:?}", 1.0 / gamma);
        let found = unstretched(|strain| {
            let strip = hanging_strip(cells, &bend, strain)?;
            Ok(Reduced::new(&strip, &columns(&strip, cells), Vec3::new(1.0, 0.0, 0.0), SLOPE).frequencies())
        })?;
        let discrete = lookup(STIFF_STRIP_MODES, &[&gamma.to_string(), &cells.to_string(), "1"], 3)?;
        let exact = lookup(STIFF_STRIP_MODES_EXACT, &[&gamma.to_string(), "1"], 2)?;
        // The discrete problem is 0.05, 0.06 and 0.13 % off, in two digits.
        let own = if gamma < 50.0 {
            5.5e-4
        } else if gamma < 500.0 {
            6.5e-4
        } else {
            1.35e-3
        };
        let omega = found[0] / STATIC_GRAVITY.sqrt();
        section.push(Row::relative(
            format!("`dihedral`, Γ = {gamma}, N = 40, mode 1, discrete"),
            discrete,
            omega,
            1e-7,
        ));
        section.push(Row::relative(format!("`dihedral`, Γ = {gamma}, N = 40, mode 1, exact"), exact, omega, own));
    }
    Ok(section)
}
