//! Shape matching as a potential of projective dynamics: regions are pulled to their rest shape, moved as a whole.
//!
//! ```text
//! E = Σ_c ½ σ_c Σᵢ wᵢ ( (1 − β) ‖xᵢ − c − R qᵢ‖² + β ‖xᵢ − c − A qᵢ‖² )        wᵢ share of the area of vertex i [m²]
//! c, R, A    centre, nearest rotation and best linear map of a cluster          β = 0 in rigid mode
//! ∂E/∂xᵢ = Σ_c σ_c wᵢ (xᵢ − c − T qᵢ),   T = β A + (1 − β) R
//! ```
//!
//! with the clusters of [`crate::energy::stretch::cluster`], and so with the goals that the solver `shape_matching` has. c, R and A are the best of their kind with the
//! weights w, so each of the two sums is the squared distance to a projection, and their own change adds nothing to the gradient.
//!
//! **The constant.** Under a small uniform strain ε of the plane, R is the identity where ε and `A_qq` have the same axes, and a cluster stores
//!
//! ```text
//! ½ σ_c tr(ε² A_qq),   A_qq = Σ wᵢ qᵢqᵢᵀ        so with   σ_c = 2 Y W_c/tr A_qq,   W_c = Σ wᵢ
//! ```
//!
//! a round or square one, whose `A_qq` is ½ tr `A_qq` in both directions, stores ½ Y ε:ε per area: a sheet of Young's modulus Y and Poisson's ratio 0, whatever the
//! mesh and the region. `beta` lets its share pass: (1 − β) Y is left of it. A cluster that is longer in one direction than in the other
//! is stiffer along it, by 2 `A_qq`/tr `A_qq`, and so is a region that the rim of the cloth cuts; both axes together are right. Strained askew it turns
//! a little, and stores less.
//!
//! **What it is not.** Strain is resisted over the size of a region, not at a point: a wave much shorter than that has the frequency
//! √(σ/ρ), σ = 8 Y/r² for a round region of radius r, whatever its length. Regions are plates: a cylinder of curvature κ costs ½ B κ² per area with
//!
//! ```text
//! B = ¼ σ (⟨q⁴⟩ − ⟨q²⟩²) ≈ Y r²/23        q across the axis; for round regions, whose shares fade as (1 − d²/r²)²
//! ```
//!
//! which is much for cloth: bending models add to it. And a line of pins has no area, so it holds its regions only by the vertices that are
//! on it, the less the finer the mesh; pin a strip as wide as a region to hold cloth firmly.
//!
//! **In the system.** The matrix of a cluster, diag(s) − s sᵀ/Σs − β …, would be dense, as many rows as it has vertices. But it is what is
//! left of a sparse one after c and A, as unknowns of their own, have been eliminated:
//!
//! ```text
//! min over x, c, z of ½ σ Σ wᵢ ( (1 − β) ‖xᵢ − c − pᵢ‖² + β ‖xᵢ − c − Σₖ zₖ ξᵢₖ‖² )        ξᵢₖ = dₖ·qᵢ,  Σ wᵢ ξᵢₖ² = W
//! (xᵢ, xᵢ): σwᵢ   (xᵢ, c): −σwᵢ   (c, c): σW   (xᵢ, zₖ): −β σwᵢξᵢₖ   (zₖ, zₖ): β σW
//! ```
//!
//! so a cluster of m vertices adds 1 to 4 rows of m numbers, and a whole cloth may be one. Since c and A are the best for x, the gradient has nothing in these
//! rows, and the correction of x is that of the dense system.
//!
//! There is no internal damping: its potential needs the turning of R, which this form leaves out.
//!
//! [Müller et al. 2005, Meshless Deformations Based on Shape Matching], [Bouaziz et al. 2014, Projective Dynamics, §5] for shape matching as a projection.

use std::ops::Range;

use crate::energy::stiffness::physical;
use crate::energy::stretch::cluster::{BETA, Clusters, Fit, MODE, Member, Mode, Patch, REGION};
use crate::energy::{EnergyKind, Forms, Sink, Site};
use crate::math::Vec3;
use crate::parameter::{Entry, Settings};
use crate::settings::typed;
use crate::topology::Adjacency;

/// Key of the model in scene files.
pub const NAME: &str = "shape_matching";

