/** What is drawn of one simulation: cloth, bodies, pins, ground and lights. */
import * as THREE from "three";
import type { SceneInfo } from "../engine/protocol";
import { lookUp } from "../lib/toml";
import { Bodies } from "./bodies";
import { Cloth, type Geometry } from "./cloth";
import { Ground } from "./ground";

/** Muted dyes, one after the other for cloths that name no colour. */
const dyes = [0xb8574a, 0x4f7396, 0xc39a4e, 0x64855f, 0x84648f, 0x5b8f93, 0xa9765a, 0x8a8f99];

export interface FrameData {
  frame: number;
  time: number;
  positions: Float32Array;
  bodies?: Float32Array | undefined;
  poses?: (number[] | null)[] | undefined;
  numbers?: Float32Array | undefined;
}

export class SideView {
  readonly scene = new THREE.Scene();
  readonly cloth = new Cloth();
  readonly bodies = new Bodies();
  readonly ground = new Ground();
  readonly bounds = new THREE.Box3();
  private readonly key = new THREE.DirectionalLight(0xfff6ea, 1.75);
  private readonly fill = new THREE.DirectionalLight(0xeef2fa, 0.55);
  private readonly sky = new THREE.HemisphereLight(0xf6f7fa, 0xa09a92, 1.25);
  private readonly pinGeometry = new THREE.BufferGeometry();
  private readonly pinPoints: THREE.Points;
  private pinned: number[] = [];
  private height = 0;
  private coarse = false;
  /** Whether the ground gives way to cloth that comes below it: it is only drawn, nothing lies on it. */
  private sinks = false;
  private held: number[] = [];

  constructor() {
    this.key.castShadow = true;
    this.key.shadow.mapSize.set(2048, 2048);
    this.key.shadow.radius = 3;
    this.key.shadow.bias = -2e-4;
    this.pinPoints = new THREE.Points(
      this.pinGeometry,
      new THREE.PointsMaterial({ size: 9, sizeAttenuation: false, map: dot(), alphaTest: 0.4, transparent: true, vertexColors: true, depthTest: false }),
    );
    this.pinPoints.frustumCulled = false;
    this.pinPoints.renderOrder = 10;
    this.scene.add(this.cloth.group, this.bodies.group, this.ground.group, this.key, this.key.target, this.fill, this.sky, this.pinPoints);
  }

  setScene(info: SceneInfo, geometry: Geometry, colliders = info.colliders): void {
    const tints = info.cloths.map((cloth, i) => ({
      first: cloth.first,
      vertices: cloth.vertices,
      color: clothColor(lookUp(info.values, `cloth.${i}.color`), i),
    }));
    this.cloth.setGeometry(geometry, tints);
    const box = new THREE.Box3().setFromArray(this.cloth.positions as unknown as number[]);
    const size = box.getSize(new THREE.Vector3()).length();
    this.bodies.build(colliders, geometry.surfaces ?? [], geometry.bodyTriangles, size);
    this.setPinned(info.pinned);
  }

  /** Light, ground and the extent of what there is, once the first frame is in. */
  settle(info: SceneInfo): void {
    this.bounds.setFromArray(this.cloth.positions as unknown as number[]);
    const cloth = this.bounds.getSize(new THREE.Vector3()).length();
    for (const object of this.bodies.objects) {
      if (!object) continue;
      const box = new THREE.Box3().setFromObject(object);
      // A wall would make all else small.
      if (box.getSize(new THREE.Vector3()).length() < 4 * cloth) this.bounds.union(box);
    }
    const given = lookUp(info.values, "view.ground_height");
    this.sinks = this.bodies.ground === undefined && typeof given !== "number";
    const low = this.bounds.min.y;
    // Scenes are built over y = 0; one that is far from it has its ground below itself.
    this.height = this.bodies.ground ?? (typeof given === "number" ? given : low >= 0 && low < 2 * cloth ? 0 : low - 0.5 * cloth);
    // What hangs or falls comes down to it.
    if (low - this.height < cloth) this.bounds.min.y = Math.min(low, this.height);
    const center = this.bounds.getCenter(new THREE.Vector3());
    const reach = Math.max(this.bounds.getSize(new THREE.Vector3()).length() / 2, 0.05);
    const span = reach * 1.35;
    this.ground.place(this.height, center, reach * 7);
    this.ground.group.visible = lookUp(info.values, "view.ground") !== false || this.bodies.ground !== undefined;
    const direction = keyDirection(info.values);
    this.key.target.position.copy(center);
    this.key.position.copy(center).addScaledVector(direction, span * 3);
    this.fill.position.copy(center).add(new THREE.Vector3(-direction.x, 0.3, -direction.z).multiplyScalar(3 * reach));
    const shadow = this.key.shadow.camera;
    shadow.left = shadow.bottom = -span;
    shadow.right = shadow.top = span;
    shadow.near = span * 0.5;
    shadow.far = span * 6;
    shadow.updateProjectionMatrix();
    this.key.shadow.normalBias = span * (this.coarse ? 0.014 : 0.006);
  }

