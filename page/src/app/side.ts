/** One simulation: an engine, the scene in it, its last frame, and everything that was done to it. */
import { type BinaryRequest, type Buffer, type ColliderInfo, type Engine, type Reply, type Request, type SceneInfo, type Stats, type Vec3, readSurfaces } from "../engine/protocol";
import type { Geometry } from "../view/cloth";
import type { FrameData } from "../view/sideview";
import { History } from "./history";

export type ColorBy = "none" | "strain" | "speed" | "contact";

/** Requests that change the scene; replayed in a fresh engine they lead to the same scene. */
const lasting = new Set(["set", "pin", "unpin", "move", "drop"]);

export class Side {
  scene!: SceneInfo;
  geometry!: Geometry;
  /** The bodies as the simulation was built with them, which is what poses refer to; `scene` has them where they were dropped. */
  colliders: ColliderInfo[] = [];
  frame: FrameData = { frame: 0, time: 0, positions: new Float32Array(0) };
  stats: Stats | undefined;
  readonly history = new History();
  /** Why it cannot go on, until it is reset. */
  failed: string | undefined;
  ended = false;
  colorUnit = "";
  /** Milliseconds from question to answer of the last advance, a frame. */
  roundTrip = 0;
  /** Called with a new scene whose vertices or bodies may differ. */
  onScene: (() => void) | undefined;
  log: Request[] = [];
  private opened: Request = { do: "open", scene: "drape" };
  private files = new Map<string, Uint8Array>();
  private chain: Promise<unknown> = Promise.resolve();
  private drag: Vec3 | undefined;
  private move: { collider: number; offset: Vec3 } | undefined;

  constructor(public engine: Engine) {}

  /** One request at a time: over HTTP two at once may change places. */
  private queue<T>(work: () => Promise<T>): Promise<T> {
    const next = this.chain.then(work, work);
    this.chain = next.catch(() => undefined);
    return next;
  }

  async open(request: Request, files = new Map<string, Uint8Array>()): Promise<Reply> {
    const reply = await this.queue(async () => {
      for (const [name, bytes] of files) await this.engine.file(name, bytes);
      return this.engine.call<Reply>(request);
    });
    if (!reply.ok || !reply.scene) return reply;
    this.opened = request;
    this.files = files;
    this.log = [];
    await this.adopt(reply.scene, true);
    return reply;
  }

  /** What another side, or a new engine, needs to have the same scene. */
  recipe(): { opened: Request; files: Map<string, Uint8Array>; log: Request[] } {
    return { opened: this.opened, files: this.files, log: [...this.log] };
  }

  async replay(recipe: ReturnType<Side["recipe"]>): Promise<Reply> {
    const reply = await this.queue(async () => {
      for (const [name, bytes] of recipe.files) await this.engine.file(name, bytes);
      let last = await this.engine.call<Reply>(recipe.opened);
      if (!last.ok) return last;
      for (const request of recipe.log) {
        const answer = await this.engine.call<Reply>(request);
        if (answer.ok && answer.scene) last = answer;
      }
      const reset = await this.engine.call<Reply>({ do: "reset" });
      return reset.ok && reset.scene ? reset : last;
    });
    if (!reply.ok || !reply.scene) return reply;
    this.opened = recipe.opened;
    this.files = recipe.files;
    this.log = recipe.log;
    await this.adopt(reply.scene, true);
    return reply;
  }

  /** Takes over what is open in the engine: a set of nothing answers with the scene, and goes on from where it is. */
  async resume(opened: Request, log: Request[]): Promise<boolean> {
    const reply = await this.queue(() => this.engine.call<Reply>({ do: "set", sets: [] }));
    if (!reply.ok || !reply.scene) return false;
    this.opened = opened;
    this.log = log;
    await this.adopt(reply.scene, true);
    return true;
  }

  /** Any request; a scene in the answer is taken over. */
  async call(request: Request): Promise<Reply> {
    const reply = await this.queue(() => this.engine.call<Reply>(request));
    if (!reply.ok) return reply;
    if (lasting.has(request.do)) this.remember(request);
    if (reply.scene) {
      const restarted = request.do === "reset" || request.do === "open" || reply.applied === "restart";
      await this.adopt(reply.scene, restarted, restarted || request.do === "set");
    }
    return reply;
  }

