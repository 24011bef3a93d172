//! How well the seams of a run are closed.

use muslin::math::Vec3;
use muslin::model::{Cloth, Model, edge_strain};

use super::report::SeamRecord;

/// The seams of all cloths, with the vertices of the state at `positions`, in m.
pub(super) fn measure(model: &Model, positions: &[Vec3<f64>]) -> Vec<SeamRecord> {
    if model.cloths.iter().all(|cloth| cloth.mesh.seams.is_empty()) {
        return Vec::new();
    }
    // The largest strain of the edges of each vertex.
    let mut strains = vec![0.0_f64; positions.len()];
    for &(edge, rest) in &model.edges {
        let strain = edge_strain(positions, edge, rest);
        edge.iter().for_each(|&v| strains[v as usize] = strains[v as usize].max(strain));
    }
    model.cloths.iter().flat_map(|cloth| measure_cloth(cloth, positions, &strains)).collect()
}

fn measure_cloth(cloth: &Cloth, positions: &[Vec3<f64>], strains: &[f64]) -> Vec<SeamRecord> {
    let in_state = |v: &u32| cloth.vertices.start + cloth.ordering.new_from_old[*v as usize] as usize;
    let measure = |seam: &muslin::mesh::Seam| {
        let pairs = seam.sides[0].iter().map(in_state).zip(seam.sides[1].iter().map(in_state));
        let (mut gap, mut max_strain) = (0.0_f64, 0.0_f64);
        for (a, b) in pairs {
            gap = gap.max((positions[a] - positions[b]).norm());
            max_strain = max_strain.max(strains[a]).max(strains[b]);
        }
        SeamRecord { cloth: cloth.name.clone(), name: seam.name.clone(), gap, max_strain }
    };
    cloth.mesh.seams.iter().map(measure).collect()
}
