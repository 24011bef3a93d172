//! Eigenvalues of small symmetric matrices, for Hessians of single elements.

/// The largest size: six vertices of three coordinates.
pub const SMALL: usize = 18;

/// A symmetric matrix of at most [`SMALL`] rows.
///
/// ```
/// use muslin::math::Small;
///
/// let matrix = Small::new(2, |i, j| if i == j { 2.0 } else { 1.0 });
/// let mut eigenvalues = matrix.eigenvalues();
/// eigenvalues.sort_by(f64::total_cmp);
/// assert!((eigenvalues[0] - 1.0).abs() < 1e-12 && (eigenvalues[1] - 3.0).abs() < 1e-12);
/// ```
#[derive(Clone, Debug)]
pub struct Small {
    size: usize,
    numbers: [[f64; SMALL]; SMALL],
}

impl Small {
    /// From its numbers; only the lower triangle is asked for.
    pub fn new(size: usize, number: impl Fn(usize, usize) -> f64) -> Self {
        assert!(size <= SMALL, "a small matrix of {size} rows");
        let mut numbers = [[0.0; SMALL]; SMALL];
        for i in 0..size {
            for j in 0..=i {
                numbers[i][j] = number(i, j);
                numbers[j][i] = numbers[i][j];
            }
        }
        Self { size, numbers }
    }

    /// One number.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.numbers[i][j]
    }

    /// The eigenvalues in no order, by Jacobi's rotations; `vectors` gets the eigenvectors as columns.
    fn diagonalize(&mut self, vectors: &mut [[f64; SMALL]; SMALL]) -> [f64; SMALL] {
        /// Rotations converge quadratically: five sweeps suffice in practice, more never hurt.
        const SWEEPS: usize = 30;
        let n = self.size;
        for (i, row) in vectors.iter_mut().enumerate().take(n) {
            *row = [0.0; SMALL];
            row[i] = 1.0;
        }
        let a = &mut self.numbers;
        let total: f64 = a.iter().take(n).flat_map(|row| &row[..n]).map(|x| x * x).sum();
        for _ in 0..SWEEPS {
            let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
            if off <= 1e-32 * total || !off.is_finite() {
                break;
            }
            for p in 0..n {
                for q in p + 1..n {
                    rotate(a, vectors, n, p, q);
                }
            }
        }
        std::array::from_fn(|i| if i < n { a[i][i] } else { 0.0 })
    }

    /// The eigenvalues, rising.
    pub fn eigenvalues(mut self) -> Vec<f64> {
        let mut vectors = [[0.0; SMALL]; SMALL];
        let values = self.diagonalize(&mut vectors);
        let mut values = values[..self.size].to_vec();
        values.sort_by(f64::total_cmp);
        values
    }

    /// The eigenvalues in no order, and the eigenvectors as columns.
    pub fn eigen(mut self) -> ([f64; SMALL], [[f64; SMALL]; SMALL]) {
        let mut vectors = [[0.0; SMALL]; SMALL];
        (self.diagonalize(&mut vectors), vectors)
    }

    /// The largest eigenvalue and its vector, of length one.
    pub fn largest(mut self) -> (f64, [f64; SMALL]) {
        let mut vectors = [[0.0; SMALL]; SMALL];
        let values = self.diagonalize(&mut vectors);
        let best = (1..self.size).fold(0, |best, k| if values[k] > values[best] { k } else { best });
        (values[best], vectors.map(|row| row[best]))
    }

    /// The nearest matrix without negative eigenvalues: those are set to zero.
    #[must_use]
    pub fn clamped(self) -> Self {
        self.mapped(|values| values.iter_mut().for_each(|value| *value = value.max(0.0)))
    }

    /// The inverse on the eigenvectors whose eigenvalue is more than `part` of the largest, zero on the others.
    #[must_use]
    pub fn pseudo_inverse(self, part: f64) -> Self {
        self.mapped(|values| {
            let least = part * values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            values.iter_mut().for_each(|value| *value = if value.abs() > least { 1.0 / *value } else { 0.0 });
        })
    }

    /// The matrix of the same eigenvectors and other eigenvalues.
    #[must_use]
    pub fn mapped(mut self, map: impl FnOnce(&mut [f64])) -> Self {
        let n = self.size;
        let mut vectors = [[0.0; SMALL]; SMALL];
        let mut values = self.diagonalize(&mut vectors);
        map(&mut values[..n]);
        for i in 0..n {
            for j in 0..=i {
                let sum: f64 = (0..n).map(|k| values[k] * vectors[i][k] * vectors[j][k]).sum();
                self.numbers[i][j] = sum;
                self.numbers[j][i] = sum;
            }
        }
        self
    }
}

/// One rotation that makes a[p][q] zero.
fn rotate(a: &mut [[f64; SMALL]; SMALL], vectors: &mut [[f64; SMALL]; SMALL], n: usize, p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let ratio = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = ratio.signum() / (ratio.abs() + (ratio * ratio + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..n {
        let (kp, kq) = (a[k][p], a[k][q]);
        a[k][p] = c * kp - s * kq;
        a[k][q] = s * kp + c * kq;
    }
    for k in 0..n {
        let (pk, qk) = (a[p][k], a[q][k]);
        a[p][k] = c * pk - s * qk;
        a[q][k] = s * pk + c * qk;
    }
    for row in vectors.iter_mut().take(n) {
        let (p_k, q_k) = (row[p], row[q]);
        row[p] = c * p_k - s * q_k;
        row[q] = s * p_k + c * q_k;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_of_a_known_matrix() {
        // The second difference of a chain of n: 2 − 2 cos(kπ/(n + 1)).
        let chain = |i: usize, j: usize| {
            if i == j {
                2.0
            } else if i.abs_diff(j) == 1 {
                -1.0
            } else {
                0.0
            }
        };
        for (k, value) in (1..).zip(Small::new(9, chain).eigenvalues()) {
            let exact = 2.0 - 2.0 * libm::cos(f64::from(k) * std::f64::consts::PI / 10.0);
            assert!((value - exact).abs() < 1e-14, "{value} {exact}");
        }
    }

    #[test]
    fn the_largest_eigenvalue_has_its_vector() {
        // Eigenvalues 3 and −1, along (1, 1) and (1, −1).
        let (value, vector) = Small::new(2, |i, j| if i == j { 1.0 } else { 2.0 }).largest();
        assert!((value - 3.0).abs() < 1e-15, "{value}");
        assert!(
            (vector[0] - vector[1]).abs() < 1e-15 && (vector[0].abs() - 0.5_f64.sqrt()).abs() < 1e-15,
            "{vector:?}"
        );
    }

    #[test]
    fn clamping_keeps_what_is_positive_and_removes_the_rest() {
        // Eigenvalues 3 and −1, along (1, 1) and (1, −1).
        let clamped = Small::new(2, |i, j| if i == j { 1.0 } else { 2.0 }).clamped();
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            assert!((clamped.get(i, j) - 1.5).abs() < 1e-15, "{clamped:?}");
        }
        let inverse = Small::new(2, |i, j| if i == j { 1.0 } else { 2.0 }).pseudo_inverse(0.5);
        assert!((inverse.get(0, 1) - 1.0 / 6.0).abs() < 1e-15, "only 3 is kept: {inverse:?}");
        let definite = Small::new(2, |i, j| if i == j { 2.0 } else { 1.0 });
        let change = definite.clone().clamped().get(1, 0) - definite.get(1, 0);
        assert!(change.abs() < 1e-15, "{change}");
    }
}
