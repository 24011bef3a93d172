/** Which settings a scene has: read off its values and the engine's list of models, so that nothing of a model is written here. */
import { lookUp, setText, type Value } from "../lib/toml";
import type { Spec } from "./control";
import { kindOf, modelChoices, type Model, type Models } from "./models";

type Table = { [key: string]: Value };

export interface Section {
  id: string;
  title: string;
  note?: string;
  items: (Spec | { heading: string; remove?: string })[];
}

const degrees = (unit: string): string => (unit === "degrees" ? "°" : unit);
/** A key for a person, without the table that it stands in. */
const words = (name: string): string => name.slice(name.lastIndexOf(".") + 1).replaceAll("_", " ");

export function solverSection(values: unknown, models: Models): Section {
  const kind = String(lookUp(values, "solver.kind"));
  const model = models.solver.find((m) => m.name === kind);
  const table = (lookUp(values, "solver") ?? {}) as Table;
  const items: Section["items"] = [{
    path: "solver.kind",
    label: "solver",
    help: model ? `${model.summary}\n${model.source ?? ""}` : "",
    kind: { type: "choice", choices: models.solver.map((m) => ({ value: m.name })) },
    value: kind,
    // All of the table: what the solver before took may be unknown to the next.
    sets: (value) => [setText("solver", { kind: value as string })],
  }];
  let heading = "";
  for (const parameter of model?.parameters ?? []) {
    // quality.motion: a setting in a table of its own, which becomes a heading.
    const inner = words(parameter.name.slice(0, Math.max(0, parameter.name.lastIndexOf("."))));
    if (inner !== heading && inner) items.push({ heading: inner[0]!.toUpperCase() + inner.slice(1) });
    heading = inner;
    const path = `solver.${parameter.name}`;
    const spec = parameterSpec(parameter, "solver", lookUp(values, path));
    // No value has no TOML; the table without it has.
    spec.sets = (value) => [value === undefined ? setText("solver", without(table, [parameter.name])) : setText(path, value)];
    items.push(spec);
  }
  return { id: "solver", title: "Solver", note: kind, items };
}

function parameterSpec(parameter: Model["parameters"][number], base: string, value: unknown): Spec {
  const fallback = parameter.default;
  return {
    path: `${base}.${parameter.name}`,
    label: words(parameter.name),
    unit: degrees(parameter.unit),
    help: `${parameter.meaning}${parameter.allowed ? `\n${parameter.allowed}` : ""}`,
    kind: kindOf(parameter),
    value: value ?? fallback,
    usual: typeof fallback === "number" && fallback > 0 ? fallback : undefined,
    optional: fallback === null && !parameter.required,
  };
}

/** The cloth `index`; with `all`, whatever is set goes to every cloth. */
export function clothSection(values: unknown, models: Models, index: number, all: boolean): Section {
  const count = (lookUp(values, "cloth") as unknown[]).length;
  const base = `cloth.${index}`;
  const each = (rest: string, value: Value): string[] =>
    all ? Array.from({ length: count }, (_, i) => setText(`cloth.${i}.${rest}`, value)) : [setText(`${base}.${rest}`, value)];
  const at = (rest: string): unknown => lookUp(values, `${base}.${rest}`);
  const solver = String(lookUp(values, "solver.kind"));
  const items: Section["items"] = [];
  const fabric = at("material.fabric");
  items.push({
    path: `${base}.material.fabric`,
    label: "fabric",
    help: models.fabric.find((f) => f.name === fabric)?.source ?? "a preset: density and stiffness",
    kind: { type: "choice", choices: [{ value: "", label: "its own", why: fabric ? "a fabric can be changed, not taken away" : undefined }, ...models.fabric.map((f) => ({ value: f.name, label: `${f.name}: ${f.summary}` }))] },
    value: fabric ?? "",
    sets: (value) => {
      // The engine drops the numbers of the material, so that those of the fabric hold.
      return value ? each("material.fabric", value) : [];
    },
  });
  items.push({ path: `${base}.material.density`, label: "density", unit: "kg/m²", help: "mass of an area", kind: { type: "number", min: 1e-3 }, value: at("material.density"), sets: (v) => each("material.density", v!) });
  items.push({ path: `${base}.material.damping`, label: "damping", unit: "1/s", help: "velocities decay as exp(−damping · t)", kind: { type: "number", min: 0 }, value: at("material.damping"), usual: 1, sets: (v) => each("material.damping", v!) });
  for (const family of ["stretch", "bend"] as const) {
    const table = (at(`material.${family}`) ?? {}) as Table;
    items.push({ heading: family === "stretch" ? "Stretch" : "Bend" }, ...familySpecs(models, family, table, solver, `${base}.material.${family}`, (v) => each(`material.${family}`, v), (key, v) => each(`material.${family}.${key}`, v)));
  }
  const cells = at("grid.cells") ?? at("tube.cells");
  if (cells) {
    const shape = at("grid.cells") ? "grid" : "tube";
    items.push({ heading: "Mesh" });
    items.push({ path: `${base}.${shape}.cells`, label: "cells", help: "quads of the mesh, both ways; another number starts the scene again", kind: { type: "vector", size: 2, integer: true }, value: cells, sets: (v) => each(`${shape}.cells`, v!) });
  }
  return { id: "cloth", title: "Cloth", note: String(fabric ?? at("name") ?? ""), items };
}

