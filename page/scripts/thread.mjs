// A thread of the core in Node, as src/engine/thread.ts is in a browser.
import { parentPort, workerData } from "node:worker_threads";
import { imports } from "./core.mjs";

const { module, memory, stackTop, tls } = workerData;
const core = new WebAssembly.Instance(module, { ...imports(() => memory), env: { memory } }).exports;
// Before anything of the module runs here: its stack and its variables must not be those of another thread.
core.__stack_pointer.value = stackTop;
core.__wasm_init_tls(tls);
parentPort.postMessage("ready");
core.muslin_thread();
