"""Scenes: dicts with the keys of a scene file, checked as they are written."""

from __future__ import annotations

import copy
import errno
import html
import os
import tomllib
from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from . import _toml
from ._errors import SceneError
from ._muslin import Source, builtin_scenes


def scenes() -> dict[str, str]:
    """The built-in scenes, each with a line about it.

    >>> sorted(scenes())[:3]
    ['bar', 'box_edge', 'curtain']
    """
    return dict(builtin_scenes())


class _View:
    """A table or a list of a scene, by its place in it."""

    __slots__ = ("_place", "_scene")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, scene: Scene, place: _toml.Place) -> None:
        self._scene = scene
        self._place = place

    def _value(self) -> Any:
        return self._scene._read(self._place)

    def __len__(self) -> int:
        return len(self._value())

    def __eq__(self, other: object) -> bool:
        return bool(self._value() == (other._value() if isinstance(other, _View) else other))

    def __repr__(self) -> str:
        return repr(self._value())

    def __copy__(self) -> Any:
        return copy.deepcopy(self._value())

    def __deepcopy__(self, memo: Any) -> Any:
        return copy.deepcopy(self._value())

    def __reduce__(self) -> Any:
        return _identity, (copy.deepcopy(self._value()),)


def _identity(value: Any) -> Any:
    return value


