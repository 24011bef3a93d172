/** The frames of one .npy, read when they are looked at; those used last stay in memory, up to a limit. */
import { framesIn, HEADER_BYTES, readHeader, toFloats, type NpyHeader } from "../lib/npy";
import type { Bytes } from "./bytes";

export class Frames {
  readonly count: number;
  private readonly kept = new Map<number, Promise<Float32Array>>();
  private readonly most: number;

  private constructor(private readonly file: Bytes, readonly header: NpyHeader, budget: number) {
    this.count = framesIn(header, file.size);
    this.most = Math.max(4, Math.floor(budget / Math.max(1, header.vertices * 12)));
  }

  static async open(file: Bytes, budget: number): Promise<Frames> {
    const header = readHeader(await file.read(0, Math.min(HEADER_BYTES, file.size)), file.name);
    const frames = new Frames(file, header, budget);
    if (frames.count === 0) throw new Error(`${file.name} ends before its first frame`);
    return frames;
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
    const size = this.header.vertices * 12;
    const start = this.header.start + i * size;
    const wanted = this.file.read(start, start + size).then(toFloats);
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
