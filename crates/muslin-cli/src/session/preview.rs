//! Pictures of a run: `preview.png`, its last frame, and `preview.mp4` (or `.apng`, without the video feature), its motion.
//!
//! They are made of the frames in the caches after the simulation, so that the camera can stand still and have the
//! whole motion in view. Drawing uses all threads and encoding one, so the two work side by side.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use muslin::mesh::Mesh;
use muslin::model::{Body, Model};
use muslin::scene::View;
use muslin_io::{IoError, NpyReader};
use muslin_render::video::{VideoError, VideoWriter};
use muslin_render::{Bounds, Camera, Cloth, Picture, RenderError, Renderer, Solid, cloth_color};
use rayon::ThreadPoolBuilder;

use super::caches;
use super::folder;
use super::interrupt::Interrupt;
use super::plan::Plan;
use super::progress::Progress;
use super::surfaces::Surface;
use crate::args::Preview;

/// Frames a second above which the film leaves some out, and its longest and shortest side, at most.
///
/// At 60 frames a second and 1280 × 720, the three seconds of `drape` took 14 s to draw and encode on two busy cores; so
/// they take 4 s. The simulation takes one.
const FASTEST: f64 = 30.0;
const FILM_SIZE: [u32; 2] = [960, 540];
/// Samples along each side of a pixel.
pub(super) const STILL_SAMPLES: usize = 3;
const FILM_SAMPLES: usize = 2;
/// Frames that are looked at to place the camera.
const LOOKS: usize = 60;
/// Pictures that may wait for the encoder.
const WAITING: usize = 2;

/// Why there are no pictures.
#[derive(Debug, thiserror::Error)]
pub(super) enum PreviewError {
    #[error(transparent)]
    Render(#[from] RenderError),
    #[error(transparent)]
    Video(#[from] VideoError),
    #[error(transparent)]
    Frames(#[from] IoError),
    #[error("cannot start {threads} threads for the pictures: {reason}; ask for fewer with --threads")]
    Threads { threads: usize, reason: String },
}

/// What the pictures are called.
pub(super) fn names(preview: Preview) -> Vec<String> {
    let film = (preview == Preview::Video).then(|| format!("preview.{}", VideoWriter::EXTENSION));
    let still = (preview != Preview::None).then(|| folder::PREVIEW.to_owned());
    film.into_iter().chain(still).collect()
}

/// Makes the pictures that the plan wants and names them; `None` if it was interrupted.
pub(super) fn make(
    plan: &Plan,
    model: &Model,
    interrupt: &Interrupt,
    progress: &mut Progress,
) -> Result<Option<Vec<String>>, PreviewError> {
    if plan.preview == Preview::None {
        return Ok(Some(Vec::new()));
    }
    let threads = plan.threads;
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| PreviewError::Threads { threads, reason: error.to_string() })?;
    let mut stage = Stage::new(plan, model)?;
    let mut names = Vec::new();
    if plan.preview == Preview::Video {
        let name = format!("preview.{}", VideoWriter::EXTENSION);
        if !pool.install(|| film(plan, &mut stage, &name, interrupt, progress))? {
            return Ok(None);
        }
        names.push(name);
    }
    let name = folder::PREVIEW.to_owned();
    progress.stage("drawing the last frame");
    pool.install(|| still(plan, &mut stage, &name))?;
    names.push(name);
    Ok(Some(names))
}

fn still(plan: &Plan, stage: &mut Stage<'_>, name: &str) -> Result<(), PreviewError> {
    let [width, height] = plan.scene.view.size.map(|side| side as usize);
    let mut renderer = Renderer::new(width, height, STILL_SAMPLES)?;
    let last = stage.frame_count - 1;
    // A picture is framed for what is in it; the film has to hold the whole motion.
    stage.bounds = Bounds::default();
    stage.include(last)?;
    Ok(stage.draw(last, &mut renderer)?.write_png(plan.folder.join(name))?)
}

/// Draws and encodes the motion; `false` if it was interrupted.
fn film(
    plan: &Plan,
    stage: &mut Stage<'_>,
    name: &str,
    interrupt: &Interrupt,
    progress: &mut Progress,
) -> Result<bool, PreviewError> {
    let [width, height] = film_size(plan.scene.view.size);
    let stride = (plan.scene.fps / FASTEST).ceil().max(1.0) as usize;
    let video = VideoWriter::create(plan.folder.join(name), width, height, plan.scene.fps / stride as f64)?;
    let mut renderer = Renderer::new(width, height, FILM_SAMPLES)?;
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING);
        let encoder = scope.spawn(move || encode(video, &receiver));
        let frames = (0..stage.frame_count).step_by(stride);
        // Takes the sender along, so that the encoder ends when it does.
        let is_complete = draw_all(frames, stage, &mut renderer, sender, interrupt, progress);
        // A panic there is one here. Its failure comes first: drawing stops when nobody takes the pictures.
        let video = encoder.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        if matches!(is_complete, Ok(true)) {
            video.finish()?;
        }
        is_complete
    })
}

