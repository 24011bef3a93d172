//! Makes a model of a description, one cloth after the other.

use std::ops::Range;

use crate::contact::collider::Collider;
use crate::contact::collider::mesh as collider_mesh;
use crate::contact::collider::mesh::Body;
use crate::contact::geometry::surface::Surface;
use crate::description;
use crate::description::{Choice, ClothShape, LoadFrames, LoadMesh, Material, Problem, Problems, RestShape, Scene};
use crate::energy;
use crate::energy::stretch::shape_matching;
use crate::energy::stretch::shape_matching::Matching;
use crate::energy::{EnergyKind, Sink, Site};
use crate::force::Wind;
use crate::math::{Mat3, Vec3};
use crate::mesh;
use crate::mesh::{Mesh, Welded};
use crate::model::selection::select_pins;
use crate::model::{Cloth, ContactEdges, Model, Pin, Pinned, SelfContact, warnings};
use crate::motion::Motion;
use crate::parallel::ColoredStencils;
use crate::topology::{Adjacency, Ordering, Topology, color, locality_order};

/// A body is fine if it bends more sharply than this many edges: then its surface leaves a chord between two vertices
/// by more than a sixteenth of the edge (chord²/8r).
const FINE: f64 = 2.0;

impl Model {
    /// One without cloths and bodies that are meshes.
    pub(crate) fn empty(scene: &Scene) -> Self {
        Self {
            cloths: Vec::new(),
            matchings: Vec::new(),
            masses: Vec::new(),
            inverse_masses: Vec::new(),
            initial_positions: Vec::new(),
            pins: Vec::new(),
            pinned: Vec::new(),
            triangles: Vec::new(),
            vertex_triangles: Adjacency::default(),
            edges: Vec::new(),
            colliders: scene.colliders.iter().enumerate().filter_map(|(i, c)| Collider::new(i, c)).collect(),
            bodies: Vec::new(),
            contact_edges: ContactEdges::default(),
            self_contact: scene
                .contact
                .self_contact
                .then(|| SelfContact { friction: scene.contact.friction, rest: Vec::new() }),
            gravity: scene.gravity.into(),
            forces: Vec::new(),
            wind: Wind::new(&scene.wind),
            thickness: scene.contact.thickness,
            surface: Surface::default(),
            is_tangled: false,
            sewn_by: scene.cloths.iter().filter_map(|cloth| cloth.close_by).fold(0.0, f64::max),
            settled_by: scene.cloths.iter().filter_map(|cloth| cloth.settle_by.or(cloth.close_by)).fold(0.0, f64::max),
        }
    }

