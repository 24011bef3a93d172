//! Pictures of a garment from the front, the side and the back: as it is, and painted with strain and pressure.

use muslin::Simulation;
use muslin::model::Model;
use muslin_render::{Bounds, Camera, Cloth, Light, Picture, Renderer, Scene, Solid, cloth_color};
use plotters::backend::BitMapBackend;
use plotters::prelude::{DrawingBackend, IntoDrawingArea, IntoFont, Rectangle, Text};
use plotters::style::{FontStyle, RGBColor, ShapeStyle, register_font};

use super::fit::Fit;
use super::preview::PreviewError;
use crate::plot::FONT_FILE;

/// One view, in pixels.
const SIZE: [usize; 2] = [600, 900];
const SAMPLES: usize = 2;
/// A way of looking at a figure that faces +z: what it is called, where the eye is, and where the light is from, over its left shoulder.
struct View {
    name: &'static str,
    toward_eye: [f64; 3],
    light: [f64; 3],
}

const VIEWS: [View; 3] = [
    View { name: "front", toward_eye: [0.0, 0.06, 1.0], light: [-0.62, 1.0, 0.7] },
    View { name: "side", toward_eye: [1.0, 0.06, 0.0], light: [0.7, 1.0, 0.62] },
    View { name: "back", toward_eye: [0.0, 0.06, -1.0], light: [0.62, 1.0, -0.7] },
];
const FONT: &str = "sans-serif";
/// The strain and the pressure, in kPa, of the last colour.
const MOST_STRAIN: f64 = 0.05;
const MOST_PRESSURE: f64 = 2.0;
/// From nothing to much, sRGB: cividis-like, which colour-blind eyes can order.
const SCALE: [[f32; 3]; 5] =
    [[0.93, 0.93, 0.90], [0.55, 0.76, 0.80], [0.98, 0.85, 0.40], [0.92, 0.48, 0.20], [0.70, 0.08, 0.12]];

/// Garment and bodies as they are now.
pub(super) struct Figure<'a> {
    model: &'a Model,
    cloths: Vec<Vec<[f32; 3]>>,
    bodies: Vec<Vec<[f32; 3]>>,
    bounds: Bounds,
}

/// A field over the vertices of each cloth, and the value of the last colour.
struct Painted {
    title: String,
    colors: Vec<Vec<[f32; 3]>>,
}

impl<'a> Figure<'a> {
    pub(super) fn of(simulation: &'a Simulation) -> Self {
        let model = simulation.model();
        let collect = |count: usize, read: &dyn Fn(usize, &mut Vec<[f32; 3]>)| -> Vec<Vec<[f32; 3]>> {
            let positions = |index| {
                let mut positions = Vec::new();
                read(index, &mut positions);
                positions
            };
            (0..count).map(positions).collect()
        };
        let cloths = collect(model.cloths.len(), &|i, out| simulation.positions(i, out));
        let bodies = collect(model.bodies.len(), &|i, out| simulation.body_positions(i, out));
        let mut bounds = Bounds::default();
        cloths.iter().chain(&bodies).for_each(|positions| bounds.include_positions(positions));
        Self { model, cloths, bodies, bounds }
    }

    /// The garment in the colours of the cloths.
    pub(super) fn plain(&self) -> Result<Picture, PreviewError> {
        self.row(None)
    }

    /// The garment in the colours of strain above, and of pressure below.
    pub(super) fn fit(&self, fits: &[Fit]) -> Result<Picture, PreviewError> {
        let painted = |title: &str, most: f64, of: fn(&Fit) -> &Vec<f64>| Painted {
            title: title.to_owned(),
            colors: fits.iter().map(|fit| of(fit).iter().map(|value| color(value / most)).collect()).collect(),
        };
        let strain = painted("strain, 0 to 5 %", MOST_STRAIN, |fit| &fit.strain);
        let pressure = painted("pressure on the body, 0 to 2 kPa", MOST_PRESSURE, |fit| &fit.pressure);
        let rows = [self.row(Some(&strain))?, self.row(Some(&pressure))?];
        let mut picture = Picture::new(rows[0].width, rows[0].height + rows[1].height);
        picture.pixels = rows.into_iter().flat_map(|row| row.pixels).collect();
        Ok(picture)
    }