  update(frame: FrameData): void {
    this.cloth.update(frame.positions, frame.numbers);
    this.bodies.update(frame.poses, frame.bodies);
    if (this.sinks) this.sink(frame.positions);
    this.placePins();
  }

  private sink(positions: Float32Array): void {
    let low = this.height;
    for (let i = 1; i < positions.length; i += 3) if (positions[i]! < low) low = positions[i]!;
    if (low >= this.height) return;
    this.height = low;
    this.ground.lower(low);
  }

  setPinned(pinned: number[]): void {
    this.pinned = pinned;
    this.placePins();
  }

  setHeld(vertices: number[]): void {
    this.held = vertices;
    this.placePins();
  }

  private placePins(): void {
    const { length } = this.pinned;
    const count = length + this.held.length;
    this.pinPoints.visible = count > 0;
    if (count === 0) return;
    const room = this.pinGeometry.getAttribute("position")?.count ?? 0;
    if (room < count) {
      this.pinGeometry.dispose();
      this.pinGeometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * 2 * count), 3));
      this.pinGeometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(3 * 2 * count), 3));
    }
    const at = this.pinGeometry.getAttribute("position") as THREE.BufferAttribute;
    const color = this.pinGeometry.getAttribute("color") as THREE.BufferAttribute;
    const p = this.cloth.positions;
    for (let i = 0; i < count; i++) {
      const v = 3 * (i < length ? this.pinned[i]! : this.held[i - length]!);
      at.setXYZ(i, p[v] ?? 0, p[v + 1] ?? 0, p[v + 2] ?? 0);
      if (i < length) color.setXYZ(i, 0.06, 0.07, 0.09);
      else color.setXYZ(i, 0.9, 0.55, 0.1);
    }
    at.needsUpdate = true;
    color.needsUpdate = true;
    this.pinGeometry.setDrawRange(0, count);
  }

  showPins(visible: boolean): void {
    (this.pinPoints.material as THREE.PointsMaterial).visible = visible;
  }

  coarseShadow(): void {
    this.key.shadow.mapSize.set(1024, 1024);
    this.key.shadow.bias = -1e-3;
    this.coarse = true;
  }

  shadows(on: boolean): void {
    this.key.castShadow = on;
  }

  theme(dark: boolean): void {
    this.ground.theme(dark);
    this.bodies.tint(dark ? 0x767d86 : 0x9aa0a8);
    this.sky.intensity = dark ? 1.15 : 1.45;
    this.sky.groundColor.set(dark ? 0x6b6661 : 0xaaa49b);
  }

  dispose(): void {
    this.cloth.dispose();
    this.bodies.clear();
    this.pinGeometry.dispose();
    this.key.shadow.map?.dispose();
  }
}

function clothColor(given: unknown, index: number): THREE.Color {
  if (Array.isArray(given) && given.length === 3) return new THREE.Color().setRGB(given[0], given[1], given[2], THREE.SRGBColorSpace);
  return new THREE.Color(dyes[index % dyes.length]!);
}

/** Light comes from above, over the left shoulder of whoever looks. */
function keyDirection(values: unknown): THREE.Vector3 {
  const triple = (path: string): THREE.Vector3 | undefined => {
    const v = lookUp(values, path);
    return Array.isArray(v) ? new THREE.Vector3(v[0], v[1], v[2]) : undefined;
  };
  const eye = triple("view.eye");
  const forward = eye ? (triple("view.target") ?? new THREE.Vector3()).sub(eye) : (triple("view.direction") ?? new THREE.Vector3(-0.5, 0, -0.9));
  forward.y = 0;
  if (forward.lengthSq() < 1e-9) forward.set(0, 0, -1);
  forward.normalize();
  const right = new THREE.Vector3(-forward.z, 0, forward.x);
  return new THREE.Vector3(0, 1, 0).addScaledVector(forward, -0.6).addScaledVector(right, -0.5).normalize();
}

/** A round dot with a light rim, so that it shows on any cloth. */
function dot(): THREE.Texture {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 32;
  const c = canvas.getContext("2d")!;
  c.fillStyle = "#ffffff";
  c.beginPath();
  c.arc(16, 16, 14, 0, 7);
  c.fill();
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  return texture;
}
