/** NumPy's .npy files, as `muslin run` writes them: little-endian float32, C order, (frames, vertices, 3). */

export interface NpyHeader {
  /** Where the numbers begin, in bytes. */
  start: number;
  frames: number;
  vertices: number;
}

/** Bytes that hold any header of a run. */
export const HEADER_BYTES = 4096;

/** Reads the header from the first bytes of a file; throws an Error that says what is wrong. */
export function readHeader(head: Uint8Array, name: string): NpyHeader {
  const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
  if (head.length < 10 || magic.some((byte, i) => head[i] !== byte)) throw new Error(`${name} is not a .npy file`);
  const major = head[6]!;
  if (major < 1 || major > 3) throw new Error(`${name}: .npy version ${major} is not known; 1 to 3 are`);
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (major > 1 && head.length < 12) throw new Error(`${name} ends within its header`);
  const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  const begin = major === 1 ? 10 : 12;
  if (begin + length > head.length) {
    throw new Error(head.length < HEADER_BYTES ? `${name} ends within its header` : `${name}: its header is longer than ${HEADER_BYTES} bytes`);
  }
  const text = new TextDecoder(major === 3 ? "utf-8" : "latin1").decode(head.subarray(begin, begin + length));
  const kind = /'descr'\s*:\s*'([^']*)'/.exec(text)?.[1];
  const fortran = /'fortran_order'\s*:\s*(True|False)/.exec(text)?.[1];
  const shape = /'shape'\s*:\s*\(([^)]*)\)/.exec(text)?.[1];
  if (kind === undefined || fortran === undefined || shape === undefined) throw new Error(`${name}: its header is not that of an array`);
  if (kind !== "<f4") throw new Error(`${name} holds ${kind}; the page reads little-endian float32 (<f4)`);
  if (fortran === "True") throw new Error(`${name} is in Fortran order; the page reads C order`);
  const sizes = shape.split(",").map((part) => part.trim()).filter((part) => part !== "").map(Number);
  if (sizes.length !== 3 || sizes[2] !== 3 || sizes.some((n) => !Number.isSafeInteger(n) || n < 0)) {
    throw new Error(`${name} has the shape (${shape.trim()}); the page reads (frames, vertices, 3)`);
  }
  if (sizes[0] === 0) throw new Error(`${name} has no frames`);
  return { start: begin + length, frames: sizes[0]!, vertices: sizes[1]! };
}

/** Frames that a file of this many bytes holds whole: fewer than its header says while a run still writes, or where it broke off. */
export function framesIn(header: NpyHeader, bytes: number): number {
  const size = header.vertices * 12;
  if (size === 0) return header.frames;
  return Math.max(0, Math.min(header.frames, Math.floor((bytes - header.start) / size)));
}

/** The bytes of one frame as numbers; a copy where they do not lie on a multiple of four. */
export function toFloats(bytes: Uint8Array): Float32Array {
  if (bytes.byteOffset % 4 === 0) return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
  return new Float32Array(bytes.slice().buffer);
}
