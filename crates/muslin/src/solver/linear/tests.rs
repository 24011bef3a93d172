//! Both solvers of block systems against known solutions, and against each other.

use crate::energy::Treatment;
use crate::energy::conformance::Random;
use crate::energy::stretch::spring;
use crate::math::{Mat3, Vec3};
use crate::parallel::Team;
use crate::scene::parse;
use crate::solver::linear::*;

/// Σ G Gᵀ over random pairs of vertices, G of 6 × 6 random numbers, and `shift` on the diagonal.
fn random_matrix(rows: usize, shift: f64, random: &mut Random) -> BlockMatrix {
    let pairs: Vec<[u32; 2]> = (0..4 * rows)
        .map(|k| [k % rows, (k % rows + 1 + (random.signed().abs() * (rows - 1) as f64) as usize) % rows])
        .map(|pair| pair.map(|v| v as u32))
        .collect();
    let mut matrix = BlockMatrix::new(rows, |visit| pairs.iter().for_each(|pair| visit(pair)));
    for pair in &pairs {
        let factors: [[Mat3; 2]; 2] = std::array::from_fn(|_| {
            std::array::from_fn(|_| Mat3(std::array::from_fn(|_| std::array::from_fn(|_| random.signed()))))
        });
        for (i, &row) in pair.iter().enumerate() {
            for (j, &column) in pair.iter().enumerate() {
                let product = |k: usize| factors[i][k].times(&factors[j][k].transposed());
                let slot = matrix.slot(row, column).unwrap() as usize;
                matrix.blocks_mut()[slot] += product(0) + product(1);
            }
        }
    }
    for row in 0..rows {
        let slot = matrix.diagonal_slot(row);
        matrix.blocks_mut()[slot] += Mat3::scalar(shift);
    }
    matrix
}

/// M/h² + H of a sheet of springs, stretched by `stretch` and crumpled a little, h = 1/60 s.
fn cloth_matrix(cells: u32, stretch: f64, treatment: Treatment) -> BlockMatrix {
    let text = format!(
        "solver.kind = \"newton\"\n[[cloth]]\ngrid = {{ size = [1, 1], cells = [{cells}, {cells}] }}\nmaterial.density = 0.2"
    );
    let scene = parse(&text, &[]).scene.unwrap();
    let model = crate::setup::compile(&scene, &mut |_| Err(String::new())).unwrap().model;
    let noise = Random::new(7).vectors(model.masses.len());
    let x: Vec<Vec3<f64>> = model.initial_positions.iter().zip(noise).map(|(x, d)| *x * stretch + d * 1e-3).collect();
    let mut matrix = BlockMatrix::new(x.len(), |visit| model.edges.iter().for_each(|(edge, _)| visit(edge)));
    for &(edge, length) in &model.edges {
        let rest = spring::Rest { length, compliance: 1e-3 };
        let blocks = treatment.stiffness::<spring::Spring, 2>(&rest, &edge.map(|v| x[v as usize]));
        for (i, &row) in edge.iter().enumerate() {
            for (j, &column) in edge.iter().enumerate() {
                let slot = matrix.slot(row, column).unwrap() as usize;
                matrix.blocks_mut()[slot] += blocks[i][j];
            }
        }
    }
    for (row, m) in model.masses.iter().enumerate() {
        let slot = matrix.diagonal_slot(row);
        matrix.blocks_mut()[slot] += Mat3::scalar(m * 3600.0);
    }
    matrix
}

fn product(matrix: &BlockMatrix, x: &[Vec3<f64>]) -> Vec<Vec3<f64>> {
    (0..matrix.row_count()).map(|row| matrix.row_product(row, |i| x[i])).collect()
}

/// ‖a − b‖/‖b‖.
fn difference(a: &[Vec3<f64>], b: &[Vec3<f64>]) -> f64 {
    let square = |sum: f64, v: Vec3<f64>| sum + v.norm_squared();
    (a.iter().zip(b).map(|(a, b)| *a - *b).fold(0.0, square) / b.iter().copied().fold(0.0, square)).sqrt()
}

fn by_gradients(matrix: &BlockMatrix, b: &[Vec3<f64>], tolerance: f64, threads: usize) -> (Vec<Vec3<f64>>, Solved) {
    let mut x = b.to_vec();
    let team = Team::new(threads).unwrap();
    let solved = ConjugateGradients::default().solve((&team, threads), matrix, &mut x, tolerance, 5000);
    (x, solved)
}

#[test]
fn both_find_a_known_solution() {
    let mut random = Random::new(3);
    let mut cases: Vec<(String, BlockMatrix)> = [1, 2, 17, 200]
        .map(|rows| (format!("{rows} random rows"), random_matrix(rows.max(2), 0.5, &mut random)))
        .into();
    cases.push(("a stretched sheet".into(), cloth_matrix(20, 1.1, Treatment::Plain)));
    cases.push(("a pressed sheet, clamped".into(), cloth_matrix(20, 0.9, Treatment::Clamp)));
    cases.push(("a pressed sheet, dropped".into(), cloth_matrix(20, 0.9, Treatment::Drop)));
    for (what, matrix) in cases {
        let known = random.vectors(matrix.row_count());
        let b = product(&matrix, &known);
        let mut cholesky = Cholesky::new(&matrix).unwrap();
        // Twice: the memory is used again.
        for _ in 0..2 {
            assert!(cholesky.factor(&matrix), "{what}");
            let mut x = b.clone();
            cholesky.solve(&mut x);
            // Conditions are below 1e5.
            assert!(difference(&x, &known) < 1e-11, "{what}: Cholesky off by {:.1e}", difference(&x, &known));
        }
        let (x, solved) = by_gradients(&matrix, &b, 1e-12, 1);
        assert!(!solved.indefinite && solved.residual <= 1e-12 && solved.iterations < 5000, "{what}: {solved:?}");
        assert!(difference(&x, &known) < 1e-9, "{what}: gradients off by {:.1e}", difference(&x, &known));
        assert!(difference(&product(&matrix, &x), &b) < 1e-10, "{what}");
    }
}