    /// All views side by side.
    fn row(&self, painted: Option<&Painted>) -> Result<Picture, PreviewError> {
        let [width, height] = SIZE;
        let mut renderer = Renderer::new(width, height, SAMPLES)?;
        let mut row = Picture::new(VIEWS.len() * width, height);
        for (place, view) in VIEWS.iter().enumerate() {
            let picture = renderer.render(&self.scene(painted, view))?;
            for (from, to) in picture.pixels.chunks(width).zip(row.pixels.chunks_mut(VIEWS.len() * width)) {
                to[place * width..(place + 1) * width].copy_from_slice(from);
            }
        }
        letter(&mut row, painted.map_or("", |painted| &painted.title));
        Ok(row)
    }

    fn scene<'s>(&'s self, painted: Option<&'s Painted>, view: &View) -> Scene<'s> {
        let cloth = |(index, positions): (usize, &'s Vec<[f32; 3]>)| Cloth {
            color: cloth_color(index),
            colors: painted.map(|painted| painted.colors[index].as_slice()),
            ..Cloth::new(positions, &self.model.cloths[index].mesh.triangles)
        };
        let bodies = self.bodies.iter().zip(&self.model.bodies);
        let [width, height] = SIZE.map(|side| side as f64);
        Scene {
            cloths: self.cloths.iter().enumerate().map(cloth).collect(),
            solids: bodies
                .map(|(positions, body)| Solid::Mesh { positions, triangles: &body.mesh.triangles })
                .collect(),
            ground: Some(self.bounds.min[1]),
            camera: Some(Camera::framing(self.bounds.min, self.bounds.max, view.toward_eye, width / height, 25.0)),
            light: Light { direction: view.light, ..Light::default() },
            ..Scene::default()
        }
    }
}

/// The colour of a part of the largest value.
fn color(part: f64) -> [f32; 3] {
    let last = SCALE.len() - 1;
    let at = part.clamp(0.0, 1.0) * last as f64;
    let low = (at.floor() as usize).min(last - 1);
    let t = (at - low as f64) as f32;
    std::array::from_fn(|k| SCALE[low][k] + t * (SCALE[low + 1][k] - SCALE[low][k]))
}

/// Writes what the views are, and the scale of a field, on a row of them. A picture without words is better than none.
fn letter(row: &mut Picture, title: &str) {
    let (width, height) = (row.width as u32, row.height as u32);
    let mut bytes: Vec<u8> = row.pixels.iter().flatten().copied().collect();
    if register_font(FONT, FontStyle::Normal, FONT_FILE).is_ok() {
        let area = BitMapBackend::with_buffer(&mut bytes, (width, height)).into_drawing_area();
        let ink = RGBColor(60, 60, 60);
        let words = |text: &str, at: (i32, i32)| {
            area.draw(&Text::new(text.to_owned(), at, (FONT, 26).into_font().color(&ink))).ok();
        };
        for (place, view) in VIEWS.iter().enumerate() {
            words(view.name, ((place * SIZE[0]) as i32 + 24, 20));
        }
        if !title.is_empty() {
            words(title, (24, height as i32 - 84));
            scale(&area);
        }
        area.present().ok();
    }
    row.pixels = bytes.chunks_exact(3).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
}

/// The colours from nothing to most, as a bar.
fn scale<B: DrawingBackend>(area: &plotters::drawing::DrawingArea<B, plotters::coord::Shift>) {
    const STEPS: i32 = 96;
    let (_, height) = area.dim_in_pixel();
    let top = height as i32 - 46;
    for step in 0..STEPS {
        let [r, g, b] = color(f64::from(step) / f64::from(STEPS - 1)).map(|part| (255.0 * part) as u8);
        let style = ShapeStyle::from(&RGBColor(r, g, b)).filled();
        let left = 24 + 3 * step;
        area.draw(&Rectangle::new([(left, top), (left + 3, top + 20)], style)).ok();
    }
}
