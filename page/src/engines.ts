/** Where engines come from, and which one a scene of a given size gets. */
import type { Engine, Info } from "./engine/protocol";
import { startMachineEngine } from "./engine/machine";
import { startPageEngine } from "./engine/page";

export type Place = "auto" | "page" | "machine";

/** From this many vertices on, the machine's threads are worth the way there. */
export const MANY_VERTICES = 20_000;

/** Whether there is a choice at all: a program that serves the page, and a core in the page. */
export function hasChoice(info: Info | undefined): boolean {
  return info !== undefined && info.page_core;
}

export function placeFor(choice: Place, info: Info | undefined, vertices: number): "page" | "machine" {
  if (!info) return "page";
  if (!info.page_core || choice === "machine") return "machine";
  if (choice === "page") return "page";
  return vertices > MANY_VERTICES ? "machine" : "page";
}

/** Threads of the page: without isolation a browser lends no shared memory, and one thread is all. */
export function pageThreads(engines: number): number {
  if (!globalThis.crossOriginIsolated) return 1;
  return Math.max(1, Math.min(8, Math.floor((navigator.hardwareConcurrency || 2) / engines)));
}

/** A new engine, one of `engines` that share the browser's threads. */
export function startEngine(place: "page" | "machine", engines: number): Promise<Engine> {
  return place === "machine" ? startMachineEngine() : startPageEngine(pageThreads(engines));
}
