"""Reads the files of a run with readers that are not ours and compares them with its NumPy caches.

    python check_formats.py OUT_DIR

OUT_DIR is a folder as `muslin run` or the example `sample_run` of muslin-io writes it. Of each cloth, `<cloth>.npy`
and `<cloth>.obj` must exist; every other format is checked where it is there. Prints a line per check, and at the
end `N passed, M failed`; the exit code is 0 only if nothing failed.
"""

import json
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import plyfile
import pygltflib
import trimesh
from pxr import Usd, UsdGeom, UsdValidation

HERE = Path(__file__).parent

# Positions are float32 in all formats; a glb adds two of them.
TOLERANCE = 1e-6


class Mismatch(Exception):
    """A file that does not say what the cache says."""


@dataclass
class Cloth:
    """What the other files are compared with."""

    name: str
    stem: str
    frames: np.ndarray
    times: np.ndarray
    triangles: np.ndarray
    uv: np.ndarray | None
    """Texture coordinates of each corner of each triangle, if there are any."""


def expect(condition: bool, message: str) -> None:
    if not condition:
        raise Mismatch(message)


def expect_equal(found, expected, what: str) -> None:
    expect(found == expected, f"{what} is {found!r} instead of {expected!r}")


def expect_close(found, expected, what: str, tolerance: float = TOLERANCE) -> None:
    found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    expect_equal(found.shape, expected.shape, f"the shape of {what}")
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    difference = float(np.abs(found - expected).max(initial=0.0))
    expect(difference <= tolerance * scale, f"{what}: differences up to {difference:g}")


def read_cloth(folder: Path, report: dict, entry: dict) -> Cloth:
    """The reference: NumPy for the motion, and the few lines that an OBJ of triangles needs for the topology."""
    name = entry["name"]
    stem = entry.get("file_stem", name)
    frames = np.load(folder / f"{stem}.npy", allow_pickle=False)
    times = np.array([0.0] + [frame["time"] for frame in report["frames"]])
    expect_equal(frames.dtype.str, "<f4", "the type of the array")
    expect_equal(frames.shape, (len(times), entry["vertices"], 3), "the shape of the array")
    expect(frames.flags.c_contiguous, "the array is not in C order")

    coordinates, corners = [], []
    for line in (folder / f"{stem}.obj").read_text().splitlines():
        words = line.split()
        if words[:1] == ["vt"]:
            coordinates.append([float(word) for word in words[1:3]])
        elif words[:1] == ["f"]:
            corners.append([[int(part) - 1 for part in word.split("/")] for word in words[1:]])
    corners = np.array(corners)
    expect_equal(corners.shape[:2], (entry["triangles"], 3), "the shape of the triangles")
    uv = np.array(coordinates)[corners[:, :, 1]] if coordinates else None
    return Cloth(name, stem, frames, times, corners[:, :, 0], uv)


def check_rest(cloth: Cloth, path: Path) -> None:
    mesh = load_obj(path)
    expect_equal(mesh.faces.shape, cloth.triangles.shape, "the shape of the triangles")
    check_uv(cloth, getattr(mesh.visual, "uv", None), mesh.faces)


def load_obj(path: Path) -> trimesh.Trimesh:
    """A mesh with its triangles in order, but its vertices split at seams: compare corners, not vertices."""
    return trimesh.load(path, process=False, maintain_order=False, force="mesh")


def check_uv(cloth: Cloth, found, triangles: np.ndarray) -> None:
    """Compares a texture coordinate per vertex with those of the corners."""
    expect_equal(found is not None, cloth.uv is not None, "whether there are texture coordinates")
    if found is not None:
        expect_close(np.asarray(found)[triangles], cloth.uv, "texture coordinates")


def check_obj(cloth: Cloth, path: Path) -> None:
    for index, file in numbered(cloth, path, "obj"):
        mesh = load_obj(file)
        expect_close(mesh.vertices[mesh.faces], cloth.frames[index][cloth.triangles], f"frame {index}")


def check_ply(cloth: Cloth, path: Path) -> None:
    for index, file in numbered(cloth, path, "ply"):
        data = plyfile.PlyData.read(file)
        vertex = data["vertex"]
        expect_close(np.stack([vertex[axis] for axis in "xyz"], axis=1), cloth.frames[index], f"frame {index}", 0.0)
        triangles = np.vstack(data["face"]["vertex_indices"])
        expect(np.array_equal(triangles, cloth.triangles), f"triangles of frame {index} differ")
        if "s" in vertex.data.dtype.names:
            check_uv(cloth, np.stack([vertex["s"], vertex["t"]], axis=1), triangles)


