//! Meshes in, frame caches and export formats out.
//!
//! ```text
//! shirt.obj ── read_obj ──▶ ObjMesh                       what a scene names
//! body.glb  ── read_glb ──▶ GlbMesh                       a body that moves
//!
//! simulation ── NpyWriter ──▶ sheet.npy                   the cache: valid after every frame
//!                               │ NpyReader
//! RestMesh, Clip ───────────────┴─ export ──▶ sheet.glb, sheet.usda, sheet_obj/, …
//! ```
//!
//! Everything goes through plain slices, so that this crate depends on no solver and a solver on no file format.
//! Lengths are in metres, +y is up, triangles wind counter-clockwise seen from outside; no format converts any of it.
//! Texture coordinates have their origin at the bottom left, as in OBJ; a format that differs (glTF) flips them.
//!
//! # Adding a format
//!
//! 1. Write `src/<format>.rs` with a `pub(crate) const FORMAT: Format` and a `//!` that states layout and limits.
//! 2. Add it to [`FORMATS`]: the command line, its help and the tests that run over all formats take it from there.
//! 3. Let a reader that is not ours read it in `xtask/python/readers/check_formats.py`.
//!
//! # What is deliberately absent
//!
//! - Alembic and USDC: no writer in Rust is sound, and OpenUSD's `usdcat` packs the `.usda` written here.
//! - Durability through a power cut: nothing is fsynced. An interrupted *process* never leaves a broken file.

mod bytes;
mod error;
mod export;
mod frames;
mod glb;
mod glb_read;
mod mesh;
mod names;
mod npy;
mod obj;
mod partial;
mod pc2;
mod ply;
mod text;
mod usd;

pub use error::{Cause, InputError, IoError, IoErrorKind, Operation};
pub use export::{Exported, FORMATS, Format, export, find_format};
pub use frames::{Clip, FrameSource, Frames};
pub use glb::glb_bytes;
pub use glb_read::{GlbError, GlbMesh, read_glb};
pub use mesh::{Group, RestMesh, Uv};
pub use names::file_stem;
pub use npy::{NpyError, NpyHeader, NpyReader, NpyWriter, npy_bytes, read_npy};
pub use obj::{ObjElement, ObjError, ObjGroup, ObjMesh, ObjProblem, ObjUv, read_obj, write_obj};
