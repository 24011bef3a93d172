//! What a run adds where it sews: how the garment sits, in numbers and pictures, and its pattern as it lies on the table.

use muslin::Simulation;
use muslin::scene::{Cloth, ClothShape, Scene};
use muslin_io::file_stem;
use muslin_scenes::patterns;

use super::fit::{Fit, PanelFit};
use super::plan::Plan;
use super::views::Figure;
use crate::args::Preview;
use crate::failure::Failure;

const VIEWS: &str = "views.png";
const FIT: &str = "fit.png";

/// What was made.
#[derive(Default)]
pub(super) struct Made {
    pub(super) fit: Vec<PanelFit>,
    pub(super) files: Vec<String>,
}

/// The files of a run that sews patterns.
pub(super) fn names(scene: &Scene, preview: Preview) -> Vec<String> {
    let flat: Vec<String> = scene.cloths.iter().filter(|cloth| pattern(cloth).is_some()).map(flat_name).collect();
    let has_pictures = !flat.is_empty() && preview != Preview::None;
    let pictures = has_pictures.then_some([VIEWS, FIT]).into_iter().flatten().map(str::to_owned);
    flat.into_iter().chain(pictures).collect()
}

/// Measures and draws the garments of a run that has ended.
pub(super) fn finish(plan: &Plan, simulation: &Simulation) -> Result<Made, Failure> {
    let model = simulation.model();
    let mut made = Made { fit: Vec::new(), files: names(&plan.scene, plan.preview) };
    if made.files.is_empty() {
        return Ok(made);
    }
    for cloth in &plan.scene.cloths {
        if let Some(copy) = pattern(cloth) {
            let path = plan.folder.join(copy);
            let text = std::fs::read_to_string(&path).map_err(|error| crate::failure::cannot_read(&path, error))?;
            let svg = patterns::svg(&text).map_err(Failure::Failed)?;
            plan.folder.write(flat_name(cloth), svg.as_bytes())?;
        }
    }
    let fits: Vec<Fit> = (0..model.cloths.len()).map(|index| Fit::measure(simulation, index)).collect();
    let sewn = model.cloths.iter().zip(&fits).zip(&plan.scene.cloths).filter(|(_, cloth)| pattern(cloth).is_some());
    made.fit = sewn.flat_map(|((cloth, fit), _)| fit.panels(cloth)).collect();
    if plan.preview != Preview::None {
        let figure = Figure::of(simulation);
        let failed = |error: super::preview::PreviewError| Failure::Failed(error.to_string());
        let write = |name: &str, picture: muslin_render::Picture| {
            picture.write_png(plan.folder.join(name)).map_err(|error| Failure::Failed(error.to_string()))
        };
        write(VIEWS, figure.plain().map_err(failed)?)?;
        write(FIT, figure.fit(&fits).map_err(failed)?)?;
    }
    Ok(made)
}

/// The file of the pattern of a cloth.
fn pattern(cloth: &Cloth) -> Option<&str> {
    match &cloth.shape {
        ClothShape::Pattern { file, .. } => Some(file),
        _ => None,
    }
}

/// The pattern as it lies flat.
fn flat_name(cloth: &Cloth) -> String {
    format!("{}.svg", file_stem(&cloth.name))
}
