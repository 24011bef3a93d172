"""The same cloth in Blender's, as the Python module `bpy`.

    python blender.py WORK.json OUT

Blender's cloth has units of its own. What is known of them, from its source and from letting a triangle fall:

    time        a frame is 0.0316 s (√0.001), whatever the scene's rate: gravity is multiplied by 0.001. `time_scale` = 0.527 makes it 1/60 s
    mass        of each vertex, the same for all (`mass`): that of the sheet over its vertices
    springs     the edges of the mesh, k = tension_stiffness / mean edge length, with the time unit above: tension_stiffness = 0.001 k × mean length.
                Only one k for all edges: that of the edges along the rows
    bending     angular springs, moment = 0.1 × bending_stiffness × edge length × angle: bending_stiffness = 0.01 B l / (A₀ + A₁)
    friction    0.01 × the friction of the body, at most 0.8, is the share of the normal velocity that tangential velocity loses

The settings "units" = "blender" keep Blender's own mass and stiffness, "work" those above. Other keys are those of ClothSettings and
ClothCollisionSettings, and go over what was derived. Blender's z is up: our (x, y, z) is its (x, -z, y).
What is timed is the step to the next frame.
"""

import math

import bpy
import common
import numpy as np

TIME = math.sqrt(0.001)

NOTES = "Blender gives all vertices the same mass and all edges the same spring constant. "

# The settings are in `xtask/src/peers/settings.rs`, each with its reason, and what came out at 32 vertices a side of "hang" on a busy machine: milliseconds of one thread, strain (limit 1 %), distance from the converged
# motion (limit 2 cm).

def to_blender(positions: np.ndarray) -> np.ndarray:
    return np.asarray(positions, dtype=float)[..., [0, 2, 1]] * [1, -1, 1]


def from_blender(positions: np.ndarray) -> np.ndarray:
    return positions[:, [0, 2, 1]] * [1, 1, -1]


class Blender:
    def __init__(self, work: common.Work) -> None:
        if work.wind is not None:
            raise NotImplementedError("Blender's wind is a field with a strength and noise of its own, and no air density, drag or lift: not comparable")
        self.work, self.counts, self.notes, self.frame = work, {}, NOTES, 0
        scene = self.scene = bpy.context.scene
        for thing in list(bpy.data.objects):
            bpy.data.objects.remove(thing)
        scene.render.fps = round(work.fps)
        scene.frame_start, scene.frame_end = 0, work.frames
        scene.gravity = to_blender(np.array(work.gravity))
        for body in work.bodies:
            self.add(body)

        mesh = bpy.data.meshes.new("cloth")
        mesh.from_pydata(to_blender(work.vertices).tolist(), [], work.triangles.tolist())
        cloth = self.cloth = bpy.data.objects.new("cloth", mesh)
        scene.collection.objects.link(cloth)
        if len(work.pins):
            cloth.vertex_groups.new(name="pins").add([int(pin) for pin in work.pins], 1.0, "REPLACE")
        modifier = cloth.modifiers.new("cloth", "CLOTH")
        modifier.point_cache.frame_start, modifier.point_cache.frame_end = 0, work.frames
        self.settings = self.derive()
        for key, value in self.settings.items():
            if key in ("units", "body_friction"):
                continue
            group = modifier.settings if hasattr(modifier.settings, key) else modifier.collision_settings
            setattr(group, key, type(getattr(group, key))(value))
            if hasattr(group, key + "_max") and key.endswith("stiffness"):
                setattr(group, key + "_max", float(value))
        if len(work.pins):
            modifier.settings.vertex_group_mass = "pins"
        scene.frame_set(0)

    def derive(self) -> dict:
        """The work in Blender's units, and what the settings put in its place."""
        work = self.work
        edge = float(np.linalg.norm(work.vertices[1] - work.vertices[0]))
        settings = {
            "units": "work", "time_scale": 1 / work.fps / TIME, "use_self_collision": work.self_contact,
            "use_collision": bool(work.bodies) or work.self_contact,
        }
        if work.setting("units", "work") == "work":
            spring = 0.001 * work.youngs * float(work.edge_lengths.mean())
            damping = 0.0
            settings |= {
                "mass": float(work.masses.mean()), "air_damping": 0.0, "tension_stiffness": spring, "compression_stiffness": spring,
                "bending_stiffness": 0.01 * work.bend / edge, "tension_damping": damping, "compression_damping": damping,
                "bending_damping": damping, "distance_min": max(work.thickness, 0.001), "self_distance_min": max(work.thickness, 0.001),
                "friction": min(100 * work.friction, 80.0), "self_friction": min(100 * work.friction, 80.0),
            }
        settings |= work.settings
        return settings

    def add(self, body: dict) -> None:
        if body["kind"] == "plane":
            bpy.ops.mesh.primitive_plane_add(size=20, location=to_blender(np.array(body["point"])))
        elif body["kind"] == "sphere":
            bpy.ops.mesh.primitive_uv_sphere_add(segments=64, ring_count=32, radius=body["radius"], location=to_blender(np.array(body["center"])))
        else:
            raise ValueError(f"there is no body {body['kind']}")
        thing = bpy.context.object
        if body.get("spin"):
            for frame in range(self.work.frames + 1):
                thing.rotation_euler = (0, 0, common.turn(body, frame / self.work.fps))
                thing.keyframe_insert("rotation_euler", frame=frame)
        thing.modifiers.new("collision", "COLLISION")
        if self.work.setting("units", "work") == "work":
            thing.collision.thickness_outer = 0.001
        thing.collision.cloth_friction = float(self.work.setting("body_friction", min(100 * body["friction"], 80.0)))

    def step(self) -> None:
        self.frame += 1
        self.scene.frame_set(self.frame)

    def positions(self) -> np.ndarray:
        mesh = self.cloth.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", flat)
        return from_blender(flat.reshape(-1, 3))


if __name__ == "__main__":
    common.main("blender", ["bpy"], Blender)
