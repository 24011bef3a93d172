import { describe, expect, it } from "vitest";
import type { Buffer, Engine, Reply } from "../../src/engine/protocol";
import type { Bytes } from "../../src/finished/bytes";
import { Frames, type Header } from "../../src/finished/frames";
import { readMesh } from "../../src/finished/mesh";
import { Poses } from "../../src/finished/poses";

/** An engine that answers one thing; what it was handed and asked is written down. */
function engine(answer: object, sections: Record<string, Float32Array | Uint32Array> = {}): Engine & { log: unknown[] } {
  const log: unknown[] = [];
  return {
    log,
    place: "page",
    threads: 1,
    call: async <T = Reply>(request: unknown) => (log.push(request), answer as T),
    binary: async (request) => (log.push(request), { head: { sections: [], ...answer }, section: (name: string) => sections[name] }) as unknown as Buffer,
    file: async (name, bytes) => void log.push(`${name} ${bytes.length}`),
    close: () => undefined,
  };
}

/** A file that counts how often it is read; it lies at an odd place in memory. */
function file(name: string, bytes: Uint8Array): Bytes & { reads: number } {
  const odd = new Uint8Array(bytes.length + 1);
  odd.set(bytes, 1);
  return {
    name,
    size: bytes.length,
    reads: 0,
    async read(from, to) {
      this.reads += 1;
      return odd.subarray(1 + from, 1 + to);
    },
  };
}

const header: Header = { start: 8, frame_bytes: 12, vertices: 1, frames: 9, whole: 6 };
const numbers = new Uint8Array(8 + 6 * 12);
for (let k = 0; k < 18; k++) new DataView(numbers.buffer).setFloat32(8 + 4 * k, k / 2, true);

describe("the frames of a file", () => {
  it("lie where the engine says, and are read once", async () => {
    const core = engine({ ok: true, ...header });
    const npy = file("a.npy", numbers);
    const frames = await Frames.open(npy, core, 1e6);
    expect(core.log).toEqual(["a.npy 80", { do: "npy", file: "a.npy", bytes: 80 }]);
    expect(frames.count).toBe(6);
    const before = npy.reads;
    expect([...(await frames.frame(5))]).toEqual([7.5, 8, 8.5]);
    expect([...(await frames.frame(99))], "beyond the last").toEqual([7.5, 8, 8.5]);
    expect(npy.reads).toBe(before + 1);
  });
  it("are forgotten in the order of their use", async () => {
    const npy = file("a.npy", numbers);
    const frames = await Frames.open(npy, engine({ ok: true, ...header }), 4 * 12);
    for (const index of [0, 1, 2, 3, 0, 4]) await frames.frame(index);
    const before = npy.reads;
    await frames.frame(0);
    expect(npy.reads).toBe(before);
    await frames.frame(1);
    expect(npy.reads).toBe(before + 1);
  });
  it("are refused in the words of the engine, or where there is none", async () => {
    const open = (answer: object): Promise<Frames> => Frames.open(file("a.npy", numbers), engine(answer), 1e6);
    await expect(open({ ok: false, message: "cannot read a.npy: because" })).rejects.toThrow("cannot read a.npy: because");
    await expect(open({ ok: true, ...header, whole: 0 })).rejects.toThrow("a.npy ends before its first frame");
  });
});

it("hands a mesh to the engine, and takes what it reads", async () => {
  const sections = { positions: Float32Array.of(1, 2, 3), triangles: Uint32Array.of(0, 0, 0) };
  const core = engine({ ok: true }, sections);
  expect(await readMesh(file("a.obj", new Uint8Array(5)), core)).toEqual(sections);
  expect(core.log).toEqual(["a.obj 5", { do: "obj", file: "a.obj" }]);
  const refusing = engine({ ok: false, message: "cannot read a.obj: line 3: because" });
  await expect(readMesh(file("a.obj", new Uint8Array(5)), refusing)).rejects.toThrow("line 3");
});

it("has a pose of each body that moves, in each frame", async () => {
  const all = Float32Array.from({ length: 2 * 2 * 12 }, (_, k) => k);
  const poses = await Poses.of(engine({ ok: true, colliders: [2, 0] }, { poses: all }), 3, 2);
  const from = (first: number): number[] => Array.from({ length: 12 }, (_, k) => first + k);
  expect(poses.at(1)).toEqual([from(36), null, from(24)]);
  await expect(Poses.of(engine({ ok: false, message: "too many" }), 1, 1)).rejects.toThrow("too many");
});
