"""What a user may write, for the type checker: `mypy --strict` must know every name and type."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

import muslin


def settle(scene: muslin.Scene, frames: int) -> npt.NDArray[np.float32]:
    sim = muslin.Simulation(scene, threads=2)
    while sim.frame < frames:
        sim.advance()
        if float(sim.diagnose()["max_speed"]) < 1e-3:
            break
    seconds: float = sim.time
    digits: str = sim.hash
    print(f"{seconds:.2f} s, {digits}")
    return sim.positions("sheet")


def lift(sim: muslin.Simulation, corners: list[int]) -> bytes:
    x = sim.positions("sheet")
    sim.set_positions("sheet", x)
    sim.set_velocities("sheet", np.zeros_like(x))
    sim.pin("sheet", corners, x[corners] + np.array([0.0, 0.1, 0.0], np.float32))
    sim.move("ball", [0.0, 0.1, 0.0], 10.0)
    sim.release("sheet", corners)
    state: bytes = sim.state()
    sim.restore(state)
    return state


def many(path: Path) -> npt.NDArray[np.float32]:
    scene = muslin.Scene(path)
    scene["solver"]["kind"] = "xpbd"
    stiffness = np.geomspace(1e-6, 1e-4, 64)
    batch = muslin.Batch(scene, 64, vary={"cloth.0.material.bend.stiffness": stiffness})
    batch.advance()
    batch.reset(batch.time > 1.0)
    try:
        table = muslin.sweep(scene, {"cloth.0.material.density": (0.1, 0.3)}, samples=10, seed=1)
    except muslin.SceneError as error:
        print(error.findings[0]["path"])
        raise
    print(len(table), table["max_strain"].max())
    return batch.positions("sheet")
