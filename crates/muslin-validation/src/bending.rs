//! T1.10, 1.11, 1.15, 1.16: what bending costs on given shapes, and what is left free when nothing stretches.

use muslin::math::Vec3;
use muslin::mesh::Mesh;
use muslin::setup::Compiled;
use muslin::topology::Topology;

use crate::fixtures::{CYLINDER, DOF_COUNT, QUADRATIC_SURFACES, RANDOM_MESH, UNSTRUCTURED_MESH, flat_mesh, num, table};
use crate::meshes::{MESHES, strip};
use crate::plot::{Plot, Scale, Series};
use crate::report::Section;
use crate::row::Row;
use crate::stage::{Random, advance, has_bend, simulation};
use crate::strips::{Frame, Tip};
use crate::{Scope, Test, Try};

/// The tests of this file.
pub(crate) const TESTS: &[Test] = &[
    Test { number: "1.10", title: "Energy of a cylinder in every direction", run: cylinder },
    Test { number: "1.11", title: "Sphere and saddle: the Poisson ratio of a bend model", run: quadratic_surfaces },
    Test { number: "1.15", title: "What inextensible edges leave free", run: locking },
    Test { number: "1.16", title: "Distance bending is no bending rigidity", run: distance_bending },
];

/// Height of an equilateral triangle of unit edge.
const HEIGHT: f64 = 0.866_025_403_784_438_6;

/// Grids and their names in the tables.
const GRIDS: [(&str, &str); 3] =
    [("isotropic", "equilateral"), ("forward", "right_one_diagonal"), ("alternating", "right_alternating")];

/// Models and what the tables call them; the number of the table is divided by the last.
const MODELS: &[(&str, &str, &str, f64)] = &[
    ("dihedral", "stiffness = 1.0", "hinge theta^2, c=1/2", 1.0),
    ("isometric", "stiffness = 1.0", "Bergou Q (paper, k=B)", 3.0),
    // 1/d² for the distance d = √3 across an edge of an equilateral mesh.
    ("distance", "compliance = 3.0", "distance spring (k=B/d0^2): E", 1.0),
    ("shell", "stiffness = 1.0, poisson = 0.0", "mid-edge-normal shape operator", 1.0),
];

fn row_height(diagonals: &str) -> f64 {
    if diagonals == "isotropic" { HEIGHT } else { 1.0 }
}

