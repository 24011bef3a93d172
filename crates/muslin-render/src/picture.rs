//! A finished picture and its PNG file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::error::RenderError;
use crate::partial::PartialFile;

/// A picture: sRGB bytes, row by row from the top left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `width · height` pixels of red, green and blue.
    pub pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// A black picture.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![[0; 3]; width.saturating_mul(height)] }
    }

    /// The pixel in column `x` and row `y`; `None` outside of the picture.
    pub fn pixel(&self, x: usize, y: usize) -> Option<[u8; 3]> {
        if x < self.width { self.pixels.get(y.checked_mul(self.width)? + x).copied() } else { None }
    }

    /// Writes the picture as a PNG file. The file appears whole or not at all: it has another name while it is written.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<(), RenderError> {
        self.write(path.as_ref(), None)
    }

    /// The same with a description in the file, before the picture itself.
    pub fn write_png_with(&self, path: impl AsRef<Path>, description: &str) -> Result<(), RenderError> {
        self.write(path.as_ref(), Some(description))
    }

    fn write(&self, path: &Path, description: Option<&str>) -> Result<(), RenderError> {
        self.check()?;
        let written = PartialFile::create(path).and_then(|(partial, file)| {
            self.encode_png(file, description)?;
            partial.keep()
        });
        written.map_err(|source| RenderError::Write { path: path.to_path_buf(), source })
    }

    /// The interface is plain data, so that the sizes may contradict each other.
    pub(crate) fn check(&self) -> Result<(), RenderError> {
        let fits = |side: usize| (1..=crate::MAX_SIDE).contains(&side);
        if !(fits(self.width) && fits(self.height)) {
            return Err(RenderError::Size { width: self.width, height: self.height, limit: crate::MAX_SIDE });
        }
        if self.pixels.len() != self.width * self.height {
            return Err(RenderError::Pixels { width: self.width, height: self.height, pixel_count: self.pixels.len() });
        }
        Ok(())
    }

    fn encode_png(&self, file: File, description: Option<&str>) -> io::Result<()> {
        let mut buffer = BufWriter::new(file);
        let mut encoder = png::Encoder::new(&mut buffer, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        if let Some(text) = description {
            encoder.add_text_chunk("Description".to_owned(), text.to_owned())?;
        }
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        buffer.flush()
    }
}
