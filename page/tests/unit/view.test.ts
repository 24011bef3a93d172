import { Ray, Raycaster, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { estimate } from "../../src/app/live";
import { readSurfaces } from "../../src/engine/protocol";
import { EdgeStrain, speeds } from "../../src/finished/numbers";
import { Bodies } from "../../src/view/bodies";
import { vertexNormals } from "../../src/view/normals";
import { handful, pickCloth, pickNear } from "../../src/view/pick";
import { weaveCoordinates } from "../../src/view/weave";

// A unit square in the xz plane, seen from above: vertices row by row, normals up.
const positions = Float32Array.from([0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1]);
const triangles = Uint32Array.from([0, 2, 3, 0, 3, 1]);
const down = (x: number, z: number): Ray => new Ray(new Vector3(x, 2, z), new Vector3(0, -1, 0));

describe("picking", () => {
  it("finds the triangle and its nearest corner, from both sides", () => {
    expect(pickCloth(down(0.1, 0.8), positions, triangles)).toMatchObject({ distance: 2, triangle: 0, vertex: 2 });
    const up = new Ray(new Vector3(0.9, -1, 0.2), new Vector3(0, 1, 0));
    expect(pickCloth(up, positions, triangles)).toMatchObject({ distance: 1, triangle: 1, vertex: 1 });
    expect(pickCloth(down(1.2, 0.5), positions, triangles)).toBeUndefined();
  });
  it("takes the first of two layers", () => {
    const two = Float32Array.from([...positions, ...positions.map((x, i) => (i % 3 === 1 ? 1 : x))]);
    const both = Uint32Array.from([...triangles, ...triangles.map((i) => i + 4)]);
    expect(pickCloth(down(0.1, 0.8), two, both)).toMatchObject({ distance: 1, vertex: 6 });
  });
  it("takes a border that is just missed, and nothing that is far", () => {
    expect(pickNear(down(1.01, 1.01), positions, 0.01)).toMatchObject({ vertex: 3, distance: 2 });
    expect(pickNear(down(1.1, 1.1), positions, 0.01)).toBeUndefined();
    expect(pickNear(down(1.01, 1.01), positions, 0.01, [0, 1])).toBeUndefined();
    expect(pickNear(down(1.01, 0.01), positions, 0.01, [0, 1])).toMatchObject({ vertex: 1 });
  });
  it("grabs a vertex with its neighbours", () => {
    expect(handful(1, triangles).sort()).toEqual([0, 1, 3]);
  });
});

describe("surfaces", () => {
  it("has unit normals", () => {
    const normals = new Float32Array(12);
    vertexNormals(positions, triangles, normals);
    for (let v = 0; v < 4; v++) expect([...normals.subarray(3 * v, 3 * v + 3)]).toEqual([0, 1, 0]);
  });
  it("measures the weave in metres", () => {
    const wide = positions.map((x, i) => (i % 3 === 0 ? 3 * x : x));
    const uv = Float32Array.from([0, 0, 1, 0, 0, 1, 1, 1]);
    expect([...weaveCoordinates(wide, triangles, uv)]).toEqual([0, 0, 0, 3, 0, 0, 0, 1, 0, 3, 1, 0]);
  });
});

describe("colliders", () => {
  // A triangle, a level plane that becomes the ground, and another triangle, as `geometry` brings them.
  const sections: Record<string, Float32Array | Uint32Array> = {
    surface_positions: Float32Array.from([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 5, 1, 0, 5, 0, 1, 5]),
    surface_normals: Float32Array.from([0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1]),
    surface_triangles: Uint32Array.from([0, 1, 2, 0, 1, 2]),
  };
  const surfaces = readSurfaces({
    head: {
      ok: true, sections: [],
      surfaces: [
        { collider: 0, first: 0, vertices: 3, first_triangle: 0, triangles: 1 },
        { collider: 1, half_space: { point: [0, -0.5, 0], normal: [0, 1, 0] } },
        { collider: 2, first: 3, vertices: 3, first_triangle: 1, triangles: 1 },
      ],
    },
    section: (name) => sections[name],
  });

  it("are drawn and picked from the surfaces of the engine, whatever their kind", () => {
    const bodies = new Bodies();
    bodies.build([{ name: "a", kind: "anything" }, { name: "b", kind: "plane" }, { name: "c", kind: "new" }], surfaces, undefined, 1);
    expect(bodies.ground).toBe(-0.5);
    expect(bodies.objects.map((object) => object?.userData["collider"])).toEqual([0, undefined, 2]);
    bodies.update([null, null, [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2]], undefined);
    bodies.group.updateMatrixWorld();
    const hits = new Raycaster(new Vector3(0.2, 0.2, 9), new Vector3(0, 0, -1)).intersectObjects(bodies.group.children);
    expect(hits.map((hit) => [hit.object.userData["collider"], hit.point.z])).toEqual([[2, 7], [0, 0]]);
  });
});

describe("numbers of a finished run", () => {
  it("has the strain of the edges at each vertex", () => {
    const strain = new EdgeStrain(triangles, positions).of(positions.map((x, i) => (i % 3 === 0 ? 1.1 * x : x)));
    // The diagonal from 0 to 3 is √(1.1² + 1) / √2 − 1 = 5.1 %; edges along x have 10 %.
    expect([...strain].map((s) => s.toFixed(4))).toEqual(["0.1000", "0.1000", "0.1000", "0.1000"]);
  });
  it("has speeds from two frames", () => {
    expect([...speeds(positions, positions.map((x, i) => (i % 3 === 1 ? x + 0.5 : x)), 0.25)]).toEqual([2, 2, 2, 2]);
  });
});

it("estimates the size of a scene from its text", () => {
  expect(estimate({ do: "open", toml: "grid = { size = [1, 1], cells = [999, 999] }" })).toBe(1_000_000);
  expect(estimate({ do: "open", scene: "drape" })).toBe(0);
});
