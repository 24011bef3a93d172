"""Newton's cloth on Warp's CPU back end: XPBD, VBD, Style3D.

    python newton_warp.py WORK.json OUT

Settings:

    solver        "xpbd": springs on edges and angles on hinges; "vbd": triangles (neo-Hookean) and angles; "style3d": woven triangles, projective
    substeps      in a frame; or `stable_part`, see `common.py`
    iterations    in a substep
    linear_iterations   of Style3D's conjugate gradients
    rows          for "rows": "distance" (xpbd: springs on edges and between the apexes of hinges, nothing else) or "vbd"

Everything is given the work's material: springs k_e; triangles μ = 3Y/8 and λ = 3Y/8 (ν = 1/3, what springs on equilateral triangles amount to), which is
`tri_ke` = μ and `tri_ka` = λ + μ in its energy; Style3D Y, Y and 3Y/8; angles B l²/(A₀ + A₁), Style3D B/3. There is no internal damping. Where Warp can
record a frame as a graph it does (not Style3D): Python then costs nothing. Its numbers are f32. Wind acts in its semi-implicit solver only: not run.
"""

import common  # Before NumPy and Warp: it says how many threads they may use.

import logging

import numpy as np
import warp as wp

wp.config.log_level = wp.LOG_ERROR  # Of every module that it loads it says so.

import newton
from newton.solvers import SolverStyle3D, SolverVBD, SolverXPBD, style3d

# As good as rigid: it divides by the stiffness.
RIGID = 1e12


