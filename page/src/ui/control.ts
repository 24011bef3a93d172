/** One setting: a number with its slider, a choice, a switch, or three numbers. It says what was wrong with a value right where it stands. */
import { h } from "../lib/dom";
import { plain } from "../lib/format";
import { positionOf, scaleFor, STEPS, valueAt, type NumberKind, type Scale } from "../lib/scale";
import type { Value } from "../lib/toml";

export interface Choice {
  value: string;
  label?: string;
  /** Why it cannot be taken now. */
  why?: string | undefined;
}

export type Kind = NumberKind | { type: "choice"; choices: Choice[] } | { type: "flag" } | { type: "vector"; size: number; integer?: boolean } | { type: "text" };

export interface Spec {
  path: string;
  label: string;
  unit?: string;
  help?: string;
  kind: Kind;
  value: unknown;
  usual?: number | undefined;
  /** May be left empty; then a default of the engine holds. */
  optional?: boolean;
  readonly?: boolean;
  /** What a value is sent as; by default `path=value`. `undefined` empties an optional one. */
  sets?: (value: Value | undefined) => string[];
}

export type Commit = (control: Control, value: Value | undefined, final: boolean) => void;

export class Control {
  readonly element: HTMLElement;
  value: unknown;
  private readonly say = h("div", { class: "say", role: "status" });
  private readonly inputs: (HTMLInputElement | HTMLSelectElement)[] = [];
  private slider: HTMLInputElement | undefined;
  private scale: Scale | undefined;
  private editing = false;

  constructor(readonly spec: Spec, private readonly commit: Commit) {
    this.value = spec.value;
    const id = `c-${spec.path.replace(/[^A-Za-z0-9]+/g, "-")}`;
    this.say.id = `${id}-say`;
    this.element = h("div", { class: "control", "data-path": spec.path, title: spec.help });
    this.build(id);
    this.element.append(this.say);
    this.show(spec.value);
  }

  private build(id: string): void {
    const { spec } = this;
    const label = spec.kind.type === "vector" ? h("span", { class: "label", id: `${id}-label` }, spec.label) : h("label", { for: id }, spec.label);
    this.element.append(label);
    const common = { id, "aria-describedby": this.say.id, disabled: spec.readonly };
    if (spec.kind.type === "choice") {
      const select = h("select", common);
      for (const choice of spec.kind.choices) {
        const option = h("option", { value: choice.value, disabled: choice.why !== undefined, title: choice.why }, choice.label ?? choice.value);
        if (choice.why !== undefined) option.textContent += " (not here)";
        select.append(option);
      }
      const reasons = spec.kind.choices.filter((c) => c.why).map((c) => `${c.label ?? c.value}: ${c.why}`);
      if (reasons.length > 0) select.title = `${spec.help ? `${spec.help}\n\n` : ""}Not to be had here:\n${reasons.join("\n")}`;
      select.addEventListener("change", () => this.commit(this, select.value, true));
      this.inputs.push(select);
      this.element.append(select);
    } else if (spec.kind.type === "flag") {
      const box = h("input", { ...common, type: "checkbox" });
      box.addEventListener("change", () => this.commit(this, box.checked, true));
      this.inputs.push(box);
      this.element.append(h("span", { class: "wide" }, box));
    } else if (spec.kind.type === "vector") {
      this.buildVector(id, spec.kind.size);
    } else if (spec.kind.type === "text") {
      const input = h("input", { ...common, type: "text", class: "wide" });
      input.addEventListener("change", () => this.commit(this, input.value, true));
      this.inputs.push(input);
      this.element.append(input);
    } else {
      this.buildNumber(common, spec.kind);
    }
  }