/// Draws frames until there are no more, it is interrupted (`false`), or nobody takes them.
fn draw_all(
    frames: impl Iterator<Item = usize>,
    stage: &mut Stage<'_>,
    renderer: &mut Renderer,
    pictures: SyncSender<Picture>,
    interrupt: &Interrupt,
    progress: &mut Progress,
) -> Result<bool, PreviewError> {
    for frame in frames {
        if interrupt.is_raised() {
            return Ok(false);
        }
        progress.stage(&format!("drawing frame {frame} of {}", stage.frame_count - 1));
        if pictures.send(stage.draw(frame, renderer)?.clone()).is_err() {
            break;
        }
    }
    Ok(true)
}

fn encode(mut video: VideoWriter, pictures: &Receiver<Picture>) -> Result<VideoWriter, VideoError> {
    for picture in pictures {
        video.push(&picture)?;
    }
    Ok(video)
}

/// The size of the film for a picture of `size`: the same shape, no larger than a preview needs.
fn film_size(size: [u32; 2]) -> [usize; 2] {
    let [width, height] = size.map(f64::from);
    let factor =
        (f64::from(FILM_SIZE[0]) / width.max(height)).min(f64::from(FILM_SIZE[1]) / width.min(height)).min(1.0);
    // Even, as video wants it, and not below the smallest that encoders take.
    [width, height].map(|side| ((0.5 * factor * side).round().max(8.0) as usize) * 2)
}

/// The scene as it is drawn, frame by frame.
struct Stage<'a> {
    model: &'a Model,
    cloths: Vec<Sheet<'a>>,
    /// The vertices of the meshes among the colliders in the frame that was placed last.
    bodies: Vec<Vec<[f32; 3]>>,
    /// The other colliders.
    surfaces: Vec<Surface<'a>>,
    frame_count: usize,
    frame_time: f64,
    view: View,
    bounds: Bounds,
    ground: Option<f64>,
}

/// One cloth and where its frames are.
struct Sheet<'a> {
    frames: NpyReader,
    mesh: &'a Mesh,
    positions: Vec<[f32; 3]>,
    uv: Option<Vec<[[f32; 2]; 3]>>,
    color: [f32; 3],
}

impl<'a> Stage<'a> {
    fn new(plan: &Plan, model: &'a Model) -> Result<Self, PreviewError> {
        let cloths = model.cloths.iter().zip(&plan.scene.cloths).enumerate();
        let sheets = cloths.map(|(index, (cloth, described))| {
            Ok(Sheet {
                frames: caches::read(&plan.folder, &cloth.name)?,
                mesh: &cloth.mesh,
                positions: Vec::new(),
                uv: corners(&cloth.mesh),
                color: described.color.map_or_else(|| cloth_color(index), |color| color.map(|c| c as f32)),
            })
        });
        let cloths: Vec<Sheet<'_>> = sheets.collect::<Result<_, IoError>>()?;
        let mut stage = Self {
            model,
            frame_count: cloths.iter().map(|sheet| sheet.frames.frame_count()).min().unwrap_or(0),
            cloths,
            bodies: Vec::new(),
            surfaces: Surface::of_model(model),
            frame_time: plan.scene.frame_time(),
            view: plan.scene.view,
            bounds: Bounds::default(),
            ground: None,
        };
        stage.look()?;
        stage.ground = ground(&plan.scene.view, &stage.bounds, &stage.solids());
        Ok(stage)
    }

    /// Finds the space that the motion takes.
    fn look(&mut self) -> Result<(), IoError> {
        let last = self.frame_count.saturating_sub(1);
        let stride = last.div_ceil(LOOKS).max(1);
        (0..last).step_by(stride).chain([last]).try_for_each(|frame| self.include(frame))
    }

