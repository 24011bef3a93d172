/** The frame of the page: header, panels, tools, keys. */
import type { App } from "../app/app";
import { hasChoice, MANY_VERTICES, type Place } from "../engines";
import { byId, h } from "../lib/dom";
import { bytes, count, plain } from "../lib/format";
import { filesOf, sortOut } from "./drop";
import { Exports } from "./exports";
import { openHelp } from "./help";
import { icon } from "./icons";
import { Legend } from "./legend";
import { LookPanel } from "./look";
import { showMessages } from "./messages";
import { Panel } from "./panel";
import { Plots } from "./plots";
import { Pointer, type Tool } from "./pointer";
import { listen } from "./shortcuts";
import { startTheme } from "./theme";
import { TransportBar } from "./transport";

const tools: [Tool, string, string][] = [
  ["pull", "Pull", "Drag cloth to pull it, click to pin it (1)"],
  ["move", "Move", "Drag bodies to move them; or Shift + drag (2)"],
  ["look", "Look", "Only the camera moves (3)"],
];

export class Shell {
  private readonly bar: TransportBar;
  private readonly look: LookPanel;
  private readonly exports: Exports;
  private readonly plots = new Plots(byId("plots"));
  private readonly pointer: Pointer;
  private panel: Panel | undefined;
  private readonly settings = h("div");
  private readonly sidesSwitch = h("div", { class: "switch", role: "radiogroup", "aria-label": "Which side the panel edits" });
  private readonly placeSelect = h("select", { id: "place" });
  private readonly toggleTheme: () => void;
  private drawn = 0;

  constructor(private readonly app: App) {
    const { context } = app;
    const live = () => (app.player ? undefined : app.live);
    showMessages(byId("message"), context);
    this.pointer = new Pointer(context, live, byId("stage"));
    this.bar = new TransportBar(byId("transport"), context, () => app.transport, () => this.togglePlots());
    this.look = new LookPanel(context, () => app.transport);
    this.exports = new Exports(context, live, () => app.player);
    new Legend(byId("legend"), context, () => (app.player ? (context.look.color === "speed" ? "m/s" : "") : (app.live.sides[0]?.colorUnit ?? "")));
    this.toggleTheme = startTheme(context, byId("theme"));
    byId("panel").append(this.sidesSwitch, this.placeRow(), this.look.element, this.settings, this.exports.element);
    this.header();
    this.tools();
    this.dropping();
    this.keys();
    if (window.matchMedia("(max-width: 820px), (max-height: 560px)").matches) this.togglePlots();
    this.bar.showPlots(!byId("plots").hidden);
    context.on("scene", () => this.refreshPanel());
    context.on("state", () => this.refresh());
    context.on("frame", () => this.drawPlots());
    setInterval(() => this.rate(), 500);
  }

  /** Once the engine has said what it knows. */
  ready(): void {
    this.refresh();
    this.refreshPanel();
  }

  private placeRow(): HTMLElement {
    this.placeSelect.append(h("option", { value: "auto" }, "by size"), h("option", { value: "page" }, "in the page"), h("option", { value: "machine" }, "on this machine"));
    this.placeSelect.onchange = () => void this.app.live.setPlace(this.placeSelect.value as Place);
    return h("details", { id: "section-place" }, h("summary", {}, "Where it runs"), h("div", { class: "body" },
      h("div", { class: "control" }, h("label", { for: "place" }, "computed"), this.placeSelect),
      h("p", {}, "By size: scenes of more than 20,000 vertices run on the machine, all others in the page.")));
  }

  private header(): void {
    const { app } = this;
    byId("drawer").append(icon("panel"));
    const select = byId<HTMLSelectElement>("scene");
    select.onchange = () => {
      // Keys work at once, and do not leaf through the scenes.
      select.blur();
      void app.choose(select.value);
    };
    byId("open-file").onclick = () => byId("file").click();
    byId<HTMLInputElement>("file").onchange = (event) => {
      const input = event.target as HTMLInputElement;
      void this.opened([...(input.files ?? [])].map((file) => ({ path: file.name, file })));
      input.value = "";
    };
    byId("sides").onclick = () => this.toggleSides();
    byId("theme").onclick = this.toggleTheme;
    byId("help").onclick = () => openHelp(byId<HTMLDialogElement>("sheet"));
    byId("drawer").onclick = () => this.toggleDrawer();
  }

  private toggleDrawer(open = !byId("panel").classList.contains("open")): void {
    byId("panel").classList.toggle("open", open);
    byId("drawer").setAttribute("aria-expanded", String(open));
    if (open) byId("panel").focus();
  }

