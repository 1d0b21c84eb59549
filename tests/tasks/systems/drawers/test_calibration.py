"""From recorded sessions to what a drawer sounds like: learnt, held out, predicted, refused."""

import csv
import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.models.core.bad_input import BadInput
from ricochet.models.inference.network_training import Training
from ricochet.models.systems.drawers.labels import PERIOD
from ricochet.models.systems.drawers.learning import Size
from ricochet.tasks.recordings.manifests import MANIFEST
from ricochet.tasks.systems.drawers import calibration, capture, recorded_takes, sessions
from tests.models.systems.drawers import hearings

SMALL = Training(hidden=24, members=2, epochs=12, decay=0.05, jitter=0.3)
SIZE = Size(SMALL, SMALL, SMALL, folds=2)
SETTING = Setting("kitchen-large", array="ring-4", seconds=24.0, light_off=12.0)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("sessions")
    made = [root / "one", root / "two"]
    for seed, folder in enumerate(made):
        capture.simulated(folder, SETTING, takes=2, seed=seed)
    return made


def without(folder: Path, place: Path, *names: str) -> Path:
    """A copy of a session whose first take lacks what is named."""
    copied = Path(shutil.copytree(folder, place / folder.name))
    content = json.loads((copied / MANIFEST).read_text())
    for name in names:
        content["takes"][0].pop(name)
    (copied / MANIFEST).write_text(json.dumps(content))
    return copied


@pytest.mark.proof
def test_what_is_learnt_is_tried_on_a_take_that_was_held_out(
    folders: list[Path], tmp_path: Path
) -> None:
    found = calibration.run(folders, tmp_path, size=SIZE)
    result = json.loads(json.dumps(found.result))
    assert result["drawer"] == "kitchen-large" and result["sessions"] == ["one", "two"]
    assert result["takes"]["held_out"] == ["two/take-0001.flac"]
    assert len(result["takes"]["learnt_from"]) == 3 and result["takes"]["rejected"] == {}
    same = "other takes of the same sessions were learnt from: two/take-0001.flac"
    assert same in result["notes"]
    speeds = result["speed_rmse"]
    assert speeds["ours"]["value"] < speeds["mean"]["value"]
    lit = result["position_rmse"]["light_on"]
    assert lit["ours"]["value"] <= 1.05 * lit["vision"]["value"] < 0.02


@pytest.mark.slow
def test_a_take_without_motion_is_predicted(folders: list[Path], tmp_path: Path) -> None:
    dark = without(folders[0], tmp_path, "motion", "vision", "light_off_at")
    found = calibration.run([dark, folders[1]], tmp_path / "out", size=SIZE)
    assert found.result["takes"]["predicted"] == {"one/take-0000.flac": "positions-0000.csv"}
    assert "one/take-0000.flac: never lit" in found.result["notes"][0]
    with (tmp_path / "out" / "positions-0000.csv").open() as file:
        rows = [{name: float(x) for name, x in row.items()} for row in csv.DictReader(file)]
    assert list(rows[0]) == ["time", "position", "sd", "direction"]
    assert rows[-1]["time"] == pytest.approx(24.0, abs=2 * PERIOD)
    assert all(row["sd"] > 0.0 and -1.0 <= row["direction"] <= 1.0 for row in rows)


@pytest.mark.proof
def test_takes_are_grouped_by_their_sessions_and_of_one_session_each_is_its_own(
    folders: list[Path],
) -> None:
    pairs = [
        (session, take)
        for folder in folders
        for session, read in [sessions.read(folder)]
        for take in read
    ]
    takes = [recorded_takes.recorded(*pair) for pair in pairs]
    assert calibration._groups(takes) == [0, 0, 1, 1]
    assert calibration._groups(takes[:2]) == [0, 1]
    assert calibration._known(takes[:1], takes[2:]) == []


def test_a_take_that_was_lit_is_learnt_from_while_there_was_light(
    folders: list[Path], tmp_path: Path
) -> None:
    session, (take, *_) = sessions.read(without(folders[0], tmp_path, "motion"))
    kept = recorded_takes.learnt_from(recorded_takes.recorded(session, take))
    assert len(kept.labels.speed) == len(kept.power) == len(kept.features.place)
    assert 11.0 < len(kept.power) * PERIOD <= 12.0


