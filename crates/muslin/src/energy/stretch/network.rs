//! Networks of springs on a mesh: which vertices they join and how stiff each is. Not a model itself.
//!
//! ```text
//!      ●─────●─────●        structural   the sides of cells
//!      │╲   ╱│╲   ╱│        shear        both diagonals of each cell
//!      │ ╲ ╱ │ ╲ ╱ │        flexion      over two cells, ●─────●─────● : from end to end
//!      │ ╱ ╲ │ ╱ ╲ │
//!      ●─────●─────●
//! ```
//!
//! A *cell* is two triangles that make a rectangle together (to a twentieth of its diagonal), cut along a diagonal. On w × h
//! cells of structural constants `k_w`, `k_h`, diagonals `k_d` and flexion `k_f` (length 2w, rows h apart), a homogeneous strain sees
//!
//! ```text
//! C₁₁ = k_w w/h + 2 k_d w³/(h L²) + 4 k_f w/h        L² = w² + h²
//! C₁₂ = G = 2 k_d w h/L²                              (square cells: C₁₁ = k_s + k_d + 4 k_f, C₁₂ = G = k_d)
//! ```
//!
//! Given Y, G and a flexion share F, all in N/m, the constants are those for which a strip along either axis has Young's modulus Y:
//!
//! ```text
//! C = ½ (Y + √(Y² + 4G²))        from Y = C − G²/C
//! k_d = G L²/(2wh),   k_f = F h/(4w),   k_w = (h/w) (C − F − G w²/h²), not below 0
//! ```
//!
//! G = ⅜ Y makes the sheet isotropic, with Poisson's ratio ⅓. A cell longer than √((C − F)/G) times its width (1.7 by default) has no
//! structural springs along its long side, and is then stiffer than Y. An edge of the border has half of `k_w`. The outermost cells, over
//! which half as many flexion springs pass, lack F/2.
//!
//! Triangles that are no half of a cell have edge springs as everywhere (k = (Y − F) A/ℓ² from each triangle) and flexion
//! springs between the two vertices opposite each inner edge, `k_f` = F (A₀ + A₁)/L²: exactly Y, with Poisson's ratio ⅓, on equilateral
//! triangles. There G is not free.
//!
//! [Provot 1995], [Choi, Ko 2002] for the members; the constants follow from the formulas above.

use crate::energy::Site;
use crate::topology::{Hinge, NONE};

/// A spring between two vertices of a cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) vertices: [u32; 2],
    /// At rest, in m.
    pub(crate) length: f64,
    /// α, in m/N.
    pub(crate) compliance: f64,
}

/// A member over two cells, or across an inner edge: from one side of it to the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) vertices: [u32; 2],
    /// Rest distance of its ends, in m.
    pub(crate) length: f64,
    /// The area for which it stands, in m²: its row's width × half its length, or that of its two triangles.
    pub(crate) area: f64,
    /// Whether it runs straight along a row of cells.
    pub(crate) is_row: bool,
    /// 1, or 2 where one of its two sides is wholly clamped and only the other can bend.
    pub(crate) grip: f64,
}

/// Stiffness of a sheet made of a network, in N/m.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sheet {
    /// Y.
    pub(crate) young: f64,
    /// G.
    pub(crate) shear: f64,
    /// F.
    pub(crate) flexion: f64,
}

/// The cells of a cloth.
struct Cells {
    /// Of each cell its corners in order around it: the first and the third are the ends of the cut.
    corners: Vec<[u32; 4]>,
    /// Of each triangle its cell, or [`NONE`].
    of_triangle: Vec<u32>,
}

/// A hinge whose edge is the diagonal of a rectangle.
fn is_cut(site: &Site<'_>, hinge: &Hinge) -> bool {
    let [a, b, c, d] = hinge.vertices.map(|v| site.position(v));
    let (cut, other) = ((b - a).norm(), (d - c).norm());
    // Diagonals of one length that halve each other.
    let tolerance = 0.05 * cut;
    (cut - other).abs() < tolerance && ((a + b) - (c + d)).norm() < 2.0 * tolerance
}

