//! Linear systems of [`newton`](crate::solver::newton): the matrix M/η² + H with its pattern, and how it is solved.
//!
//! The pattern of the elements does not change, so its symbolic analysis is made once. Pairs in contact couple vertices that no element does. They have a second system, whose
//! pattern is that of the elements and of the pairs since it was made; it grows while there are new pairs, and is made anew where most of what it has is gone. It ends with its
//! frame, so what a frame does depends on its start alone.

use crate::contact::response::pair_penalties::PairPenalties;
use crate::math::Vec3;
use crate::solver::linear::{BlockMatrix, Cholesky, ConjugateGradients};
use crate::solver::{Context, StepError};

/// Above this many vertices `auto` takes conjugate gradients: the factor of a sheet grows as n log n, its time as n^1.5.
const CHOLESKY_LIMIT: usize = 40_000;

/// Conjugate gradients that have not converged after this many iterations are taken as they are.
const CG_LIMIT: u32 = 5_000;

/// The pattern of pairs is made anew where it has more than so many times those that there are.
const STALE: usize = 4;

/// How systems are solved, as the settings say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LinearChoice {
    BySize,
    Direct,
    Iterative,
}

/// A matrix and its solver.
pub(super) struct LinearSystem {
    pub(super) matrix: BlockMatrix,
    /// For each term, the blocks of each element.
    pub(super) slots: Vec<Vec<u32>>,
    linear: Linear,
    cg_tolerance: f64,
}

enum Linear {
    Direct(Box<Cholesky>),
    Iterative(ConjugateGradients),
}

impl LinearSystem {
    /// With the pattern of the terms and of `pairs`.
    fn new(
        context: &Context<'_>,
        vertices: usize,
        pairs: &[[u32; 4]],
        (choice, cg_tolerance): (LinearChoice, f64),
    ) -> Result<Self, StepError> {
        let matrix = BlockMatrix::new(vertices, |visit| {
            context.terms.iter().for_each(|term| (0..term.element_count()).for_each(|e| visit(term.stencil(e))));
            for pair in pairs {
                // Mesh colliders stand behind the cloths, and their vertices do not move.
                let count = pair.iter().filter(|&&vertex| (vertex as usize) < vertices).count();
                let mut free = [0; 4];
                free.iter_mut()
                    .zip(pair.iter().filter(|&&vertex| (vertex as usize) < vertices))
                    .for_each(|(a, b)| *a = *b);
                visit(&free[..count]);
            }
        });
        let slots = context.terms.iter().map(|term| {
            let pairs = (0..term.element_count()).flat_map(|e| {
                let stencil = term.stencil(e);
                stencil.iter().flat_map(move |&i| stencil.iter().map(move |&j| (i, j)))
            });
            // The pattern has a block for every pair of a stencil.
            pairs.filter_map(|(i, j)| matrix.slot(i, j)).collect()
        });
        let slots = slots.collect();
        let is_direct = match choice {
            LinearChoice::Direct => true,
            LinearChoice::Iterative => false,
            LinearChoice::BySize => vertices <= CHOLESKY_LIMIT,
        };
        let linear = if is_direct {
            Linear::Direct(Box::new(Cholesky::new(&matrix).ok_or(StepError::Memory { vertices })?))
        } else {
            Linear::Iterative(ConjugateGradients::default())
        };
        Ok(Self { matrix, slots, linear, cg_tolerance })
    }

    /// Whether the pattern has a block for each two vertices of a pair that may move.
    fn covers(&self, pairs: &PairPenalties) -> bool {
        let has = |(i, j): (u32, u32)| i.max(j) as usize >= self.matrix.row_count() || self.matrix.slot(i, j).is_some();
        pairs.stencils().flat_map(|&[a, b, c, d]| [(a, b), (a, c), (a, d), (b, c), (b, d), (c, d)]).all(has)
    }

    /// Replaces the direction d by A⁻¹d; `false` if A is found not to be positive definite.
    pub(super) fn solve(&mut self, context: &Context<'_>, direction: &mut [Vec3<f64>]) -> bool {
        match &mut self.linear {
            Linear::Direct(cholesky) => {
                let done = cholesky.factor(&self.matrix);
                if done {
                    cholesky.solve(direction);
                }
                done
            }
            Linear::Iterative(cg) => {
                let team = (context.team, context.threads);
                !cg.solve(team, &self.matrix, direction, self.cg_tolerance, CG_LIMIT).indefinite
            }
        }
    }
}

/// The two systems of a solver.
pub(super) struct LinearSystems {
    settings: (LinearChoice, f64),
    vertices: usize,
    /// Of the terms.
    alone: Option<LinearSystem>,
    /// Of the terms and the pairs of `covered`.
    with_pairs: Option<LinearSystem>,
    covered: Vec<[u32; 4]>,
    /// Whether the last that was asked for is `with_pairs`.
    is_with_pairs: bool,
}

impl LinearSystems {
    pub(super) fn new(choice: LinearChoice, cg_tolerance: f64) -> Self {
        Self {
            settings: (choice, cg_tolerance),
            vertices: 0,
            alone: None,
            with_pairs: None,
            covered: Vec::new(),
            is_with_pairs: false,
        }
    }

    /// Begins a frame of so many vertices.
    pub(super) fn begin(&mut self, context: &Context<'_>, vertices: usize) -> Result<(), StepError> {
        if self.alone.is_none() || self.vertices != vertices {
            self.vertices = vertices;
            self.alone = Some(LinearSystem::new(context, vertices, &[], self.settings)?);
        }
        self.with_pairs = None;
        self.covered.clear();
        Ok(())
    }

    /// The system that has a block for each two vertices of a term or a pair.
    pub(super) fn covering(
        &mut self,
        context: &Context<'_>,
        pairs: &PairPenalties,
    ) -> Result<&mut LinearSystem, StepError> {
        self.is_with_pairs = !pairs.is_empty();
        let (system, covered) = if pairs.is_empty() {
            // It is there since the frame began.
            (&mut self.alone, &[][..])
        } else {
            if !self.with_pairs.as_ref().is_some_and(|system| system.covers(pairs)) {
                if self.covered.len() > STALE * pairs.len() {
                    self.covered.clear();
                }
                self.covered.extend(pairs.stencils());
                self.covered.sort_unstable();
                self.covered.dedup();
                self.with_pairs = None;
            }
            (&mut self.with_pairs, &self.covered[..])
        };
        match system {
            Some(system) => Ok(system),
            none => Ok(none.insert(LinearSystem::new(context, self.vertices, covered, self.settings)?)),
        }
    }

    /// The matrix of the system that was asked for last.
    pub(super) fn last_matrix(&self) -> Option<&BlockMatrix> {
        let last = if self.is_with_pairs { &self.with_pairs } else { &self.alone };
        last.as_ref().map(|system| &system.matrix)
    }
}
