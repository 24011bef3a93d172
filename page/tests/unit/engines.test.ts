import { describe, expect, it } from "vitest";
import type { Info } from "../../src/engine/protocol";
import { hasChoice, MANY_VERTICES, placeFor } from "../../src/engines";

const info = (page_core: boolean): Info => ({ version: "0", threads: 2, page_core, opened: { kind: "scenes" } });
const choices = ["auto", "page", "machine"] as const;

describe("where a scene is computed", () => {
  it("is chosen by size where both cores are there", () => {
    const served = info(true);
    expect(hasChoice(served)).toBe(true);
    expect([0, MANY_VERTICES, MANY_VERTICES + 1].map((n) => placeFor("auto", served, n))).toEqual(["page", "page", "machine"]);
    expect(placeFor("page", served, Infinity)).toBe("page");
    expect(placeFor("machine", served, 0)).toBe("machine");
  });
  it("is the machine where the page has no core, whatever was asked for", () => {
    expect(hasChoice(info(false))).toBe(false);
    for (const choice of choices) expect(placeFor(choice, info(false), 0)).toBe("machine");
  });
  it("is the page on a static host, whatever was asked for", () => {
    expect(hasChoice(undefined)).toBe(false);
    for (const choice of choices) expect(placeFor(choice, undefined, Infinity)).toBe("page");
  });
});
