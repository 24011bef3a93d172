//! Energies as compliant constraints: what the position-based solvers ask of an element.
//!
//! ```text
//! ψ = ‖C‖² / 2α        C(x) constraint, α compliance (inverse stiffness)
//! ```
//!
//! C is a number for most models. For the quadratic bending model it is a vector, whose three components do not
//! interact; writing it as such is exact and cheaper than three rows. Membranes have three numbers that do interact, and are
//! corrected one after the other.

use std::ops::{Add, Mul, Neg};

use crate::math::{Scalar, Sym3, Vec3, each, inlined};

/// A constraint linearised at one state of an element.
///
/// ```
/// use muslin::energy::{Constraint, Energy};
/// use muslin::energy::stretch::spring::{Rest, Spring};
/// use muslin::math::Vec3;
///
/// let row = Spring::row(&Rest { length: 1.0, compliance: 0.01 }, &[Vec3::ZERO, Vec3::new(3.0, 0.0, 0.0)]);
/// assert_eq!((row.value(), row.compliance()), (2.0, 0.01));
/// assert_eq!(row.pull(1, 1.0), Vec3::new(1.0, 0.0, 0.0), "∇C at the second vertex");
/// ```
pub trait Constraint<S: Scalar, const N: usize>: Copy {
    /// The type of C and of its multiplier λ.
    type Multiplier: Multiplier<S>;

    /// C(x).
    fn value(&self) -> Self::Multiplier;
    /// α.
    fn compliance(&self) -> S;
    /// The change of λ that answers an `error` of C; `w` inverse masses, in 1/kg.
    ///
    /// A part of C with inverse inertia m = Σ wᵢ ‖∇ᵢC‖² gets −`share`(m) times its error. Where parts pull on each other, a
    /// part sees what those before it have changed, times `coupling`.
    fn resolve(&self, w: &[S; N], error: Self::Multiplier, coupling: S, share: impl Fn(S) -> S) -> Self::Multiplier;
    /// Σ ∇ᵢC · dᵢ.
    fn along(&self, d: &[Vec3<S>; N]) -> Self::Multiplier;
    /// ∇ᵢC λ.
    fn pull(&self, vertex: usize, multiplier: Self::Multiplier) -> Vec3<S>;
    /// w ∇ᵢC λ: how far a vertex with the inverse mass w goes.
    #[inline(always)]
    fn shift(&self, vertex: usize, multiplier: Self::Multiplier, w: S) -> Vec3<S> {
        self.pull(vertex, multiplier * w)
    }
    /// s ∇ᵢC ∇ᵢCᵀ.
    fn square(&self, vertex: usize, s: S) -> Sym3<S>;
}

/// A value of a constraint: a number or a vector.
///
/// ```
/// use muslin::energy::Multiplier;
/// use muslin::math::Vec3;
///
/// assert_eq!((<f64 as Multiplier<f64>>::PARTS, <Vec3<f64> as Multiplier<f64>>::PARTS), (1, 3));
/// assert_eq!(Multiplier::<f64>::norm_squared(Vec3::new(1.0, 2.0, 2.0)), 9.0);
/// ```
pub trait Multiplier<S: Scalar>: Copy + Add<Output = Self> + Neg<Output = Self> + Mul<S, Output = Self> {
    /// Numbers it takes to store one.
    const PARTS: usize;
    /// From storage; `part` gives [`PARTS`](Self::PARTS) numbers.
    fn load(part: impl Fn(usize) -> S) -> Self;
    /// To storage.
    fn store(self, set: impl FnMut(usize, S));
    /// ‖C‖².
    fn norm_squared(self) -> S;
}

impl<S: Scalar> Multiplier<S> for S {
    const PARTS: usize = 1;
    #[inline(always)]
    fn load(part: impl Fn(usize) -> S) -> Self {
        part(0)
    }
    #[inline(always)]
    fn store(self, mut set: impl FnMut(usize, S)) {
        set(0, self);
    }
    #[inline(always)]
    fn norm_squared(self) -> S {
        self * self
    }
}

impl<S: Scalar> Multiplier<S> for Vec3<S> {
    const PARTS: usize = 3;
    #[inline(always)]
    fn load(part: impl Fn(usize) -> S) -> Self {
        Self::new(part(0), part(1), part(2))
    }
    #[inline(always)]
    fn store(self, mut set: impl FnMut(usize, S)) {
        set(0, self.x);
        set(1, self.y);
        set(2, self.z);
    }
    #[inline(always)]
    fn norm_squared(self) -> S {
        Self::norm_squared(self)
    }
}

