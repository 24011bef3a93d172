/** The sheet of help. */
import { h } from "../lib/dom";

const hand: [string, string][] = [
  ["Drag cloth", "pulls it, in the plane that faces you"],
  ["Click cloth", "pins the vertex, or frees it"],
  ["Shift + drag a body", "moves it; so does a drag with the tool Move"],
  ["Drag elsewhere", "turns the camera; right button or two fingers move it, wheel or pinch zooms"],
  ["Drop files", "a folder of a run, a .npy with its .obj, or a scene .toml"],
];

const keys: [string, string][] = [
  ["Space", "play or pause"], [".  ,", "a frame on; back, in a finished run"], ["R", "reset"], ["[  ]", "slower, faster"], ["L", "loop a finished run"],
  ["Home  End", "first and last frame of a finished run"], ["1  2  3", "tools: pull, move, look"], ["C", "next colouring"], ["W", "wires"], ["P", "plots"], ["B", "side by side"],
  ["X", "which side the panel edits"], ["F", "camera as at the start"], ["Arrows  + −", "turn and zoom, with the canvas in focus"], ["O", "open files"], ["S", "save a picture"], ["V", "record a video, or end it"], ["T", "dark or light"], ["Esc", "close"], ["?", "this sheet"],
];

export function openHelp(sheet: HTMLDialogElement): void {
  if (sheet.open) {
    sheet.close();
    return;
  }
  const list = (rows: [string, string][], key: boolean): HTMLElement => {
    const dl = h("dl", { class: key ? "keys" : undefined });
    for (const [what, does] of rows) {
      const dt = h("dt");
      if (key) what.split(/\s{2}/).forEach((k, i) => dt.append(i > 0 ? " " : "", h("kbd", {}, k)));
      else dt.append(what);
      dl.append(dt, h("dd", {}, does));
    }
    return dl;
  };
  sheet.replaceChildren(
    h("h2", { id: "sheet-title" }, "How to use this page", h("button", { type: "button", autofocus: true, onclick: () => sheet.close() }, "Close")),
    h("h3", {}, "By hand"), list(hand, false),
    h("h3", {}, "By keyboard"), list(keys, true),
  );
  sheet.showModal();
}
