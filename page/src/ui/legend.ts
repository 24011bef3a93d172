/** What the colours mean: a bar with numbers and units. */
import type { Context } from "../app/context";
import { h } from "../lib/dom";
import { percent, plain, si } from "../lib/format";
import { cssGradient } from "../view/colormap";

const titles: Record<string, string> = { strain: "Strain", speed: "Speed", contact: "Contact: gap to what is near" };

export class Legend {
  private shown = "";

  constructor(private readonly element: HTMLElement, private readonly context: Context, private readonly unit: () => string) {
    context.on("frame", () => this.refresh());
    context.on("state", () => this.refresh());
  }

  refresh(): void {
    const { color } = this.context.look;
    const [low, high] = this.context.range;
    const unit = this.unit();
    const key = `${color} ${low} ${high} ${unit}`;
    if (key === this.shown) return;
    this.shown = key;
    this.element.hidden = color === "none";
    if (color === "none") return;
    const format = (v: number): string => {
      if (color === "strain") return percent(v);
      if (unit === "m" || unit === "m/s" || unit === "N") return si(v, unit);
      return `${plain(v)} ${unit}`.trim();
    };
    const bar = h("div", { class: "bar" });
    bar.style.background = cssGradient();
    this.element.replaceChildren(
      h("div", {}, titles[color] ?? color),
      bar,
      h("div", { class: "ends" }, h("span", {}, color === "contact" ? `≥ ${format(low)}` : format(low)), h("span", {}, format((low + high) / 2)), h("span", {}, format(high))),
    );
  }
}