/// The error of conjugate gradients in the norm of A falls with every iteration, and in exact numbers is zero after 3n.
#[test]
fn gradients_stop_at_the_tolerance_or_the_limit() {
    let mut random = Random::new(9);
    let matrix = random_matrix(30, 0.1, &mut random);
    let known = random.vectors(30);
    let b = product(&matrix, &known);
    let mut last = (0, f64::INFINITY);
    for tolerance in [0.5, 1e-1, 1e-2, 1e-4, 1e-8] {
        let (x, solved) = by_gradients(&matrix, &b, tolerance, 1);
        assert!(solved.residual <= tolerance && solved.iterations >= last.0, "{tolerance}: {solved:?}");
        let wrong: Vec<Vec3<f64>> = x.iter().zip(&known).map(|(x, known)| *x - *known).collect();
        let error: f64 = product(&matrix, &wrong).iter().zip(&wrong).map(|(a, b)| a.dot(*b)).sum();
        assert!(error <= last.1, "{tolerance}: {error} after {}", last.1);
        last = (solved.iterations, error);
    }
    assert!(last.0 <= 100, "{} iterations for 90 unknowns", last.0);
    let mut x = b.clone();
    let team = Team::solo();
    let solved = ConjugateGradients::default().solve((&team, 1), &matrix, &mut x, 1e-12, 3);
    assert_eq!((solved.iterations, solved.indefinite), (3, false));
    let zero = by_gradients(&matrix, &vec![Vec3::ZERO; 30], 1e-4, 1);
    assert_eq!(zero, (vec![Vec3::ZERO; 30], Solved::default()), "nothing to solve");
}

#[test]
fn what_is_not_positive_definite_or_not_finite_is_refused() {
    let mut random = Random::new(5);
    let sheet = cloth_matrix(12, 0.9, Treatment::Plain);
    // One negative eigenvalue of a diagonal block; one that only the whole matrix has; numbers that are none.
    let mut block = random_matrix(20, 1.0, &mut random);
    let slot = block.diagonal_slot(7);
    block.blocks_mut()[slot] = Mat3::scalar(-1.0);
    let mut cross = BlockMatrix::new(2, |visit| visit(&[0, 1]));
    cross.blocks_mut().copy_from_slice(&[1.0, 2.0, 2.0, 1.0].map(Mat3::scalar));
    let broken = [f64::NAN, f64::INFINITY].map(|number| {
        let mut matrix = random_matrix(20, 1.0, &mut random);
        let slot = matrix.diagonal_slot(3);
        matrix.blocks_mut()[slot] = Mat3::scalar(number);
        matrix
    });
    for (i, matrix) in [sheet, block, cross].into_iter().chain(broken).enumerate() {
        assert!(!Cholesky::new(&matrix).unwrap().factor(&matrix), "{i}");
        let b = random.vectors(matrix.row_count());
        let (x, solved) = by_gradients(&matrix, &b, 1e-10, 1);
        assert!(solved.indefinite, "{i}: {solved:?}");
        assert!(x.iter().all(|x| x.is_finite()), "{i}");
    }
}

#[test]
fn gradients_have_the_same_bits_on_every_number_of_threads() {
    // 1681 rows are four pieces, of which the last is not full.
    let matrix = cloth_matrix(40, 1.02, Treatment::Clamp);
    let b = Random::new(11).vectors(matrix.row_count());
    let alone = by_gradients(&matrix, &b, 1e-8, 1);
    assert!(alone.1.iterations > 20, "{:?}", alone.1);
    for threads in [2, 3] {
        assert!(by_gradients(&matrix, &b, 1e-8, threads) == alone, "{threads} threads");
    }
}

#[test]
fn held_vertices_do_not_move_and_the_others_move_as_without_them() {
    let mut matrix = cloth_matrix(10, 1.05, Treatment::Plain);
    let whole = matrix.clone();
    let mut b = Random::new(13).vectors(matrix.row_count());
    let held = [0, 10, 55];
    for v in held {
        matrix.hold(v);
        b[v] = Vec3::ZERO;
    }
    let mut x = b.clone();
    let mut cholesky = Cholesky::new(&matrix).unwrap();
    assert!(cholesky.factor(&matrix));
    cholesky.solve(&mut x);
    let (y, _) = by_gradients(&matrix, &b, 1e-12, 1);
    assert!(difference(&y, &x) < 1e-9, "{:.1e}", difference(&y, &x));
    // The equations of the free vertices are those of the whole matrix.
    for (row, product) in product(&whole, &x).into_iter().enumerate() {
        if held.contains(&row) {
            assert_eq!((x[row], y[row]), (Vec3::ZERO, Vec3::ZERO), "{row}");
        } else {
            assert!((product - b[row]).norm() < 1e-10, "{row}: {product:?} {:?}", b[row]);
        }
    }
}