  /** Back to the start. Answers what there is to say about it, or `undefined`. */
  async reset(): Promise<string | undefined> {
    const reply = await this.call({ do: "reset" });
    return reply.ok ? undefined : `The scene cannot begin again: ${findings(reply)}`;
  }

  private remember(request: Request): void {
    const last = this.log.at(-1);
    // A slider sends many values of one key; the last is the one that counts.
    if (request.do === "set" && last?.do === "set" && keys(last) === keys(request)) this.log.pop();
    if (request.do === "move" && last?.do === "move" && last["collider"] === request["collider"]) this.log.pop();
    this.log.push(request);
  }

  private async adopt(scene: SceneInfo, restarted: boolean, compiled = true): Promise<void> {
    this.scene = scene;
    const moved = compiled && JSON.stringify(this.colliders) !== JSON.stringify(scene.colliders);
    if (compiled) this.colliders = scene.colliders;
    if (restarted || moved) {
      const buffer = await this.queue(() => this.engine.binary({ do: "geometry" }));
      this.geometry = {
        triangles: buffer.section("triangles") as Uint32Array,
        rest: buffer.section("rest") as Float32Array,
        uv: buffer.section("uv") as Float32Array | undefined,
        bodyTriangles: buffer.section("body_triangles") as Uint32Array | undefined,
        surfaces: readSurfaces(buffer),
      };
    }
    if (restarted) {
      this.failed = undefined;
      this.ended = false;
      this.history.clear();
    }
    this.onScene?.();
  }

  /** Advances by `n` frames and takes the state over; `false` where a step failed. */
  async advance(n: number, color: ColorBy): Promise<boolean> {
    const request: BinaryRequest = { do: "frame", advance: n, color };
    const begin = performance.now();
    const buffer = await this.queue(async () => {
      await this.sendPulls();
      return this.engine.binary(request);
    });
    if (n > 0) this.roundTrip = (performance.now() - begin) / n;
    return this.take(buffer, n);
  }

  private take(buffer: Buffer, n: number): boolean {
    const { head } = buffer;
    const positions = buffer.section("positions") as Float32Array | undefined;
    if (positions) {
      this.frame = {
        frame: head.frame ?? this.frame.frame,
        time: head.time ?? this.frame.time,
        positions,
        bodies: buffer.section("bodies") as Float32Array | undefined,
        poses: head.poses ?? this.frame.poses,
        numbers: buffer.section("color") as Float32Array | undefined,
      };
    }
    this.colorUnit = head.color?.unit ?? "";
    this.ended = head.ended ?? false;
    if (head.stats) {
      this.stats = head.stats;
      if (head.ok && n > 0) this.history.add(this.frame.frame, this.frame.time, head.stats);
    }
    if (!head.ok) this.failed = head.message ?? "the step failed";
    return head.ok;
  }

  /** Where the hand pulls to, in m since the grab; sent before the next frame. */
  pull(offset: Vec3): void {
    this.drag = offset;
  }

  push(collider: number, offset: Vec3): void {
    this.move = { collider, offset };
  }

  get hasPulls(): boolean {
    return this.drag !== undefined || this.move !== undefined;
  }

  /** While nothing advances, bodies still follow the pointer. */
  async flush(): Promise<void> {
    await this.queue(() => this.sendPulls());
  }

  private async sendPulls(): Promise<void> {
    const { drag, move } = this;
    this.drag = undefined;
    this.move = undefined;
    if (drag) await this.engine.call({ do: "drag", offset: drag });
    if (move) {
      const request = { do: "move", ...move };
      const reply = await this.engine.call<Reply>(request);
      if (reply.ok) this.remember(request);
    }
  }

  glb(): Promise<Buffer> {
    return this.queue(() => this.engine.binary({ do: "glb" }));
  }

  close(): void {
    this.engine.close();
  }
}

export function findings(reply: Reply): string {
  return (reply.findings ?? []).map((f) => `${f.line ? `line ${f.line}: ` : ""}${f.place ? `${f.place}: ` : ""}${f.message}`).join("\n") || reply.message || "refused";
}

function keys(request: Request): string {
  return (request["sets"] as string[]).map((set) => set.split("=", 1)[0]).join();
}

