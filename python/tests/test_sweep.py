"""Sweeps: the same table for any number of jobs, on the command line, and after a kill."""

from __future__ import annotations

import csv
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

KEYS = {"cloth.0.material.stretch.stiffness": (10.0, 1e4, "log"), "solver.substeps": (2, 6)}
WORDS = ["--vary", "cloth.0.material.stretch.stiffness=10:1e4:log", "--vary", "solver.substeps=2:6", "--seed", "7"]


def rows(path: Path) -> list[dict[str, str]]:
    """The table in a folder, without what is never the same."""
    with open(path / "samples.csv", encoding="utf-8", newline="") as file:
        return [{key: cell for key, cell in row.items() if key != "wall_seconds"} for row in csv.DictReader(file)]


@pytest.fixture
def scene_file(tiny: dict[str, Any], tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(muslin.Scene(tiny).to_toml(), encoding="utf-8")
    return path


def test_a_sweep_has_the_rows_of_the_command_line(scene_file: Path, tmp_path: Path, muslin_command: Any) -> None:
    muslin_command("sweep", scene_file, *WORDS, "--samples", "12", "--out", "one", "--jobs", "1", cwd=tmp_path)
    muslin_command("sweep", scene_file, *WORDS, "--samples", "12", "--out", "three", "--jobs", "3", cwd=tmp_path)
    table = muslin.sweep(scene_file, KEYS, 12, seed=7, out=tmp_path / "python", jobs=2)
    assert rows(tmp_path / "one") == rows(tmp_path / "three") == rows(tmp_path / "python")
    final = (tmp_path / "one/final.npy").read_bytes()
    assert final == (tmp_path / "three/final.npy").read_bytes() == (tmp_path / "python/final.npy").read_bytes()
    memory = muslin.sweep(scene_file, KEYS, 12, seed=7)
    assert list(table.columns) == list(memory.columns)
    for name in table.columns:
        if name != "wall_seconds":
            assert np.array_equal(table[name], memory[name], equal_nan=table[name].dtype.kind == "f"), name
    assert np.array_equal(table.positions("sheet"), memory.positions())
    assert table.positions().shape == (12, 25, 3) and np.load(tmp_path / "one/final.npy").dtype == np.float32

    # A row is what its values give by themselves.
    row = rows(tmp_path / "one")[5]
    sets = [word for key in KEYS for word in ("--set", f"{key}={row[key]}")]
    muslin_command("run", scene_file, *sets, "--out", "alone", "--preview", "none", "--formats", "npy", cwd=tmp_path)
    report = json.loads((tmp_path / "alone/report.json").read_text(encoding="utf-8"))
    assert row["state_hash"] == report["state_hash"]
    last = report["frames"][-1]
    for key in ("frame", "time", "kinetic_energy", "max_strain", "contacts"):
        assert float(row[key]) == last[key], key
    assert np.array_equal(np.load(tmp_path / "alone/sheet.npy")[-1], memory.positions()[5])


def test_the_values_follow_from_the_seed(tiny: dict[str, Any]) -> None:
    table = muslin.sweep(tiny, KEYS, 40, seed=3, frames=1)
    stiffness, substeps = (table[key] for key in KEYS)
    assert (stiffness >= 10).all() and (stiffness <= 1e4).all() and len(set(stiffness)) == 40
    assert set(substeps) == {2, 3, 4, 5, 6} and substeps.dtype.kind == "i"
    # Half of the logarithms are below the middle: 20, with a standard deviation of 3.2.
    assert 4 < (stiffness < np.sqrt(10 * 1e4)).sum() < 36
    again = muslin.sweep(tiny, dict(reversed(KEYS.items())), 20, seed=3, frames=1)
    assert np.array_equal(again["state_hash"], table["state_hash"][:20]), "neither the number nor the order matters"
    assert not np.array_equal(muslin.sweep(tiny, KEYS, 20, seed=4, frames=1)["state_hash"], again["state_hash"])


def test_the_columns_are_those_of_the_report(tiny: dict[str, Any]) -> None:
    table = muslin.sweep(tiny, KEYS, 2)
    sim = muslin.Simulation(tiny, threads=1)
    sim.advance()
    frame = sim.diagnose()
    work = {f"work_{part}" for part in frame.pop("work")}
    assert set(table.columns) >= (set(frame) - {"wall_ms"} | work | {"sample", "state_hash", "wall_seconds", "error"})
    assert table["frame"].tolist() == [10, 10] and (table["wall_seconds"] > 0).all()
    assert np.isnan(table["unsolved"]).all()
    assert [row["sample"] for row in table] == [0, 1] and len(table) == 2
    assert repr(table) == "Table(2 samples of cloth.0.material.stretch.stiffness, solver.substeps, 0 failed)"
    assert table["state_hash"][0] in table._repr_html_()


def test_values_may_be_given(tiny: dict[str, Any]) -> None:
    vary = {"cloth.0.material.density": np.linspace(0.1, 0.3, 3), "cloth.0.translate": [[0, 0.3, 0], [0, 0.4, 0], [0, 0.5, 0]]}
    table = muslin.sweep(tiny, vary, 3, frames=1)
    assert np.allclose(table["cloth.0.material.density"], [0.1, 0.2, 0.3])
    assert np.allclose(table.positions()[:, 0, 1], [0.3, 0.4, 0.5])
    with pytest.raises(ValueError, match="3 values for 4 samples"):
        muslin.sweep(tiny, vary, 4)


def test_meshes_may_differ(tiny: dict[str, Any], tmp_path: Path) -> None:
    vary = {"cloth.0.grid.cells.0": (3, 6)}
    memory = muslin.sweep(tiny, vary, 8, frames=1)
    table = muslin.sweep(tiny, vary, 8, frames=1, out=tmp_path / "out")
    for sample, cells in enumerate(table["cloth.0.grid.cells.0"]):
        own = table.positions(sample=sample)
        assert own.shape == ((cells + 1) * 5, 3) and np.array_equal(own, memory.positions(sample=sample))
        assert np.isfinite(table.positions()[sample]).all() == (cells == 4)
    assert len(set(table["cloth.0.grid.cells.0"])) > 1


def test_several_cloths_have_a_file_each(tiny: dict[str, Any], tmp_path: Path) -> None:
    tiny["cloth"].append({**tiny["cloth"][0], "name": "other", "translate": [0, 2, 0]})
    table = muslin.sweep(tiny, KEYS, 2, frames=1, out=tmp_path / "out")
    assert table.positions("other").shape == (2, 25, 3)
    assert {path.name for path in (tmp_path / "out").glob("*.npy")} == {"final_sheet.npy", "final_other.npy"}
    with pytest.raises(ValueError, match="has 2 cloths: say which"):
        table.positions()


def test_a_sample_that_fails_is_a_row(tiny: dict[str, Any], tmp_path: Path) -> None:
    tiny["solver"] = {"kind": "explicit", "substeps": 10}
    tiny["contact"] = {"self_contact": False}
    vary = {"cloth.0.material.stretch.stiffness": (1.0, 1e9, "log"), "cloth.0.material.density": (-0.1, 0.2)}
    table = muslin.sweep(tiny, vary, 20, seed=1, out=tmp_path / "out")
    failed = table.failed
    assert 0 < failed.sum() < 20
    for row, is_wrong in zip(table, failed, strict=True):
        assert np.isnan(table.positions()[row["sample"]]).all() == is_wrong
        assert (row["error"] == "") != is_wrong
        if row["cloth.0.material.density"] <= 0:
            assert "cloth[0].material.density: must be a finite number greater than 0" in row["error"]
            assert row["state_hash"] == "" and np.isnan(row["frame"])
        elif is_wrong:
            assert row["error"].startswith("frame ") and "stability limit" in row["error"]
            assert row["state_hash"] != "" and row["frame"] < 10
    assert any(error.startswith("frame ") for error in table["error"])


def test_wrong_sweeps_are_refused(tiny: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(muslin.SceneError, match="cloth.0..scael: unknown key; did you mean `scale`"):
        muslin.sweep(tiny, {"cloth.0.scael": (1, 2)}, 3)
    with pytest.raises(ValueError, match="2:1 is not a range"):
        muslin.sweep(tiny, {"cloth.0.scale": (2, 1)}, 3)
    with pytest.raises(ValueError, match="needs numbers above 0"):
        muslin.sweep(tiny, {"cloth.0.scale": "0:1:log"}, 3)
    with pytest.raises(ValueError, match="a range is"):
        muslin.sweep(tiny, {"cloth.0.scale": (1, 2, "cubic")}, 3)
    with pytest.raises(ValueError, match="give 1 or more, got 0"):
        muslin.sweep(tiny, KEYS, 0)
    with pytest.raises(ValueError, match="there is no engine 'dask'"):
        muslin.sweep(tiny, KEYS, 1, engine="dask")
    with pytest.raises(ValueError, match="frames must be 1 or more, got 0"):
        muslin.sweep(tiny, KEYS, 1, frames=0)
    with pytest.raises(ValueError, match="jobs must be from 1 to 256, got 0"):
        muslin.sweep(tiny, KEYS, 1, jobs=0)
    with pytest.raises(ValueError, match="give `out`"):
        muslin.sweep(tiny, KEYS, 1, resume=True)
    with pytest.raises(ValueError, match="nothing to resume"):
        muslin.sweep(tiny, KEYS, 1, out=tmp_path / "new", resume=True)
    (tmp_path / "samples.csv").write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match="would overwrite .*samples.csv"):
        muslin.sweep(tiny, KEYS, 1, out=tmp_path)


def test_a_sweep_goes_on_with_the_same(tiny: dict[str, Any], tmp_path: Path) -> None:
    muslin.sweep(tiny, KEYS, 6, seed=7, out=tmp_path)
    for other, words in [
        ({"seed": 8, "samples": 6, "vary": KEYS}, "seed was 7, and is 8 now"),
        ({"seed": 7, "samples": 7, "vary": KEYS}, "samples was 6, and is 7 now"),
        ({"seed": 7, "samples": 6, "vary": {"fps": (10, 20)}}, "vary was"),
    ]:
        with pytest.raises(ValueError, match=words):
            muslin.sweep(tiny, **other, out=tmp_path, resume=True)
    before = rows(tmp_path)
    muslin.sweep(tiny, KEYS, 6, seed=7, out=tmp_path, resume=True)
    assert rows(tmp_path) == before, "there was nothing left to do"
    muslin.sweep(tiny, KEYS, 3, seed=8, out=tmp_path)
    assert len(rows(tmp_path)) == 3, "in the place of the earlier one"


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL to send")
@pytest.mark.parametrize("damage", [b"", b'6,12.5,3,"half a li'])
def test_a_sweep_goes_on_after_a_kill(tiny: dict[str, Any], tmp_path: Path, damage: bytes) -> None:
    whole = muslin.sweep(tiny, KEYS, 60, seed=7, out=tmp_path / "whole")
    program = """
import sys, json, muslin
keys, tiny = json.loads(sys.argv[1])
muslin.sweep(tiny, keys, 60, seed=7, out="killed", jobs=2, progress=lambda done, failed: print(done, flush=True))
"""
    words = [sys.executable, "-c", program, json.dumps([KEYS, tiny])]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None
        for _ in range(5):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    with open(tmp_path / "killed/samples.csv", "ab") as file:
        file.write(damage)
    table = muslin.sweep(tiny, KEYS, 60, seed=7, out=tmp_path / "killed", jobs=1, resume=True)
    assert rows(tmp_path / "killed") == rows(tmp_path / "whole")
    assert np.array_equal(table.positions(), whole.positions())


def test_progress_is_told_and_its_error_ends_the_sweep(tiny: dict[str, Any], tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    muslin.sweep(tiny, KEYS, 5, progress=lambda *news: told.append(news))
    assert told == [(done, 0) for done in range(1, 6)]

    def stop(done: int, failed: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        muslin.sweep(tiny, KEYS, 100_000, out=tmp_path / "out", progress=stop)
    assert 1 <= len(rows(tmp_path / "out")) < 100_000
