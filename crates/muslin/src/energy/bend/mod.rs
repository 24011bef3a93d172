//! Energies that resist bending: of a hinge of two triangles, or of a patch around a triangle.

pub mod buckling;
pub mod cubic_shell;
pub mod dihedral;
pub mod distance;
pub mod hinge_force;
pub mod isometric;
mod patch;
pub mod projective;
pub mod shell;
