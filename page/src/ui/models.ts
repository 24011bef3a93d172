/** The list of models as the engine gives it. */
import type { Choice, Kind } from "./control";

export interface Parameter {
  name: string;
  unit: string;
  default: unknown;
  meaning: string;
  allowed?: string;
  required?: boolean;
  kind?: { type: string; min?: number | null; max?: number | null; choices?: string[]; length?: number };
}

export interface Model {
  name: string;
  summary: string;
  source?: string;
  one_of?: string[];
  parameters: Parameter[];
  /** Of a collider: values of an example. */
  example?: Record<string, unknown> | null;
}

export interface Fabric {
  name: string;
  summary: string;
  source: string;
  density: number;
  bend: number | null;
  stretch: number | null;
}

export interface Models {
  stretch: Model[];
  bend: Model[];
  solver: Model[];
  collider: Model[];
  fabric: Fabric[];
  defined: { family: string; model: string; solver: string; defined: boolean; why_not: string | null }[];
}

/** Which control a parameter needs: from its kind, or where that says nothing, from its words and its default. */
export function kindOf(parameter: Parameter): Kind {
  const { kind, allowed = "" } = parameter;
  const type = kind?.type;
  const range = / from (\S+) to (\S+)/.exec(allowed);
  const least = /at least (\S+)/.exec(allowed);
  const positive = type === "positive" || allowed.includes("greater than 0");
  const limits = {
    min: kind?.min ?? (range ? Number(range[1]) : least ? Number(least[1]) : positive ? Number.MIN_VALUE : undefined),
    max: kind?.max ?? (range ? Number(range[2]) : undefined),
  };
  const words = kind?.choices ?? (allowed.startsWith("one of") ? [...allowed.matchAll(/"([^"]+)"/g)].map((m) => m[1]!) : undefined);
  if (words?.length) return { type: "choice", choices: words.map((value) => ({ value })) };
  if (type === "flag" || type === "boolean" || typeof parameter.default === "boolean") return { type: "flag" };
  if (type === "integer" || allowed.includes("whole number")) return { type: "integer", ...limits };
  if (type === "text" || type === "string" || type === "path") return { type: "text" };
  if (type === "vector" || Array.isArray(parameter.default)) return { type: "vector", size: 3 };
  return { type: "number", ...limits };
}

export function modelChoices(models: Models, family: "stretch" | "bend", solver: string): Choice[] {
  return models[family].map((model) => {
    const entry = models.defined.find((d) => d.family === family && d.model === model.name && d.solver === solver);
    return { value: model.name, why: entry && !entry.defined ? (entry.why_not ?? `solver ${solver} does not take it`) : undefined };
  });
}
