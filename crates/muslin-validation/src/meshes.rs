//! T1.9: cantilevers of triangles, on five meshes.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use muslin::mesh::Mesh;

use crate::fixtures::{CANTILEVER_MESH, HEAVY_ELASTICA, cvt_mesh, lookup};
use crate::plot::{Plot, Scale, Series};
use crate::report::Section;
use crate::row::Row;
use crate::stage::{has_bend, has_solver, has_stretch, solve_static};
use crate::strips::{Frame, Tip, bend_keys, cantilever_scene, elastica};
use crate::{Scope, Test, Try};

/// The tests of this file.
pub(crate) const TESTS: &[Test] =
    &[Test { number: "1.9", title: "Triangle-mesh cantilevers on five meshes", run: cantilevers }];

/// The meshes of the table.
pub(crate) const MESHES: [&str; 5] = ["right_one", "right_alt", "eq_across", "eq_along", "cvt"];

const WIDTH: f64 = 0.2;

/// A strip from a little before 0 to 1 along x, 0.2 wide, `n` cells to the length.
pub(crate) fn strip(kind: &str, n: u32) -> Mesh {
    match kind {
        "right_one" => right(n, |_, _| true),
        "right_alt" => right(n, |i, j| (i + j) % 2 == 0),
        "eq_across" => equilateral_across(n),
        "eq_along" => equilateral_along(n),
        "cvt, straight clamp" => straight_cvt(n),
        _ => cvt_mesh(n),
    }
}

/// Points in the order of columns, and cells cut in two; z across.
struct Builder {
    mesh: Mesh,
}

impl Builder {
    fn new() -> Self {
        Self { mesh: Mesh::default() }
    }

    fn point(&mut self, x: f64, z: f64) {
        self.mesh.positions.push([x, 0.0, z]);
    }

    /// Triangles over (x, z) that run from x to z, turned over so that their normals are along +y.
    fn triangles<const N: usize>(&mut self, triangles: [[u32; 3]; N]) {
        self.mesh.triangles.extend(triangles.map(|[a, b, c]| [a, c, b]));
    }

    /// Drops triangles without area and vertices of none.
    fn finish(mut self) -> Mesh {
        let mesh = &self.mesh;
        let sound: Vec<[u32; 3]> =
            (0..mesh.triangle_count()).filter(|&t| mesh.area(t) > 1e-9).map(|t| mesh.triangles[t]).collect();
        let mut used = vec![false; mesh.vertex_count()];
        sound.iter().flatten().for_each(|&v| used[v as usize] = true);
        let mut new = vec![0_u32; used.len()];
        let mut kept = Vec::new();
        for (old, _) in used.iter().enumerate().filter(|(_, used)| **used) {
            new[old] = kept.len() as u32;
            kept.push(mesh.positions[old]);
        }
        self.mesh.triangles = sound.into_iter().map(|t| t.map(|v| new[v as usize])).collect();
        self.mesh.positions = kept;
        self.mesh
    }
}

fn rows(spacing: f64) -> u32 {
    libm::rint(WIDTH / spacing).max(2.0) as u32
}

fn right(n: u32, forward: impl Fn(u32, u32) -> bool) -> Mesh {
    let h = 1.0 / f64::from(n);
    let across = rows(h);
    let mut builder = Builder::new();
    for i in 0..=n + 1 {
        for j in 0..=across {
            builder.point((f64::from(i) - 1.0) * h, (f64::from(j) - 0.5 * f64::from(across)) * h);
        }
    }
    for i in 0..=n {
        for j in 0..across {
            let [a, b] = [i * (across + 1) + j, (i + 1) * (across + 1) + j];
            let [c, d] = [a + 1, b + 1];
            builder.triangles(if forward(i, j) { [[a, b, d], [a, d, c]] } else { [[a, b, c], [b, d, c]] });
        }
    }
    builder.finish()
}

/// Columns of edges parallel to the axis of bending, 1/n apart.
fn equilateral_across(n: u32) -> Mesh {
    let h = 1.0 / f64::from(n);
    let edge = h * 2.0 / 3.0_f64.sqrt();
    let across = rows(edge);
    let mut builder = Builder::new();
    for column in 0..=n + 1 {
        // The first column is number −1, an odd one.
        let shift = if column % 2 == 0 { 0.5 } else { 0.0 };
        for j in 0..=across {
            let z = (f64::from(j) - 0.5 * f64::from(across) + shift - 0.25) * edge;
            builder.point((f64::from(column) - 1.0) * h, z);
        }
    }
    for k in 0..=n {
        for j in 0..across {
            let [a, b] = [k * (across + 1) + j, (k + 1) * (across + 1) + j];
            let [c, d] = [a + 1, b + 1];
            builder.triangles(if k % 2 == 1 { [[a, b, c], [b, d, c]] } else { [[a, b, d], [a, d, c]] });
        }
    }
    builder.finish()
}

