/** A finished run: what `muslin run` left in a folder, or a .npy with its .obj. */
import { type Engine, type Reply, type SceneInfo, type Surface, readSurfaces } from "../engine/protocol";
import { setText } from "../lib/toml";
import type { Sample } from "../app/history";
import type { Geometry } from "../view/cloth";
import type { FrameData } from "../view/sideview";
import { readJson, readText, type Bytes } from "./bytes";
import { Frames } from "./frames";
import { readMesh, type Mesh } from "./mesh";
import { Poses } from "./poses";

/** Memory for frames that were read, in bytes. */
const BUDGET = 256e6;

interface Body {
  rest: Float32Array;
  frames?: Frames;
}

export interface Run {
  name: string;
  fps: number;
  /** Frames that can be shown, the initial state included. */
  count: number;
  scene: SceneInfo;
  geometry: Geometry;
  toml?: string;
  samples: Sample[];
  /** Whether it has reached its end, as far as is known. */
  finished: boolean;
  /** Whether its files lie with the server, not in the browser. */
  served: boolean;
  /** What the run said of itself. */
  notes: string[];
  /** One for each cloth, where the run has them. */
  glb: Bytes[];
  bytes: number;
  files: Bytes[];
  frame(index: number): Promise<FrameData>;
  expect(from: number, count: number): void;
}

/** Opens a run; the engine that is started for it reads its files, and is closed again. */
export async function openRun(files: Bytes[], name: string, startEngine: () => Promise<Engine>): Promise<Run> {
  const engine = await startEngine();
  try {
    return await readRun(files, name, engine);
  } finally {
    engine.close();
  }
}

async function readRun(files: Bytes[], name: string, engine: Engine): Promise<Run> {
  const by = (path: string): Bytes | undefined => files.find((f) => f.name === path);
  const report = by("report.json") ? readJson(await readText(by("report.json")!), "report.json") : undefined;
  const toml = by("scene.toml") ? await readText(by("scene.toml")!) : undefined;
  if (typeof report?.["scene"] === "string") name = report["scene"];
  const stems = clothStems(files, report);
  if (stems.length === 0) throw new Error("there is no .npy with an .obj of the same name");
  const notes: string[] = [];
  const outcome = String(report?.["outcome"] ?? "");
  if (outcome === "running") notes.push("It was still going on when it was opened; open it again to see more.");
  if (outcome === "interrupted") notes.push("It was interrupted before its end; muslin run --resume goes on with it.");

  const cloths: { mesh: Mesh; frames: Frames; name: string }[] = [];
  for (const stem of stems) {
    const npy = by(`${stem}.npy`);
    const obj = by(`${stem}.obj`);
    if (!npy || !obj) throw new Error(`${stem}.${npy ? "obj" : "npy"} is missing`);
    const frames = await Frames.open(npy, engine, BUDGET / stems.length);
    const mesh = await readMesh(obj, engine);
    if (mesh.positions.length !== 3 * frames.header.vertices) {
      throw new Error(`${npy.name} has ${frames.header.vertices} vertices and ${obj.name} has ${mesh.positions.length / 3}`);
    }
    if (outcome !== "running" && frames.count < frames.header.frames) notes.push(`${npy.name} ends after ${frames.count} of its ${frames.header.frames} frames`);
    cloths.push({ mesh, frames, name: stem });
  }
  const count = Math.min(...cloths.map((c) => c.frames.count));
  const told = toml ? await describe(toml, files, count, engine, notes) : undefined;
  const scene = told?.scene;
  const bodies: Body[] = [];
  const bodyTriangles: number[] = [];
  let bodyVertices = 0;
  const colliders = (scene?.colliders ?? []).map((collider) => ({ ...collider }));
  for (const collider of colliders) {
    if (collider.kind !== "mesh") continue;
    const obj = by(`${collider.name}.obj`);
    if (!obj) continue;
    const mesh = await readMesh(obj, engine);
    const npy = by(`${collider.name}.npy`);
    for (const i of mesh.triangles) bodyTriangles.push(i + bodyVertices);
    collider.first = bodyVertices;
    collider.vertices = mesh.positions.length / 3;
    bodyVertices += mesh.positions.length / 3;
    bodies.push({ rest: mesh.positions, ...(npy ? { frames: await Frames.open(npy, engine, BUDGET / 4) } : {}) });
  }

  const geometry = { ...join(cloths.map((c) => c.mesh), Uint32Array.from(bodyTriangles)), surfaces: told?.surfaces };
  const fps = scene?.fps ?? 60;
  let first = 0;
  const clothInfos = cloths.map((c) => {
    const info = { name: c.name, first, vertices: c.frames.header.vertices };
    first += info.vertices;
    return info;
  });
  const full: SceneInfo = {
    name, fps, duration: (count - 1) / fps, frames: count - 1, vertices: first, triangles: geometry.triangles.length / 3, cloths: clothInfos,
    pinned: [], colliders, values: scene?.values ?? {}, solver: String(report?.["solver"] ?? ""), memory: 0,
  };
  for (const key of ["warnings", "notes"]) notes.push(...((report?.[key] as string[] | undefined) ?? []));
  if (report && report["error"]) notes.push(`the run ended early: ${String(report["error"])}`);
  const glb = files.filter((f) => f.name.endsWith(".glb") && !f.name.includes("/"));
  return {
    name, fps, count, scene: full, geometry, notes, files, glb, finished: report?.["completed"] !== false, served: files.some((f) => f.whole !== undefined),
    ...(toml ? { toml } : {}),
    samples: samplesOf(report),
    bytes: files.reduce((sum, f) => sum + (f.name.endsWith(".npy") ? f.size : 0), 0),
    expect: (from, n) => cloths.forEach((c) => c.frames.expect(from, n)),
    frame: async (index) => {
      const parts = await Promise.all(cloths.map((c) => c.frames.frame(index)));
      const moved = await Promise.all(bodies.map((b) => (b.frames ? b.frames.frame(index) : Promise.resolve(b.rest))));
      return { frame: index, time: index / fps, positions: concat(parts), bodies: concat(moved), poses: told?.poses.at(index) ?? [] };
    },
  };
}

