"""The same cloth as a two-dimensional flex of MuJoCo.

    python mujoco_flex.py WORK.json OUT
    python mujoco_flex.py --settings

The sheet is a `flexcomp` with the vertices and triangles of the work, each vertex a body with three slides. The masses of the bodies
are set to those of the work after compiling: a flexcomp gives all vertices the same.

Stretch is one of two:

    elastic     St. Venant-Kirchhoff finite elements (`elastic2d`): Young's modulus E and a thickness t with E t = youngs and
                E t³ / 12 = bend, so that stretch and bending are those of the work; t has nothing to do with contact
    equality    edges that are kept by constraints as `solref` and `solimp` say: rigid, as far as the solver gets; bending as above

MuJoCo does not put air forces on a flex (its wind acts on geoms and bodies by their inertia boxes): forces on triangles, computed here by
the formula of Muslin, go in as external forces. They count in the time.
"""

import json
import math
import sys

import common
import mujoco
import numpy as np

INTEGRATORS = {"discrete": "discrete", "implicitfast": "implicitfast", "implicit": "implicit", "euler": "Euler"}

SETTINGS: list[dict] = []


class Flex:
    def __init__(self, work: common.Work) -> None:
        self.work = work
        self.settings = settings = {
            "stretch": "elastic", "integrator": "discrete", "solver": "Newton", "substeps": 8, "iterations": 100,
            "ls_iterations": 50, "tolerance": 1e-8, "poisson": 0.0, "bend": True, "damping": 0.0, "solref": "0.02 1", "solimp": "0.9 0.95 0.001",
            "contact_solref": "0.02 1", "contact_solimp": "0.9 0.95 0.001", "jacobian": "auto", "cone": "pyramidal",
            "ipc": False, "passive": False, "warmstart": True, "island": True, "disable": "", **work.settings,
        }
        self.substeps = int(settings["substeps"])
        self.model = mujoco.MjModel.from_xml_string(self.xml())
        self.weigh()
        self.data = mujoco.MjData(self.model)
        self.balls = [(self.mocap(i), body) for i, body in enumerate(work.bodies) if body.get("spin")]
        mujoco.mj_forward(self.model, self.data)
        self.counts = {"steps": 0, "iterations": 0}
        self.notes = ""

    def xml(self) -> str:
        work, settings = self.work, self.settings
        thickness = math.sqrt(12 * work.bend / work.youngs)
        young = work.youngs / thickness
        if settings["stretch"] == "elastic":
            stretch = f'<elasticity young="{young!r}" poisson="{settings["poisson"]}" thickness="{thickness!r}" elastic2d="both" damping="{settings["damping"]}"/>'
        else:
            stretch = f'<edge equality="true" solref="{settings["solref"]}" solimp="{settings["solimp"]}"/>'
            if settings["bend"]:
                stretch += f'<elasticity young="{young!r}" poisson="0" thickness="{thickness!r}" elastic2d="bend" damping="{settings["damping"]}"/>'
        touches = work.self_contact or bool(work.bodies)
        contact = (
            f'<contact selfcollide="{"auto" if work.self_contact else "none"}" contype="{int(touches)}" conaffinity="{int(touches)}" '
            f'friction="{work.friction}" condim="3" solref="{settings["contact_solref"]}" solimp="{settings["contact_solimp"]}" '
            f'passive="{str(settings["passive"]).lower()}"/>'
        )
        flags = f'<flag ipc="{"enable" if settings["ipc"] else "disable"}" island="{"enable" if settings["island"] else "disable"}"'
        flags += "" if settings["warmstart"] else ' warmstart="disable"'
        flags += "" if touches else ' contact="disable"'
        flags += "".join(f' {flag}="disable"' for flag in settings["disable"].split())
        words = lambda numbers: " ".join(repr(float(number)) for number in np.ravel(numbers))
        pins = f'<pin id="{" ".join(map(str, work.pins))}"/>' if len(work.pins) else ""
        return f"""<mujoco>
          <option timestep="{1 / work.fps / self.substeps!r}" gravity="{words(work.gravity)}" integrator="{INTEGRATORS[settings["integrator"]]}"
            solver="{settings["solver"]}" iterations="{settings["iterations"]}" ls_iterations="{settings["ls_iterations"]}"
            tolerance="{settings["tolerance"]}" jacobian="{settings["jacobian"]}" cone="{settings["cone"]}">{flags}/></option>
          <size memory="4G"/>
          <worldbody>
            {"".join(self.body(body) for body in work.bodies)}
            <flexcomp name="cloth" type="direct" dim="2" mass="{float(work.masses.sum())!r}" radius="{0.5 * work.thickness!r}"
              point="{words(work.vertices)}" element="{" ".join(map(str, work.triangles.ravel()))}">{pins}{stretch}{contact}</flexcomp>
          </worldbody>
        </mujoco>"""

    def body(self, body: dict) -> str:
        """A body of the work: those that turn are led (mocap)."""
        # A contact has the larger friction of its two sides, here that of the body.
        own = f'friction="{body["friction"]}" condim="3" solref="{self.settings["contact_solref"]}" solimp="{self.settings["contact_solimp"]}"'
        words = lambda numbers: " ".join(repr(float(number)) for number in numbers)
        if body["kind"] == "sphere":
            led = ' mocap="true"' if body.get("spin") else ""
            return f'<body pos="{words(body["center"])}"{led}><geom type="sphere" size="{body["radius"]}" {own}/></body>'
        if body["kind"] == "capsule":
            return f'<geom type="capsule" fromto="{words([*body["a"], *body["b"]])}" size="{body["radius"]}" {own}/>'
        if body["kind"] == "plane":
            return f'<geom type="plane" size="10 10 1" pos="{words(body["point"])}" zaxis="{words(body["normal"])}" {own}/>'
        raise ValueError(f"there is no body {body['kind']}")

    def mocap(self, index: int) -> int:
        return sum(bool(body.get("spin")) for body in self.work.bodies[:index])

    def weigh(self) -> None:
        """The masses of the work."""
        model = self.model
        bodies = model.flex_vertbodyid
        free = np.setdiff1d(np.arange(len(bodies)), self.work.pins)
        part = self.work.masses[free] / model.body_mass[bodies[free]]
        model.body_mass[bodies[free]] *= part
        model.body_inertia[bodies[free]] *= part[:, None]
        mujoco.mj_setConst(model, mujoco.MjData(model))
        self.bodies = bodies
        self.free = free

    def step(self) -> None:
        model, data = self.model, self.data
        for _ in range(self.substeps):
            seconds = data.time + model.opt.timestep
            for index, body in self.balls:
                angle, axis = 0.5 * common.turn(body, seconds), np.array(body["spin"]["axis"], dtype=float)
                data.mocap_quat[index] = [math.cos(angle), *(math.sin(angle) * axis / np.linalg.norm(axis))]
            if self.work.wind is not None or self.work.damping:
                self.push()
            mujoco.mj_step(model, data)
            self.counts["steps"] += 1
            self.counts["iterations"] += int(data.solver_niter.sum())
        if data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number:
            raise ArithmeticError("MuJoCo reset itself: accelerations were not finite or too large")

    def push(self) -> None:
        """Forces of the air, and the damping of all motion, on the vertices."""
        raise NotImplementedError

    def positions(self) -> np.ndarray:
        return self.data.flexvert_xpos.copy()


if __name__ == "__main__":
    if sys.argv[1:] == ["--settings"]:
        print(json.dumps(SETTINGS, indent=1))
    else:
        common.main("mujoco_flex", ["mujoco"], Flex)
