/** Values of a scene file as TOML, and the names of places in it. */

export type Value = string | number | boolean | Value[] | { [key: string]: Value };

/** A value on one line, as `--set PATH=VALUE` takes it. */
export function tomlValue(value: Value): string {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "boolean":
      return String(value);
    case "number":
      return tomlNumber(value);
    default:
      if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
      return tomlTable(value);
  }
}

function tomlTable(table: { [key: string]: Value }): string {
  const entries = Object.entries(table).filter(([, value]) => value !== null && value !== undefined);
  if (entries.length === 0) return "{}";
  return `{ ${entries.map(([key, value]) => `${tomlKey(key)} = ${tomlValue(value)}`).join(", ")} }`;
}

function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : quote(key);
}

/** JavaScript has one kind of number; TOML's whole numbers stand for both where a scene wants a number. */
function tomlNumber(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const text = String(value);
  // 1e21 and 1e-7 are floats in TOML as well; JavaScript's "1e+21" too.
  return text;
}

function quote(text: string): string {
  const inner = text.replace(/["\\\u0000-\u001f\u007f]/g, (c) => {
    switch (c) {
      case '"': return '\\"';
      case "\\": return "\\\\";
      case "\n": return "\\n";
      case "\t": return "\\t";
      case "\r": return "\\r";
      default: return `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
    }
  });
  return `"${inner}"`;
}

export function setText(path: string, value: Value): string {
  return `${path}=${tomlValue(value)}`;
}

/** `cloth[0].material.bend` of a finding as the path of a set, `cloth.0.material.bend`. */
export function pathOfPlace(place: string): string {
  return place.replace(/\[(\d+)\]/g, ".$1");
}

/** The value at a path, `undefined` where there is none. */
export function lookUp(values: unknown, path: string): unknown {
  let at: unknown = values;
  for (const key of path.split(".")) {
    if (at === null || typeof at !== "object") return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}