/// The scene's `shape_matching`.
pub const KIND: EnergyKind = EnergyKind {
    entry: Entry {
        name: NAME,
        summary: "regions that are pulled to their rest shape as a whole: plates, for projective dynamics",
        source: "Müller et al. 2005, Meshless Deformations Based on Shape Matching; Bouaziz et al. 2014, Projective Dynamics",
        parameters: &[
            physical("N/m", 1000.0, "in-plane stiffness Y of a uniform strain, with Poisson's ratio 0"),
            REGION,
            MODE,
            BETA,
        ],
        one_of: &[],
    },
    flat_only: false,
    forms: Forms { constraint: false, potential: false, projection: true },
};

/// Nothing: clusters are no elements of a fixed size, and the model keeps them beside its terms.
pub(crate) fn assemble(_: &Settings, _: &Site<'_>, _: &mut impl Sink) {}

/// Settings of the scene's `shape_matching`, as a stretch model.
///
/// ```
/// use muslin::energy::stretch::shape_matching::ShapeMatchingStretch;
/// use muslin::solver::Projective;
/// use muslin::{Cloth, Simulation};
///
/// let model = ShapeMatchingStretch { region: 0.6, ..Default::default() };
/// let cloth = Cloth::grid([1.0, 1.0], [4, 4]).stretch(model);
/// let simulation = Simulation::builder().solver(Projective::default()).cloth(cloth).build()?;
/// assert_eq!(simulation.model().matchings.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeMatchingStretch {
    /// In-plane stiffness Y, in N/m; `None` = as the fabric, or 1000.
    pub stiffness: Option<f64>,
    /// Radius of the regions that keep their shape, in m; 0 = the whole cloth is one.
    pub region: f64,
    /// The freedom of a region.
    pub mode: Mode,
}

typed!(ShapeMatchingStretch: StretchSettings, KIND, { stiffness, region, mode });

/// The regions of one cloth with their stiffness.
///
/// ```
/// use muslin::energy::stretch::shape_matching::ShapeMatchingStretch;
/// use muslin::solver::Projective;
/// use muslin::{Cloth, Simulation};
///
/// let cloth = Cloth::grid([1.0, 1.0], [2, 2]).stretch(ShapeMatchingStretch { region: 0.0, ..Default::default() });
/// let simulation = Simulation::builder().solver(Projective::default()).cloth(cloth).build()?;
/// let matching = &simulation.model().matchings[0];
/// assert_eq!((matching.len(), matching.member_count()), (1, 9), "the whole cloth is one region");
/// assert!(matching.value(&simulation.state().positions) < 1e-12, "at rest");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Matching {
    clusters: Clusters,
    /// σ of each cluster, in N/m³.
    stiffness: Vec<f64>,
    /// Of each member its cluster.
    cluster_of: Vec<u32>,
    /// Of each vertex of the cloth its places among the members.
    places: Adjacency,
    vertices: Range<usize>,
    unknown_count: usize,
}

impl Matching {
    /// The regions of a cloth.
    pub(crate) fn new(settings: &Settings, site: &Site<'_>) -> Self {
        let number = |name| settings.number(name).unwrap_or(0.0);
        let (first, count) = (site.first_vertex as usize, site.mesh.vertex_count());
        let rest: Vec<Vec3<f64>> = (0..count as u32).map(|v| site.position(v)).collect();
        let patch = Patch { rest: &rest, edges: &site.topology.edges, first_vertex: site.first_vertex };
        let mut clusters = Clusters::new(Mode::read(settings));
        clusters.add(&patch, number(REGION.name));
        let mut areas = vec![0.0; first];
        areas.extend(site.mesh.lumped_masses(1.0));
        clusters.weigh(&areas, |_| false);

        let young = number("stiffness");
        let constant = |(cluster, members): (usize, &[Member])| {
            let area: f64 = members.iter().map(|m| m.weight).sum();
            let extent = clusters.extent(cluster);
            // A cluster of one point has nothing to keep.
            if extent > 0.0 { 2.0 * young * area / extent } else { 0.0 }
        };
        let stiffness = clusters.iter().map(constant).collect();
        let repeat = |(cluster, members): (usize, &[Member])| std::iter::repeat_n(cluster as u32, members.len());
        let cluster_of = clusters.iter().flat_map(repeat).collect();
        let stencils: Vec<[u32; 1]> = clusters.all_members().iter().map(|m| [m.vertex - site.first_vertex]).collect();
        let places = Adjacency::of_stencils(count, &stencils);
        let is_linear = clusters.mode().share() > 0.0;
        let maps = |cluster| if is_linear { clusters.directions(cluster).count() } else { 0 };
        let unknown_count = (0..clusters.len()).map(|cluster| 1 + maps(cluster)).sum();
        Self { clusters, stiffness, cluster_of, places, vertices: first..first + count, unknown_count }
    }

