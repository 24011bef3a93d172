import { describe, expect, it } from "vitest";
import type { Spec } from "../../src/ui/control";
import type { Model, Models, Parameter } from "../../src/ui/models";
import { newCollider, solverSection } from "../../src/ui/specs";

const number = (name: string, fallback: number | null): Parameter => ({ name, unit: "", default: fallback, meaning: "", allowed: "", kind: { type: "number", min: 1e-4, max: 1 } });
const models: Models = {
  stretch: [],
  bend: [],
  collider: [],
  fabric: [],
  defined: [],
  solver: [
    { name: "xpbd", summary: "", parameters: [number("substeps", 20), number("max_strain", null)] },
    { name: "auto", summary: "", parameters: [number("quality.max_strain", 0.01), number("quality.motion", 0.01)] },
  ],
};

const specs = (values: unknown): Spec[] => solverSection(values, models).items.filter((item): item is Spec => !("heading" in item));

describe("settings of a solver", () => {
  // As the engine gives a scene: a name with a dot is a key of an inner table.
  const auto = { solver: { kind: "auto", quality: { max_strain: 0.05, motion: 0.01 } } };

  it("shows those of an inner table below a heading, with their values", () => {
    const { items } = solverSection(auto, models);
    expect(items.map((item) => ("heading" in item ? `# ${item.heading}` : item.label))).toEqual(["solver", "# Quality", "max strain", "motion"]);
    expect(specs(auto).map((spec) => spec.value)).toEqual(["auto", 0.05, 0.01]);
  });

  it("sets them where they stand", () => {
    const strain = specs(auto)[1]!;
    expect(strain.path).toBe("solver.quality.max_strain");
    expect(strain.sets!(0.02)).toEqual(["solver.quality.max_strain=0.02"]);
  });

  it("takes an optional one away by the table without it", () => {
    const strain = specs({ solver: { kind: "xpbd", substeps: 7, max_strain: 0.1 } })[2]!;
    expect(strain.optional).toBe(true);
    expect(strain.sets!(undefined)).toEqual(['solver={ kind = "xpbd", substeps = 7 }']);
    expect(strain.sets!(0.2)).toEqual(["solver.max_strain=0.2"]);
  });
});

describe("a new collider", () => {
  it("is the example of its kind, smaller by its lengths alone", () => {
    const key = (name: string, unit: string): Parameter => ({ name, unit, default: null, meaning: "" });
    const ring: Model = {
      name: "ring", summary: "", parameters: [key("center", "m"), key("axis", ""), key("radius", "m")],
      example: { center: [0, 0.5, 0], axis: [0, 1, 0], radius: 0.25 },
    };
    expect(newCollider(ring, { collider: [] })).toBe("collider=[{ ring = { center = [0, 0.3, 0], axis = [0, 1, 0], radius = 0.15 } }]");
  });
});
