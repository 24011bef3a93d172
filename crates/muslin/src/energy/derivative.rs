//! Second derivatives of an element: exact ones by dual numbers, and two ways to have none negative.

use crate::energy::{Blocks, Constraint, Energy, Multiplier};
use crate::math::{Dual, Mat3, Small, Vec3};

/// ∂(∇ψ)/∂x of one coordinate, by dual numbers.
fn column<E: Energy<N>, const N: usize>(
    rest: &E::Rest<Dual<f64>>,
    x: &[Vec3<f64>; N],
    vertex: usize,
    axis: usize,
) -> [Vec3<f64>; N] {
    let seeded: [Vec3<Dual<f64>>; N] = std::array::from_fn(|i| {
        let mut p = x[i].to_array().map(Dual::constant);
        if i == vertex {
            p[axis] = Dual::variable(p[axis].value);
        }
        p.into()
    });
    E::gradient(rest, &seeded).map(|g| Vec3::new(g.x.derivative, g.y.derivative, g.z.derivative))
}

/// The whole Hessian, made symmetric to the last bit.
pub(super) fn hessian<E: Energy<N>, const N: usize>(rest: &E::Rest<f64>, x: &[Vec3<f64>; N]) -> Blocks<N> {
    let rest = E::cast::<Dual<f64>>(std::slice::from_ref(rest));
    let mut blocks = [[Mat3::ZERO; N]; N];
    for j in 0..N {
        let columns: [[Vec3<f64>; N]; 3] = std::array::from_fn(|axis| column::<E, N>(&rest, x, j, axis));
        for i in 0..N {
            blocks[i][j] = Mat3::from_columns(columns[0][i], columns[1][i], columns[2][i]);
        }
    }
    for i in 0..N {
        for j in 0..=i {
            let mean = (blocks[i][j] + blocks[j][i].transposed()) * 0.5;
            blocks[i][j] = mean;
            blocks[j][i] = mean.transposed();
        }
    }
    blocks
}

/// One block of the diagonal.
pub(super) fn block<E: Energy<N>, const N: usize>(rest: &E::Rest<f64>, x: &[Vec3<f64>; N], vertex: usize) -> Mat3 {
    let rest = E::cast::<Dual<f64>>(std::slice::from_ref(rest));
    let columns: [Vec3<f64>; 3] = std::array::from_fn(|axis| column::<E, N>(&rest, x, vertex, axis)[vertex]);
    let block = Mat3::from_columns(columns[0], columns[1], columns[2]);
    (block + block.transposed()) * 0.5
}

/// The nearest Hessian without negative eigenvalues.
pub(super) fn clamp<const N: usize>(blocks: &Blocks<N>) -> Blocks<N> {
    let small = as_small(blocks).clamped();
    let number = |i: usize, j: usize, a: usize, b: usize| small.get(3 * i + a, 3 * j + b);
    std::array::from_fn(|i| {
        std::array::from_fn(|j| Mat3(std::array::from_fn(|a| std::array::from_fn(|b| number(i, j, a, b)))))
    })
}

/// The same for a Hessian whose range lies in the span of a few vectors, each of which is independent of the others:
/// exact, and faster than with all 3N coordinates.
pub(super) fn clamp_within<const N: usize, const M: usize>(
    blocks: &Blocks<N>,
    mut basis: [[Vec3<f64>; N]; M],
) -> Blocks<N> {
    let dot = |a: &[Vec3<f64>; N], b: &[Vec3<f64>; N]| (0..N).map(|i| a[i].dot(b[i])).sum::<f64>();
    for m in 0..M {
        let (before, rest) = basis.split_at_mut(m);
        let vector = &mut rest[0];
        // A second pass removes what rounding has left by the first.
        for other in before.iter().chain(before.iter()) {
            let along = dot(other, vector);
            (0..N).for_each(|i| vector[i] -= other[i] * along);
        }
        let squared = dot(vector, vector);
        let inverse = if squared > 0.0 { 1.0 / squared.sqrt() } else { 0.0 };
        vector.iter_mut().for_each(|v| *v = *v * inverse);
    }
    let images: [[Vec3<f64>; N]; M] = std::array::from_fn(|m| {
        std::array::from_fn(|i| (0..N).fold(Vec3::ZERO, |sum, j| sum + blocks[i][j].apply(basis[m][j])))
    });
    let small = Small::new(M, |i, j| dot(&basis[i], &images[j])).clamped();
    let lifted: [[Vec3<f64>; N]; M] = std::array::from_fn(|m| {
        std::array::from_fn(|i| (0..M).fold(Vec3::ZERO, |sum, k| sum + basis[k][i] * small.get(k, m)))
    });
    let mut clamped = [[Mat3::ZERO; N]; N];
    for i in 0..N {
        for j in 0..=i {
            let block = (0..M).fold(Mat3::ZERO, |sum, m| sum + Mat3::outer(lifted[m][i], basis[m][j]));
            clamped[i][j] = block;
            clamped[j][i] = block.transposed();
        }
    }
    clamped
}

/// The blocks as one matrix.
pub(super) fn as_small<const N: usize>(blocks: &Blocks<N>) -> Small {
    Small::new(3 * N, |i, j| blocks[i / 3][j / 3].0[i % 3][j % 3])
}

/// ∇C∇Cᵀ/α, summed over the parts of C.
pub(super) fn square<C: Constraint<f64, N>, const N: usize>(row: &C) -> Blocks<N> {
    let compliance = row.compliance();
    if compliance.is_nan() || compliance <= 0.0 {
        return [[Mat3::ZERO; N]; N];
    }
    let mut blocks = [[Mat3::ZERO; N]; N];
    for part in 0..C::Multiplier::PARTS {
        let unit = C::Multiplier::load(|p| if p == part { 1.0 } else { 0.0 });
        let gradient: [Vec3<f64>; N] = std::array::from_fn(|i| row.pull(i, unit));
        for i in 0..N {
            for j in 0..N {
                blocks[i][j] += Mat3::outer(gradient[i], gradient[j] * (1.0 / compliance));
            }
        }
    }
    blocks
}
