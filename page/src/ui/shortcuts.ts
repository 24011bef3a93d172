/** Keys. They are silent while one types, and leave those of the browser alone. */

export function listen(actions: Record<string, () => void>): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target as HTMLElement;
    const typing = target.matches?.("input[type=text], textarea, select");
    if (typing) return;
    // A button takes Space and Enter itself, a slider the arrows, Home and End.
    if (event.key === " " && target.matches?.("button, summary, input, a")) return;
    if (target.matches?.("input[type=range]") && /^(Arrow|Home|End)/.test(event.key)) return;
    if (document.querySelector("dialog[open]") && event.key !== "?") return;
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
