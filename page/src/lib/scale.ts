/** How the way of a slider maps to a number: evenly, by decades, or by decades with a zero at the left end. */

export interface Scale {
  kind: "linear" | "log" | "zerolog";
  min: number;
  max: number;
  integer?: boolean;
}

/** Steps of a slider from end to end. */
export const STEPS = 1000;
/** The share of a `zerolog` slider that means zero. */
const ZERO = 0.02;

export function valueAt(scale: Scale, position: number): number {
  const t = Math.min(Math.max(position / STEPS, 0), 1);
  let value: number;
  if (scale.kind === "linear") {
    value = scale.min + t * (scale.max - scale.min);
  } else if (scale.kind === "log") {
    value = scale.min * (scale.max / scale.min) ** t;
  } else {
    if (t < ZERO) return 0;
    value = scale.min * (scale.max / scale.min) ** ((t - ZERO) / (1 - ZERO));
  }
  if (scale.integer) return Math.round(value);
  return Number(value.toPrecision(3));
}

export function positionOf(scale: Scale, value: number): number {
  let t: number;
  if (scale.kind === "linear") t = (value - scale.min) / (scale.max - scale.min);
  else if (scale.kind === "log") t = Math.log(Math.max(value, scale.min) / scale.min) / Math.log(scale.max / scale.min);
  else if (value <= 0) t = 0;
  else t = ZERO + (1 - ZERO) * (Math.log(Math.max(value, scale.min) / scale.min) / Math.log(scale.max / scale.min));
  return Math.round(Math.min(Math.max(t, 0), 1) * STEPS);
}

export interface NumberKind {
  type: "number" | "integer";
  min?: number | undefined;
  max?: number | undefined;
}

/** The scale that suits a number: its limits where they are near, else some decades about what is usual for it. */
export function scaleFor(kind: NumberKind, unit: string, usual: number | undefined): Scale {
  const integer = kind.type === "integer";
  const { min, max } = kind;
  if (min !== undefined && max !== undefined && max <= 1e4 && min >= -1e4) {
    if (min > 0 && max / min >= 1000) return { kind: "log", min, max: integer ? Math.min(max, 1000) : max, integer };
    return { kind: "linear", min, max, integer };
  }
  const decades: Record<string, [number, number]> = {
    "N/m": [1, 1e6],
    "N·m": [1e-8, 1e-1],
    "s": [1e-4, 1],
    "m": [1e-4, 1],
    "1/s": [1e-2, 1e2],
    "kg/m²": [0.01, 10],
    "kg/m³": [0.01, 10],
  };
  let range = decades[unit];
  if (!range && usual !== undefined && usual > 0) range = [usual * 1e-3, usual * 1e3];
  if (!range) range = unit.includes("N") || unit.includes("J") ? [1e-9, 1] : [1e-3, 10];
  let [low, high] = range;
  if (usual !== undefined && usual > 0) {
    while (usual < low) low /= 10;
    while (usual > high) high *= 10;
  }
  if (max !== undefined) high = Math.min(high, max);
  if (integer) low = Math.max(1, Math.round(low));
  const positive = min !== undefined && min > 0;
  // A positive number without a least one has a tiny `min`, which is no end of a slider.
  if (positive) low = Math.max(low, min);
  return { kind: unit === "N/m" || unit === "N·m" || positive ? "log" : "zerolog", min: low, max: high, integer };
}