function familySpecs(models: Models, family: "stretch" | "bend", table: Table, solver: string, path: string, whole: (table: Table) => string[], one: (key: string, value: Value) => string[]): Spec[] {
  const name = String(table["model"] ?? "");
  const model = models[family].find((m) => m.name === name);
  const specs: Spec[] = [{
    path: `${path}.model`,
    label: "model",
    help: model ? `${model.summary}\n${model.source ?? ""}` : "",
    kind: { type: "choice", choices: modelChoices(models, family, solver) },
    value: name,
    sets: (value) => whole(withModel(models[family].find((m) => m.name === value)!, table)),
  }];
  const forms = model?.one_of ?? [];
  const form = forms.find((f) => table[f] !== undefined && table[f] !== null) ?? forms[0];
  if (forms.length > 1) {
    specs.push({
      path: `${path}.form`,
      label: "given as",
      help: "stiffness is physical; compliance and k are the raw forms of XPBD and PBD",
      kind: { type: "choice", choices: forms.map((f) => ({ value: f, why: f === "k" && solver !== "pbd" ? "k is for solver pbd" : undefined })) },
      value: form,
      sets: (value) => {
        const next = without(table, forms);
        const parameter = model!.parameters.find((p) => p.name === value);
        next[value as string] = (parameter?.default as number | null) ?? (value === "k" ? 0.5 : 1e-6);
        return whole(next);
      },
    });
  }
  for (const parameter of model?.parameters ?? []) {
    if (forms.includes(parameter.name) && parameter.name !== form) continue;
    const spec = parameterSpec(parameter, path, table[parameter.name]);
    spec.optional = spec.optional === true && !forms.includes(parameter.name);
    spec.sets = (value) => (value === undefined ? whole(without(table, [parameter.name])) : one(parameter.name, value));
    specs.push(spec);
  }
  return specs;
}

/** Another model with what both know: stiffness, damping and the like. */
function withModel(model: Model, before: Table): Table {
  const next: Table = { model: model.name };
  const forms = model.one_of ?? [];
  const form = forms.find((f) => before[f] !== undefined && before[f] !== null);
  for (const { name } of model.parameters) {
    if (forms.includes(name) && name !== form) continue;
    if (before[name] !== undefined && before[name] !== null) next[name] = before[name]!;
  }
  if (forms.length > 0 && !form && !forms.includes("stiffness")) next[forms[0]!] = 1e-6;
  return next;
}

function without(table: Table, keys: string[]): Table {
  return Object.fromEntries(Object.entries(table).filter(([key, value]) => !keys.includes(key) && value !== null));
}