    /// How many regions there are.
    pub fn len(&self) -> usize {
        self.clusters.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.clusters.is_empty()
    }

    /// The vertices of the cloth, in the state.
    pub(crate) fn vertices(&self) -> Range<usize> {
        self.vertices.clone()
    }

    /// The vertices of the regions, each as often as it is in one.
    pub fn member_count(&self) -> usize {
        self.cluster_of.len()
    }

    /// Where a region is.
    #[doc(hidden)] // the validation fits regions of its own
    pub fn fit(&self, cluster: usize, x: &[Vec3<f64>]) -> Fit {
        self.clusters.fit(cluster, x)
    }

    /// E, in J.
    pub fn value(&self, x: &[Vec3<f64>]) -> f64 {
        let beta = self.clusters.mode().share();
        let of_cluster = |(cluster, members): (usize, &[Member])| {
            let fit = self.fit(cluster, x);
            let sum = members.iter().fold(0.0, |sum, m| {
                let distance = |map| (x[m.vertex as usize] - fit.goal_by(map, m)).norm_squared();
                let rigid = (1.0 - beta) * distance(&fit.rotation);
                let linear = if beta > 0.0 { beta * distance(&fit.linear) } else { 0.0 };
                sum + m.weight * (rigid + linear)
            });
            0.5 * self.stiffness[cluster] * sum
        };
        self.clusters.iter().map(of_cluster).sum()
    }

    /// ∂E/∂x of a vertex of the cloth, in N; `fit` tells where each of its regions is.
    #[inline]
    #[doc(hidden)] // the validation fits regions of its own
    pub fn gradient(&self, vertex: usize, x: Vec3<f64>, fit: impl Fn(usize) -> Fit) -> Vec3<f64> {
        let places = self.places.of((vertex - self.vertices.start) as u32);
        places.iter().fold(Vec3::ZERO, |sum, &place| {
            let (member, cluster) = (&self.clusters.all_members()[place as usize], self.cluster_of[place as usize]);
            let pull = self.stiffness[cluster as usize] * member.weight;
            sum + (x - fit(cluster as usize).goal(member)) * pull
        })
    }

    /// How many unknowns of their own the regions have.
    pub(crate) fn unknown_count(&self) -> usize {
        self.unknown_count
    }

