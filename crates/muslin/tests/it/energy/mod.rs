//! Energies against closed forms.

mod bend;
mod projections;
mod shape_model;
mod stiffness;
mod stretch;
