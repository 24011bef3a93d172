"""What runs cost, how far they stretched, how far they are from the converged motion, and where they cut themselves: the same judge for all.

    python judge.py RUNS REFERENCES TABLE.csv

RUNS has a folder for each run with `work.json`, `positions.npy` and `result.json` (see `common.py`), or `failure.txt` where a run ended without a result.
REFERENCES has the converged motions of the first half second, `WORKLOAD-SIDE/positions.npy`.

    cost          processor time and wall time of a frame in ms: median, and the distance of the quartiles; without the first frame, and in "fold" over FOLDED
                  only, the frames in which the cloth lies in folds: after it has fallen, and when the ball comes to rest; between them nothing touches
    strain        |length / rest length − 1| of an edge, against the first frame, which is at rest: largest at the end, at its peak
    distance      to the converged motion: root mean square over the vertices, and the farthest vertex, at most in any frame of the first half second
    fall          how far the last row of vertices is below its start, in the mean, at the end
    passes        every frame was run, and "hang": at most 2 cm, and 1 % at the end; "stiffest", "softest": at most 2 cm (converged, their corners stretch by more
                  than 1 %); "fold": no cut; "drape", "flag": at most 10 % at the end, which only says that it did not explode: they buckle at once, after which
                  two converged runs are centimetres apart
    cuts          pairs of triangles with an edge of one through the other, by the IPC Toolkit
    rate          rows or sweeps a second of processor time, in "rows"
    ratio         times Muslin's cost; in "rows", Muslin's rate over this one. Muslin's own run is its cheapest that passes (in "fold" the one with the
                  least strain at its peak), else its first

What lies in folds, and how far the cloth was turned, says whether runs of "fold" did the same work.
"""

import csv
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

FOLDED = [*range(35, 90), *range(190, 210)]
REFERENCE_FRAMES = 30
MOTION_LIMIT, STRAIN_LIMIT, EXPLODED = 0.02, 0.01, 0.1
HUNG = ("hang", "stiffest", "softest")
# Of Muslin's runs that pass, which is its own: the cheapest, but where strain has no limit that with the least.
BY = {"fold": "peak_strain"}


def strains(x: np.ndarray, edges: np.ndarray, rest: np.ndarray) -> np.ndarray:
    return np.abs(np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1) / rest - 1)


def distance(frames: np.ndarray, reference: np.ndarray) -> tuple[float, float]:
    """Root mean square over the vertices and the farthest one, at most in any frame that both have, of the first half second."""
    count = min(len(frames), len(reference), REFERENCE_FRAMES + 1)
    squares = ((frames[:count].astype(np.float64) - reference[:count]) ** 2).sum(axis=2)
    return float(np.sqrt(squares.mean(axis=1)).max()), float(np.sqrt(squares.max()))


