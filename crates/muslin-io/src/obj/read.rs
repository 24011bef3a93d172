//! Reading OBJ.
//!
//! Faces may refer to vertices that come later, so everything is gathered first, with the line of each face, and
//! then checked and cut into triangles.

use std::collections::HashMap;

use super::error::{ObjElement, ObjError, ObjProblem};
use super::polygon::{Cutter, MOST_CONCAVE_CORNERS, TooManyCorners};
use super::scan::Scanner;
use super::{ObjGroup, ObjMesh, ObjUv};

/// Statements of the OBJ specification that say nothing about polygons. `call` and `csh`, which pull in other files,
/// are not among them: to skip them would lose part of the mesh.
#[rustfmt::skip]
const SKIPPED: [&[u8]; 32] = [
    b"vn", b"vp", b"l", b"p", b"s", b"mg",
    b"usemtl", b"mtllib", b"usemap", b"maplib", b"bevel", b"c_interp", b"d_interp", b"lod", b"shadow_obj", b"trace_obj",
    b"cstype", b"deg", b"bmat", b"step", b"curv", b"curv2", b"surf", b"parm", b"trim", b"hole", b"scrv", b"sp", b"end",
    b"con", b"ctech", b"stech",
];

/// Stands for a corner without a texture coordinate; numbers stay below it.
const NONE: u32 = u32::MAX;

/// Most vertices, texture coordinates or triangles.
const LIMIT: usize = u32::MAX as usize;

/// Reads a mesh from the bytes of an OBJ file; the module's documentation says what is kept.
pub fn read_obj(bytes: &[u8]) -> Result<ObjMesh, ObjError> {
    read_limited(bytes, LIMIT)
}

/// [`read_obj`] with a limit that a test can reach.
fn read_limited(bytes: &[u8], limit: usize) -> Result<ObjMesh, ObjError> {
    if bytes.is_empty() {
        return Err(ObjError { line: 1, problem: ObjProblem::Empty });
    }
    check_text(bytes)?;
    let mut reader = Reader { limit, ..Reader::default() };
    let mut scanner = Scanner::new(bytes);
    loop {
        let line = scanner.line();
        reader.statement(&mut scanner, line).map_err(|problem| ObjError { line, problem })?;
        if !scanner.next_statement() {
            return reader.finish(line);
        }
    }
}

fn check_text(bytes: &[u8]) -> Result<(), ObjError> {
    let Err(error) = std::str::from_utf8(bytes) else { return Ok(()) };
    let (before, after) = bytes.split_at(error.valid_up_to());
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let column = 1 + before.iter().rev().take_while(|&&byte| byte != b'\n').count();
    Err(ObjError { line, problem: ObjProblem::NotText { byte: after.first().copied().unwrap_or_default(), column } })
}

/// What has been read so far.
#[derive(Default)]
struct Reader {
    limit: usize,
    positions: Vec<[f64; 3]>,
    coordinates: Vec<[f64; 2]>,
    /// Corners of all faces, one face after the other.
    corners: Vec<Corner>,
    faces: Vec<Face>,
    groups: Vec<ObjGroup>,
    group_of_name: HashMap<String, usize>,
    /// Groups of the latest `g`, and of the latest `o`.
    current_groups: Vec<usize>,
    current_object: Option<usize>,
    memberships: Vec<Membership>,
}

/// A corner of a face, counted from 0; the texture coordinate may be [`NONE`].
#[derive(Clone, Copy)]
struct Corner {
    vertex: u32,
    coordinate: u32,
}

struct Face {
    line: usize,
    /// End of its corners in `Reader::corners`; they begin where those of the face before end.
    end: usize,
}

/// The groups of the faces from `first_face` up to the next membership.
struct Membership {
    first_face: usize,
    groups: Vec<usize>,
}

impl Reader {
    fn statement(&mut self, scanner: &mut Scanner<'_>, line: usize) -> Result<(), ObjProblem> {
        match scanner.word() {
            None => Ok(()),
            Some(b"v") => self.vertex(scanner),
            Some(b"vt") => self.texture_coordinate(scanner),
            Some(b"f") => self.face(scanner, line),
            Some(b"g") => {
                self.current_groups.clear();
                while let Some(name) = scanner.word() {
                    if name != b"default" {
                        let group = self.group(&String::from_utf8_lossy(name));
                        self.current_groups.push(group);
                    }
                }
                self.change_membership();
                Ok(())
            }
            Some(b"o") => {
                let mut name = String::new();
                while let Some(word) = scanner.word() {
                    if !name.is_empty() {
                        name.push(' ');
                    }
                    name.push_str(&String::from_utf8_lossy(word));
                }
                self.current_object = if name.is_empty() { None } else { Some(self.group(&name)) };
                self.change_membership();
                Ok(())
            }
            Some(keyword) if SKIPPED.contains(&keyword) => Ok(()),
            Some(keyword) => Err(ObjProblem::UnknownKeyword { keyword: excerpt(keyword) }),
        }
    }

