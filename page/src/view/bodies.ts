/** The bodies that cloth touches, as the engine draws them: surfaces of triangles, planes, and meshes that deform. */
import * as THREE from "three";
import type { ColliderInfo, Surface } from "../engine/protocol";
import { vertexNormals } from "./normals";

interface MeshBody {
  geometry: THREE.BufferGeometry;
  positions: Float32Array;
  normals: Float32Array;
  triangles: Uint32Array;
  first: number;
}

export class Bodies {
  readonly group = new THREE.Group();
  /** By the number of the collider; a level plane that is the ground has none. */
  readonly objects: (THREE.Object3D | undefined)[] = [];
  /** Height of a level plane that carries everything, if there is one. */
  ground: number | undefined;
  /** Where bodies were put while time stands still, in m from their poses; the simulation brings them there once it goes on. */
  readonly aims = new Map<number, [number, number, number]>();
  private meshes: MeshBody[] = [];
  // Cloth lies within a millimetre on bodies, and its triangles cut their edges short: bodies are drawn a little farther away.
  private readonly material = new THREE.MeshStandardMaterial({ color: 0x8b929b, roughness: 0.62, metalness: 0, ...behind(3) });
  private readonly lit = new THREE.MeshStandardMaterial({ color: 0xc99a55, roughness: 0.6, ...behind(3) });
  private readonly planeMaterial = new THREE.MeshStandardMaterial({ color: 0x8b929b, roughness: 0.9, transparent: true, opacity: 0.35, side: THREE.DoubleSide });

  build(colliders: ColliderInfo[], surfaces: Surface[], bodyTriangles: Uint32Array | undefined, size: number): void {
    this.clear();
    this.ground = undefined;
    let firstMesh = 0;
    colliders.forEach((info, index) => {
      if (info.kind !== "mesh") return;
      const first = info.first ?? firstMesh;
      const count = info.vertices ?? 0;
      firstMesh = first + count;
      this.add(index, this.mesh(first, count, bodyTriangles ?? new Uint32Array(0)));
    });
    for (const surface of surfaces) {
      const { plane } = surface;
      const object = plane ? this.plane(new THREE.Vector3(...plane.point), new THREE.Vector3(...plane.normal), size) : this.surface(surface);
      if (object) this.add(surface.collider, object);
    }
  }

  private add(index: number, object: THREE.Object3D): void {
    object.userData["collider"] = index;
    // A pose is a whole matrix, world from the initial state.
    object.matrixAutoUpdate = false;
    this.group.add(object);
    this.objects[index] = object;
  }

  private surface({ positions, normals, triangles }: Surface): THREE.Mesh {
    const geometry = new THREE.BufferGeometry();
    geometry.setIndex(new THREE.BufferAttribute(triangles, 1));
    geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
    geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3));
    const mesh = new THREE.Mesh(geometry, this.material);
    mesh.castShadow = true;
    mesh.receiveShadow = true;
    return mesh;
  }

  private plane(point: THREE.Vector3, normal: THREE.Vector3, size: number): THREE.Object3D | undefined {
    normal.normalize();
    if (normal.y > 0.9999 && this.ground === undefined) {
      this.ground = point.y;
      return undefined;
    }
    const geometry = new THREE.PlaneGeometry(size * 2, size * 2);
    geometry.applyQuaternion(new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal));
    geometry.translate(point.x, point.y, point.z);
    return new THREE.Mesh(geometry, this.planeMaterial);
  }

  private mesh(first: number, count: number, all: Uint32Array): THREE.Mesh {
    const own: number[] = [];
    for (let t = 0; t < all.length; t += 3) {
      if (all[t]! >= first && all[t]! < first + count) own.push(all[t]! - first, all[t + 1]! - first, all[t + 2]! - first);
    }
    const triangles = Uint32Array.from(own);
    const positions = new Float32Array(count * 3);
    const normals = new Float32Array(count * 3);
    const geometry = new THREE.BufferGeometry();
    geometry.setIndex(new THREE.BufferAttribute(triangles, 1));
    geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
    geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3));
    this.meshes.push({ geometry, positions, normals, triangles, first });
    const mesh = new THREE.Mesh(geometry, this.material);
    mesh.castShadow = true;
    mesh.receiveShadow = true;
    mesh.frustumCulled = false;
    return mesh;
  }

  update(poses: (number[] | null)[] | undefined, bodies: Float32Array | undefined): void {
    poses?.forEach((pose, index) => {
      const object = this.objects[index];
      if (pose && object) setPose(object, pose, this.aims.get(index));
    });
    if (!bodies) return;
    for (const mesh of this.meshes) {
      const from = mesh.first * 3;
      if (bodies.length < from + mesh.positions.length) continue;
      mesh.positions.set(bodies.subarray(from, from + mesh.positions.length));
      vertexNormals(mesh.positions, mesh.triangles, mesh.normals);
      (mesh.geometry.getAttribute("position") as THREE.BufferAttribute).needsUpdate = true;
      (mesh.geometry.getAttribute("normal") as THREE.BufferAttribute).needsUpdate = true;
      // Picking asks for it, and the body has moved.
      mesh.geometry.boundingSphere = null;
    }
  }

  /** Shows which body the pointer holds or is over. */
  light(index: number | undefined): void {
    this.objects.forEach((object, i) => {
      if (object instanceof THREE.Mesh && object.material !== this.planeMaterial) object.material = i === index ? this.lit : this.material;
    });
  }

  tint(color: number): void {
    this.material.color.set(color);
  }

  clear(): void {
    for (const object of this.objects) if (object instanceof THREE.Mesh) object.geometry.dispose();
    this.group.clear();
    this.objects.length = 0;
    this.aims.clear();
    this.meshes = [];
  }
}

/** Row by row, 3×4. */
function setPose(object: THREE.Object3D, p: number[], aim: readonly number[] = [0, 0, 0]): void {
  const [x, y, z] = [p[3]! + aim[0]!, p[7]! + aim[1]!, p[11]! + aim[2]!];
  object.matrix.set(p[0]!, p[1]!, p[2]!, x, p[4]!, p[5]!, p[6]!, y, p[8]!, p[9]!, p[10]!, z, 0, 0, 0, 1);
  object.matrixWorldNeedsUpdate = true;
}

/** Depth that is put farther away by so many pixels' worth of slope. */
export function behind(pixels: number): { polygonOffset: boolean; polygonOffsetFactor: number; polygonOffsetUnits: number } {
  return { polygonOffset: pixels > 0, polygonOffsetFactor: pixels, polygonOffsetUnits: 4 * pixels };
}