def numbered(cloth: Cloth, folder: Path, extension: str) -> list[tuple[int, Path]]:
    files = [folder / f"{cloth.stem}_{index:04}.{extension}" for index in range(len(cloth.frames))]
    expect_equal(sorted(path.name for path in folder.iterdir()), sorted(path.name for path in files), "the sequence")
    return list(enumerate(files))


def check_pc2(cloth: Cloth, path: Path) -> None:
    data = path.read_bytes()
    header = struct.unpack_from("<12siiffi", data)
    expect_equal(header, (b"POINTCACHE2\0", 1, cloth.frames.shape[1], 0.0, 1.0, cloth.frames.shape[0]), "the header")
    points = np.frombuffer(data, "<f4", offset=32)
    expect_close(points.reshape(-1, *cloth.frames.shape[1:]), cloth.frames, "the samples", 0.0)


def check_glb(cloth: Cloth, path: Path) -> None:
    document = pygltflib.GLTF2().load(str(path))
    (mesh,) = document.meshes
    (primitive,) = mesh.primitives
    expect_equal(mesh.name, cloth.name, "the name of the mesh")
    triangles = accessor(document, primitive.indices).reshape(-1, 3)
    base = accessor(document, primitive.attributes.POSITION)
    targets = np.stack([base * 0] + [accessor(document, target["POSITION"]) for target in primitive.targets or []])[1:]
    # Vertices on seams are repeated; the order of the triangles tells which vertex of the cache each one is.
    source = np.zeros(len(base), dtype=int)
    source[: cloth.frames.shape[1]] = np.arange(cloth.frames.shape[1])
    source[triangles] = cloth.triangles
    expect_close(base, cloth.frames[0][source], "the base mesh")
    normals = accessor(document, primitive.attributes.NORMAL)
    expect_close(np.linalg.norm(normals, axis=1), np.ones(len(base)), "the length of the normals", 1e-4)
    texture = primitive.attributes.TEXCOORD_0
    found = None if texture is None else accessor(document, texture) * [1, -1] + [0, 1]
    check_uv(cloth, found, triangles)

    if len(cloth.frames) == 1:
        return expect_equal(document.animations, [], "the animations of a single frame")
    (animation,) = document.animations
    (sampler,) = animation.samplers
    (channel,) = animation.channels
    expect_equal((sampler.interpolation, channel.target.path), ("LINEAR", "weights"), "the animation")
    times = accessor(document, sampler.input)[:, 0]
    weights = accessor(document, sampler.output).reshape(len(times), len(targets))
    kept = np.array([int(np.abs(cloth.times - time).argmin()) for time in times])
    expect_close(times, cloth.times[kept], "the times", 1e-5)
    expect_equal((kept[0], kept[-1]), (0, len(cloth.frames) - 1), "the first and last frame")
    expect(bool((np.diff(kept) > 0).all()), "the frames are not in order")
    for frame, weight in zip(kept, weights):
        expect_close(base + np.tensordot(weight, targets, 1), cloth.frames[frame][source], f"frame {frame}")


def accessor(document: pygltflib.GLTF2, index: int) -> np.ndarray:
    """The values of an accessor, after checking its bounds."""
    entry = document.accessors[index]
    view = document.bufferViews[entry.bufferView]
    width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3}[entry.type]
    kind = {pygltflib.FLOAT: "<f4", pygltflib.UNSIGNED_INT: "<u4"}[entry.componentType]
    start = (view.byteOffset or 0) + (entry.byteOffset or 0)
    values = np.frombuffer(document.binary_blob(), kind, entry.count * width, start).reshape(-1, width)
    for bound, found in [(entry.min, values.min(axis=0)), (entry.max, values.max(axis=0))]:
        if bound:
            expect_close(found, bound, f"the bounds of accessor {index}", 0.0)
    return values.astype(np.float64) if kind == "<f4" else values.astype(int)


def validate_glb(_: Cloth, path: Path) -> None:
    script = HERE / "validate_glb.mjs"
    result = subprocess.run(["node", script, path], capture_output=True, text=True, check=False)
    expect(result.returncode == 0, (result.stdout + result.stderr).strip())


