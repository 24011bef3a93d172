/** What the page has to say, over the canvas: one thing at a time. */
import type { Context } from "../app/context";
import { h } from "../lib/dom";
import { icon } from "./icons";

export function showMessages(element: HTMLElement, context: Context): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  context.on("message", (message) => {
    clearTimeout(timer);
    element.hidden = message === undefined;
    if (!message) return;
    element.dataset["kind"] = message.kind;
    const close = h("button", { type: "button", "aria-label": "Close the message", onclick: () => context.hush() }, icon("close"));
    element.replaceChildren(h("span", {}, message.text), close);
    if (!message.stays) timer = setTimeout(() => context.message === message && context.hush(), 6000);
  });
}
