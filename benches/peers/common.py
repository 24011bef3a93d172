"""What every peer written in Python shares: reading the work, the clock, writing what came out.

A peer is a class with

    Peer(work)          builds everything, and compiles it: none of this is timed
    step()              advances by one frame of 1 / work.fps seconds: the only thing that is timed
    positions()         positions of all vertices in the order and the axes of work.vertices, (n, 3)
    counts              dict of totals so far, e.g. {"projections": 1e6}; may be empty
    settings            dict of what was set, defaults that matter included
    notes               what a reader should know of this run

and ends in `common.main("name", ["package", …], Peer)`. Its command line is `python peer.py WORK.json OUT`.

WORK.json is written by `peers prepare` and the runner; see `Work`. Into OUT go

    positions.npy       (frames that were run + 1, vertices, 3), float32; the first is the start. "rows" keeps the first and the last only
    result.json         peer, version, packages, python, workload, side, label, settings, wall_s and cpu_s of each frame, counts, failed, notes

A run ends early once `budget_s` seconds of processor time are spent: `failed` is then null, and there are fewer frames. A peer that
throws, or gives numbers that are not finite, leaves what it has, and the reason in `failed`.
"""

import os

# One thread, also in the libraries that peers use: before any of them is loaded.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import json
import math
import platform
import sys
import time
import traceback
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Callable

import numpy as np


class Work:
    """What is to be done: the keys of WORK.json as attributes, with the arrays loaded.

    workload        "hang", "drape", "flag", "fold", "stiffest", "softest", or "rows" (throughput: what came out does not count)
    side            vertices along a side of the sheet
    fps, frames     frames a second, frames
    budget_s        seconds of processor time after which the run ends
    threads         always 1 so far
    gravity         m/s²
    vertices        (n, 3) float64, start and rest at once, in m; +y is up. Row by row: vertex (i, j) is j * side + i
    triangles       (m, 3) int32, counter-clockwise
    masses          (n,) kg, of pinned vertices too
    edges           (e, 2) int32; edge_stiffness (e,), in N/m; edge_lengths (e,) at rest
    hinges          (h, 4) int32 or None: the inner edge a b, and the apexes c, d of its two triangles
    youngs          Young's modulus × thickness, in N/m
    bend            bending rigidity, in N·m; density in kg/m²; damping of all motion in 1/s
    thickness       distance to keep, of cloth and cloth and of cloth and bodies, in m
    friction        of cloth on cloth; bodies have their own
    pins            indices of held vertices
    bodies          dicts: {"kind": "sphere", "center", "radius", "friction", "spin"}, {"kind": "plane", "point", "normal", "friction"},
                    {"kind": "capsule", "a", "b", "radius", "friction"}; for "spin" see `turn`
    wind            velocity of the air in m/s, or None; drag and lift are its coefficients, air_density in kg/m³
    self_contact    whether cloth is kept from itself
    stable_step     the longest stable step of an explicit integrator, in s
    reference       path of the converged motion of the first half second, where a run that is more than 2 cm off is to end after it; or not there
    settings        of the peer; label is their name
    """

    ARRAYS = ("vertices", "triangles", "masses", "edges", "edge_stiffness", "hinges")

    def __init__(self, path: Path) -> None:
        keys: dict[str, Any] = json.loads(path.read_text())
        self.label, self.settings, self.reference = "", {}, None
        for key, value in keys.items():
            if key in self.ARRAYS and value is not None:
                value = np.load(path.parent / value)
            setattr(self, key, value)

    @property
    def edge_lengths(self) -> np.ndarray:
        return np.linalg.norm(self.vertices[self.edges[:, 0]] - self.vertices[self.edges[:, 1]], axis=1)

    @property
    def inverse_masses(self) -> np.ndarray:
        """0 for pinned vertices."""
        inverse = 1.0 / self.masses
        inverse[self.pins] = 0.0
        return inverse

    def substeps(self, default: int) -> int:
        """The setting `substeps`; or `stable_part`, as Muslin understands it: part of the substeps of the longest stable step of an explicit
        integrator, and 15 %."""
        if "stable_part" in self.settings:
            return math.ceil(self.settings["stable_part"] * 1.15 / self.fps / self.stable_step)
        return self.settings.get("substeps", default)

    def setting(self, key: str, default: Any) -> Any:
        """A setting of the peer, and its value where it is not given."""
        return self.settings.get(key, default)


