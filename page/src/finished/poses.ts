/**
 * Where the bodies of a finished run are in each frame, from the engine, which follows their paths. A run keeps positions of cloth and meshes,
 * not of the other colliders.
 */
import type { Engine } from "../engine/protocol";

/** Rows of a 3×4 matrix. */
const NUMBERS = 12;

export class Poses {
  constructor(
    /** Of all bodies. */
    private readonly count: number,
    /** Those that move. */
    private readonly moving: number[],
    private readonly numbers: Float32Array,
  ) {}

  /** Of the scene that is open in the engine. */
  static async of(engine: Engine, count: number, frames: number): Promise<Poses> {
    const buffer = await engine.binary({ do: "poses", frames });
    const { ok, message, colliders } = buffer.head;
    if (!ok || !colliders) throw new Error(message ?? "there are no poses");
    return new Poses(count, colliders, buffer.section("poses") as Float32Array);
  }

  /** One for each body; `null` for those that stand still. */
  at(frame: number): (number[] | null)[] {
    const poses: (number[] | null)[] = new Array<null>(this.count).fill(null);
    this.moving.forEach((collider, k) => {
      const from = (frame * this.moving.length + k) * NUMBERS;
      poses[collider] = [...this.numbers.subarray(from, from + NUMBERS)];
    });
    return poses;
  }
}