class Peer:
    def __init__(self, work: common.Work) -> None:
        if work.wind:
            raise NotImplementedError("no wind in XPBD, VBD and Style3D")
        if any(body.get("spin") for body in work.bodies):
            raise NotImplementedError("no bodies that turn")
        kind = work.setting("solver", "xpbd")
        self.substeps, self.iterations = work.substeps(2 if kind == "style3d" else 10), work.setting("iterations", 10)
        self.settings = {"solver": kind, "substeps": self.substeps, "iterations": self.iterations}
        self.notes, self.counts = "", {"iterations": 0}
        self.h = 1.0 / work.fps / self.substeps
        wp.set_device("cpu")
        builder = newton.ModelBuilder(up_axis=newton.Axis.Y, gravity=work.gravity)
        if kind == "style3d":
            SolverStyle3D.register_custom_attributes(builder)
        for body in work.bodies:
            config = builder.default_shape_cfg.copy()
            config.mu = body["friction"]
            if body["kind"] == "sphere":
                builder.add_shape_sphere(-1, xform=wp.transform(wp.vec3(*body["center"]), wp.quat_identity()), radius=body["radius"], cfg=config)
            else:
                builder.add_ground_plane(height=body["point"][1], cfg=config)
        self.rows = getattr(self, kind)(builder, work)
        if kind == "vbd":
            builder.color(include_bending=True)
        self.model = model = builder.finalize()
        if kind == "style3d":
            flags = model.particle_flags.numpy()
            flags[work.pins] &= ~int(newton.ParticleFlags.ACTIVE)
            model.particle_flags = wp.array(flags)
        if work.bodies:
            model.soft_contact_mu = work.bodies[0]["friction"]
            # As stiff as the sheet itself: its default of 10³ N/m lets the sheet sink in.
            model.soft_contact_ke = work.setting("contact", 1e3)
            model.soft_contact_kd = 0.0
            self.settings["contact"] = model.soft_contact_ke
        if kind == "xpbd":
            self.solver = SolverXPBD(model, iterations=self.iterations)
        elif kind == "vbd":
            contact = {"particle_enable_self_contact": True, "particle_self_contact_radius": work.thickness, "particle_self_contact_margin": 1.5 * work.thickness}
            self.solver = SolverVBD(model, iterations=self.iterations, **(contact if work.self_contact else {}))
        else:
            linear = work.setting("linear_iterations", 10)
            self.settings["linear_iterations"] = linear
            self.solver = SolverStyle3D(model, iterations=self.iterations, linear_iterations=linear)
        if work.self_contact and kind != "vbd":
            raise NotImplementedError("self-contact is VBD's")
        self.states = [model.state(), model.state()]
        self.control = model.control()
        # Style3D asks for contacts where there are none too.
        touches = bool(work.bodies) or kind == "style3d"
        self.pipeline = newton.CollisionPipeline(model) if work.bodies else None
        self.contacts = (self.pipeline or newton.CollisionPipeline(model)).contacts() if touches else None
        self.graph = None
        self.record(kind)

    def record(self, kind: str) -> None:
        """Compiles everything, records a frame if that can be, and goes back to the start."""
        start = [self.states[0].particle_q.numpy(), self.states[0].particle_qd.numpy()]
        self.simulate()
        if kind != "style3d" and self.substeps % 2 == 0:
            try:
                with wp.ScopedCapture() as capture:
                    self.simulate()
                self.graph = capture.graph
            except Exception as error:
                self.notes += f"no graph: {type(error).__name__}. "
        self.settings["graph"] = self.graph is not None
        for state in self.states:
            state.particle_q.assign(start[0])
            state.particle_qd.assign(start[1])

    def particles(self, builder: newton.ModelBuilder, work: common.Work) -> None:
        masses = work.masses.copy()
        masses[work.pins] = 0.0
        builder.add_particles(pos=work.vertices.tolist(), vel=np.zeros_like(work.vertices).tolist(), mass=masses.tolist(), radius=[work.thickness] * len(masses))

    def hinges(self, builder: newton.ModelBuilder, work: common.Work, power: int) -> None:
        """Angles with ½ k (θ − θ₀)², k = B l²/(A₀ + A₁), of which `power` factors l are given."""
        a, b, c, d = work.hinges.T
        x = work.vertices
        length = np.linalg.norm(x[b] - x[a], axis=1)
        area = 0.5 * (np.linalg.norm(np.cross(x[b] - x[a], x[c] - x[a]), axis=1) + np.linalg.norm(np.cross(x[b] - x[a], x[d] - x[a]), axis=1))
        builder.add_edges(c, d, a, b, edge_ke=(work.bend * length**power / area).tolist(), edge_kd=[0.0] * len(a))

    def springs(self, builder: newton.ModelBuilder, work: common.Work, ends: np.ndarray, stiffness: np.ndarray) -> None:
        """As `add_spring`, all at once: one by one takes seconds."""
        builder.spring_indices.extend(ends.flatten().tolist())
        builder.spring_stiffness.extend(stiffness.tolist())
        builder.spring_damping.extend([0.0] * len(ends))
        builder.spring_control.extend([0.0] * len(ends))
        builder.spring_rest_length.extend(np.linalg.norm(work.vertices[ends[:, 0]] - work.vertices[ends[:, 1]], axis=1).tolist())

    def xpbd(self, builder: newton.ModelBuilder, work: common.Work) -> int:
        self.particles(builder, work)
        if work.setting("rows", "") == "distance":
            ends = np.concatenate([work.edges, work.hinges[:, 2:]])
            self.springs(builder, work, ends, np.full(len(ends), work.setting("stiffness", RIGID)))
            return len(ends)
        self.springs(builder, work, work.edges, work.edge_stiffness)
        self.hinges(builder, work, 2)
        return len(work.edges) + len(work.hinges)

    def vbd(self, builder: newton.ModelBuilder, work: common.Work) -> int:
        self.particles(builder, work)
        m, lame = len(work.triangles), 0.375 * work.youngs
        builder.add_triangles(*work.triangles.T, tri_ke=[lame] * m, tri_ka=[2 * lame] * m, tri_kd=[0.0] * m, tri_drag=[0.0] * m, tri_lift=[0.0] * m)
        self.hinges(builder, work, 1)
        return len(work.triangles) + len(work.hinges)

    def style3d(self, builder: newton.ModelBuilder, work: common.Work) -> int:
        # The panel is the flat sheet; its axes do not matter but for its handedness.
        i = np.arange(len(work.vertices))
        edge = np.linalg.norm(work.vertices[1] - work.vertices[0])
        panel = np.stack([i % work.side, -(i // work.side)], axis=1) * edge
        style3d.add_cloth_mesh(
            builder, pos=wp.vec3(0.0), rot=wp.quat_identity(), vel=wp.vec3(0.0), vertices=work.vertices.tolist(), indices=work.triangles.flatten().tolist(),
            density=work.density, panel_verts=panel.tolist(), panel_indices=work.triangles.flatten().tolist(), particle_radius=work.thickness,
            tri_aniso_ke=wp.vec3(work.youngs, work.youngs, 0.375 * work.youngs), tri_ka=0.0, tri_kd=0.0,
            edge_aniso_ke=wp.vec3(work.bend / 3, work.bend / 3, work.bend / 3), edge_kd=0.0,
        )
        return len(work.triangles) + len(work.hinges)

    def simulate(self) -> None:
        for _ in range(self.substeps):
            self.states[0].clear_forces()
            if self.pipeline:
                self.pipeline.collide(self.states[0], self.contacts)
            self.solver.step(self.states[0], self.states[1], self.control, self.contacts, self.h)
            self.states.reverse()

    def step(self) -> None:
        if self.graph:
            wp.capture_launch(self.graph)
        else:
            self.simulate()
        wp.synchronize()
        self.counts["iterations"] += self.substeps * self.iterations
        if self.settings["solver"] == "xpbd":
            self.counts["projections"] = self.counts["iterations"] * self.rows

    def positions(self) -> np.ndarray:
        return self.states[0].particle_q.numpy()


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    common.main("newton", ["newton", "warp-lang", "numpy"], Peer)
