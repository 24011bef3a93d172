/** `window.muslin`: the page for scripts and tests. README.md documents it. */
import * as THREE from "three";
import type { App } from "./app/app";
import type { Reply, Request } from "./engine/protocol";

export interface Scripting {
  ready: Promise<void>;
  state(): { frame: number; time: number; playing: boolean; place: string; threads: number; scene: string; message: string; kind: string; sides: number };
  positions(side?: number): Float32Array;
  project(vertex: number, side?: number): { x: number; y: number };
  call(request: Request, side?: number): Promise<Reply>;
  pause(): void;
  play(): void;
  step(): Promise<void>;
  reset(): Promise<void>;
  seek(frame: number): Promise<void>;
  load(name: string): Promise<void>;
}

declare global {
  interface Window {
    muslin: Scripting;
  }
}

export function scripting(app: App, ready: Promise<void>): Scripting {
  const { stage } = app.context;
  return {
    ready,
    state: () => {
      const t = app.transport;
      const side = app.live.sides[0];
      return {
        frame: t?.frame ?? 0,
        time: t?.time ?? 0,
        playing: t?.playing ?? false,
        place: app.player ? "run" : (side?.engine.place ?? ""),
        threads: side?.engine.threads ?? 0,
        scene: app.player?.run.name ?? side?.scene?.name ?? "",
        message: app.context.message?.text ?? "",
        kind: t?.kind ?? "",
        sides: stage.views.length,
      };
    },
    positions: (side = 0) => stage.views[side]!.cloth.positions.slice(),
    project: (vertex, side = 0) => {
      const p = stage.views[side]!.cloth.positions;
      return stage.project(new THREE.Vector3(p[3 * vertex], p[3 * vertex + 1], p[3 * vertex + 2]), side);
    },
    call: (request, side = 0) => app.live.script(side, request),
    pause: () => app.transport?.pause(),
    play: () => app.transport?.play(),
    step: async () => app.transport?.step(1),
    reset: async () => app.transport?.reset(),
    seek: async (frame) => {
      app.transport?.pause();
      await app.transport?.seek(frame);
    },
    load: (name) => app.choose(name),
  };
}
