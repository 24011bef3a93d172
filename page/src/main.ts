import "./style.css";
import { App } from "./app/app";
import { leave } from "./app/session";
import { h, byId } from "./lib/dom";
import { scripting } from "./scripting";
import { Shell } from "./ui/shell";
import { hasWebGl2, Stage } from "./view/stage";

function fault(text: string): void {
  document.body.append(h("div", { class: "fault", role: "alert" }, h("p", {}, text)));
}

function start(): void {
  if (!hasWebGl2()) {
    fault("This page draws with WebGL 2, and this browser offers none. Turn on hardware acceleration, or use a newer browser. Results can be had without it: muslin run writes pictures and films.");
    return;
  }
  const stage = new Stage(byId<HTMLCanvasElement>("canvas"));
  const app = new App(stage);
  const shell = new Shell(app);
  const query = new URLSearchParams(location.search);
  const place = query.get("place");
  if (place === "page" || place === "machine") app.live.place = place;
  const ready = app
    .start(query.get("scene"), !query.has("paused"))
    .then(() => shell.ready())
    .catch((error: unknown) => {
      console.error(error);
      app.context.say("error", `The engine did not start: ${error instanceof Error ? error.message : String(error)}. Reload the page to try again.`);
    });
  window.muslin = scripting(app, ready);
  window.addEventListener("pagehide", () => leave(app.live));
  stage.canvas.addEventListener("webglcontextlost", () => app.context.say("error", "The graphics card has dropped the page; it draws again once the browser gives it back. Reload if it does not."));
  stage.canvas.addEventListener("webglcontextrestored", () => {
    app.context.hush();
    stage.invalidate();
  });
}

start();
