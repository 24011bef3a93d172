//! A picture of a start that is refused: `preview.png`, with the triangles that cut or touch in red.
//!
//! Nothing else is written, and nothing of an earlier run is removed. The picture says in its text that it is of a refused start, so the next
//! run in the folder knows it for one of ours.

use std::path::PathBuf;

use muslin::math::Vec3;
use muslin::model::Problem;
use muslin::scene::Scene;
use muslin::setup::BadStart;
use muslin_render::{Bounds, Cloth, Picture, Renderer, Solid, cloth_color};

use super::folder::{Folder, PREVIEW, REFUSED};
use super::lock::Lock;
use super::preview::{self, PreviewError};
use super::surfaces::Surface;
use crate::args::{Preview, RunArguments};
use crate::failure::Failure;
use crate::mesh_files::MeshFiles;

/// The colour of meshes among the colliders, sRGB.
const BODY: [f32; 3] = [0.62, 0.62, 0.6];

/// Paints the start of a scene that was refused, if it was for what cuts or touches in it, and lets what was said name the picture.
pub(super) fn paint(
    arguments: &RunArguments,
    scene: &Scene,
    folder: &Folder,
    meshes: &mut MeshFiles,
    problems: &mut [Problem],
) {
    if arguments.preview == Preview::None || arguments.resume {
        return;
    }
    let Some(start) = meshes.bad_start(scene) else { return };
    let seen = match draw(scene, &start, folder) {
        Ok(path) => format!("{} shows them in red", path.display()),
        Err(failure) => format!("there is no picture of it: {failure}"),
    };
    for problem in problems.iter_mut().filter(|problem| start.problems.contains(problem)) {
        problem.message = format!("{}; {seen}", problem.message);
    }
}

fn draw(scene: &Scene, start: &BadStart, folder: &Folder) -> Result<PathBuf, Failure> {
    folder.guard([&PREVIEW.to_owned()], &folder.made())?;
    folder.create()?;
    let _lock = Lock::take(folder)?;
    let path = folder.join(PREVIEW);
    picture(scene, start)
        .and_then(|picture| Ok(picture.write_png_with(&path, REFUSED)?))
        .map_err(|error| Failure::Failed(error.to_string()))?;
    Ok(path)
}

/// The start with what cuts in red, and the edges of all triangles.
fn picture(scene: &Scene, start: &BadStart) -> Result<Picture, PreviewError> {
    let model = &start.model;
    let single = |x: &Vec3<f64>| x.cast::<f32>().to_array();
    let cloths: Vec<Vec<[f32; 3]>> = model
        .cloths
        .iter()
        .map(|cloth| {
            let own = &model.initial_positions[cloth.vertices.clone()];
            cloth.ordering.new_from_old.iter().map(|&new| single(&own[new as usize])).collect()
        })
        .collect();
    let bodies: Vec<Vec<[f32; 3]>> = model
        .bodies
        .iter()
        .map(|body| {
            let mut positions = Vec::new();
            body.extend_positions(0.0, &mut positions);
            positions.iter().map(single).collect()
        })
        .collect();
    let mut bounds = Bounds::default();
    cloths.iter().chain(&bodies).for_each(|positions| bounds.include_positions(positions));
    let surfaces = Surface::of_model(model);
    let solids: Vec<Solid<'_>> = surfaces.iter().map(Surface::solid).collect();
    solids.iter().for_each(|solid| bounds.include_solid(solid));

    let colored =
        |index: usize| scene.cloths[index].color.map_or_else(|| cloth_color(index), |color| color.map(|c| c as f32));
    let sheets =
        cloths.iter().zip(&model.cloths).zip(&start.cloths).enumerate().map(|(i, ((positions, cloth), marked))| {
            Cloth { color: colored(i), wires: true, marked, ..Cloth::new(positions, &cloth.mesh.triangles) }
        });
    let meshes = bodies.iter().zip(&model.bodies).zip(&start.bodies).map(|((positions, body), marked)| Cloth {
        color: BODY,
        wires: true,
        marked,
        ..Cloth::new(positions, &body.mesh.triangles)
    });
    let [width, height] = scene.view.size.map(|side| side as usize);
    let mut renderer = Renderer::new(width, height, preview::STILL_SAMPLES)?;
    let drawn = muslin_render::Scene {
        cloths: sheets.chain(meshes).collect(),
        ground: preview::ground(&scene.view, &bounds, &solids),
        camera: Some(preview::camera(&scene.view, &bounds, renderer.aspect())),
        solids,
        ..muslin_render::Scene::default()
    };
    Ok(renderer.render(&drawn)?.clone())
}
