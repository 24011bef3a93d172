"""Looks for triangles that cut each other in a run, with the IPC Toolkit, which is not ours.

    python check_intersections.py OUT_DIR none|some|free|untangled|count

OUT_DIR is a folder as `muslin run` writes it, with `<cloth>.npy` and `<cloth>.obj` of every cloth, and the same of bodies that are
meshes (those that stand still have no `.npy`). All are looked at together, frame by frame, in the positions as they are in the files; a body that
cuts itself counts too. `none` expects that no frame has an edge through a triangle, and
`some` that at least one has: a referee that never whistles is none. `free` is `none`, and also that nothing passes through anything
on the straight way from each frame to the next; it is for runs of which every substep is a frame.
`untangled` expects edges through triangles in the first frame, and none from the frame on from which the report says so. Prints a line, and the exit code is
0 only if it is as expected. `count` expects nothing: it prints how many frames there are, and which of them have an edge through a triangle, as JSON.
"""

import json
import sys
from pathlib import Path

import ipctk
import numpy as np


def read_run(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """The frames of all cloths and bodies side by side, and their triangles."""
    report = json.loads((folder / "report.json").read_text())
    stems = [cloth.get("file_stem", cloth["name"]) for cloth in report["cloths"]]
    bodies = [Path(file).stem for file in report["files"] if file.endswith(".obj") and "/" not in file]
    stems += [body for body in bodies if body not in stems]
    frames, triangles, first = [], [], 0
    for stem in stems:
        lines = (folder / f"{stem}.obj").read_text().splitlines()
        if (folder / f"{stem}.npy").exists():
            frames.append(np.load(folder / f"{stem}.npy", allow_pickle=False).astype(np.float64))
        else:
            still = [[float(number) for number in line.split()[1:4]] for line in lines if line.startswith("v ")]
            frames.append(np.repeat(np.array(still)[None], len(frames[0]), axis=0))
        faces = [line.split()[1:] for line in lines if line.startswith("f ")]
        triangles.append(np.array([[int(corner.split("/")[0]) - 1 for corner in face] for face in faces]) + first)
        first += frames[-1].shape[1]
    return np.concatenate(frames, axis=1), np.concatenate(triangles)


def main(folder: Path, expected: str) -> int:
    frames, triangles = read_run(folder)
    faces = np.asfortranarray(triangles.astype(np.int32))
    mesh = ipctk.CollisionMesh(np.asfortranarray(frames[0]), np.asfortranarray(ipctk.edges(faces)), faces)
    cut = [i for i, x in enumerate(frames) if ipctk.has_intersections(mesh, np.asfortranarray(x))]
    if expected == "count":
        print(json.dumps({"frames": len(frames), "cut": cut}))
        return 0
    steps = []
    if expected == "free":
        pairs = enumerate(zip(frames[:-1], frames[1:]))
        steps = [i for i, (x, y) in pairs if not ipctk.is_step_collision_free(mesh, np.asfortranarray(x), np.asfortranarray(y))]
    is_right = bool(cut) if expected == "some" else not cut and not steps
    if expected == "untangled":
        free = json.loads((folder / "report.json").read_text())["untangled_at_frame"]
        is_right = free is not None and cut[:1] == [0] and cut[-1] < free < len(frames)
    say = [f"{len(cut)} of {len(frames)} frames have intersections"]
    say += [f"from frame {cut[0]} on"] if cut else []
    say += [f"{len(steps)} of {len(frames) - 1} steps pass through"] if expected == "free" else []
    say += [f"the first from frame {steps[0]}"] if steps else []
    print(f"{folder.name}: {', '.join(say)}; expected: {expected}{'' if is_right else ': FAILED'}")
    return 0 if is_right else 1


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in ("none", "some", "free", "untangled", "count"):
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
