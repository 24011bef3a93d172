/** What the page says to an engine, and what it hears. The requests are those of docs/page.md. */

/** The engine does not answer any more; a new one has to be started. */
export class EngineLost extends Error {}

export type Vec3 = [number, number, number];

export interface Finding {
  severity?: string;
  place?: string;
  /** Of the text of the scene, where it was found in one. */
  line?: number;
  message: string;
}

export interface ClothInfo {
  name: string;
  first: number;
  vertices: number;
}

export interface ColliderInfo {
  name: string;
  /** Its key in a scene; only "mesh" is told apart here. */
  kind: string;
  first?: number;
  vertices?: number;
  [key: string]: unknown;
}

export interface SceneInfo {
  name: string;
  fps: number;
  duration: number;
  frames: number;
  vertices: number;
  triangles: number;
  cloths: ClothInfo[];
  pinned: number[];
  colliders: ColliderInfo[];
  values: Record<string, unknown>;
  solver: string;
  memory: number;
}

export interface Reply {
  ok: boolean;
  message?: string;
  findings?: Finding[];
  scene?: SceneInfo;
  warnings?: Finding[];
  applied?: "now" | "restart";
  why?: string;
  [key: string]: unknown;
}

export type Request = { do: string; [key: string]: unknown };
export type BinaryRequest =
  | { do: "geometry" }
  | { do: "glb" }
  | { do: "obj"; file: string }
  | { do: "poses"; frames: number }
  | { do: "frame"; advance: number; color: "none" | "strain" | "speed" | "contact" };

/** What is drawn of a collider that is no mesh, in its initial state: triangles, or for one without end the plane that bounds it. */
export interface Surface {
  collider: number;
  plane?: { point: Vec3; normal: Vec3 } | undefined;
  positions: Float32Array;
  normals: Float32Array;
  triangles: Uint32Array;
}

export interface Stats {
  kinetic_energy: number;
  potential_energy: number;
  elastic_energy: number;
  energy_error?: number | null;
  max_strain: number;
  mean_strain: number;
  max_speed: number;
  contacts: number;
  min_gap: number | null;
  residual: number;
  substeps: number;
  iterations: number;
  stages: Record<string, number>;
  total: number;
}

export interface Head {
  ok: boolean;
  message?: string;
  frame?: number;
  time?: number;
  ended?: boolean;
  poses?: (number[] | null)[];
  color?: { by: string; unit: string };
  /** Those that `poses` tells of, in its order. */
  colliders?: number[];
  /** Which collider has which of the vertices and triangles of `geometry`. */
  surfaces?: { collider: number; half_space?: { point: Vec3; normal: Vec3 }; first?: number; vertices?: number; first_triangle?: number; triangles?: number }[];
  stats?: Stats;
  sections: { name: string; type: "f32" | "u32" | "u8"; offset: number; length: number }[];
}

export interface Buffer {
  head: Head;
  section(name: string): Float32Array | Uint32Array | Uint8Array | undefined;
}

export interface Engine {
  readonly place: "page" | "machine";
  readonly threads: number;
  call<T = Reply>(request: Request): Promise<T>;
  binary(request: BinaryRequest): Promise<Buffer>;
  file(name: string, bytes: Uint8Array): Promise<void>;
  close(): void;
}

export interface Info {
  version: string;
  threads: number;
  /** Whether the page has the core as WebAssembly: `cargo xtask page` builds it. */
  page_core: boolean;
  opened:
    | { kind: "scenes" }
    | { kind: "scene"; name: string; toml: string; sets: string[]; files: string[]; /** Whether the page can have all meshes of the scene. */ complete: boolean }
    | { kind: "run"; name: string; frames: number; fps: number; cloths: unknown[]; files: { name: string; bytes: number }[] };
}

/** Reads what an engine sends: JSON that says what is where, and the numbers behind it (crates/muslin-live/src/buffer.rs). */
export function readBuffer(bytes: ArrayBuffer): Buffer {
  const length = new DataView(bytes).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length))) as Head;
  return {
    head,
    section(name) {
      const found = head.sections.find((section) => section.name === name);
      if (!found) return undefined;
      const kind = { f32: Float32Array, u32: Uint32Array, u8: Uint8Array }[found.type];
      return new kind(bytes, found.offset, found.length);
    },
  };
}

/** The surfaces that come with `geometry`. */
export function readSurfaces(buffer: Buffer): Surface[] {
  const floats = (name: string): Float32Array => (buffer.section(name) as Float32Array | undefined) ?? new Float32Array(0);
  const [positions, normals] = [floats("surface_positions"), floats("surface_normals")];
  const triangles = (buffer.section("surface_triangles") as Uint32Array | undefined) ?? new Uint32Array(0);
  return (buffer.head.surfaces ?? []).map(({ collider, half_space, first = 0, vertices = 0, first_triangle = 0, triangles: count = 0 }) => ({
    collider,
    plane: half_space,
    positions: positions.slice(3 * first, 3 * (first + vertices)),
    normals: normals.slice(3 * first, 3 * (first + vertices)),
    triangles: triangles.slice(3 * first_triangle, 3 * (first_triangle + count)),
  }));
}