def test_what_is_tried_of_a_take_is_seen_while_there_is_light(folders: list[Path]) -> None:
    session, (take, *_) = sessions.read(folders[0])
    found = recorded_takes.trial(recorded_takes.recorded(session, take))
    seen = np.array([each is not None for each in found.sight.seen])
    assert not seen[found.dark].any() and seen[~found.dark].mean() > 0.9
    truth = found.frames.labels.position
    places = [each.place if each else np.nan for each in found.sight.seen]
    # The track errs by 3 mm, and a frame ends up to an image later, when a stroke may end.
    assert np.sqrt(np.nanmean((np.array(places) - truth)[20:] ** 2)) < 8e-3


def test_too_few_takes_with_a_track_are_refused(folders: list[Path], tmp_path: Path) -> None:
    dark = without(folders[0], tmp_path, "motion", "vision", "light_off_at")
    with pytest.raises(BadInput, match="found 1 takes with a track, expected 2 at least"):
        calibration.run([dark], tmp_path)


def test_where_too_few_are_left_the_line_says_why_the_others_were_set_aside(
    folders: list[Path], tmp_path: Path
) -> None:
    wrong = without(folders[0], tmp_path)
    lines = (wrong / "motion-0000.csv").read_text().splitlines()
    lines[500] = lines[500].split(",")[0] + ",nan"
    (wrong / "motion-0000.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(BadInput, match=r"1 takes with a track \(.*take-0000.*'nan'.*expected 2"):
        calibration.run([wrong], tmp_path)


def edited_track(folder: Path, name: str, keep: slice | np.ndarray) -> None:
    lines = (folder / name).read_text().splitlines()
    rows = np.array(lines[1:], dtype=object)[keep]
    (folder / name).write_text("\n".join([lines[0], *rows]) + "\n")


def test_the_longest_light_without_a_gap_is_learnt_from(
    folders: list[Path], tmp_path: Path
) -> None:
    copied = without(folders[0], tmp_path, "motion")
    session, takes = sessions.read(copied)
    whole = recorded_takes.recorded(session, takes[0])
    assert whole.lit == pytest.approx((0.0, 12.0), abs=0.1) and whole.is_known
    times = takes[0].vision.times
    edited_track(copied, "vision-0000.csv", (times < 2.0) | (times > 5.5))
    session, takes = sessions.read(copied)
    holed = recorded_takes.recorded(session, takes[0])
    assert holed.lit == pytest.approx((5.5, 12.0), abs=0.1)
    learnt = recorded_takes.learnt_from(holed)
    assert len(learnt.power) == pytest.approx(6.5 / PERIOD, abs=4)
    first = math.ceil(holed.lit[0] / PERIOD)
    expected = whole.frames.labels.speed[first : first + 50]
    np.testing.assert_array_equal(learnt.labels.speed[:50], expected)


def test_a_moment_of_light_is_not_learnt_from_and_said(folders: list[Path], tmp_path: Path) -> None:
    copied = without(folders[0], tmp_path, "motion")
    session, takes = sessions.read(copied)
    edited_track(copied, "vision-0000.csv", takes[0].vision.times < 3.0)
    session, takes = sessions.read(copied)
    each = recorded_takes.recorded(session, takes[0])
    assert not each.is_known and "expected 5 s to learn from" in each.short[0]


def test_a_take_that_rests_in_the_dark_is_not_held_out(folders: list[Path]) -> None:
    session, takes = sessions.read(folders[0])
    each = recorded_takes.recorded(session, takes[0])
    assert each.is_known_in_the_dark
    labels = each.frames.labels
    still = replace(labels, speed=np.where(np.arange(len(labels.speed)) < 180, labels.speed, 0.0))
    assert not replace(each, frames=replace(each.frames, labels=still)).is_known_in_the_dark


def test_what_the_ring_does_not_hear_is_said() -> None:
    heard = hearings.random(3)
    assert calibration._unheard(heard) == []
    deaf = replace(heard, place=replace(heard.place, slope=0.0))
    assert "where the drawer is" in calibration._unheard(deaf)[0]
    blind = replace(heard, grammar=replace(heard.grammar, direction_weight=0.01))
    assert "which way" in calibration._unheard(blind)[0]