    /// Widens the space by what a frame takes.
    fn include(&mut self, frame: usize) -> Result<(), IoError> {
        for sheet in &mut self.cloths {
            sheet.frames.read(frame, &mut sheet.positions)?;
            self.bounds.include_positions(&sheet.positions);
        }
        self.place_bodies(frame);
        let mut bounds = self.bounds;
        self.solids().iter().for_each(|solid| bounds.include_solid(solid));
        self.bounds = bounds;
        Ok(())
    }

    /// Puts the colliders where they are in a frame.
    fn place_bodies(&mut self, frame: usize) {
        let time = self.time(frame);
        let place = |body: &Body| {
            let mut positions = Vec::new();
            body.extend_positions(time, &mut positions);
            positions.iter().map(|x| x.cast::<f32>().to_array()).collect()
        };
        self.bodies = self.model.bodies.iter().map(place).collect();
        self.surfaces.iter_mut().for_each(|surface| surface.place(time));
    }

    fn time(&self, frame: usize) -> f64 {
        frame as f64 * self.frame_time
    }

    /// The colliders in the frame for which [`place_bodies`](Self::place_bodies) was called last.
    fn solids(&self) -> Vec<Solid<'_>> {
        let meshes = self.bodies.iter().zip(&self.model.bodies);
        let meshes = meshes.map(|(positions, body)| Solid::Mesh { positions, triangles: &body.mesh.triangles });
        self.surfaces.iter().map(Surface::solid).chain(meshes).collect()
    }

    fn draw<'r>(&mut self, frame: usize, renderer: &'r mut Renderer) -> Result<&'r Picture, PreviewError> {
        for sheet in &mut self.cloths {
            sheet.frames.read(frame, &mut sheet.positions)?;
        }
        self.place_bodies(frame);
        let scene = muslin_render::Scene {
            cloths: self.cloths.iter().map(Sheet::cloth).collect(),
            solids: self.solids(),
            ground: self.ground,
            camera: Some(camera(&self.view, &self.bounds, renderer.aspect())),
            ..muslin_render::Scene::default()
        };
        Ok(renderer.render(&scene)?)
    }
}

impl Sheet<'_> {
    fn cloth(&self) -> Cloth<'_> {
        let uv = self.uv.as_deref();
        Cloth { uv, color: self.color, ..Cloth::new(&self.positions, &self.mesh.triangles) }
    }
}

/// The height of the ground: what the view says, or the lowest point; `None` where there is none to draw, or where a
/// level collider already is one.
pub(super) fn ground(view: &View, bounds: &Bounds, solids: &[Solid<'_>]) -> Option<f64> {
    let is_level = |solid: &Solid<'_>| matches!(solid, Solid::Plane { normal, .. } if normal[1] > 0.999);
    let lowest = || (!solids.iter().any(is_level) && !bounds.is_empty()).then_some(bounds.min[1]);
    if view.ground { view.ground_height.or_else(lowest) } else { None }
}

/// The camera of a view that has this space to show.
pub(super) fn camera(view: &View, bounds: &Bounds, aspect: f64) -> Camera {
    let View { eye, target, direction, fov, .. } = *view;
    // A view looks along its direction, a camera is framed against it.
    let toward_eye = direction.map_or(Camera::THREE_QUARTER, |direction| direction.map(|c| -c));
    let framed = Camera::framing(bounds.min, bounds.max, toward_eye, aspect, fov);
    let target = target.unwrap_or(framed.target);
    let moved = std::array::from_fn(|axis| framed.eye[axis] + target[axis] - framed.target[axis]);
    Camera { eye: eye.unwrap_or(moved), target, ..framed }
}

/// The texture coordinates of every corner of a mesh.
fn corners(mesh: &Mesh) -> Option<Vec<[[f32; 2]; 3]>> {
    let uv = mesh.uv.as_ref()?;
    let coordinate = |index: u32| uv.coordinates[index as usize].map(|c| c as f32);
    Some(uv.triangles.iter().map(|triangle| triangle.map(coordinate)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn films_have_sizes_that_encoders_take() {
        for (size, film) in [
            ([1280, 720], [960, 540]),
            ([720, 1280], [540, 960]),
            ([640, 480], [640, 480]),
            ([4096, 2160], [960, 506]),
            ([2000, 2000], [540, 540]),
            ([4096, 16], [960, 16]),
            ([16, 16], [16, 16]),
        ] {
            assert_eq!(film_size(size), film, "{size:?}");
        }
    }
}
