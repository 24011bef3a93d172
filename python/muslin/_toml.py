"""Scenes as plain Python values, and as the TOML that the reader of scenes takes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ._errors import SceneError

Place = tuple[str | int, ...]


def named(place: Place) -> str:
    """`cloth[0].material.density`, as errors name a key."""
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def wrong(place: Place, why: str) -> SceneError:
    """A value that no scene has."""
    path = named(place)
    finding = {"severity": "error", "file": "scene", "line": None, "column": None, "path": path, "message": why}
    return SceneError(f"scene: {path}: {why}" if path else f"scene: {why}", [finding])


def plain(value: Any, place: Place = ()) -> Any:
    """A copy of numbers, strings, lists and dicts: arrays and scalars of NumPy become such."""
    if isinstance(value, bool | int | str):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise wrong(place, f"{value} is too large for a whole number; write it with a point")
        return value
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise wrong(place, f"the key {key!r} must be a string")
        return {str(key): plain(item, (*place, str(key))) for key, item in value.items()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):  # an array, or a scalar of one
        return plain(value.tolist(), place)
    try:
        items = list(value)
    except TypeError:
        kind = type(value).__name__
        raise wrong(
            place, f"a value of type {kind} has no place in a scene; give numbers, strings, lists or dicts"
        ) from None
    return [plain(item, (*place, i)) for i, item in enumerate(items)]


def value(item: Any) -> str:
    """A plain value as TOML, in one line."""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str):
        # The strings of JSON are those of TOML, but for this character.
        return json.dumps(item, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(item, dict):
        return "{" + ", ".join(f"{value(key)} = {value(field)}" for key, field in item.items()) + "}"
    if isinstance(item, list):
        return "[" + ", ".join(value(entry) for entry in item) + "]"
    return repr(item)


def document(tree: dict[str, Any]) -> str:
    """A plain dict as the text of a scene."""
    return "".join(f"{value(key)} = {value(item)}\n" for key, item in tree.items())
