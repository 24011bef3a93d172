"""A simulation that is stepped: arrays out and in, pins, colliders, states, and threads of Python."""

from __future__ import annotations

import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import muslin


@pytest.fixture
def sim(tiny: dict[str, Any]) -> muslin.Simulation:
    return muslin.Simulation(tiny, threads=1)


def test_a_frame(sim: muslin.Simulation) -> None:
    assert (sim.frame, sim.time, sim.frame_count, sim.threads) == (0, 0.0, 10, 1)
    sim.advance()
    sim.advance(4)
    assert (sim.frame, sim.time) == (5, 0.05)
    assert re.fullmatch("[0-9a-f]{16}", sim.hash)
    assert repr(sim) == 'Simulation("tiny", frame 5 at 0.0500 s, sheet with 25 vertices, threads=1)'


def test_arrays_are_numbered_as_the_mesh_and_belong_to_whoever_asked(sim: muslin.Simulation) -> None:
    x = sim.positions("sheet")
    assert (x.shape, x.dtype, x.flags.c_contiguous, x.flags.writeable) == ((25, 3), np.float32, True, True)
    # Row by row along z, from the corner at (-0.5, 0.3, -0.5).
    j, i = np.divmod(np.arange(25), 5)
    assert np.allclose(x, np.stack([i / 4 - 0.5, np.full(25, 0.3), j / 4 - 0.5], axis=1), atol=1e-7)
    kept = x.copy()
    sim.advance()
    assert np.array_equal(x, kept), "a later frame does not change it"
    x[:] = 7.0
    assert sim.positions().max() < 1.0, "nor does it change the simulation"
    assert x.base is not None, "the memory was handed over, not copied"
    t = sim.triangles("sheet")
    assert (t.shape, t.dtype, t.min(), t.max()) == ((32, 3), np.int32, 0, 24)
    n = sim.normals("sheet")
    assert np.allclose(np.linalg.norm(n, axis=1), 1.0, atol=1e-6) and (n[:, 1] > 0).all()
    v = sim.velocities("sheet")
    assert v.dtype == np.float32 and (v[1:, 1] < 0).all() and (v[0] == 0).all()


def test_a_cloth_is_its_name_or_its_number_or_the_only_one(tiny: dict[str, Any]) -> None:
    tiny["cloth"].append({**tiny["cloth"][0], "name": "other", "translate": [0, 2, 0]})
    sim = muslin.Simulation(tiny, threads=1)
    assert np.array_equal(sim.positions("other"), sim.positions(1)) and sim.cloths == ["sheet", "other"]
    with pytest.raises(ValueError, match="has 2 cloths: say which"):
        sim.positions()
    with pytest.raises(ValueError, match='there is no cloth "shet"; the scene has'):
        sim.positions("shet")
    with pytest.raises(IndexError, match="there is no cloth 2; the scene has 2"):
        sim.positions(2)


def test_wrong_numbers_are_refused(sim: muslin.Simulation, tiny: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="threads must be from 1 to 256, got 0"):
        muslin.Simulation(tiny, threads=0)
    with pytest.raises(ValueError, match="frames must be 0 or more, got -1"):
        sim.advance(-1)
    with pytest.raises(IndexError, match="there is no number -1; they count from 0"):
        sim.positions(-1)
    with pytest.raises(TypeError, match="named by a str or an int, not by <class 'float'>"):
        sim.positions(1.5)  # type: ignore[arg-type]


def test_other_libraries_read_the_arrays_through_dlpack(sim: muslin.Simulation) -> None:
    x = sim.positions()
    other = np.from_dlpack(x)
    assert np.shares_memory(x, other) and np.array_equal(x, other)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_positions_and_velocities_are_set(sim: muslin.Simulation, dtype: type) -> None:
    x = (sim.positions() + np.float32([0, 1, 0])).astype(dtype)
    v = np.full((25, 3), 0.25, dtype)
    sim.set_positions("sheet", x)
    sim.set_velocities("sheet", v)
    assert np.array_equal(sim.positions(), x.astype(np.float32)) and np.array_equal(sim.velocities(), v)
    sim.set_positions("sheet", np.asfortranarray(x))
    sim.set_positions("sheet", x.tolist())
    assert np.array_equal(sim.positions(), x.astype(np.float32))


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        (np.zeros((3, 25)), ValueError, r"must have the shape \(25, 3\), a row a vertex of cloth \"sheet\", but have \(3, 25\)"),
        (np.zeros(75), ValueError, r"but have \(75,\)"),
        (np.zeros((24, 3)), ValueError, r"but have \(24, 3\)"),
        (np.zeros((25, 3), complex), TypeError, "must be of float32 or float64, but are of complex128"),
        (np.zeros((25, 3), bool), TypeError, "but are of bool"),
        ([["a", "b", "c"]] * 25, TypeError, "must be of float32 or float64"),
        ([[1.0], [1.0, 2.0]], TypeError, "must be an array of numbers"),
        (None, TypeError, "must be of float32 or float64"),
        (np.full((25, 3), np.nan), ValueError, "must be finite, but row 0 is"),
    ],
)
def test_wrong_arrays_are_refused(sim: muslin.Simulation, values: Any, error: type[Exception], words: str) -> None:
    before = sim.hash
    for put in (sim.set_positions, sim.set_velocities):
        with pytest.raises(error, match=words):
            put("sheet", values)
    assert sim.hash == before


