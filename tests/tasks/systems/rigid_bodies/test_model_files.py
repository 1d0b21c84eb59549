"""Models from files: those in a folder of their own are read, what reaches out of it is refused."""

import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems.rigid_bodies import model_compiling, model_files
from tests.models.systems.rigid_bodies import swings

BODY = "<body name='b'><joint name='j'/><geom size='0.1'/></body>"


def written(folder: Path, text: str, name: str = "model.xml") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_a_model_is_read_with_what_lies_in_its_folder(tmp_path: Path) -> None:
    assert model_files.read(written(tmp_path, swings.CART)).njnt == 2
    written(tmp_path, f"<mujocoinclude>{BODY}</mujocoinclude>", "parts/arm.xml")
    text = "<mujoco><worldbody><include file='parts/arm.xml'/></worldbody></mujoco>"
    assert model_files.read(written(tmp_path, text)).njnt == 1
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    written(tmp_path, corners, "meshes/tetra.obj")
    mesh = (
        "<mujoco><compiler meshdir='meshes'/><asset><mesh name='m' file='tetra.obj'/></asset>"
        f"<worldbody>{BODY}<geom type='mesh' mesh='m'/></worldbody></mujoco>"
    )
    assert model_files.read(written(tmp_path, mesh)).nmesh == 1


WHOLE = f"<worldbody>{BODY}</worldbody>"
REFUSED = {
    "another file includes it": ("<include file='../secret.xml'/>", "'../secret.xml', expected a"),
    "an absolute path": ("<asset><mesh file='/etc/passwd'/></asset>", "'/etc/passwd', expected a"),
    "a folder elsewhere": ("<compiler meshdir='../other'/>", "meshdir: found '../other'"),
    "a path of Windows": ("<asset><mesh file='..\\x.obj'/></asset>", "expected a file in the mod"),
    "a drive": ("<asset><hfield file='C:x.png'/></asset>", "expected a file in the model's"),
    "a resource provider": ("<asset><mesh file='http://a/b.obj'/></asset>", "expected a file in"),
    "a home": ("<asset><skin file='~/x.skn'/></asset>", "expected a file in the model's folder"),
    "a side of a cube": ("<asset><texture fileright='/x.png'/></asset>", "fileright: found '/x.p"),
    "a plugin": ("<extension><plugin plugin='x'/></extension>", "<extension>, whose code is not"),
    "an include of a namespace": ("<include xmlns='x' file='/x.xml'/>", "names of a namespace"),
    "an attribute of a namespace": ("<a xmlns:b='x' b:file='/x.xml'/>", "names of a namespace"),
    "a plugin of a body": ("<worldbody><plugin instance='x'/></worldbody>", "<plugin>, whose code"),
    "a free joint": ("<worldbody><body><freejoint/><geom size='1'/></body></worldbody>", "a free"),
    "an unknown element": ("<foo/>", "unrecognized element"),
    "a mesh that is not there": ("<asset><mesh name='m' file='no.obj'/></asset>", "no.obj"),
}


@pytest.mark.parametrize("text, words", REFUSED.values(), ids=REFUSED)
def test_what_reaches_out_of_the_folder_is_refused_in_a_line(
    tmp_path: Path, text: str, words: str
) -> None:
    written(tmp_path, f"<mujoco>{WHOLE}</mujoco>", "secret.xml")
    file = written(tmp_path / "home", f"<mujoco>{WHOLE}{text}</mujoco>")
    with pytest.raises(BadInput, match=re.escape(words)) as error:
        model_files.read(file)
    assert "\n" not in str(error.value)
    assert "model.xml" in str(error.value)


def test_a_link_out_of_the_folder_and_what_is_included_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    written(tmp_path, f"<mujoco>{WHOLE}</mujoco>", "secret.xml")
    (tmp_path / "home" / "link.xml").symlink_to(tmp_path / "secret.xml")
    (tmp_path / "home" / "deep").symlink_to(tmp_path)
    for name in ("link.xml", "deep/secret.xml"):
        file = written(tmp_path / "home", f"<mujoco><include file='{name}'/></mujoco>")
        with pytest.raises(BadInput, match="a link out of it"):
            model_files.read(file)
    mesh = "<compiler meshdir='deep'/><asset><mesh file='secret.xml'/></asset>"
    with pytest.raises(BadInput, match="a link out of it"):
        model_files.read(written(tmp_path / "home", f"<mujoco>{mesh}</mujoco>"))
    written(tmp_path / "home", "<mujocoinclude><include file='/x.xml'/></mujocoinclude>", "in.xml")
    file = written(tmp_path / "home", "<mujoco><include file='in.xml'/></mujoco>")
    with pytest.raises(BadInput, match=r"in\.xml: file: found '/x\.xml'"):
        model_files.read(file)


