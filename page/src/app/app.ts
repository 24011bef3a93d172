/** The page as a whole: which scene or run is open, and what shows it. */
import type { Reply, Request } from "../engine/protocol";
import { serverInfo, startMachineEngine } from "../engine/machine";
import { MANY_VERTICES, placeFor, startEngine } from "../engines";
import { urlBytes, type Bytes } from "../finished/bytes";
import { Player } from "../finished/player";
import { openRun } from "../finished/run";
import { bytes, count } from "../lib/format";
import type { Models } from "../ui/models";
import type { Found } from "../ui/drop";
import type { Stage } from "../view/stage";
import { Context, type Transport } from "./context";
import { estimate, Live } from "./live";
import { findings } from "./side";
import { keep, kept, type Kept } from "./session";

export interface Entry {
  id: string;
  label: string;
  summary: string;
  group: "Scenes" | "Opened";
  open: () => Promise<void>;
}

export class App {
  readonly context: Context;
  readonly live: Live;
  player: Player | undefined;
  models!: Models;
  entries: Entry[] = [];
  current = "";
  /** Whether what is opened plays at once. */
  autoplay = true;
  private last = 0;
  /** Counts choices: whoever was overtaken by a later one gives up. */
  private turn = 0;

  constructor(stage: Stage) {
    this.context = new Context(stage);
    this.live = new Live(this.context);
    stage.onTick = (now) => {
      const elapsed = Math.min((now - this.last) / 1000, 0.25);
      this.last = now;
      this.transport?.tick(now, elapsed);
    };
  }

  get transport(): Transport | undefined {
    return this.player ?? (this.live.sides[0]?.scene ? this.live : undefined);
  }

  /** Starts an engine, learns what it knows, and opens what the address or the server asks for. */
  async start(wanted: string | null, playing: boolean): Promise<void> {
    const { context } = this;
    this.autoplay = playing;
    context.say("info", "Starting the engine …", true);
    let fault: string | undefined;
    context.info = await serverInfo((text) => (fault = text));
    const resumed = await this.resume();
    if (!resumed) await this.firstEngine();
    await this.learn();
    const opened = context.info?.opened;
    if (opened?.kind === "scene") {
      const { name, toml, sets, files } = opened;
      this.add({ id: `file:${name}`, label: name, summary: "the scene that was opened", group: "Opened", open: async () => this.openScene({ do: "open", toml, sets }, await this.fetchAll(files)) });
    } else if (opened?.kind === "run") {
      const { name, files } = opened;
      this.add({ id: `run:${name}`, label: name, summary: "the run that was opened", group: "Opened", open: () => this.openFinished(files.map((f) => urlBytes(f.name, f.bytes)), name) });
    }
    context.on("scene", () => keep(this.live, this.current));
    if (resumed && (!wanted || wanted === resumed.current)) {
      this.current = resumed.current;
      context.hush();
    } else {
      const first = this.entries.find((e) => e.id === wanted) ?? this.entries.find((e) => e.group === "Opened") ?? this.entries.find((e) => e.id === "drape") ?? this.entries[0];
      if (!first) throw new Error("the engine knows no scenes");
      await this.choose(first.id);
    }
    if (fault) context.say("error", `What was opened is not shown: ${fault}`);
    if (playing) this.transport?.play();
    this.autoplay = true;
  }

  /** The session that this tab had before it was loaded again, if the server still has it. */
  private async resume(): Promise<Kept | undefined> {
    const before = kept();
    if (!before || !this.context.info) return undefined;
    try {
      const engine = await startMachineEngine(before.id);
      if (engine.id === before.id && (await this.live.resume(engine, before.opened, before.log))) {
        this.live.place = before.place;
        return before;
      }
      engine.close();
    } catch {
      // Then it begins anew.
    }
    return undefined;
  }

  private async firstEngine(): Promise<void> {
    const { context } = this;
    const opened = context.info?.opened;
    try {
      await this.live.ensureEngine(opened?.kind === "scene" ? estimate({ do: "open", toml: opened.toml, sets: opened.sets }) : 0);
    } catch (error) {
      if (!context.info) throw error;
      context.say("warning", `No engine in the page (${error instanceof Error ? error.message : String(error)}); this machine computes.`);
      context.info.page_core = false;
      await this.live.ensureEngine();
    }
  }

  private async learn(): Promise<void> {
    const { engine } = this.live.sides[0]!;
    const scenes = await engine.call<Reply>({ do: "scenes" });
    const models = await engine.call<Reply>({ do: "models" });
    if (!scenes.ok || !models.ok) throw new Error(scenes.message ?? models.message ?? "the engine does not answer");
    this.models = models["models"] as Models;
    for (const { name, summary } of scenes["scenes"] as { name: string; summary: string }[]) {
      this.entries.push({ id: name, label: name, summary, group: "Scenes", open: () => this.openScene({ do: "open", scene: name }) });
    }
  }

