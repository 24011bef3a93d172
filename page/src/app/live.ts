/** Simulations that run while one watches: one, or two beside each other at the same simulated time. */
import type { Engine, Info, Reply, Request } from "../engine/protocol";
import { serverInfo } from "../engine/machine";
import { hasChoice, MANY_VERTICES, placeFor, startEngine, type Place } from "../engines";
import { bytes, count } from "../lib/format";
import type { Context, Transport } from "./context";
import { EngineLost } from "../engine/protocol";
import { findings, Side } from "./side";

const GONE: Reply = { ok: false, message: "the engine is gone; it is being started again" };

/** No more simulated frames between two pictures than fit in this time, in ms. */
const BATCH_MS = 50;

export class Live implements Transport {
  /** The scene names meshes that the page cannot have. */
  private bound = false;
  readonly kind = "live";
  sides: Side[] = [];
  /** Which side the panels edit. */
  editing = 0;
  place: Place = "auto";
  playing = false;
  /** The end of the line of work, and how much of it is not done. */
  private line: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  private lag = 0;
  private recovering = false;

  constructor(private readonly context: Context) {}

  get side(): Side {
    return this.sides[Math.min(this.editing, this.sides.length - 1)]!;
  }
  get frame(): number {
    return this.sides[0]?.frame.frame ?? 0;
  }
  get time(): number {
    return this.sides[0]?.frame.time ?? 0;
  }
  get frames(): number {
    return this.sides[0]?.scene?.frames ?? 0;
  }
  get fps(): number {
    return this.sides[0]?.scene?.fps ?? 60;
  }

  /** Opens a scene on the side that is there, or the first one. With two sides both get it. */
  async load(request: Request, files = new Map<string, Uint8Array>(), stale: () => boolean = () => false): Promise<Reply | undefined> {
    return this.exclusive(async () => {
      // Something else was chosen while this one waited for its turn.
      if (stale()) return undefined;
      const { context } = this;
      this.bound = lacksMeshes(context.info, request);
      await this.ensureEngine(this.bound ? Infinity : estimate(request));
      let reply: Reply | undefined;
      for (const side of this.sides) {
        reply = await side.open(request, files);
        // What does not fit into the page may fit into the machine.
        if (!reply.ok && side.engine.place === "page" && placeFor(this.place, context.info, Infinity) === "machine" && estimate(request) > 0.2 * MANY_VERTICES) {
          await this.replaceEngine(side, "machine");
          reply = await side.open(request, files);
        }
        if (!reply.ok) return reply;
      }
      await this.settlePlace();
      if (!(await this.show())) return reply!;
      context.stage.frameCamera(this.sides[0]!.scene);
      this.context.hush();
      const { scene, engine } = this.sides[0]!;
      const cost = `${count(scene.vertices)} vertices, about ${bytes(scene.memory)}, ${engine.place === "machine" ? "on this machine" : "in the page"}`;
      if (scene.vertices > MANY_VERTICES) context.say("info", `${scene.name}: ${cost}`);
      for (const warning of reply?.warnings ?? []) context.say("warning", `${warning.place ? `${warning.place}: ` : ""}${warning.message}`);
      return reply!;
    });
  }

  /** At least one side with an engine that suits so many vertices; the first may have no scene yet. */
  async ensureEngine(vertices = 0): Promise<void> {
    const place = placeFor(this.place, this.context.info, vertices);
    if (this.sides.length === 0) this.attach(await startEngine(place, 1));
    for (const side of this.sides) if (place === "machine" && side.engine.place === "page") await this.orStay(this.replaceEngine(side, place));
  }

  /** Where the place is chosen by size, a scene that cannot have the better one stays where it is. */
  private async orStay(moving: Promise<void>): Promise<void> {
    try {
      await moving;
    } catch (error) {
      if (this.place !== "auto" || error instanceof EngineLost) throw error;
      this.context.say("warning", error instanceof Error ? error.message : String(error));
    }
  }

