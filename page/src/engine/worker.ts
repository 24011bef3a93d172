/** The core in a worker of its own, so that a long step never holds up the page. */

import { instantiate, loadModule, type Exports, type ThreadStart } from "./module";

export type ToWorker =
  | { id: number; do: "start"; threads: number; base: string; alarm: string }
  | { id: number; do: "call" | "binary"; request: string }
  | { id: number; do: "file"; name: string; bytes: Uint8Array };

export type FromWorker = { id: number; result?: string | ArrayBuffer | number; lost?: string };

/** Deep enough for the core; the linker gives the first thread as much. */
const STACK_BYTES = 4 << 20;
const PAGE_BYTES = 1 << 16;

const workers: Worker[] = [];
let core: { exports: Exports; memory: WebAssembly.Memory } | undefined;
/** The message of a bug; after it the core is not to be used any more. */
let broken: string | undefined;

/** Starts the core on as many threads as the page may have, at most `threads`; says how many it has. */
async function start(threads: number, base: string, alarm: string): Promise<number> {
  if (threads > 1 && crossOriginIsolated) {
    try {
      return await startThreads(threads, base, alarm);
    } catch (error) {
      // Shared memory may be refused, a worker too: one thread needs neither.
      console.warn(`threads are not available (${String(error)}); the simulation runs on one`);
      workers.splice(0).forEach((worker) => worker.terminate());
      broken = undefined;
    }
  }
  const module = await loadModule(new URL("muslin.wasm.gz", base).href);
  core = await instantiate(module, undefined, note);
  core.exports.muslin_start(1);
  return 1;
}

async function startThreads(threads: number, base: string, alarm: string): Promise<number> {
  const module = await loadModule(new URL("muslin-threads.wasm.gz", base).href);
  // The numbers that the module was linked with (xtask/src/page.rs).
  const memory = new WebAssembly.Memory({ initial: (32 << 20) / PAGE_BYTES, maximum: 2 ** 31 / PAGE_BYTES, shared: true });
  const made = await instantiate(module, memory, note);
  const tlsBytes = Number(made.exports.__tls_size?.value ?? 0);
  const ready: Promise<void>[] = [];
  for (let index = 0; index < threads; index++) {
    const stack = made.exports.muslin_alloc(STACK_BYTES);
    const stackTop = (stack + STACK_BYTES) & ~15;
    const tls = (made.exports.muslin_alloc(tlsBytes + 64) + 63) & ~63;
    ready.push(startThread({ module, memory, stackTop, tls, alarm }));
  }
  await Promise.all(ready);
  core = made;
  core.exports.muslin_start(threads);
  return threads;
}

function startThread(begin: ThreadStart): Promise<void> {
  const thread = new Worker(new URL("./thread.ts", import.meta.url), { type: "module", name: "muslin-thread" });
  workers.push(thread);
  return new Promise((resolve, reject) => {
    thread.onmessage = (event: MessageEvent<{ ready?: true; panicked?: string }>) => {
      if (event.data.panicked) reject(new Error(event.data.panicked));
      else resolve();
    };
    thread.onerror = (event) => reject(new Error(event.message || "a thread could not be started"));
    thread.postMessage(begin);
  });
}

function note(message: string): void {
  broken ??= message;
}

/** Hands bytes over to the core: their place in its memory. */
function given(bytes: Uint8Array): number {
  if (!core) throw new Error("the core is not running");
  // Addresses are unsigned, numbers that cross the border are not.
  const place = core.exports.muslin_alloc(bytes.length) >>> 0;
  new Uint8Array(core.memory.buffer, place, bytes.length).set(bytes);
  return place;
}

function ask(kind: "call" | "binary", request: string): ArrayBuffer {
  if (!core) throw new Error("the core is not running");
  const bytes = new TextEncoder().encode(request);
  const place = given(bytes);
  const answer = kind === "call" ? core.exports.muslin_call(place, bytes.length) : core.exports.muslin_binary(place, bytes.length);
  const [start, length] = new Uint32Array(core.memory.buffer, answer >>> 0, 2) as unknown as [number, number];
  return new Uint8Array(core.memory.buffer, start, length).slice().buffer;
}

async function handle(message: ToWorker): Promise<string | ArrayBuffer | number | undefined> {
  if (broken) throw new Error(broken);
  switch (message.do) {
    case "start":
      return start(message.threads, message.base, message.alarm);
    case "call":
      return new TextDecoder().decode(ask("call", message.request));
    case "binary":
      return ask("binary", message.request);
    case "file": {
      const name = new TextEncoder().encode(message.name);
      const [namePlace, bytesPlace] = [given(name), given(message.bytes)];
      return core?.exports.muslin_put_file(namePlace, name.length, bytesPlace, message.bytes.length);
    }
  }
}

addEventListener("message", async (event: MessageEvent<ToWorker>) => {
  const { id } = event.data;
  try {
    const result = await handle(event.data);
    const reply: FromWorker = result === undefined ? { id } : { id, result };
    postMessage(reply, result instanceof ArrayBuffer ? { transfer: [result] } : {});
  } catch (error) {
    // A trap leaves the core in a state that nobody vouches for.
    broken ??= error instanceof Error ? error.message : String(error);
    postMessage({ id, lost: broken } satisfies FromWorker);
  }
});