/// Edges along the strip; no line of the mesh is parallel to the axis of bending.
fn equilateral_along(n: u32) -> Mesh {
    let h = 1.0 / f64::from(n);
    let height = 0.5 * 3.0_f64.sqrt() * h;
    let across = rows(height);
    let columns = n + 4;
    let mut builder = Builder::new();
    for j in 0..=across {
        for i in 0..columns {
            let x = (f64::from(i) - 2.0) * h + if j % 2 == 1 { 0.5 * h } else { 0.0 };
            builder.point(x.clamp(-2.0 * h, 1.0), (f64::from(j) - 0.5 * f64::from(across)) * height);
        }
    }
    for j in 0..across {
        for i in 0..columns - 1 {
            let [a, c] = [j * columns + i, (j + 1) * columns + i];
            let [b, d] = [a + 1, c + 1];
            builder.triangles(if j % 2 == 0 { [[a, b, c], [b, d, c]] } else { [[a, b, d], [a, d, c]] });
        }
    }
    builder.finish()
}

/// How far the front of the clamp lies before 0 on average.
fn clamp_distance(mesh: &Mesh) -> f64 {
    let front = front(mesh);
    -front.iter().map(|&v| mesh.positions[v as usize][0]).sum::<f64>() / front.len().max(1) as f64
}

/// The held vertices that have a free neighbour.
fn front(mesh: &Mesh) -> Vec<u32> {
    let held = |v: u32| mesh.positions[v as usize][0] <= 1e-9;
    let mut front: Vec<u32> = mesh
        .triangles
        .iter()
        .filter(|t| t.iter().any(|&v| !held(v)))
        .flat_map(|t| t.iter().copied().filter(|&v| held(v)))
        .collect();
    front.sort_unstable();
    front.dedup();
    front
}

/// The irregular strip with its clamp along a line, as a mesher would make it: vertices within a third of a cell of x = 0 are moved onto it, and
/// what still crosses it is cut there.
fn straight_cvt(n: u32) -> Mesh {
    let mut mesh = cvt_mesh(n);
    for p in mesh.positions.iter_mut().filter(|p| p[0].abs() * f64::from(n) < 1.0 / 3.0) {
        p[0] = 0.0;
    }
    let Mesh { positions, triangles, .. } = &mut mesh;
    let mut cuts: BTreeMap<[u32; 2], u32> = BTreeMap::new();
    let mut pieces = Vec::new();
    for &triangle in triangles.iter() {
        let side = |v: u32, positions: &[[f64; 3]]| positions[v as usize][0].partial_cmp(&0.0);
        // The corners in their order, with a vertex on every edge that crosses the line.
        let mut corners = Vec::new();
        for i in 0..3 {
            let (a, b) = (triangle[i], triangle[(i + 1) % 3]);
            corners.push(a);
            if side(a, positions) == side(b, positions).map(Ordering::reverse) && positions[a as usize][0] != 0.0 {
                let cut = *cuts.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                    let (p, q) = (positions[a as usize], positions[b as usize]);
                    let part = p[0] / (p[0] - q[0]);
                    positions.push([0.0, 0.0, p[2] + part * (q[2] - p[2])]);
                    positions.len() as u32 - 1
                });
                corners.push(cut);
            }
        }
        // On either side of the line a triangle or a quadrangle.
        for keep in [Ordering::Less, Ordering::Greater] {
            let is_here = |v: &&u32| side(**v, positions) != Some(keep.reverse());
            let part: Vec<u32> = corners.iter().filter(is_here).copied().collect();
            if part.iter().any(|&v| side(v, positions) == Some(keep)) {
                pieces.extend((2..part.len()).map(|i| [part[0], part[i - 1], part[i]]));
            }
        }
    }
    *triangles = pieces;
    mesh
}

/// A cantilever at Γ = 10 with Y L²/B = `membrane`.
pub(crate) fn solve(kind: &str, n: u32, bend: &str, membrane: f64) -> Try<Tip> {
    let rigidity = 0.1;
    let material = format!(
        "stretch = {{ model = \"stvk\", stiffness = {:?}, poisson = 0.0 }}\nbend = {{ model = \"{bend}\", {}stiffness = {rigidity:?} }}",
        membrane * rigidity,
        bend_keys(bend)
    );
    let (simulation, residual) =
        solve_static(&strip(kind, n), |load| cantilever_scene(&material, load, Frame::Down), 1e-6)?;
    Ok(Tip::of(&simulation, Frame::Down, residual.0))
}