  private attach(engine: Engine): Side {
    const side = new Side(engine);
    this.sides.push(side);
    this.bind(side);
    return side;
  }

  private async replaceEngine(side: Side, place: "page" | "machine"): Promise<void> {
    // An engine that does not start is not one that is lost: the side keeps the one it has.
    const engine = await startEngine(place, this.sides.length).catch((error: unknown) => {
      throw new Error(`nothing can be computed ${place === "machine" ? "on this machine" : "in the page"}: ${error instanceof Error ? error.message : String(error)}`);
    });
    side.close();
    side.engine = engine;
  }

  /** Goes on with a session that the page had before it was loaded again. */
  async resume(engine: Engine, opened: Request, log: Request[]): Promise<boolean> {
    const side = new Side(engine);
    if (!(await side.resume(opened, log))) return false;
    this.clear();
    this.sides.push(side);
    this.bind(side);
    if (await this.exclusive(() => this.show())) this.context.stage.frameCamera(side.scene);
    return true;
  }

  private bind(side: Side): void {
    side.onScene = () => {
      const index = this.sides.indexOf(side);
      if (index >= 0) this.context.emit("scene", index);
    };
  }

  /** A setting of the side that is edited. The answer says whether it restarted. */
  async change(request: Request): Promise<Reply> {
    try {
      const { side } = this;
      const reply = await side.call(request);
      if (!reply.ok || !reply.scene) return reply;
      if (reply.applied === "restart") {
        await this.exclusive(async () => {
          await this.settlePlace();
          // Both sides are at the same time: where one restarts, so does the other.
          await this.resetAll(side);
          await this.show();
        });
      } else {
        await this.exclusive(() => this.show());
      }
      return reply;
    } catch (error) {
      this.lost(error);
      return GONE;
    }
  }

  /** A hand does the same to both sides while they have the same vertices and bodies; else only to the one it touches. */
  touched(side: number, what: "vertices" | "colliders"): Side[] {
    const [a, b] = this.sides;
    const size = (s: Side): number => (what === "vertices" ? s.scene.vertices : s.scene.colliders.length);
    return a && b && size(a) === size(b) ? [a, b] : [this.sides[side]!];
  }

  /** A change of the scene by hand: pins, and bodies let go. */
  async hand(sides: Side[], request: Request): Promise<void> {
    await this.exclusive(async () => {
      for (const side of sides) {
        const reply = await side.call(request);
        if (!reply.ok) this.context.say("error", reply.message ?? findings(reply), false);
      }
      await this.show();
    });
  }

  /** Any request of a script to one side; what it changes is drawn. */
  async script(side: number, request: Request): Promise<Reply> {
    try {
      const reply = await this.sides[side]!.call(request);
      if (reply.ok && reply.scene) await this.exclusive(() => this.show());
      return reply;
    } catch (error) {
      this.lost(error);
      return GONE;
    }
  }

  /** Puts all sides, or all but one, at their start, and says what could not be had. */
  private async resetAll(but?: Side): Promise<void> {
    let told: string | undefined;
    for (const side of this.sides) if (side !== but) told = (await side.reset()) ?? told;
    if (told) this.context.say("warning", told, true);
  }

  /** Moves to the machine, or back, where the size of the scene asks for it. */
  private async settlePlace(): Promise<void> {
    for (const side of this.sides) {
      const wanted = placeFor(this.place, this.context.info, this.bound ? Infinity : side.scene.vertices);
      if (wanted !== side.engine.place) await this.orStay(this.moveTo(side, wanted));
    }
  }

  private async moveTo(side: Side, place: "page" | "machine"): Promise<void> {
    this.context.say("info", `${count(side.scene.vertices)} vertices, about ${bytes(side.scene.memory)}: moving ${place === "machine" ? "to this machine" : "into the page"} …`);
    const recipe = side.recipe();
    await this.replaceEngine(side, place);
    await side.replay(recipe);
  }

