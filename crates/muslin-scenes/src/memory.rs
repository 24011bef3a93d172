//! Whether there is as much memory as a scene takes.

use muslin::mesh::{Diagonals, MAX_GRID_VERTICES};
use muslin::model::Problem;
use muslin::output::memory::{ELEMENT_BYTES, VERTEX_BYTES};
use muslin::scene::{ClothShape, ColliderShape, Scene, Severity};

/// Bytes of a vertex with its elements, before there is a mesh: a vertex has about three edges and three hinges. With `spring` and `isometric` two
/// million vertices were measured at 1036 bytes each.
const BYTES_BEFORE: f64 = (VERTEX_BYTES + 6 * ELEMENT_BYTES) as f64;
/// Tells how many bytes a file has that a scene names, if it is there.
pub type Length<'a> = &'a dyn Fn(&str) -> Option<u64>;

/// Bytes of an OBJ file for a vertex, its two triangles included: few files have less.
const OBJ_BYTES: f64 = 30.0;

/// Says so if a scene takes more than is `available`, in bytes, at its largest cloth. To be asked before any mesh is made: a process that runs
/// out of memory ends without a word.
pub fn shortage(scene: &Scene, length: Length<'_>, available: usize) -> Option<Problem> {
    let counts: Vec<f64> = scene.cloths.iter().map(|cloth| vertices(&cloth.shape, length)).collect();
    let bodies = scene.colliders.iter().filter_map(|collider| match &collider.shape {
        ColliderShape::Mesh(mesh) => length(&mesh.file).map(|bytes| bytes as f64 / OBJ_BYTES),
        _ => None,
    });
    let total = counts.iter().sum::<f64>() + bodies.sum::<f64>();
    let needed = BYTES_BEFORE * total;
    if needed <= available as f64 || counts.iter().any(|&count| count > f64::from(MAX_GRID_VERTICES)) {
        return None; // what no machine could hold, the library refuses
    }
    let (largest, _) = counts.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    let (key, remedy) = match scene.cloths[largest].shape {
        ClothShape::Grid { .. } => ("grid", "use fewer cells"),
        ClothShape::Tube { .. } => ("tube", "use fewer cells"),
        ClothShape::Pattern { .. } => ("resolution", "use longer edges"),
        ClothShape::Mesh { .. } | ClothShape::Given(_) => ("mesh", "use a coarser mesh"),
    };
    let together = if counts.len() > 1 { "the cloths together have" } else { "it has" };
    let message = format!(
        "{together} about {}, which take about {} of memory, but {} are free; {remedy}, or a machine with more memory",
        vertices_in_words(total),
        in_words(needed as usize),
        in_words(available)
    );
    Some(Problem { severity: Severity::Error, place: format!("cloth[{largest}].{key}"), message })
}

/// About how many vertices a shape will have; none for a file that cannot be read, which is told later.
fn vertices(shape: &ClothShape, length: Length<'_>) -> f64 {
    match shape {
        ClothShape::Grid { size, cells, diagonals } => {
            let [cx, cz] = cells.map(f64::from);
            match diagonals {
                Diagonals::Crossed => (cx + 1.0) * (cz + 1.0) + cx * cz,
                // Rows are lower than the edges are long, by the height of an equilateral triangle.
                Diagonals::Isotropic => (cx + 1.5) * (cx * size[1] / size[0] / 0.75_f64.sqrt() + 1.0),
                _ => (cx + 1.0) * (cz + 1.0),
            }
        }
        ClothShape::Tube { cells: [around, along], .. } => f64::from(*around) * (f64::from(*along) + 1.0),
        ClothShape::Mesh { file } => length(file).map_or(0.0, |bytes| bytes as f64 / OBJ_BYTES),
        // The reader of patterns has a limit of its own.
        ClothShape::Pattern { .. } => 0.0,
        ClothShape::Given(mesh) => mesh.vertex_count() as f64,
    }
}

/// `16 million vertices`.
fn vertices_in_words(count: f64) -> String {
    if count < 1e6 { format!("{count:.0} vertices") } else { format!("{:.1} million vertices", 1e-6 * count) }
}

/// `120 MB`.
pub fn in_words(bytes: usize) -> String {
    // Wider than the addresses of WebAssembly.
    match bytes as u64 {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        1_000_000..10_000_000_000 => format!("{} MB", bytes.div_ceil(1_000_000)),
        _ => format!("{} GB", bytes.div_ceil(1_000_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use muslin::mesh::Mesh;
    use muslin::scene::parse;

    use super::*;

    #[test]
    fn vertices_are_counted_before_there_is_a_mesh() {
        let count = |shape: &ClothShape| match *shape {
            ClothShape::Grid { size, cells, diagonals } => Mesh::grid(size, cells, diagonals).unwrap().vertex_count(),
            ClothShape::Tube { radius, height, cells } => Mesh::tube(radius, height, cells).unwrap().vertex_count(),
            _ => unreachable!(),
        };
        for diagonals in [Diagonals::Alternating, Diagonals::Crossed, Diagonals::Isotropic] {
            let shape = ClothShape::Grid { size: [1.0, 2.5], cells: [40, 100], diagonals };
            let (expected, found) = (count(&shape) as f64, vertices(&shape, &|_| None));
            assert!((found / expected - 1.0).abs() < 0.02, "{diagonals:?}: {found}, not {expected}");
        }
        let tube = ClothShape::Tube { radius: 1.0, height: 1.0, cells: [12, 7] };
        assert_eq!(vertices(&tube, &|_| None), count(&tube) as f64);
        assert_eq!(vertices(&ClothShape::Mesh { file: "nowhere.obj".into() }, &|_| None), 0.0);
    }

    #[test]
    fn a_scene_too_large_for_the_machine_is_told_at_its_largest_cloth() {
        let text = "[[cloth]]\nname = 'a'\ngrid = { size = [1, 1], cells = [9, 9] }\n\
                    [[cloth]]\nname = 'b'\ngrid = { size = [1, 1], cells = [1999, 999] }\n";
        let scene = parse(text, &[]).scene.unwrap();
        assert_eq!(shortage(&scene, &|_| None, 2_100_000_000), None);
        let problem = shortage(&scene, &|_| None, 1_000_000_000).unwrap();
        assert_eq!(
            problem.to_string(),
            "cloth[1].grid: the cloths together have about 2.0 million vertices, which take about 2041 MB of memory, \
             but 1000 MB are free; use fewer cells, or a machine with more memory"
        );
    }
}
