//! Triangles that sewing would collapse, because a seam joins two of their corners.
//!
//! They stand where two edges of a panel that meet in a corner are sewn together, as in a cone: the first vertices on both sides of the tip
//! become one, and so does the triangle that they make with it. A new vertex in the middle of the side between them keeps
//! it open.

use super::{PanelMesh, Seam};

/// The vertex that each of `count` vertices becomes when pairs of them are joined: the lowest of those that meet.
pub(crate) fn merge(count: usize, pairs: impl Iterator<Item = (u32, u32)>) -> Vec<u32> {
    fn root(lowest: &mut [u32], mut vertex: u32) -> u32 {
        while lowest[vertex as usize] != vertex {
            lowest[vertex as usize] = lowest[lowest[vertex as usize] as usize];
            vertex = lowest[vertex as usize];
        }
        vertex
    }
    let mut lowest: Vec<u32> = (0..count as u32).collect();
    for (a, b) in pairs {
        let (a, b) = (root(&mut lowest, a), root(&mut lowest, b));
        lowest[a.max(b) as usize] = a.min(b);
    }
    (0..count as u32).map(|vertex| root(&mut lowest, vertex)).collect()
}

/// Divides the sides whose ends become one vertex; the panel of one that lies on the border otherwise.
pub(super) fn open(panels: &mut [PanelMesh], seams: &[Seam]) -> Result<(), usize> {
    let mut starts = vec![0];
    for panel in panels.iter() {
        starts.push(starts[starts.len() - 1] + panel.points.len() as u32);
    }
    let joined = seams.iter().flat_map(|seam| {
        let [a, b] = [0, 1].map(|side| {
            let start = starts[seam.panels[side]];
            seam.chains[side].iter().map(move |vertex| start + vertex)
        });
        a.zip(b).collect::<Vec<_>>()
    });
    let merged = merge(starts[panels.len()] as usize, joined);
    for (index, panel) in panels.iter_mut().enumerate() {
        let merged = &merged[starts[index] as usize..starts[index + 1] as usize];
        let lowest = |vertex: u32| merged.get(vertex as usize); // a new vertex has none, and meets nothing
        let mut at = 0;
        while let Some(&triangle) = panel.triangles.get(at) {
            let ends = |k: usize| [triangle[k], triangle[(k + 1) % 3]];
            let becomes_one =
                |&k: &usize| ends(k).iter().all(|&end| lowest(end).is_some() && lowest(end) == lowest(ends(k)[0]));
            let Some(k) = (0..3).find(becomes_one) else {
                at += 1;
                continue;
            };
            let ([a, b], c) = (ends(k), triangle[(k + 2) % 3]);
            let beyond =
                panel.triangles.iter().position(|other| (0..3).any(|k| other[k] == b && other[(k + 1) % 3] == a));
            let other = beyond.ok_or(index)?;
            let d = panel.triangles[other].into_iter().find(|&vertex| vertex != a && vertex != b).ok_or(index)?;
            let middle = panel.points.len() as u32;
            let [p, q] = [a, b].map(|vertex| panel.points[vertex as usize]);
            panel.points.push([0, 1].map(|k| 0.5 * (p[k] + q[k])));
            panel.triangles[at] = [a, middle, c];
            panel.triangles[other] = [b, middle, d];
            panel.triangles.extend([[middle, b, c], [middle, a, d]]);
        }
    }
    Ok(())
}
