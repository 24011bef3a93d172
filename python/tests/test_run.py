"""`muslin.run` beside `muslin run`: the same files, the same bits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import muslin


def test_a_run_is_what_the_command_line_writes(tiny: dict[str, Any], tmp_path: Path, muslin_command: Any) -> None:
    scene = muslin.Scene(tiny)
    (tmp_path / "tiny.toml").write_text(scene.to_toml(), encoding="utf-8")
    options = ["--preview", "png", "--formats", "obj,ply", "--threads", "2", "--set", "view.size=[64,48]"]
    muslin_command("run", "tiny.toml", "--out", "there", *options, cwd=tmp_path)
    scene["view"] = {"size": [64, 48]}
    report = muslin.run(scene, tmp_path / "here", preview="png", formats=["obj", "ply"], threads=2)
    here, there = tmp_path / "here", tmp_path / "there"

    def names(folder: Path) -> set[str]:
        return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}

    assert names(here) == names(there)
    written = json.loads((here / "report.json").read_text(encoding="utf-8"))
    assert report == written
    other = json.loads((there / "report.json").read_text(encoding="utf-8"))
    assert report["state_hash"] == other["state_hash"]
    assert [{**frame, "wall_ms": 0} for frame in report["frames"]] == [{**frame, "wall_ms": 0} for frame in other["frames"]]
    for name in ("sheet.npy", "sheet.obj", "scene.toml", "preview.png"):
        assert (here / name).read_bytes() == (there / name).read_bytes(), name
    # And a simulation that is stepped by hand is the same.
    sim = muslin.Simulation(scene, threads=1)
    frames = [sim.positions()]
    for _ in range(sim.frame_count):
        sim.advance()
        frames.append(sim.positions())
    assert sim.hash == report["state_hash"]
    assert np.array_equal(np.load(here / "sheet.npy"), np.stack(frames))
    last = {**sim.diagnose(), "wall_ms": 0}
    assert last == {**report["frames"][-1], "wall_ms": 0}


@pytest.mark.parametrize("name", ["drape", "hanging", "flag", "tunic"])
def test_the_builtin_scenes_have_the_bits_of_the_command_line(name: str, tmp_path: Path, muslin_command: Any) -> None:
    words = ["run", name, "--frames", "3", "--formats", "npy", "--preview", "none", "--out", "out"]
    muslin_command(*words, cwd=tmp_path)
    expected = json.loads((tmp_path / "out/report.json").read_text(encoding="utf-8"))["state_hash"]
    sim = muslin.Simulation(name)
    sim.advance(3)
    assert sim.hash == expected
    # The same keys from a dict, with a change that is none.
    scene = muslin.Scene(name)
    scene["fps"] = scene["fps"]
    sim = muslin.Simulation(scene, threads=1)
    sim.advance(3)
    assert sim.hash == expected


def test_a_mesh_of_ones_own_goes_with_the_results(tmp_path: Path) -> None:
    positions = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1.1]]
    scene = muslin.Scene({"cloth": [{"mesh": "mine"}], "duration": 0.1}, meshes={"mine": (positions, [[0, 2, 1], [1, 2, 3]])})
    report = muslin.run(scene, tmp_path / "one", preview="none", formats="npy")
    again = muslin.run(tmp_path / "one/scene.toml", tmp_path / "two", preview="none", formats="npy")
    assert again["state_hash"] == report["state_hash"]


def test_wrong_options_are_named(tiny: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r'there is no format "stl"; there are npy, '):
        muslin.run(tiny, tmp_path, formats=["stl"])
    with pytest.raises(ValueError, match='there is no preview "gif"'):
        muslin.run(tiny, tmp_path, preview="gif")
    with pytest.raises(ValueError, match="nothing to resume"):
        muslin.run(tiny, tmp_path / "new", resume=True)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OSError, match="is, or lies under, a file"):
        muslin.run(tiny, tmp_path / "file", preview="none")
    (tmp_path / "report.json").write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match="would overwrite .*report.json"):
        muslin.run(tiny, tmp_path, preview="none")


def test_a_run_that_fails_keeps_its_frames(tiny: dict[str, Any], tmp_path: Path) -> None:
    tiny["solver"] = {"kind": "explicit", "substeps": 1}
    tiny["cloth"][0]["material"] = {"stretch": {"model": "spring", "stiffness": 1e7}}
    with pytest.raises(muslin.StepError, match=r"frames? 0 .*kept in"):
        muslin.run(tiny, tmp_path / "out", preview="none")
    assert json.loads((tmp_path / "out/report.json").read_text(encoding="utf-8"))["outcome"] == "failed"


def test_progress_is_told_and_its_error_ends_the_run(tiny: dict[str, Any], tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    muslin.run(tiny, tmp_path / "out", preview="none", progress=lambda *news: told.append(news))
    assert told == [(frame, 10) for frame in range(1, 11)]

    def stop(done: int, all: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        muslin.run({**tiny, "duration": 50.0}, tmp_path / "long", preview="none", progress=stop)
    report = json.loads((tmp_path / "long/report.json").read_text(encoding="utf-8"))
    assert report["outcome"] == "interrupted" and 1 <= len(report["frames"]) < 5000


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send")
def test_ctrl_c_keeps_what_is_done(tiny: dict[str, Any], tmp_path: Path) -> None:
    program = """
import sys, json, muslin
try:
    muslin.run(json.loads(sys.argv[1]), "out", preview="none", progress=lambda done, all: print(done, flush=True))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    words = [sys.executable, "-c", program, json.dumps({**tiny, "duration": 900.0})]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.stdout.read().endswith("interrupted\n")
    report = json.loads((tmp_path / "out/report.json").read_text(encoding="utf-8"))
    assert report["outcome"] == "interrupted"
    frames = len(report["frames"])
    more = muslin.run(tiny | {"duration": (frames + 5) / 100}, tmp_path / "out", preview="none", resume=True)
    assert len(more["frames"]) == frames + 5
