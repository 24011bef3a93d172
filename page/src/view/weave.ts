/**
 * Where on the cloth the threads run: coordinates in m, three per vertex.
 *
 * With uv, they are (u, v, 0) stretched so that they measure metres: u by the root mean square of |∂X/∂u| over the triangles, v likewise.
 * Without, they are the rest positions; the shader then looks along the axis that the rest triangle faces most.
 */
export function weaveCoordinates(rest: Float32Array, triangles: Uint32Array, uv: Float32Array | undefined): Float32Array {
  if (!uv) return rest.slice();
  let sumU = 0, sumV = 0, area = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const a = triangles[t]!, b = triangles[t + 1]!, c = triangles[t + 2]!;
    const u1 = uv[2 * b]! - uv[2 * a]!, v1 = uv[2 * b + 1]! - uv[2 * a + 1]!;
    const u2 = uv[2 * c]! - uv[2 * a]!, v2 = uv[2 * c + 1]! - uv[2 * a + 1]!;
    const det = u1 * v2 - u2 * v1;
    if (Math.abs(det) < 1e-20) continue;
    let uu = 0, vv = 0;
    for (let k = 0; k < 3; k++) {
      const e1 = rest[3 * b + k]! - rest[3 * a + k]!;
      const e2 = rest[3 * c + k]! - rest[3 * a + k]!;
      uu += ((e1 * v2 - e2 * v1) / det) ** 2;
      vv += ((e2 * u1 - e1 * u2) / det) ** 2;
    }
    sumU += uu * Math.abs(det);
    sumV += vv * Math.abs(det);
    area += Math.abs(det);
  }
  if (!(area > 0)) return rest.slice();
  const scaleU = Math.sqrt(sumU / area);
  const scaleV = Math.sqrt(sumV / area);
  const count = uv.length / 2;
  const out = new Float32Array(3 * count);
  for (let i = 0; i < count; i++) {
    out[3 * i] = uv[2 * i]! * scaleU;
    out[3 * i + 1] = uv[2 * i + 1]! * scaleV;
  }
  return out;
}
