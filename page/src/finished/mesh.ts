/** The mesh of an .obj, read by the engine. */
import type { Engine } from "../engine/protocol";
import type { Bytes } from "./bytes";

export interface Mesh {
  positions: Float32Array;
  triangles: Uint32Array;
  /** Where every vertex has one. */
  uv?: Float32Array;
}

export async function readMesh(file: Bytes, engine: Engine): Promise<Mesh> {
  await engine.file(file.name, await (file.whole?.() ?? file.read(0, file.size)));
  const buffer = await engine.binary({ do: "obj", file: file.name });
  if (!buffer.head.ok) throw new Error(buffer.head.message ?? `cannot read ${file.name}`);
  const uv = buffer.section("uv") as Float32Array | undefined;
  return {
    positions: buffer.section("positions") as Float32Array,
    triangles: buffer.section("triangles") as Uint32Array,
    ...(uv ? { uv } : {}),
  };
}
