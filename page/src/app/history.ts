/** What the plots show: a few numbers a frame, oldest out first. */
import type { Stats } from "../engine/protocol";

export interface Sample {
  frame: number;
  time: number;
  kinetic: number;
  elastic: number;
  potential: number;
  /** Energy from nowhere, where that is known. */
  nowhere?: number | undefined;
  maxStrain: number;
  meanStrain: number;
  stages: Record<string, number>;
  total: number;
  residual: number;
  contacts: number;
}

export const KEPT = 600;

export class History {
  samples: Sample[] = [];

  add(frame: number, time: number, stats: Stats): void {
    const last = this.samples.at(-1);
    if (last && frame <= last.frame) this.samples = this.samples.filter((s) => s.frame < frame);
    this.samples.push(sampleOf(frame, time, stats));
    if (this.samples.length > KEPT) this.samples.splice(0, this.samples.length - KEPT);
  }

  clear(): void {
    this.samples = [];
  }
}

export function sampleOf(frame: number, time: number, stats: Stats): Sample {
  return {
    frame,
    time,
    kinetic: stats.kinetic_energy,
    elastic: stats.elastic_energy,
    potential: stats.potential_energy,
    nowhere: stats.energy_error ?? undefined,
    maxStrain: stats.max_strain,
    meanStrain: stats.mean_strain,
    stages: stats.stages ?? {},
    total: stats.total,
    residual: stats.residual,
    contacts: stats.contacts,
  };
}
