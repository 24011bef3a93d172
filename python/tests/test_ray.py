"""Sweeps on a Ray cluster of three nodes on this machine, one of which dies: the rows are those of this machine alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
from ray.cluster_utils import Cluster
from test_sweep import KEYS, rows

import muslin

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 100_000_000})
    for _ in range(2):
        cluster.add_node(num_cpus=1, object_store_memory=100_000_000)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def test_a_node_dies_and_the_table_is_that_of_one_machine(cluster: Cluster, tiny: dict[str, Any], tmp_path: Path) -> None:
    # Some of the samples fail, and meshes differ.
    vary = {**KEYS, "cloth.0.grid.cells.0": (3, 5), "cloth.0.material.density": (-0.02, 0.2)}
    local = muslin.sweep(tiny, vary, 120, seed=5, out=tmp_path / "local")
    killed = threading.Event()

    def kill(done: int, failed: int) -> None:
        if not killed.is_set():
            killed.set()
            cluster.remove_node(sorted(cluster.worker_nodes, key=lambda node: node.unique_id)[0], allow_graceful=False)

    table = muslin.sweep(
        tiny, vary, 120, seed=5, engine="ray", address=cluster.address, out=tmp_path / "ray", progress=kill
    )
    assert killed.is_set() and 0 < table.failed.sum() < 120
    assert rows(tmp_path / "ray") == rows(tmp_path / "local")
    assert np.array_equal(table.positions(), local.positions(), equal_nan=True)
    for sample in range(120):
        assert np.array_equal(table.positions(sample=sample), local.positions(sample=sample), equal_nan=True)

    # What is left of a sweep that was begun on one machine, and one into memory.
    lines = (tmp_path / "local/samples.csv").read_bytes().splitlines(keepends=True)
    (tmp_path / "local/samples.csv").write_bytes(b"".join(lines[:50]))
    muslin.sweep(tiny, vary, 120, seed=5, engine="ray", address=cluster.address, out=tmp_path / "local", resume=True)
    assert rows(tmp_path / "local") == rows(tmp_path / "ray")
    memory = muslin.sweep(tiny, vary, 120, seed=5, engine="ray", address=cluster.address)
    assert np.array_equal(memory["state_hash"], table["state_hash"])
    assert np.array_equal(memory.positions(), table.positions(), equal_nan=True)


def test_meshes_go_with_the_scene(tmp_path: Path) -> None:
    from muslin._ray import with_its_meshes

    (tmp_path / "mine.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n", encoding="utf-8")
    (tmp_path / "mine.toml").write_text("[[cloth]]\nmesh = 'mine.obj'\n", encoding="utf-8")
    scene = with_its_meshes(muslin.Scene(tmp_path / "mine.toml"), [])
    (tmp_path / "mine.obj").unlink()
    assert scene.check() == []
    (tmp_path / "other.obj").write_text("v 0 0 0\nv 2 0 0\nv 0 0 1\nf 1 3 2\n", encoding="utf-8")
    scene = with_its_meshes(scene, [("cloth.0.mesh", ['"other.obj"'])])
    assert set(scene._files) == {"mine.obj", "other.obj"}
    moving = {"mesh": {"file": "mine.obj", "frames": "*.obj"}}
    scene["collider"] = [moving]
    with pytest.raises(ValueError, match=r"\*.obj stands for several files"):
        with_its_meshes(scene, [])
    assert with_its_meshes(muslin.Scene("tunic"), []).check() == muslin.Scene("tunic").check()
