//! The frame cache: valid after every frame, resumed, refused, out of space.

use std::fs;
use std::path::Path;

use muslin_io::{IoErrorKind, NpyReader, NpyWriter};

use crate::cloth;

fn write(path: &Path, frame_count: usize) {
    let mut writer = NpyWriter::create(path, 4).expect("the folder is writable");
    for frame in 0..frame_count {
        writer.append(&cloth::frame(frame)).expect("there is space");
    }
}

fn assert_holds(path: &Path, frame_count: usize) {
    let mut reader = NpyReader::open(path).expect("the cache is valid");
    assert_eq!((reader.frame_count(), reader.vertex_count()), (frame_count, 4), "counts");
    let mut positions = vec![[9.0; 3]; 9];
    for frame in 0..frame_count {
        reader.read(frame, &mut positions).expect("the frame is there");
        assert_eq!(positions, cloth::frame(frame), "frame {frame}");
    }
}

#[test]
fn the_file_is_valid_after_every_frame() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sheet.npy");
    let mut writer = NpyWriter::create(&path, 4).unwrap();
    for frame in 0..5 {
        assert_holds(&path, frame);
        assert_eq!(fs::metadata(&path).unwrap().len(), 128 + 48 * frame as u64, "header and whole frames");
        writer.append(&cloth::frame(frame)).unwrap();
        assert_eq!(writer.frame_count(), frame + 1, "count of the writer");
    }
    assert_holds(&path, 5);
}

#[test]
fn an_interrupt_after_the_data_and_before_the_count_loses_that_frame_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sheet.npy");
    write(&path, 2);
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend([7; 30]);
    fs::write(&path, bytes).unwrap();
    assert_holds(&path, 2);
    let mut writer = NpyWriter::resume(&path, 4, 2).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), 128 + 2 * 48, "the half frame is cut off");
    writer.append(&cloth::frame(2)).unwrap();
    assert_holds(&path, 3);
}

#[test]
fn resuming_keeps_exactly_the_frames_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sheet.npy");
    for kept in 0..=6 {
        write(&path, 6);
        let mut writer = NpyWriter::resume(&path, 4, kept).unwrap();
        assert_holds(&path, kept);
        for frame in kept..8 {
            writer.append(&cloth::frame(frame)).unwrap();
        }
        assert_holds(&path, 8);
    }
}

#[test]
fn caches_of_another_cloth_or_length_are_not_resumed_and_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sheet.npy");
    write(&path, 3);
    let before = fs::read(&path).unwrap();
    for (vertex_count, kept, problem) in [
        (5, 2, "it holds 4 vertices a frame, but the cloth has 5; resume with the scene that began it"),
        (4, 4, "it holds 3 frames, but 4 are to be kept; resume from an earlier frame"),
    ] {
        let error = NpyWriter::resume(&path, vertex_count, kept).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot resume {}: {problem}", path.display()), "wording");
        assert_eq!(error.kind(), IoErrorKind::Malformed, "kind");
    }
    assert_eq!(fs::read(&path).unwrap(), before, "the file is as it was");
}

#[test]
fn other_files_are_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sheet.npy");
    write(&path, 3);
    let good = fs::read(&path).unwrap();
    let with_header = |from: &str, to: &str| {
        let text = String::from_utf8_lossy(&good[10..128]).replacen(from, to, 1);
        [&good[..10], &text.as_bytes()[..118], &good[128..]].concat()
    };
    let mut version_two = good.clone();
    version_two[6] = 2;
    let layout = "but float32 in C order of shape (frames, vertices, 3) is expected";
    let cases = [
        (Vec::new(), String::from("it is not a .npy file of version 1.0")),
        (good[..50].to_vec(), String::from("it is not a .npy file of version 1.0")),
        (b"POINTCACHE2\0 and so on".to_vec(), String::from("it is not a .npy file of version 1.0")),
        (version_two, String::from("it is not a .npy file of version 1.0")),
        (
            good[..good.len() - 1].to_vec(),
            String::from("it has 271 bytes, but its 3 frames need 272; it is cut off or was not copied whole"),
        ),
        (
            with_header("<f4", "<f8"),
            format!("its array is {{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4, 3), }}, {layout}"),
        ),
        (
            with_header("(3, 4, 3)", "(3, 4, 2)"),
            format!("its array is {{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4, 2), }}, {layout}"),
        ),
        (
            with_header("(3, 4, 3)", "(3, 9999999999999999999, 3)"),
            String::from("3 frames of 9999999999999999999 vertices are more than a file can hold"),
        ),
    ];
    for (bytes, problem) in cases {
        fs::write(&path, bytes).unwrap();
        let error = NpyReader::open(&path).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot read {}: {problem}", path.display()), "wording");
    }
}

#[test]
fn frames_that_do_not_fit_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sheet.npy");
    let mut writer = NpyWriter::create(&path, 4).unwrap();
    let error = writer.append(&cloth::POSITIONS[..3]).unwrap_err();
    let words = format!("cannot write {}: frame 0 has 3 vertices, but 4 are expected", path.display());
    assert_eq!(error.to_string(), words, "wording");
    writer.append(&cloth::frame(0)).unwrap();
    let error = NpyReader::open(&path).unwrap().read(1, &mut Vec::new()).unwrap_err();
    let words = format!("cannot read {}: frame 1 was asked for, but there are 1, counted from 0", path.display());
    assert_eq!(error.to_string(), words, "wording");
}

#[test]
fn nan_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sheet.npy");
    NpyWriter::create(&path, 1).unwrap().append(&[[f32::NAN, f32::INFINITY, -0.0]]).unwrap();
    let mut positions = Vec::new();
    NpyReader::open(&path).unwrap().read(0, &mut positions).unwrap();
    assert_eq!(positions[0].map(f32::to_bits), [f32::NAN, f32::INFINITY, -0.0].map(f32::to_bits), "to the bit");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_recognised() {
    let error = NpyWriter::create("/dev/full", 4).unwrap_err();
    assert_eq!(error.kind(), IoErrorKind::NoSpace, "kind");
    assert_eq!(error.to_string(), "cannot write /dev/full: no space left on device", "wording");
}

#[test]
#[cfg(unix)]
fn folders_and_missing_files_are_recognised() {
    let dir = tempfile::tempdir().unwrap();
    let error = NpyWriter::create(dir.path(), 4).unwrap_err();
    assert_eq!(error.kind(), IoErrorKind::IsADirectory, "{error}");
    let missing = dir.path().join("none.npy");
    let error = NpyReader::open(&missing).unwrap_err();
    assert_eq!(error.kind(), IoErrorKind::NotFound, "{error}");
    let words = format!("cannot read {}: no such file or directory", missing.display());
    assert_eq!(error.to_string(), words, "wording");
}