function clothStems(files: Bytes[], report: Record<string, unknown> | undefined): string[] {
  const told = report?.["cloths"] as { name: string; file_stem?: string }[] | undefined;
  if (told) return told.map((cloth) => cloth.file_stem ?? cloth.name);
  const npy = files.filter((f) => f.name.endsWith(".npy") && !f.name.includes("/")).map((f) => f.name.slice(0, -4));
  return npy.filter((stem) => files.some((f) => f.name === `${stem}.obj`));
}

/** A cloth of two triangles, out of everything's way. */
const PLACEHOLDER = [setText("cloth", [{ grid: { size: [1, 1], cells: [1, 1] }, translate: [0, 1000, 0] }]), setText("contact", {})];

/**
 * The bodies of a scene file in an engine's words, where they are in each frame, and the scene's view. The cloths come from the files of the run;
 * in the engine a small one stands for them, which keeps this cheap however large they are. Cloth shows without it, so that a fault here is only
 * a note.
 */
async function describe(toml: string, files: Bytes[], frames: number, engine: Engine, notes: string[]): Promise<{ scene: SceneInfo; poses: Poses; surfaces: Surface[] } | undefined> {
  try {
    for (const file of files) {
      if (toml.includes(`"${file.name}"`)) await engine.file(file.name, await file.read(0, file.size));
    }
    const reply = await engine.call<Reply>({ do: "open", toml, sets: PLACEHOLDER });
    if (!reply.ok || !reply.scene) throw new Error(reply.message ?? "the scene file was refused");
    const poses = await Poses.of(engine, reply.scene.colliders.length, frames);
    const surfaces = readSurfaces(await engine.binary({ do: "geometry" }));
    return { scene: { ...reply.scene, values: { ...reply.scene.values, cloth: colorsOf(toml) } }, poses, surfaces };
  } catch (error) {
    notes.push(`bodies are not shown: ${error instanceof Error ? error.message : String(error)}`);
  }
  return undefined;
}

/** What the scene file says of the colours of its cloths, in their order. */
function colorsOf(toml: string): { color?: number[] }[] {
  return toml.split(/^\[\[cloth\]\]/m).slice(1).map((part) => {
    const color = /^color\s*=\s*\[([^\]]*)\]/m.exec(part.split(/^\[/m)[0]!)?.[1];
    return color ? { color: color.split(",").map(Number) } : {};
  });
}

function join(meshes: Mesh[], bodyTriangles: Uint32Array): Geometry {
  const triangles: Uint32Array[] = [];
  let first = 0;
  for (const mesh of meshes) {
    const base = first;
    triangles.push(mesh.triangles.map((i) => i + base));
    first += mesh.positions.length / 3;
  }
  const whole = new Uint32Array(triangles.reduce((n, t) => n + t.length, 0));
  let at = 0;
  for (const part of triangles) {
    whole.set(part, at);
    at += part.length;
  }
  const geometry: Geometry = { triangles: whole, rest: concat(meshes.map((m) => m.positions)), bodyTriangles };
  if (meshes.every((m) => m.uv)) geometry.uv = concat(meshes.map((m) => m.uv!));
  return geometry;
}

function concat(parts: Float32Array[]): Float32Array {
  if (parts.length === 1) return parts[0]!;
  const out = new Float32Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

function samplesOf(report: Record<string, unknown> | undefined): Sample[] {
  const frames = (report?.["frames"] as Record<string, number>[] | undefined) ?? [];
  return frames.map((f) => ({
    frame: f["frame"]!, time: f["time"]!, kinetic: f["kinetic_energy"]!, elastic: f["elastic_energy"]!, potential: f["gravity_energy"]!,
    nowhere: f["energy_error"] ?? undefined,
    maxStrain: f["max_strain"]!, meanStrain: f["mean_strain"]!, stages: {}, total: f["wall_ms"]!, residual: f["residual"]!, contacts: f["contacts"]!,
  }));
}

