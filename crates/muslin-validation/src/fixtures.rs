//! Numbers that were computed elsewhere, in `validation/fixtures` and beside the tests of the library.

use muslin::mesh::Mesh;

use crate::Try;

macro_rules! fixture {
    ($name:ident, $path:literal) => {
        #[doc = concat!("`", $path, "`.")]
        pub const $name: &str = include_str!(concat!("../../../", $path));
    };
}

fixture!(HEAVY_ELASTICA, "validation/fixtures/heavy_elastica.csv");
fixture!(DISCRETE_STRIP, "validation/fixtures/discrete_strip.csv");
fixture!(CANTILEVER_MESH, "validation/fixtures/cantilever_mesh_G10.csv");
fixture!(CVT_MESHES, "validation/fixtures/cvt_meshes.csv");
fixture!(DOF_COUNT, "validation/fixtures/dof_count.csv");
fixture!(CATENARY_DISCRETE, "validation/fixtures/catenary_discrete.csv");
fixture!(CATENARY_NODES, "validation/fixtures/catenary_discrete_nodes.csv");
fixture!(CATENARY_ELASTIC, "validation/fixtures/catenary_elastic.csv");
fixture!(STABILITY_CHAIN, "crates/muslin/tests/fixtures/stability_chain.csv");
fixture!(OSCILLATOR_INTEGRATORS, "crates/muslin/tests/fixtures/oscillator_integrators.csv");
fixture!(PENDULUM_PERIOD, "validation/fixtures/pendulum_period.csv");
fixture!(EULER_DECAY, "validation/fixtures/implicit_euler_energy_decay.csv");
fixture!(CHAIN_MODES, "validation/fixtures/hanging_chain_discrete_equal_masses.csv");
fixture!(STRIP_MODES, "validation/fixtures/hanging_chain_discrete_half_end_mass.csv");
fixture!(CHAIN_MODES_EXACT, "validation/fixtures/hanging_chain_continuous.csv");
fixture!(BEAM_MODES, "validation/fixtures/cantilever_beam_discrete.csv");
fixture!(BEAM_MODES_EXACT, "validation/fixtures/cantilever_beam_continuous.csv");
fixture!(STIFF_STRIP_MODES, "validation/fixtures/hanging_strip_with_bending_discrete.csv");
fixture!(STIFF_STRIP_MODES_EXACT, "validation/fixtures/hanging_strip_with_bending.csv");
fixture!(QUADRATIC_SURFACES, "crates/muslin/tests/fixtures/quadratic_surfaces.csv");
fixture!(PLATE_THRESHOLD, "validation/fixtures/plate_threshold.csv");
fixture!(INCLINE, "crates/muslin/tests/fixtures/incline.csv");
fixture!(STOPPING, "crates/muslin/tests/fixtures/stopping.csv");
fixture!(SPHERE_EXIT, "crates/muslin/tests/fixtures/sphere_exit.csv");
fixture!(CAPSTAN, "validation/fixtures/capstan.csv");
fixture!(STRIP_OVER_CYLINDER, "validation/fixtures/heavy_strip_over_cylinder.csv");
fixture!(SPRINGS, "crates/muslin/tests/fixtures/spring_hessian.json");
fixture!(XPBD_PBD, "crates/muslin/tests/fixtures/xpbd_pbd.json");
fixture!(MEMBRANE, "crates/muslin/tests/fixtures/membrane.json");
fixture!(CHOI_KO, "crates/muslin/tests/fixtures/choi_ko.csv");
fixture!(BERGOU_Q, "crates/muslin/tests/fixtures/bergou_q.json");
fixture!(DIHEDRAL, "crates/muslin/tests/fixtures/dihedral.csv");
fixture!(CYLINDER, "crates/muslin/tests/fixtures/cylinder_energy.csv");
fixture!(POLAR, "crates/muslin/tests/fixtures/polar.json");
fixture!(CLUSTERS, "crates/muslin/tests/fixtures/shape_matching.json");
fixture!(ONE_STEP, "crates/muslin/tests/fixtures/one_step.json");
fixture!(UNSTRUCTURED_MESH, "crates/muslin/tests/fixtures/unstructured_mesh.csv");
fixture!(RANDOM_MESH, "crates/muslin/tests/fixtures/random_mesh.csv");
fixture!(PAPER_OSCILLATOR, "crates/muslin/tests/fixtures/xpbd_paper_oscillator.csv");

/// Rows of a table below its heading; cells in quotes may hold commas.
pub fn table(text: &str) -> Vec<Vec<String>> {
    text.lines().skip(1).map(cells).collect()
}

fn cells(line: &str) -> Vec<String> {
    let mut all = vec![];
    let (mut cell, mut quoted) = (String::new(), false);
    for c in line.trim_end().chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => all.push(std::mem::take(&mut cell)),
            _ => cell.push(c),
        }
    }
    all.push(cell);
    all
}

/// A cell as a number; not a number where it is none.
pub fn num(cell: &str) -> f64 {
    cell.parse().unwrap_or(f64::NAN)
}

/// The cell of a column in the first row that begins with `key`; an empty word stands for any.
pub fn lookup(text: &str, key: &[&str], column: usize) -> Try<f64> {
    let same = |cell: &String, wanted: &&str| wanted.is_empty() || cell == wanted || num(cell) == num(wanted);
    let row = table(text).into_iter().find(|row| row.len() > column && row.iter().zip(key).all(|(c, w)| same(c, w)));
    row.map(|row| num(&row[column])).ok_or_else(|| format!("no row {key:?} in the table"))
}

/// The irregular strip of `cvt_meshes.csv` with so many cells to the length: x along it, z across.
pub fn cvt_mesh(cells: u32) -> Mesh {
    let mut mesh = Mesh::default();
    for row in table(CVT_MESHES).into_iter().filter(|row| num(&row[0]) == f64::from(cells)) {
        if row[1] == "vertex" {
            mesh.positions.push([num(&row[2]), 0.0, num(&row[3])]);
        } else {
            mesh.triangles.push([2, 4, 3].map(|column: usize| num(&row[column]) as u32));
        }
    }
    mesh
}

/// A flat mesh of rows `v x z` and `t a b c`.
pub fn flat_mesh(text: &str) -> Mesh {
    let mut mesh = Mesh::default();
    for row in table(text) {
        if row[0] == "v" {
            mesh.positions.push([num(&row[1]), 0.0, num(&row[2])]);
        } else {
            mesh.triangles.push([1, 2, 3].map(|column: usize| num(&row[column]) as u32));
        }
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_comma_does_not_split_a_cell() {
        assert_eq!(table("h\n\"a, b\",2"), vec![vec!["a, b".to_owned(), "2".to_owned()]]);
    }

    #[test]
    fn a_row_is_found_by_number_and_word() {
        let got = lookup(DISCRETE_STRIP, &["half_hinge", "theta2", "10", "40"], 6);
        assert!((got.expect("a row") - 1.067).abs() < 1e-2, "H/W at Γ = 10");
    }
}
