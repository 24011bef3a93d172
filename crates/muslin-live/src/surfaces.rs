//! Surfaces of the colliders that are no meshes, for drawing: triangles in their initial state.

use muslin::model::Model;
use muslin::shape::{HalfSpace, Tessellation};
use serde_json::{Value, json};

use crate::buffer::Numbers;
use crate::live::Sections;

/// Which collider has which vertices and triangles, or is a half space; and the numbers, those of all colliders one after the other.
pub(crate) fn of_colliders(model: &Model) -> (Value, Sections) {
    let (mut told, mut all) = (Vec::new(), Tessellation::default());
    for collider in &model.colliders {
        if let Some(HalfSpace { point, normal }) = collider.shape.half_space() {
            let plane = json!({ "point": point.to_array(), "normal": normal.to_array() });
            told.push(json!({ "collider": collider.index, "half_space": plane }));
            continue;
        }
        let own = collider.shape.tessellation();
        told.push(json!({
            "collider": collider.index,
            "first": all.positions.len(),
            "vertices": own.positions.len(),
            "first_triangle": all.triangles.len(),
            "triangles": own.triangles.len(),
        }));
        all.positions.extend(own.positions);
        all.normals.extend(own.normals);
        // Each surface counts its own vertices from 0.
        all.triangles.extend(own.triangles);
    }
    let single = |vectors: &[[f64; 3]]| Numbers::Floats(vectors.iter().flatten().map(|&x| x as f32).collect());
    let sections = vec![
        ("surface_positions", single(&all.positions)),
        ("surface_normals", single(&all.normals)),
        ("surface_triangles", Numbers::Indices(all.triangles.into_flattened())),
    ];
    (told.into(), sections)
}