def test_positions_in_which_cloth_cuts_are_refused(tiny: dict[str, Any]) -> None:
    tiny["cloth"].append({**tiny["cloth"][0], "name": "other", "translate": [0, 2, 0]})
    sim = muslin.Simulation(tiny, threads=1)
    x = sim.positions("other")
    x[:, 1] += x[:, 0] - 1.7
    with pytest.raises(ValueError, match="triangles cut each other"):
        sim.set_positions("other", x)


def test_pins_lead_and_release(sim: muslin.Simulation) -> None:
    x = sim.positions()[[4, 24]]
    for frame in range(1, 4):
        targets = x + np.float32([0, 0.01 * frame, 0])
        sim.pin("sheet", [4, 24], targets)
        sim.advance()
        assert np.allclose(sim.positions()[[4, 24]], targets, atol=1e-6)
    sim.advance()
    mask = np.zeros(25, bool)
    mask[4] = True
    sim.release("sheet", mask)
    sim.release("sheet", np.array([0]))
    held = sim.positions()
    sim.advance(3)
    now = sim.positions()
    assert np.array_equal(now[24], held[24]) and now[4, 1] < held[4, 1] and now[0, 1] < held[0, 1]
    sim.pin("sheet", 12)
    held = sim.positions()[12]
    sim.advance()
    assert np.allclose(sim.positions()[12], held, atol=1e-6), "held where it was"


