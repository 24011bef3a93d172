"""One scene with many values, into a table."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _toml
from ._errors import LOG
from ._muslin import Grid
from ._scene import Scene

Cloth = str | int | None


class Table:
    """The rows of a sweep, sample after sample.

    `table["max_strain"]` is a column: an array with one item a sample. Numbers that are not known, as those of a sample that failed
    before its first frame, are NaN. `table.failed` is a mask.
    """

    columns: dict[str, Any]
    """Arrays by their names, in the order of `samples.csv`."""

    def __init__(
        self, columns: dict[str, Any], keys: Sequence[str], positions: dict[str, Any], others: dict[tuple[int, str], Any]
    ) -> None:
        self.columns = columns
        self.keys = list(keys)
        self._positions = positions
        self._others = others

    @property
    def failed(self) -> Any:
        """Which samples failed: a mask. `table["error"]` says why."""
        return np.array([error != "" for error in self.columns["error"]])

    def positions(self, cloth: Cloth = None, *, sample: int | None = None) -> Any:
        """The last positions of a cloth, in m: float32 of shape (samples, n, 3), or (n, 3) of one sample; NaN where it failed.

        Those of a sweep in a folder are a view of its file, which is read as it is used. A sample with a mesh of its own is NaN among
        all, and is to be asked for by its number.
        """
        names = list(self._positions)
        if cloth is None and len(names) != 1:
            raise ValueError(f"the scene has {len(names)} cloths: say which, of {names}")
        name = names[0] if cloth is None else names[cloth] if isinstance(cloth, int) else cloth
        if name not in self._positions:
            raise ValueError(f"there is no cloth {name!r}; the scene has {names}")
        if sample is None:
            return self._positions[name]
        if not 0 <= sample < len(self):
            raise IndexError(f"there is no sample {sample}; the table has {len(self)}")
        return self._others.get((sample, name), self._positions[name][sample])

    def __getitem__(self, column: str) -> Any:
        return self.columns[column]

    def __len__(self) -> int:
        return len(self.columns["sample"])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows, as dicts."""
        for row in range(len(self)):
            yield {name: values[row] for name, values in self.columns.items()}

    def __repr__(self) -> str:
        return f"Table({len(self)} samples of {', '.join(self.keys) or 'one scene'}, {int(self.failed.sum())} failed)"

    def _repr_html_(self) -> str:
        shown = [*self.keys, "state_hash", "max_strain", "wall_seconds", "error"]
        head = "".join(f"<th>{name}</th>" for name in ["sample", *shown])
        rows = "".join(
            "<tr>" + "".join(f"<td>{row[name]}</td>" for name in ["sample", *shown]) + "</tr>"
            for row, _ in zip(self, range(20), strict=False)
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table><p>{self!r}</p>"


def sweep(
    scene: Scene | str | os.PathLike[str] | Mapping[str, Any],
    vary: Mapping[str, Any],
    samples: int,
    *,
    seed: int = 0,
    engine: str = "local",
    address: str | None = None,
    out: str | os.PathLike[str] | None = None,
    frames: int | None = None,
    jobs: int | None = None,
    resume: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Table:
    """Simulates a scene many times with other values, as `muslin sweep` does, and returns the table.

    `vary` has keys of the scene, each with a range: `(low, high)`, `(low, high, "log")` or `"LOW:HIGH:log"`; or with an array or a
    longer list of `samples` values. A key of whole numbers gets such. The values follow from `seed` and the number of the sample.

    With `out`, rows and positions go to that folder as they are done, `samples.csv` and `final.npy`, and `resume` continues a sweep
    that was stopped. `jobs` worlds are simulated at a time, each on one thread; no row depends on it. `progress(done, failed)` is
    called after each sample, or after a few.

    `engine="ray"` computes the same rows on a Ray cluster, at `address` or on this machine; it needs `pip install ray`.

    >>> table = sweep("hanging", {"cloth.0.material.density": (0.1, 0.3)}, 2, seed=1, frames=1)
    >>> table["state_hash"][0] != table["state_hash"][1]
    True
    """
    if engine not in ("local", "ray"):
        raise ValueError(f'there is no engine {engine!r}; there are "local" and "ray"')
    if address is not None and engine != "ray":
        raise ValueError('only the engine "ray" has an address')
    if samples < 1:
        raise ValueError(f"a sweep needs samples: give 1 or more, got {samples}")
    given = [(key, _spread(key, values)) for key, values in vary.items()]
    grid = Grid(scene, given, samples, seed, frames)
    if out is None and resume:
        raise ValueError("only a sweep with a folder can be resumed: give `out`")
    if engine == "ray":
        from . import _ray

        own = scene if isinstance(scene, Scene) else Scene(scene)
        plan = _ray.Plan(own, given, samples, seed, frames, [name for name, _ in grid.cloths])
        table = _ray.sweep(grid, plan, list(vary), address, None if out is None else Path(out), jobs, resume, progress)
    elif out is None:
        lines, positions = grid.compute(0, samples, jobs, progress)
        table = in_memory(grid, list(vary), lines, positions)
    else:
        folder = Path(out)
        grid.write(folder, resume, jobs, progress)
        table = read(folder, list(vary))
    failed = int(table.failed.sum())
    LOG.info("%d samples, %d failed", len(table), failed)
    return table


def in_memory(grid: Grid, keys: Sequence[str], lines: Sequence[str], positions: Any) -> Table:
    """The table of samples that are in memory."""
    names = [name for name, _ in grid.cloths]
    arrays = {name: array for name, (array, _) in zip(names, positions, strict=True)}
    others = {
        (sample, name): array[0] for name, (_, own) in zip(names, positions, strict=True) for sample, array in own
    }
    return Table(columns([grid.heading, *lines]), keys, arrays, others)


def read(folder: Path, keys: Sequence[str]) -> Table:
    """The table of a sweep in a folder."""
    import json

    manifest = json.loads((folder / "sweep.json").read_text(encoding="utf-8"))
    with open(folder / "samples.csv", encoding="utf-8", newline="") as file:
        table = columns(file)
    positions, others = {}, {}
    for cloth in manifest["cloths"]:
        positions[cloth["name"]] = np.load(folder / cloth["file"], mmap_mode="r")
        for path in sorted(folder.glob("final/*.npy")):
            number, stem = path.stem.split("_", 1)
            if stem == cloth["stem"]:
                others[int(number), cloth["name"]] = np.load(path)[0]
    return Table(table, keys, positions, others)


def columns(lines: Any) -> dict[str, Any]:
    """A table with the best type for each column: whole numbers, numbers, or strings."""
    reader = csv.reader(lines)
    names = next(reader)
    cells = list(zip(*reader, strict=True)) or [() for _ in names]
    return {name: _column(name, items) for name, items in zip(names, cells, strict=True)}


def _column(name: str, items: Sequence[str]) -> Any:
    if name in ("state_hash", "error"):
        return np.array(items, dtype=object)
    if set(items) <= {"true", "false"} and items:
        return np.array([item == "true" for item in items])
    for kind in (int, float):
        try:
            return np.array([kind(item) if item or kind is int else np.nan for item in items])
        except ValueError:
            continue
    return np.array(items, dtype=object)


def _spread(key: str, values: Any) -> Any:
    """A range as the compiled part takes it: text, two numbers and whether their logarithms are spread, or values as TOML."""
    if isinstance(values, str):
        return values
    if isinstance(values, tuple | list) and len(values) in (2, 3):
        ends = [float(value) for value in values[:2] if isinstance(value, int | float | np.number)]
        kind = values[2] if len(values) == 3 else "linear"
        if len(ends) == 2 and isinstance(kind, str):
            if kind not in ("linear", "log"):
                raise ValueError(f'vary[{key!r}]: a range is (low, high), or (low, high, "log"), not {values!r}')
            return (*ends, kind == "log")
    items = _toml.plain(values, (key,))
    if not isinstance(items, list):
        raise ValueError(f'vary[{key!r}] must be a range, (low, high) or (low, high, "log"), or a value a sample')
    return [_toml.value(item) for item in items]
