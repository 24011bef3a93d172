//! Contact: find pairs, measure them, respond, certify the step, and untangle a start that cuts.
//!
//! A solver moves vertices over a substep from xⁿ to x. Contact then changes x so that cloth keeps its thickness from colliders and from cloth, and that nothing passes
//! through anything.
//!
//! **Analytic colliders** have a signed distance, so each vertex is on its own:
//!
//! 1. *Measure.* [`ColliderOverSubstep::touch`](kinematics::ColliderOverSubstep::touch) asks the distance at xⁿ and at x, and where these do not rule it out, whether the way
//!    between them enters the body: [`RelativePath::entry`](advancement::RelativePath::entry).
//! 2. *Respond.* [`collider_projection::project`](response::collider_projection::project) moves the vertex out along the normal, with Coulomb friction. Solvers that minimise see
//!    [`ColliderPenalties`](response::collider_penalties::ColliderPenalties) while they iterate, and the projection takes what depth is left.
//!
//! **Cloth and mesh colliders** are pairs of a vertex and a triangle or of two edges. [`ContactResolution`](resolve::ContactResolution) goes through them in this order:
//!
//! 1. *Find pairs.* [`BroadPhase::look`] gives every [pair](Candidates) that may come nearer than the thickness on the way from xⁿ to x.
//! 2. *Measure.* [`Contacts::add`](narrow_phase::Contacts::add) computes closest points; pairs nearer than their thickness become contacts.
//! 3. *Respond.* [`Islands::push`](resolve::islands::Islands::push) sweeps each island of contacts by [`PairContact::project`](response::pair_projection::PairContact::project). `newton` sees
//!    [`PairPenalties`](response::pair_penalties::PairPenalties) while it iterates, which leave a hundredth of the depth.
//! 4. *Certify.* [`Truncation`] proves for every pair that it stays apart, and cuts back the step of those for which it cannot.
//! 5. *Untangle.* [`Untangle`](untangle::Untangle) exempts what cuts at the start of a run from all this, and pulls it apart.
//!
//! | module | guarantees |
//! |---|---|
//! | [`pair`] | a pair has no vertex in common |
//! | [`geometry`] | distances and intersections, each with its rounding |
//! | [`collider`], [`kinematics`] | shapes and meshes; where they are in each substep |
//! | [`advancement`] | no point that is asked for crosses an analytic collider unnoticed, however fast either moves: vertices, and midpoints of edges where a solver tests them |
//! | [`broad_phase`] | no pair within the asked distance is missed, whatever the age of its lists |
//! | [`narrow_phase`] | normals and weights, fixed for the substep |
//! | [`response`] | momentum of a pair is kept; friction is at most μ times the normal force |
//! | [`certificate`] | **if no triangles cut each other at the start of a substep, none do at its end or in between**, whatever solver and response did |
//! | [`resolve`] | the order above, with the same bits for any number of threads |
//! | [`untangle`] | what is free stays free; what is not exempt is certified as ever |
//! | [`inspect`] | near pairs and cuts of a finished frame, for the report |
#![allow(rustdoc::private_intra_doc_links, reason = "the page leads readers of the code to the functions")]

pub(crate) mod advancement;
pub(crate) mod broad_phase;
pub(crate) mod certificate;
pub(crate) mod collider;
pub(crate) mod context;
pub(crate) mod geometry;
pub(crate) mod inspect;
pub(crate) mod kinematics;
pub(crate) mod narrow_phase;
pub(crate) mod pair;
pub(crate) mod resolve;
pub(crate) mod response;
pub(crate) mod untangle;

pub use broad_phase::{Asked, BroadPhase, Leave};
pub use certificate::truncation::Truncation;
pub use certificate::{Breach, Held, certify, is_certified};
pub(crate) use certificate::{extent, rounding};
pub use collider::*;
pub(crate) use geometry::axis_gaps::is_beyond;
pub use geometry::closest_points::{Closest, point_triangle, segment_segment};
pub use geometry::surface::Surface;
pub use geometry::triangle_intersection::{count_intersections, find_intersections, for_each_intersection};
pub(crate) use inspect::{Inspection, PIECES};
pub use pair::{Candidates, Pair};
pub use resolve::stats::ContactStats;