    /// Adds a cloth of the rest shape `mesh` to one of `vertex_count` vertices in all, and hands its elements to `sink`.
    pub(crate) fn add_cloth(
        &mut self,
        (index, cloth): (usize, &description::Cloth),
        ClothMesh { mesh, start }: ClothMesh,
        vertex_count: usize,
        sink: &mut impl Sink,
        problems: &mut Problems,
    ) {
        let placed = place_mesh(cloth, &start);
        let pins = select_pins(cloth, &start, &placed, index, problems);
        let topology = Topology::build(&mesh);
        let ordering = locality_order(&topology.vertex_neighbors);
        let (ordered, topology) = if ordering.is_identity() {
            (mesh.clone(), topology)
        } else {
            let ordered = ordering.apply(&mesh);
            let topology = Topology::build(&ordered);
            (ordered, topology)
        };
        let first = self.masses.len();

        let masses = ordered.lumped_masses(cloth.material.density);
        let mass = masses.iter().sum();
        self.inverse_masses.extend(masses.iter().map(|&m| if m > 0.0 { 1.0 / m } else { 0.0 }));
        self.masses.extend(masses);
        self.initial_positions.extend(ordering.reordered(&placed));
        if let Some(contact) = &mut self.self_contact {
            contact.rest.extend(ordering.reordered(&start).iter().map(|x| Vec3::from(*x)));
        }

        warnings::warn_of_shared_vertices(index, &pins, mesh.vertex_count(), problems);
        let first_pin = self.pins.len();
        let clamped = self.add_pins(cloth, pins, &placed, &ordering);
        let site =
            Site { mesh: &ordered, topology: &topology, clamped: &clamped, first_vertex: first as u32, vertex_count };
        warnings::warn_if_flattened(index, cloth, &site, problems);
        let first_term = sink.count();
        refuse_settings(
            &format!("cloth[{index}].material.stretch"),
            energy::STRETCH,
            &cloth.material.stretch,
            problems,
        );
        refuse_settings(&format!("cloth[{index}].material.bend"), energy::BEND, &cloth.material.bend, problems);
        assemble(&cloth.material, &site, sink);
        if cloth.material.stretch.entry.name == shape_matching::NAME {
            self.matchings.push(Matching::new(&cloth.material.stretch.settings, &site));
        }
        self.vertex_triangles.append(&topology.vertex_triangles, self.triangles.len() as u32);
        self.triangles.extend(ordered.triangles.iter().map(|&t| site.stencil(t)));
        self.edges
            .extend(topology.edges.iter().enumerate().map(|(e, &edge)| (site.stencil(edge), site.edge_length(e))));
        self.cloths.push(Cloth {
            name: cloth.name.clone(),
            vertices: first..first + mesh.vertex_count(),
            terms: first_term..sink.count(),
            edge_count: topology.edges.len(),
            hinge_count: topology.hinges.len(),
            mass,
            damping: cloth.material.damping,
            velocity: cloth.velocity.into(),
            stiffness: least_stiffness(&cloth.material.stretch),
            slack: cloth.material.stretch.settings.number("slack").unwrap_or(0.0),
            pins: first_pin..first_pin + cloth.pins.len(),
            clamped,
            ordering,
            mesh,
            start,
        });
    }

    /// Hands the elements of a cloth to `sink` anew, of other materials that were checked, and gives the terms that they stand for.
    pub(crate) fn reassemble(&mut self, index: usize, materials: &[Material], sink: &mut impl Sink) -> Range<usize> {
        let is_matched = |material: &Material| material.stretch.entry.name == shape_matching::NAME;
        let (material, vertex_count) = (&materials[index], self.masses.len());
        let cloth = &mut self.cloths[index];
        let mesh = cloth.ordering.apply(&cloth.mesh);
        let topology = Topology::build(&mesh);
        let first_vertex = cloth.vertices.start as u32;
        let site = Site { mesh: &mesh, topology: &topology, clamped: &cloth.clamped, first_vertex, vertex_count };
        let first = sink.count();
        assemble(material, &site, sink);
        // Of the matched cloths this one has the place after those before it.
        let others = materials.iter().enumerate().filter(|(i, other)| *i != index && is_matched(other)).count();
        let at = materials[..index].iter().filter(|other| is_matched(other)).count();
        let had = self.matchings.len() - others;
        let matching = is_matched(material).then(|| Matching::new(&material.stretch.settings, &site));
        self.matchings.splice(at..at + had, matching);
        let stretch = &material.stretch;
        (cloth.stiffness, cloth.slack) = (least_stiffness(stretch), stretch.settings.number("slack").unwrap_or(0.0));
        let (old, count) = (cloth.terms.clone(), sink.count() - first);
        cloth.terms = old.start..old.start + count;
        for cloth in &mut self.cloths[index + 1..] {
            let start = cloth.terms.start - old.len() + count;
            cloth.terms = start..start + cloth.terms.len();
        }
        old
    }

