/** The core inside the page. */

import { EngineLost, readBuffer, type BinaryRequest, type Buffer, type Engine, type Reply, type Request } from "./protocol";
import type { FromWorker, ToWorker } from "./worker";

type Body<T> = T extends { id: number } ? Omit<T, "id"> : never;

class PageEngine implements Engine {
  readonly place = "page";
  threads = 1;
  readonly #worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "muslin" });
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  #next = 0;
  #lost: EngineLost | undefined;
  #alarm: BroadcastChannel | undefined;

  constructor() {
    this.#worker.onmessage = (event: MessageEvent<FromWorker>) => {
      const { id, result, lost } = event.data;
      if (lost !== undefined) return this.#lose(lost);
      this.#waiting.get(id)?.resolve(result);
      this.#waiting.delete(id);
    };
    this.#worker.onerror = (event) => this.#lose(event.message || "the worker of the simulation could not be started");
  }

  #lose(message: string): void {
    this.#lost ??= new EngineLost(message);
    for (const { reject } of this.#waiting.values()) reject(this.#lost);
    this.#waiting.clear();
    this.#worker.terminate();
    this.#alarm?.close();
  }

  #ask<T>(body: Body<ToWorker>): Promise<T> {
    if (this.#lost) return Promise.reject(this.#lost);
    const id = this.#next++;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (result: unknown) => void, reject });
      this.#worker.postMessage({ ...body, id });
    });
  }

  async start(threads: number): Promise<void> {
    const alarm = crypto.randomUUID();
    this.threads = await this.#ask<number>({ do: "start", threads, base: document.baseURI, alarm });
    this.#alarm = new BroadcastChannel(alarm);
    this.#alarm.onmessage = (event: MessageEvent<string>) => this.#lose(event.data);
  }

  async call<T = Reply>(request: Request): Promise<T> {
    return JSON.parse(await this.#ask<string>({ do: "call", request: JSON.stringify(request) })) as T;
  }

  async binary(request: BinaryRequest): Promise<Buffer> {
    return readBuffer(await this.#ask<ArrayBuffer>({ do: "binary", request: JSON.stringify(request) }));
  }

  async file(name: string, bytes: Uint8Array): Promise<void> {
    const isKept = await this.#ask<number>({ do: "file", name, bytes });
    if (!isKept) throw new Error(`${name} is too large for the page; \`muslin view\` on the scene runs it on the machine`);
  }

  close(): void {
    this.#lose("the simulation was closed");
  }
}

/** Starts the core in a worker, on at most this many threads: one unless the page is isolated by its headers. */
export async function startPageEngine(threads: number): Promise<Engine> {
  const engine = new PageEngine();
  await engine.start(threads);
  return engine;
}