    fn vertex(&mut self, scanner: &mut Scanner<'_>) -> Result<(), ObjProblem> {
        let element = ObjElement::Vertex;
        let [x, y, z, ..] = numbers::<7>(scanner, element, 3)?; // x y z, w, r g b
        let limit = self.limit;
        if self.positions.len() >= limit {
            return Err(ObjProblem::TooMany { element, limit });
        }
        self.positions.push([x, y, z]);
        Ok(())
    }

    fn texture_coordinate(&mut self, scanner: &mut Scanner<'_>) -> Result<(), ObjProblem> {
        let element = ObjElement::TextureCoordinate;
        let [u, v, _] = numbers::<3>(scanner, element, 1)?;
        let limit = self.limit;
        if self.coordinates.len() >= limit {
            return Err(ObjProblem::TooMany { element, limit });
        }
        self.coordinates.push([u, v]);
        Ok(())
    }

    fn face(&mut self, scanner: &mut Scanner<'_>, line: usize) -> Result<(), ObjProblem> {
        let start = self.corners.len();
        while let Some(word) = scanner.word() {
            let corner = self.corner(word)?;
            self.corners.push(corner);
        }
        let corners = &self.corners[start..];
        if corners.len() < 3 {
            return Err(ObjProblem::FaceCorners { found: corners.len() });
        }
        let found = corners.iter().filter(|corner| corner.coordinate != NONE).count();
        if found != 0 && found != corners.len() {
            return Err(ObjProblem::MixedCorners { found, corners: corners.len() });
        }
        self.faces.push(Face { line, end: self.corners.len() });
        Ok(())
    }

    fn corner(&self, word: &[u8]) -> Result<Corner, ObjProblem> {
        let bad = || ObjProblem::Corner { text: excerpt(word) };
        let mut parts = word.split(|&byte| byte == b'/');
        let vertex = parts.next().and_then(parse_index).ok_or_else(bad)?;
        let vertex = resolve(vertex, self.positions.len(), ObjElement::Vertex)?;
        // Some programs write `1//` or `1/`.
        let coordinate = match parts.next() {
            None | Some(b"") => NONE,
            Some(part) => {
                let index = parse_index(part).ok_or_else(bad)?;
                resolve(index, self.coordinates.len(), ObjElement::TextureCoordinate)?
            }
        };
        // The number of the normal is not checked, as normals are not kept.
        let normal_is_good = parts.next().is_none_or(|part| part.is_empty() || parse_index(part).is_some());
        if normal_is_good && parts.next().is_none() { Ok(Corner { vertex, coordinate }) } else { Err(bad()) }
    }

    fn group(&mut self, name: &str) -> usize {
        if let Some(&group) = self.group_of_name.get(name) {
            return group;
        }
        self.group_of_name.insert(name.to_owned(), self.groups.len());
        self.groups.push(ObjGroup { name: name.to_owned(), triangles: Vec::new() });
        self.groups.len() - 1
    }

    fn change_membership(&mut self) {
        let mut groups: Vec<usize> = self.current_groups.iter().copied().chain(self.current_object).collect();
        groups.sort_unstable();
        groups.dedup();
        self.memberships.push(Membership { first_face: self.faces.len(), groups });
    }

    /// Checks the numbers of all faces and cuts them into triangles.
    fn finish(mut self, last_line: usize) -> Result<ObjMesh, ObjError> {
        let (vertex_count, coordinate_count) = (self.positions.len(), self.coordinates.len());
        if self.faces.is_empty() {
            return Err(ObjError { line: last_line, problem: ObjProblem::NoFaces { vertex_count } });
        }
        let has_uv = self.corners.iter().all(|corner| corner.coordinate != NONE);
        let mut triangles: Vec<[u32; 3]> = Vec::with_capacity(self.corners.len() / 3);
        let mut uv_triangles: Vec<[u32; 3]> = Vec::with_capacity(if has_uv { self.corners.len() / 3 } else { 0 });
        let mut cutter = Cutter::default();
        let mut memberships = self.memberships.iter().peekable();
        let mut groups: &[usize] = &[];
        let mut start = 0;
        for (face, &Face { line, end }) in self.faces.iter().enumerate() {
            let corners = &self.corners[start..end];
            start = end;
            for corner in corners {
                check_range(corner.vertex, vertex_count, ObjElement::Vertex)
                    .and_then(|()| match corner.coordinate {
                        NONE => Ok(()),
                        coordinate => check_range(coordinate, coordinate_count, ObjElement::TextureCoordinate),
                    })
                    .map_err(|problem| ObjError { line, problem })?;
            }
            let first_triangle = triangles.len();
            cutter
                .cut(
                    corners.len(),
                    |corner| self.positions[corners[corner].vertex as usize],
                    |triangle| {
                        triangles.push(triangle.map(|corner| corners[corner].vertex));
                        if has_uv {
                            uv_triangles.push(triangle.map(|corner| corners[corner].coordinate));
                        }
                    },
                )
                .map_err(|TooManyCorners| ObjProblem::ConcaveFace {
                    corners: corners.len(),
                    limit: MOST_CONCAVE_CORNERS,
                })
                .map_err(|problem| ObjError { line, problem })?;
            if triangles.len() > self.limit {
                let problem = ObjProblem::TooMany { element: ObjElement::Triangle, limit: self.limit };
                return Err(ObjError { line, problem });
            }
            while let Some(membership) = memberships.next_if(|membership| membership.first_face <= face) {
                groups = &membership.groups;
            }
            for &group in groups {
                self.groups[group].triangles.extend(first_triangle as u32..triangles.len() as u32);
            }
        }
        self.groups.retain(|group| !group.triangles.is_empty());
        let uv = has_uv.then_some(ObjUv { coordinates: self.coordinates, triangles: uv_triangles });
        Ok(ObjMesh { positions: self.positions, triangles, uv, groups: self.groups })
    }
}