  async setPlace(place: Place): Promise<void> {
    const before = this.place;
    this.place = place;
    await this.exclusive(async () => {
      try {
        await this.settlePlace();
        await this.show();
        this.context.hush();
      } catch (error) {
        if (error instanceof EngineLost) throw error;
        this.place = before;
        this.context.say("error", `It goes on where it was; ${error instanceof Error ? error.message : String(error)}`);
      }
    });
    this.context.emit("state", undefined);
  }

  async setSides(wanted: 1 | 2): Promise<void> {
    if (wanted === this.sides.length) return;
    await this.exclusive(async () => {
      if (wanted === 1) {
        this.sides.pop()!.close();
        this.editing = 0;
      } else {
        const first = this.sides[0]!;
        const side = new Side(await startEngine(first.engine.place, 2));
        this.bind(side);
        const reply = await side.replay(first.recipe());
        if (!reply.ok) {
          side.close();
          this.context.say("error", reply.message ?? findings(reply));
          return;
        }
        this.sides.push(side);
        await this.resetAll(side);
      }
      this.context.stage.setSides(wanted);
      await this.show();
      this.context.stage.frameCamera(this.sides[0]!.scene);
    });
    this.context.emit("state", undefined);
    this.context.emit("scene", this.editing);
  }

  play(): void {
    if (this.sides.some((side) => side.failed)) {
      this.context.say("error", "The simulation has failed; reset it to go on.");
      return;
    }
    this.playing = true;
    this.lag = 0;
    this.context.emit("state", undefined);
  }

  pause(): void {
    this.playing = false;
    this.context.emit("state", undefined);
  }

  async step(by: number): Promise<void> {
    this.pause();
    if (by < 1) return;
    await this.exclusive(() => this.advance(by));
  }

  /** Forward by simulating on; back by starting over. */
  async seek(frame: number): Promise<void> {
    this.pause();
    await this.exclusive(async () => {
      const back = frame < this.frame;
      if (back) await this.resetAll();
      let left = Math.max(0, frame) - (back ? 0 : this.frame);
      if (left === 0) await this.show();
      while (left > 0) {
        const n = Math.min(left, 10);
        if (!(await this.advance(n))) return;
        left -= n;
      }
    });
  }

  async reset(): Promise<void> {
    await this.exclusive(async () => {
      this.context.hush();
      await this.resetAll();
      this.context.resetRange();
      await this.show();
    });
  }

  refresh(): Promise<void> {
    this.context.resetRange();
    return this.exclusive(() => this.advance(0).then(() => undefined));
  }

  tick(_now: number, elapsed: number): void {
    if (this.waiting > 0 || !this.sides[0]?.scene) return;
    if (!this.playing) {
      if (this.sides.some((side) => side.hasPulls)) void this.exclusive(async () => void (await Promise.all(this.sides.map((side) => side.flush()))));
      return;
    }
    this.lag = Math.min(this.lag + elapsed * this.context.speed, 0.25);
    const due = Math.floor(this.lag * this.fps + 1e-6);
    if (due < 1) return;
    const cost = Math.max(...this.sides.map((side) => side.roundTrip), 0.1);
    const n = Math.min(due, Math.max(1, Math.floor(BATCH_MS / cost)));
    // What cannot be made up is let go: the page then shows slow motion, not jumps.
    this.lag = n < due ? 0 : this.lag - n / this.fps;
    void this.exclusive(() => this.advance(n).then(() => undefined));
  }

  /** Advances all sides; draws; `false` where a step failed. */
  private async advance(n: number): Promise<boolean> {
    const good = await Promise.all(this.sides.map((side) => side.advance(n, this.context.look.color)));
    if (n > 0) for (const view of this.context.stage.views) view.bodies.aims.clear();
    this.drawFrames();
    const failed = this.sides.find((side) => side.failed);
    if (n > 0 && good.includes(false) && failed) {
      this.playing = false;
      this.context.say("error", `The simulation stopped at frame ${failed.frame.frame}: ${failed.failed}. The last good frame is shown; reset to start again.`);
      this.context.emit("state", undefined);
      return false;
    }
    return true;
  }

