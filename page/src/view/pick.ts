/** What of the cloth is under the pointer. */
import { Vector3, type Ray } from "three";

export interface Hit {
  distance: number;
  triangle: number;
  /** The nearest corner of the triangle. */
  vertex: number;
}

/** The first triangle that a ray meets, from either side (Möller and Trumbore 1997). */
export function pickCloth(ray: Ray, positions: Float32Array, triangles: Uint32Array): Hit | undefined {
  const { x: ox, y: oy, z: oz } = ray.origin;
  const { x: dx, y: dy, z: dz } = ray.direction;
  let best: Hit | undefined;
  for (let t = 0; t < triangles.length; t += 3) {
    const a = triangles[t]! * 3, b = triangles[t + 1]! * 3, c = triangles[t + 2]! * 3;
    const ax = positions[a]!, ay = positions[a + 1]!, az = positions[a + 2]!;
    const ux = positions[b]! - ax, uy = positions[b + 1]! - ay, uz = positions[b + 2]! - az;
    const vx = positions[c]! - ax, vy = positions[c + 1]! - ay, vz = positions[c + 2]! - az;
    const px = dy * vz - dz * vy, py = dz * vx - dx * vz, pz = dx * vy - dy * vx;
    const det = ux * px + uy * py + uz * pz;
    if (Math.abs(det) < 1e-20) continue;
    const sx = ox - ax, sy = oy - ay, sz = oz - az;
    const s = (sx * px + sy * py + sz * pz) / det;
    if (s < 0 || s > 1) continue;
    const qx = sy * uz - sz * uy, qy = sz * ux - sx * uz, qz = sx * uy - sy * ux;
    const r = (dx * qx + dy * qy + dz * qz) / det;
    if (r < 0 || s + r > 1) continue;
    const distance = (vx * qx + vy * qy + vz * qz) / det;
    if (distance <= 0 || (best && distance >= best.distance)) continue;
    const first = 1 - s - r;
    const corner = first >= s && first >= r ? 0 : s >= r ? 1 : 2;
    best = { distance, triangle: t / 3, vertex: triangles[t + corner]! };
  }
  return best;
}

/** A vertex and those that share a triangle with it: what a finger takes hold of. */
export function handful(vertex: number, triangles: Uint32Array): number[] {
  const found = new Set<number>([vertex]);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = triangles[t]!, b = triangles[t + 1]!, c = triangles[t + 2]!;
    if (a === vertex || b === vertex || c === vertex) found.add(a).add(b).add(c);
  }
  return [...found];
}

/**
 * The vertex that a ray passes closest by, seen from its origin: for pointers that just miss the border of a cloth. `reach` is the largest
 * distance over depth, so that it means as many pixels everywhere. `among` are the vertices that count, or all do.
 */
export function pickNear(ray: Ray, positions: Float32Array, reach: number, among?: readonly number[]): { vertex: number; distance: number } | undefined {
  const { x: ox, y: oy, z: oz } = ray.origin;
  const { x: dx, y: dy, z: dz } = ray.direction;
  let best = reach * reach;
  let found: { vertex: number; distance: number } | undefined;
  const count = among?.length ?? positions.length / 3;
  for (let n = 0; n < count; n++) {
    const i = 3 * (among ? among[n]! : n);
    const x = positions[i]! - ox, y = positions[i + 1]! - oy, z = positions[i + 2]! - oz;
    const depth = x * dx + y * dy + z * dz;
    if (depth <= 0) continue;
    const off = (x * x + y * y + z * z - depth * depth) / (depth * depth);
    if (off < best) {
      best = off;
      found = { vertex: i / 3, distance: depth };
    }
  }
  return found;
}

export function vertexAt(positions: Float32Array, vertex: number): Vector3 {
  return new Vector3(positions[3 * vertex], positions[3 * vertex + 1], positions[3 * vertex + 2]);
}
