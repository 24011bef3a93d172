/** OBJ files: vertices, triangles, and uv where every vertex has exactly one. Polygons are cut into fans. */

export interface ObjMesh {
  positions: Float32Array;
  triangles: Uint32Array;
  uv?: Float32Array;
}

export function readObj(text: string, name: string): ObjMesh {
  const positions: number[] = [];
  const texture: number[] = [];
  const triangles: number[] = [];
  const uvOf: number[] = [];
  let oneUv = true;
  let line = 0;
  for (const row of text.split("\n")) {
    line += 1;
    const words = row.trim().split(/\s+/);
    if (words[0] === "v") {
      for (let k = 1; k <= 3; k++) {
        const number = Number(words[k]);
        if (!Number.isFinite(number)) throw new Error(`${name}:${line}: a vertex needs three numbers`);
        positions.push(number);
      }
    } else if (words[0] === "vt") {
      texture.push(Number(words[1]), Number(words[2] ?? 0));
    } else if (words[0] === "f") {
      const corners = words.slice(1).map((word) => {
        const [v, t] = word.split("/");
        const index = resolve(Number(v), positions.length / 3);
        if (index === undefined) throw new Error(`${name}:${line}: there is no vertex ${v}`);
        const mapped = t ? resolve(Number(t), texture.length / 2) : undefined;
        if (mapped === undefined || (uvOf[index] !== undefined && uvOf[index] !== mapped)) oneUv = false;
        else uvOf[index] = mapped;
        return index;
      });
      if (corners.length < 3) throw new Error(`${name}:${line}: a face needs three corners`);
      for (let k = 2; k < corners.length; k++) triangles.push(corners[0]!, corners[k - 1]!, corners[k]!);
    }
  }
  if (positions.length === 0) throw new Error(`${name} has no vertices`);
  const mesh: ObjMesh = { positions: Float32Array.from(positions), triangles: Uint32Array.from(triangles) };
  if (oneUv && texture.length > 0) {
    mesh.uv = new Float32Array((positions.length / 3) * 2);
    uvOf.forEach((t, v) => {
      mesh.uv![2 * v] = texture[2 * t]!;
      mesh.uv![2 * v + 1] = texture[2 * t + 1]!;
    });
  }
  return mesh;
}

/** OBJ counts from 1, and back from the end with negative numbers. */
function resolve(index: number, count: number): number | undefined {
  const at = index > 0 ? index - 1 : count + index;
  return Number.isInteger(index) && index !== 0 && at >= 0 && at < count ? at : undefined;
}
