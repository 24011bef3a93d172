/**
 * Where a body of a finished run is at a time: its `path`, as CONVENTIONS.md defines it (a turn about `axis` through `center`, then an offset,
 * both from the initial state). A finished run keeps positions of cloth and meshes, not of spheres and boxes.
 */
import * as THREE from "three";

interface Waypoint {
  time: number;
  offset?: number[];
  turn?: number;
}

export function poseAt(collider: Record<string, unknown>, center: THREE.Vector3, time: number): number[] | null {
  const path = collider["path"] as Waypoint[] | undefined;
  if (!path?.length) return null;
  let next = path.findIndex((w) => w.time > time);
  if (next < 0) next = path.length;
  const a = path[Math.max(next - 1, 0)]!;
  const b = path[Math.min(next, path.length - 1)]!;
  let t = b.time > a.time ? Math.min(Math.max((time - a.time) / (b.time - a.time), 0), 1) : 0;
  if (collider["ease"] === "smooth") t = t * t * (3 - 2 * t);
  const mix = (p: number, q: number): number => p + t * (q - p);
  const offset = [0, 1, 2].map((k) => mix(a.offset?.[k] ?? 0, b.offset?.[k] ?? 0));
  const turn = (mix(a.turn ?? 0, b.turn ?? 0) * Math.PI) / 180;
  const axis = new THREE.Vector3(...((collider["axis"] as [number, number, number]) ?? [0, 1, 0])).normalize();
  const given = collider["center"];
  const about = Array.isArray(given) ? new THREE.Vector3(given[0], given[1], given[2]) : center;
  const m = new THREE.Matrix4()
    .makeTranslation(about.x + offset[0]!, about.y + offset[1]!, about.z + offset[2]!)
    .multiply(new THREE.Matrix4().makeRotationAxis(axis, turn))
    .multiply(new THREE.Matrix4().makeTranslation(-about.x, -about.y, -about.z));
  const e = m.elements;
  return [e[0]!, e[4]!, e[8]!, e[12]!, e[1]!, e[5]!, e[9]!, e[13]!, e[2]!, e[6]!, e[10]!, e[14]!];
}

/** The middle of a shape in the initial state. */
export function middleOf(shape: Record<string, unknown>): THREE.Vector3 {
  const at = (key: string): THREE.Vector3 | undefined => {
    const v = shape[key];
    return Array.isArray(v) ? new THREE.Vector3(v[0], v[1], v[2]) : undefined;
  };
  const a = at("a");
  const b = at("b");
  if (a && b) return a.add(b).multiplyScalar(0.5);
  return at("center") ?? at("point") ?? new THREE.Vector3();
}
