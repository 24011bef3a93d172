"""Many worlds of one scene, stepped together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Self

from . import _muslin, _toml
from ._scene import Scene


class Batch(_muslin.Batch):
    """`count` worlds of one scene, each on one thread, over all cores or `threads` of them.

    `vary` gives keys of the scene another value in each world: `{"cloth.0.material.bend.stiffness": values}` with `count`
    values, which may be numbers, rows of numbers, or names of meshes. Arrays have the worlds as their first axis. `worlds`
    chooses some, by a mask or by their numbers.

    >>> import numpy as np
    >>> batch = Batch("hanging", 3, vary={"cloth.0.grid.cells": [[8, 8]] * 3, "cloth.0.material.density": [0.1, 0.2, 0.3]})
    >>> batch.advance()
    >>> batch.positions().shape
    (3, 81, 3)
    >>> batch.reset(np.array([True, False, False]))
    >>> batch.frame
    array([0, 1, 1])
    """

    def __new__(
        cls,
        scene: Scene | str | os.PathLike[str] | Mapping[str, Any],
        count: int,
        *,
        vary: Mapping[str, Any] | None = None,
        threads: int | None = None,
    ) -> Self:
        if count < 1:
            raise ValueError(f"a batch needs worlds: count must be 1 or more, got {count}")
        sets: list[list[str]] = [[] for _ in range(count)]
        for key, values in (vary or {}).items():
            items = _toml.plain(values, (key,))
            if not isinstance(items, list) or len(items) != count:
                given = len(items) if isinstance(items, list) else "one value"
                raise ValueError(f"vary[{key!r}] must have {count} values, one a world, but has {given}")
            for world, item in zip(sets, items, strict=True):
                world.append(f"{key}={_toml.value(item)}")
        return super().__new__(cls, scene, sets, threads)

    def __repr__(self) -> str:
        return f"Batch({self.name!r}, {len(self)} worlds, threads={self.threads})"