def spread(values: np.ndarray) -> tuple[float, float]:
    """Median, and the distance of the quartiles."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return float(middle), float(high - low)


def cuts(x: np.ndarray, mesh: Any, edges: np.ndarray, faces: np.ndarray, faces_of_edges: list[list[int]]) -> int:
    """Pairs of triangles that cut each other."""
    import ipctk

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


def folds(frames: np.ndarray, faces: np.ndarray, edges: np.ndarray) -> dict[str, float]:
    """What "fold" is looked at for besides."""
    import ipctk

    edges, faces = np.asfortranarray(edges), np.asfortranarray(faces)
    number = {tuple(sorted(edge)): i for i, edge in enumerate(edges.tolist())}
    faces_of_edges: list[list[int]] = [[] for _ in edges]
    for face, (a, b, c) in enumerate(faces.tolist()):
        for edge in ((a, b), (b, c), (a, c)):
            faces_of_edges[number[tuple(sorted(edge))]].append(face)
    mesh = ipctk.CollisionMesh(np.asfortranarray(frames[0].astype(np.float64)), edges, faces)
    cut = [cuts(x.astype(np.float64), mesh, edges, faces, faces_of_edges) for x in frames]
    return {
        "turned": turned(frames),
        "layered": max(layered(frames[min(frame, len(frames) - 1)], frames[0]) for frame in (60, 205)),
        "cut_frames": sum(count > 0 for count in cut),
        "most_cuts": max(cut),
    }


def measure(folder: Path, references: Path) -> dict[str, Any]:
    """The row of a run."""
    work = json.loads((folder / "work.json").read_text())
    row: dict[str, Any] = {"workload": work["workload"], "side": work["side"], "peer": work["peer"], "label": work["label"]}
    if not (folder / "result.json").exists():
        reason = folder / "failure.txt"
        return row | {"settings": json.dumps(work["settings"]), "failed": reason.read_text().strip() if reason.exists() else "no result"}
    result = json.loads((folder / "result.json").read_text())
    packages = " ".join(f"{name} {number}" for name, number in result["packages"].items())
    row |= {key: result[key] for key in ("version", "failed", "notes")}
    row |= {"packages": packages, "settings": json.dumps(result["settings"]), "frames": len(result["cpu_s"]), "asked": work["frames"]}
    frames = np.load(folder / "positions.npy", mmap_mode="r")
    times = np.array([result["cpu_s"], result["wall_s"]]).T
    if len(times) == 0 or len(frames) == 0:
        return row
    folding = [frame for frame in FOLDED if frame < len(times)] if work["workload"] == "fold" else []
    timed = times[folding] if folding else times[min(1, len(times) - 1) :]
    row["cpu_ms"], row["cpu_spread"] = spread(1e3 * timed[:, 0])
    row["wall_ms"], row["wall_spread"] = spread(1e3 * timed[:, 1])
    edges = np.load(work["edges"])
    rest = np.linalg.norm(frames[0][edges[:, 0]].astype(np.float64) - frames[0][edges[:, 1]], axis=1)
    per_frame = [strains(x.astype(np.float64), edges, rest).max() for x in frames]
    row["end_strain"], row["peak_strain"] = float(per_frame[-1]), float(max(per_frame))
    last_row = slice(len(frames[0]) - work["side"], None)
    row["fall"] = float((frames[0][last_row, 1] - frames[-1][last_row, 1]).mean())
    if work["workload"] == "rows":
        kind = work["label"].split(",")[0]
        count = result["counts"]["iterations" if kind.startswith("vbd") else "projections"] / len(times)
        row["rate"] = count / (1e-3 * row["cpu_ms"])
        return row
    reference = references / f"{work['workload']}-{work['side']:04}" / "positions.npy"
    if reference.exists():
        row["distance"], row["farthest"] = distance(frames, np.load(reference, mmap_mode="r"))
    if work["workload"] == "fold":
        row |= folds(frames, np.load(work["triangles"]), edges)
    row["passes"] = passes(row)
    return row


def judged(folder: Path, references: Path) -> dict[str, Any]:
    """The row of a run, kept beside it: to look for cuts in every frame takes long, and most runs were there the last time."""
    kept, result = folder / "row.json", folder / "result.json"
    sources = [path for path in (Path(__file__), folder / "work.json", result, *references.glob("*/positions.npy")) if path.exists()]
    if kept.exists() and all(path.stat().st_mtime < kept.stat().st_mtime for path in sources):
        return json.loads(kept.read_text())
    row = measure(folder, references)
    print(f"judged {folder.name}", file=sys.stderr)
    if result.exists():
        kept.write_text(json.dumps(row))
    return row


def passes(row: dict[str, Any]) -> bool:
    if row["failed"] or row["frames"] < row["asked"]:
        return False
    if row["workload"] == "fold":
        return row["cut_frames"] == 0
    if row["workload"] not in HUNG:
        return row["end_strain"] <= EXPLODED
    return row["distance"] <= MOTION_LIMIT and (row["workload"] != "hang" or row["end_strain"] <= STRAIN_LIMIT)


def group(row: dict[str, Any]) -> tuple[Any, ...]:
    """Runs that are compared with each other."""
    return row["workload"], row["side"], row["label"].split(",")[0] if row["workload"] == "rows" else ""


def compare(rows: list[dict[str, Any]]) -> None:
    """Adds the ratio to Muslin's own run."""
    for row in rows:
        if row["workload"] == "rows":
            own = [one for one in rows if group(one) == group(row) and one["peer"] == "muslin" and "rate" in one]
            best = max(own, key=lambda one: one["rate"], default=None)
            if best and "rate" in row:
                row["ratio"] = best["rate"] / row["rate"]
            continue
        own = [one for one in rows if group(one) == group(row) and one["peer"] == "muslin" and "cpu_ms" in one]
        best = min((one for one in own if one["passes"]), key=lambda one: one[BY.get(row["workload"], "cpu_ms")], default=own[0] if own else None)
        if best and "cpu_ms" in row:
            row["ratio"] = row["cpu_ms"] / best["cpu_ms"]


