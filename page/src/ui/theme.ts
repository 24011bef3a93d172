/** Dark or light: as the system has it, until one chooses. */
import type { Context } from "../app/context";
import { icon } from "./icons";

const KEY = "muslin-theme";

/** Returns the way to change it. */
export function startTheme(context: Context, button: HTMLElement): () => void {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = remembered();
  const apply = (): void => {
    const dark = chosen ? chosen === "dark" : system.matches;
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
    context.dark = dark;
    context.stage.theme(dark);
    context.applyLook();
    context.emit("state", undefined);
  };
  button.append(icon("theme"));
  system.addEventListener("change", apply);
  apply();
  return () => {
    chosen = context.dark ? "light" : "dark";
    try {
      localStorage.setItem(KEY, chosen);
    } catch {
      // A browser that keeps nothing still shows it now.
    }
    apply();
  };
}

function remembered(): "dark" | "light" | undefined {
  try {
    const value = localStorage.getItem(KEY);
    return value === "dark" || value === "light" ? value : undefined;
  } catch {
    return undefined;
  }
}
