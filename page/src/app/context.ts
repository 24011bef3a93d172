/** What the parts of the page share. */
import type { Info } from "../engine/protocol";
import { roundUp } from "../lib/format";
import { Emitter } from "../lib/emitter";
import type { Stage } from "../view/stage";
import type { ColorBy } from "./side";

export interface Message {
  kind: "info" | "warning" | "error";
  text: string;
  /** Stays until it is closed or replaced. */
  stays?: boolean;
}

export interface Events {
  /** A scene was opened or changed: panels show its values. */
  scene: number;
  /** New positions are on the canvas. */
  frame: void;
  /** Playing, speed, place, sides or look changed. */
  state: void;
  message: Message | undefined;
}

export interface Look {
  surface: "fabric" | "plain" | "none";
  wires: boolean;
  color: ColorBy;
  shadows: boolean;
  pins: boolean;
}

/** What a clock that people steer can do; a live simulation and a finished run both can. */
export interface Transport {
  readonly kind: "live" | "run";
  readonly playing: boolean;
  readonly frame: number;
  readonly time: number;
  readonly frames: number;
  readonly fps: number;
  play(): void;
  pause(): void;
  step(by: number): Promise<void>;
  seek(frame: number): Promise<void>;
  reset(): Promise<void>;
  tick(now: number, elapsed: number): void;
  /** Draws the present state again, with another colour. */
  refresh(): Promise<void>;
}

export class Context extends Emitter<Events> {
  info: Info | undefined;
  readonly look: Look = { surface: "fabric", wires: false, color: "none", shadows: true, pins: true };
  speed = 1;
  message: Message | undefined;
  dark = true;
  /** Both sides are coloured over one range, which grows at once and shrinks slowly. */
  range: [number, number] = [0, 1];
  private quiet = 0;

  constructor(readonly stage: Stage) {
    super();
  }

  say(kind: Message["kind"], text: string, stays = kind === "error"): void {
    this.message = { kind, text, stays };
    this.emit("message", this.message);
  }

  hush(): void {
    this.message = undefined;
    this.emit("message", undefined);
  }

  /** Fits the range of colours to numbers that are about to be drawn. */
  fitRange(all: (Float32Array | undefined)[]): void {
    let top = 0;
    for (const numbers of all) if (numbers) for (const v of numbers) if (v > top && v < Infinity) top = v;
    if (this.look.color === "contact") {
      // The engine gives gaps up to twice the thickness, which stands for all that is farther; what touches is bright.
      this.range = [top > 0 ? top : 1e-3, 0];
      return;
    }
    const end = roundUp(top > 0 ? top : 1e-6);
    if (end > this.range[1]) {
      this.range = [0, end];
      this.quiet = 0;
    } else if (end < this.range[1] * 0.45) {
      this.quiet += 1;
      if (this.quiet > 60) this.range = [0, end];
    } else {
      this.quiet = 0;
    }
  }

  resetRange(): void {
    this.range = [0, 0];
    this.quiet = 0;
  }

  applyLook(): void {
    for (const view of this.stage.views) {
      view.cloth.show(this.look.surface, this.look.wires, this.dark ? 0x050607 : 0x20262c);
      if (this.look.surface === "none") view.cloth.show("none", true, this.dark ? 0xaab4c0 : 0x3a4550);
      view.cloth.colorBy(this.look.color === "none" ? undefined : this.range);
      view.shadows(this.look.shadows);
      view.showPins(this.look.pins);
    }
    this.stage.invalidate();
  }
}
