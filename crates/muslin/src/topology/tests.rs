use crate::math::Vec3;
use crate::topology::*;
use proptest::prelude::*;

fn mesh(positions: &[[f64; 3]], triangles: &[[u32; 3]]) -> Mesh {
    Mesh { positions: positions.to_vec(), triangles: triangles.to_vec(), ..Mesh::default() }
}

/// The unit cube with its normals outwards; vertex 4x + 2y + z.
fn cube() -> Mesh {
    let positions: Vec<[f64; 3]> = (0..8).map(|i| [(i >> 2 & 1) as f64, (i >> 1 & 1) as f64, (i & 1) as f64]).collect();
    let quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
    let triangles: Vec<[u32; 3]> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    mesh(&positions, &triangles)
}

/// Convention S of `fixtures/dihedral`.
fn angle(mesh: &Mesh, hinge: &Hinge) -> f64 {
    let [a, b, c, d] = hinge.vertices.map(|vertex| Vec3::from(mesh.positions[vertex as usize]));
    let normal_a = (b - a).cross(c - a).normalized_or_zero();
    let normal_b = (d - a).cross(b - a).normalized_or_zero();
    let along = (b - a).normalized_or_zero();
    libm::atan2(along.dot(normal_a.cross(normal_b)), normal_a.dot(normal_b))
}

fn directed_edges([p, q, r]: [u32; 3]) -> [[u32; 3]; 3] {
    [[p, q, r], [q, r, p], [r, p, q]]
}

/// The topology by definition: every pair of vertices, every triangle.
fn by_brute_force(mesh: &Mesh) -> Topology {
    let count = mesh.vertex_count() as u32;
    let mut found = Topology::default();
    for a in 0..count {
        for b in a + 1..count {
            let uses: Vec<(u32, [u32; 3])> = (0_u32..)
                .zip(&mesh.triangles)
                .flat_map(|(triangle, &corners)| directed_edges(corners).map(|directed| (triangle, directed)))
                .filter(|(_, [p, q, _])| [a, b] == [*p.min(q), *p.max(q)])
                .collect();
            let edge = found.edges.len() as u32;
            match uses[..] {
                [] => continue,
                [_] => found.boundary_edges.push(edge),
                [(first, [p, q, r]), (second, [_, _, s])] => {
                    found.hinges.push(Hinge { vertices: [p, q, r, s], triangles: [first, second], edge });
                }
                _ => {}
            }
            found.edges.push([a, b]);
            found.edge_triangles.push([uses[0].0, uses.get(1).map_or(NONE, |second| second.0)]);
        }
    }
    found
}

/// Triangles with three different vertices out of `count`.
fn triangles(count: u32) -> impl Strategy<Value = Vec<[u32; 3]>> {
    let triangle = [0..count, 0..count, 0..count];
    let is_proper = |[a, b, c]: &[u32; 3]| a != b && b != c && c != a;
    prop::collection::vec(triangle.prop_filter("repeated vertex", is_proper), 0..12)
}

#[test]
fn cube_edges_bend_by_plus_a_right_angle() {
    let mesh = cube();
    assert_eq!(crate::mesh::check(&mesh), []);
    let topology = Topology::build(&mesh);
    assert_eq!((topology.edges.len(), topology.hinges.len()), (18, 18));
    let (flat, bent): (Vec<f64>, Vec<f64>) =
        topology.hinges.iter().map(|hinge| angle(&mesh, hinge)).partition(|theta| theta.abs() < 1e-12);
    assert_eq!((flat.len(), bent.len()), (6, 12));
    assert!(bent.iter().all(|theta| (theta - std::f64::consts::FRAC_PI_2).abs() < 1e-12), "{bent:?}");
}

#[test]
fn a_hinge_runs_along_its_first_triangle() {
    let square = mesh(&[[0.0; 3]; 4], &[[2, 3, 0], [3, 2, 1]]);
    let topology = Topology::build(&square);
    assert_eq!(topology.edges, [[0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
    assert_eq!(topology.edge_triangles, [[0, NONE], [0, NONE], [1, NONE], [1, NONE], [0, 1]]);
    assert_eq!(topology.boundary_edges, [0, 1, 2, 3]);
    assert_eq!(topology.hinges, [Hinge { vertices: [2, 3, 0, 1], triangles: [0, 1], edge: 4 }]);
    // The lower triangle is A, even where it runs from the higher vertex to the lower.
    let turned = mesh(&[[0.0; 3]; 4], &[[3, 2, 1], [2, 3, 0]]);
    assert_eq!(Topology::build(&turned).hinges[0].vertices, [3, 2, 1, 0]);
}

#[test]
fn an_edge_of_three_triangles_has_no_hinge() {
    let book = mesh(&[[0.0; 3]; 5], &[[0, 1, 2], [1, 0, 3], [0, 1, 4]]);
    let topology = Topology::build(&book);
    assert_eq!(topology.edge_triangles[0], [0, 1]);
    assert_eq!(topology.hinges, []);
    assert_eq!(topology.boundary_edges.len(), 6);
}

#[test]
fn an_empty_mesh_has_an_empty_topology() {
    let topology = Topology::build(&Mesh::default());
    assert_eq!(topology, Topology::default());
    assert!(topology.vertex_neighbors.is_empty(), "neighbours of no vertices");
}

proptest! {
    #[test]
    fn edges_and_hinges_are_those_of_the_definition(triangles in triangles(7)) {
        let mesh = mesh(&[[0.0; 3]; 7], &triangles);
        let expected = by_brute_force(&mesh);
        let topology = Topology::build(&mesh);
        prop_assert_eq!(&topology.edges, &expected.edges);
        prop_assert_eq!(&topology.edge_triangles, &expected.edge_triangles);
        prop_assert_eq!(&topology.boundary_edges, &expected.boundary_edges);
        prop_assert_eq!(&topology.hinges, &expected.hinges);
    }

    #[test]
    fn adjacency_is_that_of_the_definition(triangles in triangles(7)) {
        let mesh = mesh(&[[0.0; 3]; 7], &triangles);
        let topology = Topology::build(&mesh);
        for vertex in 0..7 {
            let around: Vec<u32> =
                (0_u32..).zip(&triangles).filter(|(_, corners)| corners.contains(&vertex)).map(|(t, _)| t).collect();
            prop_assert_eq!(topology.vertex_triangles.of(vertex), around);
            let joined = |other: &u32| topology.edges.contains(&[vertex.min(*other), vertex.max(*other)]);
            let near: Vec<u32> = (0..7).filter(joined).collect();
            prop_assert_eq!(topology.vertex_neighbors.of(vertex), near);
        }
    }
}

#[test]
fn appended_lists_are_those_of_both_meshes_together() {
    let (left, right) = ([[0, 1, 2], [1, 2, 3]], [[0, 1, 2]]);
    let mut both = Adjacency::of_stencils(4, &left);
    both.append(&Adjacency::of_stencils(3, &right), 2);
    assert_eq!(both, Adjacency::of_stencils(7, &[[0, 1, 2], [1, 2, 3], [4, 5, 6]]));
}
