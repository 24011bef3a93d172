/** Plays a finished run: at any speed, forth and back, frame by frame, in a loop. */
import type { Context, Transport } from "../app/context";
import type { FrameData } from "../view/sideview";
import { EdgeStrain, speeds } from "./numbers";
import type { Run } from "./run";

export class Player implements Transport {
  readonly kind = "run";
  playing = false;
  loop = true;
  current: FrameData;
  private at = 0;
  private busy = false;
  private wanted: number | undefined;
  private strain: EdgeStrain | undefined;

  constructor(private readonly context: Context, readonly run: Run) {
    this.current = { frame: 0, time: 0, positions: run.geometry.rest };
  }

  get frame(): number {
    return this.current.frame;
  }
  get time(): number {
    return this.current.time;
  }
  get frames(): number {
    return this.run.count - 1;
  }
  get fps(): number {
    return this.run.fps;
  }

  async start(): Promise<void> {
    const { stage } = this.context;
    stage.setSides(1);
    const view = stage.views[0]!;
    view.setScene(this.run.scene, this.run.geometry);
    view.scene.userData["geometry"] = this.run.geometry;
    view.update(await this.run.frame(0));
    view.settle(this.run.scene);
    stage.frameCamera(this.run.scene);
    await this.seek(0);
  }

  play(): void {
    if (this.frame >= this.frames) this.at = 0;
    this.playing = true;
    this.context.emit("state", undefined);
  }

  pause(): void {
    this.playing = false;
    this.at = this.frame;
    this.context.emit("state", undefined);
  }

  async step(by: number): Promise<void> {
    this.pause();
    await this.seek(this.frame + by);
  }

  async reset(): Promise<void> {
    await this.seek(0);
  }

  /** While a frame is on its way only the last wish counts. */
  async seek(frame: number): Promise<void> {
    const last = this.frames;
    this.at = Math.min(Math.max(frame, 0), last);
    this.wanted = Math.round(this.at);
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.wanted !== undefined) {
        const index: number = this.wanted;
        this.wanted = undefined;
        await this.show(index);
      }
    } catch (error) {
      this.playing = false;
      this.context.say("error", `Frame ${this.wanted ?? Math.round(this.at)} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
      this.context.emit("state", undefined);
    } finally {
      this.busy = false;
    }
  }

  refresh(): Promise<void> {
    this.context.resetRange();
    return this.seek(this.frame);
  }

  private async show(index: number): Promise<void> {
    const frame = await this.run.frame(index);
    const { look } = this.context;
    if (look.color === "strain") {
      this.strain ??= new EdgeStrain(this.run.geometry.triangles, this.run.geometry.rest);
      frame.numbers = this.strain.of(frame.positions);
    } else if (look.color === "speed") {
      const before = await this.run.frame(Math.max(index - 1, 0));
      frame.numbers = speeds(before.positions, frame.positions, 1 / this.fps);
    }
    this.current = frame;
    if (frame.numbers) this.context.fitRange([frame.numbers]);
    this.context.stage.views[0]?.update(frame);
    this.context.applyLook();
    this.context.emit("frame", undefined);
  }

  tick(_now: number, elapsed: number): void {
    if (!this.playing || this.busy) return;
    const before = Math.floor(this.at);
    this.at += elapsed * this.fps * this.context.speed;
    if (this.at >= this.frames + 1 || (this.at > this.frames && !this.loop)) {
      if (!this.loop) {
        this.at = this.frames;
        this.playing = false;
        this.context.emit("state", undefined);
      } else {
        this.at = this.at % (this.frames + 1);
      }
    }
    const next = Math.min(Math.floor(this.at), this.frames);
    if (next === before && next === this.frame) return;
    this.run.expect(next + 1, 4);
    const at = this.at;
    void this.seek(next).then(() => {
      // The fraction of a frame that seeking rounds away would add up to a slower film.
      if (this.playing && Math.floor(this.at) === Math.floor(at)) this.at = at;
    });
  }

  close(): void {
    this.playing = false;
  }
}
