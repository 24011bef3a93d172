//! Formats: the rules that hold for all of them, and the messages of each.

use std::fs;
use std::path::Path;

use muslin_io::{
    Clip, FORMATS, FrameSource, Frames, InputError, IoErrorKind, NpyReader, export, file_stem, find_format,
};

use crate::cloth;

const CLIP: Clip = Clip { fps: 24.0 };

/// Names of all files below a folder.
fn listing(dir: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).expect("the folder can be listed") {
        let entry = entry.expect("its entries too");
        let name = entry.file_name().into_string().expect("stems are text");
        if entry.path().is_dir() {
            names.extend(listing(&entry.path()).iter().map(|inner| format!("{name}/{inner}")));
        } else {
            names.push(name);
        }
    }
    names.sort();
    names
}

#[test]
fn the_table_is_complete() {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    assert_eq!(names, ["npy", "obj", "ply", "pc2", "glb", "usd"], "formats of the contract");
    for format in FORMATS {
        assert_eq!(find_format(format.name).map(|found| found.description), Some(format.description), "found by name");
        assert!(!format.limits.is_empty() && !format.limits.ends_with('.'), "limits of {} are said", format.name);
    }
    assert!(find_format("abc").is_none(), "and only these");
}

#[test]
fn every_format_writes_its_files_under_safe_names_and_nothing_else() {
    for (name, frame_count) in [("sheet", 3), ("sheet \"A\"/2", 3), ("../..", 1)] {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("new").join("folder");
        for format in FORMATS {
            for rest in [cloth::with_seam(name), cloth::bare(name)] {
                let exported = export(format, &out, &rest, &mut cloth::rising(frame_count), CLIP).unwrap();
                assert!(exported.path.exists(), "{} exists", exported.path.display());
            }
        }
        let stem = file_stem(name);
        let sequence = |kind: &str| (0..frame_count).map(|i| format!("{stem}_{kind}/{stem}_{i:04}.{kind}")).collect();
        let single = ["npy", "pc2", "glb", "usda"].map(|extension| format!("{stem}.{extension}")).to_vec();
        let mut expected = [single, sequence("obj"), sequence("ply")].concat();
        expected.sort();
        assert_eq!(listing(&out), expected, "files of {name:?}");
    }
}

#[test]
fn a_failed_export_leaves_the_earlier_one_and_no_partial_file() {
    for format in FORMATS {
        let dir = tempfile::tempdir().unwrap();
        let rest = cloth::bare("sheet");
        let path = export(format, dir.path(), &rest, &mut cloth::rising(3), CLIP).unwrap().path;
        let before = listing(dir.path());
        let mut failing = cloth::Failing { frames: cloth::rising(5), bad_frame: 3 };
        let error = export(format, dir.path(), &rest, &mut failing, CLIP).unwrap_err();
        let inner =
            "cannot read frames in memory: frame 18446744073709551615 was asked for, but there are 5, counted from 0";
        assert_eq!(error.to_string(), format!("cannot write {}: {inner}", path.display()), "wording");
        assert_eq!(listing(dir.path()), before, "{} changes nothing", format.name);
    }
}

#[test]
fn a_shorter_sequence_removes_the_frames_that_would_play_on() {
    for format in ["obj", "ply"].map(|name| find_format(name).unwrap()) {
        let dir = tempfile::tempdir().unwrap();
        let rest = cloth::bare("sheet");
        let folder = export(format, dir.path(), &rest, &mut cloth::rising(5), CLIP).unwrap().path;
        fs::write(folder.join("notes.txt"), "mine").unwrap();
        export(format, dir.path(), &rest, &mut cloth::rising(2), CLIP).unwrap();
        let name = |i: usize| format!("sheet_{i:04}.{}", format.extension);
        assert_eq!(listing(&folder), [String::from("notes.txt"), name(0), name(1)], "frames, and what is not ours");
    }
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let rest = cloth::bare("sheet");
    let mut exploded = cloth::rising(2);
    exploded.push(vec![[0.0; 3], [0.0; 3], [0.0, f32::NAN, 0.0], [0.0; 3]]).unwrap();
    for format in FORMATS {
        let check = |mut frames: Frames, fps, words: &str| {
            let error = export(format, dir.path(), &rest, &mut frames, Clip { fps }).unwrap_err();
            assert!(error.to_string().ends_with(words), "{}: {error}", format.name);
            assert_eq!(error.kind(), IoErrorKind::Unsuitable, "{}: kind", format.name);
        };
        check(cloth::rising(0), 24.0, ": there are no frames to export; simulate at least one");
        check(Frames::new(5), 24.0, ": frame 0 has 5 vertices, but 4 are expected");
        check(cloth::rising(1), 0.0, ": 0 frames a second cannot be stored; give a rate from 0.001 to 1000000");
        check(cloth::rising(1), f64::NAN, ": NaN frames a second cannot be stored; give a rate from 0.001 to 1000000");
        if format.name != "npy" {
            check(exploded.clone(), 24.0, ": vertex 2 of frame 2 is not finite; export the frames before it");
        }
    }
    assert_eq!(listing(dir.path()), [""; 0], "nothing is written");
}