fn cantilevers(scope: Scope) -> Try<Section> {
    let mut section = Section::new(
        "Γ = 10, width 0.2 L, StVK membrane with ν = 0. A hinge model has a limit of its own on each mesh (1.10, 1.11), which was \
         computed once with a Newton solver in Python; `shell` must reach the curve of the elastica itself. Meshes: right triangles with one \
         diagonal and with alternating ones, equilateral triangles across and along the strip, and an irregular one. That one has no line of vertices at x = 0, so its clamp is ragged and the strip longer than 1; for `shell` \
         it is also run with vertices on the line, as a mesher would put them there.",
    );
    if !has_solver("newton") || !has_stretch("stvk") {
        return Ok(section);
    }
    let exact = lookup(HEAVY_ELASTICA, &["10"], 3)?;
    let sizes: &[u32] = if scope.quick { &[10] } else { &[10, 20, 40] };
    let softness: &[f64] = if scope.quick { &[1e4] } else { &[1e4, 1e6] };
    for &membrane in softness {
        for kind in MESHES {
            for &n in sizes {
                let recorded = lookup(CANTILEVER_MESH, &[kind, &n.to_string(), "", "10", &membrane.to_string()], 7)?;
                let tip = solve(kind, n, "dihedral", membrane)?;
                let what = format!("`dihedral`, {kind}, N = {n}, YL²/B = {membrane:.0e}: H/W");
                let why = format!(
                    "{:+.1} % from the elastica, which is right for a hinge model here",
                    100.0 * (recorded / exact - 1.0)
                );
                section.push(Row::relative(what, recorded, tip.ratio(), 1e-4).by_nature(why));
            }
        }
    }
    let others = ["isometric", "hinge_force", "cubic_shell", "projective"];
    for bend in others.into_iter().filter(|bend| has_bend(bend)) {
        for kind in MESHES {
            let n = if scope.quick { 10 } else { 20 };
            let hinge = lookup(CANTILEVER_MESH, &[kind, &n.to_string(), "", "10", "10000"], 7)?;
            let tip = solve(kind, n, bend, 1e4)?;
            // Hinges of other energies differ where angles are large: by half a percent at N = 10, a quarter of it at 20.
            section.push(
                Row::relative(
                    format!("`{bend}`, {kind}, N = {n}, YL²/B = 1e4: H/W"),
                    hinge,
                    tip.ratio(),
                    if n == 10 { 6e-3 } else { 2e-3 },
                )
                .by_nature("the value of θ² hinges, which it has in the limit"),
            );
        }
    }
    let mut series = vec![Series::line("elastica", vec![[10.0, exact], [40.0, exact]])];
    for kind in MESHES.into_iter().chain(["cvt, straight clamp"]).filter(|_| has_bend("shell")) {
        let mut points = Vec::new();
        for &n in sizes {
            let tip = solve(kind, n, "shell", 1e4)?;
            points.push([f64::from(n), tip.ratio()]);
            let what = format!("`shell`, {kind}, N = {n}, YL²/B = 1e4: H/W");
            if n < 40 {
                section
                    .push(Row::measured(what, Some(exact), tip.ratio()).note(format!("residual {:.0e}", tip.residual)));
                continue;
            }
            let row = Row::relative(what.clone(), exact, tip.ratio(), 0.03);
            let behind = clamp_distance(&strip(kind, n));
            section.push(if row.fails() && behind > 0.0 {
                // A clamp along the line, below, meets the tolerance.
                // The strip begins where its clamp does, on average.
                let longer = elastica(10.0 * libm::pow(1.0 + behind, 3.0));
                Row::relative(what, longer, tip.drop / (tip.along + behind), 0.03).by_nature(format!(
                    "the clamp is ragged: its front lies {:.1} % of the length before 0 on average, and the reference is a strip longer by that; {:+.1} % from one that is not",
                    100.0 * behind,
                    100.0 * (tip.ratio() / exact - 1.0)
                ))
            } else {
                row
            });
        }
        series.push(Series::points(format!("shell, {kind}"), points));
    }
    for kind in ["right_one", "eq_along"] {
        let at = |n: u32| lookup(CANTILEVER_MESH, &[kind, &n.to_string(), "", "10", "10000"], 7);
        series
            .push(Series::points(format!("dihedral, {kind}"), vec![[10.0, at(10)?], [20.0, at(20)?], [40.0, at(40)?]]));
    }
    section.plots.push(Plot {
        stem: "cantilever_meshes".to_owned(),
        title: "Triangle-mesh cantilevers, Γ = 10".to_owned(),
        axes: ["N".to_owned(), "H / W".to_owned()],
        scales: [Scale::Linear, Scale::Linear],
        series,
    });
    Ok(section)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::num;

    #[test]
    fn the_meshes_have_the_vertices_of_the_table() {
        for kind in MESHES {
            for n in [10, 20, 40] {
                let expected = lookup(CANTILEVER_MESH, &[kind, &n.to_string()], 2).expect("a row");
                assert_eq!(strip(kind, n).vertex_count() as f64, expected, "{kind}, N = {n}");
                assert!(
                    muslin::mesh::check(&strip(kind, n)).is_empty(),
                    "{kind}, N = {n}: {:?}",
                    muslin::mesh::check(&strip(kind, n))
                );
            }
        }
        assert!(num("x").is_nan(), "no number");
        for n in [10, 20, 40] {
            let (ragged, straight) = (strip("cvt", n), strip("cvt, straight clamp", n));
            let found = muslin::mesh::check(&straight);
            assert!(found.is_empty(), "N = {n}: {found:?}");
            assert_eq!(clamp_distance(&straight), 0.0, "N = {n}: the clamp is straight");
            let area = |mesh: &Mesh| (0..mesh.triangle_count()).map(|t| mesh.area(t)).sum::<f64>();
            assert!((area(&straight) / area(&ragged) - 1.0).abs() < 1e-12, "N = {n}: no hole");
        }
    }
}
