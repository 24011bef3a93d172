"""Makes the meshes of the contact scenes: a funnel, a ball of cloth, and the tunic of `scenes/tunic` from larger cells.

    python make.py        (NumPy; writes funnel.obj, ball.obj and tunic.obj beside itself)
"""

import importlib.util
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
# m; the figure of the scene is taken as it is.
SPACING = 0.05
TUNIC = HERE.parents[3] / "scenes/tunic/make.py"


def write(name, vertices, triangles):
    lines = [f"# {name}; made by make.py"]
    lines += ["v " + " ".join(f"{x:.5f}" for x in vertex) for vertex in vertices]
    lines += ["f " + " ".join(str(corner + 1) for corner in triangle) for triangle in triangles]
    (HERE / f"{name}.obj").write_text("\n".join(lines) + "\n")
    print(f"{name}: {len(vertices)} vertices")


def funnel(around=24, rings=((0.42, 0.55), (0.31, 0.4), (0.20, 0.25), (0.09, 0.1), (0.09, -0.15))):
    """A cone with a neck, open at both ends; `rings` are radii and heights, in m."""
    angles = 2 * np.pi * np.arange(around) / around
    vertices = [(r * np.cos(a), y, r * np.sin(a)) for r, y in rings for a in angles]
    triangles = []
    for ring in range(len(rings) - 1):
        for i in range(around):
            a, b = ring * around + i, ring * around + (i + 1) % around
            triangles += [(a, b, b + around), (a, b + around, a + around)]
    return np.array(vertices), np.array(triangles)


def ball(radius=0.08):
    """An icosahedron whose edges are halved twice, on a sphere."""
    golden = (1 + 5**0.5) / 2
    corners = [(0, y, z * golden) for y in (-1, 1) for z in (-1, 1)]
    vertices = [np.roll(corner, turn) / np.hypot(1, golden) for turn in range(3) for corner in corners]
    faces = [
        (i, j, k)
        for i in range(12) for j in range(i + 1, 12) for k in range(j + 1, 12)
        if max(np.linalg.norm(vertices[a] - vertices[b]) for a, b in ((i, j), (j, k), (k, i))) < 1.1
    ]
    outward = lambda f: np.linalg.det([vertices[i] for i in f]) > 0
    faces = [f if outward(f) else f[::-1] for f in faces]
    for _ in range(2):
        middles, finer = {}, []

        def middle(a, b):
            key = (min(a, b), max(a, b))
            if key not in middles:
                middles[key] = len(vertices)
                sum_ = vertices[a] + vertices[b]
                vertices.append(sum_ / np.linalg.norm(sum_))
            return middles[key]

        for a, b, c in faces:
            ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
            finer += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        faces = finer
    return radius * np.array(vertices), np.array(faces)


def main():
    write("funnel", *funnel())
    write("ball", *ball())
    spec = importlib.util.spec_from_file_location("tunic", TUNIC)
    tunic = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tunic)
    write("tunic", *tunic.opened(*tunic.surface(tunic.dress, [-0.63, 0.1, -0.4], [0.63, 1.87, 0.4], SPACING)))


if __name__ == "__main__":
    main()
