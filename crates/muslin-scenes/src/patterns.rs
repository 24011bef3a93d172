//! Sewing patterns as the cloth of a scene: meshed, placed around the bodies of the scene, seams closed.

use muslin::math::{Mat3, Vec3};
use muslin::mesh::{Group, Mesh, Seam, Uv};
use muslin::scene::{BodyMesh, Cloth, ClothShape, ColliderShape, Scene};
use muslin_pattern::{BUILT_IN, Body, Limits, Pattern, Sewn, Standing};

/// The largest ratio of two edges that are sewn together: cloth that is gathered more is a mistake of units.
pub(crate) const MOST_GATHER: f64 = 3.0;
/// How far beyond the thickness of contact panels are kept from bodies at the start, in m.
const CLEARANCE: f64 = 4e-3;

/// A pattern that comes with the program, as a file.
pub fn built_in(name: &str) -> Option<&'static str> {
    let stem = name.strip_suffix(".json").unwrap_or(name);
    BUILT_IN.iter().find(|pattern| pattern.name == stem).map(|pattern| pattern.json)
}

/// The names of the patterns that come with the program.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|pattern| pattern.name)
}

/// The pattern of a file as it lies flat, as SVG.
pub fn svg(text: &str) -> Result<String, String> {
    let reading = Pattern::from_json(text, &Limits { gather: MOST_GATHER }).map_err(|error| error.to_string())?;
    Ok(reading.pattern.to_svg())
}

/// What a scene says of the cloth of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sewing {
    /// `cloth[0]` and so on.
    pub(crate) place: String,
    resolution: f64,
    /// From the axes of the cloth to those of the scene: turned, scaled, then moved.
    turn: [f64; 3],
    scale: f64,
    shift: [f64; 3],
    clearance: f64,
    pub(crate) bodies: Vec<BodyMesh>,
}

impl Sewing {
    /// All of a scene, with the files of their patterns.
    pub(crate) fn of(scene: &Scene) -> Vec<(String, Self)> {
        let mesh = |shape: &ColliderShape| match shape {
            ColliderShape::Mesh(body) => Some(body.clone()),
            _ => None,
        };
        let bodies: Vec<BodyMesh> = scene.colliders.iter().filter_map(|collider| mesh(&collider.shape)).collect();
        let sewing = |(index, cloth): (usize, &Cloth)| match &cloth.shape {
            ClothShape::Pattern { file, resolution } => Some((
                file.clone(),
                Self {
                    place: format!("cloth[{index}]"),
                    resolution: *resolution,
                    turn: cloth.rotate,
                    scale: cloth.scale,
                    shift: cloth.translate,
                    clearance: scene.contact.thickness + CLEARANCE,
                    bodies: bodies.clone(),
                },
            )),
            _ => None,
        };
        scene.cloths.iter().enumerate().filter_map(sewing).collect()
    }

    /// The cloth, with what somebody should look at. `bodies` are those of the scene at time zero, before they are placed.
    pub(crate) fn sew(&self, text: &str, bodies: &[Mesh]) -> Result<(Mesh, Vec<String>), String> {
        let reading = Pattern::from_json(text, &Limits { gather: MOST_GATHER }).map_err(|error| error.to_string())?;
        let mut notes: Vec<String> = reading.warnings.iter().map(ToString::to_string).collect();
        let mesh = reading.pattern.mesh(self.resolution).map_err(|error| error.to_string())?;
        let mut garment = reading.pattern.assemble(&mesh);
        let (positions, triangles) = self.bodies_in_axes_of_cloth(bodies);
        let standing = self.figure(bodies).and_then(|points| Standing::of(&points));
        let limbs = standing.map_or_else(Vec::new, |standing| standing.limbs);
        let body = Body { positions: &positions, triangles: &triangles, limbs: &limbs };
        reading.pattern.wrap(&mut garment, &body, self.clearance);
        let sewn = garment.sewn((!triangles.is_empty()).then_some((&body, self.clearance)));
        let twisted = sewn.twisted();
        if !twisted.is_empty() {
            let seams = twisted.join(", ");
            return Err(format!(
                "sewn like this, one side of a seam faces inwards and the other outwards: {seams}; sew another edge there, or add \"right_wrong\" to a stitch of these, or leave it out"
            ));
        }
        if sewn.blocked > 0 {
            notes.push(format!(
                "{} vertices of seams start inside of a body: no way around it was found; move the pattern or the body",
                sewn.blocked
            ));
        }
        Ok((mesh_of(sewn), notes))
    }

    fn bodies_in_axes_of_cloth(&self, meshes: &[Mesh]) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for (body, mesh) in self.bodies.iter().zip(meshes) {
            let first = positions.len() as u32;
            positions.extend(mesh.positions.iter().map(|&p| self.placed(body, p)));
            triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| first + v)));
        }
        (positions, triangles)
    }

    /// The points of the highest of the bodies: of a person and not of the floor.
    fn figure(&self, meshes: &[Mesh]) -> Option<Vec<[f64; 3]>> {
        let placed = self.bodies.iter().zip(meshes);
        let placed = placed.map(|(body, mesh)| mesh.positions.iter().map(|&p| self.placed(body, p)).collect());
        let height = |points: &Vec<[f64; 3]>| {
            let low = points.iter().map(|p| p[1]).fold(f64::INFINITY, f64::min);
            points.iter().map(|p| p[1]).fold(f64::NEG_INFINITY, f64::max) - low
        };
        placed.max_by(|a, b| height(a).total_cmp(&height(b)))
    }

    /// A point of a body in the axes of the pattern.
    fn placed(&self, body: &BodyMesh, p: [f64; 3]) -> [f64; 3] {
        let world = Mat3::from_degrees_xyz(body.rotate).apply(Vec3::from(p) * body.scale) + Vec3::from(body.translate);
        let back = Mat3::from_degrees_xyz(self.turn).transposed();
        (back.apply(world - Vec3::from(self.shift)) * (1.0 / self.scale)).to_array()
    }
}

fn mesh_of(sewn: Sewn) -> Mesh {
    let group = |panel: &muslin_pattern::PanelGroup| Group {
        name: panel.name.clone(),
        triangles: panel.triangles.clone().collect(),
    };
    let seam = |seam: muslin_pattern::Seam| Seam {
        name: seam.name,
        sides: seam.chains.map(|chain| chain.iter().map(|&v| sewn.vertices[v as usize]).collect()),
    };
    let seams = sewn.seams.iter().cloned().map(seam).collect();
    Mesh {
        groups: sewn.panels.iter().map(group).collect(),
        positions: sewn.positions,
        triangles: sewn.triangles,
        uv: Some(Uv { coordinates: sewn.uv, triangles: sewn.uv_triangles }),
        flat: None,
        seams,
    }
}
