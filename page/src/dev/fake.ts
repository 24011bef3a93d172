/** A stand-in for the engine while the page is built. */
import type { BinaryRequest, Buffer, Engine, Reply, Request } from "../engine/protocol";
import models from "./models.json";

export async function startFake(place: "page" | "machine"): Promise<Engine> {
  let n = 64, name = "drape";
  let x: Float32Array, v: Float32Array, rest: Float32Array, uv: Float32Array, tri: Uint32Array, frame = 0;
  let values: any, held = new Map<number, number[]>(), base: number[][] = [], grabbed: number[] = [], off = [0, 0, 0];
  let edges: number[] = [], move = [0, 0, 0];
  const build = () => {
    const m = n + 1;
    x = new Float32Array(m * m * 3); rest = new Float32Array(m * m * 3); uv = new Float32Array(m * m * 2);
    v = new Float32Array(m * m * 3);
    const t: number[] = []; edges = [];
    for (let j = 0; j < m; j++) for (let i = 0; i < m; i++) {
      const k = j * m + i;
      x.set([i / n - 0.5, 0.63, j / n - 0.5], 3 * k); uv.set([i / n, j / n], 2 * k);
      if (i < n) edges.push(k, k + 1);
      if (j < n) edges.push(k, k + m);
      if (i < n && j < n) { t.push(k, k + m, k + m + 1, k, k + m + 1, k + 1); edges.push(k, k + m + 1, k + 1, k + m); }
    }
    rest.set(x); tri = Uint32Array.from(t); frame = 0; held.clear();
  };
  const fresh = (sceneName: string) => {
    name = sceneName;
    values = {
      name, duration: 3, fps: 60, gravity: [0, -9.81, 0], wind: { velocity: [0, 0, 0], drag: 0, lift: 0, air_density: 1.225 },
      solver: { kind: "xpbd", substeps: 20, iterations: 1, precision: "f32" },
      contact: { self_contact: false, thickness: 0.003, friction: 0.4, start: "error" },
      view: { size: [1280, 720], direction: [-0.55, -0.45, -0.85], fov: 35, ground: true },
      cloth: [{ name: "sheet", grid: { size: [1, 1], cells: [n, n], diagonals: "alternating" }, translate: [0, 0.63, 0], rotate: [0, 0, 0], scale: 1,
        material: { density: 0.12, damping: 0.4, stretch: { model: "spring", stiffness: 1000, damping: 0, compression: 1, slack: 0, network: "edges" }, bend: { model: "isometric", stiffness: 2e-4, damping: 0 } } }],
      collider: [{ name: "ball", sphere: { center: [0, 0.3, 0], radius: 0.3 }, friction: 0.4 }, { name: "floor", plane: { point: [0, 0, 0], normal: [0, 1, 0] } }],
    };
    move = [0, 0, 0];
    build();
  };
  fresh("drape");
  const scene = () => ({
    name, fps: 60, duration: 3, frames: 180, vertices: x.length / 3, triangles: tri.length / 3, cloths: [{ name: "sheet", first: 0, vertices: x.length / 3 }],
    pinned: [...held.keys()], values: structuredClone(values), solver: values.solver.kind, memory: x.length * 200,
    colliders: values.collider.map((c: any) => c.sphere ? { name: c.name, kind: "sphere", ...c.sphere } : { name: c.name, kind: "plane", ...c.plane }),
  });
  const step = () => {
    const h = 1 / 60 / 10, s = values.collider[0]?.sphere ?? { center: [9, 9, 9], radius: 0.1 }, c = s.center.map((a: number, k: number) => a + move[k]!), r = s.radius + 0.004;
    const p = new Float32Array(x.length);
    for (let sub = 0; sub < 10; sub++) {
      for (let i = 0; i < x.length; i++) { v[i]! += i % 3 === 1 ? values.gravity[1] * h : 0; p[i] = x[i]! + v[i]! * h * 0.999; }
      for (let e = 0; e < edges.length; e += 2) {
        const a = 3 * edges[e]!, b = 3 * edges[e + 1]!;
        const dx = p[a]! - p[b]!, dy = p[a + 1]! - p[b + 1]!, dz = p[a + 2]! - p[b + 2]!;
        const l = Math.hypot(dx, dy, dz), l0 = Math.hypot(rest[a]! - rest[b]!, rest[a + 1]! - rest[b + 1]!, rest[a + 2]! - rest[b + 2]!);
        const f = 0.5 * (l - l0) / l;
        p[a]! -= f * dx; p[a + 1]! -= f * dy; p[a + 2]! -= f * dz; p[b]! += f * dx; p[b + 1]! += f * dy; p[b + 2]! += f * dz;
      }
      for (let i = 0; i < p.length; i += 3) {
        const dx = p[i]! - c[0], dy = p[i + 1]! - c[1], dz = p[i + 2]! - c[2], d = Math.hypot(dx, dy, dz);
        if (d < r) for (let k = 0; k < 3; k++) p[i + k] = c[k] + (p[i + k]! - c[k]) * r / d;
        if (p[i + 1]! < 0.003) { p[i] = x[i]!; p[i + 1] = 0.003; p[i + 2] = x[i + 2]!; }
      }
      held.forEach((at, k) => p.set(at, 3 * k));
      grabbed.forEach((k, q) => p.set(base[q]!.map((a, w) => a + off[w]!), 3 * k));
      for (let i = 0; i < x.length; i++) { v[i] = Math.max(-3, Math.min(3, (p[i]! - x[i]!) / h)); x[i] = p[i]!; }
    }
    frame++;
  };
  const fail = (place: string, message: string): Reply => ({ ok: false, message, findings: [{ severity: "error", place, message }] });
  const engine: Engine = {
    place, threads: 1,
    async call<T = Reply>(q: Request): Promise<T> {
      const answer = (): Reply => {
        switch (q.do) {
          case "scenes": return { ok: true, scenes: [{ name: "drape", summary: "A sheet falls on a sphere and drapes." }, { name: "flag", summary: "A flag." }] };
          case "models": return { ok: true, models };
          case "open": fresh(String(q["scene"] ?? "file")); return { ok: true, scene: scene(), warnings: [] };
          case "reset": build(); return { ok: true, scene: scene() };
          case "toml": return { ok: true, toml: "# fake\n" };
          case "grab": grabbed = q["vertices"] as number[]; off = [0, 0, 0]; base = grabbed.map((k) => [...x.subarray(3 * k, 3 * k + 3)]); return { ok: true };
          case "drag": off = q["offset"] as number[]; return { ok: true };
          case "release": grabbed = []; return { ok: true };
          case "pin": { const k = q["vertex"] as number; held.set(k, [...x.subarray(3 * k, 3 * k + 3)]); return { ok: true, scene: scene() }; }
          case "unpin": held.delete(q["vertex"] as number); return { ok: true, scene: scene() };
          case "move": move = q["offset"] as number[]; return { ok: true };
          case "drop": { const s = values.collider[0].sphere; s.center = s.center.map((a: number, k: number) => a + move[k]!); move = [0, 0, 0]; return { ok: true, scene: scene() }; }
          case "set": {
            let applied: "now" | "restart" = "now";
            for (const set of q["sets"] as string[]) {
              const [path, text] = [set.slice(0, set.indexOf("=")), set.slice(set.indexOf("=") + 1)];
              if (path === "solver.substeps" && Number(text) < 1) return fail("solver.substeps", `must be a whole number from 1 to 10000, got ${text}`);
              let value: unknown;
              try { value = JSON.parse(text.replace(/([{,]\s*)(\w+)\s*=/g, '$1"$2":')); } catch { return fail(path, "not a value"); }
              const keys = path.split("."); let at = values;
              for (const key of keys.slice(0, -1)) at = at[key] ??= {};
              at[keys.at(-1)!] = value;
              if (path.endsWith("cells")) { n = (value as number[])[0]!; build(); applied = "restart"; }
            }
            return { ok: true, applied, why: applied === "restart" ? "the mesh is another" : "", scene: scene(), warnings: [] };
          }
        }
        return { ok: false, message: "unknown" };
      };
      return answer() as T;
    },
    async binary(q: BinaryRequest): Promise<Buffer> {
      const s: Record<string, any> = {};
      if (q.do === "geometry") Object.assign(s, { triangles: tri, rest: rest.slice(), uv, body_triangles: new Uint32Array(0) });
      const t0 = performance.now();
      if (q.do === "frame") {
        for (let i = 0; i < q.advance; i++) step();
        s["positions"] = x.slice();
        s["bodies"] = new Float32Array(0);
        if (q.color !== "none") s["color"] = Float32Array.from({ length: x.length / 3 }, (_, i) => Math.hypot(v[3 * i]!, v[3 * i + 1]!, v[3 * i + 2]!));
      }
      const total = performance.now() - t0;
      const id = (o: number[]) => [1, 0, 0, o[0]!, 0, 1, 0, o[1]!, 0, 0, 1, o[2]!];
      return {
        head: { ok: true, frame, time: frame / 60, ended: frame >= 180, poses: [id(move), id([0, 0, 0])], color: { by: "speed", unit: "m/s" }, sections: [],
          stats: { kinetic_energy: Math.abs(Math.sin(frame / 20)), potential_energy: 1, elastic_energy: 0.1, max_strain: 0.03, mean_strain: 0.01, max_speed: 1, contacts: frame, min_gap: null, residual: 1e-5, substeps: 10, iterations: 10, stages: { predict: 0.3, solve: total * 0.6, collide: total * 0.3, update: 0.2 }, total } },
        section: (k) => s[k],
      };
    },
    async file() {},
    close() {},
  };
  return engine;
}
