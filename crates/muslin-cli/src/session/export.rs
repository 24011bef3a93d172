//! The formats that are made of the frames once they are all there.

use muslin_io::{Clip, Exported, Format, IoError};

use super::caches;
use super::plan::Plan;
use super::rest::Rest;

/// What an export of a cloth is called in the folder.
pub(super) fn name(format: &Format, stem: &str) -> String {
    let separator = if matches!(format.name, "obj" | "ply") { '_' } else { '.' }; // a folder of files, or a file
    format!("{stem}{separator}{}", format.extension)
}

/// Writes the motion of one cloth in one format.
pub(super) fn export(plan: &Plan, format: &Format, rest: &Rest<'_>) -> Result<Exported, IoError> {
    let mesh = rest.mesh();
    let mut frames = caches::read(&plan.folder, mesh.name)?;
    muslin_io::export(format, &plan.folder.path, &mesh, &mut frames, Clip { fps: plan.scene.fps })
}
