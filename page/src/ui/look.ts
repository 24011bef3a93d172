/** How things are drawn: surface, wires, colours, shadow, pins. These never touch the simulation. */
import type { Context, Transport } from "../app/context";
import type { ColorBy } from "../app/side";
import { h } from "../lib/dom";

export const COLORS: ColorBy[] = ["none", "strain", "speed", "contact"];

export class LookPanel {
  readonly element: HTMLElement;
  private readonly color = h("select", { id: "look-color" });
  private readonly surface = h("select", { id: "look-surface" });
  private readonly boxes: Record<"wires" | "shadows" | "pins", HTMLInputElement>;

  constructor(private readonly context: Context, private readonly transport: () => Transport | undefined) {
    const { look } = context;
    for (const [value, text] of [["none", "nothing"], ["strain", "strain"], ["speed", "speed"], ["contact", "contact"]] as const) {
      this.color.append(h("option", { value }, text));
    }
    for (const [value, text] of [["fabric", "fabric"], ["plain", "plain"], ["none", "wires only"]] as const) this.surface.append(h("option", { value }, text));
    const box = (id: "wires" | "shadows" | "pins"): HTMLInputElement => h("input", { type: "checkbox", id: `look-${id}` });
    this.boxes = { wires: box("wires"), shadows: box("shadows"), pins: box("pins") };
    this.color.onchange = () => this.setColor(this.color.value as ColorBy);
    this.surface.onchange = () => {
      look.surface = this.surface.value as typeof look.surface;
      this.changed();
    };
    for (const key of ["wires", "shadows", "pins"] as const) {
      this.boxes[key].onchange = () => {
        look[key] = this.boxes[key].checked;
        this.changed();
      };
    }
    const row = (label: string, input: HTMLElement): HTMLElement => h("div", { class: "control" }, h("label", { for: input.id }, label), input);
    const check = (label: string, input: HTMLElement): HTMLElement => h("label", {}, input, label);
    this.element = h("details", { id: "section-look", open: true }, h("summary", {}, "Look"), h("div", { class: "body" },
      row("colour by", this.color), row("surface", this.surface), 
      h("div", { class: "checks" }, check("wires", this.boxes.wires), check("shadow", this.boxes.shadows), check("pins", this.boxes.pins))));
    this.refresh();
  }

  setColor(color: ColorBy): void {
    if (color === "contact" && this.transport()?.kind === "run") {
      this.context.say("info", "A finished run does not hold its contacts.");
      color = "none";
    }
    this.context.look.color = color;
    this.changed();
    void this.transport()?.refresh();
  }

  cycleColor(): void {
    this.setColor(COLORS[(COLORS.indexOf(this.context.look.color) + 1) % COLORS.length]!);
  }

  toggleWires(): void {
    this.context.look.wires = !this.context.look.wires;
    this.changed();
  }

  private changed(): void {
    this.refresh();
    this.context.applyLook();
    this.context.emit("state", undefined);
  }

  refresh(): void {
    const { look } = this.context;
    this.color.value = look.color;
    this.surface.value = look.surface;
    for (const key of ["wires", "shadows", "pins"] as const) this.boxes[key].checked = look[key];
    const contact = this.color.querySelector<HTMLOptionElement>('option[value="contact"]')!;
    contact.disabled = this.transport()?.kind === "run";
    contact.title = contact.disabled ? "a finished run does not hold its contacts" : "";
  }
}
