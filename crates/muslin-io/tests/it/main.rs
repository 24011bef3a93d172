//! Promises of the crate to those who use it.

mod cloth;
mod export;
mod glb_read;
mod npy;
mod obj_fuzz;
mod obj_read;
mod obj_refuse;
mod obj_write;
