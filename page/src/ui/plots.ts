/** Small plots of the last frames, drawn by hand: energy, strain, time a stage, residual, contacts. */
import type { Sample } from "../app/history";
import { h } from "../lib/dom";
import { percent, plain, roundUp, si } from "../lib/format";

interface Line {
  name: string;
  color: string;
  of: (s: Sample) => number | undefined;
}

interface PlotSpec {
  id: string;
  title: string;
  lines: Line[];
  format: (value: number) => string;
  log?: boolean;
  stacked?: boolean;
  help: string;
}

/** Only differences of the potential energy mean anything: it is shown above the least of the plot. */
const above = (samples: Sample[]): number => samples.reduce((least, s) => Math.min(least, s.potential ?? Infinity), Infinity);

const specs: PlotSpec[] = [
  { id: "energy", title: "Energy", format: (v) => si(v, "J"), help: "kinetic, elastic, potential above its least in the plot, and what came from nowhere: an error of the solver or its settings", lines: [
    { name: "kinetic", color: "--c1", of: (s) => s.kinetic },
    { name: "elastic", color: "--c2", of: (s) => s.elastic },
    { name: "potential", color: "--c3", of: (s) => s.potential },
    { name: "from nowhere", color: "--c4", of: (s) => Math.max(s.nowhere ?? 0, 0) },
  ] },
  { id: "strain", title: "Strain", format: (v) => percent(v), help: "largest and mean of |length / rest length − 1| over the edges", lines: [
    { name: "largest", color: "--c1", of: (s) => s.maxStrain },
    { name: "mean", color: "--c2", of: (s) => s.meanStrain },
  ] },
  { id: "stages", title: "Frame", format: (v) => `${plain(v)} ms`, stacked: true, help: "time to simulate a frame, by stage", lines: [
    { name: "solve", color: "--c1", of: (s) => s.stages["solve"] },
    { name: "collide", color: "--c2", of: (s) => s.stages["collide"] },
    { name: "predict", color: "--c3", of: (s) => s.stages["predict"] },
    { name: "update", color: "--c4", of: (s) => s.stages["update"] },
  ] },
  { id: "residual", title: "Residual", format: (v) => plain(v, 2), log: true, help: "the solver's own measure of what is left to solve, by decades", lines: [{ name: "", color: "--c1", of: (s) => s.residual }] },
  { id: "contacts", title: "Contacts", format: (v) => plain(v), help: "vertices and pairs that touch", lines: [{ name: "", color: "--c1", of: (s) => s.contacts }] },
];

export class Plots {
  private readonly plots: { spec: PlotSpec; canvas: HTMLCanvasElement; now: HTMLElement; keys: HTMLElement[] }[] = [];

  constructor(readonly element: HTMLElement) {
    for (const spec of specs) {
      const canvas = h("canvas", { role: "img", "aria-label": `${spec.title}: ${spec.help}` });
      const now = h("b", {}, "");
      const caption = h("figcaption", {}, h("b", {}, spec.title), now);
      const keys: HTMLElement[] = [];
      for (const line of spec.lines) {
        if (!line.name) continue;
        const key = h("i", {}, line.name);
        key.style.setProperty("--c", `var(${line.color})`);
        caption.append(key);
        keys.push(key);
      }
      element.append(h("figure", { title: spec.help, "data-plot": spec.id }, caption, canvas));
      this.plots.push({ spec, canvas, now, keys });
    }
  }

  /** Draws one history, or two: the second dashed. With a cursor at a frame of a finished run. */
  draw(histories: Sample[][], cursor?: number): void {
    if (this.element.hidden) return;
    const style = getComputedStyle(document.documentElement);
    const color = (name: string): string => style.getPropertyValue(name);
    for (const plot of this.plots) this.one(plot, histories, cursor, color);
  }

