/** What can be taken away: the scene, a picture, a film, the mesh. */
import type { Context } from "../app/context";
import type { Live } from "../app/live";
import type { Player } from "../finished/player";
import { h, save } from "../lib/dom";

export class Exports {
  readonly element: HTMLElement;
  private recorder: MediaRecorder | undefined;
  private readonly film = h("button", { type: "button", id: "save-video" }, "Video (.webm)");
  private readonly mesh = h("button", { type: "button", id: "save-glb" }, "Mesh (.glb)");
  private readonly scene = h("button", { type: "button", id: "save-toml" }, "Scene (.toml)");

  constructor(private readonly context: Context, private readonly live: () => Live | undefined, private readonly player: () => Player | undefined) {
    const picture = h("button", { type: "button", id: "save-png", onclick: () => this.picture() }, "Picture (.png)");
    this.film.onclick = () => this.toggleFilm();
    this.mesh.onclick = () => void this.saveMesh().catch((e: unknown) => context.say("error", String(e)));
    this.scene.onclick = () => void this.saveScene().catch((e: unknown) => context.say("error", String(e)));
    if (!this.filmType()) {
      this.film.disabled = true;
      this.film.title = "This browser cannot record a canvas";
    }
    this.element = h("details", { id: "section-export" }, h("summary", {}, "Save"), h("div", { class: "body" }, h("div", { class: "row" }, this.scene, picture, this.film, this.mesh)));
  }

  private name(): string {
    return this.player()?.run.name ?? this.live()?.side.scene.name ?? "muslin";
  }

  async saveScene(): Promise<void> {
    const run = this.player()?.run;
    let toml = run?.toml;
    if (!run) {
      const reply = await this.live()!.side.call({ do: "toml" });
      if (!reply.ok) throw new Error(reply.message);
      toml = String(reply["toml"]);
    }
    if (toml === undefined) {
      this.context.say("warning", "This run came without its scene file.");
      return;
    }
    save(`${this.name()}.toml`, [toml], "application/toml");
    const meshes = meshFiles(toml);
    if (meshes.length > 0) this.context.say("info", `The scene reads ${meshes.join(", ")}: keep it where they are. Those of a built-in scene are written by muslin scenes --write.`, true);
  }

  picture(): void {
    const { stage } = this.context;
    // WebGL forgets what it drew when the task ends.
    stage.draw();
    stage.canvas.toBlob((blob) => {
      if (blob) save(`${this.name()}.png`, [blob], "image/png");
      else this.context.say("error", "The browser made no picture of the canvas.");
    }, "image/png");
  }

  private filmType(): string | undefined {
    if (typeof MediaRecorder === "undefined" || !("captureStream" in HTMLCanvasElement.prototype)) return undefined;
    return ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"].find((t) => MediaRecorder.isTypeSupported(t));
  }

  toggleFilm(): void {
    if (this.recorder) {
      this.recorder.stop();
      return;
    }
    const type = this.filmType();
    if (!type) {
      this.context.say("warning", "This browser cannot record a canvas as .webm.");
      return;
    }
    const parts: Blob[] = [];
    const recorder = new MediaRecorder(this.context.stage.canvas.captureStream(60), { mimeType: type, videoBitsPerSecond: 12e6 });
    recorder.ondataavailable = (event) => parts.push(event.data);
    recorder.onerror = () => this.context.say("error", "The recording failed.");
    recorder.onstop = () => {
      this.recorder = undefined;
      this.film.textContent = "Video (.webm)";
      this.film.setAttribute("aria-pressed", "false");
      save(`${this.name()}.webm`, parts, type);
      this.context.hush();
    };
    recorder.start(1000);
    this.recorder = recorder;
    this.film.textContent = "End the video";
    this.film.setAttribute("aria-pressed", "true");
    this.context.say("info", "Recording the canvas; press V or “End the video” to save it.", true);
  }

  private async saveMesh(): Promise<void> {
    const run = this.player()?.run;
    if (run) {
      if (run.glb.length === 0) this.context.say("warning", "This run has no .glb; run it with --formats npy,glb to get one.");
      for (const [i, glb] of run.glb.entries()) {
        // Chromium drops all but ten that come at once.
        if (i > 0) await new Promise((resolve) => setTimeout(resolve, 250));
        save(glb.name, [(await glb.read(0, glb.size)) as Uint8Array<ArrayBuffer>], "model/gltf-binary");
      }
      if (run.glb.length > 1) this.context.say("info", `${run.glb.length} files, one for each cloth; the browser may ask whether it may save them all.`);
      return;
    }
    const buffer = await this.live()!.side.glb();
    const file = buffer.section("file");
    if (!buffer.head.ok || !file) throw new Error(buffer.head.message ?? "no mesh came back");
    save(`${this.name()}.glb`, [file as Uint8Array<ArrayBuffer>], "model/gltf-binary");
  }
}

/** The files that a scene, as the engine writes it, names. */
export function meshFiles(toml: string): string[] {
  return [...toml.matchAll(/\b(?:mesh|file|frames)\s*=\s*"([^"]+)"/g)].map((found) => found[1]!);
}
