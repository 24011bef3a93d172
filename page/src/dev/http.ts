import { EngineLost, type Buffer, type Engine, type Head } from "../engine/protocol";
export async function startHttp(threads: number): Promise<Engine> {
  const post = async (path: string, body: BodyInit | null): Promise<Response> => {
    let r: Response;
    try { r = await fetch(path, { method: "POST", body }); } catch (e) { throw new EngineLost(String(e)); }
    if (!r.ok) throw new EngineLost(`${r.status}`);
    return r;
  };
  const { id } = (await (await post("api/live", null)).json()) as { id: string };
  return {
    place: "machine", threads,
    call: async (q) => (await post(`api/live/${id}/call`, JSON.stringify(q))).json(),
    binary: async (q): Promise<Buffer> => {
      const b = await (await post(`api/live/${id}/binary`, JSON.stringify(q))).arrayBuffer();
      const n = new DataView(b).getUint32(0, true);
      const head = JSON.parse(new TextDecoder().decode(new Uint8Array(b, 4, n))) as Head;
      return { head, section: (name) => {
        const s = head.sections.find((x) => x.name === name);
        if (!s) return undefined;
        return s.type === "f32" ? new Float32Array(b, s.offset, s.length) : s.type === "u32" ? new Uint32Array(b, s.offset, s.length) : new Uint8Array(b, s.offset, s.length);
      } };
    },
    file: async (name, bytes) => void (await post(`api/live/${id}/file?name=${encodeURIComponent(name)}`, bytes as Uint8Array<ArrayBuffer>)),
    close: () => void fetch(`api/live/${id}`, { method: "DELETE", keepalive: true }).catch(() => undefined),
  };
}
