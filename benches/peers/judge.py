"""What runs cost, how far they stretched, and where they cut themselves, by the IPC Toolkit: the same referee for all.

    python judge.py RUNS TABLE.csv

RUNS has a folder for each run with `cloth.npy`, `triangles.npy`, `times.csv`, and `about.txt` (peer, label, settings). Times are medians over FOLDED, the frames in which the cloth
lies in folds: after it has fallen, and when the ball comes to rest; between them it is flung out, and nothing touches. Strain is |length / rest
length − 1| of an edge, against the first frame, which is at rest. Cuts are pairs of triangles with an edge of one through the other.
What lies in folds, and how far the cloth was turned, says whether the runs did the same work.
"""

import csv
import sys
from importlib.metadata import version
from pathlib import Path

import ipctk
import numpy as np

FOLDED = [*range(35, 90), *range(190, 210)]


def cuts(x: np.ndarray, mesh: ipctk.CollisionMesh, edges: np.ndarray, faces: np.ndarray, faces_of_edges: list[list[int]]) -> int:
    """Pairs of triangles that cut each other."""
    x = np.asfortranarray(x)
    if not ipctk.has_intersections(mesh, x):
        return 0
    search = ipctk.LBVH()
    search.build(x, edges, faces)
    found = search.detect_edge_face_candidates()
    pairs = np.array([(candidate.edge_id, candidate.face_id) for candidate in found])
    ends, corners = edges[pairs[:, 0]], faces[pairs[:, 1]]
    apart = ~(ends[:, :, None] == corners[:, None, :]).any(axis=(1, 2))
    # Both ends of an edge clearly on one side of the plane of a triangle: no need to ask.
    a, b, c = (x[corners[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    sides = [((x[ends[:, i]] - a) * normal).sum(axis=1) for i in range(2)]
    size = 1e-9 * np.linalg.norm(normal, axis=1)
    apart &= ~((np.minimum(*sides) > size) | (np.maximum(*sides) < -size))
    cutting = set()
    for edge, face in pairs[apart]:
        if ipctk.is_edge_intersecting_triangle(*x[edges[edge]], *x[faces[face]]):
            cutting |= {(min(own, face), max(own, face)) for own in faces_of_edges[edge]}
    return len(cutting)


def layered(x: np.ndarray, rest: np.ndarray) -> float:
    """Share of the vertices that have another one within one and a half edges that is four edges away in the flat cloth: what lies in folds."""
    edge = np.linalg.norm(rest[1] - rest[0])
    count = 0
    for start in range(0, len(x), 500):
        near = ((x[start:start + 500, None] - x[None]) ** 2).sum(axis=2) < 2.25 * edge * edge
        far = ((rest[start:start + 500, None] - rest[None]) ** 2).sum(axis=2) > 16 * edge * edge
        count += int((near & far).any(axis=1).sum())
    return count / len(x)


def turned(frames: np.ndarray) -> float:
    """How far the cloth on top of the ball has turned with it, in degrees: 720 if it has not slipped."""
    top = np.hypot(frames[0][:, 0], frames[0][:, 2]) < 0.1
    place = frames[:, top, 2] * 1j + frames[:, top, 0]
    place -= place.mean(axis=1, keepdims=True)
    return float(-np.degrees(np.unwrap(np.angle((place * place[0].conj()).sum(axis=1)))[-1]))


def measure(folder: Path) -> dict[str, float]:
    frames = np.load(folder / "cloth.npy").astype(np.float64)
    faces = np.asfortranarray(np.load(folder / "triangles.npy").astype(np.int32))
    edges = np.asfortranarray(ipctk.edges(faces))
    times = np.loadtxt(folder / "times.csv", delimiter=",", skiprows=1, ndmin=2)
    number = {tuple(sorted(edge)): i for i, edge in enumerate(edges.tolist())}
    faces_of_edges: list[list[int]] = [[] for _ in edges]
    for face, (a, b, c) in enumerate(faces.tolist()):
        for edge in ((a, b), (b, c), (a, c)):
            faces_of_edges[number[tuple(sorted(edge))]].append(face)

    def strains(x: np.ndarray) -> np.ndarray:
        lengths = np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1)
        return np.abs(lengths / rest - 1)

    rest = np.linalg.norm(frames[0][edges[:, 0]] - frames[0][edges[:, 1]], axis=1)
    peak = max(range(len(frames)), key=lambda i: strains(frames[i]).max())
    mesh = ipctk.CollisionMesh(np.asfortranarray(frames[0]), edges, faces)
    cut = [cuts(x, mesh, edges, faces, faces_of_edges) for x in frames]
    folding = times[[frame for frame in FOLDED if frame < len(times)] or [-1]]
    return {
        "vertices": frames.shape[1],
        "frames": len(frames) - 1,
        "wall_ms": np.median(folding[:, 0]),
        "cpu_ms": np.median(folding[:, 1]),
        "end_max_strain": strains(frames[-1]).max(),
        "end_mean_strain": strains(frames[-1]).mean(),
        "peak_max_strain": strains(frames[peak]).max(),
        "peak_mean_strain": strains(frames[peak]).mean(),
        "turned": turned(frames),
        "layered": max(layered(frames[min(frame, len(frames) - 1)], frames[0]) for frame in (60, 205)),
        "cut_frames": sum(count > 0 for count in cut),
        "most_cuts": max(cut),
        "mean_cuts": np.mean(cut),
    }


def versions() -> dict[str, str]:
    lock = (Path(__file__).parent / "Cargo.lock").read_text().split("[[package]]")
    locked = {name: text.split('version = "')[1].split('"')[0] for name in ("muslin", "rapier3d") for text in lock if f'name = "{name}"' in text}
    return {"muslin": locked["muslin"], "rapier": locked["rapier3d"], "blender": version("bpy")}


def main(runs: Path, table: Path) -> None:
    rows, known = [], versions()
    for folder in sorted(path for path in runs.iterdir() if path.is_dir()):
        peer, label, settings = (folder / "about.txt").read_text().split("\n")[:3]
        row = {"peer": peer, "version": known[peer], "label": label, "settings": settings, "cells": int(folder.name.split("-")[0]), "failure": ""}
        if (folder / "failure.txt").exists():
            row["failure"] = "failed"
        else:
            row |= measure(folder)
        own = next((one for one in rows if one["cells"] == row["cells"] and one["peer"] == "muslin"), row)
        if "cpu_ms" in row and "cpu_ms" in own:
            row["ratio"] = row["cpu_ms"] / own["cpu_ms"]
        rows.append(row)
        print(f"judged {folder.name}", file=sys.stderr)
    keys = list(dict.fromkeys(key for row in rows for key in row))
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, keys, lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()} for row in rows)
    print("\n| cells | peer | settings | CPU ms/frame | times Muslin | strain at the end, max (mean) | at the peak | turned | in folds | frames with cuts | most cuts | frames |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        words = [f"{row['cells']}²", f"{row['peer']} {row['version']}", f"{row['label']} {row['settings']}"]
        if row["failure"]:
            print("| " + " | ".join(words + [row["failure"]] + 8 * ["–"]) + " |")
            continue
        strain = [f"{100 * row[f'{when}_max_strain']:.0f} % ({100 * row[f'{when}_mean_strain']:.2f} %)" for when in ("end", "peak")]
        words += [f"{row['cpu_ms']:.0f}", f"{row.get('ratio', float('nan')):.1f}", *strain, f"{row['turned']:.0f}°", f"{100 * row['layered']:.0f} %"]
        print("| " + " | ".join(words + [str(row[key]) for key in ("cut_frames", "most_cuts", "frames")]) + " |")
    print(f"\nCPU time of one thread, median of the frames {FOLDED[0]} to 89 and 190 to {FOLDED[-1]}; cuts by ipctk {version('ipctk')}; all in {table}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