export function airSection(values: unknown): Section {
  const at = (path: string): unknown => lookUp(values, path);
  return {
    id: "air",
    title: "Gravity and wind",
    items: [
      { path: "gravity", label: "gravity", unit: "m/s²", help: "acceleration of free fall", kind: { type: "vector", size: 3 }, value: at("gravity") },
      { path: "wind.velocity", label: "wind", unit: "m/s", help: "velocity of the air; it needs drag or lift to have an effect", kind: { type: "vector", size: 3 }, value: at("wind.velocity") },
      { path: "wind.drag", label: "drag", help: "drag coefficient of a triangle across the wind", kind: { type: "number", min: 0 }, value: at("wind.drag"), usual: 1 },
      { path: "wind.lift", label: "lift", help: "lift coefficient", kind: { type: "number", min: 0 }, value: at("wind.lift"), usual: 1 },
      { path: "wind.air_density", label: "air density", unit: "kg/m³", help: "of dry air at 15 °C: 1.225", kind: { type: "number", min: 0 }, value: at("wind.air_density"), usual: 1.225 },
    ],
  };
}

export function contactSection(values: unknown): Section {
  const at = (key: string): unknown => lookUp(values, `contact.${key}`);
  return {
    id: "contact",
    title: "Contact",
    note: at("self_contact") === true ? "with itself" : "",
    items: [
      { path: "contact.self_contact", label: "with itself", help: "whether cloth is kept from cloth and from itself", kind: { type: "flag" }, value: at("self_contact") },
      { path: "contact.thickness", label: "thickness", unit: "m", help: "distance that vertices keep from bodies, and cloth from cloth", kind: { type: "number", min: 0 }, value: at("thickness"), usual: 1e-3 },
      { path: "contact.friction", label: "friction", help: "Coulomb's coefficient for colliders that give none, and of cloth on cloth", kind: { type: "number", min: 0, max: 2 }, value: at("friction") },
      { path: "contact.start", label: "at the start", help: "what is done about a start in which something cuts", kind: { type: "choice", choices: [{ value: "error", label: "refuse what cuts" }, { value: "untangle", label: "pull apart what cuts" }] }, value: at("start") },
    ],
  };
}

export function colliderSection(values: unknown, models: Models): Section {
  const list = (lookUp(values, "collider") ?? []) as Record<string, unknown>[];
  const items: Section["items"] = [];
  list.forEach((collider, i) => {
    const model = models.collider.find((m) => collider[m.name] !== undefined);
    if (!model) return;
    const shape = collider[model.name] as Record<string, unknown>;
    items.push({ heading: `${String(collider["name"] ?? `collider ${i}`)}: ${model.name}`, remove: setText("collider", list.filter((_, k) => k !== i) as Value) });
    for (const parameter of model.parameters) {
      const spec = parameterSpec(parameter, `collider.${i}.${model.name}`, shape[parameter.name]);
      if (spec.kind.type === "text") {
        if (spec.value === undefined || spec.value === null) continue;
        spec.readonly = true;
      }
      if (spec.value === undefined || spec.value === null) continue;
      if (spec.kind.type === "number" && spec.unit === "m") spec.kind.min = 1e-3;
      items.push(spec);
    }
    items.push({ path: `collider.${i}.friction`, label: "friction", help: "Coulomb's coefficient against cloth", kind: { type: "number", min: 0, max: 2 }, value: collider["friction"] ?? lookUp(values, "contact.friction") });
  });
  return { id: "colliders", title: "Colliders", note: String(list.length), items };
}

/** Part of the size of an example that a new body has: about a foot, beside cloths of a metre. */
const PART = 0.6;

/** The bodies of a scene and a new one: the example of its kind, made smaller. */
export function newCollider(model: Model, values: unknown): string {
  const list = (lookUp(values, "collider") ?? []) as Value[];
  const smaller = (x: number): number => Number((PART * x).toPrecision(12));
  const shape: Table = {};
  for (const { name, unit } of model.parameters) {
    const value = model.example?.[name];
    if (typeof value === "number") shape[name] = unit === "m" ? smaller(value) : value;
    else if (Array.isArray(value)) shape[name] = unit === "m" ? (value as number[]).map(smaller) : (value as number[]);
  }
  return setText("collider", [...list, { [model.name]: shape }]);
}
