import { describe, expect, it } from "vitest";
import { framesIn, readHeader, toFloats } from "../../src/lib/npy";
import { readObj } from "../../src/lib/obj";

function npy(header: string, major = 1): Uint8Array {
  const text = new TextEncoder().encode(header);
  const prefix = major === 1 ? 10 : 12;
  const out = new Uint8Array(prefix + text.length);
  out.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, major, 0]);
  const view = new DataView(out.buffer);
  if (major === 1) view.setUint16(8, text.length, true);
  else view.setUint32(8, text.length, true);
  out.set(text, prefix);
  return out;
}

const good = "{'descr': '<f4', 'fortran_order': False, 'shape': (21, 4225, 3), }   \n";

describe(".npy", () => {
  it("reads versions 1 to 3", () => {
    for (const major of [1, 2, 3]) {
      const header = readHeader(npy(good, major), "a.npy");
      expect(header).toMatchObject({ frames: 21, vertices: 4225 });
      expect(header.start).toBe((major === 1 ? 10 : 12) + good.length);
    }
  });
  it("says what is wrong with others", () => {
    const fails = (bytes: Uint8Array, words: RegExp): void => expect(() => readHeader(bytes, "a.npy")).toThrow(words);
    fails(new Uint8Array(20), /not a \.npy/);
    fails(npy(good, 4), /version 4/);
    fails(npy(good.replace("<f4", "<f8")), /<f8.*float32/);
    fails(npy(good.replace("<f4", ">f4")), />f4/);
    fails(npy(good.replace("False", "True")), /Fortran/);
    fails(npy(good.replace("(21, 4225, 3)", "(21, 4225)")), /shape \(21, 4225\)/);
    fails(npy(good.replace("21,", "0,")), /no frames/);
    fails(npy(good).subarray(0, 30), /ends within/);
    fails(npy("{}"), /not that of an array/);
  });
  it("counts only whole frames of a file that broke off", () => {
    const header = readHeader(npy(good), "a.npy");
    expect(framesIn(header, header.start + 4225 * 12 * 5 + 7)).toBe(5);
    expect(framesIn(header, 1e12)).toBe(21);
    expect(framesIn(header, 0)).toBe(0);
  });
  it("reads numbers at odd places too", () => {
    const bytes = new Uint8Array(9);
    new DataView(bytes.buffer).setFloat32(1, 1.5, true);
    new DataView(bytes.buffer).setFloat32(5, -2, true);
    expect([...toFloats(bytes.subarray(1))]).toEqual([1.5, -2]);
  });
});

describe("OBJ", () => {
  it("reads vertices, uv and faces, and cuts polygons", () => {
    const mesh = readObj("# x\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 4/4\n", "a.obj");
    expect([...mesh.triangles]).toEqual([0, 1, 2, 0, 2, 3]);
    expect([...mesh.uv!]).toEqual([0, 0, 1, 0, 1, 1, 0, 1]);
  });
  it("counts back from the end, and drops uv that a vertex has twice", () => {
    const mesh = readObj("v 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0 0\nvt 1 1\nf -3/1 -2/1 -1/1\nf 1/2 2/1 3/1\n", "a.obj");
    expect([...mesh.triangles]).toEqual([0, 1, 2, 0, 1, 2]);
    expect(mesh.uv).toBeUndefined();
  });
  it("names the line of what is wrong", () => {
    expect(() => readObj("v 0 0 0\nf 1 2 3\n", "a.obj")).toThrow("a.obj:2: there is no vertex 2");
    expect(() => readObj("v 0 0\n", "a.obj")).toThrow("a.obj:1");
    expect(() => readObj("", "a.obj")).toThrow("no vertices");
  });
});