class Fields(_View, MutableMapping[str, Any]):
    """A table of a scene. What the scene does not say has its default; what is assigned is checked at once."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        return self._scene._at((*self._place, key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._scene._assign((*self._place, key), value)

    def __delitem__(self, key: str) -> None:
        self._scene._remove((*self._place, key))

    def __iter__(self) -> Iterator[str]:
        return iter(self._value())


class Items(_View, MutableSequence[Any]):
    """A list of a scene."""

    __slots__ = ()

    def _index(self, index: Any) -> int:
        count = len(self)
        place = int(index)
        if not -count <= place < count:
            raise IndexError(f"{_toml.named(self._place)} has {count} items, there is no {index}")
        return place % count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._scene._at((*self._place, self._index(index)))

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            items = copy.deepcopy(self._value())
            items[index] = _toml.plain(value, self._place)
            self._scene._assign(self._place, items)
        else:
            self._scene._assign((*self._place, self._index(index)), value)

    def __delitem__(self, index: Any) -> None:
        items = copy.deepcopy(self._value())
        del items[index]
        self._scene._assign(self._place, items)

    def insert(self, index: int, value: Any) -> None:
        """Puts a value before another."""
        items = copy.deepcopy(self._value())
        place = min(max(index if index >= 0 else index + len(items), 0), len(items))
        items.insert(place, _toml.plain(value, (*self._place, place)))
        self._scene._assign(self._place, items)


class Scene(MutableMapping[str, Any]):
    """A scene: a built-in name, the path of a scene file, or a dict with its keys.

    `scene["cloth"][0]["material"]["density"] = 0.2` changes a key, and so does
    `scene["cloth.0.material.density"] = 0.2`. A wrong key or value raises `SceneError` with its place, and nothing has changed
    then. What does not go together any more is told when the scene is used, or by `check()`: several keys may have to change.

    Meshes are files whose paths start from the folder of the scene file. `meshes` gives some by the names that the scene has for
    them: a pair of positions (n, 3), in m, and triangles (m, 3); or the bytes or the path of an OBJ file.

    >>> scene = Scene({"cloth": [{"name": "sheet", "grid": {"size": [1, 1], "cells": [8, 8]}}], "duration": 0.5})
    >>> scene["fps"]
    60.0
    >>> scene["solver"]["kind"] = "xpbd"
    >>> scene
    Scene('scene', 1 cloth, 0 colliders, 0.5 s at 60 fps, xpbd)
    >>> scene["solver"]["kidn"] = "xpbd"
    Traceback (most recent call last):
    muslin._errors.SceneError: scene: solver.kidn: unknown key of solver "xpbd"; did you mean `kind`?
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        source: str | os.PathLike[str] | Mapping[str, Any] | Scene = "drape",
        *,
        meshes: Mapping[str, Any] | None = None,
    ) -> None:
        self._files: dict[str, bytes] = {}
        self._path: str | None = None
        self._builtin: str | None = None
        self._opened: Source | None = None
        self._resolved: dict[str, Any] | None = None
        if isinstance(source, Scene):
            self.__setstate__(copy.deepcopy(source.__getstate__()))
        elif isinstance(source, Mapping):
            self._label = "scene"
            self._tree: dict[str, Any] = _toml.plain(source)
        elif isinstance(source, str | os.PathLike):
            self._open(os.fspath(source))
        else:
            raise TypeError(f"a scene is a name, a path, a dict or a Scene, not {type(source).__name__}")
        for name, mesh in (meshes or {}).items():
            self._files[name] = _obj(name, mesh)
            self._opened = None
        self._defaults(strictly=True)

    def _open(self, name: str) -> None:
        if (name.endswith(".toml") or os.sep in name) and not os.path.exists(name):
            raise FileNotFoundError(errno.ENOENT, "there is no scene file", name)
        opened = Source.open(name)
        opened.resolve()
        self._opened, self._label = opened, opened.label
        self._path = None if opened.path is None else os.fspath(opened.path)
        self._builtin = name if opened.path is None else None
        self._tree = tomllib.loads(opened.text)

    # What the compiled part asks for.

    def _source(self) -> Source:
        """The scene as it is now. A file that nobody has changed keeps its lines, which errors then name."""
        if self._opened is None:
            self._opened = self._source_of(self._tree)
        return self._opened

    def _source_of(self, tree: dict[str, Any]) -> Source:
        files = list(self._files.items())
        return Source.written(_toml.document(tree), self._label, self._path, self._builtin, files)

    def _defaults(self, strictly: bool = False) -> dict[str, Any]:
        """The scene with every default; nothing where its keys do not go together at the moment."""
        if self._resolved is None:
            try:
                self._resolved = tomllib.loads(self._source().resolve())
            except SceneError:
                if strictly:
                    raise
                self._resolved = {}
        return self._resolved

    # Keys.

    def _read(self, place: _toml.Place) -> Any:
        """What the scene says at a place, over its defaults."""
        said, default = _look(self._tree, place), _look(self._defaults(), place)
        if said is None and default is None:
            raise KeyError(_toml.named(place))
        if isinstance(said, dict) and isinstance(default, dict):
            return {**said, **{key: item for key, item in default.items() if key not in said}}
        return default if said is None else said

    def _at(self, place: _toml.Place) -> Any:
        value = self._read(place)
        if isinstance(value, dict):
            return Fields(self, place)
        return Items(self, place) if isinstance(value, list) else value

    def _assign(self, place: _toml.Place, value: Any) -> None:
        tree = copy.deepcopy(self._tree)
        inner: Any = tree
        for depth, step in enumerate(place[:-1]):
            if isinstance(inner, dict) and step not in inner:
                default = _look(self._defaults(), place[: depth + 1])
                inner[step] = copy.deepcopy(default) if isinstance(default, list) else {}
            try:
                inner = inner[step]
            except (IndexError, TypeError):
                raise KeyError(_toml.named(place[: depth + 1])) from None
        try:
            inner[place[-1]] = _toml.plain(value, place)
        except (IndexError, TypeError):
            raise KeyError(_toml.named(place)) from None
        source = self._source_of(tree)
        try:
            source.resolve()
        except SceneError as error:
            # What is wrong elsewhere may only have to change too.
            if mine := [finding for finding in error.findings if _is_within(str(finding["path"]), place)]:
                lines = (f"{self._label}: {finding['path']}: {finding['message']}" for finding in mine)
                raise SceneError("\n".join(lines), mine) from None
        self._tree, self._opened, self._resolved = tree, source, None

    def _remove(self, place: _toml.Place) -> None:
        holder = _look(self._tree, place[:-1])
        if not isinstance(holder, dict) or place[-1] not in holder:
            raise KeyError(f"{_toml.named(place)} is not said in the scene, so there is nothing to remove")
        del holder[place[-1]]
        self._opened = self._resolved = None

    def _steps(self, key: str) -> _toml.Place:
        if not isinstance(key, str):
            raise KeyError(key)
        return tuple(int(step) if step.isdigit() else step for step in key.split("."))

    def __getitem__(self, key: str) -> Any:
        return self._at(self._steps(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._assign(self._steps(key), value)

    def __delitem__(self, key: str) -> None:
        self._remove(self._steps(key))

    def __iter__(self) -> Iterator[str]:
        return iter(self._read(()))

    def __len__(self) -> int:
        return len(self._read(()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scene):
            return NotImplemented
        return (self._tree, self._files) == (other._tree, other._files)

    # More.

    @property
    def name(self) -> str:
        """The scene's name: results go to `out/NAME`."""
        return str(self["name"])

    def check(self) -> list[str]:
        """Says everything about the scene and its meshes that can be said without simulating: raises `SceneError`, or returns warnings."""
        return self._source().check()

    def to_toml(self) -> str:
        """The scene file with every default filled in: it gives the same bits."""
        return self._source().resolve()

    def copy(self) -> Scene:
        """Another scene with the same keys."""
        return Scene(self)

    def __copy__(self) -> Scene:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Scene:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        kept = {"_label", "_tree", "_files", "_path", "_builtin"}
        return {key: value for key, value in self.__dict__.items() if key in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _opened=None, _resolved=None)

    def _counts(self) -> list[str]:
        keys = self._read(())
        counts = [(len(keys.get("cloth", [])), "cloth"), (len(keys.get("collider", [])), "collider")]
        words = [f"{count} {what}{'' if count == 1 else 's'}" for count, what in counts]
        if "duration" in keys and "fps" in keys:
            words.append(f"{keys['duration']:g} s at {keys['fps']:g} fps")
        return [*words, str(keys.get("solver", {}).get("kind", "auto"))]

    def __repr__(self) -> str:
        return f"Scene({self._read(()).get('name', self._label)!r}, {', '.join(self._counts())})"

    def _repr_html_(self) -> str:
        text = self.to_toml() if self._defaults() else _toml.document(self._tree)
        return f"<details><summary>{html.escape(repr(self))}</summary><pre>{html.escape(text)}</pre></details>"


def source_of(scene: Any) -> Source:
    """The source of what stands for a scene: a `Scene`, a name, a path or a dict."""
    return (scene if isinstance(scene, Scene) else Scene(scene))._source()


def _look(tree: Any, place: Sequence[str | int]) -> Any:
    """What is at a place of a tree; `None` where nothing is."""
    for step in place:
        try:
            tree = tree[step]
        except (KeyError, IndexError, TypeError):
            return None
    return tree


def _is_within(path: str, place: _toml.Place) -> bool:
    """Whether a finding is about what stands at a place."""
    own = _toml.named(place)
    return path == own or path.startswith((own + ".", own + "["))


def _obj(name: str, mesh: Any) -> bytes:
    """A mesh as an OBJ file, to the last bit."""
    if isinstance(mesh, bytes):
        return mesh
    if isinstance(mesh, str | os.PathLike):
        with open(mesh, "rb") as file:
            return file.read()
    positions, triangles = (np.asarray(part) for part in mesh)
    if positions.ndim != 2 or positions.shape[1] != 3 or positions.dtype.kind not in "fiu":
        raise ValueError(f"mesh {name!r}: positions must have the shape (n, 3) and be numbers, but have {positions.shape}")
    if triangles.ndim != 2 or triangles.shape[1] != 3 or triangles.dtype.kind not in "iu":
        raise ValueError(
            f"mesh {name!r}: triangles must have the shape (m, 3) and be whole numbers, but have {triangles.shape}"
        )
    if len(wild := np.flatnonzero(~np.isfinite(positions).all(axis=1))):
        raise ValueError(f"mesh {name!r}: positions must be finite, but vertex {wild[0]} is {positions[wild[0]].tolist()}")
    count = len(positions)
    if len(lost := np.flatnonzero(((triangles < 0) | (triangles >= count)).any(axis=1))):
        vertex = next(vertex for vertex in triangles[lost[0]].tolist() if not 0 <= vertex < count)
        raise ValueError(f"mesh {name!r}: triangle {lost[0]} uses vertex {vertex}, but the mesh has {count} vertices")
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in positions.astype(float).tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (triangles + 1).tolist()]
    return "\n".join(lines).encode() + b"\n"