NO_MODEL = {
    "entities": ("<!DOCTYPE x [<!ENTITY a 'b'>]><mujoco>&a;</mujoco>", "a document type"),
    "a robot of another kind": ("<robot name='r'/>", "<robot>, expected a MuJoCo model"),
    "no XML": ("mujoco", "no XML"),
    "no joint": ("<mujoco/>", "no joint, expected hinges or slides"),
    "too many joints": (f"<mujoco><worldbody>{'{}'}</worldbody></mujoco>", "41 joints"),
}


@pytest.mark.parametrize("text, words", NO_MODEL.values(), ids=NO_MODEL)
def test_what_is_no_model_is_refused(tmp_path: Path, text: str, words: str) -> None:
    apart = BODY.replace("/></body>", " contype='0' conaffinity='0'/></body>")  # so steps are short
    many = "".join(apart.replace("'b'", f"'b{n}'").replace("'j'", f"'j{n}'") for n in range(41))
    with pytest.raises(BadInput, match=re.escape(words)):
        model_files.read(written(tmp_path, text.replace("{}", many)))


def solved(**iterations: int) -> str:
    """Return a model whose solvers iterate so often at most."""
    options = " ".join(f"{name}='{count}'" for name, count in iterations.items())
    return f"<mujoco><option {options}/><worldbody>{BODY}</worldbody></mujoco>"


def test_solvers_may_iterate_a_hundred_times(tmp_path: Path) -> None:
    model = model_files.read(
        written(tmp_path, solved(**dict.fromkeys(model_compiling.SOLVERS, 100)))
    )
    assert {getattr(model.opt, name) for name in model_compiling.SOLVERS} == {100}


@pytest.mark.parametrize("name", model_compiling.SOLVERS)
def test_a_solver_has_an_end(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match=f"{name} 2000000000, expected at most 100"):
        model_files.read(written(tmp_path, solved(**{name: 2 * 10**9})))


def test_files_that_are_none_or_too_large_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="No such file"):
        model_files.read(tmp_path / "none.xml")
    with pytest.raises(BadInput, match="a folder"):
        model_files.read(tmp_path)
    with pytest.raises(BadInput, match="at most 4194304"):
        model_files.read(written(tmp_path, " " * (model_files.LARGEST + 1)))


def test_a_few_words_that_stand_for_a_large_model_are_refused(tmp_path: Path) -> None:
    picture = (
        '<asset><texture name="t" type="2d" builtin="flat" width="4000" height="4000"/></asset>'
    )
    for words, said in ((picture, "bytes once it is"), ('<size memory="450M"/>', "for a step")):
        with pytest.raises(BadInput, match=said):
            model_files.read(written(tmp_path, swings.CART.replace("<mujoco>", f"<mujoco>{words}")))


