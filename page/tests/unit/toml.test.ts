import { describe, expect, it } from "vitest";
import { lookUp, pathOfPlace, setText, tomlValue } from "../../src/lib/toml";

describe("values as TOML", () => {
  it("quotes strings so that nothing breaks out of them", () => {
    expect(tomlValue('a"b\\c\n')).toBe('"a\\"b\\\\c\\n"');
    expect(tomlValue("\u0001")).toBe('"\\u0001"');
  });
  it("writes numbers, flags, arrays and tables on one line", () => {
    expect(tomlValue([1, 2.5, -1e-7])).toBe("[1, 2.5, -1e-7]");
    expect(tomlValue(true)).toBe("true");
    expect(tomlValue({ model: "stvk", stiffness: 500 })).toBe('{ model = "stvk", stiffness = 500 }');
    expect(tomlValue({ "odd key": 1 })).toBe('{ "odd key" = 1 }');
    expect(tomlValue({})).toBe("{}");
    expect(setText("solver.substeps", 40)).toBe("solver.substeps=40");
  });
  it("leaves out what is null, which TOML does not know", () => {
    expect(tomlValue({ a: 1, b: null as never })).toBe("{ a = 1 }");
  });
});

describe("places", () => {
  it("turns a finding's place into a path", () => {
    expect(pathOfPlace("cloth[0].material.bend.k")).toBe("cloth.0.material.bend.k");
    expect(pathOfPlace("collider[12].path[1].time")).toBe("collider.12.path.1.time");
  });
  it("looks values up, and finds nothing where there is nothing", () => {
    expect(lookUp({ cloth: [{ name: "a" }] }, "cloth.0.name")).toBe("a");
    expect(lookUp({ cloth: 3 }, "cloth.0.name")).toBeUndefined();
    expect(lookUp(null, "x")).toBeUndefined();
  });
});
