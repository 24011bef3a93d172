"""Makes the meshes of the scene `tunic`: a figure that moves, and a tunic around it.

    python make.py        (NumPy; writes body.obj, body.npy and tunic.obj beside itself)

Both are surfaces of one distance field, a smooth union of capsules: the figure where it is zero, the tunic where it is a little more, cut open
at the neck, the sleeves and the hem. Surfaces are found by surface nets [Gibson 1998], one vertex for each cell that the surface passes
through, then smoothed and pulled back onto it. The figure stands in x, y up, and looks along +z.
"""

from pathlib import Path

import numpy as np

SHOULDER = np.array([0.19, 1.42, 0.0])
ELBOW = np.array([0.37, 1.20, 0.0])
HAND = np.array([0.50, 0.98, 0.05])
HIP, KNEE, FOOT = (np.array([0.115, y, 0.0]) for y in (0.74, 0.42, 0.06))
FRAMES_PER_SECOND, SECONDS = 8, 3.0


def capsule(p, a, b, radius_a, radius_b, squash=1.0):
    """Distance to a cone with round ends, about; `squash` is how much thicker than wide it is."""
    q, a, b = (np.asarray(x) * [1.0, 1.0, 1.0 / squash] for x in (p, a, b))
    t = np.clip((q - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
    return np.linalg.norm(q - a - t[..., None] * (b - a), axis=-1) - (radius_a + t * (radius_b - radius_a))


def union(distances, softness):
    """Their smallest, with round creases: a sum of exponentials."""
    return -softness * np.log(sum(np.exp(-d / softness) for d in distances))


def mirrored(p):
    """The right half of the figure is the left."""
    return np.stack([np.abs(p[..., 0]), p[..., 1], p[..., 2]], axis=-1)


def trunk(p):
    """Hips, waist, chest, shoulders."""
    return [
        capsule(p, [-0.06, 0.78, 0.0], [0.06, 0.78, 0.0], 0.14, 0.14, 0.85),
        capsule(p, [0.0, 0.78, 0.0], [0.0, 1.10, 0.0], 0.135, 0.125, 0.8),
        capsule(p, [-0.06, 1.26, 0.0], [0.06, 1.26, 0.0], 0.13, 0.13, 0.85),
        capsule(p, [-0.17, 1.42, 0.0], [0.17, 1.42, 0.0], 0.06, 0.06),
    ]


def limbs(p):
    """Both arms."""
    q = mirrored(p)
    return [capsule(q, SHOULDER, ELBOW, 0.058, 0.052), capsule(q, ELBOW, HAND, 0.052, 0.048)]


def figure(p):
    """The whole figure: trunk, arms, legs, neck, head."""
    q = mirrored(p)
    rest = [
        capsule(q, HIP, KNEE, 0.08, 0.055),
        capsule(q, KNEE, FOOT, 0.055, 0.045),
        capsule(p, [0.0, 1.44, 0.0], [0.0, 1.56, 0.0], 0.055, 0.05),
        capsule(p, [0.0, 1.66, 0.01], [0.0, 1.70, 0.01], 0.085, 0.09),
    ]
    return union([*trunk(p), *limbs(p), *rest], 0.025)


def skirt(p):
    """The tunic below the shoulders, wider towards the hem."""
    return [
        capsule(p, [0.0, 0.45, 0.0], [0.0, 1.15, 0.0], 0.29, 0.15, 0.9),
        capsule(p, [-0.06, 1.26, 0.0], [0.06, 1.26, 0.0], 0.14, 0.14, 0.85),
    ]


def dress(p):
    """What the tunic hangs around."""
    q = mirrored(p)
    parts = [
        *skirt(p),
        capsule(p, [-0.17, 1.42, 0.0], [0.17, 1.42, 0.0], 0.065, 0.065),
        capsule(q, SHOULDER, ELBOW, 0.066, 0.085),
        capsule(p, [0.0, 1.44, 0.0], [0.0, 1.56, 0.0], 0.062, 0.06),
    ]
    # Nowhere nearer to the figure than this.
    return np.minimum(union(parts, 0.02), figure(p)) - 0.013


def surface(field, low, high, spacing):
    """Vertices and triangles of the surface where `field` is zero."""
    axes = [np.arange(a, b + spacing, spacing) for a, b in zip(low, high)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    inside = field(points) < 0
    count = np.zeros([n - 1 for n in inside.shape], dtype=int)
    for corner in np.ndindex(2, 2, 2):
        count += inside[tuple(slice(c, c + n - 1) for c, n in zip(corner, inside.shape))]
    mixed = (count > 0) & (count < 8)
    number = np.full(mixed.shape, -1)
    number[mixed] = np.arange(mixed.sum())
    vertices = np.array(low) + (np.argwhere(mixed) + 0.5) * spacing
    quads = []
    for axis in range(3):
        one, other = (axis + 1) % 3, (axis + 2) % 3
        first, second = [slice(None)] * 3, [slice(None)] * 3
        first[axis], second[axis] = slice(None, -1), slice(1, None)
        starts, ends = inside[tuple(first)], inside[tuple(second)]
        for at in np.argwhere(starts != ends):
            cells = []
            for d_one, d_other in ((-1, -1), (0, -1), (0, 0), (-1, 0)):
                cell = at.copy()
                cell[one] += d_one
                cell[other] += d_other
                cells.append(number[tuple(cell)])
            quads.append(cells if starts[tuple(at)] else cells[::-1])
    quads = np.array(quads)
    for _ in range(30):
        vertices = pulled(field, relaxed(vertices, quads))
    vertices = pulled(field, vertices)
    # The shorter diagonal.
    a, b, c, d = (vertices[quads[:, i]] for i in range(4))
    short = np.linalg.norm(a - c, axis=1) < np.linalg.norm(b - d, axis=1)
    split = np.where(short[:, None], quads[:, [0, 1, 2, 0, 2, 3]], quads[:, [0, 1, 3, 1, 2, 3]])
    return vertices, split.reshape(-1, 3)


def relaxed(vertices, quads):
    """Each vertex half way to the middle of its neighbours."""
    total, weight = np.zeros_like(vertices), np.zeros(len(vertices))
    for i in range(4):
        for j in ((i + 1) % 4, (i + 3) % 4):
            np.add.at(total, quads[:, i], vertices[quads[:, j]])
            np.add.at(weight, quads[:, i], 1)
    return 0.5 * vertices + 0.5 * total / weight[:, None]


def pulled(field, vertices):
    """One step of Newton's method onto the surface."""
    value = field(vertices)
    step = 1e-4
    slope = np.stack([(field(vertices + step * axis) - field(vertices - step * axis)) / (2 * step) for axis in np.eye(3)], axis=1)
    return vertices - (value / (slope * slope).sum(axis=1))[:, None] * slope


def opened(vertices, triangles):
    """The tunic with its holes, their edges put straight."""
    q = mirrored(vertices)
    along = (ELBOW - SHOULDER) / np.linalg.norm(ELBOW - SHOULDER)
    # Each cut: positive where cloth goes away.
    is_arm = np.minimum.reduce(limbs(vertices)) < np.minimum.reduce(skirt(vertices)) - 0.01
    sleeve, hem = np.where(is_arm, (q - SHOULDER) @ along - 0.25, -1.0), 0.52 - vertices[:, 1]
    neck = np.where(np.abs(vertices[:, 0]) < 0.16, vertices[:, 1] - (1.485 - 0.25 * np.maximum(vertices[:, 2], 0.0)), -1.0)
    cuts = [(sleeve, along), (hem, np.array([0.0, -1.0, 0.0])), (neck, np.array([0.0, 1.0, 0.0]))]
    gone = np.zeros(len(vertices), dtype=bool)
    for value, _ in cuts:
        gone |= value > 0
    kept = triangles[~gone[triangles].any(axis=1)]
    edges = np.sort(np.concatenate([kept[:, [0, 1]], kept[:, [1, 2]], kept[:, [2, 0]]]), axis=1)
    unique, times = np.unique(edges, axis=0, return_counts=True)
    border = np.unique(unique[times == 1])
    for value, direction in cuts:
        near = border[(value[border] > -0.03)]
        own = direction * np.ones((len(near), 1))
        if direction is along:
            own = own * np.stack([np.sign(vertices[near, 0]), np.ones(len(near)), np.ones(len(near))], axis=1)
        vertices[near] -= value[near, None] * own
    used = np.unique(kept)
    renumbered = np.full(len(vertices), -1)
    renumbered[used] = np.arange(len(used))
    return vertices[used], renumbered[kept]


def smooth(x):
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3 - 2 * x)


def rotate(points, center, axis, angles):
    """Each point by its own angle, in radians, about an axis through `center`."""
    axis = np.asarray(axis) / np.linalg.norm(axis)
    p, cosine, sine = points - center, np.cos(angles)[:, None], np.sin(angles)[:, None]
    return center + p * cosine + np.cross(axis, p) * sine + axis * (p @ axis)[:, None] * (1 - cosine)


def posed(rest, time):
    """The figure at a time, in s: it raises its arms, turns and leans, and begins to come back."""
    p = rest.copy()
    raised = np.radians(28) * smooth((time - 0.5) / 1.2)
    turned = np.radians(40) * (smooth((time - 0.7) / 1.0) - 1.6 * smooth((time - 1.8) / 1.2))
    leaned = np.radians(14) * smooth((time - 1.0) / 1.2)
    along = (ELBOW - SHOULDER) / np.linalg.norm(ELBOW - SHOULDER)
    # What is nearer to an arm than to the trunk goes with it.
    is_arm = smooth((np.minimum.reduce(trunk(rest)) - np.minimum.reduce(limbs(rest)) + 0.02) / 0.08)
    for side in (1, -1):
        mirror = np.array([side, 1, 1])
        how_far = is_arm * smooth(((rest * mirror - SHOULDER) @ along + 0.03) / 0.18) * (side * rest[:, 0] > 0)
        p = rotate(p, SHOULDER * mirror, [0, 0, side], raised * how_far)
    height = smooth((rest[:, 1] - 0.80) / 0.45)
    p = rotate(p, np.array([0.0, 0.85, 0.0]), [0, 1, 0], turned * height)
    return rotate(p, np.array([0.0, 0.85, 0.0]), [0, 0, 1], leaned * height)


def write_obj(path, words, vertices, triangles):
    lines = [f"# {words}; made by make.py"]
    lines += ["v " + " ".join(f"{x:.5f}" for x in vertex) for vertex in vertices]
    lines += ["f " + " ".join(str(corner + 1) for corner in triangle) for triangle in triangles]
    path.write_text("\n".join(lines) + "\n")


def main():
    folder = Path(__file__).parent
    # Of the places for the grid, one where no cell has two sheets of the surface in it, which would meet in one vertex.
    body, body_triangles = surface(figure, [-0.64, -0.05925, -0.2685], [0.65, 1.87, 0.27], 0.037)
    frames = [posed(body, frame / FRAMES_PER_SECOND) for frame in range(round(SECONDS * FRAMES_PER_SECOND) + 1)]
    write_obj(folder / "body.obj", "A figure", body, body_triangles)
    np.save(folder / "body.npy", np.array(frames, dtype=np.float32))
    cloth, cloth_triangles = opened(*surface(dress, [-0.63, 0.1, -0.4], [0.63, 1.87, 0.4], 0.024))
    write_obj(folder / "tunic.obj", "A tunic", cloth, cloth_triangles)
    print(f"{len(body)} vertices of the figure, {len(frames)} frames; {len(cloth)} of the tunic")


if __name__ == "__main__":
    main()