def touching(count: int) -> str:
    """Return a model of a body on a slide whose geoms are all within those of the world."""
    geoms = "".join(f'<geom size=".3" pos="{each * 1e-4} 0 0"/>' for each in range(count // 2))
    moved = f'<body><joint name="j" type="slide"/>{geoms}</body>'
    return f"<mujoco><worldbody>{moved}{geoms}</worldbody></mujoco>"


def test_what_would_end_the_process_or_take_all_pairs_is_refused(tmp_path: Path) -> None:
    near = "".join(
        f'<geom type="ellipsoid" size=".001 .002 .003" pos="{3 + each * 1e-2} 3 3" mass="1e-9" '
        'margin="20" gap="20"/>'
        for each in range(900)
    )
    place = swings.CART.rindex("</worldbody>")
    text = swings.CART[:place] + f"<body><joint/>{near}</body><body><joint/>{near}</body>"
    with pytest.raises(BadInput, match=r"compiles in 512 MiB|geoms that may touch"):
        model_files.read(written(tmp_path, text + swings.CART[place:]))
    with pytest.raises(BadInput, match=r"120 geoms that may touch|found steps of"):
        model_files.read(written(tmp_path, touching(120)))
    assert model_files.read(written(tmp_path, touching(30))).ngeom == 30


def test_mujoco_leaves_no_file_of_warnings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It warns of contacts for which a model has no memory."""
    monkeypatch.chdir(tmp_path)
    little = touching(30).replace("<mujoco>", '<mujoco><size memory="200K"/>')
    model_files.read(written(tmp_path, little))
    assert [file.name for file in tmp_path.iterdir()] == ["model.xml"]


@pytest.mark.parametrize("count, said", [(166, r"steps of 0\.|one that takes"), (41, "equalities")])
def test_welds_that_make_steps_long_are_refused(tmp_path: Path, count: int, said: str) -> None:
    place = swings.CART.rindex("</mujoco>")
    (body,) = re.findall(r'<body name="([^"]*)"', swings.CART)[:1]
    welds = f'<weld body1="{body}" relpose="0.1 0 0 1 0 0 0"/>' * count
    exact = '<option solver="PGS" iterations="100" noslip_iterations="100" tolerance="0"/>'
    text = (
        f"{swings.CART[:place]}{exact if count > 100 else ''}<equality>{welds}</equality></mujoco>"
    )
    with pytest.raises(BadInput, match=said):
        model_files.read(written(tmp_path, text))


@pytest.mark.parametrize("declared", ["", "<?xml version='1.0' encoding='iso-8859-1'?>"])
@pytest.mark.parametrize("name", ["a\nb.xml", "a\tb.xml", "a&#10;b.xml", "a\xe9b.xml", "none.xml"])
def test_names_that_mujoco_reads_otherwise_are_refused(
    tmp_path: Path, declared: str, name: str
) -> None:
    """Where it finds a file that nobody has looked at."""
    for there in ("a b.xml", "a\nb.xml", "a\tb.xml"):
        written(tmp_path, f"<mujocoinclude>{BODY}</mujocoinclude>", there)
    (tmp_path / os.fsdecode(b"a\xe9b.xml")).write_text(f"<mujocoinclude>{BODY}</mujocoinclude>")
    text = f"{declared}<mujoco><worldbody><include file='{name}'/></worldbody></mujoco>"
    file = tmp_path / "model.xml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(BadInput):
        model_files.read(file)


def test_a_namespace_is_refused_before_names_are_made_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parse(_: bytes) -> ElementTree.Element:
        raise AssertionError("parsed")

    monkeypatch.setattr(model_files.ElementTree, "fromstring", parse)
    with pytest.raises(BadInput, match="names of a namespace"):
        model_files.read(written(tmp_path, f"<mujoco xmlns = 'x'>{WHOLE}</mujoco>"))


def test_files_are_looked_for_in_so_many_places_and_no_more(tmp_path: Path) -> None:
    meshes = "".join(f"<mesh file='m{n}.obj'/>" for n in range(model_files.MOST_REFERENCES))
    with pytest.raises(BadInput, match=r"1001 names of files, expected at most 1000"):
        model_files.read(written(tmp_path, f"<mujoco>{meshes}<mesh file='more'/>{WHOLE}</mujoco>"))
    folders = "".join(f"<compiler meshdir='d{n}'/>" for n in range(model_files.MOST_FOLDERS + 1))
    with pytest.raises(BadInput, match=r"21 folders of files, expected at most 20"):
        model_files.read(written(tmp_path, f"<mujoco>{folders}{WHOLE}</mujoco>"))
    half = f"<mujocoinclude>{folders[: len(folders) // 2 // 25 * 25]}</mujocoinclude>"
    written(tmp_path, half, "in.xml")
    written(tmp_path, f"<mujocoinclude>{meshes}</mujocoinclude>", "too.xml")
    both = "<include file='in.xml'/><include file='too.xml'/>"
    with pytest.raises(BadInput, match=r"\d+ names of files, expected at most 1000"):
        model_files.read(written(tmp_path, f"<mujoco>{both}{WHOLE}</mujoco>"))