@pytest.mark.parametrize(
    ("vertices", "targets", "error", "words"),
    [
        ([25], None, IndexError, '"sheet": 25 is out of range, they are 0 to 24'),
        ([-1], None, IndexError, "-1 is out of range"),
        ([0.5], None, TypeError, "must be whole numbers or a mask"),
        ([True, False], None, ValueError, r"a mask .* must have the shape \(25,\)"),
        ([[0], [1]], None, ValueError, "must have one axis"),
        ([0, 1], np.zeros((3, 3)), ValueError, r"targets must have the shape \(2, 3\)"),
        ([0], [[0, np.inf, 0]], ValueError, "targets must be finite"),
    ],
)
def test_wrong_pins_are_refused(
    sim: muslin.Simulation, vertices: Any, targets: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        sim.pin("sheet", vertices, targets)


def test_a_collider_is_moved_and_turned(tiny: dict[str, Any]) -> None:
    tiny["cloth"][0]["pins"] = []
    sim, still = muslin.Simulation(tiny, threads=1), muslin.Simulation(tiny, threads=1)
    for frame in range(1, 21):
        sim.move("ball", [0, 0.01 * frame, 0], 9.0 * frame)
        sim.advance()
        still.advance()
    assert sim.positions()[12, 1] > still.positions()[12, 1] + 0.1, "the ball lifts the sheet"
    # Friction turns the sheet about +y with the ball: the corner at +x +z goes to +x.
    corner, other = sim.positions()[24], still.positions()[24]
    assert (corner[0] - corner[2]) - (other[0] - other[2]) > 1e-3
    sim.move("ball", turn=0.0)
    sim.move(0, offset=(0, 0, 0))
    with pytest.raises(ValueError, match='there is no collider "bal"; the scene has'):
        sim.move("bal", [0, 0, 0])
    with pytest.raises(ValueError, match=r"offset must have the shape \(1, 3\), or be three numbers"):
        sim.move("ball", [0, 0])
    with pytest.raises(ValueError, match="turn must be finite"):
        sim.move("ball", turn=np.inf)


def test_a_state_continues_to_the_same_bits(tiny: dict[str, Any]) -> None:
    sim = muslin.Simulation(tiny, threads=1)
    sim.pin("sheet", [4], sim.positions()[[4]] + np.float32([0, 0.1, 0]))
    sim.move("ball", [0, 0.02, 0], 5.0)
    sim.advance(3)
    state = pickle.loads(pickle.dumps(sim.state()))
    assert isinstance(state, bytes)
    sim.advance(3)
    after = sim.hash
    sim.restore(state)
    assert (sim.frame, sim.time) == (3, 0.03)
    sim.advance(3)
    assert sim.hash == after
    for threads in (1, 2):
        other = muslin.Simulation(tiny, threads=threads)
        other.restore(state)
        other.advance(3)
        assert other.hash == after


def test_a_wrong_state_is_refused(sim: muslin.Simulation, tiny: dict[str, Any]) -> None:
    sim.advance()
    before, state = sim.hash, sim.state()
    for wrong in (b"", b"x" * 100, state[:-1], state[:50], state[:200] + b"\x00" + state[201:]):
        with pytest.raises(ValueError, match="not the bytes of a state"):
            sim.restore(wrong)
    other = muslin.Simulation({**tiny, "gravity": [0, -1, 0]}, threads=1)
    with pytest.raises(ValueError, match="of another scene"):
        other.restore(state)
    with pytest.raises(TypeError):
        sim.restore("text")  # type: ignore[arg-type]
    assert sim.hash == before


def test_reset(sim: muslin.Simulation) -> None:
    start = sim.hash
    sim.pin("sheet", [7])
    sim.advance(2)
    sim.reset()
    assert (sim.hash, sim.frame) == (start, 0)


def test_the_result_does_not_depend_on_threads() -> None:
    hashes = []
    for threads in (1, 2, 3):
        sim = muslin.Simulation("hanging", threads=threads)
        sim.advance(4)
        hashes.append(sim.hash)
    assert len(set(hashes)) == 1


def test_diagnose_has_the_keys_of_a_frame(sim: muslin.Simulation) -> None:
    sim.advance(2)
    frame = sim.diagnose()
    assert (frame["frame"], frame["time"], frame["substeps"]) == (2, 0.02, 4)
    assert set(frame["work"]) == {"pins", "bodies", "wind"} and frame["unsolved"] is None
    assert 0 < frame["max_speed"] < 1 and isinstance(frame["contacts"], int)


def test_a_step_that_cannot_be_done(tiny: dict[str, Any]) -> None:
    tiny["solver"] = {"kind": "explicit", "substeps": 1}
    tiny["cloth"][0]["material"] = {"stretch": {"model": "spring", "stiffness": 1e7}}
    sim = muslin.Simulation(tiny, threads=1)
    with pytest.raises(muslin.StepError, match=r"frame \d+, after .* s: vertex .* use .*substeps"):
        sim.advance(100)
    frame, state = sim.frame, sim.hash
    with pytest.raises(muslin.StepError):
        sim.advance()
    assert (sim.frame, sim.hash) == (frame, state), "the state is that of the frame before"


def test_warnings_are_logged(tiny: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    tiny["contact"] = {"self_contact": False, "start": "untangle"}
    with caplog.at_level(logging.WARNING, "muslin"):
        sim = muslin.Simulation(tiny, threads=1)
    assert "contact.start" in caplog.text and [record.getMessage() for record in caplog.records] == sim.warnings


def test_threads_of_python_run_while_a_frame_is_computed() -> None:
    sim = muslin.Simulation("drape", threads=1)
    turns = 0
    worker = threading.Thread(target=sim.advance, args=(2,))
    worker.start()
    while worker.is_alive():
        turns += 1
    assert turns > 1000, "this thread waited for the frame"


def test_threads_of_python_share_a_simulation(sim: muslin.Simulation) -> None:
    workers = [threading.Thread(target=sim.advance, args=(20,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        assert sim.positions().shape == (25, 3)
    assert sim.frame == 80


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send")
def test_ctrl_c_ends_a_long_advance() -> None:
    program = """
import muslin
sim = muslin.Simulation("drape", threads=1)
sim.advance()
try:
    print("on", flush=True)
    sim.advance(100_000)
except KeyboardInterrupt:
    print("frame", sim.frame, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "on\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline().startswith("frame ")
    assert process.returncode == 0


def test_a_notebook_shows_the_cloths(tiny: dict[str, Any]) -> None:
    tiny["cloth"].append({**tiny["cloth"][0], "name": "other", "translate": [0, 2, 0]})
    sim = muslin.Simulation(tiny, threads=1)
    page = ElementTree.fromstring(sim._repr_html_())
    paths = page.findall(".//{http://www.w3.org/2000/svg}path")
    assert len(paths) == 64 and page.findtext("figcaption") == repr(sim)
    sides = [float(page[0].get(side, "nan")) for side in ("width", "height")]
    assert max(sides) == 480
    for path in paths:
        places = np.array(re.findall(r"[\d.]+", path.get("d", "")), float).reshape(3, 2)
        assert (places >= 0).all() and (places <= np.array(sides) + 1).all()
    # The other sheet is above, and its middle is drawn so.
    x, y = np.array([re.findall(r"[\d.]+", path.get("d", ""))[:2] for path in paths], float).T
    above = np.array([path.get("fill", "")[1:3] < path.get("fill", "")[5:7] for path in paths])
    assert above.sum() == 32 and y[above].mean() < y[~above].mean()
    many = muslin.Simulation({"cloth": [{"grid": {"size": [1, 1], "cells": [110, 110]}}]}, threads=1)
    assert "<svg" not in many._repr_html_()


def test_nothing_is_done_at_import() -> None:
    program = """
import sys, threading
before = threading.active_count()
import muslin
assert threading.active_count() == before
assert not {"ray", "pyarrow", "torch", "PIL"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
