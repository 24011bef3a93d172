"""The same cloth as a two-dimensional flex of MuJoCo.

    python mujoco_flex.py WORK.json OUT

The sheet is a `flexcomp` with the vertices and triangles of the work, each vertex a body with three slides. The masses of the bodies
are set to those of the work after compiling: a flexcomp gives all vertices the same.

Stretch is one of two:

    elastic     St. Venant-Kirchhoff finite elements (`elastic2d`): Young's modulus E and a thickness t with E t = youngs and
                E t³ / 12 = bend, so that stretch and bending are those of the work; t has nothing to do with contact
    equality    edges that are kept by constraints as `solref` and `solimp` say: rigid, as far as the solver gets; bending as above

MuJoCo does not put air forces on a flex (its wind acts on geoms and bodies by their inertia boxes): forces on triangles, computed here by
the formula of Muslin, go in as external forces. They count in the time.
"""

import math

import common
import mujoco
import numpy as np

INTEGRATORS = {"discrete": "discrete", "implicitfast": "implicitfast", "implicit": "implicit", "euler": "Euler"}

# The settings are in `xtask/src/peers/settings.rs`, each with its reason, and what came out at 32 vertices a side of "hang" on a busy machine: milliseconds of one thread, strain at 5 s (limit 1 %), distance from the
# converged motion (limit 2 cm). What was tried and left out: `implicitfast` and `implicit` refuse elastic flexes since MuJoCo 4; the constraint solver CG
# with equalities is cheap (17 ms with 20 iterations) but stretches by 7 to 44 %, and at 16 steps with a stiff solimp it blows up; tolerance and iterations
# change nothing for "elastic" without contact (its solve is direct). RK4 was not tried. Strains of CG are those at 0.5 s.