    /// Adds the pins of the cloth that was added last; `selected` are their vertices, as the user numbers them.
    /// Returns, for each vertex of the cloth, whether it is held for the whole run.
    fn add_pins(
        &mut self,
        cloth: &description::Cloth,
        selected: Vec<Vec<u32>>,
        placed: &[Vec3<f64>],
        ordering: &Ordering,
    ) -> Vec<bool> {
        let first = self.masses.len() - placed.len();
        let mut clamped = vec![false; placed.len()];
        let mut pin_of_vertex = vec![None; placed.len()];
        for (pin, selected) in cloth.pins.iter().zip(selected) {
            let center = centroid(selected.iter().map(|&v| placed[v as usize]));
            for v in selected {
                let new = ordering.new_from_old[v as usize] as usize;
                // The first pin that names a vertex keeps it.
                if pin_of_vertex[new].is_none() {
                    pin_of_vertex[new] = Some(self.pins.len() as u32);
                    clamped[new] = pin.until.is_none();
                }
            }
            self.pins.push(Pin { motion: Motion::new(&pin.path, center), until: pin.until });
        }
        // A vertex of no triangle has no mass, so nothing could move it: it stays.
        if self.masses[first..].contains(&0.0) {
            let still = self.pins.len() as u32;
            self.pins.push(Pin { motion: Motion::new(&description::Path::still(), Vec3::ZERO), until: None });
            let massless = self.masses[first..].iter().zip(&mut pin_of_vertex).filter(|(mass, _)| **mass == 0.0);
            massless.for_each(|(_, pin)| *pin = Some(still));
        }
        let held = |(pin, vertex): (&Option<u32>, u32)| pin.map(|pin| Pinned { vertex, pin });
        self.pinned.extend(pin_of_vertex.iter().zip(first as u32..).filter_map(held));
        clamped
    }

    /// Marks the bodies that are fine compared with the cloth, and lists its edges if there are any.
    pub(crate) fn find_contact_edges(&mut self) {
        let longest = self.edges.iter().map(|&(_, rest)| rest).fold(0.0, f64::max);
        for collider in &mut self.colliders {
            collider.is_fine = collider.shape.smallest_radius() < FINE * longest;
        }
        if self.colliders.iter().any(|collider| collider.is_fine) {
            let stencils: Vec<[u32; 2]> = self.edges.iter().map(|&(stencil, _)| stencil).collect();
            let coloring = color(&stencils, self.masses.len());
            let stencils = coloring.order.iter().map(|&e| stencils[e as usize]).collect();
            let stencils = ColoredStencils::new(stencils, coloring.ranges, self.masses.len());
            self.contact_edges = ContactEdges { stencils, reach: longest };
        }
    }

    /// The vertices of each pin of a cloth, as the user numbers them, with their centre at the start, in m; `cloth` describes the one at `index`.
    pub fn pin_vertices(&self, index: usize, cloth: &description::Cloth) -> Vec<(Vec<u32>, [f64; 3])> {
        let start = &self.cloths[index].start;
        let placed = place_mesh(cloth, start);
        let center = |pin: &Vec<u32>| centroid(pin.iter().map(|&v| placed[v as usize])).to_array();
        let pins = select_pins(cloth, start, &placed, index, &mut Problems::default());
        pins.into_iter()
            .map(|pin| {
                let center = center(&pin);
                (pin, center)
            })
            .collect()
    }
}

/// The mesh of a cloth, scaled and checked, and where its vertices are at the start before it is placed, in m.
pub(crate) struct ClothMesh {
    pub(crate) mesh: Mesh,
    start: Vec<[f64; 3]>,
}

/// Reads the meshes of a scene, those of the cloths and the bodies; `None` where one is broken, and reported.
pub(crate) fn load_meshes(
    scene: &Scene,
    load: &mut LoadMesh<'_>,
    load_frames: &mut LoadFrames<'_>,
    problems: &mut Problems,
) -> Option<(Vec<ClothMesh>, Vec<Body>)> {
    let meshes: Vec<Option<ClothMesh>> = scene
        .cloths
        .iter()
        .enumerate()
        .map(|(i, cloth)| cloth_mesh(cloth, &format!("cloth[{i}]"), load, problems))
        .collect();
    let bodies = collider_mesh::load(scene, load, load_frames, problems);
    let sizes = meshes.iter().map(|m| m.as_ref().map_or(0, |m| m.start.len()));
    let vertex_count = sizes.sum::<usize>();
    if u32::try_from(vertex_count).is_err() {
        problems.error("cloth", format!("the cloths have {vertex_count} vertices together; the limit is 2³² − 1"));
    }
    collider_mesh::refuse_too_many(&bodies, vertex_count, problems);
    if problems.any_error() {
        // Pins of the cloths that did load are still checked, so that one look shows everything.
        for (i, (cloth, mesh)) in scene.cloths.iter().zip(&meshes).enumerate() {
            if let Some(ClothMesh { start, .. }) = mesh {
                select_pins(cloth, start, &place_mesh(cloth, start), i, problems);
            }
        }
        return None;
    }
    Some((meshes.into_iter().flatten().collect(), bodies))
}