/// A scalar constraint.
///
/// ```
/// use muslin::energy::{Constraint, Row};
/// use muslin::math::Vec3;
///
/// // The height of one vertex, held at zero by 1/α = 50 N/m.
/// let row = Row { value: 0.2, gradient: [Vec3::new(0.0, 1.0, 0.0)], compliance: 0.02 };
/// let lambda = -row.value / row.compliance;
/// assert_eq!(row.pull(0, lambda), Vec3::new(0.0, -10.0, 0.0), "its force, in N");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Row<S, const N: usize> {
    /// C.
    pub value: S,
    /// ∇ᵢC.
    pub gradient: [Vec3<S>; N],
    /// α.
    pub compliance: S,
}

impl<S: Scalar, const N: usize> Row<S, N> {
    /// The energy itself as a constraint: C = √2ψ with α = 1, ∇C = ∇ψ/C; no gradient where C = 0, for it has none there.
    #[inline(always)]
    pub fn of_energy(energy: S, gradient: [Vec3<S>; N]) -> Self {
        let has_energy = energy.greater(S::ZERO);
        let value = S::select(has_energy, (energy + energy).sqrt(), S::ZERO);
        let inverse = S::select(has_energy, S::ONE / value, S::ZERO);
        Self {
            value,
            gradient: each(
                gradient,
                #[inline(always)]
                |g| g * inverse,
            ),
            compliance: S::ONE,
        }
    }
}

impl<S: Scalar, const N: usize> Constraint<S, N> for Row<S, N> {
    type Multiplier = S;

    #[inline(always)]
    fn value(&self) -> S {
        self.value
    }
    #[inline(always)]
    fn compliance(&self) -> S {
        self.compliance
    }
    #[inline(always)]
    fn resolve(&self, w: &[S; N], error: S, _coupling: S, share: impl Fn(S) -> S) -> S {
        let mut inertia = S::ZERO;
        for i in 0..N {
            inertia += w[i] * self.gradient[i].norm_squared();
        }
        -(error * share(inertia))
    }
    #[inline(always)]
    fn along(&self, d: &[Vec3<S>; N]) -> S {
        let mut sum = S::ZERO;
        for i in 0..N {
            sum += self.gradient[i].dot(d[i]);
        }
        sum
    }
    #[inline(always)]
    fn pull(&self, vertex: usize, multiplier: S) -> Vec3<S> {
        self.gradient[vertex] * multiplier
    }
    #[inline(always)]
    fn square(&self, vertex: usize, s: S) -> Sym3<S> {
        Sym3::outer(self.gradient[vertex], s)
    }
}

/// A scalar constraint on the distance of two points: its gradients are −n and n with ‖n‖ = 1.
///
/// ```
/// use muslin::energy::{Constraint, PairRow};
/// use muslin::math::Vec3;
///
/// let row = PairRow { value: 0.1, direction: Vec3::new(1.0, 0.0, 0.0), compliance: 0.01 };
/// assert_eq!(row.pull(0, 1.0), -row.pull(1, 1.0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PairRow<S> {
    /// C.
    pub value: S,
    /// n, from the first point to the second; zero where they coincide.
    pub direction: Vec3<S>,
    /// α.
    pub compliance: S,
}

impl<S: Scalar> Constraint<S, 2> for PairRow<S> {
    type Multiplier = S;

    #[inline(always)]
    fn value(&self) -> S {
        self.value
    }
    #[inline(always)]
    fn compliance(&self) -> S {
        self.compliance
    }
    #[inline(always)]
    fn resolve(&self, w: &[S; 2], error: S, _coupling: S, share: impl Fn(S) -> S) -> S {
        -(error * share(w[0] + w[1]))
    }
    #[inline(always)]
    fn along(&self, d: &[Vec3<S>; 2]) -> S {
        self.direction.dot(d[1] - d[0])
    }
    #[inline(always)]
    fn pull(&self, vertex: usize, multiplier: S) -> Vec3<S> {
        self.direction * if vertex == 0 { -multiplier } else { multiplier }
    }
    #[inline(always)]
    fn square(&self, _vertex: usize, s: S) -> Sym3<S> {
        Sym3::outer(self.direction, s)
    }
}

/// A vector constraint that is linear in the positions: C = Σ kᵢ xᵢ, so ∇ᵢC = kᵢ I.
///
/// ```
/// use muslin::energy::{Constraint, LinearRow};
/// use muslin::math::Vec3;
///
/// // C = x₁ − x₀.
/// let row = LinearRow { value: Vec3::new(0.0, 0.5, 0.0), weights: [-1.0, 1.0], compliance: 0.01 };
/// let up = Vec3::new(0.0, 1.0, 0.0);
/// assert_eq!((row.pull(0, up), row.along(&[Vec3::ZERO, up])), (-up, up));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LinearRow<S, const N: usize> {
    /// C.
    pub value: Vec3<S>,
    /// kᵢ.
    pub weights: [S; N],
    /// α.
    pub compliance: S,
}