class Flex:
    def __init__(self, work: common.Work) -> None:
        self.work = work
        self.settings = settings = {
            "stretch": "elastic", "integrator": "discrete", "solver": "Newton", "substeps": 8, "iterations": 100,
            "ls_iterations": 50, "tolerance": 1e-8, "poisson": 0.0, "bend": True, "damping": 0.0, "solref": "0.02 1", "solimp": "0.9 0.95 0.001",
            "contact_solref": "0.02 1", "contact_solimp": "0.9 0.95 0.001", "jacobian": "auto", "cone": "pyramidal", "impratio": 1,
            "ipc": False, "passive": False, "warmstart": True, "island": True, "disable": "", **work.settings,
        }
        if "stable_part" in settings:
            # Explicit: as many steps as the stiffest spring of the work asks for.
            settings["substeps"] = math.ceil(settings["stable_part"] / work.fps / work.stable_step)
        elif "substeps_32" in settings:
            # At 32 vertices a side; in proportion to the side, as the lengths of the edges.
            settings["substeps"] = math.ceil(settings["substeps_32"] * work.side / 32)
        self.substeps = int(settings["substeps"])
        self.model = mujoco.MjModel.from_xml_string(self.xml())
        self.weigh()
        self.data = mujoco.MjData(self.model)
        spinning = [body for body in work.bodies if body.get("spin")]
        joints = np.flatnonzero(self.model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE)
        self.balls = [(self.model.jnt_qposadr[joint], self.model.jnt_dofadr[joint], body) for joint, body in zip(joints, spinning)]
        mujoco.mj_forward(self.model, self.data)
        self.counts = {"steps": 0, "iterations": 0}
        self.notes = "Edges are constraints: the stiffness of the work does not count. " if settings["stretch"] == "equality" else ""
        self.notes += "" if settings["bend"] or settings["stretch"] == "elastic" else "No bending. "
        self.notes += "" if work.wind is None else "The forces of the air are computed outside of MuJoCo. "

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
            tolerance="{settings["tolerance"]}" jacobian="{settings["jacobian"]}" cone="{settings["cone"]}"
            impratio="{settings["impratio"]}">{flags}/></option>
          <size memory="4G"/>
          <worldbody>
            {"".join(self.body(body) for body in work.bodies)}
            <flexcomp name="cloth" type="direct" dim="2" mass="{float(work.masses.sum())!r}" radius="{0.5 * work.thickness!r}"
              point="{words(work.vertices)}" element="{" ".join(map(str, work.triangles.ravel()))}">{pins}{stretch}{contact}</flexcomp>
          </worldbody>
        </mujoco>"""

    def body(self, body: dict) -> str:
        """A body of the work. One that turns has a hinge too heavy to feel the cloth, whose angle and rate are set in every step: a body that is led
        (mocap) has no velocity, and would drag nothing along."""
        # A contact has the larger friction of its two sides, here that of the body.
        own = f'friction="{body["friction"]}" condim="3" solref="{self.settings["contact_solref"]}" solimp="{self.settings["contact_solimp"]}"'
        words = lambda numbers: " ".join(repr(float(number)) for number in numbers)
        if body["kind"] == "sphere":
            hinge = f'<joint type="hinge" axis="{words(body["spin"]["axis"])}" armature="1e6"/>' if body.get("spin") else ""
            return f'<body pos="{words(body["center"])}">{hinge}<geom type="sphere" size="{body["radius"]}" {own}/></body>'
        if body["kind"] == "capsule":
            return f'<geom type="capsule" fromto="{words([*body["a"], *body["b"]])}" size="{body["radius"]}" {own}/>'
        if body["kind"] == "plane":
            return f'<geom type="plane" size="10 10 1" pos="{words(body["point"])}" zaxis="{words(body["normal"])}" {own}/>'
        raise ValueError(f"there is no body {body['kind']}")

    def weigh(self) -> None:
        """The masses of the work."""
        model = self.model
        bodies = model.flex_vertbodyid
        free = np.setdiff1d(np.arange(len(bodies)), self.work.pins)
        part = self.work.masses[free] / model.body_mass[bodies[free]]
        model.body_mass[bodies[free]] *= part
        model.body_inertia[bodies[free]] *= part[:, None]
        mujoco.mj_setConst(model, mujoco.MjData(model))
        self.bodies, self.free = bodies, free
        self.dofs = model.body_dofadr[bodies[free]][:, None] + np.arange(3)
        if self.work.damping:
            # Of all motion: each vertex is slowed in proportion to its mass.
            model.dof_damping[self.dofs] = self.work.damping * self.work.masses[free, None]

    def step(self) -> None:
        model, data = self.model, self.data
        for _ in range(self.substeps):
            length = model.opt.timestep
            for place, rate, body in self.balls:
                now, then = common.turn(body, data.time), common.turn(body, data.time + length)
                data.qpos[place], data.qvel[rate] = now, (then - now) / length
            if self.work.wind is not None:
                self.blow()
            mujoco.mj_step(model, data)
            self.counts["steps"] += 1
            self.counts["iterations"] += int(data.solver_niter.sum())
        if data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number:
            raise ArithmeticError("MuJoCo reset itself: accelerations were not finite or too large")

    def blow(self) -> None:
        """Forces of the air on the vertices: F = ½ ρ A (u·n) [(C_D − C_L) u + C_L ‖u‖ n] of each triangle, a third for each corner."""
        work, data = self.work, self.data
        x, v = data.flexvert_xpos[work.triangles], np.zeros((len(work.vertices), 3))
        v[self.free] = data.qvel[self.dofs]
        u = np.asarray(work.wind) - v[work.triangles].mean(axis=1)
        doubled = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
        length = np.linalg.norm(doubled, axis=1, keepdims=True)
        normal = doubled / np.maximum(length, 1e-12)
        facing = (normal * u).sum(axis=1, keepdims=True)
        normal *= np.sign(facing)
        speed = np.linalg.norm(u, axis=1, keepdims=True)
        force = 0.25 * work.air_density * length * np.abs(facing) * ((work.drag - work.lift) * u + work.lift * speed * normal) / 3
        total = np.zeros_like(v)
        for corner in range(3):
            np.add.at(total, work.triangles[:, corner], force)
        data.xfrc_applied[self.bodies[self.free], :3] = total[self.free]

    def positions(self) -> np.ndarray:
        return self.data.flexvert_xpos.copy()


if __name__ == "__main__":
    common.main("mujoco", ["mujoco"], Flex)
