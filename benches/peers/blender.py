"""The scene `twirl` in Blender's cloth: it falls onto a ball that then turns.

    python blender.py OUT CELLS FRAMES SECONDS [KEY=VALUE…]

Keys are those of Blender's ClothSettings and ClothCollisionSettings; what is not given keeps Blender's default. Self-collision is
always on. `distance` sets distance_min and self_distance_min, as part of an edge, and the outer thickness of the bodies to 1 mm;
`body_friction` is the cloth friction of ball and floor.

Into OUT go `cloth.npy` (frames, vertices, 3), `triangles.npy`, and `times.csv` with milliseconds of the wall clock and of the process for
each frame, as from `peers`. What is timed is the step to the next frame; it ends early once so many
seconds of processor time are spent. Blender's z is up: our (x, y, z) is its (x, -z, y).
"""

import math
import sys
import time
from pathlib import Path

import bpy
import numpy as np

SIZE, HEIGHT, FPS = 1.3, 0.54, 60


def grid(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions and triangles, as Muslin's grids have them with alternating diagonals."""
    side = cells + 1
    z, x = np.divmod(np.arange(side * side), side)
    positions = np.stack([x * SIZE / cells - SIZE / 2, np.full(side * side, HEIGHT), z * SIZE / cells - SIZE / 2], axis=1)
    triangles = []
    for j in range(cells):
        for i in range(cells):
            a, b, c, d = j * side + i, j * side + i + 1, (j + 1) * side + i, (j + 1) * side + i + 1
            triangles += [[a, c, d], [a, d, b]] if (i + j) % 2 == 0 else [[a, c, b], [b, c, d]]
    return positions, np.array(triangles, dtype=np.uint32)


def turn(seconds: float) -> float:
    part = min(max((seconds - 0.9) / (3.2 - 0.9), 0.0), 1.0)
    return part * part * (3 - 2 * part) * 4 * math.pi


def to_blender(positions: np.ndarray) -> np.ndarray:
    return positions[:, [0, 2, 1]] * [1, -1, 1]


def from_blender(positions: np.ndarray) -> np.ndarray:
    return positions[:, [0, 2, 1]] * [1, 1, -1]


def build(cells: int, frames: int, settings: dict[str, str]) -> tuple[bpy.types.Object, np.ndarray]:
    scene = bpy.context.scene
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    scene.render.fps = FPS
    scene.frame_start, scene.frame_end = 0, frames
    scene.gravity = (0, 0, -9.81)

    def collide(thing: bpy.types.Object) -> None:
        thing.modifiers.new("collision", "COLLISION")
        if "distance" in settings:
            thing.collision.thickness_outer = 0.001
        thing.collision.cloth_friction = float(settings.get("body_friction", thing.collision.cloth_friction))

    bpy.ops.mesh.primitive_plane_add(size=20, location=(0, 0, 0))
    collide(bpy.context.object)
    bpy.ops.mesh.primitive_uv_sphere_add(segments=64, ring_count=32, radius=0.25, location=(0, 0, 0.28))
    ball = bpy.context.object
    for frame in range(frames + 1):
        ball.rotation_euler = (0, 0, turn(frame / FPS))
        ball.keyframe_insert("rotation_euler", frame=frame)
    collide(ball)

    positions, triangles = grid(cells)
    mesh = bpy.data.meshes.new("cloth")
    mesh.from_pydata(to_blender(positions).tolist(), [], triangles.tolist())
    cloth = bpy.data.objects.new("cloth", mesh)
    scene.collection.objects.link(cloth)
    modifier = cloth.modifiers.new("cloth", "CLOTH")
    modifier.point_cache.frame_start, modifier.point_cache.frame_end = 0, frames
    modifier.collision_settings.use_self_collision = True
    for key, value in settings.items():
        if key == "body_friction":
            continue
        if key == "distance":
            modifier.collision_settings.distance_min = modifier.collision_settings.self_distance_min = float(value) * SIZE / cells
            continue
        group = modifier.settings if hasattr(modifier.settings, key) else modifier.collision_settings
        setattr(group, key, type(getattr(group, key))(float(value)))
    return cloth, triangles


def main(out: Path, cells: int, frames: int, seconds: float, settings: dict[str, str]) -> None:
    cloth, triangles = build(cells, frames, settings)
    scene, times, states = bpy.context.scene, ["wall_ms,cpu_ms"], []
    for frame in range(frames + 1):
        wall, cpu = time.perf_counter(), time.process_time()
        scene.frame_set(frame)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        if frame > 0:
            times.append(f"{1e3 * wall:.4f},{1e3 * cpu:.4f}")
        mesh = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", flat)
        states.append(from_blender(flat.reshape(-1, 3)))
        if not np.isfinite(flat).all():
            print(f"stopped at frame {frame}: positions are not finite", file=sys.stderr)
            break
        seconds -= cpu
        if seconds < 0:
            print(f"stopped after frame {frame}: the budget is spent", file=sys.stderr)
            break
    out.mkdir(parents=True, exist_ok=True)
    (out / "times.csv").write_text("\n".join(times) + "\n")
    np.save(out / "cloth.npy", np.array(states, dtype=np.float32))
    np.save(out / "triangles.npy", triangles)


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), dict(word.split("=") for word in sys.argv[5:]))
