// The core of the page in Node: the module without threads, or the one with them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { gunzipSync } from "node:zlib";

/** The folder of a page that `cargo xtask page` has built. */
export const PAGE = process.env.MUSLIN_PAGE ?? join(import.meta.dirname, "../../crates/muslin-cli/page");

/** The numbers that the modules were linked with: xtask/src/page.rs. */
const STACK_BYTES = 4 << 20;
const MEMORY = { initial: (32 << 20) >> 16, maximum: 2 ** 31 / 2 ** 16, shared: true };

/** What a module imports. */
export function imports(memory) {
  const panicked = (place, length) => console.error(new TextDecoder().decode(new Uint8Array(memory().buffer, place, length).slice()));
  return { muslin: { now: () => performance.now(), panicked } };
}

function compiled(name) {
  return new WebAssembly.Module(gunzipSync(readFileSync(join(PAGE, name))));
}

/** Starts a core on one thread without shared memory (0), or on so many that share it. */
export async function startCore(threads) {
  const { core, memory, workers } = threads === 0 ? single() : await shared(threads);
  core.muslin_start(Math.max(threads, 1));
  const ask = (name, request) => {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    const place = core.muslin_alloc(bytes.length) >>> 0;
    new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
    const answer = core[name](place, bytes.length) >>> 0;
    const [start, length] = new Uint32Array(memory.buffer, answer, 2);
    return new Uint8Array(memory.buffer, start, length).slice();
  };
  const json = (bytes) => JSON.parse(new TextDecoder().decode(bytes));
  return {
    call: (request) => json(ask("muslin_call", request)),
    /** The object before the numbers: crates/muslin-live/src/buffer.rs. */
    head: (request) => {
      const bytes = ask("muslin_binary", request);
      return json(bytes.subarray(4, 4 + new DataView(bytes.buffer).getUint32(0, true)));
    },
    stop: () => Promise.all(workers.map((worker) => worker.terminate())),
  };
}

function single() {
  let memory;
  const core = new WebAssembly.Instance(compiled("muslin.wasm.gz"), imports(() => memory)).exports;
  memory = core.memory;
  return { core, memory, workers: [] };
}

async function shared(threads) {
  const module = compiled("muslin-threads.wasm.gz");
  const memory = new WebAssembly.Memory(MEMORY);
  const core = new WebAssembly.Instance(module, { ...imports(() => memory), env: { memory } }).exports;
  const workers = Array.from({ length: threads }, () => {
    const stackTop = (core.muslin_alloc(STACK_BYTES) + STACK_BYTES) & ~15;
    const tls = (core.muslin_alloc(Number(core.__tls_size.value) + 64) + 63) & ~63;
    return new Worker(join(import.meta.dirname, "thread.mjs"), { workerData: { module, memory, stackTop, tls } });
  });
  // Each must wait for work before this thread waits for them.
  await Promise.all(workers.map((worker) => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject))));
  return { core, memory, workers };
}
