"""XPBD in Taichi, as a Taichi user would write it: distance rows on edges, isometric rows on hinges, one kernel a substep.

    python taichi_xpbd.py WORK.json OUT

Settings:

    kernel        "coloured": rows sorted by colour, one loop a colour, which Taichi may vectorise and share out; "serial": one loop in the order of
                  the mesh, `ti.loop_config(serialize=True)`
    substeps      in a frame; or `stable_part`, see `common.py`
    iterations    in a substep
    precision     "f32", Taichi's default, or "f64": in f32 the gravity of a substep is lost in the rounding of the positions once substeps are short
    rows          for "rows": "distance" (edges, and distances of the apexes of hinges, all rigid) or "isometric" (hinges only)

One thread of `ti.cpu`. The colour loops are unrolled with `ti.static`, so that a substep is one launch: launching
each colour by itself costs more. No self-contact: that is no script of a page.
"""

import common  # Before NumPy and Taichi: it says how many threads they may use.

import numpy as np
import taichi as ti


def greedy(stencils: np.ndarray, vertices: int) -> tuple[np.ndarray, list[int]]:
    """An order in which rows of a colour are neighbours, and where the colours begin and end."""
    used = [0] * vertices
    colors = np.empty(len(stencils), dtype=np.int32)
    for row, stencil in enumerate(stencils.tolist()):
        mask = 0
        for vertex in stencil:
            mask |= used[vertex]
        bit = ~mask & (mask + 1)
        for vertex in stencil:
            used[vertex] |= bit
        colors[row] = bit.bit_length() - 1
    order = np.argsort(colors, kind="stable")
    return order, [0, *np.cumsum(np.bincount(colors)).tolist()]