  private one(plot: (typeof this.plots)[number], histories: Sample[][], cursor: number | undefined, color: (name: string) => string): void {
    const { spec, canvas, now, keys } = plot;
    const ratio = Math.min(window.devicePixelRatio, 2);
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (width === 0) return;
    if (canvas.width !== Math.round(width * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const c = canvas.getContext("2d")!;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    const all = histories.flat();
    if (all.length === 0) {
      now.textContent = "";
      return;
    }
    const t0 = Math.min(...histories.map((s) => s[0]?.frame ?? Infinity));
    const t1 = Math.max(...histories.map((s) => s.at(-1)?.frame ?? 0), t0 + 60);
    // A finished run has the whole time of a frame only.
    const stages = spec.stacked && all.some((s) => Object.keys(s.stages).length > 0);
    const lines = spec.stacked && !stages ? [{ name: "all", color: "--c1", of: (s: Sample) => s.total }] : spec.lines;
    if (spec.stacked) for (const key of keys) key.hidden = !stages;
    const series = histories.map((samples) => this.series(spec, lines, samples));
    let top = 0, least = Infinity;
    for (const s of series) for (const line of s) for (const v of line) {
      if (v > top && v < Infinity) top = v;
      if (v > 0 && v < least) least = v;
    }
    if (!(top > 0)) top = 1;
    const high = spec.log ? 10 ** Math.ceil(Math.log10(top)) : roundUp(top);
    const low = spec.log ? Math.min(10 ** Math.floor(Math.log10(Math.max(least, high * 1e-8))), high / 10) : 0;
    const x = (frame: number): number => 1 + ((frame - t0) / (t1 - t0)) * (width - 2);
    const y = (v: number): number => {
      const t = spec.log ? Math.log(Math.max(v, low) / low) / Math.log(high / low) : v / high;
      return height - 3 - t * (height - 16);
    };
    c.strokeStyle = color("--line");
    c.lineWidth = 1;
    c.beginPath();
    for (const v of [low, high]) {
      c.moveTo(0, Math.round(y(v)) + 0.5);
      c.lineTo(width, Math.round(y(v)) + 0.5);
    }
    c.stroke();
    c.font = `10px ${color("--font")}`;
    c.fillStyle = color("--muted");
    c.textAlign = "right";
    c.fillText(spec.format(high), width - 1, 10);
    if (spec.log) c.fillText(spec.format(low), width - 1, height - 6);
    series.forEach((s, side) => {
      const samples = histories[side]!;
      c.setLineDash(side === 0 ? [] : [3, 3]);
      // The one on top of a stack is drawn first, so that those below stay in sight.
      for (let k = lines.length - 1; k >= 0; k--) {
        c.strokeStyle = color(lines[k]!.color);
        c.lineWidth = 1.4;
        c.beginPath();
        s[k]!.forEach((v, i) => {
          const px = x(samples[i]!.frame), py = y(Number.isFinite(v) ? v : 0);
          if (i === 0) c.moveTo(px, py);
          else c.lineTo(px, py);
        });
        c.stroke();
      }
      c.setLineDash([]);
    });
    if (cursor !== undefined) {
      c.strokeStyle = color("--text");
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(x(cursor), 12);
      c.lineTo(x(cursor), height);
      c.stroke();
    }
    const at = (samples: Sample[]): Sample | undefined => (cursor === undefined ? samples.at(-1) : samples.find((s) => s.frame >= cursor));
    // Where several are drawn, the number is that of the first.
    const whose = spec.stacked || lines.length < 2 ? "" : `${lines[0]!.name} `;
    const numbers = histories.map((samples) => {
      const s = at(samples);
      const value = s === undefined ? undefined : spec.stacked ? s.total : lines[0]!.of(s);
      return value === undefined || value === null ? "" : spec.format(value);
    }).filter(Boolean).join(" | ");
    now.textContent = numbers && `${whose}${numbers}`;
  }

  private series(spec: PlotSpec, lines: Line[], samples: Sample[]): number[][] {
    const base = spec.id === "energy" ? above(samples) : 0;
    const rows = lines.map((line) => samples.map((s) => (line.of(s) ?? 0) - (line.name === "potential" ? base : 0)));
    if (spec.stacked) for (let k = 1; k < rows.length; k++) rows[k] = rows[k]!.map((v, i) => v + rows[k - 1]![i]!);
    return rows;
  }
}
