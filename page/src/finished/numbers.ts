/** Numbers per vertex that a finished run does not hold: strain from its edges, speed from two frames. */

export class EdgeStrain {
  private readonly edges: Uint32Array;
  private readonly lengths: Float32Array;

  constructor(triangles: Uint32Array, rest: Float32Array) {
    const seen = new Set<number>();
    const edges: number[] = [];
    const count = rest.length / 3;
    for (let t = 0; t < triangles.length; t += 3) {
      for (let k = 0; k < 3; k++) {
        const a = triangles[t + k]!, b = triangles[t + ((k + 1) % 3)]!;
        const key = Math.min(a, b) * count + Math.max(a, b);
        if (!seen.has(key)) {
          seen.add(key);
          edges.push(a, b);
        }
      }
    }
    this.edges = Uint32Array.from(edges);
    this.lengths = new Float32Array(edges.length / 2);
    for (let e = 0; e < this.lengths.length; e++) this.lengths[e] = distance(rest, edges[2 * e]!, edges[2 * e + 1]!);
  }

  /** The largest |length / rest length − 1| of the edges at each vertex. */
  of(positions: Float32Array): Float32Array {
    const out = new Float32Array(positions.length / 3);
    for (let e = 0; e < this.lengths.length; e++) {
      const a = this.edges[2 * e]!, b = this.edges[2 * e + 1]!;
      const rest = this.lengths[e]!;
      if (!(rest > 0)) continue;
      const strain = Math.abs(distance(positions, a, b) / rest - 1);
      if (strain > out[a]!) out[a] = strain;
      if (strain > out[b]!) out[b] = strain;
    }
    return out;
  }
}

function distance(p: Float32Array, a: number, b: number): number {
  return Math.hypot(p[3 * a]! - p[3 * b]!, p[3 * a + 1]! - p[3 * b + 1]!, p[3 * a + 2]! - p[3 * b + 2]!);
}

export function speeds(before: Float32Array, now: Float32Array, seconds: number): Float32Array {
  const out = new Float32Array(now.length / 3);
  for (let i = 0; i < out.length; i++) {
    out[i] = Math.hypot(now[3 * i]! - before[3 * i]!, now[3 * i + 1]! - before[3 * i + 1]!, now[3 * i + 2]! - before[3 * i + 2]!) / seconds;
  }
  return out;
}
