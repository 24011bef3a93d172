/** A thread of the core: a worker that shares its memory and never returns. */

import { instantiate, type ThreadStart } from "./module";

addEventListener("message", async (event: MessageEvent<ThreadStart>) => {
  const { module, memory, stackTop, tls, alarm } = event.data;
  const panicked = (message: string) => {
    postMessage({ panicked: message });
    new BroadcastChannel(alarm).postMessage(message);
  };
  try {
    const { exports } = await instantiate(module, memory, panicked);
    // Before anything of the module runs here: its stack and its variables must not be those of another thread.
    if (exports.__stack_pointer) exports.__stack_pointer.value = stackTop;
    exports.__wasm_init_tls?.(tls);
    postMessage({ ready: true });
    exports.muslin_thread();
  } catch (error) {
    panicked(String(error));
  }
});
