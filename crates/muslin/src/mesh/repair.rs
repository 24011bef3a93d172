//! Mends what can be mended without guessing.
//!
//! Triangles without area, with a repeated vertex or listed twice are dropped: they carry no energy that means anything.
//! Triangles wound against their neighbours are turned over, in each connected part towards the side that most of its
//! triangles show already (a tie goes to the first triangle).
//!
//! Vertices are never merged, moved or renumbered: pins and results refer to them by number.

use crate::mesh::survey::{Fault, Survey};
use crate::mesh::validate::{examine, named};
use crate::mesh::{Finding, Group, Mesh, Severity, Uv};

/// A mended mesh, and what was done to it.
///
/// ```
/// use muslin::mesh::{Diagonals, Mesh, repair};
///
/// let mut mesh = Mesh::grid([1.0, 1.0], [1, 1], Diagonals::Forward)?;
/// mesh.uv = None;
/// mesh.triangles.push(mesh.triangles[0]);
/// let repaired = repair(&mesh).map_err(|findings| findings[0].to_string())?;
/// assert_eq!((repaired.mesh.triangle_count(), repaired.notes.len()), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Repaired {
    /// The mesh, in which [`check`](crate::mesh::check) finds no error.
    pub mesh: Mesh,
    /// The changes, a sentence each, with the triangles numbered as they were; empty where nothing was.
    pub notes: Vec<String>,
}

/// Mends a mesh, or returns the errors that stand in the way, with indices of the mesh as it is.
pub fn repair(mesh: &Mesh) -> Result<Repaired, Vec<Finding>> {
    let (findings, survey) = examine(mesh);
    let blocking = |finding: &Finding| finding.severity == Severity::Error && !finding.repairable;
    match survey {
        Some(survey) if !findings.iter().any(blocking) => {
            Ok(Repaired { mesh: mended(mesh, &survey), notes: notes(&survey) })
        }
        _ => Err(findings.into_iter().filter(blocking).collect()),
    }
}

fn mended(mesh: &Mesh, survey: &Survey) -> Mesh {
    let kept: Vec<u32> = survey.with(Fault::None).collect();
    Mesh {
        positions: mesh.positions.clone(),
        triangles: mend(&mesh.triangles, survey, &kept),
        uv: mesh
            .uv
            .as_ref()
            .map(|uv| Uv { coordinates: uv.coordinates.clone(), triangles: mend(&uv.triangles, survey, &kept) }),
        groups: renumbered(&mesh.groups, &kept, mesh.triangle_count()),
        flat: mesh.flat.as_ref().map(|flat| mend(flat, survey, &kept)),
        seams: mesh.seams.clone(),
    }
}

/// Triples of the triangles that are kept, turned over as these are.
fn mend<T: Copy>(triples: &[[T; 3]], survey: &Survey, kept: &[u32]) -> Vec<[T; 3]> {
    let turned = |&triangle: &u32| {
        let [a, b, c] = triples[triangle as usize];
        if survey.orientation.flips[triangle as usize] { [a, c, b] } else { [a, b, c] }
    };
    kept.iter().map(turned).collect()
}

fn renumbered(groups: &[Group], kept: &[u32], triangle_count: usize) -> Vec<Group> {
    let mut new_from_old = vec![None; triangle_count];
    for (new, &old) in (0_u32..).zip(kept) {
        new_from_old[old as usize] = Some(new);
    }
    let renumber = |group: &Group| Group {
        name: group.name.clone(),
        triangles: group.triangles.iter().filter_map(|&old| new_from_old[old as usize]).collect(),
    };
    groups.iter().map(renumber).collect()
}

fn notes(survey: &Survey) -> Vec<String> {
    let flipped = (0_u32..).zip(&survey.orientation.flips).filter(|&(_, &flip)| flip).map(|(triangle, _)| triangle);
    let done: [(&str, Vec<u32>, &str); 4] = [
        ("dropped", survey.with(Fault::RepeatedVertex).collect(), "used a vertex more than once"),
        ("dropped", survey.with(Fault::ZeroArea).collect(), "had no area"),
        ("dropped", survey.with(Fault::Duplicate).collect(), "repeated another triangle"),
        ("turned over", flipped.collect(), "wound against most of its surface"),
    ];
    let note = |(verb, triangles, reason): (&str, Vec<u32>, &str)| {
        let noun = if triangles.len() == 1 { "triangle" } else { "triangles" };
        format!("{verb} {noun} {}: {reason}", named(&triangles))
    };
    done.into_iter().filter(|(_, triangles, _)| !triangles.is_empty()).map(note).collect()
}
