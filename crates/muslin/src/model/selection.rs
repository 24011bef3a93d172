//! Vertices that a scene selects.

use crate::description;
use crate::description::{Problems, Select, Selection};
use crate::math::Vec3;
use crate::mesh::Bounds;

/// The vertices of each pin, as the user numbers them. `start` is where the vertices are before they are placed, in m.
pub(crate) fn select_pins(
    cloth: &description::Cloth,
    start: &[[f64; 3]],
    placed: &[Vec3<f64>],
    index: usize,
    problems: &mut Problems,
) -> Vec<Vec<u32>> {
    let select = |(p, pin): (usize, &description::Pin)| {
        let selected = select(&pin.selection, start, placed);
        let key = match &pin.selection {
            Selection::Vertices(_) => "vertices",
            Selection::Named(_) => "select",
            Selection::Sphere { .. } | Selection::Box { .. } => "within",
        };
        let place = format!("cloth[{index}].pins[{p}].{key}");
        let count = start.len();
        match selected.iter().find(|&&v| v as usize >= count) {
            Some(v) => {
                let last = count.saturating_sub(1);
                problems.error(place, format!("vertex {v} is out of range: the cloth has vertices 0 to {last}"));
                return Vec::new();
            }
            None if selected.is_empty() => {
                problems.error(place, "selects no vertex of this cloth; move or enlarge the region");
            }
            None if selected.len() == count && !is_meant_for_all(&pin.selection) => {
                let message = "selects every vertex: the mesh is flat that way before it is rotated; \
                               say \"all\" if this is meant";
                problems.warning(place, message);
            }
            None => {}
        }
        selected
    };
    cloth.pins.iter().enumerate().map(select).collect()
}

/// Whether a selection says what it does when it selects every vertex.
fn is_meant_for_all(selection: &Selection) -> bool {
    !matches!(selection, Selection::Named(name) if *name != Select::All && *name != Select::Corners)
}

/// The vertices of a cloth that a selection names; `placed` is where they are at the start, in m.
fn select(selection: &Selection, start: &[[f64; 3]], placed: &[Vec3<f64>]) -> Vec<u32> {
    let all = 0..start.len() as u32;
    match selection {
        Selection::Vertices(list) => list.clone(),
        Selection::Named(name) => select_named(*name, start),
        Selection::Sphere { center, radius } => {
            let center = Vec3::from(*center);
            all.filter(|&v| (placed[v as usize] - center).norm() <= *radius).collect()
        }
        Selection::Box { min, max } => {
            let inside = |p: Vec3<f64>| (0..3).all(|i| (min[i]..=max[i]).contains(&p.to_array()[i]));
            all.filter(|&v| inside(placed[v as usize])).collect()
        }
    }
}

fn select_named(name: Select, start: &[[f64; 3]]) -> Vec<u32> {
    let Some(bounds) = Bounds::of(start) else { return Vec::new() };
    let extent = (0..3).map(|i| bounds.max[i] - bounds.min[i]).fold(0.0, f64::max);
    // Meshes from files carry rounding; a millionth of the cloth is far below any cell.
    let near = |axis: usize, value: f64| {
        let at = move |v: &u32| (start[*v as usize][axis] - value).abs() <= 1e-6 * extent;
        (0..start.len() as u32).filter(at).collect()
    };
    match name {
        Select::XMin => near(0, bounds.min[0]),
        Select::XMax => near(0, bounds.max[0]),
        Select::YMin => near(1, bounds.min[1]),
        Select::YMax => near(1, bounds.max[1]),
        Select::ZMin => near(2, bounds.min[2]),
        Select::ZMax => near(2, bounds.max[2]),
        Select::Corners => corners(start, &bounds),
        Select::All => (0..start.len() as u32).collect(),
    }
}

/// The vertices nearest to the four corners of the box around the mesh, seen from above.
fn corners(start: &[[f64; 3]], bounds: &Bounds) -> Vec<u32> {
    let nearest = |x: f64, z: f64| {
        let distance = |p: &[f64; 3]| (p[0] - x) * (p[0] - x) + (p[2] - z) * (p[2] - z);
        let order = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
        start.iter().map(distance).enumerate().min_by(order).map(|(v, _)| v as u32)
    };
    let (x, z) = ([bounds.min[0], bounds.max[0]], [bounds.min[2], bounds.max[2]]);
    let mut corners: Vec<u32> =
        [(0, 0), (1, 0), (0, 1), (1, 1)].iter().filter_map(|&(i, j)| nearest(x[i], z[j])).collect();
    corners.sort_unstable();
    corners.dedup();
    corners
}