  private toggleSides(): void {
    if (this.app.player) {
      this.app.context.say("info", "Side by side is for simulations; open a scene first.");
      return;
    }
    byId<HTMLButtonElement>("sides").disabled = true;
    void this.app.live.setSides(this.app.live.sides.length === 1 ? 2 : 1).finally(() => (byId<HTMLButtonElement>("sides").disabled = false));
  }

  private edit(side: number): void {
    if (side >= this.app.live.sides.length) return;
    this.app.live.editing = side;
    this.refresh();
    this.refreshPanel();
  }

  private togglePlots(): void {
    const plots = byId("plots");
    plots.hidden = !plots.hidden;
    this.bar.showPlots(!plots.hidden);
    this.drawn = 0;
    this.drawPlots();
  }

  private tools(): void {
    for (const [tool, label, title] of tools) {
      byId("tools").append(h("button", { type: "button", role: "radio", id: `tool-${tool}`, title, "aria-checked": String(tool === this.pointer.tool), onclick: () => this.take(tool) }, label));
    }
  }

  private take(tool: Tool): void {
    this.pointer.tool = tool;
    for (const [name] of tools) byId(`tool-${name}`).setAttribute("aria-checked", String(name === tool));
  }

  private dropping(): void {
    const sign = byId("drop");
    let depth = 0;
    const show = (by: number): void => {
      depth = Math.max(0, depth + by);
      sign.hidden = depth === 0;
    };
    document.addEventListener("dragenter", (e) => (e.preventDefault(), show(1)));
    document.addEventListener("dragleave", () => show(-1));
    document.addEventListener("dragover", (e) => e.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      show(-depth);
      if (event.dataTransfer) void filesOf(event.dataTransfer).then((files) => this.opened(files));
    });
  }

  private async opened(files: { path: string; file: File }[]): Promise<void> {
    if (files.length === 0) return;
    try {
      await this.app.openFound(await sortOut(files));
    } catch (error) {
      this.app.context.say("error", error instanceof Error ? error.message : String(error));
    }
  }

  private keys(): void {
    const { app } = this;
    const { stage } = app.context;
    const onCanvas = (action: () => void) => () => {
      if (document.activeElement === stage.canvas || document.activeElement === document.body) action();
    };
    listen({
      " ": () => this.bar.toggle(),
      ".": () => void app.transport?.step(1),
      ",": () => void app.transport?.step(-1),
      r: () => void app.transport?.reset(),
      "[": () => this.bar.faster(-1),
      "]": () => this.bar.faster(1),
      l: () => this.bar.toggleLoop(),
      Home: () => app.player && void app.player.seek(0),
      End: () => app.player && void app.player.seek(app.player.frames),
      1: () => this.take("pull"),
      2: () => this.take("move"),
      3: () => this.take("look"),
      c: () => this.look.cycleColor(),
      w: () => this.look.toggleWires(),
      p: () => this.togglePlots(),
      b: () => this.toggleSides(),
      x: () => this.edit(1 - app.live.editing),
      f: () => this.frameCamera(),
      o: () => byId("file").click(),
      s: () => this.exports.picture(),
      v: () => this.exports.toggleFilm(),
      t: this.toggleTheme,
      "?": () => openHelp(byId<HTMLDialogElement>("sheet")),
      Escape: () => (byId("panel").classList.contains("open") ? this.toggleDrawer(false) : app.context.hush()),
      ArrowLeft: onCanvas(() => stage.orbit(-0.08, 0)),
      ArrowRight: onCanvas(() => stage.orbit(0.08, 0)),
      ArrowUp: onCanvas(() => stage.orbit(0, -0.06)),
      ArrowDown: onCanvas(() => stage.orbit(0, 0.06)),
      "+": onCanvas(() => stage.orbit(0, 0, 1.1)),
      "=": onCanvas(() => stage.orbit(0, 0, 1.1)),
      "-": onCanvas(() => stage.orbit(0, 0, 1 / 1.1)),
    });
  }

  private frameCamera(): void {
    const scene = this.app.player?.run.scene ?? this.app.live.sides[0]?.scene;
    if (scene) this.app.context.stage.frameCamera(scene);
  }

  /** Everything that depends on which scene, side or run is open. */
  private refresh(): void {
    const { app } = this;
    const select = byId<HTMLSelectElement>("scene");
    const listed = app.entries.map((e) => e.id).join("\n");
    if (select.dataset["listed"] !== listed) {
      select.dataset["listed"] = listed;
      const groups = (["Opened", "Scenes"] as const).map((name) => {
        const group = h("optgroup", { label: name });
        for (const entry of app.entries) if (entry.group === name) group.append(h("option", { value: entry.id, title: entry.summary }, entry.label));
        return group;
      });
      select.replaceChildren(...groups.filter((g) => g.children.length > 0));
    }
    select.value = app.current;
    const name = app.entries.find((e) => e.id === app.current)?.label;
    document.title = name ? `${name} · Muslin` : "Muslin";
    select.title = app.entries.find((e) => e.id === app.current)?.summary ?? "Scene";
    const two = !app.player && app.live.sides.length === 2;
    byId("sides").setAttribute("aria-pressed", String(two));
    this.sidesSwitch.hidden = !two;
    this.sidesSwitch.style.display = two ? "" : "none";
    this.sidesSwitch.replaceChildren(...["A", "B"].map((name, i) =>
      h("button", { type: "button", role: "radio", id: `edit-${name.toLowerCase()}`, "aria-checked": String(app.live.editing === i), onclick: () => this.edit(i) }, `Side ${name}`)));
    this.placeSelect.value = app.live.place;
    this.refreshPlace();
    byId("tools").hidden = app.player !== undefined;
    this.labels(two);
    this.look.refresh();
    this.bar.refresh();
    this.rate();
  }

  /** Only where there is a choice: a finished run computes nothing, and some pages have one core. */
  private refreshPlace(): void {
    byId("section-place").hidden = this.app.player !== undefined || !hasChoice(this.app.context.info);
  }

  private labels(two: boolean): void {
    const box = byId("labels");
    if (!two) {
      box.replaceChildren();
      return;
    }
    const names = this.app.live.sides.map((side, i) => {
      const label = h("div", {}, `${i === 0 ? "A" : "B"} · `, h("b", {}, side.scene.solver));
      label.style.left = `${25 + 50 * i}%`;
      return label;
    });
    box.replaceChildren(h("i"), ...names);
  }

  private refreshPanel(): void {
    const { app } = this;
    if (app.player) {
      this.panel = undefined;
      this.settings.replaceChildren(this.runInfo());
      this.refreshPlace();
      return;
    }
    this.refreshPlace();
    if (!app.models || !app.live.sides[0]?.scene) return;
    if (!this.panel) {
      this.panel = new Panel(app.context, app.live, app.models);
      this.settings.replaceChildren(this.panel.element);
    }
    this.panel.refresh();
    this.labels(app.live.sides.length === 2);
  }

  private runInfo(): HTMLElement {
    const { run } = this.app.player!;
    const body = h("div", { class: "body" },
      h("p", {}, `${count(run.count)} frames of ${count(run.scene.vertices)} vertices and ${count(run.scene.triangles)} triangles, ${bytes(run.bytes)}, at ${plain(run.fps)} frames a second.`));
    for (const note of run.notes) body.append(h("p", {}, note));
    if (run.toml) body.append(h("div", { class: "row" }, h("button", { type: "button", id: "simulate", onclick: () => void this.app.simulateRun() }, "Simulate this scene")));
    return h("details", { open: true, id: "section-run" }, h("summary", {}, run.finished ? "Finished run" : "Run, not finished", h("small", {}, run.scene.solver)), body);
  }

  private drawPlots(): void {
    const now = performance.now();
    // Ten a second are as many as one can read.
    if (now - this.drawn < 100) return;
    this.drawn = now;
    const { player, live } = this.app;
    if (player) this.plots.draw([player.run.samples], player.frame);
    else this.plots.draw(live.sides.map((side) => side.history.samples));
  }

  private rate(): void {
    const { app } = this;
    const t = app.transport;
    if (!t) return;
    const { fps } = app.context.stage;
    const drawing = `${fps > 0 || t.playing ? `${fps} fps` : "still"}${app.context.stage.software ? " in software" : ""}`;
    const parts: (string | HTMLElement)[] = [h("b", {}, drawing)];
    if (app.player) {
      parts.push(` · ${app.player.run.finished ? "finished" : "unfinished"} run, read ${app.player.run.served ? "from the server" : "from files"}`);
    } else {
      const ms = app.live.sides.map((side) => (side.stats && side.stats.total > 0 ? `${plain(side.stats.total)} ms` : "–")).join(" | ");
      const { engine } = app.live.sides[0]!;
      const { scene } = app.live.sides[0]!;
      // What is large says what it costs for as long as it is there.
      const size = scene.vertices > MANY_VERTICES ? ` · ${count(scene.vertices)} vertices, ${bytes(scene.memory)}` : "";
      parts.push(" · ", h("b", {}, ms), ` a frame${size} · ${engine.place === "machine" ? "on this machine" : "in the page"}, ${engine.threads} thread${engine.threads === 1 ? "" : "s"}`);
    }
    byId("rate").replaceChildren(...parts);
    if (!t.playing) this.drawPlots();
  }
}