/// A sheet of `[columns, rows]` in unit edges with bending only.
fn sheet(diagonals: &str, [columns, rows]: [u32; 2], bend: &str) -> Try<Compiled> {
    let size = [f64::from(columns), f64::from(rows) * row_height(diagonals)];
    let text = format!(
        r#"
        [[cloth]]
        grid = {{ size = {size:?}, cells = [{columns}, {rows}], diagonals = "{diagonals}" }}
        material = {{ stretch = {{ model = "none" }}, bend = {{ {bend} }} }}
        "#
    );
    let outcome = muslin::scene::parse(&text, &[]);
    let scene = outcome.into_result().map_err(|e| e.to_string())?;
    let compiled = muslin::setup::compile(&scene, &mut |_| Err("no file".to_owned()));
    compiled.map_err(|p| p.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

/// Energy per area inside of an endless sheet that is mapped to space, over ½κ².
///
/// Elements see curvature and not their place, so the energy of a sheet of n × m is a nm + b n + c m + d, and the mixed
/// difference of four sheets is a nm: the inside alone.
fn density(diagonals: &str, bend: &str, curvature: f64, map: impl Fn(Vec3<f64>) -> Vec3<f64>) -> Try<f64> {
    let at = |columns, rows| -> Try<f64> {
        let sheet = sheet(diagonals, [columns, rows], bend)?;
        let x: Vec<Vec3<f64>> = sheet.model.initial_positions.iter().map(|&p| map(p)).collect();
        Ok(sheet.elastic_energy(&x))
    };
    let area = 16.0 * row_height(diagonals);
    Ok((at(8, 8)? - at(8, 4)? - at(4, 8)? + at(4, 4)?) / (0.5 * curvature * curvature * area))
}

/// Irregular meshes of about 250 vertices, and what the tables call their kind; theirs are larger ones.
const IRREGULAR: [(&str, &str, &str); 2] =
    [("unstructured", "unstructured_cvt", UNSTRUCTURED_MESH), ("random", "random_delaunay", RANDOM_MESH)];

/// Why the whole of an irregular mesh is no test of `shell`; that it is exact inside, the tests of the library show triangle by triangle.
const SHELL_BORDER: &str = "of the whole mesh: at its border a plate has no moment across, which takes 6 % off";

/// The same on an irregular mesh. A hinge stands for a third of its two triangles, so those of the border are left out of the area as well; `shell` has all of it.
fn irregular_density(
    mesh: &Mesh,
    model: &str,
    bend: &str,
    curvature: f64,
    map: impl Fn(Vec3<f64>) -> Vec3<f64>,
) -> Try<f64> {
    let text =
        format!("[[cloth]]\nmesh = \"flat.obj\"\nmaterial = {{ stretch.model = \"none\", bend = {{ {bend} }} }}");
    let simulation = simulation(&text, mesh)?;
    let x: Vec<Vec3<f64>> = simulation.model().initial_positions.iter().map(|&p| map(p)).collect();
    let hinges = Topology::build(mesh).hinges;
    let third = |triangle: u32| mesh.area(triangle as usize) / 3.0;
    let area: f64 = if model == "shell" {
        (0..mesh.triangle_count()).map(|t| mesh.area(t)).sum()
    } else {
        hinges.iter().flat_map(|hinge| hinge.triangles).map(third).sum()
    };
    Ok(simulation.elastic_energy(&x) / (0.5 * curvature * curvature * area))
}

/// What the definition of a hinge model gives on the same mesh, summed here: ½ ℓ² θ²/(A₀+A₁), or ½ ‖K x‖²/(A₀+A₁).
fn by_definition(mesh: &Mesh, model: &str, curvature: f64, map: impl Fn(Vec3<f64>) -> Vec3<f64>) -> f64 {
    let (mut energy, mut total) = (0.0, 0.0);
    for hinge in Topology::build(mesh).hinges {
        let flat = hinge.vertices.map(|v| Vec3::from(mesh.positions[v as usize]));
        let [a, b, c, d] = flat.map(&map);
        let area: f64 = hinge.triangles.iter().map(|&t| mesh.area(t as usize)).sum();
        let bent = if model == "dihedral" {
            let e = b - a;
            let (n0, n1) = (e.cross(c - a), (d - a).cross(e));
            (flat[1] - flat[0]).norm() * libm::atan2(n0.cross(n1).norm(), n0.dot(n1))
        } else {
            // The cotangent of the angle at an end of the edge, to the other end and to an apex.
            let cot = |at: usize, apex: usize| {
                let (u, v) = (flat[1 - at] - flat[at], flat[apex] - flat[at]);
                u.dot(v) / u.cross(v).norm()
            };
            let [[a2, a3], [b2, b3]] = [0, 1].map(|at| [2, 3].map(|apex| cot(at, apex)));
            (a * (b2 + b3) + b * (a2 + a3) - c * (a2 + b2) - d * (a3 + b3)).norm()
        };
        energy += 0.5 * bent * bent / area;
        total += area / 3.0;
    }
    energy / (0.5 * curvature * curvature * total)
}

/// A point of a sheet on a cylinder.
fn on_cylinder(p: Vec3<f64>, curvature: f64, degrees: f64) -> Vec3<f64> {
    let (s, c) = (libm::sin(degrees.to_radians()), libm::cos(degrees.to_radians()));
    let (along, across) = (c * p.x + s * p.z, c * p.z - s * p.x);
    let angle = curvature * along;
    Vec3::new(libm::sin(angle) / curvature, (libm::cos(angle) - 1.0) / curvature, across)
}

fn cylinder_density(diagonals: &str, bend: &str, curvature: f64, degrees: f64) -> Try<f64> {
    density(diagonals, bend, curvature, |p| on_cylinder(p, curvature, degrees))
}

/// Models of this version, each with its line of a scene.
fn models() -> impl Iterator<Item = (&'static str, String, &'static str, f64)> {
    let here = MODELS.iter().filter(|(name, ..)| has_bend(name));
    here.map(|&(name, keys, called, divisor)| (name, format!("model = \"{name}\", {keys}"), called, divisor))
}

fn cylinder(_: Scope) -> Try<Section> {
    let mut section = Section::new(
        "A sheet wrapped on a cylinder without stretch, in 12 directions; energy over ½Bκ² per area, inside an endless sheet. Hinge models depend on \
         the mesh even in the limit: they are right on equilateral triangles only.",
    );
    let rows = table(CYLINDER);
    for (model, bend, called, divisor) in models() {
        for (diagonals, mesh) in GRIDS {
            // Right triangles have two distances across an edge, and the raw form takes one compliance for all.
            if model == "distance" && diagonals != "isotropic" {
                continue;
            }
            let mut worst = 0.0_f64;
            let mine = rows.iter().filter(|row| row[0] == mesh && row[3] == called);
            for row in mine {
                let expected = num(&row[4]) / divisor;
                let got = cylinder_density(diagonals, &bend, num(&row[1]), num(&row[2]))?;
                worst = worst.max((got - expected).abs() / expected.max(1e-3));
            }
            let what = format!("`{model}`, {diagonals}: against the table, relative");
            // The table's shell has normals of averaged faces: a sampled formula, not this model's.
            section.push(if model == "shell" {
                Row::measured(what, None, worst)
            } else {
                Row::bound(what, worst, 1e-6)
            });
        }
    }
    for (model, bend, ..) in models().filter(|m| m.0 != "distance") {
        for (diagonals, _) in GRIDS {
            let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
            for degrees in (0..180).step_by(15) {
                let got = cylinder_density(diagonals, &bend, 0.08, f64::from(degrees))?;
                (low, high) = (low.min(got), high.max(got));
            }
            let what = format!("`{model}`, {diagonals}, κh = 0.08: farthest from 1 over 12 directions");
            let farthest = if high - 1.0 > 1.0 - low { high } else { low };
            let right = diagonals == "isotropic" || model == "shell";
            let row = if right {
                Row::absolute(what, 1.0, farthest, if model == "shell" { 5e-3 } else { 1e-3 })
            } else {
                Row::measured(what, Some(1.0), farthest)
            };
            section.push(row.note(format!("{low:.3} to {high:.3}")));
        }
    }
    for (name, called, text) in IRREGULAR {
        irregular_cylinder(&mut section, name, called, &flat_mesh(text))?;
    }
    section.plots.push(direction_plot()?);
    Ok(section)
}

/// The rows of an irregular mesh: κ = 0.08 in 12 directions, edges of about 1.
fn irregular_cylinder(section: &mut Section, name: &str, called: &str, mesh: &Mesh) -> Try<()> {
    let curvature = 0.08;
    for (model, bend, in_table, divisor) in models().filter(|m| m.0 != "distance") {
        let (mut low, mut high, mut worst) = (f64::INFINITY, 0.0_f64, 0.0_f64);
        for degrees in (0..180).step_by(15).map(f64::from) {
            let map = |p: Vec3<f64>| on_cylinder(p, curvature, degrees);
            let got = irregular_density(mesh, model, &bend, curvature, map)?;
            (low, high) = (low.min(got), high.max(got));
            worst = worst.max((got / by_definition(mesh, model, curvature, map) - 1.0).abs());
        }
        let what = format!("`{model}`, {name}, κh = 0.08: farthest from 1 over 12 directions");
        let farthest = if high - 1.0 > 1.0 - low { high } else { low };
        let range = format!("{low:.3} to {high:.3}");
        if model == "shell" {
            section.push(Row::measured(what, Some(1.0), farthest).note(format!("{range}; {SHELL_BORDER}")));
            continue;
        }
        // The mesh is not isotropic on the average, so hinges would bend more easily if their flat pieces did not stretch: that is not counted.
        section.push(Row::bound(format!("`{model}`, {name}: against its definition, relative"), worst, 1e-6));
        let known = table(CYLINDER).into_iter().filter(|row| row[0] == called && row[1] == "0.1" && row[3] == in_table);
        let known: Vec<f64> = known.map(|row| num(&row[4]) / divisor).collect();
        let most = known.iter().fold(0.0_f64, |most, x| most.max(*x));
        section.push(
            Row::measured(what, Some(1.0), farthest)
                .note(format!("{range}; up to {most:.3} on a larger mesh of the kind")),
        );
    }
    Ok(())
}

fn direction_plot() -> Try<Plot> {
    let mut series = vec![Series::line("exact", vec![[0.0, 1.0], [180.0, 1.0]])];
    for (model, bend, ..) in models().filter(|m| m.0 == "dihedral" || m.0 == "shell") {
        for (diagonals, _) in GRIDS {
            let mut points = Vec::new();
            for degrees in (0..=180).step_by(5).map(f64::from) {
                points.push([degrees, cylinder_density(diagonals, &bend, 0.1, degrees)?]);
            }
            series.push(Series::line(format!("{model}, {diagonals}"), points));
        }
    }
    Ok(Plot {
        stem: "cylinder_energy".to_owned(),
        title: "Bending energy of a cylinder over ½Bκ², κh = 0.1".to_owned(),
        axes: ["direction of curvature, in degrees".to_owned(), "E / E exact".to_owned()],
        scales: [Scale::Linear, Scale::Linear],
        series,
    })
}

fn quadratic_surfaces(_: Scope) -> Try<Section> {
    let mut section = Section::new(
        "Height fields k/2 (x² ± z²) and k x z with k = 1e-4; a plate has 2(1 + ν) and 2(1 − ν) times ½Bk² per area. Hinge models on equilateral \
         triangles are a plate of ν = −1/3.",
    );
    type Surface = (&'static str, usize, fn(f64, f64) -> f64);
    let surfaces: [Surface; 3] = [
        ("sphere", 2, |x, z| 0.5 * (x * x + z * z)),
        ("saddle", 3, |x, z| 0.5 * (x * x - z * z)),
        ("turned saddle", 4, |x, z| x * z),
    ];
    let k = 1e-4;
    let known = table(QUADRATIC_SURFACES);
    for (model, bend, called, divisor) in models().filter(|m| m.0 != "distance") {
        for (diagonals, mesh) in GRIDS {
            let mut got = [0.0; 3];
            for (i, (name, column, height)) in surfaces.iter().enumerate() {
                got[i] = density(diagonals, &bend, k, |p| Vec3::new(p.x, k * height(p.x, p.z), p.z))?;
                let row = known.iter().find(|row| row[0] == mesh && row[1] == called);
                let what = format!("`{model}`, {diagonals}: {name}");
                section.push(if model == "shell" {
                    Row::relative(what, 2.0, got[i], 1e-2).note("a plate of ν = 0")
                } else {
                    let expected = row.map_or(f64::NAN, |row| num(&row[*column]) / divisor);
                    Row::relative(what, expected, got[i], 1e-4)
                });
            }
            if diagonals == "isotropic" && model != "shell" {
                let nu = (got[0] - got[1]) / (got[0] + got[1]);
                section.push(Row::absolute(format!("`{model}`, {diagonals}: Poisson ratio of bending"), -1.0 / 3.0, nu, 1e-4).by_nature("a hinge model has no Poisson ratio of its own: −1/3 on equilateral triangles (Seung, Nelson 1988)"));
            }
        }
    }
    for (name, called, text) in IRREGULAR {
        let mesh = flat_mesh(text);
        for (model, bend, in_table, divisor) in models().filter(|m| m.0 != "distance") {
            let row = known.iter().find(|row| row[0] == called && row[1] == in_table);
            for (surface, column, height) in &surfaces {
                let map = |p: Vec3<f64>| Vec3::new(p.x, k * height(p.x, p.z), p.z);
                let got = irregular_density(&mesh, model, &bend, k, map)?;
                let what = format!("`{model}`, {name}: {surface}");
                section.push(if model == "shell" {
                    Row::measured(what, Some(2.0), got).note(SHELL_BORDER)
                } else {
                    let larger = row.map_or(f64::NAN, |row| num(&row[*column]) / divisor);
                    Row::relative(what, by_definition(&mesh, model, k, map), got, 1e-4)
                        .note(format!("the definition on this mesh; {larger:.3} on a larger one of the kind"))
                });
            }
        }
    }
    Ok(section)
}

/// A sheet of n × n cells: right triangles, or rows of equilateral ones.
fn lattice(kind: &str, n: u32) -> Mesh {
    let right = kind == "right";
    let mut mesh = Mesh::default();
    for j in 0..=n {
        for i in 0..=n {
            let shift = if !right && j % 2 == 1 { 0.5 } else { 0.0 };
            mesh.positions.push([f64::from(i) + shift, 0.0, f64::from(j) * if right { 1.0 } else { HEIGHT }]);
        }
    }
    for j in 0..n {
        for i in 0..n {
            let [a, c] = [j * (n + 1) + i, (j + 1) * (n + 1) + i];
            let [b, d] = [a + 1, c + 1];
            let forward = right || j % 2 == 1;
            mesh.triangles.extend(if forward { [[a, d, b], [a, c, d]] } else { [[a, c, b], [b, c, d]] });
        }
    }
    mesh
}

/// Rank of a matrix by elimination with complete choice of the row.
fn rank(mut rows: Vec<Vec<f64>>) -> usize {
    let columns = rows.first().map_or(0, Vec::len);
    let mut done = 0;
    for column in 0..columns {
        let size = |row: &Vec<f64>| row[column].abs();
        let Some(best) = (done..rows.len()).max_by(|&a, &b| size(&rows[a]).total_cmp(&size(&rows[b]))) else { break };
        if rows[best][column].abs() < 1e-9 {
            continue;
        }
        rows.swap(done, best);
        let (above, below) = rows.split_at_mut(done + 1);
        let pivot = &above[done];
        for row in below.iter_mut().filter(|row| row[column] != 0.0) {
            let factor = row[column] / pivot[column];
            row[column..].iter_mut().zip(&pivot[column..]).for_each(|(a, b)| *a -= factor * b);
        }
        done += 1;
    }
    done
}

fn locking(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "A triangulated disk of V vertices and B edges on its boundary has E = 3V − 3 − B edges. If none may change its length, B − 3 ways to bend are left \
         (measured by the rank of the rigidity matrix at random heights): freedom grows with the boundary, not with the area. Below, what that makes of the cantilever of \
         1.9 in `xpbd` (N = 10, Γ = 10, 100 substeps): edges that are rigid, and edges of Y L²/B = 1e4.",
    );
    for row in table(DOF_COUNT) {
        let n = num(&row[1]) as u32;
        if n > if scope.quick { 4 } else { 8 } {
            continue;
        }
        let mesh = lattice(&row[0], n);
        let topology = Topology::build(&mesh);
        let boundary = topology.edges.len() - topology.hinges.len();
        let mut random = Random::new(5);
        let x: Vec<Vec3<f64>> =
            mesh.positions.iter().map(|&p| Vec3::from(p) + Vec3::new(0.0, 0.3 * random.signed(), 0.0)).collect();
        let rows = topology.edges.iter().map(|&[a, b]| {
            let (a, b) = (a as usize, b as usize);
            let d = (x[b] - x[a]).to_array();
            let mut row = vec![0.0; 3 * x.len()];
            for axis in 0..3 {
                row[3 * a + axis] = -d[axis];
                row[3 * b + axis] = d[axis];
            }
            row
        });
        let flexes = 3 * x.len() - rank(rows.collect()) - 6;
        let what = format!("{}, {n} × {n}", row[0]);
        let (edges, expected) = (topology.edges.len(), 3 * x.len() - 3 - boundary);
        section.push(Row::absolute(format!("{what}: edges, 3V − 3 − B"), expected as f64, edges as f64, 0.0));
        section.push(
            Row::absolute(format!("{what}: ways to bend"), num(&row[8]), flexes as f64, 0.0)
                .note(format!("B − 3 = {}", boundary - 3)),
        );
    }
    if !scope.quick {
        for kind in MESHES {
            let hard = settled(kind, "compliance = 0.0")?;
            let soft = settled(kind, &format!("stiffness = {:?}", 1e4 * RIGIDITY))?;
            section.push(Row::measured(
                format!("{kind}: H/W with rigid edges; reference with elastic ones"),
                Some(soft),
                hard,
            ));
        }
    }
    Ok(section)
}

/// B of the cantilever of a metre, in N·m.
const RIGIDITY: f64 = 0.2 * 9.81 / 10.0;

fn settled(kind: &str, stretch: &str) -> Try<f64> {
    let text = format!(
        r#"
        fps = 60
        solver = {{ kind = "xpbd", precision = "f64", substeps = 100, iterations = 2 }}
        [[cloth]]
        mesh = "strip.obj"
        pins = [ {{ within = {{ min = [-9.0, -1.0, -9.0], max = [1e-9, 1.0, 9.0] }} }} ]
        [cloth.material]
        density = 0.2
        damping = 5.0
        stretch = {{ model = "spring", {stretch} }}
        bend = {{ model = "dihedral", stiffness = {RIGIDITY:?} }}
        "#
    );
    let mut simulation = simulation(&text, &strip(kind, 10))?;
    for _ in 0..240 {
        advance(&mut simulation)?;
    }
    Ok(Tip::of(&simulation, Frame::Down, 0.0).ratio())
}

fn distance_bending(_: Scope) -> Try<Section> {
    let mut section = Section::new(
        "The distance between the two vertices opposite an edge shrinks with the square of the angle, so the energy grows with κ⁴: a flat sheet has no linear \
         stiffness. That is what `distance` is; it takes `compliance` and `k` only.",
    );
    for degrees in [0.0, 30.0, 77.0] {
        let at = |curvature: f64| {
            cylinder_density("isotropic", "model = \"distance\", compliance = 3.0", curvature, degrees)
        };
        let slope = 2.0 + libm::log(at(0.1)? / at(0.05)?) / libm::log(2.0);
        section.push(
            Row::absolute(format!("power of κ at {degrees}°"), 4.0, slope, 0.05)
                .by_nature("a bending rigidity would have the power 2"),
        );
    }
    Ok(section)
}