  private add(entry: Entry): void {
    this.entries = [...this.entries.filter((e) => e.id !== entry.id), entry];
    this.context.emit("state", undefined);
  }

  /** Mesh files that an opened scene names. */
  private async fetchAll(names: string[]): Promise<Map<string, Uint8Array>> {
    const files = new Map<string, Uint8Array>();
    for (const name of names) {
      const response = await fetch(`api/files/${name.split("/").map(encodeURIComponent).join("/")}`);
      if (!response.ok) throw new Error(`${name}: the server answers ${response.status}`);
      files.set(name, new Uint8Array(await response.arrayBuffer()));
    }
    return files;
  }

  async choose(id: string): Promise<void> {
    const entry = this.entries.find((e) => e.id === id);
    if (!entry) {
      this.context.say("error", `There is no scene ${id}.`);
      return;
    }
    const before = this.current;
    const turn = ++this.turn;
    this.current = id;
    this.context.emit("state", undefined);
    try {
      await entry.open();
    } catch (error) {
      // The next choice has taken its place.
      if (turn !== this.turn) return;
      this.current = before;
      this.context.say("error", `${entry.label} cannot be opened: ${lines(error instanceof Error ? error.message : String(error))}`);
    }
    this.context.emit("state", undefined);
  }

  async openScene(request: Request, files?: Map<string, Uint8Array>): Promise<void> {
    const { turn } = this;
    const playing = this.player ? true : this.live.playing;
    const before = this.player;
    this.player?.close();
    this.player = undefined;
    this.context.resetRange();
    const reply = await this.live.load(request, files, () => turn !== this.turn);
    // A fault of the engine was said by then; what was overtaken has nothing to say.
    if (!reply) return;
    if (!reply.ok) {
      this.player = before;
      // What stays in sight needs its range of colours again.
      await this.transport?.refresh();
      throw new Error(findings(reply));
    }
    if (playing) this.live.play();
    this.context.emit("state", undefined);
  }

  async openFinished(files: Bytes[], name: string): Promise<void> {
    const { context, turn } = this;
    this.live.pause();
    const size = files.reduce((sum, f) => sum + (f.name.endsWith(".npy") ? f.size : 0), 0);
    context.say("info", `Opening ${name}: ${bytes(size)} of positions …`);
    const run = await openRun(files, name, () => startEngine(placeFor(this.live.place, context.info, 0), 1));
    if (turn !== this.turn) return;
    this.player?.close();
    const player = new Player(context, run);
    this.player = player;
    this.live.clear();
    if (context.look.color === "contact") context.look.color = "none";
    context.resetRange();
    await player.start();
    context.hush();
    if (run.bytes > 256e6) context.say("info", `${count(run.count)} frames of ${count(run.scene.vertices)} vertices, ${bytes(run.bytes)}: read frame by frame.`);
    context.emit("state", undefined);
    context.emit("scene", 0);
    if (this.autoplay) player.play();
  }

  /** What was dropped or chosen. */
  async openFound(found: Found): Promise<void> {
    for (const run of found.runs) {
      this.add({ id: `run:${run.name}`, label: run.name, summary: "a finished run", group: "Opened", open: () => this.openFinished(run.files, run.name) });
    }
    const { scene } = found;
    if (scene) {
      const vertices = estimate({ do: "open", toml: scene.toml });
      if (vertices > MANY_VERTICES) this.context.say("info", `${scene.name}: about ${count(vertices)} vertices; building it takes a while.`, true);
      this.add({ id: `file:${scene.name}`, label: scene.name, summary: "a scene file", group: "Opened", open: () => this.openScene({ do: "open", toml: scene.toml }, scene.files) });
    }
    const wanted = scene ? `file:${scene.name}` : `run:${found.runs[0]!.name}`;
    await this.choose(wanted);
    if (this.current !== wanted) {
      // What cannot be opened is not offered again.
      this.entries = this.entries.filter((entry) => entry.id !== wanted);
      this.context.emit("state", undefined);
      return;
    }
    if (found.runs.length > 1) this.context.say("info", `${found.runs.length} runs were found; the list of scenes has them all.`);
  }

  /** The scene of a finished run, simulated anew. */
  async simulateRun(): Promise<void> {
    const run = this.player?.run;
    if (!run?.toml) return;
    const files = new Map<string, Uint8Array>();
    for (const file of run.files) {
      if (run.toml.includes(`"${file.name}"`)) files.set(file.name, await file.read(0, file.size));
    }
    const { toml, name } = run;
    this.add({ id: `file:${name}`, label: `${name} (scene)`, summary: "the scene of the run", group: "Opened", open: () => this.openScene({ do: "open", toml }, files) });
    await this.choose(`file:${name}`);
  }
}

/** Several findings begin on a line of their own. */
function lines(text: string): string {
  return text.includes("\n") ? `\n${text}` : text;
}