/// The numbers of a statement, at least `least` and at most `N`; those left out are 0.
fn numbers<const N: usize>(
    scanner: &mut Scanner<'_>,
    element: ObjElement,
    least: usize,
) -> Result<[f64; N], ObjProblem> {
    let mut values = [0.0; N];
    let mut found = 0;
    while let Some(word) = scanner.word() {
        let value: f64 = std::str::from_utf8(word)
            .ok()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| ObjProblem::NotANumber { element, text: excerpt(word) })?;
        if !value.is_finite() {
            return Err(ObjProblem::NotFinite { element, text: excerpt(word) });
        }
        if let Some(slot) = values.get_mut(found) {
            *slot = value;
        }
        found += 1;
    }
    if (least..=N).contains(&found) {
        Ok(values)
    } else {
        Err(ObjProblem::CoordinateCount { element, found, least, most: N })
    }
}

/// A number of a face corner.
enum Index {
    FromStart(u64),
    FromEnd(u64),
}

/// Reads an integer; one beyond 64 bits becomes the largest, which is out of range all the same.
fn parse_index(text: &[u8]) -> Option<Index> {
    let (digits, from_end) = match text {
        [b'-', digits @ ..] => (digits, true),
        [b'+', digits @ ..] | digits => (digits, false),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number =
        digits.iter().fold(0_u64, |number, digit| number.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
    Some(if from_end { Index::FromEnd(number) } else { Index::FromStart(number) })
}

/// The number counted from 0. Whether it is below the final count is for [`check_range`] to see.
fn resolve(index: Index, count_so_far: usize, element: ObjElement) -> Result<u32, ObjProblem> {
    match index {
        Index::FromStart(0) | Index::FromEnd(0) => Err(ObjProblem::Zero { element }),
        // Counts end at LIMIT, so a number beyond it is wrong whatever follows.
        Index::FromStart(number) => u32::try_from(number - 1)
            .ok()
            .filter(|&index| index != NONE)
            .ok_or(ObjProblem::NumberTooLarge { element, limit: LIMIT }),
        Index::FromEnd(back) => usize::try_from(back)
            .ok()
            .and_then(|back| count_so_far.checked_sub(back))
            .and_then(|index| u32::try_from(index).ok())
            .ok_or(ObjProblem::BeforeStart { element, back, count: count_so_far }),
    }
}

fn check_range(index: u32, count: usize, element: ObjElement) -> Result<(), ObjProblem> {
    if (index as usize) < count {
        return Ok(());
    }
    Err(ObjProblem::OutOfRange { element, number: u64::from(index) + 1, count })
}

/// A word for an error message: short, and without control characters.
fn excerpt(word: &[u8]) -> String {
    const LONGEST: usize = 24;
    let text = String::from_utf8_lossy(word);
    let mut letters = text.chars();
    let mut excerpt: String = letters.by_ref().take(LONGEST).flat_map(char::escape_debug).collect();
    if letters.next().is_some() {
        excerpt.push('…');
    }
    excerpt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_indices_can_count_is_an_error() {
        for (text, words) in [
            (
                "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0",
                "line 4: the file has more than 3 vertices, the most that 32-bit indices can tell apart",
            ),
            (
                "vt 0\nvt 0\nvt 0\nvt 0",
                "line 4: the file has more than 3 texture coordinates, the most that 32-bit indices can tell apart",
            ),
            (
                "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 1 2 3",
                "line 4: the file has more than 3 triangles, the most that 32-bit indices can tell apart",
            ),
        ] {
            assert_eq!(read_limited(text.as_bytes(), 3).unwrap_err().to_string(), words, "wording");
        }
    }
}
