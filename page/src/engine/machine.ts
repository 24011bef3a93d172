/** The core on the machine that serves the page: `muslin view`. */

import {
  EngineLost,
  readBuffer,
  type BinaryRequest,
  type Buffer,
  type Engine,
  type Info,
  type Reply,
  type Request,
} from "./protocol";

const JSON_TYPE = { "Content-Type": "application/json" };

async function ask(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch {
    throw new EngineLost("the program on this machine does not answer; is `muslin view` still running?");
  }
  if (response.ok) return response;
  const said = (await response.json().catch(() => undefined)) as { message?: string } | undefined;
  const message = said?.message ?? `the program on this machine answers ${response.status}`;
  // A request that was too large is no reason to give up the session.
  throw response.status === 404 || response.status >= 500 ? new EngineLost(message) : new Error(message);
}

/** A session of the server. */
class MachineEngine implements Engine {
  readonly place = "machine";
  readonly threads: number;
  readonly id: string;

  constructor(id: string, threads: number) {
    this.id = id;
    this.threads = threads;
  }

  async call<T = Reply>(request: Request): Promise<T> {
    const response = await ask(`api/live/${this.id}/call`, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(request) });
    return (await response.json()) as T;
  }

  async binary(request: BinaryRequest): Promise<Buffer> {
    const response = await ask(`api/live/${this.id}/binary`, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(request) });
    return readBuffer(await response.arrayBuffer());
  }

  async file(name: string, bytes: Uint8Array): Promise<void> {
    await ask(`api/live/${this.id}/file?name=${encodeURIComponent(name)}`, { method: "POST", body: new Blob([bytes as BlobPart]) });
  }

  close(): void {
    // The page may be on its way out, and nobody waits for the answer.
    void fetch(`api/live/${this.id}`, { method: "DELETE", keepalive: true }).catch(() => undefined);
  }
}

/** What the server has open; `undefined` on a static host. */
export async function serverInfo(complain?: (text: string) => void): Promise<Info | undefined> {
  try {
    const response = await fetch("api/info", { headers: { Accept: "application/json" } });
    if (!response.headers.get("Content-Type")?.includes("json")) return undefined;
    const said = (await response.json()) as Info & { message?: string };
    if (response.ok) return said;
    // A server of ours that cannot read what it was started with: the folder of a run is gone, for one.
    if (response.status === 500 && said.message) complain?.(said.message);
    return undefined;
  } catch {
    return undefined;
  }
}

/** Begins a session on the machine, or goes on with one that is still there. */
export async function startMachineEngine(id?: string): Promise<Engine & { readonly id: string }> {
  const info = await serverInfo();
  if (!info) throw new EngineLost("no program on this machine answers; is `muslin view` still running?");
  if (id !== undefined) {
    const engine = new MachineEngine(id, info.threads);
    const isThere = await engine.call({ do: "scenes" }).then((reply) => reply.ok, () => false);
    if (isThere) return engine;
  }
  const response = await ask("api/live", { method: "POST" });
  const begun = (await response.json()) as { id: string };
  return new MachineEngine(begun.id, info.threads);
}