    /// The numbers of the system, one half of it: row, column, N/m; the own unknowns are counted from `first_unknown`.
    pub(crate) fn each_entry(&self, first_unknown: u32, mut visit: impl FnMut(u32, u32, f64)) {
        let beta = self.clusters.mode().share();
        let mut unknown = first_unknown;
        for (cluster, members) in self.clusters.iter() {
            let stiffness = self.stiffness[cluster];
            let total: f64 = members.iter().map(|m| stiffness * m.weight).sum();
            // A region without stiffness has unknowns without equations; any number will do.
            let own = |number: f64| if number > 0.0 { number } else { 1.0 };
            visit(unknown, unknown, own(total));
            for m in members {
                visit(m.vertex, m.vertex, stiffness * m.weight);
                visit(unknown, m.vertex, -stiffness * m.weight);
            }
            unknown += 1;
            if beta > 0.0 {
                // Lengthened so that z is as long as c: Σ w ξ² = W.
                let length = (total / own(stiffness)).sqrt();
                for direction in self.clusters.directions(cluster) {
                    visit(unknown, unknown, own(beta * total));
                    for m in members {
                        let coordinate = length * direction.dot(self.clusters.arm(cluster, m));
                        visit(unknown, m.vertex, -beta * stiffness * m.weight * coordinate);
                    }
                    unknown += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::conformance::Random;
    use crate::math::Mat3;
    use crate::model::Model;
    use crate::scene::parse;

    const YOUNG: f64 = 300.0;

    /// A sheet of 1 m by 1 m, and random positions about it.
    fn sheet(cells: u32, keys: &str) -> (Model, Vec<Vec3<f64>>) {
        let text = format!(
            "solver.kind = \"projective\"\n[[cloth]]\ngrid = {{ size = [1, 1], cells = [{cells}, {cells}] }}\n\
             material = {{ stretch = {{ model = \"shape_matching\", stiffness = {YOUNG:?}, {keys} }}, bend.model = \"none\" }}"
        );
        let outcome = parse(&text, &[]);
        let scene = outcome.scene.unwrap_or_else(|| panic!("{:?}", outcome.findings));
        let model = crate::setup::compile(&scene, &mut |_| Err(String::new())).unwrap().model;
        let mut random = Random::new(9);
        let noise = |x: &Vec3<f64>| *x + random.vector() * 0.1;
        let x = model.initial_positions.iter().map(noise).collect();
        (model, x)
    }

    fn gradient(matching: &Matching, x: &[Vec3<f64>]) -> Vec<Vec3<f64>> {
        (0..x.len()).map(|i| matching.gradient(i, x[i], |cluster| matching.fit(cluster, x))).collect()
    }

    const KEYS: [&str; 5] = [
        "region = 0",
        "region = 0.4",
        "region = 0.4, mode = \"linear\"",
        "region = 0, mode = \"linear\", beta = 0.3",
        "region = 0.5, mode = \"linear\", beta = 1",
    ];

    #[test]
    fn the_gradient_is_that_of_the_energy_without_force_or_torque() {
        for keys in KEYS {
            let (model, x) = sheet(6, keys);
            let matching = &model.matchings[0];
            let g = gradient(matching, &x);
            let scale: f64 = g.iter().map(|g| g.norm()).sum();
            let (mut force, mut torque) = (Vec3::ZERO, Vec3::ZERO);
            for (x, g) in x.iter().zip(&g) {
                force += *g;
                torque += x.cross(*g);
            }
            assert!(force.norm() < 1e-13 * scale && torque.norm() < 1e-13 * scale, "{keys}: {force:?} {torque:?}");
            // Along a direction, by central differences in two sizes, which leave an error of the fourth order.
            let direction = |i: usize| Vec3::new(0.3, -0.2 * i as f64 / 50.0, libm::cos(i as f64));
            let slope = |h: f64| {
                let at = |s: f64| -> f64 {
                    let moved: Vec<_> = x.iter().enumerate().map(|(i, x)| *x + direction(i) * s).collect();
                    matching.value(&moved)
                };
                (at(h) - at(-h)) / (2.0 * h)
            };
            let expected = (4.0 * slope(5e-4) - slope(1e-3)) / 3.0;
            let along: f64 = g.iter().enumerate().map(|(i, g)| g.dot(direction(i))).sum();
            assert!((along / expected - 1.0).abs() < 1e-9, "{keys}: {along} {expected}");
        }
    }

    #[test]
    fn a_uniform_strain_costs_that_of_a_sheet_whatever_the_mesh_and_the_region() {
        // ½ Y ε:ε of 1 m²; `A_qq` of a square is the same along x and z, and so is that of regions by the symmetry of their sum.
        let strain = Mat3([[0.03, 0.0, 0.01], [0.0, 0.0, 0.0], [0.01, 0.0, -0.02]]);
        let contraction: f64 = strain.0.iter().flatten().map(|e| e * e).sum();
        for (cells, keys, left, tolerance) in [
            (4, "region = 0", 1.0, 1e-12),
            (20, "region = 0", 1.0, 1e-12),
            (20, "region = 0, mode = \"linear\", beta = 0.4", 0.6, 1e-12),
            // Regions are chosen by a walk along x, and are cut by the rim: not quite as long along z as along x, all together.
            (20, "region = 0.2", 1.0, 0.05),
            (40, "region = 0.2", 1.0, 0.05),
            (40, "region = 0.2, mode = \"linear\", beta = 0.4", 0.6, 0.03),
        ] {
            let (model, _) = sheet(cells, keys);
            let x: Vec<_> = model.initial_positions.iter().map(|x| *x + strain.apply(*x)).collect();
            let ratio = model.matchings[0].value(&x) / (0.5 * YOUNG * contraction);
            assert!((ratio - left).abs() < tolerance, "{cells} cells, {keys}: {ratio}");
            // In the mean of both directions it is exact, ½ Y ε² each, but for regions that lie askew at the corners of the cloth.
            let along = |axis: Vec3<f64>| -> f64 {
                let x: Vec<_> = model.initial_positions.iter().map(|x| *x + axis * (0.01 * axis.dot(*x))).collect();
                model.matchings[0].value(&x) / (0.5 * YOUNG * 1e-4)
            };
            let mean = 0.5 * (along(Vec3::new(1.0, 0.0, 0.0)) + along(Vec3::new(0.0, 0.0, 1.0)));
            let askew = if keys.starts_with("region = 0,") || keys == "region = 0" { 0.0 } else { 1e-3 };
            let ratio = mean / left;
            assert!(ratio > 1.0 - askew - 1e-12 && ratio < 1.0 + 1e-12, "{cells} cells, {keys}: {mean} in the mean");
        }
    }

    /// The bending that comes with it, as the header says.
    #[test]
    fn a_cylinder_costs_what_plates_of_the_size_of_a_region_do() {
        let (radius, curvature) = (0.2, 0.01);
        let (model, _) = sheet(60, "region = 0.2");
        let bent = |x: &Vec3<f64>| *x + Vec3::new(0.0, 0.5 * curvature * x.x * x.x, 0.0);
        let x: Vec<_> = model.initial_positions.iter().map(bent).collect();
        let rigidity = model.matchings[0].value(&x) / (0.5 * curvature * curvature);
        // Regions are octagons, as distances go along edges, and those at the rim are smaller: less, by a quarter.
        let ratio = rigidity / (YOUNG * radius * radius / 23.0);
        assert!((0.6..1.0).contains(&ratio), "{ratio}");
    }

    /// Eliminates the unknowns of the regions, and multiplies what is left.
    fn eliminated(matching: &Matching, d: &[f64]) -> Vec<f64> {
        let n = d.len();
        let (mut product, mut own, mut couplings) = (vec![0.0; n], vec![0.0; matching.unknown_count()], Vec::new());
        matching.each_entry(n as u32, |i, j, number| match (i as usize, j as usize) {
            (i, j) if i < n => product[i] += number * d[j],
            (i, j) if i == j => own[i - n] += number,
            (i, j) => couplings.push((i - n, j, number)),
        });
        let mut sums = vec![0.0; own.len()];
        couplings.iter().for_each(|&(k, i, number)| sums[k] += number * d[i]);
        couplings.iter().for_each(|&(k, i, number)| product[i] -= number * sums[k] / own[k]);
        product
    }

    /// With β = 1 the energy is quadratic, so its gradient is the matrix; with β = 0 a motion without turning shows all but the centre.
    #[test]
    fn the_system_is_the_quadratic_energy_once_its_own_unknowns_are_eliminated() {
        for (keys, is_quadratic) in [
            ("region = 0, mode = \"linear\", beta = 1", true),
            ("region = 0.5, mode = \"linear\", beta = 1", true),
            ("region = 0.5, mode = \"linear\", beta = 0.7", false),
            ("region = 0.5", false),
        ] {
            let (model, x) = sheet(6, keys);
            let (matching, rest) = (&model.matchings[0], &model.initial_positions);
            // A stretch along x about the middle turns no region that keeps its symmetry; otherwise the matrix is all there is.
            let d: Vec<f64> = if is_quadratic { x.iter().map(|x| x.y + x.x).collect() } else { vec![0.7; x.len()] };
            let moved: Vec<_> = rest.iter().zip(&d).map(|(x, d)| *x + Vec3::new(*d, 0.0, 0.0)).collect();
            let (before, after) = (gradient(matching, rest), gradient(matching, &moved));
            let product = eliminated(matching, &d);
            let scale = YOUNG;
            for ((before, after), product) in before.iter().zip(&after).zip(product) {
                assert!((after.x - before.x - product).abs() < 1e-12 * scale, "{keys}: {after:?} {product}");
            }
        }
    }

    /// What the descent of projective dynamics rests on: with the maps of now, the quadratic energy bounds E from above and touches it.
    #[test]
    fn the_system_bounds_the_energy() {
        for keys in KEYS {
            let (model, x) = sheet(6, keys);
            let matching = &model.matchings[0];
            let (value, g) = (matching.value(&x), gradient(matching, &x));
            for s in [1e-3, 0.03, 0.3, 2.0] {
                let d: Vec<Vec3<f64>> =
                    (0..x.len()).map(|i| Vec3::new(libm::sin(2.0 * i as f64), libm::cos(i as f64), 0.3) * s).collect();
                let moved: Vec<_> = x.iter().zip(&d).map(|(x, d)| *x + *d).collect();
                let linear: f64 = g.iter().zip(&d).map(|(g, d)| g.dot(*d)).sum();
                let square: f64 = [0, 1, 2]
                    .map(|k| {
                        let along: Vec<f64> = d.iter().map(|d| d.to_array()[k]).collect();
                        eliminated(matching, &along).iter().zip(&along).map(|(p, d)| p * d).sum::<f64>()
                    })
                    .iter()
                    .sum();
                let bound = value + linear + 0.5 * square;
                assert!(matching.value(&moved) <= bound * (1.0 + 1e-12), "{keys}: {} {bound}", matching.value(&moved));
            }
        }
    }
}
