"""What the Python package costs beside the loop in Rust that it calls, each pair of numbers from one run.

    pip install ./python && python benches/python/measure.py

Parts that are compared are measured in turn, several times, and their medians are divided: a machine that is busy with something else slows both.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import muslin

SHEET: dict[str, Any] = {
    "name": "sheet",
    "solver": {"kind": "xpbd", "substeps": 20},
    "cloth": [{"name": "sheet", "grid": {"size": [1, 1], "cells": [63, 63]}, "pins": [{"select": "corners"}]}],
}


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    work()
    return clock() - start


def ratio(
    one: Callable[[], object],
    other: Callable[[], object],
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, float, float]:
    """The medians of both, measured in turn, and their ratio."""
    pairs = [(seconds(one, clock), seconds(other, clock)) for _ in range(rounds)]
    first, second = (statistics.median(side) for side in zip(*pairs, strict=True))
    return first, second, first / second


def overhead() -> None:
    frames = 30
    for threads in (1, 2):
        sims = [muslin.Simulation(SHEET, threads=threads) for _ in range(2)]

        def python(sim: muslin.Simulation = sims[0]) -> None:
            for _ in range(frames):
                sim.advance()

        # The loop of this is in Rust.
        _, rust, share = ratio(python, lambda sim=sims[1]: sim.advance(frames), 15)
        print(f"64 x 64, {threads} threads: {1e3 * rust / frames:.2f} ms a frame in Rust, {share:.3f} times that from Python")
    sim = sims[0]
    micro = 1e6 * min(seconds(lambda: sim.positions()) for _ in range(200))
    print(f"positions() of 64 x 64: {micro:.1f} us, {1e-6 * micro / (rust / frames):.4f} of a frame")


def batch() -> None:
    small = {**SHEET, "cloth": [{**SHEET["cloth"][0], "grid": {"size": [1, 1], "cells": [31, 31]}}]}
    for threads in (1, 2):
        worlds = muslin.Batch(small, 256, threads=threads)
        each = statistics.median(seconds(worlds.advance) for _ in range(5))
        print(f"batch of 256 cloths of 32 x 32, {threads} threads: {256 / each:.0f} cloth-frames a second")


def sweep() -> None:
    scene = muslin.Scene("drape")
    samples, frames = 4, 30

    def alone() -> None:
        for _ in range(samples):
            sim = muslin.Simulation(scene, threads=1)
            sim.advance(frames)
            sim.diagnose()

    def swept() -> None:
        muslin.sweep(scene, {"cloth.0.material.damping": (0.4, 0.4)}, samples, frames=frames, jobs=1)

    one, _, share = ratio(swept, alone, 3, time.process_time)
    print(f"a drape of {frames} frames by sweep: {1e3 * one / samples:.0f} ms of a core, {share:.3f} times the simulation alone")


if __name__ == "__main__":
    overhead()
    batch()
    sweep()
