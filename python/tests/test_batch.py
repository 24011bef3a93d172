"""Worlds that are stepped together: the bits of each are those of a world alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import muslin

KEY = "cloth.0.material.stretch.stiffness"


def test_each_world_has_the_bits_of_a_simulation(tiny: dict[str, Any]) -> None:
    values = np.geomspace(10, 1e4, 6)
    batch = muslin.Batch(tiny, 6, vary={KEY: values, "solver.substeps": [4, 4, 5, 5, 6, 6]}, threads=2)
    batch.advance()
    batch.advance(4)
    for world in range(6):
        scene = muslin.Scene(tiny)
        scene[KEY] = values[world]
        scene["solver.substeps"] = 4 + world // 2
        sim = muslin.Simulation(scene, threads=1)
        sim.advance(5)
        assert batch.hash[world] == sim.hash
        assert np.array_equal(batch.positions("sheet")[world], sim.positions())
        assert np.array_equal(batch.velocities(world=world), sim.velocities())
        assert batch.diagnose()[world].keys() == sim.diagnose().keys()
    assert len(set(batch.hash)) == 6 and len(batch) == 6
    x = batch.positions("sheet")
    assert (x.shape, x.dtype) == ((6, 25, 3), np.float32)
    assert batch.normals().shape == (6, 25, 3) and batch.triangles().shape == (32, 3)
    assert repr(batch) == "Batch('tiny', 6 worlds, threads=2)"


def test_worlds_are_chosen_by_a_mask_or_by_numbers(tiny: dict[str, Any]) -> None:
    batch = muslin.Batch(tiny, 4)
    start = batch.hash
    batch.advance(2, worlds=[1, 3])
    assert batch.frame.tolist() == [0, 2, 0, 2] and np.allclose(batch.time, [0, 0.02, 0, 0.02])
    batch.reset(np.array([False, True, False, False]))
    assert batch.frame.tolist() == [0, 0, 0, 2] and batch.hash[:3] == start[:3]
    batch.reset()
    assert batch.hash == start


def test_worlds_are_set_and_led_each_in_its_way(tiny: dict[str, Any]) -> None:
    batch = muslin.Batch(tiny, 3)
    x = batch.positions() + np.linspace(0, 1, 3, dtype=np.float32)[:, None, None]
    batch.set_positions("sheet", x)
    batch.set_velocities("sheet", np.zeros((3, 25, 3)))
    assert np.array_equal(batch.positions(), x)
    targets = x[:, [4, 20]] + np.float32([0, 0.01, 0])
    batch.pin("sheet", [4, 20], targets)
    batch.advance()
    assert np.allclose(batch.positions()[:, [4, 20]], targets, atol=1e-6)
    batch.pin("sheet", [4], [[0.5, 0.5, -0.5]])
    batch.advance()
    assert np.allclose(batch.positions()[:, 4], [0.5, 0.5, -0.5], atol=1e-6), "one for all"
    batch.release("sheet", [4, 20])
    held = batch.positions()
    batch.advance(3)
    assert (batch.positions()[:, 20, 1] < held[:, 20, 1]).all()
    before = batch.hash
    batch.move("ball", np.zeros((3, 3)), turn=[0.0, 1.0, 2.0])
    batch.move("ball", [0, 0, 0], 0.0)
    assert batch.hash == before
    with pytest.raises(ValueError, match=r"positions must have the shape \(3, 25, 3\), but have \(25, 3\)"):
        batch.set_positions("sheet", x[0])
    with pytest.raises(IndexError, match="worlds: 3 is out of range"):
        batch.advance(worlds=[3])
    with pytest.raises(ValueError, match="turn must be one number, or 3"):
        batch.move("ball", turn=[1.0])


def test_states_continue_to_the_same_bits(tiny: dict[str, Any]) -> None:
    batch = muslin.Batch(tiny, 3, vary={KEY: [10.0, 100.0, 1000.0]})
    batch.advance(2)
    states = batch.state()
    batch.advance(2)
    after = batch.hash
    batch.restore(states, worlds=[0, 2])
    assert batch.frame.tolist() == [2, 4, 2]
    batch.advance(2, worlds=[0, 2])
    assert batch.hash == after
    with pytest.raises(ValueError, match="2 states for 3 worlds"):
        batch.restore(states[:2])
    with pytest.raises(ValueError, match="world 0: the state is of another scene"):
        batch.restore(states[::-1])


def test_worlds_may_have_meshes_of_their_own(tiny: dict[str, Any]) -> None:
    batch = muslin.Batch(tiny, 2, vary={"cloth.0.grid.cells": [[4, 4], [6, 5]]})
    batch.advance()
    assert batch.positions(world=0).shape == (25, 3) and batch.positions(world=1).shape == (42, 3)
    with pytest.raises(ValueError, match="different meshes: 25 vertices in world 0 and 42 in world 1; .* world=1"):
        batch.positions()
    with pytest.raises(IndexError, match="there is no world 2; the batch has 2"):
        batch.positions(world=2)


def test_a_world_that_fails_does_not_stop_the_others(tiny: dict[str, Any]) -> None:
    tiny["solver"] = {"kind": "explicit", "substeps": 100}
    tiny["contact"] = {"self_contact": False}
    batch = muslin.Batch(tiny, 3, vary={KEY: [1.0, 1e11, 1.0]})
    with pytest.raises(muslin.StepError, match=r"^world 1: .*stability limit") as caught:
        batch.advance(50)
    assert caught.value.worlds == [1]
    frames = batch.frame
    assert frames[0] == frames[2] == frames[1] + 1
    batch.advance(worlds=[0, 2])


def test_wrong_worlds_are_refused(tiny: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="count must be 1 or more, got 0"):
        muslin.Batch(tiny, 0)
    with pytest.raises(ValueError, match=r"must have 3 values, one a world, but has 2"):
        muslin.Batch(tiny, 3, vary={KEY: [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"must have 3 values, one a world, but has one value"):
        muslin.Batch(tiny, 3, vary={KEY: 1.0})
    with pytest.raises(muslin.SceneError, match=r"cloth\[0\]\.material\.stretch\.stiffness: must be .* got -1"):
        muslin.Batch(tiny, 2, vary={KEY: [1.0, -1.0]})
    with pytest.raises(muslin.SceneError, match=r"unknown key"):
        muslin.Batch(tiny, 2, vary={"cloth.0.scael": [1.0, 1.0]})