def check_usd(cloth: Cloth, path: Path) -> None:
    stage = Usd.Stage.Open(str(path))
    root = stage.GetDefaultPrim()
    expect_equal(root.GetDisplayName(), cloth.name, "the display name")
    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    expect_equal(len(meshes), 1, "the number of meshes")
    (mesh,) = meshes
    expect_equal(UsdGeom.GetStageUpAxis(stage), UsdGeom.Tokens.y, "the up axis")
    expect_equal(UsdGeom.GetStageMetersPerUnit(stage), 1.0, "metres per unit")
    last = len(cloth.frames) - 1
    expect_equal((stage.GetStartTimeCode(), stage.GetEndTimeCode()), (0.0, float(last)), "the time codes")
    expect_close(np.arange(last + 1) / stage.GetTimeCodesPerSecond(), cloth.times, "the times", 1e-5)
    expect_equal(mesh.GetSubdivisionSchemeAttr().Get(), UsdGeom.Tokens.none, "the subdivision scheme")
    expect(mesh.GetDoubleSidedAttr().Get(), "the mesh is not double-sided")
    expect_equal(set(mesh.GetFaceVertexCountsAttr().Get()), {3}, "the corners of the faces")
    expect_close(np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3), cloth.triangles, "the triangles", 0.0)

    points, extent, normals = mesh.GetPointsAttr(), mesh.GetExtentAttr(), mesh.GetNormalsAttr()
    for attribute in [points, extent, normals]:
        samples = attribute.GetTimeSamples()
        expect_equal(samples, [float(frame) for frame in range(last + 1)], f"the samples of {attribute.GetName()}")
    for frame, expected in enumerate(cloth.frames):
        expect_close(points.Get(frame), expected, f"frame {frame}", 0.0)
        expect_close(extent.Get(frame), [expected.min(axis=0), expected.max(axis=0)], f"the extent of {frame}", 0.0)
        lengths = np.linalg.norm(normals.Get(frame), axis=1)
        expect_close(lengths, np.ones(len(expected)), f"the length of the normals of frame {frame}", 1e-3)

    texture = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("st")
    expect_equal(texture.HasValue(), cloth.uv is not None, "whether there are texture coordinates")
    if texture.HasValue():
        expect_equal(texture.GetInterpolation(), UsdGeom.Tokens.faceVarying, "the interpolation of st")
        expect_close(np.array(texture.ComputeFlattened()).reshape(-1, 3, 2), cloth.uv, "texture coordinates")


def validate_usd(_: Cloth, path: Path) -> None:
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    errors = UsdValidation.ValidationContext(validators).Validate(Usd.Stage.Open(str(path)))
    expect(not errors, "; ".join(error.GetMessage() for error in errors))


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__)
        return 2
    folder = Path(arguments[0])
    report = json.loads((folder / "report.json").read_text())
    checks: list[tuple[str, str, Callable[[Cloth, Path], None]]] = [
        ("{}.obj", "trimesh", check_rest),
        ("{}_obj", "trimesh", check_obj),
        ("{}_ply", "plyfile", check_ply),
        ("{}.pc2", "struct", check_pc2),
        ("{}.glb", "pygltflib", check_glb),
        ("{}.usda", "usd-core", check_usd),
        ("{}.usda", "UsdValidation", validate_usd),
    ]
    if shutil.which("node") and (HERE / "node_modules").is_dir():
        checks.append(("{}.glb", "gltf-validator", validate_glb))
    else:
        print("skipped: gltf-validator, as node or node_modules is missing (npm ci)")

    passed = failed = 0

    def attempt(path: Path, reader: str, action: Callable[[], Cloth | None]) -> Cloth | None:
        """Runs a check, prints how it went and counts it; whatever a reader throws is a failure of the file."""
        nonlocal passed, failed
        try:
            result = action()
        except Exception as error:
            failed += 1
            reason = str(error) if isinstance(error, Mismatch) else f"{type(error).__name__}: {error}"
            print(f"FAILED  {path} ({reader}): {reason}")
            return None
        passed += 1
        print(f"ok      {path} ({reader})")
        return result

    for entry in report["cloths"]:
        stem = entry.get("file_stem", entry["name"])
        cloth = attempt(folder / f"{stem}.npy", "NumPy", lambda: read_cloth(folder, report, entry))
        if cloth is None:
            continue
        for pattern, reader, check in checks:
            path = folder / pattern.format(stem)
            if path.exists():
                attempt(path, reader, lambda: check(cloth, path))
    if not report["cloths"]:
        failed += 1
        print(f"FAILED  {folder / 'report.json'}: it lists no cloths")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