/// The mesh of a cloth with its rest shape.
fn cloth_mesh(
    cloth: &description::Cloth,
    place: &str,
    load: &mut LoadMesh<'_>,
    problems: &mut Problems,
) -> Option<ClothMesh> {
    let Welded { mut mesh, new_from_old } = start_mesh(cloth, place, load, problems)?;
    let start = mesh.positions.clone();
    let rest = match &cloth.rest {
        RestShape::Mesh => return Some(ClothMesh { mesh, start }),
        RestShape::Uv { scale } => {
            let is_pattern = matches!(cloth.shape, ClothShape::Pattern { .. });
            lay_flat(&mut mesh, if is_pattern { scale * cloth.scale } else { *scale })
        }
        RestShape::File(file) => load(file).and_then(|rest| take_shape(&mut mesh, &rest, &new_from_old, cloth.scale)),
        RestShape::Given(positions) => {
            let rest = Mesh { positions: positions.to_vec(), ..mesh.clone() };
            take_shape(&mut mesh, &rest, &new_from_old, cloth.scale)
        }
    };
    let place = format!("{place}.rest");
    rest.map_err(|message| problems.error(&place, message)).ok()?;
    let findings = mesh::check(&mesh);
    if findings.iter().any(|f| f.severity == mesh::Severity::Error) {
        findings
            .into_iter()
            .filter(|f| f.severity == mesh::Severity::Error)
            .for_each(|f| problems.error(&place, format!("{} in the rest shape", f.kind)));
        return None;
    }
    if cloth.close_by.is_none() {
        warn_of_other_size(&place, cloth, &mesh, &start, problems);
    }
    Some(ClothMesh { mesh, start })
}

/// Gives each triangle the rest shape that it has in the texture, one unit of which is `scale` metres.
fn lay_flat(mesh: &mut Mesh, scale: f64) -> Result<(), String> {
    let Some(uv) = &mesh.uv else {
        return Err(
            "rest = \"uv\" takes the rest shape from texture coordinates, and the mesh has none; export it with them"
                .to_owned(),
        );
    };
    let corner = |index: &u32| uv.coordinates[*index as usize].map(|x| x * scale);
    mesh.flat = Some(uv.triangles.iter().map(|t| [corner(&t[0]), corner(&t[1]), corner(&t[2])]).collect());
    Ok(())
}

/// Gives a mesh the rest shape of another one, scaled, of which `new_from_old` tells the vertices that were made one. Where these are at several places at rest, as along the
/// seams of pieces that lie side by side, each triangle has its own.
fn take_shape(mesh: &mut Mesh, rest: &Mesh, new_from_old: &[u32], scale: f64) -> Result<(), String> {
    let (vertices, triangles) = (rest.vertex_count(), rest.triangle_count());
    if (vertices, triangles) != (new_from_old.len(), mesh.triangle_count()) {
        return Err(format!(
            "the rest shape has {vertices} vertices and {triangles} triangles, but the mesh has {} and {}; both need the same triangles",
            new_from_old.len(),
            mesh.triangle_count()
        ));
    }
    let renumbered = |triangle: &[u32; 3]| triangle.map(|v| new_from_old.get(v as usize).copied().unwrap_or(u32::MAX));
    let differs = |(rest, own): (&[u32; 3], &[u32; 3])| renumbered(rest) != *own;
    if let Some(triangle) = rest.triangles.iter().zip(&mesh.triangles).position(differs) {
        return Err(format!(
            "triangle {triangle} joins other vertices in the rest shape, {:?}, than in the mesh; both need the same triangles in the same order",
            rest.triangles[triangle]
        ));
    }
    let scaled = |p: &[f64; 3]| p.map(|x| x * scale);
    let mut places: Vec<Option<[f64; 3]>> = vec![None; mesh.vertex_count()];
    let mut is_cut = false;
    for (p, &new) in rest.positions.iter().zip(new_from_old) {
        is_cut |= *places[new as usize].get_or_insert(scaled(p)) != scaled(p);
    }
    if is_cut {
        let laid = |corners: &[u32; 3]| lay_down(corners.map(|v| scaled(&rest.positions[v as usize]).into()));
        mesh.flat = Some(rest.triangles.iter().map(laid).collect());
    } else {
        mesh.positions.iter_mut().zip(places).for_each(|(p, place)| *p = place.unwrap_or(*p));
    }
    Ok(())
}