def number(row: dict[str, Any], key: str, scale: float = 1.0, digits: int = 3) -> str:
    return f"{scale * row[key]:.{digits}g}" if key in row else "–"


def show(rows: list[dict[str, Any]]) -> None:
    """The table, a section for each workload and size, cheapest first."""
    for key in dict.fromkeys(group(row) for row in rows):
        ours = [row for row in rows if group(row) == key]
        workload, side, kind = key
        if workload == "rows":
            unit, scale = ("sweeps/s", 1.0) if kind.startswith("vbd") else ("M rows/s", 1e-6)
            print(f"\n{kind}, {side}²\n\n| peer | {unit} | Muslin's over this | ms a frame | settings |\n|---|---|---|---|---|")
            for row in sorted(ours, key=lambda row: -row.get("rate", 0.0)):
                words = [name(row), number(row, "rate", scale), number(row, "ratio"), number(row, "cpu_ms"), failure(row) or row["settings"]]
                print("| " + " | ".join(words) + " |")
            continue
        extra = ["turned", "in folds", "frames with cuts", "most cuts"] if workload == "fold" else ["cm off (farthest)", "fall, m"]
        heads = ["peer", "CPU ms/frame (spread)", "wall", "times Muslin", "passes", "strain at the end", "at the peak", *extra, "frames", "settings"]
        print(f"\n{workload}, {side}²\n\n| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
        for row in sorted(ours, key=lambda row: (not row.get("passes", False), row.get("cpu_ms", float("inf")))):
            words = [name(row), f"{number(row, 'cpu_ms')} ({number(row, 'cpu_spread')})", number(row, "wall_ms"), number(row, "ratio")]
            words += ["yes" if row.get("passes") else "no", number(row, "end_strain", 100) + " %", number(row, "peak_strain", 100) + " %"]
            if workload == "fold":
                words += [number(row, "turned") + "°", number(row, "layered", 100) + " %", str(row.get("cut_frames", "–")), str(row.get("most_cuts", "–"))]
            else:
                words += [f"{number(row, 'distance', 100)} ({number(row, 'farthest', 100)})", number(row, "fall")]
            print("| " + " | ".join([*words, str(row.get("frames", "–")), failure(row) or row["settings"]]) + " |")


def name(row: dict[str, Any]) -> str:
    return f"{row['peer']} {row.get('version', '')} {row['label']}"


def failure(row: dict[str, Any]) -> str:
    return f"**{row['failed']}** {row['settings']}" if row.get("failed") else ""


def summarize(rows: list[dict[str, Any]]) -> None:
    """The best peer that passes, for each workload and size."""
    print("\nThe cheapest peer that passes, and Muslin:\n")
    for key in dict.fromkeys(group(row) for row in rows if row["workload"] != "rows"):
        passing = [row for row in rows if group(row) == key and row.get("passes")]
        ours, theirs = ([row for row in passing if (row["peer"] == "muslin") == own] for own in (True, False))
        best = [
            min(ours, key=lambda row: row[BY.get(row["workload"], "cpu_ms")], default=None),
            min(theirs, key=lambda row: row["cpu_ms"], default=None),
        ]
        words = [f"{name(row)} {row['cpu_ms']:.3g} ms" if row else "none" for row in best]
        times = f", {best[1]['cpu_ms'] / best[0]['cpu_ms']:.3g} times" if all(best) else ""
        print(f"- {key[0]}, {key[1]}²: {words[0]}; {words[1]}{times}")


def main(runs: Path, references: Path, table: Path) -> None:
    rows = [judged(folder, references) for folder in sorted(runs.iterdir()) if (folder / "work.json").exists()]
    compare(rows)
    keys = list(dict.fromkeys(key for row in rows for key in row))
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, keys, lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()} for row in rows)
    show(rows)
    summarize(rows)
    print(f"\nProcessor time of one thread; cuts by ipctk {version('ipctk')}; all in {table}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