def isometric(x: np.ndarray, hinges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows K of Bergou et al. 2006 and A₀ + A₁, for hinges a b c d."""
    a, b, c, d = (x[hinges[:, i]] for i in range(4))

    def cot(at: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
        return ((p - at) * (q - at)).sum(axis=1) / np.linalg.norm(np.cross(p - at, q - at), axis=1)

    a_a, a_b, b_a, b_b = cot(a, b, c), cot(a, b, d), cot(b, a, c), cot(b, a, d)
    rows = np.stack([b_a + b_b, a_a + a_b, -(a_a + b_a), -(a_b + b_b)], axis=1)
    area = 0.5 * (np.linalg.norm(np.cross(b - a, c - a), axis=1) + np.linalg.norm(np.cross(b - a, d - a), axis=1))
    return rows, area


class Peer:
    def __init__(self, work: common.Work) -> None:
        if work.self_contact:
            raise NotImplementedError("no self-contact")
        self.work = work
        self.substeps, iterations = work.substeps(20), work.setting("iterations", 1)
        kernel, rows = work.setting("kernel", "coloured"), work.setting("rows", "")
        precision = work.setting("precision", "f32")
        fp, real = (ti.f64, np.float64) if precision == "f64" else (ti.f32, np.float32)
        self.settings = {"kernel": kernel, "precision": precision, "substeps": self.substeps, "iterations": iterations}
        ti.init(arch=ti.cpu, cpu_max_num_threads=work.threads, offline_cache=False, log_level=ti.ERROR, default_fp=fp)
        n = len(work.vertices)
        distances, compliances = work.edges, 1.0 / work.edge_stiffness
        hinges = work.hinges
        if rows == "distance":
            distances = np.concatenate([work.edges, hinges[:, 2:]])
            compliances = np.zeros(len(distances))
            hinges = hinges[:0]
        elif rows == "isometric":
            distances, compliances = distances[:0], compliances[:0]
        elif rows:
            raise NotImplementedError(f"no rows {rows}")
        coloured, block = kernel == "coloured", work.setting("block", 512)

        def sorted_rows(stencils: np.ndarray) -> tuple[np.ndarray, list[int]]:
            if coloured and len(stencils):
                return greedy(stencils, n)
            return np.arange(len(stencils)), [0, len(stencils)]

        order, edge_colors = sorted_rows(distances)
        distances, compliances = distances[order], compliances[order]
        order, hinge_colors = sorted_rows(hinges)
        hinges = hinges[order]
        stencil, area = isometric(work.vertices, hinges)
        softness = area / work.bend

        def field(values: np.ndarray, dtype: object, width: int = 1) -> ti.Field:
            shape = max(len(values), 1)
            made = ti.field(dtype, shape) if width == 1 else ti.Vector.field(width, dtype, shape)
            if len(values):
                made.from_numpy(np.ascontiguousarray(values, dtype=np.int32 if dtype == ti.i32 else real))
            return made

        self.x = x = field(work.vertices, fp, 3)
        before = field(work.vertices, fp, 3)
        v = field(np.zeros((n, 3)), fp, 3)
        force = field(np.zeros((n, 3)), fp, 3)
        w = field(work.inverse_masses, fp)
        ends = field(distances, ti.i32, 2)
        lengths = field(np.linalg.norm(work.vertices[distances[:, 0]] - work.vertices[distances[:, 1]], axis=1), fp)
        alphas = field(compliances, fp)
        multipliers = field(np.zeros(len(distances)), fp)
        corners = field(hinges, ti.i32, 4)
        weights = field(stencil, fp, 4)
        hinge_alphas = field(softness, fp)
        hinge_multipliers = field(np.zeros((len(hinges), 3)), fp, 3)
        triangles = field(work.triangles, ti.i32, 3)
        m = len(work.triangles)
        gravity = ti.Vector(work.gravity)
        h = 1.0 / work.fps / self.substeps
        windy, wind = bool(work.wind), ti.Vector(work.wind or [0.0, 0.0, 0.0])
        density, drag, lift = work.air_density, work.drag, work.lift
        thickness = work.thickness
        spheres = [body for body in work.bodies if body["kind"] == "sphere"]
        planes = [body for body in work.bodies if body["kind"] == "plane"]
        if any(body.get("spin") for body in spheres):
            raise NotImplementedError("no bodies that turn")

        @ti.func
        def distance_row(e):
            a, b = ends[e][0], ends[e][1]
            wa, wb = w[a], w[b]
            d = x[b] - x[a]
            length = d.norm() + 1e-12
            alpha = alphas[e] / (h * h)
            change = -(length - lengths[e] + alpha * multipliers[e]) / (wa + wb + alpha + 1e-20)
            multipliers[e] += change
            push = d * (change / length)
            x[a] -= wa * push
            x[b] += wb * push

        @ti.func
        def isometric_row(e):
            i, k = corners[e], weights[e]
            value = k[0] * x[i[0]] + k[1] * x[i[1]] + k[2] * x[i[2]] + k[3] * x[i[3]]
            alpha = hinge_alphas[e] / (h * h)
            sum_w = k[0] * k[0] * w[i[0]] + k[1] * k[1] * w[i[1]] + k[2] * k[2] * w[i[2]] + k[3] * k[3] * w[i[3]]
            change = -(value + alpha * hinge_multipliers[e]) / (sum_w + alpha)
            hinge_multipliers[e] += change
            for c in ti.static(range(4)):
                x[i[c]] += w[i[c]] * k[c] * change

        @ti.func
        def out_of_bodies(i):
            for body in ti.static(spheres):
                out = x[i] - ti.Vector(body["center"])
                depth = body["radius"] + thickness - out.norm()
                if depth > 0:
                    normal = out.normalized()
                    x[i] += depth * normal
                    slip = x[i] - before[i]
                    slip -= slip.dot(normal) * normal
                    x[i] -= slip * ti.min(1.0, body["friction"] * depth / (slip.norm() + 1e-12))
            for body in ti.static(planes):
                normal = ti.Vector(body["normal"])
                depth = thickness - (x[i] - ti.Vector(body["point"])).dot(normal)
                if depth > 0:
                    x[i] += depth * normal
                    slip = x[i] - before[i]
                    slip -= slip.dot(normal) * normal
                    x[i] -= slip * ti.min(1.0, body["friction"] * depth / (slip.norm() + 1e-12))

        @ti.kernel
        def substep():
            if ti.static(windy):
                for i in range(n):
                    force[i] = ti.Vector([0.0, 0.0, 0.0])
                for t in range(m):
                    p = triangles[t]
                    air = wind - (v[p[0]] + v[p[1]] + v[p[2]]) / 3.0
                    normal = (x[p[1]] - x[p[0]]).cross(x[p[2]] - x[p[0]])
                    size = 0.5 * normal.norm()
                    normal = normal.normalized(1e-20)
                    speed = air.norm()
                    across = air.dot(normal)
                    if across < 0:
                        normal, across = -normal, -across
                    push = 0.5 * density * size * across * ((drag - lift) * air + lift * speed * normal)
                    for c in ti.static(range(3)):
                        force[p[c]] += push / 3.0
            for i in range(n):
                before[i] = x[i]
                if w[i] > 0:
                    v[i] += h * (gravity + w[i] * force[i])
                    x[i] += h * v[i]
            for e in range(ti.static(len(distances))):
                multipliers[e] = 0.0
            for e in range(ti.static(len(hinges))):
                hinge_multipliers[e] = ti.Vector([0.0, 0.0, 0.0])
            for _ in ti.static(range(iterations)):
                if ti.static(coloured):
                    for start, end in ti.static(list(zip(edge_colors, edge_colors[1:]))):
                        ti.loop_config(block_dim=block)
                        for e in range(start, end):
                            distance_row(e)
                    for start, end in ti.static(list(zip(hinge_colors, hinge_colors[1:]))):
                        ti.loop_config(block_dim=block)
                        for e in range(start, end):
                            isometric_row(e)
                else:
                    ti.loop_config(serialize=True)
                    for e in range(ti.static(len(distances))):
                        distance_row(e)
                    ti.loop_config(serialize=True)
                    for e in range(ti.static(len(hinges))):
                        isometric_row(e)
            for i in range(n):
                if w[i] > 0:
                    out_of_bodies(i)
                    v[i] = (x[i] - before[i]) / h

        self.substep = substep
        substep()  # Compiles; then back to the start.
        x.from_numpy(work.vertices.astype(real))
        v.fill(0)
        self.sweeps, self.rows = iterations * self.substeps, len(distances) + len(hinges)
        self.counts = {"projections": 0, "iterations": 0}
        self.settings |= {"colours": [len(edge_colors) - 1, len(hinge_colors) - 1]}
        self.notes = ""

    def step(self) -> None:
        for _ in range(self.substeps):
            self.substep()
        ti.sync()
        self.counts["iterations"] += self.sweeps
        self.counts["projections"] += self.sweeps * self.rows

    def positions(self) -> np.ndarray:
        return self.x.to_numpy()


if __name__ == "__main__":
    common.main("taichi", ["taichi", "numpy"], Peer)