/// A triangle in its own plane, its first corner at the origin and its first edge along x.
fn lay_down([a, b, c]: [Vec3<f64>; 3]) -> [[f64; 2]; 3] {
    let (e, arm) = (b - a, c - a);
    let length = e.norm();
    [[0.0; 2], [length, 0.0], [arm.dot(e) / length, e.cross(arm).norm() / length]]
}

/// A rest shape of another size is more often one in other units than cloth that is to shrink.
fn warn_of_other_size(
    place: &str,
    cloth: &description::Cloth,
    mesh: &Mesh,
    start: &[[f64; 3]],
    problems: &mut Problems,
) {
    /// Ratio of areas, either way.
    const MUCH: f64 = 2.0;
    let shape = Mesh { positions: start.to_vec(), flat: None, ..mesh.clone() };
    let (rest, start) = (mesh.total_area(), shape.total_area());
    if rest > MUCH * start || start > MUCH * rest {
        let cure = match &cloth.rest {
            RestShape::Uv { scale } => format!("uv_scale = {:.3} makes them equal", scale * (start / rest).sqrt()),
            _ => "give both in one unit".to_owned(),
        };
        let message = format!("has {rest:.3} m², but the cloth starts with {start:.3} m², and will jump; {cure}");
        problems.warning(place, message);
    }
}

/// The mesh of a cloth at the start, scaled and checked.
fn start_mesh(
    cloth: &description::Cloth,
    place: &str,
    load: &mut LoadMesh<'_>,
    problems: &mut Problems,
) -> Option<Welded> {
    let (mesh, key) = match &cloth.shape {
        ClothShape::Grid { size, cells, diagonals } => {
            (Mesh::grid(*size, *cells, *diagonals).map_err(|e| e.to_string()), "grid")
        }
        ClothShape::Tube { radius, height, cells } => {
            (Mesh::tube(*radius, *height, *cells).map_err(|e| e.to_string()), "tube")
        }
        ClothShape::Mesh { file } => (load(file), "mesh"),
        // The same pattern may be another cloth: of another resolution, around another body.
        ClothShape::Pattern { file, .. } => (load(&format!("{file}#{place}")), "pattern"),
        ClothShape::Given(mesh) => (Ok(Mesh::clone(mesh)), "mesh"),
    };
    let place = format!("{place}.{key}");
    let mut mesh = mesh.map_err(|message| problems.error(&place, message)).ok()?;
    for p in &mut mesh.positions {
        *p = p.map(|x| x * cloth.scale);
    }
    let is_glb = |file: &str| file.to_ascii_lowercase().ends_with(".glb");
    let repeats = matches!(&cloth.shape, ClothShape::Mesh { file } if is_glb(file));
    let mut welded = match cloth.weld.or(repeats.then_some(0.0)) {
        Some(distance) => mesh::weld(&mesh, distance),
        None => {
            if matches!(cloth.shape, ClothShape::Mesh { .. } | ClothShape::Given(_)) {
                warn_of_parts(&place, &mesh, problems);
            }
            Welded { new_from_old: (0..mesh.vertex_count() as u32).collect(), mesh }
        }
    };
    let mesh = &mut welded.mesh;
    if cloth.repair {
        match mesh::repair(mesh) {
            Ok(repaired) => {
                for note in repaired.notes {
                    problems.warning(&place, note);
                }
                *mesh = repaired.mesh;
            }
            Err(findings) => {
                report_findings(&place, &findings, problems);
                return None;
            }
        }
    }
    let findings = mesh::check(mesh);
    report_findings(&place, &findings, problems);
    let broken = findings.iter().any(|f| f.severity == mesh::Severity::Error);
    (!broken).then_some(welded)
}

