//! Pictures and clips as files.

use std::fs;
use std::path::PathBuf;

use muslin_render::video::{VideoError, VideoWriter};
use muslin_render::{Cloth, Picture, RenderError, Renderer, Scene};

use crate::{SQUARE, SQUARE_TRIANGLES};

/// A path of its own for each test.
fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A picture in which every pixel tells its place.
fn gradient(width: usize, height: usize, frame: usize) -> Picture {
    let pixel = |i: usize| [(i % width * 255 / width) as u8, (i / width * 255 / height) as u8, (40 * frame) as u8];
    Picture { width, height, pixels: (0..width * height).map(pixel).collect() }
}

fn read_png(bytes: &[u8]) -> (png::OutputInfo, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG file");
    let mut buffer = vec![0; reader.output_buffer_size().expect("it fits into memory")];
    let info = reader.next_frame(&mut buffer).expect("an image");
    (info, buffer)
}

#[test]
fn a_png_reads_back() {
    let (path, picture) = (path("gradient.png"), gradient(37, 21, 1));
    picture.write_png(&path).expect("the file can be written");
    let (info, pixels) = read_png(&fs::read(&path).expect("the file is there"));
    assert_eq!((info.width, info.height, info.color_type), (37, 21, png::ColorType::Rgb));
    assert_eq!(pixels, picture.pixels.as_flattened());
    assert!(!path.with_extension("png.partial").exists());
}

#[test]
fn a_png_that_cannot_be_written_says_where() {
    let nowhere = path("no_such_folder").join("picture.png");
    let error = gradient(4, 4, 0).write_png(&nowhere).expect_err("the folder is missing");
    assert!(error.to_string().contains("picture.png could not be written"), "{error}");
    let broken = Picture { width: 3, height: 3, pixels: vec![[0; 3]; 8] };
    assert!(matches!(broken.write_png(path("broken.png")), Err(RenderError::Pixels { .. })));
    assert!(matches!(Picture::default().write_png(path("empty.png")), Err(RenderError::Size { .. })));
}

#[test]
fn a_clip_has_its_frames() {
    let path = path("clip").with_extension(VideoWriter::EXTENSION);
    // Left from a run before, perhaps.
    let _ = fs::remove_file(&path);
    let mut renderer = Renderer::new(160, 96, 2).expect("a size that fits");
    let mut clip = VideoWriter::create(&path, 160, 96, 24.0).expect("the file can be written");
    for frame in 0..9 {
        let positions = SQUARE.map(|[x, y, z]| [x + 0.1 * frame as f32, y, z]);
        let scene = Scene { cloths: vec![Cloth::new(&positions, &SQUARE_TRIANGLES)], ..Scene::default() };
        clip.push(renderer.render(&scene).expect("a picture")).expect("the frame can be written");
    }
    assert_eq!(clip.frame_count(), 9);
    assert!(!path.exists(), "it has another name until it is finished");
    clip.finish().expect("the file can be written");
    assert_eq!(frame_count(&fs::read(&path).expect("the file is there")), 9);
}

/// Frames of an MP4 file: the entries of its table of sizes, which must fill the media.
#[cfg(feature = "video")]
fn frame_count(file: &[u8]) -> usize {
    let find = |kind: &[u8; 4]| file.windows(4).position(|w| w == kind).expect("the box is there");
    let number = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().expect("four bytes")) as usize;
    assert!(find(b"ftyp") < find(b"moov") && find(b"moov") < find(b"mdat"), "the index comes before the media");
    let table = find(b"stsz") + 12;
    let count = number(table);
    let media: usize = (0..count).map(|i| number(table + 4 + 4 * i)).sum();
    assert_eq!(file.len(), find(b"mdat") + 12 + media, "the frames fill the media");
    count
}

