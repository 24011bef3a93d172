//! H.264 by `OpenH264`, into an MP4 file.
//!
//! Y, Cb and Cr are those of BT.709 in the limited range (16 to 235), and the stream says so: what every player assumes
//! of high-definition video. Chroma is the mean of 2 × 2 pixels.

use std::fs::File;

use openh264::OpenH264API;
use openh264::encoder::{
    BitRate, Complexity, EncoderConfig, FrameRate, IntraFramePeriod, QpRange, RateControlMode, VuiConfig,
};
use openh264::formats::YUVSource;

use super::Failure;
use super::mp4::Muxer;
use crate::picture::Picture;

pub(super) struct Encoder {
    encoder: openh264::encoder::Encoder,
    planes: Planes,
    stream: Vec<u8>,
    muxer: Muxer<File>,
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

impl Encoder {
    pub(super) const EXTENSION: &'static str = "mp4";

    pub(super) fn new(file: File, width: usize, height: usize, fps: f64) -> Result<Self, Failure> {
        // 0.2 bits a pixel is more than smooth pictures need; the bounds on the quantiser keep the quality even: still
        // frames do not spend it all, and a burst of motion does not fall apart. The other modes of rate control leave
        // out frames, or warn on standard error that they cannot.
        let bits = (0.2 * (width * height) as f64 * fps) as u32;
        let config = EncoderConfig::new()
            .rate_control_mode(RateControlMode::Bufferbased)
            .bitrate(BitRate::from_bps(bits.max(500_000)))
            .qp(QpRange::new(14, 25))
            .max_frame_rate(FrameRate::from_hz(fps as f32))
            .skip_frames(false)
            .complexity(Complexity::Medium)
            // Players seek to intra frames: one each two seconds.
            .intra_frame_period(IntraFramePeriod::from_num_frames((2.0 * fps) as u32))
            .vui(VuiConfig::bt709());
        let encoder = openh264::encoder::Encoder::with_api_config(OpenH264API::from_source(), config)
            .map_err(|error| Failure::Encoder(error.to_string()))?;
        Ok(Self {
            encoder,
            planes: Planes::new(width, height),
            stream: Vec::new(),
            muxer: Muxer::new(file, width, height, fps)?,
        })
    }

    pub(super) fn push(&mut self, picture: &Picture) -> Result<(), Failure> {
        self.planes.convert(picture);
        let encoded = self.encoder.encode(&self.planes).map_err(|error| Failure::Encoder(error.to_string()))?;
        self.stream.clear();
        encoded.write_vec(&mut self.stream);
        if self.stream.is_empty() {
            return Err(Failure::Encoder("the encoder left the frame out".to_owned()));
        }
        self.muxer.push(&self.stream)?;
        Ok(())
    }

    pub(super) fn finish(self) -> Result<(), Failure> {
        Ok(self.muxer.finish()?)
    }
}

/// A picture as Y, Cb and Cr.
#[derive(Debug)]
struct Planes {
    width: usize,
    height: usize,
    y: Vec<u8>,
    cb: Vec<u8>,
    cr: Vec<u8>,
}

impl Planes {
    fn new(width: usize, height: usize) -> Self {
        let quarter = width / 2 * (height / 2);
        Self { width, height, y: vec![0; width * height], cb: vec![0; quarter], cr: vec![0; quarter] }
    }

    /// Fixed point with 16 bits: Y = 16 + 219/255 (0.2126 R + 0.7152 G + 0.0722 B), Cb = 128 + 224/255 (B − Y′)/1.8556,
    /// Cr = 128 + 224/255 (R − Y′)/1.5748 [ITU-R BT.709-6].
    fn convert(&mut self, picture: &Picture) {
        let rows = picture.pixels.chunks_exact(2 * self.width);
        for (j, (rows, luma)) in rows.zip(self.y.chunks_exact_mut(2 * self.width)).enumerate() {
            for (value, &[r, g, b]) in luma.iter_mut().zip(rows) {
                let sum = 11_966 * i32::from(r) + 40_254 * i32::from(g) + 4_064 * i32::from(b);
                *value = ((sum + (16 << 16) + 0x8000) >> 16) as u8;
            }
            let (upper, lower) = rows.split_at(self.width);
            for (i, (a, b)) in upper.chunks_exact(2).zip(lower.chunks_exact(2)).enumerate() {
                let sum = |c: usize| [a[0], a[1], b[0], b[1]].iter().map(|pixel| i32::from(pixel[c])).sum::<i32>();
                let (red, green, blue) = (sum(0), sum(1), sum(2));
                let middle = (128 << 18) + (1 << 17);
                let place = j * (self.width / 2) + i;
                self.cb[place] = ((-6_596 * red - 22_189 * green + 28_784 * blue + middle) >> 18).clamp(0, 255) as u8;
                self.cr[place] = ((28_784 * red - 26_145 * green - 2_639 * blue + middle) >> 18).clamp(0, 255) as u8;
            }
        }
    }
}

impl YUVSource for Planes {
    fn dimensions(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    fn strides(&self) -> (usize, usize, usize) {
        (self.width, self.width / 2, self.width / 2)
    }

    fn y(&self) -> &[u8] {
        &self.y
    }

    fn u(&self) -> &[u8] {
        &self.cb
    }

    fn v(&self) -> &[u8] {
        &self.cr
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primaries_have_their_values_of_the_standard() {
        let mut planes = Planes::new(2, 2);
        // 8-bit values of BT.709 color bars at full amplitude.
        for (rgb, expected) in [
            ([255, 255, 255], [235, 128, 128]),
            ([0, 0, 0], [16, 128, 128]),
            ([255, 0, 0], [63, 102, 240]),
            ([0, 255, 0], [173, 42, 26]),
            ([0, 0, 255], [32, 240, 118]),
        ] {
            planes.convert(&Picture { width: 2, height: 2, pixels: vec![rgb; 4] });
            assert_eq!([planes.y[0], planes.cb[0], planes.cr[0]], expected, "{rgb:?}");
        }
    }
}
