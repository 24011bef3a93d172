"""Scenes: where they are from, their keys, and every mistake with its place."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import muslin

OBJ = "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 0 1\nf 1 3 2\nf 2 3 4\n"


def test_every_builtin_scene_opens() -> None:
    for name, summary in muslin.scenes().items():
        scene = muslin.Scene(name)
        assert scene.name == name and summary.endswith(".") and name in repr(scene)


def test_what_is_not_said_has_its_default() -> None:
    scene = muslin.Scene("drape")
    assert scene["solver"]["kind"] == "auto"
    assert scene["gravity"] == [0.0, -9.81, 0.0]
    scene["gravity"][1] = -1.62
    assert scene["gravity"] == [0.0, -1.62, 0.0]
    assert scene["cloth"][0]["material"]["density"] == scene["cloth.0.material.density"]
    assert "fabric" in scene["cloth"][0]["material"] and "nothing" not in scene["solver"]
    assert set(scene) >= {"name", "duration", "cloth", "collider", "solver"}


def test_another_solver_has_other_keys(tiny: dict[str, Any]) -> None:
    scene = muslin.Scene(tiny)
    assert scene["solver"] == {"kind": "xpbd", "substeps": 4, "iterations": 1, "precision": "f32", "long_range": "off"}
    scene["solver"] = {"kind": "auto"}
    assert "substeps" not in scene["solver"]
    del scene["solver"]
    assert scene["solver"]["kind"] == "auto"


def test_keys_that_do_not_go_together_may_be_changed_one_after_the_other() -> None:
    scene = muslin.Scene("drape")
    scene["solver"] = {"kind": "auto", "quality": {"max_strain": 0.02}}
    scene["solver"]["kind"] = "xpbd"
    with pytest.raises(muslin.SceneError, match=r"solver\.quality: unknown key"):
        scene.check()
    with pytest.raises(muslin.SceneError, match=r"solver\.quality: unknown key"):
        muslin.Simulation(scene)
    del scene["solver"]["quality"]
    assert scene.check() == []


@pytest.mark.parametrize(
    ("key", "value", "place", "words"),
    [
        ("fsp", 30, "fsp", "unknown key; did you mean `fps`?"),
        ("fps", "fast", "fps", "must be a number"),
        ("fps", 0, "fps", "must be a number from 1 to 1000, got 0"),
        ("solver.kind", "xpdb", "solver.kind", 'unknown solver "xpdb"; did you mean "xpbd"?'),
        ("cloth.0.material", {"density": -1}, "cloth[0].material.density", "greater than 0, got -1"),
        ("cloth.0.pins.0.vertices", [0.5], "cloth[0].pins[0].vertices[0]", "must be"),
        ("gravity", [0, np.nan, 0], "gravity[1]", "must be a number from -1000000 to 1000000, got nan"),
        ("cloth.0.name", None, "cloth[0].name", "a value of type NoneType has no place in a scene"),
        ("cloth.0.scale", 2**70, "cloth[0].scale", "too large for a whole number"),
    ],
)
def test_a_wrong_key_is_refused_at_once_with_its_place(
    tiny: dict[str, Any], key: str, value: Any, place: str, words: str
) -> None:
    scene = muslin.Scene(tiny)
    before = scene.copy()
    with pytest.raises(muslin.SceneError) as caught:
        scene[key] = value
    assert place in str(caught.value) and words in str(caught.value)
    assert caught.value.findings[0]["path"] == place
    assert scene == before, "nothing has changed"


def test_an_index_or_a_key_that_is_not_there(tiny: dict[str, Any]) -> None:
    scene = muslin.Scene(tiny)
    with pytest.raises(IndexError, match="cloth has 1 items, there is no 1"):
        scene["cloth"][1]
    with pytest.raises(KeyError, match="nowhere"):
        scene["nowhere"]
    with pytest.raises(KeyError, match="nothing to remove"):
        del scene["gravity"]
    with pytest.raises(KeyError):
        scene["cloth.7.scale"] = 2.0


def test_a_file_is_read_and_its_mistakes_have_lines(tmp_path: Path) -> None:
    path = tmp_path / "first.toml"
    path.write_text("fps = 30\n[[cloth]]\ngrid = { size = [1, 1], cells = [4, 4] }\nscale = -1\n", encoding="utf-8")
    with pytest.raises(muslin.SceneError, match=rf"{path}:4:9: cloth\[0\]\.scale: must be") as caught:
        muslin.Scene(path)
    assert (caught.value.findings[0]["line"], caught.value.findings[0]["column"]) == (4, 9)
    assert "4 | scale = -1" in str(caught.value)
    path.write_text("fps = 30\n[[cloth]]\nmesh = 'sheet.obj'\n", encoding="utf-8")
    scene = muslin.Scene(path)
    with pytest.raises(muslin.SceneError, match=rf"{path}:3:8: cloth\[0\]\.mesh: cannot read"):
        scene.check()
    (tmp_path / "sheet.obj").write_text(OBJ, encoding="utf-8")
    assert scene.check() == []
    # A line that is not the user's any more is not named.
    scene["fps"] = 60
    (tmp_path / "sheet.obj").write_text("v 0 0\n", encoding="utf-8")
    with pytest.raises(muslin.SceneError, match=rf"^{path}: cloth\[0\]\.mesh: "):
        scene.check()


def test_what_is_no_scene_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='did you mean "drape"'):
        muslin.Scene("drap")
    with pytest.raises(FileNotFoundError, match="there is no scene file"):
        muslin.Scene(tmp_path / "none.toml")
    with pytest.raises(TypeError, match="a scene is a name, a path, a dict or a Scene, not int"):
        muslin.Scene(3)  # type: ignore[arg-type]
    with pytest.raises(muslin.SceneError, match="needs at least one"):
        muslin.Scene({})
    (tmp_path / "broken.toml").write_text("fps = = 3\n", encoding="utf-8")
    with pytest.raises(muslin.SceneError, match=r"broken\.toml:1:"):
        muslin.Scene(tmp_path / "broken.toml")


def test_lists_are_lists(tiny: dict[str, Any]) -> None:
    scene = muslin.Scene(tiny)
    scene["collider"].append({"plane": {"point": [0, -1, 0], "normal": [0, 1, 0]}})
    assert len(scene["collider"]) == 2 and scene["collider"][-1]["plane"]["normal"] == [0, 1, 0]
    scene["collider"].pop()
    assert len(scene["collider"]) == 1
    scene["collider"][0:1] = []
    assert scene["collider"] == [] and len(muslin.Simulation(scene, threads=1).colliders) == 0
    with pytest.raises(muslin.SceneError, match=r"collider\[0\]\.sphere: radius is missing"):
        scene["collider"].append({"sphere": {"center": [0, 0, 0]}})


def test_numpy_numbers_and_arrays_are_values(tiny: dict[str, Any]) -> None:
    tiny["cloth"][0]["translate"] = np.array([0.0, 0.5, 0.0], dtype=np.float32)
    tiny["cloth"][0]["pins"] = [{"vertices": np.arange(3)}]
    scene = muslin.Scene(tiny)
    scene["cloth"][0]["scale"] = np.float32(0.5)
    assert scene["cloth"][0]["scale"] == 0.5 and scene["cloth"][0]["pins"][0]["vertices"] == [0, 1, 2]


def test_strings_of_every_kind_come_through(tiny: dict[str, Any]) -> None:
    name = "quote \" slash \\ line \n bell \x07 delete \x7f é 𝄞"
    del tiny["cloth"][0]["grid"], tiny["collider"]
    tiny["cloth"][0]["mesh"] = name
    scene = muslin.Scene(tiny, meshes={name: OBJ.encode()})
    assert scene["cloth"][0]["mesh"] == name and scene.check() == []


def test_a_mesh_of_ones_own(tmp_path: Path) -> None:
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1.1]])
    triangles = np.array([[0, 2, 1], [1, 2, 3]])
    keys = {"cloth": [{"mesh": "mine"}], "duration": 0.1}
    scene = muslin.Scene(keys, meshes={"mine": (positions, triangles)})
    sim = muslin.Simulation(scene, threads=1)
    assert np.array_equal(sim.positions(), positions.astype(np.float32))
    assert np.array_equal(sim.triangles(), triangles)
    sim.advance()
    again = muslin.Simulation(pickle.loads(pickle.dumps(scene)), threads=1)
    again.advance()
    assert again.hash == sim.hash
    (tmp_path / "mine.obj").write_text(OBJ, encoding="utf-8")
    assert muslin.Scene(keys, meshes={"mine": tmp_path / "mine.obj"}).check() == []
    with pytest.raises(ValueError, match=r"mesh 'mine': positions must have the shape \(n, 3\)"):
        muslin.Scene(keys, meshes={"mine": (positions.T, triangles)})
    with pytest.raises(ValueError, match=r"mesh 'mine': triangles must .* whole numbers"):
        muslin.Scene(keys, meshes={"mine": (positions, triangles.astype(float))})
    with pytest.raises(ValueError, match="mesh 'mine': triangle 1 uses vertex 4, but the mesh has 4 vertices"):
        muslin.Scene(keys, meshes={"mine": (positions, triangles + [[0], [1]])})
    with pytest.raises(ValueError, match="mesh 'mine': positions must be finite, but vertex 2 is"):
        muslin.Scene(keys, meshes={"mine": (np.where(np.arange(4)[:, None] == 2, np.nan, positions), triangles)})


def test_scenes_are_copied_and_pickled(tiny: dict[str, Any]) -> None:
    scene = muslin.Scene(tiny)
    scene["solver"]["substeps"] = 6
    for other in [scene.copy(), copy.copy(scene), copy.deepcopy(scene), pickle.loads(pickle.dumps(scene))]:
        assert other == scene
        other["solver"]["substeps"] = 8
        assert scene["solver"]["substeps"] == 6
    assert pickle.loads(pickle.dumps(scene["solver"])) == {**scene["solver"]}


def test_the_text_of_a_scene_gives_the_same_bits(tiny: dict[str, Any], tmp_path: Path) -> None:
    scene = muslin.Scene(tiny)
    (tmp_path / "tiny.toml").write_text(scene.to_toml(), encoding="utf-8")
    one, other = muslin.Simulation(scene, threads=1), muslin.Simulation(tmp_path / "tiny.toml", threads=1)
    one.advance(3)
    other.advance(3)
    assert one.hash == other.hash


def test_an_error_is_pickled(tiny: dict[str, Any]) -> None:
    with pytest.raises(muslin.SceneError) as caught:
        muslin.Scene({**tiny, "fps": 0})
    error = pickle.loads(pickle.dumps(caught.value))
    assert (str(error), error.findings) == (str(caught.value), caught.value.findings)
    step = pickle.loads(pickle.dumps(muslin.StepError("it broke", [3])))
    assert (str(step), step.worlds) == ("it broke", [3])


def test_a_notebook_shows_the_scene(tiny: dict[str, Any]) -> None:
    page = muslin.Scene({**tiny, "wind": {"velocity": [1, 0, 0]}})._repr_html_()
    assert "substeps = 4" in page and "&quot;sheet&quot;" in page and "name = \"sheet\"" not in page