#[test]
fn frames_in_memory_have_one_size() {
    let error = Frames::new(4).push(vec![[0.0; 3]; 3]).unwrap_err();
    assert_eq!(error, InputError::FrameVertexCount { frame: 0, found: 3, expected: 4 }, "refused");
}

#[test]
fn the_cache_copies_to_the_bit() {
    let dir = tempfile::tempdir().unwrap();
    let format = find_format("npy").unwrap();
    let path = export(format, dir.path(), &cloth::bare("sheet"), &mut cloth::rising(3), CLIP).unwrap().path;
    // From a cache onto itself: the reader keeps the old file until it is replaced.
    let mut reader = NpyReader::open(&path).unwrap();
    export(format, dir.path(), &cloth::bare("sheet"), &mut reader, CLIP).unwrap();
    let mut reader = NpyReader::open(&path).unwrap();
    let mut positions = Vec::new();
    for frame in 0..reader.frame_count() {
        FrameSource::read(&mut reader, frame, &mut positions).unwrap();
        assert_eq!(positions, cloth::frame(frame), "frame {frame}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_recognised_and_cleaned_up() {
    for format in ["npy", "pc2", "glb", "usd"].map(|name| find_format(name).unwrap()) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(format!("sheet.{}", format.extension));
        std::os::unix::fs::symlink("/dev/full", format!("{}.partial", path.display())).unwrap();
        let error = export(format, dir.path(), &cloth::bare("sheet"), &mut cloth::rising(3), CLIP).unwrap_err();
        assert_eq!(error.kind(), IoErrorKind::NoSpace, "{}", format.name);
        assert_eq!(error.to_string(), format!("cannot write {}: no space left on device", path.display()), "wording");
        assert_eq!(listing(dir.path()), [""; 0], "nothing is left");
    }
}

#[test]
#[cfg(unix)]
fn a_folder_in_the_way_is_recognised() {
    for format in ["npy", "pc2", "glb", "usd"].map(|name| find_format(name).unwrap()) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(format!("sheet.{}", format.extension))).unwrap();
        let error = export(format, dir.path(), &cloth::bare("sheet"), &mut cloth::rising(3), CLIP).unwrap_err();
        assert_eq!(error.kind(), IoErrorKind::IsADirectory, "{error}");
        assert_eq!(listing(dir.path()), [""; 0], "no partial file is left");
    }
}

#[test]
fn seams_are_noted_where_they_do_not_fit() {
    let dir = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let seam = export(format, dir.path(), &cloth::with_seam("sheet"), &mut cloth::rising(2), CLIP).unwrap();
        assert_eq!(seam.notes.len(), usize::from(format.name == "ply"), "{}: {:?}", format.name, seam.notes);
        let bare = export(format, dir.path(), &cloth::bare("sheet"), &mut cloth::rising(2), CLIP).unwrap();
        assert_eq!(bare.notes, [""; 0], "{}", format.name);
    }
}

#[test]
fn a_long_glb_says_which_frames_it_keeps() {
    let dir = tempfile::tempdir().unwrap();
    let glb = find_format("glb").unwrap();
    let exported = export(glb, dir.path(), &cloth::bare("sheet"), &mut cloth::rising(500), CLIP).unwrap();
    let words = "keeps 241 of 500 frames, evenly spaced with the first and the last, and blends between them: \
        a glb gets at most 240 morph targets and 64 MB";
    assert_eq!(exported.notes, [format!("{} {words}", exported.path.display())], "note");
}

#[test]
fn pc2_is_a_header_and_the_frames() {
    let dir = tempfile::tempdir().unwrap();
    let pc2 = find_format("pc2").unwrap();
    let path = export(pc2, dir.path(), &cloth::bare("sheet"), &mut cloth::rising(3), CLIP).unwrap().path;
    let bytes = fs::read(path).unwrap();
    let expected: Vec<u8> = (0..3).flat_map(cloth::frame).flatten().flat_map(f32::to_le_bytes).collect();
    assert_eq!(&bytes[..12], b"POINTCACHE2\0", "signature");
    assert_eq!(bytes[32..], expected, "frames");
}
