/** The canvas: one camera, one view or two beside each other, drawn when something has changed. */
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { SceneInfo } from "../engine/protocol";
import { lookUp } from "../lib/toml";
import { SideView } from "./sideview";

export class Stage {
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(35, 1, 0.01, 100);
  readonly controls: OrbitControls;
  readonly views: SideView[] = [new SideView()];
  /** Called once a display frame, before drawing. */
  onTick: ((now: number) => void) | undefined;
  /** Frames drawn in the last second. */
  fps = 0;
  /** Whether WebGL runs on the processor. */
  readonly software: boolean;
  private dirty = true;
  private dark = true;
  private drawn: number[] = [];
  private slow = 0;
  private ratio = 1;

  constructor(readonly canvas: HTMLCanvasElement) {
    // Without a graphics card every pixel is paid for several times over by the processor that also simulates.
    this.software = isSoftware();
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !this.software, powerPreference: "high-performance" });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = this.software ? THREE.BasicShadowMap : THREE.PCFShadowMap;
    if (this.software) this.views[0]!.coarseShadow();
    this.renderer.toneMapping = THREE.NoToneMapping;
    this.renderer.setScissorTest(true);
    this.ratio = this.software ? 1 : Math.min(window.devicePixelRatio, 2);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => this.invalidate());
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
    this.resize();
    const loop = (now: number): void => {
      requestAnimationFrame(loop);
      this.onTick?.(now);
      this.drawIfNeeded(now);
    };
    requestAnimationFrame(loop);
  }

  invalidate(): void {
    this.dirty = true;
  }

  setSides(count: 1 | 2): void {
    while (this.views.length > count) this.views.pop()!.dispose();
    while (this.views.length < count) {
      const view = new SideView();
      view.theme(this.dark);
      if (this.software) view.coarseShadow();
      this.views.push(view);
    }
    this.resize();
  }

  theme(dark: boolean): void {
    this.dark = dark;
    this.renderer.setClearColor(dark ? 0x17191d : 0xeceae6);
    for (const view of this.views) view.theme(dark);
    this.invalidate();
  }

  resize(): void {
    const parent = this.canvas.parentElement!;
    const width = Math.max(parent.clientWidth, 1);
    const height = Math.max(parent.clientHeight, 1);
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / this.views.length / height;
    this.camera.updateProjectionMatrix();
    this.invalidate();
  }

  /** Where the scene says, or far enough to see everything. */
  frameCamera(info: SceneInfo): void {
    const view = this.views[0]!;
    const fov = lookUp(info.values, "view.fov");
    this.camera.fov = typeof fov === "number" ? fov : 35;
    const center = view.bounds.getCenter(new THREE.Vector3());
    const radius = Math.max(view.bounds.getSize(new THREE.Vector3()).length() / 2, 0.05);
    const target = triple(lookUp(info.values, "view.target")) ?? center;
    const eye = triple(lookUp(info.values, "view.eye"));
    if (eye) {
      this.camera.position.copy(eye);
    } else {
      const direction = (triple(lookUp(info.values, "view.direction")) ?? new THREE.Vector3(-0.5, -0.4, -0.9)).normalize();
      this.camera.position.copy(target).addScaledVector(direction, -this.distanceFor(view.bounds, target, direction));
    }
    this.camera.near = radius / 200;
    this.camera.far = radius * 60;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(target);
    this.controls.minDistance = radius / 30;
    this.controls.maxDistance = radius * 20;
    this.controls.update();
    this.invalidate();
  }

  /** How far from `target` the camera has every corner of a box in sight, with a margin. */
  private distanceFor(box: THREE.Box3, target: THREE.Vector3, direction: THREE.Vector3): number {
    const right = new THREE.Vector3().crossVectors(direction, this.camera.up).normalize();
    const up = new THREE.Vector3().crossVectors(right, direction);
    const tall = Math.tan((this.camera.fov * Math.PI) / 360) * 0.9;
    const wide = tall * this.camera.aspect;
    let distance = 0;
    for (let k = 0; k < 8; k++) {
      const corner = new THREE.Vector3(k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y, k & 4 ? box.max.z : box.min.z).sub(target);
      const near = corner.dot(direction);
      distance = Math.max(distance, Math.abs(corner.dot(right)) / wide - near, Math.abs(corner.dot(up)) / tall - near);
    }
    return Math.max(distance, 0.1);
  }

  /** Turns the camera about what it looks at, by radians, and moves it nearer by a factor. */
  orbit(azimuth: number, polar: number, nearer = 1): void {
    const offset = this.camera.position.clone().sub(this.controls.target);
    const s = new THREE.Spherical().setFromVector3(offset);
    s.theta += azimuth;
    s.phi = Math.min(Math.max(s.phi + polar, 0.02), Math.PI - 0.02);
    s.radius = Math.min(Math.max(s.radius / nearer, this.controls.minDistance), this.controls.maxDistance);
    this.camera.position.copy(this.controls.target).add(offset.setFromSpherical(s));
    this.controls.update();
    this.invalidate();
  }

  /** The side under a point of the window, and the ray through it. */
  rayAt(clientX: number, clientY: number): { side: number; ray: THREE.Ray } {
    const box = this.canvas.getBoundingClientRect();
    const width = box.width / this.views.length;
    const side = Math.min(Math.max(Math.floor((clientX - box.left) / width), 0), this.views.length - 1);
    return { side, ray: this.rayIn(side, clientX, clientY) };
  }

  rayIn(side: number, clientX: number, clientY: number): THREE.Ray {
    const box = this.canvas.getBoundingClientRect();
    const width = box.width / this.views.length;
    const x = ((clientX - box.left - side * width) / width) * 2 - 1;
    const y = 1 - ((clientY - box.top) / box.height) * 2;
    const caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2(x, y), this.camera);
    return caster.ray;
  }

  /** The angle that a pixel spans, in the middle of the picture. */
  anglePerPixel(): number {
    return (2 * Math.tan((this.camera.fov * Math.PI) / 360)) / Math.max(this.canvas.clientHeight, 1);
  }

  /** Where a point of a side lies in the window, in CSS pixels. */
  project(point: THREE.Vector3, side = 0): { x: number; y: number } {
    this.camera.updateMatrixWorld();
    const p = point.clone().project(this.camera);
    const box = this.canvas.getBoundingClientRect();
    const width = box.width / this.views.length;
    return { x: box.left + side * width + ((p.x + 1) / 2) * width, y: box.top + ((1 - p.y) / 2) * box.height };
  }

  /** Draws now: for pictures, which must be read in the same task. */
  draw(): void {
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    const each = width / this.views.length;
    this.views.forEach((view, i) => {
      this.renderer.setViewport(i * each, 0, each, height);
      this.renderer.setScissor(i * each, 0, each, height);
      this.renderer.render(view.scene, this.camera);
    });
  }

  private drawIfNeeded(now: number): void {
    while (this.drawn.length > 0 && this.drawn[0]! < now - 1000) this.drawn.shift();
    this.fps = this.drawn.length;
    if (!this.dirty) return;
    this.dirty = false;
    const gap = now - (this.drawn.at(-1) ?? now);
    this.draw();
    this.drawn.push(now);
    // Several slow frames in a row: fewer pixels rather than a page that stutters.
    this.slow = gap > 60 && gap < 500 ? this.slow + 1 : Math.max(0, this.slow - 1);
    if (this.slow > 20 && this.ratio > 1) {
      this.ratio = 1;
      this.slow = 0;
      this.resize();
    }
  }
}

function triple(value: unknown): THREE.Vector3 | undefined {
  return Array.isArray(value) && value.length === 3 ? new THREE.Vector3(value[0], value[1], value[2]) : undefined;
}

function isSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const named = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && named ? String(gl.getParameter(named.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

export function hasWebGl2(): boolean {
  try {
    return document.createElement("canvas").getContext("webgl2") !== null;
  } catch {
    return false;
  }
}
