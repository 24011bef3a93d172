"""The same cloth as a deformable of Bullet, through PyBullet.

    python pybullet_cloth.py WORK.json OUT

A mass-spring cloth from an OBJ file, in the deformable world. Bullet gives all vertices the same mass, and every edge the force
k (l − l₀) with one k for all (`springElasticStiffness`, in N/m); by default k is the median of the work's. Bending is springs between the apexes of
neighbouring triangles (`springBendingStiffness`), which at a flat rest shape have no rigidity: not the work's B.
Held vertices are anchors to the world. There is no wind on deformables.
"""

import math
import tempfile
from pathlib import Path

import common
import numpy as np
import pybullet

NOTES = "Bullet gives all vertices the same mass and all edges the same spring constant; its bending springs have no rigidity when flat. "

# The settings are in `xtask/src/peers/settings.rs`, each with its reason, and what came out at 32 vertices a side of "hang" on a busy machine: milliseconds of one thread, strain (limit 1 %), distance from the converged
# motion (limit 2 cm). No key of PyBullet was found that takes springs implicitly: steps must be as short as springs ask for. At 240 steps it explodes.


class Bullet:
    def __init__(self, work: common.Work) -> None:
        if work.wind is not None:
            raise NotImplementedError("PyBullet has no wind on deformables, and no forces on single vertices")
        self.work, self.notes, self.seconds = work, NOTES, 0.0
        self.counts = {"steps": 0}
        self.settings = settings = {
            "substeps": 4, "spring": float(np.median(work.edge_stiffness)), "damping": 0.1, "damping_all": 0, "bending": 0.1, "use_bending": 1,
            "face_contact": 1, "margin": 0.5 * work.thickness, "repulsion": 0.5, "voxel": 0.25, **work.settings,
        }
        if "stable_part" in settings:
            # Springs are explicit: as many steps as the stiffest of the work asks for.
            settings["substeps"] = math.ceil(settings["stable_part"] / work.fps / work.stable_step)
        pybullet.connect(pybullet.DIRECT)
        pybullet.resetSimulation(pybullet.RESET_USE_DEFORMABLE_WORLD)
        pybullet.setGravity(*work.gravity)
        pybullet.setTimeStep(1 / work.fps / settings["substeps"])
        pybullet.setPhysicsEngineParameter(sparseSdfVoxelSize=settings["voxel"])
        self.balls = []
        for body in work.bodies:
            self.add(body)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cloth.obj"
            lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in work.vertices.tolist()]
            lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in work.triangles.tolist()]
            path.write_text("\n".join(lines) + "\n")
            self.cloth = pybullet.loadSoftBody(
                str(path), mass=float(work.masses.sum()), scale=1, useMassSpring=1, useNeoHookean=0,
                useBendingSprings=settings["use_bending"], springElasticStiffness=settings["spring"],
                springDampingStiffness=settings["damping"], springDampingAllDirections=settings["damping_all"],
                springBendingStiffness=settings["bending"], collisionMargin=settings["margin"], frictionCoeff=work.friction,
                useSelfCollision=int(work.self_contact), useFaceContact=settings["face_contact"],
                repulsionStiffness=settings["repulsion"],
            )
        for pin in work.pins:
            pybullet.createSoftBodyAnchor(self.cloth, int(pin), -1, -1)
        self.order = self.find_order()

    def find_order(self) -> np.ndarray:
        """Where our vertices are among Bullet's: its loader may renumber them."""
        found = self.raw()
        if len(found) != len(self.work.vertices):
            raise ValueError(f"Bullet has {len(found)} vertices, not {len(self.work.vertices)}")
        if np.abs(found - self.work.vertices).max() < 1e-5:
            return np.arange(len(found))
        key = lambda x: {tuple(np.round(p, 5)): i for i, p in enumerate(x)}
        place = key(found)
        return np.array([place[tuple(np.round(p, 5))] for p in self.work.vertices])

    def add(self, body: dict) -> None:
        if body["kind"] == "plane":
            # A box: cloth stays 10 cm above its planes.
            shape = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[5, 0.5, 5])
            thing = pybullet.createMultiBody(0, shape, basePosition=[body["point"][0], body["point"][1] - 0.5, body["point"][2]])
        elif body["kind"] == "sphere":
            shape = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=body["radius"])
            thing = pybullet.createMultiBody(0, shape, basePosition=body["center"])
        else:
            raise ValueError(f"there is no body {body['kind']}")
        pybullet.changeDynamics(thing, -1, lateralFriction=body["friction"])
        if body.get("spin"):
            self.balls.append((thing, body))

    def step(self) -> None:
        length = 1 / self.work.fps / self.settings["substeps"]
        for _ in range(self.settings["substeps"]):
            self.seconds += length
            for thing, body in self.balls:
                before, now = common.turn(body, self.seconds - length), common.turn(body, self.seconds)
                axis = np.array(body["spin"]["axis"], dtype=float)
                orientation = [*(math.sin(0.5 * now) * axis), math.cos(0.5 * now)]
                pybullet.resetBasePositionAndOrientation(thing, body["center"], orientation)
                pybullet.resetBaseVelocity(thing, [0, 0, 0], ((now - before) / length * axis).tolist())
            pybullet.stepSimulation()
            self.counts["steps"] += 1

    def raw(self) -> np.ndarray:
        return np.array(pybullet.getMeshData(self.cloth, -1, flags=pybullet.MESH_DATA_SIMULATION_MESH)[1])

    def positions(self) -> np.ndarray:
        return self.raw()[getattr(self, "order", slice(None))]


if __name__ == "__main__":
    common.main("pybullet", ["pybullet"], Bullet)
