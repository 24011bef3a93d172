import { describe, expect, it } from "vitest";
import { positionOf, scaleFor, STEPS, valueAt } from "../../src/lib/scale";

describe("sliders", () => {
  it("goes by decades where the range spans them", () => {
    const scale = scaleFor({ type: "number", min: 0 }, "N/m", 1000);
    expect(scale.kind).toBe("log");
    expect(valueAt(scale, 0)).toBe(1);
    expect(valueAt(scale, STEPS)).toBe(1e6);
    expect(valueAt(scale, STEPS / 2)).toBe(1000);
  });
  it("comes back to where it was, within a step", () => {
    for (const scale of [scaleFor({ type: "number", min: 0, max: 1 }, "", 0.5), scaleFor({ type: "number", min: 0 }, "s", undefined), scaleFor({ type: "number", min: 0 }, "N·m", 1e-5)]) {
      for (const position of [0, 137, 500, 999, STEPS]) {
        expect(Math.abs(positionOf(scale, valueAt(scale, position)) - (position < 20 && scale.kind === "zerolog" ? 0 : position))).toBeLessThanOrEqual(3);
      }
    }
  });
  it("reaches zero where zero is allowed", () => {
    const scale = scaleFor({ type: "number", min: 0 }, "s", undefined);
    expect(valueAt(scale, 0)).toBe(0);
    expect(positionOf(scale, 0)).toBe(0);
    expect(valueAt(scale, STEPS)).toBe(1);
  });
  it("keeps whole numbers whole", () => {
    const scale = scaleFor({ type: "integer", min: 1, max: 10000 }, "", 20);
    expect(valueAt(scale, 0)).toBe(1);
    expect(Number.isInteger(valueAt(scale, 321))).toBe(true);
  });
  it("widens to hold what is usual", () => {
    expect(scaleFor({ type: "number", min: 0 }, "N/m", 5e7).max).toBeGreaterThanOrEqual(5e7);
  });
});
