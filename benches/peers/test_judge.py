"""The judge's numbers on data that were made up so that they are known. Needs NumPy and nothing else.

    python test_judge.py
"""

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import common
import judge

# Two triangles, a square of 1 m; side = 2.
SQUARE = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]], dtype=np.float64)
EDGES = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [0, 3]], dtype=np.int32)


def write(folder: Path, peer: str, frames: list[np.ndarray], asked: int, cpu: list[float], **keys: object) -> Path:
    """A run as a peer leaves it."""
    run = folder / "runs" / f"hang-0002-00-{peer}"
    run.mkdir(parents=True)
    np.save(folder / "edges.npy", EDGES)
    work = {"workload": "hang", "peer": peer, "side": 2, "label": "x", "settings": {}, "frames": asked, "edges": str(folder / "edges.npy"), **keys}
    (run / "work.json").write_text(json.dumps(work))
    file = common.Frames(run / "positions.npy", 4)
    for frame in frames:
        file.push(frame)
    file.close()
    result = {"peer": peer, "version": "1", "packages": {}, "settings": {}, "failed": None, "notes": "", "wall_s": cpu, "cpu_s": cpu, "counts": {"projections": 600}}
    (run / "result.json").write_text(json.dumps(result))
    return run


class Judge(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp())

    def reference(self, frames: list[np.ndarray]) -> Path:
        path = self.folder / "reference" / "hang-0002"
        path.mkdir(parents=True)
        np.save(path / "positions.npy", np.array(frames, dtype=np.float32))
        return path.parent

    def test_strain_is_that_of_the_longest_edge_at_the_end_and_at_its_peak(self) -> None:
        wide, narrow = SQUARE * [1.5, 1, 1], SQUARE * [1, 1, 0.995]
        row = judge.measure(write(self.folder, "a", [SQUARE, wide, narrow], 2, [1.0, 2.0]), self.reference([SQUARE, SQUARE, SQUARE]))
        self.assertAlmostEqual(row["end_strain"], 0.005, places=6)
        self.assertAlmostEqual(row["peak_strain"], 0.5, places=6)
        # Frame 1 is off by ½ m at two of four vertices.
        self.assertAlmostEqual(row["distance"], np.sqrt(0.125), places=6)
        self.assertAlmostEqual(row["farthest"], 0.5, places=6)
        self.assertFalse(row["passes"])

    def test_the_first_frame_is_not_timed_and_the_last_row_falls(self) -> None:
        fallen = SQUARE - [[0, 0, 0], [0, 0, 0], [0, 0.3, 0], [0, 0.5, 0]]
        row = judge.measure(write(self.folder, "a", [SQUARE, fallen, fallen, fallen], 3, [9.0, 1.0, 3.0]), self.reference([SQUARE]))
        self.assertEqual((row["cpu_ms"], row["cpu_spread"]), (2000.0, 1000.0))
        self.assertAlmostEqual(row["fall"], 0.4, places=6)

    def test_what_is_near_and_whole_passes_and_what_was_stopped_does_not(self) -> None:
        near = SQUARE + [0.019, 0, 0]
        references = self.reference([SQUARE, SQUARE])
        self.assertTrue(judge.measure(write(self.folder, "a", [SQUARE, near], 1, [1.0]), references)["passes"])
        self.assertFalse(judge.measure(write(self.folder, "b", [SQUARE, near], 2, [1.0]), references)["passes"])
        far = SQUARE + [0.021, 0, 0]
        self.assertFalse(judge.measure(write(self.folder, "c", [SQUARE, far], 1, [1.0]), references)["passes"])

    def test_ratios_are_to_the_cheapest_run_of_muslin_that_passes(self) -> None:
        rows = [
            {"workload": "hang", "side": 2, "peer": peer, "label": "", "cpu_ms": cost, "passes": passes}
            for peer, cost, passes in [("muslin", 1.0, False), ("muslin", 4.0, True), ("muslin", 2.0, True), ("x", 30.0, True)]
        ]
        judge.compare(rows)
        self.assertEqual([row["ratio"] for row in rows], [0.5, 2.0, 1.0, 15.0])

    def test_rates_are_compared_within_what_is_counted(self) -> None:
        rows = [
            {"workload": "rows", "side": 2, "peer": peer, "label": label, "rate": rate}
            for peer, label, rate in [("muslin", "distance", 200.0), ("muslin", "vbd", 9.0), ("x", "distance, serial", 50.0), ("x", "vbd", 3.0)]
        ]
        judge.compare(rows)
        self.assertEqual([row["ratio"] for row in rows], [1.0, 1.0, 4.0, 3.0])

    def test_a_run_without_a_result_is_a_row_with_its_reason(self) -> None:
        run = write(self.folder, "a", [SQUARE], 1, [])
        (run / "result.json").unlink()
        (run / "failure.txt").write_text("killed\n")
        row = judge.measure(run, self.folder)
        self.assertEqual((row["peer"], row["failed"]), ("a", "killed"))
        judge.compare([row])
        self.assertNotIn("ratio", row)

    def test_a_row_is_kept_until_its_run_changes(self) -> None:
        references = self.reference([SQUARE, SQUARE])
        run = write(self.folder, "a", [SQUARE, SQUARE], 1, [1.0])
        first = judge.judged(run, references)
        (run / "positions.npy").unlink()
        self.assertEqual(judge.judged(run, references), first)
        later = (run / "row.json").stat().st_mtime + 10
        os.utime(run / "result.json", (later, later))
        with self.assertRaises(FileNotFoundError):
            judge.judged(run, references)

    def test_a_run_is_ended_where_its_motion_is_off(self) -> None:
        path = self.folder / "motion.npy"
        np.save(path, np.array([SQUARE, SQUARE], dtype=np.float32))
        gate = common.Gate(str(path))
        self.assertTrue(gate.is_shut(1, SQUARE + [0, 0.03, 0]))
        self.assertFalse(gate.is_shut(1, SQUARE + [0, 0.01, 0]))
        self.assertFalse(gate.is_shut(2, SQUARE + [0, 0.03, 0]) or common.Gate(None).is_shut(1, SQUARE))

    def test_a_body_turns_from_rest_to_rest(self) -> None:
        body = {"spin": {"start": 1.0, "end": 3.0, "degrees": 360.0}}
        self.assertEqual([round(common.turn(body, t) / np.pi, 9) for t in (0.5, 2.0, 3.0, 9.0)], [0.0, 1.0, 2.0, 2.0])


if __name__ == "__main__":
    unittest.main()
