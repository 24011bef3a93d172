/** The settings of one side: built from the scene's values, changed through the engine, refused in place. */
import type { Context } from "../app/context";
import type { Live } from "../app/live";
import { findings } from "../app/side";
import type { Reply } from "../engine/protocol";
import { h } from "../lib/dom";
import { bytes, count } from "../lib/format";
import { lookUp, pathOfPlace, setText, type Value } from "../lib/toml";
import { Control, type Spec } from "./control";
import type { Models } from "./models";
import { airSection, clothSection, colliderSection, contactSection, newCollider, solverSection, type Section } from "./specs";

/** A mesh of more vertices than this is not built before one has said yes. */
const ASK_VERTICES = 150_000;

export class Panel {
  readonly element = h("div", { id: "settings" });
  private controls: Control[] = [];
  private shape = "";
  private cloth: number | "all" = "all";
  private readonly open = new Set(["solver", "cloth"]);
  /** Keys that started the scene again when they were set: they are sent when the slider is let go. */
  private readonly restarting = new Set<string>();
  private sending = false;
  private waiting: (() => void) | undefined;
  /** The control whose newer value waits: it must not jump back to the one before. */
  private ahead: string | undefined;

  constructor(private readonly context: Context, private readonly live: Live, private readonly models: Models) {}

  /** Shows the values of the side that is edited. */
  refresh(): void {
    const side = this.live.sides[this.live.editing];
    if (!side?.scene) return;
    const sections = this.sections();
    const shape = JSON.stringify([this.live.editing, this.cloth, sections.map((s) => s.items.map((i) => ("heading" in i ? i.heading : [i.path, i.kind])))]);
    if (shape !== this.shape) {
      this.shape = shape;
      this.build(sections);
      return;
    }
    const specs = sections.flatMap((s) => s.items.filter((i): i is Spec => !("heading" in i)));
    this.controls.forEach((control, i) => {
      // The way a value is sent depends on the values beside it.
      control.spec.sets = specs[i]!.sets as NonNullable<Spec["sets"]>;
      if (control.spec.path !== this.ahead) control.show(specs[i]!.value);
    });
    for (const section of sections) {
      const note = this.element.querySelector(`#section-${section.id} > summary small`);
      if (note) note.textContent = section.note ?? "";
    }
    this.element.querySelector("#cost")?.replaceWith(this.cost());
  }

  private sections(): Section[] {
    const { scene } = this.live.side;
    const { values } = scene;
    const cloths = (lookUp(values, "cloth") as unknown[] | undefined)?.length ?? 0;
    if (this.cloth !== "all" && this.cloth >= cloths) this.cloth = "all";
    const index = this.cloth === "all" ? 0 : this.cloth;
    return [
      solverSection(values, this.models),
      ...(cloths > 0 ? [clothSection(values, this.models, index, this.cloth === "all" && cloths > 1)] : []),
      airSection(values),
      contactSection(values),
      colliderSection(values, this.models),
      { id: "time", title: "Scene", note: `${count(scene.vertices)} vertices`, items: [
        { path: "duration", label: "duration", unit: "s", help: "simulated time of a run; the page goes on beyond it", kind: { type: "number", min: 0.01 }, value: lookUp(values, "duration"), usual: 2 },
        { path: "fps", label: "frames", unit: "1/s", help: "frames a second", kind: { type: "number", min: 1, max: 1000 }, value: lookUp(values, "fps"), usual: 60 },
      ] },
    ];
  }

