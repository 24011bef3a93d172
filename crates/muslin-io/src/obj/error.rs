//! Errors of OBJ files.

use std::fmt;

use thiserror::Error;

/// A problem of an OBJ file, at its line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct ObjError {
    /// Line of the statement, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: ObjProblem,
}

/// What is wrong with a line of an OBJ file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ObjProblem {
    /// The file has no bytes.
    #[error("the file is empty; an OBJ file has vertices (v) and faces (f)")]
    Empty,
    /// The file is not text.
    #[error("byte {byte:#04x} in column {column} is not UTF-8 text; is this an OBJ file?")]
    NotText {
        /// The first byte that is not text.
        byte: u8,
        /// Its column in bytes, counted from 1.
        column: usize,
    },
    /// A statement that OBJ does not have.
    #[error("unknown keyword \"{keyword}\"; is this an OBJ file?")]
    UnknownKeyword {
        /// The word at the start of the line.
        keyword: String,
    },
    /// A coordinate that is not a number.
    #[error("{element} has \"{text}\" where a number is expected")]
    NotANumber {
        /// What the coordinate belongs to.
        element: ObjElement,
        /// The word found.
        text: String,
    },
    /// A coordinate that is NaN, infinite or too large for a double.
    #[error("{element} has the coordinate \"{text}\", which is not finite")]
    NotFinite {
        /// What the coordinate belongs to.
        element: ObjElement,
        /// The word found.
        text: String,
    },
    /// Too few or too many coordinates.
    #[error("{element} has {found} numbers, but needs {least} to {most}")]
    CoordinateCount {
        /// What the coordinates belong to.
        element: ObjElement,
        /// How many there are.
        found: usize,
        /// How many there must be.
        least: usize,
        /// How many there may be.
        most: usize,
    },
    /// A face that spans nothing.
    #[error("face has {found} corners, but needs at least 3")]
    FaceCorners {
        /// How many corners it has.
        found: usize,
    },
    /// A corner that is not made of vertex numbers.
    #[error("face corner \"{text}\" is not of the form v, v/vt, v//vn or v/vt/vn")]
    Corner {
        /// The word found.
        text: String,
    },
    /// Texture coordinates at some corners only.
    #[error("face has texture coordinates at {found} of its {corners} corners; give them at all or at none")]
    MixedCorners {
        /// Corners with a texture coordinate.
        found: usize,
        /// All its corners.
        corners: usize,
    },
    /// A number 0.
    #[error("face uses {element} 0, but OBJ counts from 1")]
    Zero {
        /// What the number refers to.
        element: ObjElement,
    },
    /// A number beyond the end.
    #[error("face uses {element} {number}, but the file has {}", element.counted(*count))]
    OutOfRange {
        /// What the number refers to.
        element: ObjElement,
        /// The number.
        number: u64,
        /// How many there are in the file.
        count: usize,
    },
    /// A number beyond any count.
    #[error("face uses a {element} beyond number {limit}, the last that 32-bit indices can count")]
    NumberTooLarge {
        /// What the number refers to.
        element: ObjElement,
        /// The largest number.
        limit: usize,
    },
    /// A negative number that reaches back beyond the start.
    #[error("face uses {element} -{back}, but the file has {} up to this line", element.counted(*count))]
    BeforeStart {
        /// What the number refers to.
        element: ObjElement,
        /// How far it reaches back.
        back: u64,
        /// How many came before the face.
        count: usize,
    },
    /// A concave polygon too large to be cut in reasonable time.
    #[error("concave face has {corners} corners, but only up to {limit} are cut into triangles; cut it before export")]
    ConcaveFace {
        /// How many corners it has.
        corners: usize,
        /// How many it may have.
        limit: usize,
    },
    /// More than an index can count.
    #[error("the file has more than {limit} {}, the most that 32-bit indices can tell apart", element.plural())]
    TooMany {
        /// What there is too much of.
        element: ObjElement,
        /// How many there may be.
        limit: usize,
    },
    /// A file without a surface.
    #[error("no face (f) after {}; a mesh needs triangles", ObjElement::Vertex.counted(*vertex_count))]
    NoFaces {
        /// How many vertices it has.
        vertex_count: usize,
    },
}

/// What an OBJ file counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjElement {
    /// `v`
    Vertex,
    /// `vt`
    TextureCoordinate,
    /// What faces are cut into.
    Triangle,
}

impl ObjElement {
    fn plural(self) -> &'static str {
        match self {
            Self::Vertex => "vertices",
            Self::TextureCoordinate => "texture coordinates",
            Self::Triangle => "triangles",
        }
    }

    fn counted(self, count: usize) -> String {
        match count {
            0 => format!("no {}", self.plural()),
            1 => format!("1 {self}"),
            _ => format!("{count} {}", self.plural()),
        }
    }
}

impl fmt::Display for ObjElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vertex => "vertex",
            Self::TextureCoordinate => "texture coordinate",
            Self::Triangle => "triangle",
        })
    }
}
