"""Folders of results: what an earlier run left goes, what is somebody's own stays."""

import json

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.packages import OF_ALL_KINDS
from ricochet.tasks.systems.bouncing_ball.calibration import folders


def fill(folder, *, package):
    """Put figures, a package or a folder of that name, and a file of somebody's into a folder."""
    for name in ("figures/fit.png", "figures/notes.txt", f"package/{package}", "own.txt"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    if package in OF_ALL_KINDS:
        for name in OF_ALL_KINDS:
            (folder / "package" / name).touch()


def names(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_what_an_earlier_result_left_goes_and_nothing_else(tmp_path):
    fill(tmp_path, package=OF_ALL_KINDS[0])
    for name in folders.FILES:
        (tmp_path / name).touch()
    folders.clear(tmp_path)
    assert names(tmp_path) == {"figures/notes.txt", "own.txt"}


def test_figures_of_somebody_else_stay(tmp_path):
    """`--out .` in a folder of figures had them removed."""
    fill(tmp_path, package=OF_ALL_KINDS[0])
    there = names(tmp_path)
    folders.clear(tmp_path)
    assert names(tmp_path) == there


@pytest.mark.parametrize("result", ["", "result.json"])
def test_a_folder_of_somebody_else_in_a_packages_place_is_refused(tmp_path, result):
    fill(tmp_path, package="setup.py")
    if result:
        (tmp_path / result).touch()
    there = names(tmp_path)
    with pytest.raises(BadInput, match="what is no package"):
        folders.clear(tmp_path)
    assert names(tmp_path) == there


def result_in(folder, ball):
    """Put a result of a pair into a folder itself."""
    (folder / "details.json").write_text("{}")
    stated = {"object": {"ball": ball, "surface": "table"}}
    (folder / "result.json").write_text(json.dumps(stated))


def test_a_move_that_was_killed_is_completed(tmp_path):
    out = tmp_path / folders.SIDE_BY_SIDE
    (out / "golf-table").mkdir(parents=True)  # where the kill came
    result_in(out, "golf")
    folders.move_below(out)
    assert names(out) == {"golf-table/details.json", "golf-table/result.json"}


@pytest.mark.parametrize("ball", ["..", "a/b", "a\0b", "\ud800", "\x1b[2J"])
def test_a_result_whose_name_is_no_folders_stays(tmp_path, ball):
    out = tmp_path / folders.SIDE_BY_SIDE
    out.mkdir()
    result_in(out, ball.replace("..", "../.."))
    folders.move_below(out)
    assert names(out) == {"details.json", "result.json"}
