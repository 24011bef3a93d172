"""Sweeps on a Ray cluster: chunks of samples as tasks, their rows in order.

A task has the scene with its meshes in it, and gives the rows and positions that the machine at hand would give. What dies with its node is computed
again elsewhere.
"""

from __future__ import annotations

import copy
import os
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import _sweep
from ._errors import LOG
from ._muslin import Grid, __version__
from ._scene import Scene

AHEAD = 4
"""Chunks a core that may be under way or wait for an earlier one: so much is in memory at a time."""

LONGEST = 64
"""Samples of a chunk at most: what a node that dies takes with it."""

RETRIES = 20
"""How often a chunk is computed again whose node died."""


@dataclass
class Plan:
    """All that a task has to know."""

    scene: Scene
    vary: list[tuple[str, Any]]
    samples: int
    seed: int
    frames: int | None
    cloths: list[str]
    version: str = __version__

    def grid(self) -> Grid:
        """The same sweep, wherever this is."""
        if self.version != __version__:
            raise RuntimeError(
                f"this node has muslin {__version__}, and the sweep was begun with {self.version}; install the same on all nodes"
            )
        return Grid(self.scene, self.vary, self.samples, self.seed, self.frames)


def compute(plan: Plan, first: int, end: int) -> tuple[list[str], Any]:
    """The samples of a chunk, on one core of some node."""
    return plan.grid().compute(first, end, 1, None)


def sweep(
    grid: Grid,
    plan: Plan,
    keys: list[str],
    address: str | None,
    out: Path | None,
    jobs: int | None,
    resume: bool,
    progress: Callable[[int, int], object] | None,
) -> _sweep.Table:
    """The table of a sweep, computed on a cluster."""
    try:
        import ray
    except ImportError as error:
        raise ImportError('the engine "ray" needs the package ray; install it with: pip install ray') from error
    plan.scene = with_its_meshes(plan.scene, plan.vary)
    is_ours = not ray.is_initialized()
    if is_ours:
        context = ray.init(address=address, log_to_driver=False)
        if context.dashboard_url:
            LOG.info("the dashboard is at http://%s", context.dashboard_url)
    try:
        if out is None:
            return _gathered(grid, plan, keys, _chunks(ray, plan, 0, jobs), progress)
        writer = grid.writer(out, resume)
        first, failed = writer.done
        for lines, positions in _chunks(ray, plan, first, jobs):
            for line, own in zip(lines, _by_sample(lines, positions, first), strict=True):
                writer.append(line, own)
            first, failed = writer.done
            if progress is not None:
                progress(first, failed)
        del writer
        return _sweep.read(out, keys)
    finally:
        if is_ours:
            ray.shutdown()


def _chunks(ray: Any, plan: Plan, first: int, jobs: int | None) -> Iterator[tuple[list[str], Any]]:
    """The chunks of a sweep from a sample on, in their order."""
    cores = jobs or max(int(ray.cluster_resources().get("CPU", 1)), 1)
    size = min(max((plan.samples - first) // (AHEAD * cores), 1), LONGEST)
    starts = range(first, plan.samples, size)
    task = ray.remote(num_cpus=1, max_retries=RETRIES)(compute)
    shared = ray.put(plan)
    under_way: dict[Any, int] = {}
    done: dict[int, Any] = {}
    given = taken = 0
    try:
        while taken < len(starts):
            # No more than may wait, however slow the first of them is.
            while given < len(starts) and given - taken < AHEAD * cores and len(under_way) < 2 * cores:
                start = starts[given]
                under_way[task.remote(shared, start, min(start + size, plan.samples))] = start
                given += 1
            ready, _ = ray.wait(list(under_way), num_returns=1)
            for reference in ready:
                done[under_way.pop(reference)] = ray.get(reference)
            while taken < len(starts) and starts[taken] in done:
                yield done.pop(starts[taken])
                taken += 1
    finally:
        for reference in under_way:
            ray.cancel(reference, force=True)


def _by_sample(lines: list[str], positions: Any, first: int) -> Iterator[list[Any]]:
    """The last positions of each sample of a chunk: one array a cloth, none if it failed."""
    others = [dict(own) for _, own in positions]
    for i, line in enumerate(lines):
        if line.endswith('"'):
            yield []
        else:
            own = zip(positions, others, strict=True)
            yield [other[first + i][0] if first + i in other else array[i] for (array, _), other in own]


def _gathered(
    grid: Grid,
    plan: Plan,
    keys: list[str],
    chunks: Iterator[tuple[list[str], Any]],
    progress: Callable[[int, int], object] | None,
) -> _sweep.Table:
    lines: list[str] = []
    arrays: list[list[Any]] = [[] for _ in plan.cloths]
    others: list[list[Any]] = [[] for _ in plan.cloths]
    for own, positions in chunks:
        lines += own
        for cloth, (array, of_others) in enumerate(positions):
            arrays[cloth].append(array)
            others[cloth] += of_others
        if progress is not None:
            progress(len(lines), sum(line.endswith('"') for line in lines))
    gathered = [(np.concatenate(own), other) for own, other in zip(arrays, others, strict=True)]
    return _sweep.in_memory(grid, keys, lines, gathered)


def with_its_meshes(scene: Scene, vary: list[tuple[str, Any]]) -> Scene:
    """The scene with the files that it names in it: other machines have other disks."""
    scene = copy.copy(scene)
    folder = Path(scene._path).parent if scene._path is not None else Path()
    varied = [tomllib.loads(f"value = {value}") for _, values in vary if isinstance(values, list) for value in values]
    for name in set(_strings([scene._tree, varied])) - scene._files.keys():
        if "*" in name and list(folder.glob(name) if not os.path.isabs(name) else ()):
            raise ValueError(f"{name} stands for several files, which a cluster cannot be given; put the frames into one .npy")
        # What is built in is on every node.
        if scene._builtin is None and name and (folder / name).is_file():
            scene._files[name] = (folder / name).read_bytes()
            scene._opened = None
    return scene


def _strings(value: Any) -> Iterator[str]:
    """Every string in a scene."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