  private build(sections: Section[]): void {
    const focused = (document.activeElement as HTMLElement | null)?.id;
    const scrolled = this.element.parentElement?.scrollTop ?? 0;
    this.controls = [];
    this.element.replaceChildren(...sections.map((section) => this.section(section)));
    if (this.element.parentElement) this.element.parentElement.scrollTop = scrolled;
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  private section(section: Section): HTMLElement {
    const body = h("div", { class: "body" });
    if (section.id === "cloth") this.clothSwitch(body);
    for (const item of section.items) {
      if ("heading" in item) {
        const head = h("h3", {}, item.heading);
        const { remove } = item;
        if (remove !== undefined) head.append(h("button", { type: "button", class: "small", "aria-label": `Remove ${item.heading}`, onclick: () => void this.send([remove], undefined) }, "Remove"));
        body.append(head);
      } else {
        const control = new Control(item, (c, value, final) => this.commit(c, value, final));
        this.controls.push(control);
        body.append(control.element);
      }
    }
    if (section.id === "colliders") body.append(this.adder());
    if (section.id === "time") body.append(this.cost());
    const details = h("details", { id: `section-${section.id}`, open: this.open.has(section.id) }, h("summary", {}, section.title, h("small", {}, section.note ?? "")), body);
    details.addEventListener("toggle", () => (details.open ? this.open.add(section.id) : this.open.delete(section.id)));
    return details;
  }

  private clothSwitch(body: HTMLElement): void {
    const { cloths } = this.live.side.scene;
    if (cloths.length < 2) return;
    const select = h("select", { id: "which-cloth", "aria-label": "Which cloth" }, h("option", { value: "all" }, `all ${cloths.length} cloths`));
    cloths.forEach((cloth, i) => select.append(h("option", { value: i }, cloth.name)));
    select.value = String(this.cloth);
    select.addEventListener("change", () => {
      this.cloth = select.value === "all" ? "all" : Number(select.value);
      this.refresh();
    });
    body.append(h("div", { class: "row" }, select));
  }

  private adder(): HTMLElement {
    const row = h("div", { class: "row" });
    for (const model of this.models.collider) {
      // A mesh needs a file.
      if (!model.example) continue;
      row.append(h("button", { type: "button", class: "small", onclick: () => void this.send([newCollider(model, this.live.side.scene.values)], undefined) }, `Add ${model.name}`));
    }
    return row;
  }

  private cost(): HTMLElement {
    const { scene, engine } = this.live.side;
    return h("p", { id: "cost" }, `${count(scene.vertices)} vertices and ${count(scene.triangles)} triangles, about ${bytes(scene.memory)} of memory, computed ${engine.place === "machine" ? "on this machine" : "in the page"} by ${engine.threads} thread${engine.threads === 1 ? "" : "s"}.`);
  }

  private commit(control: Control, value: Value | undefined, final: boolean): void {
    const { path } = control.spec;
    if (!final && this.restarting.has(path)) return;
    const sets = control.spec.sets ? control.spec.sets(value) : [setText(path, value!)];
    if (sets.length === 0) return;
    if (final && path.endsWith(".cells") && !this.affordable(value)) {
      control.tell("error", `not sent; ${control.inForce()} stays`);
      return;
    }
    const work = (): void => void this.send(sets, control);
    // While one value is on its way only the newest of the others counts.
    if (this.sending) {
      this.waiting = work;
      this.ahead = path;
    } else {
      work();
    }
  }

  /** Asks before a mesh is built that takes long and much memory. */
  private affordable(value: Value | undefined): boolean {
    if (!Array.isArray(value) || value.some((v) => typeof v !== "number")) return true;
    const [a, b] = value as number[];
    const vertices = (a! + 1) * (b! + 1);
    // What no scene may have is refused by the engine, in its words.
    if (!(vertices >= ASK_VERTICES && vertices < 1e8)) return true;
    const { scene, engine } = this.live.side;
    const memory = (scene.memory / Math.max(scene.vertices, 1)) * vertices;
    const where = this.context.info && this.live.place !== "page" ? "on this machine" : engine.place === "machine" ? "on this machine" : "in the page";
    return window.confirm(`${count(vertices)} vertices take about ${bytes(memory)} of memory ${where}, and every frame takes long. Build it?`);
  }

  private async send(sets: string[], control: Control | undefined): Promise<void> {
    this.sending = true;
    const place = this.live.side.engine.place;
    try {
      const reply = await this.live.change({ do: "set", sets });
      if (reply.ok) this.accepted(reply, control, place);
      else this.refused(reply, control);
    } finally {
      this.sending = false;
      const next = this.waiting;
      this.waiting = undefined;
      this.ahead = undefined;
      next?.();
    }
  }

  private accepted(reply: Reply, sender: Control | undefined, before: string): void {
    for (const control of this.controls) control.clear();
    this.refresh();
    const control = sender ? (this.controls.find((c) => c.spec.path === sender.spec.path) ?? sender) : undefined;
    if (reply.applied === "restart") {
      if (control) {
        this.restarting.add(control.spec.path);
        control.tell("info", `Started again${reply.why ? `: ${reply.why}` : ""}.`);
      }
      const { scene, engine } = this.live.side;
      const moved = engine.place === before ? "" : ` ${count(scene.vertices)} vertices, about ${bytes(scene.memory)}: it runs ${engine.place === "machine" ? "on this machine" : "in the page"} now.`;
      this.context.say("info", `The scene started again${reply.why ? `: ${reply.why}` : ""}.${moved}`);
    }
    for (const warning of reply.warnings ?? []) {
      const at = this.controlAt(warning.place);
      if (at) at.tell("warning", warning.message);
      else if (control) control.tell("warning", `${warning.place ? `${warning.place}: ` : ""}${warning.message}`);
    }
  }

  private refused(reply: Reply, sender: Control | undefined): void {
    for (const finding of reply.findings ?? []) {
      const at = this.controlAt(finding.place);
      if (at && at !== sender) at.tell("error", finding.message);
    }
    if (!sender) {
      this.context.say("error", findings(reply));
      return;
    }
    const own = (reply.findings ?? []).filter((f) => this.controlAt(f.place) === sender);
    const text = own.length > 0 ? own.map((f) => f.message).join("; ") : findings(reply);
    sender.tell("error", `${text}; ${sender.inForce()} stays in force`);
  }

  /** The control of a place in the scene, or of the table it is in. */
  private controlAt(place: string | undefined): Control | undefined {
    if (!place) return undefined;
    let path = pathOfPlace(place);
    // With all cloths at once the controls are those of the first.
    if (this.cloth === "all") path = path.replace(/^cloth\.\d+/, "cloth.0");
    return (
      this.controls.find((c) => c.spec.path === path) ??
      this.controls.find((c) => c.spec.path.startsWith(`${path}.`)) ??
      this.controls.find((c) => path.startsWith(`${c.spec.path}.`))
    );
  }
}
