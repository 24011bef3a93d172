//! The program under test, and the files it reads and writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A sheet of 5 × 5 vertices that falls on a ball: ten frames in milliseconds.
pub(crate) const TINY: &str = "\
name = \"tiny\"
duration = 0.1
fps = 100
[solver]
kind = \"xpbd\"
substeps = 4
[[cloth]]
name = \"sheet\"
grid = { size = [1.0, 1.0], cells = [4, 4] }
translate = [0.0, 0.3, 0.0]
[[cloth.pins]]
vertices = [0]
[[collider]]
sphere = { center = [0.0, 0.0, 0.0], radius = 0.25 }
";

/// A unit square of two triangles, with a texture.
pub(crate) const SQUARE: &str = "\
v 0 0 0
v 1 0 0
v 1 0 1.1
v 0 0 1
vt 0 0
vt 1 0
vt 1 1
vt 0 1
g hem
f 1/1 3/3 2/2
f 1/1 4/4 3/3
";

/// A folder to run in, removed at the end.
pub(crate) struct Place {
    folder: TempDir,
}

/// What a command said, and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    /// An empty folder.
    pub(crate) fn empty() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder") }
    }

    /// A folder with `tiny.toml`.
    pub(crate) fn new() -> Self {
        let place = Self::empty();
        place.write("tiny.toml", TINY);
        place
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("text")
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The program with `words`, separated by spaces, about to run in this folder.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_muslin"));
        command.args(words.split_whitespace()).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Runs the program.
    pub(crate) fn run(&self, words: &str) -> Said {
        said(self.command(words).output().expect("the program starts"))
    }

    /// Runs the program, which must succeed.
    pub(crate) fn succeed(&self, words: &str) -> Said {
        let said = self.run(words);
        assert_eq!(said.code, Some(0), "muslin {words}: {}", said.err);
        said
    }

    /// Runs the scene `tiny` without pictures and exports, and gives its report.
    pub(crate) fn report(&self, words: &str) -> Value {
        self.succeed(&format!("run tiny.toml --quiet --formats npy --preview none --out out {words}"));
        self.json("out/report.json")
    }

    /// Starts a run of `words` in the background and waits until a cache of it has `frames` frames.
    pub(crate) fn start(&self, words: &str, cache: &str, frames: usize) -> Child {
        let mut child =
            self.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        wait_until(&mut child, || self.frames_in(cache) >= frames);
        child
    }

    /// Frames in the report of a run that may not have written one yet.
    pub(crate) fn frames_in_report(&self, name: &str) -> usize {
        let bytes = fs::read(self.path(name)).unwrap_or_default();
        let report: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        report["frames"].as_array().map_or(0, Vec::len)
    }

    /// Frames in a cache that is being written: what its header says.
    fn frames_in(&self, cache: &str) -> usize {
        let bytes = fs::read(self.path(cache)).unwrap_or_default();
        let header = String::from_utf8_lossy(bytes.get(10..128).unwrap_or_default()).into_owned();
        let count = header.split_once("'shape': (").and_then(|(_, rest)| rest.split_once(','));
        count.and_then(|(count, _)| count.parse().ok()).unwrap_or(0)
    }
}

/// Waits for something that a run does on the way.
///
/// The limit is only for a run that hangs: a busy machine may take its time.
pub(crate) fn wait_until(child: &mut Child, is_done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(600);
    while !is_done() {
        assert!(Instant::now() < deadline, "nothing happens for ten minutes");
        assert_eq!(child.try_wait().expect("a child"), None, "it ended before it was stopped");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn said(output: Output) -> Said {
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Sends a signal by its name, as a person does.
pub(crate) fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().expect("kill");
    assert!(status.success(), "kill -s {name}");
}

/// The shape and the numbers of a `.npy`, read by hand from its published format.
pub(crate) fn npy(bytes: &[u8]) -> ([usize; 3], Vec<f32>) {
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00", "magic and version");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + length]).expect("an ASCII header");
    assert!(header.contains("'descr': '<f4'") && header.contains("'fortran_order': False"), "{header}");
    assert!(header.ends_with('\n') && (10 + length).is_multiple_of(64), "padding");
    let shape = header.split_once("'shape': (").and_then(|(_, rest)| rest.split_once(')')).expect("a shape").0;
    let shape: Vec<usize> = shape.split(',').map(|n| n.trim().parse().expect("a count")).collect();
    let shape: [usize; 3] = shape.try_into().expect("three axes");
    let data = &bytes[10 + length..];
    assert_eq!(data.len(), 4 * shape.iter().product::<usize>(), "as much data as the header says");
    (shape, data.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}