  /** Builds what is drawn anew, from the scenes as they are; `false` where a finished run has taken the stage meanwhile. */
  private async show(): Promise<boolean> {
    const { stage, look } = this.context;
    if (this.sides.length === 0) return false;
    if (stage.views.length !== this.sides.length) stage.setSides(this.sides.length as 1 | 2);
    for (const [i, side] of this.sides.entries()) {
      const view = stage.views[i]!;
      const same = view.scene.userData["geometry"] === side.geometry;
      if (!same) {
        view.setScene(side.scene, side.geometry, side.colliders);
        view.scene.userData["geometry"] = side.geometry;
      }
      view.setPinned(side.scene.pinned);
      await side.advance(0, look.color);
      if (!this.sides.includes(side)) return false;
      view.update(side.frame);
      if (!same) view.settle(side.scene);
    }
    this.drawFrames();
    this.context.emit("scene", this.editing);
    return true;
  }

  private drawFrames(): void {
    const { context } = this;
    if (context.look.color !== "none") context.fitRange(this.sides.map((side) => side.frame.numbers));
    this.sides.forEach((side, i) => context.stage.views[i]?.update(side.frame));
    context.applyLook();
    context.emit("frame", undefined);
  }

  /** One piece of work at a time, in the order in which they were asked for; an engine that is gone is started again. */
  private exclusive<T>(work: () => Promise<T>): Promise<T> {
    this.waiting += 1;
    const mine = this.line.then(work).catch((error: unknown) => {
      this.lost(error);
      return undefined as T;
    });
    this.line = mine.finally(() => (this.waiting -= 1)).catch(() => undefined);
    return mine;
  }

  private lost(error: unknown): void {
    if (!(error instanceof EngineLost)) {
      this.playing = false;
      this.context.say("error", error instanceof Error ? error.message : String(error));
      console.error(error);
      return;
    }
    if (!this.recovering) void this.recover(error.message);
  }

  private async recover(why: string): Promise<void> {
    let last = why;
    this.recovering = true;
    this.playing = false;
    this.context.emit("state", undefined);
    for (let attempt = 0; attempt < 8; attempt++) {
      this.context.say("error", `The engine is gone (${why || "no reason given"}); the last frame stays. Trying to start it again …`);
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** Math.min(attempt, 5)));
      // A server that stays away for some seconds is gone; a page with a core can go on by itself.
      if (attempt >= 3 && hasChoice(this.context.info)) this.context.info = await serverInfo();
      try {
        for (const side of this.sides) {
          const place = this.context.info ? side.engine.place : "page";
          const recipe = side.recipe();
          await this.replaceEngine(side, place);
          await side.replay(recipe);
        }
        this.recovering = false;
        if (await this.exclusive(() => this.show())) this.context.say("warning", "The engine was started again, and the scene with it.");
        return;
      } catch (error) {
        last = error instanceof Error ? error.message : String(error);
      }
    }
    this.recovering = false;
    this.context.say("error", `The engine does not come back (${last}). Reload the page to try again.`);
  }

  /** Gives the engines back; a scene that is loaded later starts new ones. */
  clear(): void {
    this.playing = false;
    this.editing = 0;
    for (const side of this.sides) side.close();
    this.sides = [];
  }
}

/** About how many vertices the grids of a scene text have, before anything is built; meshes of files are not counted. */
export function estimate(request: Request): number {
  const texts = [String(request["toml"] ?? ""), ...((request["sets"] as string[] | undefined) ?? [])].join("\n");
  const cells = [...texts.matchAll(/cells\s*=\s*\[\s*(\d+)\s*,\s*(\d+)/g)];
  return cells.reduce((sum, [, a, b]) => sum + (Number(a) + 1) * (Number(b) + 1), 0);
}

/** Whether a scene names meshes that only the machine can read. */
function lacksMeshes(info: Info | undefined, request: Request): boolean {
  const opened = info?.opened;
  return opened?.kind === "scene" && !opened.complete && request["toml"] === opened.toml;
}