def turn(body: dict[str, Any], seconds: float) -> float:
    """How far a body has turned about its spin's axis through its centre, in radians.

    "spin" is null or {"axis", "start", "end", "degrees"}: at rest before the start and after the end, eased between (3 s² − 2 s³).
    """
    spin = body.get("spin")
    if not spin:
        return 0.0
    part = min(max((seconds - spin["start"]) / (spin["end"] - spin["start"]), 0.0), 1.0)
    return part * part * (3 - 2 * part) * math.radians(spin["degrees"])


class Gate:
    """Ends a run whose motion is not the converged one: what it would cost to go on is of no interest."""

    LIMIT = 0.02

    def __init__(self, path: str | None) -> None:
        self.motion = np.load(path, mmap_mode="r") if path else []

    def is_shut(self, frame: int, positions: np.ndarray) -> bool:
        """At the last frame of the motion; by then it is too late to come back."""
        if frame + 1 != len(self.motion):
            return False
        return bool(np.sqrt(((positions - self.motion[frame]) ** 2).sum(axis=1).mean()) > self.LIMIT)


class Frames:
    """positions.npy, written frame by frame: a long run of a fine sheet does not fit into memory."""

    HEADER = 128

    def __init__(self, path: Path, vertices: int) -> None:
        self.vertices, self.count = vertices, 0
        self.file = path.open("wb")
        self.file.write(bytes(self.HEADER))

    def push(self, positions: np.ndarray) -> None:
        self.file.write(np.ascontiguousarray(positions, dtype="<f4").tobytes())
        self.count += 1

    def close(self) -> None:
        text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({self.count}, {self.vertices}, 3), }}"
        self.file.seek(0)
        self.file.write(b"\x93NUMPY\x01\x00" + (self.HEADER - 10).to_bytes(2, "little"))
        self.file.write((text.ljust(self.HEADER - 11) + "\n").encode())
        self.file.close()


def versions(packages: list[str]) -> dict[str, str]:
    known = {}
    for package in packages:
        try:
            known[package] = version(package)
        except PackageNotFoundError:
            known[package] = "not installed"
    return known


def main(name: str, packages: list[str], build: Callable[[Work], Any]) -> None:
    """Runs a peer as its command line says. The version of the first package is that of the peer."""
    if len(sys.argv) != 3:
        sys.exit(f"python {name}.py WORK.json OUT")
    work, out = Work(Path(sys.argv[1])), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    found = versions(packages)
    result: dict[str, Any] = {
        "peer": name, "version": found[packages[0]], "packages": found, "python": platform.python_version(),
        "workload": work.workload, "side": work.side, "label": work.label, "settings": work.settings,
        "wall_s": [], "cpu_s": [], "counts": {}, "failed": None, "notes": "",
    }
    frames = Frames(out / "positions.npy", len(work.vertices))
    peer, left, last, gate = None, work.budget_s, None, Gate(work.reference)
    try:
        peer = build(work)
        frames.push(peer.positions())
        for frame in range(1, work.frames + 1):
            wall, cpu = time.perf_counter(), time.process_time()
            peer.step()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            last = np.asarray(peer.positions())
            if not np.isfinite(last).all():
                result["failed"] = f"positions are not finite in frame {frame}"
                break
            result["wall_s"].append(wall)
            result["cpu_s"].append(cpu)
            if work.workload != "rows":
                frames.push(last)
            left -= cpu
            if gate.is_shut(frame, last):
                result["notes"] = f"stopped after frame {frame}: its motion is too far off. "
                break
            if left < 0 and frame < work.frames:
                result["notes"] = f"stopped after frame {frame}: {work.budget_s:g} s were spent. "
                break
    except Exception as error:  # A peer that fails is a result too.
        traceback.print_exc()
        result["failed"] = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
    if work.workload == "rows" and last is not None:
        frames.push(last)
    frames.close()
    for key in ("counts", "settings"):
        result[key] = {**result[key], **getattr(peer, key, {})}
    result["notes"] += getattr(peer, "notes", "")
    (out / "result.json").write_text(json.dumps(result, default=float) + "\n")