impl Cells {
    fn find(site: &Site<'_>) -> Self {
        let mut cells = Self { corners: Vec::new(), of_triangle: vec![NONE; site.mesh.triangle_count()] };
        for hinge in site.topology.hinges.iter().filter(|hinge| is_cut(site, hinge)) {
            let [a, b, c, d] = hinge.vertices;
            let triangles = hinge.triangles.map(|t| t as usize);
            // Nearly square triangles have one hypotenuse, so no triangle is asked for twice; if one were, the first has it.
            if triangles.iter().all(|&t| cells.of_triangle[t] == NONE) {
                triangles.iter().for_each(|&t| cells.of_triangle[t] = cells.corners.len() as u32);
                cells.corners.push([a, d, b, c]);
            }
        }
        cells
    }

    /// The corner next to `corner` in a cell that is not `other`.
    fn beyond(&self, cell: u32, corner: u32, other: u32) -> Option<u32> {
        let around = self.corners[cell as usize];
        let at = around.iter().position(|&v| v == corner)?;
        [around[(at + 1) % 4], around[(at + 3) % 4]].into_iter().find(|&v| v != other)
    }
}

/// Every member over two cells or across an inner edge, each once, in a fixed order.
pub(crate) fn spans(site: &Site<'_>) -> Vec<Span> {
    spans_of(site, &Cells::find(site))
}

fn spans_of(site: &Site<'_>, cells: &Cells) -> Vec<Span> {
    let mut spans = Vec::new();
    for hinge in site.hinges() {
        let [cell_a, cell_b] = hinge.triangles.map(|t| cells.of_triangle[t as usize]);
        if cell_a != NONE && cell_a == cell_b {
            continue;
        }
        let whole: f64 = hinge.triangles.iter().map(|&t| site.mesh.area(t as usize)).sum();
        let is_gripped = site.hinge_area(hinge) < 0.999 * whole;
        let [a, b, c, d] = hinge.vertices;
        let mut push = |ends: [u32; 2], is_row: bool, area: &dyn Fn(f64) -> f64| {
            let length = site.distance(ends[0], ends[1]);
            let vertices = [ends[0].min(ends[1]), ends[0].max(ends[1])];
            let grip = if is_gripped { 2.0 } else { 1.0 };
            spans.push(Span { vertices, length, area: area(length), is_row, grip });
        };
        let rows = (cell_a != NONE && cell_b != NONE)
            .then(|| [(a, b), (b, a)].map(|(p, q)| Some([cells.beyond(cell_a, p, q)?, cells.beyond(cell_b, p, q)?])));
        match rows {
            Some([Some(first), Some(second)]) => {
                // Each end of the edge passes on half of the edge's length as width of the row through it.
                let half = 0.5 * site.distance(a, b);
                push(first, true, &|length| 0.5 * half * length);
                push(second, true, &|length| 0.5 * half * length);
            }
            _ => push([c, d], false, &|_| whole),
        }
    }
    spans.sort_by_key(|span| span.vertices);
    spans.dedup_by(|next, kept| {
        let same = next.vertices == kept.vertices;
        if same {
            kept.area += next.area;
            kept.grip = kept.grip.max(next.grip);
        }
        same
    });
    spans
}

/// The edges of the mesh, k = Y (A₀ + A₁)/ℓ².
pub(crate) fn edges(site: &Site<'_>, young: f64) -> Vec<Member> {
    let edge = |(e, (&vertices, triangles)): (usize, (&[u32; 2], &[u32; 2]))| {
        let length = site.edge_length(e);
        let area: f64 = triangles.iter().filter(|&&t| t != NONE).map(|&t| site.mesh.area(t as usize)).sum();
        Member { vertices, length, compliance: length * length / area / young }
    };
    site.topology.edges.iter().zip(&site.topology.edge_triangles).enumerate().map(edge).collect()
}

