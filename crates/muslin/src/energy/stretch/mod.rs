//! Energies that resist stretch and shear in the plane of the cloth.

pub mod baraff_witkin;
pub mod cluster;
pub mod membrane;
pub mod neo_hookean;
pub(crate) mod network;
pub mod shape_matching;
pub mod spring;
pub mod stvk;
