"""Muslin: a cloth simulator that runs on plain CPU cores and never lets cloth through cloth.

>>> import muslin
>>> scene = muslin.Scene("hanging")
>>> scene["cloth"][0]["grid"]["cells"] = [8, 8]
>>> sim = muslin.Simulation(scene, threads=1)
>>> sim.advance()
>>> sim.positions().shape
(81, 3)

Everything is in SI units (m, kg, s, N, J), turns are in degrees, and +y is up. Messages go to `logging`, by the name `muslin`.
"""

from ._batch import Batch
from ._errors import SceneError, StepError
from ._muslin import Simulation, __version__
from ._run import run
from ._scene import Scene, scenes
from ._sweep import Table, sweep

__all__ = [
    "Batch",
    "Scene",
    "SceneError",
    "Simulation",
    "StepError",
    "Table",
    "__version__",
    "run",
    "scenes",
    "sweep",
]
