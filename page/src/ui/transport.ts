/** The bar of time: reset, play, step, where we are, how fast. */
import type { Context, Transport } from "../app/context";
import { h } from "../lib/dom";
import type { Player } from "../finished/player";
import { icon } from "./icons";

export const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

export class TransportBar {
  private readonly reset = button("reset", "Back to the start (R)", "reset");
  private readonly back = button("back", "A frame back (,)", "back");
  private readonly playButton = button("play", "Play or pause (Space)", "play");
  private readonly next = button("step", "A frame on (.)", "next");
  private readonly loop = button("loop", "Again from the start (L)", "loop");
  private readonly plots = button("plots-toggle", "Plots (P)", "plots");
  private readonly time = h("span", { class: "time", id: "time" });
  private readonly scrub = h("input", { type: "range", id: "scrub", min: 0, step: 1, "aria-label": "Frame" });
  private readonly progress = h("progress", { id: "progress", "aria-label": "Part of the scene's duration" });
  private readonly speed = h("select", { id: "speed", title: "Speed ([ and ])", "aria-label": "Speed" });
  private wasPlaying: boolean | undefined;

  constructor(element: HTMLElement, private readonly context: Context, private readonly transport: () => Transport | undefined, plots: () => void) {
    for (const s of SPEEDS) this.speed.append(h("option", { value: s }, `${s}×`));
    this.speed.value = "1";
    element.append(this.reset, this.back, this.playButton, this.next, this.time, this.scrub, this.progress, this.loop, this.speed, this.plots);
    this.reset.onclick = () => void transport()?.reset();
    this.back.onclick = () => void transport()?.step(-1);
    this.next.onclick = () => void transport()?.step(1);
    this.playButton.onclick = () => this.toggle();
    this.loop.onclick = () => this.toggleLoop();
    this.plots.onclick = plots;
    this.speed.onchange = () => {
      context.speed = Number(this.speed.value);
      context.emit("state", undefined);
    };
    this.scrub.oninput = () => {
      const t = transport();
      t?.pause();
      void t?.seek(Number(this.scrub.value));
    };
    context.on("state", () => this.refresh());
    context.on("frame", () => this.refresh());
  }

  toggle(): void {
    const t = this.transport();
    if (t?.playing) t.pause();
    else t?.play();
  }

  toggleLoop(): void {
    const t = this.transport();
    if (t?.kind !== "run") return;
    (t as Player).loop = !(t as Player).loop;
    this.context.emit("state", undefined);
  }

  faster(by: number): void {
    const at = SPEEDS.indexOf(this.context.speed);
    this.context.speed = SPEEDS[Math.min(Math.max(at + by, 0), SPEEDS.length - 1)]!;
    this.context.emit("state", undefined);
  }

  showPlots(on: boolean): void {
    this.plots.setAttribute("aria-pressed", String(on));
  }

  refresh(): void {
    const t = this.transport();
    if (!t) return;
    const run = t.kind === "run";
    this.back.hidden = !run;
    this.loop.hidden = !run;
    this.scrub.hidden = !run;
    this.progress.hidden = run;
    if (this.wasPlaying !== t.playing) {
      this.wasPlaying = t.playing;
      this.playButton.replaceChildren(icon(t.playing ? "pause" : "play"));
      this.playButton.setAttribute("aria-label", t.playing ? "Pause (Space)" : "Play (Space)");
    }
    const over = !run && t.frame > t.frames;
    this.time.innerHTML = "";
    this.time.append(h("b", {}, `${t.time.toFixed(2)} s`), ` · frame ${t.frame}${over ? ", past the end" : ` of ${t.frames}`}`);
    this.scrub.max = String(t.frames);
    if (document.activeElement !== this.scrub || t.playing) this.scrub.value = String(t.frame);
    this.scrub.setAttribute("aria-valuetext", `${t.time.toFixed(2)} s`);
    this.progress.max = Math.max(t.frames, 1);
    this.progress.value = Math.min(t.frame, t.frames);
    this.speed.value = String(this.context.speed);
    if (run) this.loop.setAttribute("aria-pressed", String((t as Player).loop));
  }
}

function button(id: string, title: string, name: string): HTMLButtonElement {
  return h("button", { id, type: "button", class: "icon", title, "aria-label": title }, icon(name));
}
