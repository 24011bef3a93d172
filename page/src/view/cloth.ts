/** All cloths of one simulation, as one mesh. */
import * as THREE from "three";
import type { Surface } from "../engine/protocol";
import { behind } from "./bodies";
import { fabricMaterial, type FabricUniforms } from "./fabric";
import { vertexNormals } from "./normals";
import { weaveCoordinates } from "./weave";

export interface Geometry {
  triangles: Uint32Array;
  rest: Float32Array;
  uv?: Float32Array | undefined;
  bodyTriangles?: Uint32Array | undefined;
  /** Of the colliders that are no meshes. */
  surfaces?: Surface[] | undefined;
}

export interface Tints {
  first: number;
  vertices: number;
  color: THREE.Color;
}

export class Cloth {
  readonly group = new THREE.Group();
  positions: Float32Array = new Float32Array(0);
  triangles: Uint32Array = new Uint32Array(0);
  private geometry = new THREE.BufferGeometry();
  private readonly mesh: THREE.Mesh;
  private readonly wires: THREE.Mesh;
  private readonly uniforms: FabricUniforms;
  private normals = new Float32Array(0);
  private numbers = new Float32Array(0);
  private readonly wireMaterial = new THREE.MeshBasicMaterial({ wireframe: true, color: 0x101418, transparent: true, opacity: 0.35 });

  constructor() {
    const { material, uniforms } = fabricMaterial();
    this.uniforms = uniforms;
    this.mesh = new THREE.Mesh(this.geometry, material);
    this.mesh.castShadow = true;
    this.mesh.receiveShadow = true;
    // Bounds change with every frame; finding them costs more than drawing what is out of sight.
    this.mesh.frustumCulled = false;
    this.wires = new THREE.Mesh(this.geometry, this.wireMaterial);
    this.wires.frustumCulled = false;
    this.wires.visible = false;
    this.group.add(this.mesh, this.wires);
    // A mesh that is first drawn without normals is shaded flat for good: its shader is not made again.
    this.setGeometry({ triangles: new Uint32Array(0), rest: new Float32Array(0) }, []);
  }

  setGeometry(geometry: Geometry, tints: Tints[]): void {
    this.geometry.dispose();
    const count = geometry.rest.length / 3;
    this.triangles = geometry.triangles;
    this.positions = geometry.rest.slice();
    this.normals = new Float32Array(count * 3);
    this.numbers = new Float32Array(count);
    const tint = new Float32Array(count * 3);
    for (const { first, vertices, color } of tints) {
      for (let i = first; i < first + vertices; i++) color.toArray(tint, 3 * i);
    }
    const g = new THREE.BufferGeometry();
    g.setIndex(new THREE.BufferAttribute(geometry.triangles as Uint32Array<ArrayBuffer>, 1));
    g.setAttribute("position", dynamic(this.positions, 3));
    g.setAttribute("normal", dynamic(this.normals, 3));
    g.setAttribute("number", dynamic(this.numbers, 1));
    g.setAttribute("tint", new THREE.BufferAttribute(tint, 3));
    g.setAttribute("weave", new THREE.BufferAttribute(weaveCoordinates(geometry.rest, geometry.triangles, geometry.uv), 3));
    this.geometry = g;
    this.mesh.geometry = g;
    this.wires.geometry = g;
    this.update(this.positions, undefined);
  }

  /** New positions, and a number per vertex if cloth is coloured by one. */
  update(positions: Float32Array, numbers: Float32Array | undefined): void {
    if (positions.length !== this.positions.length) return;
    if (positions !== this.positions) this.positions.set(positions);
    vertexNormals(this.positions, this.triangles, this.normals);
    touch(this.geometry, "position");
    touch(this.geometry, "normal");
    if (numbers && numbers.length === this.numbers.length) {
      this.numbers.set(numbers);
      touch(this.geometry, "number");
    }
  }

  colorBy(range: [number, number] | undefined): void {
    this.uniforms.byValue.value = range ? 1 : 0;
    if (range) this.uniforms.range.value.set(range[0], range[1]);
  }

  /** The surface as fabric, as plain cloth, or not at all; with or without wires. */
  show(surface: "fabric" | "plain" | "none", wires: boolean, wireColor: number): void {
    this.uniforms.threads.value = surface === "fabric" ? 260 : 0;
    this.mesh.visible = surface !== "none";
    this.wires.visible = wires || surface === "none";
    // Wires lie in the surface, and lines cannot be offset themselves.
    Object.assign(this.mesh.material, behind(wires ? 1 : 0));
    this.wireMaterial.color.set(wireColor);
    this.wireMaterial.opacity = surface === "none" ? 0.8 : 0.3;
  }

  dispose(): void {
    this.geometry.dispose();
    (this.mesh.material as THREE.Material).dispose();
    this.wireMaterial.dispose();
  }
}

function dynamic(array: Float32Array, size: number): THREE.BufferAttribute {
  const attribute = new THREE.BufferAttribute(array, size);
  attribute.setUsage(THREE.DynamicDrawUsage);
  return attribute;
}

function touch(geometry: THREE.BufferGeometry, name: string): void {
  const attribute = geometry.getAttribute(name) as THREE.BufferAttribute | undefined;
  if (attribute) attribute.needsUpdate = true;
}