impl<S: Scalar, const N: usize> Constraint<S, N> for LinearRow<S, N> {
    type Multiplier = Vec3<S>;

    #[inline(always)]
    fn value(&self) -> Vec3<S> {
        self.value
    }
    #[inline(always)]
    fn compliance(&self) -> S {
        self.compliance
    }
    #[inline(always)]
    fn resolve(&self, w: &[S; N], error: Vec3<S>, _coupling: S, share: impl Fn(S) -> S) -> Vec3<S> {
        let mut inertia = S::ZERO;
        for i in 0..N {
            inertia += w[i] * (self.weights[i] * self.weights[i]);
        }
        -(error * share(inertia))
    }
    #[inline(always)]
    fn along(&self, d: &[Vec3<S>; N]) -> Vec3<S> {
        let mut sum = Vec3::ZERO;
        for i in 0..N {
            sum += d[i] * self.weights[i];
        }
        sum
    }
    #[inline(always)]
    fn pull(&self, vertex: usize, multiplier: Vec3<S>) -> Vec3<S> {
        multiplier * self.weights[vertex]
    }
    #[inline(always)]
    fn shift(&self, vertex: usize, multiplier: Vec3<S>, w: S) -> Vec3<S> {
        multiplier * (self.weights[vertex] * w)
    }
    #[inline(always)]
    fn square(&self, vertex: usize, s: S) -> Sym3<S> {
        Sym3::scalar(self.weights[vertex] * self.weights[vertex] * s)
    }
}

/// Three numbers with gradients of their own.
///
/// ```
/// use muslin::energy::{Constraint, TripleRow};
/// use muslin::math::Vec3;
///
/// // Three numbers, each a coordinate of the one vertex.
/// let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| [Vec3::from(axis)]);
/// let row = TripleRow { value: Vec3::ZERO, gradients: axes, compliance: 0.01 };
/// let moved = Vec3::new(1.0, 2.0, 3.0);
/// assert_eq!(row.along(&[moved]), moved);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TripleRow<S, const N: usize> {
    /// C.
    pub value: Vec3<S>,
    /// ∇ᵢ of each part of C.
    pub gradients: [[Vec3<S>; N]; 3],
    /// α, of every part.
    pub compliance: S,
}

impl<S: Scalar, const N: usize> TripleRow<S, N> {
    /// Σ wᵢ ∇ᵢC · ∇ᵢC′ of two parts.
    #[inline(always)]
    fn coupling(&self, w: &[S; N], a: usize, b: usize) -> S {
        let mut sum = S::ZERO;
        for i in 0..N {
            sum += w[i] * self.gradients[a][i].dot(self.gradients[b][i]);
        }
        sum
    }
}

impl<S: Scalar, const N: usize> Constraint<S, N> for TripleRow<S, N> {
    type Multiplier = Vec3<S>;

    #[inline(always)]
    fn value(&self) -> Vec3<S> {
        self.value
    }
    #[inline(always)]
    fn compliance(&self) -> S {
        self.compliance
    }
    #[inline(always)]
    fn resolve(&self, w: &[S; N], error: Vec3<S>, coupling: S, share: impl Fn(S) -> S) -> Vec3<S> {
        let part = inlined(
            #[inline(always)]
            |p: usize, error: S| -(error * share(self.coupling(w, p, p))),
        );
        let x = part(0, error.x);
        let y = part(1, error.y + coupling * self.coupling(w, 0, 1) * x);
        let z = part(2, error.z + coupling * (self.coupling(w, 0, 2) * x + self.coupling(w, 1, 2) * y));
        Vec3::new(x, y, z)
    }
    #[inline(always)]
    fn along(&self, d: &[Vec3<S>; N]) -> Vec3<S> {
        let [x, y, z] = each(
            self.gradients,
            #[inline(always)]
            |gradient: [Vec3<S>; N]| {
                let mut sum = S::ZERO;
                for i in 0..N {
                    sum += gradient[i].dot(d[i]);
                }
                sum
            },
        );
        Vec3::new(x, y, z)
    }
    #[inline(always)]
    fn pull(&self, vertex: usize, multiplier: Vec3<S>) -> Vec3<S> {
        let [x, y, z] = each(
            self.gradients,
            #[inline(always)]
            |gradient: [Vec3<S>; N]| gradient[vertex],
        );
        x * multiplier.x + y * multiplier.y + z * multiplier.z
    }
    #[inline(always)]
    fn square(&self, vertex: usize, s: S) -> Sym3<S> {
        let mut sum = Sym3::outer(self.gradients[0][vertex], s);
        sum += Sym3::outer(self.gradients[1][vertex], s);
        sum += Sym3::outer(self.gradients[2][vertex], s);
        sum
    }
}