/// Structural, shear and flexion springs; members without stiffness are left out.
pub(crate) fn full(site: &Site<'_>, sheet: Sheet) -> Vec<Member> {
    let Sheet { young, shear, flexion } = sheet;
    let cells = Cells::find(site);
    let mut parts: Vec<([u32; 2], f64)> = Vec::new();
    let mut add = |a: u32, b: u32, stiffness: f64| parts.push(([a.min(b), a.max(b)], stiffness));
    let axial = 0.5 * (young + (young * young + 4.0 * shear * shear).sqrt());
    for &[a, d, b, c] in &cells.corners {
        let w = 0.5 * (site.distance(a, d) + site.distance(c, b));
        let h = 0.5 * (site.distance(d, b) + site.distance(a, c));
        let diagonal = shear * (w * w + h * h) / (2.0 * w * h);
        // Half of each side's spring belongs to this cell.
        let side = |w: f64, h: f64| 0.5 * (h / w) * (axial - flexion - shear * (w / h) * (w / h)).max(0.0);
        for (a, b) in [(a, d), (c, b)] {
            add(a, b, side(w, h));
        }
        for (a, b) in [(d, b), (a, c)] {
            add(a, b, side(h, w));
        }
        add(a, b, diagonal);
        add(c, d, diagonal);
    }
    for (t, &[a, b, c]) in site.mesh.triangles.iter().enumerate().filter(|(t, _)| cells.of_triangle[*t] == NONE) {
        let area = site.mesh.area(t);
        for (a, b) in [(a, b), (b, c), (c, a)] {
            let length = site.distance(a, b);
            add(a, b, (young - flexion).max(0.0) * area / (length * length));
        }
    }
    for span in spans_of(site, &cells) {
        add(span.vertices[0], span.vertices[1], flexion * span.area / (span.length * span.length));
    }
    // Contributions to one spring come from several cells; sorting is stable, so their sum has a fixed order.
    parts.sort_by_key(|(vertices, _)| *vertices);
    parts.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    let stiff = parts.into_iter().filter(|(_, stiffness)| *stiffness > 0.0);
    let member = |(vertices @ [a, b], stiffness): ([u32; 2], f64)| Member {
        vertices,
        length: site.distance(a, b),
        compliance: 1.0 / stiffness,
    };
    stiff.map(member).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Diagonals, Mesh};
    use crate::topology::Topology;

    fn with_site<T>(mesh: &Mesh, run: impl FnOnce(&Site<'_>) -> T) -> T {
        let topology = Topology::build(mesh);
        let clamped = vec![false; mesh.vertex_count()];
        let vertex_count = mesh.vertex_count();
        run(&Site { mesh, topology: &topology, clamped: &clamped, first_vertex: 0, vertex_count })
    }

    /// The moduli C₁₁, C₂₂, C₁₂, G of an endless sheet: sums k ℓ² nᵢnⱼnₖnₗ of the members that begin in a window of whole periods.
    fn moduli(mesh: &Mesh, members: &[Member], window: [[f64; 2]; 2]) -> [f64; 4] {
        let mut sums = [0.0; 4];
        for member in members {
            let [a, b] = member.vertices.map(|v| mesh.positions[v as usize]);
            let (d, middle) = ([b[0] - a[0], b[2] - a[2]], [0.5 * (a[0] + b[0]), 0.5 * (a[2] + b[2])]);
            // A member on the rim of the window stands in it by half.
            let share = |x: f64, [low, high]: [f64; 2]| {
                let near = |y: f64| (x - y).abs() < 1e-9;
                if near(low) || near(high) { 0.5 } else { f64::from(u8::from(x > low && x < high)) }
            };
            let weight = share(middle[0], window[0]) * share(middle[1], window[1]) / member.compliance;
            let length_squared = d[0] * d[0] + d[1] * d[1];
            let products = [d[0].powi(4), d[1].powi(4), (d[0] * d[1]).powi(2), (d[0] * d[1]).powi(2)];
            sums = std::array::from_fn(|i| sums[i] + weight * products[i] / length_squared);
        }
        let area = (window[0][1] - window[0][0]) * (window[1][1] - window[1][0]);
        sums.map(|sum| sum / area)
    }

    #[test]
    fn a_grid_has_young_and_shear_of_the_scene_whatever_its_diagonals_and_cells() {
        for diagonals in [Diagonals::Forward, Diagonals::Backward, Diagonals::Alternating] {
            for (size, shear) in [([1.2, 1.2], 0.375), ([1.2, 1.2], 0.05), ([1.2, 0.9], 0.2)] {
                let mesh = Mesh::grid(size, [12, 12], diagonals).unwrap();
                let sheet = Sheet { young: 800.0, shear: 800.0 * shear, flexion: 80.0 };
                let members = with_site(&mesh, |site| full(site, sheet));
                let window = size.map(|s| [-s / 4.0, s / 4.0]);
                let [c11, c22, c12, g] = moduli(&mesh, &members, window);
                assert!((c11 - c12 * c12 / c22 - 800.0).abs() < 1e-9, "{diagonals:?} {size:?}: {c11} {c12}");
                assert!((c22 - c12 * c12 / c11 - 800.0).abs() < 1e-9, "{diagonals:?} {size:?}: {c22} {c12}");
                assert!((g - 800.0 * shear).abs() < 1e-9, "{diagonals:?} {size:?}: {g}");
                if shear == 0.375 {
                    assert!((c11 - c12 - 2.0 * g).abs() < 1e-9, "isotropic: {c11} {c12} {g}");
                }
            }
        }
    }

    #[test]
    fn equilateral_triangles_have_young_and_a_third() {
        // Rows of √3/2 of the edge: exactly equilateral.
        let columns = 24;
        let height = 20.0 * 0.75_f64.sqrt() / f64::from(columns);
        let mesh = Mesh::grid([1.0, height], [columns, 1], Diagonals::Isotropic).unwrap();
        let sheet = Sheet { young: 800.0, shear: 300.0, flexion: 80.0 };
        let members = with_site(&mesh, |site| full(site, sheet));
        let [c11, c22, c12, g] = moduli(&mesh, &members, [[-0.25, 0.25], [-0.25 * height, 0.25 * height]]);
        assert!((c11 - c12 * c12 / c22 - 800.0).abs() < 1e-9, "{c11} {c22} {c12}");
        assert!((c12 / c22 - 1.0 / 3.0).abs() < 1e-12 && (c11 - c12 - 2.0 * g).abs() < 1e-9, "{c11} {c12} {g}");
    }

    #[test]
    fn a_grid_of_cells_has_the_members_one_expects() {
        let [columns, rows] = [5_usize, 4];
        for diagonals in [Diagonals::Forward, Diagonals::Alternating] {
            let mesh = Mesh::grid([1.0, 0.8], [columns as u32, rows as u32], diagonals).unwrap();
            let spans = with_site(&mesh, spans);
            assert_eq!(spans.len(), (columns - 1) * (rows + 1) + (rows - 1) * (columns + 1));
            assert!(spans.iter().all(|s| s.is_row && (s.length - 0.4).abs() < 1e-12 && s.grip == 1.0), "{spans:?}");
            // Rows of the border are half as wide; together they cover the sheet once each way, but for half a cell at each end.
            let area: f64 = spans.iter().map(|s| s.area).sum();
            assert!((area - (0.8 * 0.8 + 1.0 * 0.6)).abs() < 1e-12, "{area}");
            let count = with_site(&mesh, |site| full(site, Sheet { young: 1.0, shear: 0.3, flexion: 0.1 })).len();
            let sides = columns * (rows + 1) + rows * (columns + 1);
            assert_eq!(count, sides + 2 * columns * rows + spans.len());
        }
    }
}
