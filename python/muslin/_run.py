"""Whole runs, with their results on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._errors import LOG
from ._scene import Scene, source_of


def run(
    scene: Scene | str | os.PathLike[str] | Mapping[str, Any] = "drape",
    out: str | os.PathLike[str] | None = None,
    *,
    frames: int | None = None,
    threads: int | None = None,
    formats: Sequence[str] = ("npy", "glb"),
    preview: str = "video",
    resume: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Any]:
    """Simulates a scene and writes its results, as `muslin run` does. Returns the content of `report.json`.

    `out` is the folder, `out/NAME` if there is none. `frames` simulates so many, whatever the scene's duration. `threads` are all
    cores if nothing is said; no result depends on them. `preview` is `"none"`, `"png"` or `"video"`; drawing takes longer than most
    simulations. `resume` continues the run in the folder. `progress(done, frames)` is called after each frame.

    Raises `SceneError`, `StepError`, `ValueError` or `OSError`. Every finished frame is kept, after Ctrl-C too.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as out:
    ...     report = run("hanging", out, frames=2, preview="none")
    >>> report["frames"][-1]["frame"]
    2
    """
    names = list(formats)
    if isinstance(formats, str):
        names = formats.split(",")
    folder = None if out is None else os.fspath(out)
    place, text = source_of(scene).run(folder, frames, threads, names, preview, resume, progress)
    report: dict[str, Any] = json.loads(text)
    for warning in report["warnings"]:
        LOG.warning("%s", warning)
    LOG.info("%s: %d frames in %s", report["scene"], len(report["frames"]), place)
    return report
