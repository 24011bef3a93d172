"""Scenes small enough to run in a blink, and the command line to compare with."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TINY: dict[str, Any] = {
    "name": "tiny",
    "duration": 0.1,
    "fps": 100,
    "solver": {"kind": "xpbd", "substeps": 4},
    "cloth": [
        {
            "name": "sheet",
            "grid": {"size": [1.0, 1.0], "cells": [4, 4]},
            "translate": [0.0, 0.3, 0.0],
            "pins": [{"vertices": [0]}],
        }
    ],
    "collider": [{"name": "ball", "sphere": {"center": [0.0, 0.0, 0.0], "radius": 0.25}}],
}


@pytest.fixture
def tiny() -> dict[str, Any]:
    """A sheet of 25 vertices that hangs from one and falls on a ball: ten frames."""
    import copy

    return copy.deepcopy(TINY)


@pytest.fixture
def muslin_command() -> Callable[..., subprocess.CompletedProcess[str]]:
    """The program `muslin`: that of MUSLIN, or the one on the path."""
    program = os.environ.get("MUSLIN") or shutil.which("muslin")
    if program is None:
        pytest.fail("there is no `muslin` to compare with; build it, and name it with MUSLIN=target/debug/muslin")

    def command(*words: str | os.PathLike[str], cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([program, *words], cwd=cwd, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        return done

    return command
