//! Drawings with axes and words: into memory for a picture, and as SVG.
//!
//! Colours are those of Okabe and Ito, Color Universal Design (2008), which stay apart for colour-blind eyes; yellow is
//! left out, being too light on white. The font is embedded, so that the picture needs none from the system.

mod axis;
mod panel;
mod pen;

use muslin_render::Picture;
use plotters::backend::{BitMapBackend, SVGBackend};
use plotters::prelude::{DrawingBackend, IntoDrawingArea};
use plotters::style::{FontStyle, RGBColor, WHITE, register_font};

pub(crate) use axis::Axis;
pub(crate) use panel::{Curve, Frame, Panel, Spot};
pub(crate) use pen::{Drawn, Look, Mark, Pen, Point, Words};
use pen::{FONT, SCALE};

pub(crate) const INK: RGBColor = RGBColor(30, 30, 30);
pub(crate) const GRAY: RGBColor = RGBColor(100, 100, 100);
pub(crate) const COLORS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

pub(crate) static FONT_FILE: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");

/// The picture, twice.
pub(crate) struct Drawing {
    pub(crate) picture: Picture,
    pub(crate) svg: String,
}

/// Something to be drawn.
pub(crate) trait Figure {
    /// Width and height, in pixels.
    fn size(&self) -> [usize; 2];
    /// Draws it on white.
    fn paint<B: DrawingBackend>(&self, pen: &Pen<'_, B>) -> Drawn;
}

/// Draws a figure.
pub(crate) fn draw(figure: &impl Figure) -> Result<Drawing, String> {
    register_font(FONT, FontStyle::Normal, FONT_FILE).map_err(|_| "the font is broken".to_owned())?;
    let size = figure.size();
    let fine = size.map(|side| (side * SCALE) as u32).into();
    let mut bytes = vec![255; 3 * SCALE * SCALE * size[0] * size[1]];
    paint(figure, BitMapBackend::with_buffer(&mut bytes, fine))?;
    let mut svg = String::new();
    paint(figure, SVGBackend::with_string(&mut svg, fine))?;
    Ok(Drawing { picture: reduce(&bytes, size), svg })
}

fn paint<B: DrawingBackend>(figure: &impl Figure, backend: B) -> Drawn {
    let area = backend.into_drawing_area();
    area.fill(&WHITE).map_err(|error| error.to_string())?;
    figure.paint(&Pen { area: &area })?;
    area.present().map_err(|error| error.to_string())
}

/// The mean of the fine pixels of each.
fn reduce(bytes: &[u8], [width, height]: [usize; 2]) -> Picture {
    let mut picture = Picture::new(width, height);
    let fine_width = SCALE * width;
    for (i, pixel) in picture.pixels.iter_mut().enumerate() {
        let (x, y) = (SCALE * (i % width), SCALE * (i / width));
        *pixel = [0, 1, 2].map(|channel| {
            let fine = (0..SCALE * SCALE).map(|k| 3 * ((y + k / SCALE) * fine_width + x + k % SCALE) + channel);
            let sum: usize = fine.map(|index| usize::from(bytes[index])).sum();
            (sum / (SCALE * SCALE)) as u8
        });
    }
    picture
}
