/** Numbers as people read them: few digits, SI prefixes, units. */

const prefixes: [number, string][] = [
  [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"],
];

/** A number with about `digits` significant digits, without trailing zeros: 0.5, 1200, 3.2e-7. */
export function plain(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e") as [string, string];
    return `${trim(mantissa)}e${Number(exponent)}`;
  }
  return trim(size >= 10 ** (digits - 1) ? value.toFixed(0) : value.toPrecision(digits));
}

function trim(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A number with an SI prefix before its unit: 3.2 mJ, 12 ms, 0 J. */
export function si(value: number, unit: string, digits = 3): string {
  if (!Number.isFinite(value)) return `– ${unit}`.trim();
  if (value === 0) return `0 ${unit}`.trim();
  const size = Math.abs(value);
  for (const [factor, prefix] of prefixes) {
    // The half step below keeps 999.9996 from being written as 1000.
    if (size >= factor * (1 - 0.5 * 10 ** -digits)) return `${plain(value / factor, digits)} ${prefix}${unit}`.trim();
  }
  return `${value.toExponential(digits - 1)} ${unit}`.trim();
}

/** A strain or another share, in percent. */
export function percent(share: number, digits = 3): string {
  return `${plain(share * 100, digits)} %`;
}

export function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}

export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  while (value >= 999.5 && at < units.length - 1) {
    value /= 1000;
    at += 1;
  }
  return `${at === 0 ? Math.round(value) : plain(value)} ${units[at]}`;
}

/** The smallest of 1, 2, 5 × 10ⁿ that is not below `value`: a round end for an axis. */
export function roundUp(value: number): number {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const decade = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 2, 5, 10]) if (step * decade >= value * (1 - 1e-9)) return step * decade;
  return 10 * decade;
}
