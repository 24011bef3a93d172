"""What goes wrong, and where messages go."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

LOG = logging.getLogger("muslin")


class SceneError(ValueError):
    """A scene is wrong. The message has every mistake with its place, the limit and the remedy."""

    findings: list[dict[str, Any]]
    """The same, one dict a mistake: `severity`, `file`, `line`, `column`, `path` and `message`."""

    def __init__(self, message: str, findings: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(message, list(findings))
        self.findings = list(findings)

    def __str__(self) -> str:
        return str(self.args[0])


class StepError(RuntimeError):
    """A frame could not be done. The state is that of the frame before."""

    worlds: list[int]
    """Of a batch, the worlds that failed; all others are a frame further."""

    def __init__(self, message: str, worlds: Sequence[int] = ()) -> None:
        super().__init__(message, list(worlds))
        self.worlds = list(worlds)

    def __str__(self) -> str:
        return str(self.args[0])
