import { describe, expect, it } from "vitest";
import { bytes, plain, roundUp, si } from "../../src/lib/format";

describe("numbers", () => {
  it("keeps three digits and no trailing zeros", () => {
    expect(plain(0)).toBe("0");
    expect(plain(0.5)).toBe("0.5");
    expect(plain(1234.5)).toBe("1235");
    expect(plain(12.345)).toBe("12.3");
    expect(plain(100)).toBe("100");
    expect(plain(-0.0123456)).toBe("-0.0123");
    expect(plain(2e-5)).toBe("2e-5");
    expect(plain(1.5e7)).toBe("1.5e7");
    expect(plain(NaN)).toBe("–");
  });
  it("chooses the SI prefix, also just below a power of a thousand", () => {
    expect(si(0.00321, "J")).toBe("3.21 mJ");
    expect(si(1e-6, "J")).toBe("1 µJ");
    expect(si(999.9996, "m")).toBe("1 km");
    expect(si(0, "J")).toBe("0 J");
    expect(si(-2500, "N")).toBe("-2.5 kN");
  });
  it("writes bytes in decimal units", () => {
    expect(bytes(999)).toBe("999 B");
    expect(bytes(1_500_000)).toBe("1.5 MB");
  });
  it("rounds the end of an axis up to 1, 2 or 5", () => {
    expect(roundUp(0.011)).toBeCloseTo(0.02, 12);
    expect(roundUp(5)).toBe(5);
    expect(roundUp(6)).toBe(10);
    expect(roundUp(0)).toBe(1);
  });
});
