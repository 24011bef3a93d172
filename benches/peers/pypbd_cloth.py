"""pyPBD, the Python module of the PositionBasedDynamics library.

    python pypbd_cloth.py WORK.json OUT

Settings:

    substeps      in a frame (or `stable_part`, see `common.py`): NUM_SUB_STEPS of its controller
    iterations    in a substep: MAX_ITERATIONS
    rows          for "rows": "distance" (edges, and distances of the apexes of hinges, rigid), "dihedral", "isometric" (hinges only)

Edges are `DistanceConstraint_XPBD` with the work's own constants. There is no bending in the motions: pyPBD's stiffness of bending is of another
kind (XPBD on the square of an energy, or PBD's k), and leaving it out makes it faster. Bodies are its signed distance fields, with its friction and
its stiffness of contact; it has no self-contact of cloth and no wind. Its numbers are doubles. OpenMP has one thread.
"""

import common  # Before NumPy and pyPBD: it says how many threads they may use.

import tempfile
from pathlib import Path

import numpy as np
import pypbd

# A constraint of XPBD that is rigid, as good as: the library divides by the stiffness.
RIGID = 1e12

CUBE = """v -0.5 -0.5 -0.5
v -0.5 -0.5 0.5
v -0.5 0.5 -0.5
v -0.5 0.5 0.5
v 0.5 -0.5 -0.5
v 0.5 -0.5 0.5
v 0.5 0.5 -0.5
v 0.5 0.5 0.5
f 1 2 4
f 1 4 3
f 5 7 8
f 5 8 6
f 1 5 6
f 1 6 2
f 3 4 8
f 3 8 7
f 1 3 7
f 1 7 5
f 2 6 8
f 2 8 4
"""


class Peer:
    def __init__(self, work: common.Work) -> None:
        if work.self_contact:
            raise NotImplementedError("no self-contact of cloth")
        if work.wind:
            raise NotImplementedError("no wind")
        self.substeps, self.iterations = work.substeps(5), work.setting("iterations", 1)
        self.settings = {"substeps": self.substeps, "iterations": self.iterations}
        self.notes, self.counts = "", {"projections": 0, "iterations": 0}
        simulation = pypbd.Simulation.getCurrent()
        simulation.initDefault()
        self.model = model = simulation.getModel()
        self.stepper = stepper = simulation.getTimeStep()
        # With `testMesh` its particles are tested against bodies.
        model.addTriangleModel(work.vertices, work.triangles.flatten().tolist(), testMesh=bool(work.bodies))
        particles = self.particles = model.getParticles()
        masses = work.masses.copy()
        masses[work.pins] = 0.0
        for vertex, mass in enumerate(masses.tolist()):
            particles.setMass(vertex, mass)
        rows = work.setting("rows", "")
        hinges = work.hinges.tolist()
        if rows in ("", "distance"):
            stiffness = work.edge_stiffness if not rows else np.full(len(work.edges), RIGID)
            for (a, b), k in zip(work.edges.tolist(), stiffness.tolist()):
                model.addDistanceConstraint_XPBD(a, b, k)
        if rows == "distance":
            for _, _, c, d in hinges:
                model.addDistanceConstraint_XPBD(c, d, RIGID)
        elif rows == "dihedral":
            for a, b, c, d in hinges:
                model.addDihedralConstraint(c, d, a, b, 0.01)
        elif rows == "isometric":
            for a, b, c, d in hinges:
                model.addIsometricBendingConstraint_XPBD(c, d, a, b, 1.0)
        elif rows:
            raise NotImplementedError(f"no rows {rows}")
        if work.bodies:
            self.add_bodies(work)
        stepper.setValueUInt(pypbd.TimeStepController.NUM_SUB_STEPS, self.substeps)
        stepper.setValueUInt(pypbd.TimeStepController.MAX_ITERATIONS, self.iterations)
        pypbd.TimeManager.getCurrent().setTimeStepSize(1.0 / work.fps)
        model.initConstraintGroups()
        groups = model.getConstraintGroups()
        self.rows = sum(len(group) for group in groups)
        self.settings["colours"] = len(groups)

    def add_bodies(self, work: common.Work) -> None:
        """Bodies as its analytic distance fields: a ball, and a slab for the floor. Each is a rigid body without motion, whose mesh is only for show."""
        detection = self.stepper.getCollisionDetection()
        detection.setTolerance(work.thickness)
        triangles = self.model.getTriangleModels()[0]
        triangles.setFrictionCoeff(work.bodies[0]["friction"])
        triangles.setRestitutionCoeff(0.0)
        with tempfile.TemporaryDirectory() as folder:
            cube = Path(folder) / "cube.obj"
            cube.write_text(CUBE)
            for index, body in enumerate(work.bodies):
                if body.get("spin"):
                    raise NotImplementedError("no bodies that turn")
                is_ball = body["kind"] == "sphere"
                size = [2 * body["radius"]] * 3 if is_ball else [20.0, 1.0, 20.0]
                center = body["center"] if is_ball else np.array(body["point"]) - [0, 0.5, 0]
                vertices, mesh = pypbd.OBJLoader.loadObjToMesh(str(cube), size)
                rigid = self.model.addRigidBody(1.0, vertices, mesh, translation=center)
                rigid.setMass(0.0)
                rigid.setFrictionCoeff(body["friction"])
                rigid.setRestitutionCoeff(0.0)
                kind = pypbd.CollisionObject.RigidBodyCollisionObjectType
                shown = rigid.getGeometry().getVertexDataLocal()
                if is_ball:
                    detection.addCollisionSphere(index, kind, shown, 0, shown.size(), body["radius"], False, False)
                else:
                    detection.addCollisionBox(index, kind, shown, 0, shown.size(), size, False, False)
        self.model.setContactStiffnessParticleRigidBody(work.setting("contact", 100.0))

    def step(self) -> None:
        self.stepper.step(self.model)
        self.counts["iterations"] += self.substeps * self.iterations
        self.counts["projections"] += self.substeps * self.iterations * self.rows

    def positions(self) -> np.ndarray:
        return np.array(self.particles.getVertices())


if __name__ == "__main__":
    common.main("pypbd", ["pyPBD", "numpy"], Peer)
