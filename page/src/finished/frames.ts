/** The frames of one .npy, read when they are looked at; those used last stay in memory, up to a limit. */
import type { Engine, Reply } from "../engine/protocol";
import type { Bytes } from "./bytes";

/** Bytes that hold any header. */
const HEADER_BYTES = 4096;

/** What the engine reads from a header. */
export interface Header {
  /** Where the first frame begins, in bytes. */
  start: number;
  frame_bytes: number;
  vertices: number;
  /** As the header has it. */
  frames: number;
  /** Those that the file holds whole: fewer while a run still writes, or where it broke off. */
  whole: number;
}

export class Frames {
  private readonly kept = new Map<number, Promise<Float32Array>>();
  private readonly most: number;

  private constructor(private readonly file: Bytes, readonly header: Header, budget: number) {
    this.most = Math.max(4, Math.floor(budget / Math.max(1, header.frame_bytes)));
  }

  static async open(file: Bytes, engine: Engine, budget: number): Promise<Frames> {
    await engine.file(file.name, await file.read(0, Math.min(HEADER_BYTES, file.size)));
    const reply = await engine.call<Reply & Header>({ do: "npy", file: file.name, bytes: file.size });
    if (!reply.ok) throw new Error(reply.message ?? `cannot read ${file.name}`);
    if (reply.whole === 0) throw new Error(`${file.name} ends before its first frame`);
    return new Frames(file, reply, budget);
  }

  get count(): number {
    return this.header.whole;
  }

  frame(index: number): Promise<Float32Array> {
    const i = Math.min(Math.max(index, 0), this.count - 1);
    const known = this.kept.get(i);
    if (known) {
      // To the end of the line: the map keeps the order in which frames were used.
      this.kept.delete(i);
      this.kept.set(i, known);
      return known;
    }
    const { start, frame_bytes } = this.header;
    const from = start + i * frame_bytes;
    const wanted = this.file.read(from, from + frame_bytes).then(floats);
    wanted.catch(() => this.kept.delete(i));
    this.kept.set(i, wanted);
    if (this.kept.size > this.most) this.kept.delete(this.kept.keys().next().value!);
    return wanted;
  }

  /** Asks for frames that will be needed soon. */
  expect(from: number, count: number): void {
    for (let i = from; i < Math.min(from + Math.min(count, this.most - 2), this.count); i++) void this.frame(i).catch(() => undefined);
  }
}

/**
 * The bytes of one frame as numbers; a copy where they do not lie on a multiple of four. This is not left to the engine: the file may be larger
 * than any memory, so the page reads it piece by piece, and a frame is already what the graphics card takes.
 */
function floats(bytes: Uint8Array): Float32Array {
  if (bytes.byteOffset % 4 === 0) return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
  return new Float32Array(bytes.slice().buffer);
}
