"""`ricochet infer box`: places of weights from files, predictions, packages, refusals."""

import json
from pathlib import Path

import numpy as np
import pytest

from ricochet.flows import cli
from ricochet.models.systems.rigid_bodies import shaking
from ricochet.models.systems.rigid_bodies.box_parameters import WEIGHTS, nearer
from ricochet.tasks.registry import packages
from ricochet.tasks.systems.rigid_bodies import model_packages
from tests.tasks.systems.rigid_bodies import boxes

FEW = ["--set", "box.rounds=8", "--set", "box.particles=8"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("box")
    boxes.write(place / "empty.csv", boxes.table(boxes.telling(), 1))
    boxes.write(place / "loaded.csv", boxes.table(boxes.telling(), 2, weights=boxes.PLACES))
    other = shaking.in_turn(speed=0.2, away=0.15)
    boxes.write(place / "other.csv", boxes.table(other, 3, weights=boxes.PLACES))
    return place


@pytest.mark.proof
@pytest.mark.slow
def test_weights_are_where_they_were_put_and_a_further_motion_is_predicted(
    folder: Path, tmp_path: Path
) -> None:
    """The truth is within four deviations, of which 8 particles in 8 rounds tell the size well."""
    loaded, empty, other = (str(folder / f"{name}.csv") for name in ("loaded", "empty", "other"))
    out = tmp_path / "out"
    asked = ["infer", "box", loaded, "--empty", empty, "--predict", other]
    assert cli.main([*asked, "--out", str(out), *FEW]) == 0
    result = json.loads((out / "result.json").read_text())
    assert result["schema"] == "ricochet.box-posterior/1"
    at = [result["parameters"].index(name) for name in WEIGHTS]
    mean = np.array(result["mean"])[at]
    sd = np.sqrt(np.diag(result["covariance"]))[at]
    truth = nearer(np.array(boxes.PLACES).reshape(1, 4), mean)[0]
    assert (np.abs(mean - truth) < 4.0 * sd + 1e-3).all()
    assert (sd < 0.02).all()
    assert len(result["noise"]["observation"]) == 2
    assert result["noise"]["observation"][0] == pytest.approx(2e-3 / np.sqrt(2.0), rel=0.15)
    (predicted,) = result["prediction"].values()
    assert max(predicted["error"]["0.25"].values()) < 0.02
    package = packages.read_package(out / "package", reader=model_packages.READER)
    assert package.kind == "draws"
    assert (out / "posterior.png").exists() and (out / "fit.png").exists()


@pytest.mark.proof
@pytest.mark.slow
def test_an_empty_box_s_motion_tells_all_but_one_scale(folder: Path, tmp_path: Path) -> None:
    asked = ["infer", "box", str(folder / "empty.csv"), "--out", str(tmp_path), *FEW]
    assert cli.main(asked) == 0
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["empty"] is None
    assert len(result["parameters"]) == 11
    assert result["rank"] <= 10


def test_bad_files_end_with_2_and_leave_nothing(folder: Path, tmp_path: Path, capsys) -> None:
    bad = folder / "bad.csv"
    bad.write_text("joint_1,joint_2\n0,0\n")
    out = tmp_path / "out"
    assert cli.main(["infer", "box", str(bad), "--out", str(out)]) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert str(bad) in said and "no column joint_3" in said
    assert not out.exists()


def test_the_same_file_twice_is_refused(folder: Path, tmp_path: Path, capsys) -> None:
    file, out = str(folder / "empty.csv"), tmp_path / "out"
    assert cli.main(["infer", "box", file, "--empty", file, "--out", str(out)]) == 2
    assert "the file named twice" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.proof
def test_what_follows_names_the_box_and_a_cut_is_said(folder: Path, tmp_path: Path, capsys) -> None:
    short = folder / "short.csv"
    short.write_text("\n".join((folder / "empty.csv").read_text().splitlines()[:151]))
    loaded = str(folder / "loaded.csv")
    asked = ["infer", "box", loaded, "--empty", str(short), "--out", str(tmp_path)]
    assert cli.main([*asked, "--set", "box.rounds=2", "--set", "box.particles=8"]) == 0
    shown = capsys.readouterr().out
    assert f"ricochet infer box --empty {short} {loaded} --predict FILE" in shown
    assert "the first 141 of 361 frames are learnt from" in shown