/// Cloth that is open where two vertices are at one place falls to pieces there.
fn warn_of_parts(place: &str, mesh: &Mesh, problems: &mut Problems) {
    /// A garment has some parts, buttons among them, and not more.
    const MANY: usize = 50;
    let sewn = mesh::weld(mesh, 0.0).mesh;
    let repeated = mesh.vertex_count() - sewn.vertex_count();
    let (parts, sewn_parts) = (mesh.part_count(), sewn.part_count());
    if repeated > 0 {
        let message = format!(
            "{repeated} vertices are where others are, so the cloth is open there and has {parts} parts; \
             weld = 1e-5 on this cloth closes it, which leaves {sewn_parts}"
        );
        problems.warning(place, message);
    } else if parts > MANY {
        let message = format!(
            "has {parts} parts that share no vertex; weld vertices that belong together with weld = 1e-3 (in m), or more"
        );
        problems.warning(place, message);
    }
}

fn report_findings(place: &str, findings: &[mesh::Finding], problems: &mut Problems) {
    for finding in findings {
        let remedy = if finding.repairable { "; set repair = true on this cloth to mend it" } else { "" };
        let message = format!("{}{remedy}", finding.kind);
        problems.add(Problem { severity: finding.severity, place: place.to_owned(), message });
    }
}

/// Initial positions: scaled (already), rotated, translated.
fn place_mesh(cloth: &description::Cloth, start: &[[f64; 3]]) -> Vec<Vec3<f64>> {
    let rotation = Mat3::from_degrees_xyz(cloth.rotate);
    let shift = Vec3::from(cloth.translate);
    start.iter().map(|&p| rotation.apply(p.into()) + shift).collect()
}

fn centroid(points: impl Iterator<Item = Vec3<f64>>) -> Vec3<f64> {
    let (sum, count) = points.fold((Vec3::ZERO, 0.0), |(sum, n), p| (sum + p, n + 1.0));
    if count > 0.0 { sum * (1.0 / count) } else { sum }
}

/// Lists the elements of the models of a material.
fn assemble(material: &Material, site: &Site<'_>, sink: &mut impl Sink) {
    let Material { stretch, bend, .. } = material;
    energy::assemble_stretch(stretch.entry.name, &stretch.settings, site, sink);
    energy::assemble_bend(bend.entry.name, &bend.settings, site, sink);
}

/// Settings that are not those of the table of a model would make none of its elements.
fn refuse_settings(place: &str, models: &[EnergyKind], choice: &Choice, problems: &mut Problems) {
    let Some(model) = models.iter().find(|model| model.entry.name == choice.entry.name) else {
        return problems.error(format!("{place}.model"), format!("there is no model {:?} here", choice.entry.name));
    };
    for (key, message) in model.entry.faults(&choice.settings) {
        problems.error(format!("{place}.{key}"), message);
    }
}

/// The least of the stiffnesses of a stretch model, in N/m; zero for none. Flexion stands beside the others, not behind them.
fn least_stiffness(stretch: &Choice) -> f64 {
    let settings = &stretch.settings;
    if stretch.entry.parameters.is_empty() {
        return 0.0;
    }
    let has = |name: &str| settings.number(name).is_some();
    let is_replaced = has("warp") && has("weft") && has("shear");
    let counts = |name: &str| name != "flexion" && !(name == "stiffness" && is_replaced);
    let given = stretch.entry.parameters.iter().filter_map(|parameter| {
        let value = settings.number(parameter.name).filter(|_| counts(parameter.name))?;
        match parameter.unit {
            "N/m" => Some(value),
            "m/N" if value > 0.0 => Some(value.recip()),
            _ => None,
        }
    });
    given.fold(f64::INFINITY, f64::min)
}