/// Frames of an animated PNG, decoded.
#[cfg(not(feature = "video"))]
fn frame_count(file: &[u8]) -> usize {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().expect("a PNG file");
    let announced = reader.info().animation_control().expect("it is animated").num_frames;
    let mut buffer = vec![0; reader.output_buffer_size().expect("it fits into memory")];
    for _ in 0..announced {
        reader.next_frame(&mut buffer).expect("a frame");
    }
    announced as usize
}

/// The decoder of `OpenH264` gives back the colours that went in.
#[cfg(feature = "video")]
#[test]
fn a_clip_keeps_its_colours() {
    use openh264::formats::YUVSource;

    let path = path("colours.mp4");
    let mut clip = VideoWriter::create(&path, 64, 48, 30.0).expect("the file can be written");
    let picture = Picture { width: 64, height: 48, pixels: vec![[200, 90, 60]; 64 * 48] };
    for _ in 0..4 {
        clip.push(&picture).expect("the frame can be written");
    }
    clip.finish().expect("the file can be written");
    let file = fs::read(&path).expect("the file is there");
    let find = |kind: &[u8; 4]| file.windows(4).position(|w| w == kind).expect("the box is there");
    let number = |at: usize, bytes: usize| file[at..at + bytes].iter().fold(0, |n, &b| n << 8 | usize::from(b));
    // The parameter sets stand in avcC, each after its length of two bytes.
    let set = find(b"avcC") + 10;
    let sequence = &file[set + 2..set + 2 + number(set, 2)];
    let set = set + 2 + number(set, 2) + 1;
    let picture_set = &file[set + 2..set + 2 + number(set, 2)];
    let first = find(b"mdat") + 12;
    let slice = &file[first + 4..first + 4 + number(first, 4)];
    let stream = [sequence, picture_set, slice].map(|nal| [&[0, 0, 0, 1], nal].concat()).concat();
    let mut decoder = openh264::decoder::Decoder::new().expect("a decoder");
    let decoded = decoder.decode(&stream).expect("a stream that is sound").expect("a picture");
    assert_eq!(decoded.dimensions(), (64, 48));
    // Y = 16 + 219/255 (0.2126 · 200 + 0.7152 · 90 + 0.0722 · 60), and so on.
    for (name, found, expected) in
        [("Y", decoded.y()[0], 112), ("Cb", decoded.u()[0], 104), ("Cr", decoded.v()[0], 177)]
    {
        assert!(found.abs_diff(expected) <= 2, "{name} is {found} instead of {expected}");
    }
}

#[test]
fn a_clip_that_is_given_up_leaves_nothing() {
    let path = path("given_up").with_extension(VideoWriter::EXTENSION);
    let mut name = path.clone().into_os_string();
    name.push(".partial");
    let partial = PathBuf::from(name);
    let mut clip = VideoWriter::create(&path, 32, 32, 30.0).expect("the file can be written");
    clip.push(&gradient(32, 32, 0)).expect("the frame can be written");
    assert!(partial.exists());
    drop(clip);
    assert!(!partial.exists() && !path.exists());
}

#[test]
fn wrong_clips_are_said_in_words() {
    let path = path("wrong").with_extension(VideoWriter::EXTENSION);
    for (width, height) in [(0, 0), (33, 32), (32, 33), (8, 64), (4096, 2160), (usize::MAX, 2)] {
        assert!(matches!(VideoWriter::create(&path, width, height, 30.0), Err(VideoError::Size { .. })));
    }
    for fps in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        assert!(matches!(VideoWriter::create(&path, 32, 32, fps), Err(VideoError::Rate { .. })));
    }
    let mut clip = VideoWriter::create(&path, 32, 32, 30.0).expect("the file can be written");
    let error = clip.push(&gradient(32, 16, 0)).expect_err("it has another size");
    assert_eq!(error.to_string(), "frame 0 has (32, 16) pixels, but the clip was started with (32, 32)");
    assert!(matches!(clip.finish(), Err(VideoError::Empty { .. })));
    assert!(!path.exists());
}