  private buildNumber(common: Record<string, unknown>, kind: NumberKind): void {
    const { spec } = this;
    const current = typeof spec.value === "number" && spec.value > 0 ? spec.value : undefined;
    this.scale = scaleFor(kind, spec.unit ?? "", spec.usual || current);
    const slider = h("input", { type: "range", min: 0, max: STEPS, step: 1, "aria-label": `${spec.label}, slider`, disabled: spec.readonly });
    slider.addEventListener("input", () => this.slide(slider, false));
    slider.addEventListener("change", () => this.slide(slider, true));
    this.slider = slider;
    const input = h("input", { ...common, type: "text", inputmode: "decimal", autocomplete: "off", placeholder: spec.optional ? "default" : undefined });
    this.textual(input, () => {
      const text = input.value.trim();
      if (text === "" && spec.optional) this.commit(this, undefined, true);
      else this.commit(this, parse(text), true);
    });
    this.inputs.push(input);
    this.element.append(slider, h("span", { class: "value" }, input, h("span", { class: "unit" }, spec.unit ?? "")));
  }

  private slide(slider: HTMLInputElement, final: boolean): void {
    const value = valueAt(this.scale!, Number(slider.value));
    const input = this.inputs[0] as HTMLInputElement;
    input.value = plain(value, 4);
    slider.setAttribute("aria-valuetext", `${input.value} ${this.spec.unit ?? ""}`);
    this.editing = !final;
    this.commit(this, value, final);
  }

  private buildVector(id: string, size: number): void {
    const { spec } = this;
    const box = h("div", { class: "triple", role: "group", "aria-labelledby": `${id}-label` });
    const names = size === 2 ? ["1", "2"] : ["x", "y", "z"];
    for (let k = 0; k < size; k++) {
      const input = h("input", { type: "text", inputmode: "decimal", id: `${id}-${k}`, "aria-label": `${spec.label} ${names[k]}`, "data-axis": k, "aria-describedby": this.say.id, disabled: spec.readonly });
      this.textual(input, () => this.commit(this, this.inputs.map((i) => parse(i.value.trim())), true));
      this.inputs.push(input);
      box.append(input);
    }
    box.append(h("span", { class: "unit" }, spec.unit ?? ""));
    this.element.append(box);
  }

  private textual(input: HTMLInputElement, send: () => void): void {
    input.addEventListener("input", () => (this.editing = true));
    input.addEventListener("change", () => {
      this.editing = false;
      send();
    });
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      this.editing = false;
      this.clear();
      this.show(this.value);
      event.stopPropagation();
    });
  }

  /** The value that is in force. What is being typed, and what was refused, stays. */
  show(value: unknown): void {
    this.value = value;
    if (this.editing || this.say.dataset["kind"] === "error") return;
    const { kind } = this.spec;
    if (kind.type === "vector") {
      this.inputs.forEach((input, k) => (input.value = Array.isArray(value) ? plain(Number(value[k]), 6) : ""));
    } else if (kind.type === "flag") {
      (this.inputs[0] as HTMLInputElement).checked = value === true;
    } else if (kind.type === "choice" || kind.type === "text") {
      this.inputs[0]!.value = String(value ?? "");
    } else {
      this.inputs[0]!.value = typeof value === "number" ? plain(value, 6) : "";
      this.slider!.classList.toggle("unset", typeof value !== "number");
      if (typeof value === "number") {
        this.slider!.value = String(positionOf(this.scale!, value));
        this.slider!.setAttribute("aria-valuetext", `${plain(value)} ${this.spec.unit ?? ""}`);
      }
    }
  }

  tell(kind: "error" | "warning" | "info", text: string): void {
    this.editing = false;
    this.say.dataset["kind"] = kind;
    this.say.textContent = text;
    for (const input of this.inputs) {
      if (kind === "error") input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
  }

  clear(): void {
    delete this.say.dataset["kind"];
    this.say.textContent = "";
    for (const input of this.inputs) input.removeAttribute("aria-invalid");
  }

  /** The value in force, as words. */
  inForce(): string {
    const { value } = this;
    if (value === undefined || value === null || value === "") return "the default";
    const text = typeof value === "number" ? plain(value, 6) : Array.isArray(value) ? `[${value.map((v) => plain(Number(v), 6)).join(", ")}]` : String(value);
    return `${text}${this.spec.unit ? ` ${this.spec.unit}` : ""}`;
  }
}

/** A number where it is one; else the text, which the engine refuses with its own words. */
function parse(text: string): Value {
  const number = Number(text.replace(",", ".").replace("−", "-"));
  return text !== "" && Number.isFinite(number) ? number : text;
}
