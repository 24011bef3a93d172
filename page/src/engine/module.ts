/** The WebAssembly module of the core: crates/muslin-web says what each function does. */

export interface Exports {
  memory?: WebAssembly.Memory;
  muslin_alloc(length: number): number;
  muslin_start(threads: number): void;
  muslin_put_file(name: number, nameLength: number, bytes: number, length: number): number;
  muslin_call(request: number, length: number): number;
  muslin_binary(request: number, length: number): number;
  muslin_thread(): void;
  __stack_pointer?: WebAssembly.Global;
  __tls_size?: WebAssembly.Global;
  __wasm_init_tls?(place: number): void;
}

/** What a thread needs to begin: the module, the memory it shares, and room for its own stack and variables. */
export interface ThreadStart {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
  stackTop: number;
  tls: number;
  /** The channel on which it tells the page of a bug: the worker that started it may be waiting for it, and hears nothing. */
  alarm: string;
}

/** Makes an instance; `panicked` hears the message of a bug just before the module traps. */
export async function instantiate(
  module: WebAssembly.Module,
  shared: WebAssembly.Memory | undefined,
  panicked: (message: string) => void,
): Promise<{ exports: Exports; memory: WebAssembly.Memory }> {
  let memory = shared;
  const imports: WebAssembly.Imports = {
    muslin: {
      now: () => performance.now(),
      panicked: (place: number, length: number) => {
        // A decoder does not take shared memory, hence the copy.
        if (memory) panicked(new TextDecoder().decode(new Uint8Array(memory.buffer, place, length).slice()));
      },
    },
  };
  if (shared) imports.env = { memory: shared };
  const instance = await WebAssembly.instantiate(module, imports);
  const exports = instance.exports as unknown as Exports;
  memory ??= exports.memory;
  if (!memory) throw new Error("the module of the core has no memory");
  return { exports, memory };
}

/** Loads a module that is kept compressed, since not every static host compresses. */
export async function loadModule(address: string): Promise<WebAssembly.Module> {
  const response = await fetch(address);
  if (response.status === 404) throw new Error("this copy of the page has no core; `cargo xtask page` builds one with it");
  if (!response.ok) throw new Error(`cannot load ${address}: ${response.status} ${response.statusText}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  // Some hosts say that such a file is compressed in transport, and then the browser has unpacked it already.
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (!isPacked) return WebAssembly.compile(bytes);
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
}
