"""The page of formats has every field of real files, and none that no file has."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from ricochet.hardware.microphones.interface import default_rig
from ricochet.models.systems.air_hockey.puck import recording_plan
from ricochet.models.systems.air_hockey.table import Table
from ricochet.tasks.recordings.manifests import StatedNotFinite
from ricochet.tasks.registry.packages import write_package
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.recordings import puck_episodes, stroke_files
from ricochet.tasks.systems.bouncing_ball.calibration import bounce_table, chain_answers, posterior
from ricochet.tasks.systems.bouncing_ball.calibration.targets import CalibrationRequest
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.drawers import sessions as drawer_sessions
from ricochet.tasks.systems.drawers.sessions import StatedTake
from tests.checkouts import ROOT
from tests.tasks.conftest import package  # noqa: F401
from tests.tasks.systems.air_hockey.recordings import recorded
from tests.tasks.systems.bouncing_ball.calibration import family_cases, test_chain_answers
from tests.test_base_install import clip

PAGE = (ROOT / "docs" / "reference" / "formats.md").read_text()
CLIPS = {"clips", "`/2`, clips", "both", "all"}


def stated(heading: str, among: set[str] | None = None) -> list[str]:
    """Return the fields of a section's tables; of those alone whose third cell is among some."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    fields = []
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and (among is None or cells[2] in among):
            fields += re.findall(r"`([^`]+)`", cells[0])
    return fields


def paths(content: Any, at: str = "") -> Iterator[str]:
    """Yield the place of every value, entries of lists of objects as `[]`."""
    if isinstance(content, dict) and content:
        for key, value in content.items():
            yield from paths(value, f"{at}.{key}" if at else key)
    elif isinstance(content, list) and content and isinstance(content[0], dict):
        for entry in content:
            yield from paths(entry, f"{at}[]")
    else:
        yield at


def pattern(field: str) -> re.Pattern[str]:
    """Make an expression of a field, in which `<name>` stands for any name."""
    return re.compile(re.sub(r"<[^>]+>", r"[^\\[]+", re.escape(field)))


def unstated(content: Any, fields: list[str]) -> set[str]:
    """Return the values that no field of the page stands for; a null may stand for an object."""
    known = [pattern(field) for field in fields]
    return {
        place
        for place in paths(content)
        if not any(each.fullmatch(place) for each in known)
        and not any(field.startswith((f"{place}.", f"{place}[]")) for field in fields)
    }


def absent(content: Any, fields: list[str]) -> set[str]:
    """Return the fields of the page that a file lacks."""
    there = list(paths(content))
    return {field for field in fields if not any(pattern(field).fullmatch(at) for at in there)}


def test_a_field_that_the_page_lacks_and_one_that_a_file_lacks_are_found() -> None:
    content = {"a": {"x": 1}, "b": [{"c": 2}], "d": None}
    assert unstated(content, ["a.<name>", "b[].c", "d.e"]) == set()
    assert unstated(content, ["a.<name>", "d"]) == {"b[].c"}
    assert absent(content, ["a.x", "b[].c", "a.y"]) == {"a.y"}


def session_result() -> dict[str, Any]:
    """What is written of a session whose takes are explained as wholes."""
    detected = cast(Any, test_chain_answers.two_sessions(5, 5))
    detected.rejected = []
    for owner in detected.sessions:
        owner.ball, owner.surface = "ping-pong", "table"
    answer = family_cases.answer(0)
    three = chain_answers.summarised(answer.family.pair)
    found = SimpleNamespace(
        mean=np.array(three["mean"]),
        covariance=np.array(three["covariance"]),
        region_90=np.array(list(three["region_90"].values())),
        predictive_p_value=0.5,
        used=range(10),
        set_aside=[("take-0003.wav", "clipped")],
        heights=test_chain_answers.STATED.heights[: len(detected.sessions)],
    )
    before = posterior._result(detected, cast(Any, found), cast(Any, SimpleNamespace(name="n/1")))
    counts = {"names": tuple("abcdefghij"), "heights": {0: (0.26, 0.02)}}
    whole = cast(Any, SimpleNamespace(**{**vars(answer), **counts}))
    size = np.zeros((1, 17)), np.tile(np.eye(17), (1, 1, 1))
    whole.shared, whole.shared_covariance = size
    return chain_answers.content(whole, detected, before)


def test_a_result_of_whole_takes_has_the_fields_of_the_page() -> None:
    content = json.loads(json.dumps(session_result()))
    content["registered"] = {"name": "ping-pong-table", "version": "1"}
    fields = stated("result.json", {"both", "sessions", "`/2`", "`/2`, clips"})
    assert unstated(content, fields) == set()
    assert absent(content, fields) == {"withheld"}


def test_the_columns_of_the_bounces_are_those_of_the_page() -> None:
    assert tuple(stated("bounces.csv")) == bounce_table.COLUMNS


def test_a_manifest_has_the_fields_of_the_page(tmp_path: Path, package: Any) -> None:  # noqa: F811
    manifest = write_package(tmp_path / "package", package, reader=GRID)
    fields = stated("The package")
    assert unstated(manifest, fields) == set()
    assert absent(manifest, fields) <= {"settings.<section>"}


def test_a_sample_session_has_the_fields_of_the_page() -> None:
    sessions = sorted((ROOT / "data").glob("*/session.json"))
    if not sessions:
        pytest.skip("data/ is not fetched (make pull)")
    fields = stated("session.json")
    for path in sessions:
        content = json.loads(path.read_text())
        assert unstated(content, fields) == set()
        optional = {"object.diameter", "object.mass", "truth.<name>"}
        optional |= {f"takes[].not_finite[].{name}" for name in ("channel", "first", "samples")}
        assert absent(content, fields) <= optional


def test_a_session_of_a_drawer_has_the_fields_of_the_page() -> None:
    rig = default_rig("ring", sample_rate=16_000, temperature=20.0, places=[(0.0, 0.0, 0.0)] * 3)
    marks = (StatedNotFinite(channel=1, first=4, samples=2),)
    take = StatedTake("take-0000.flac", "0" * 64, 9, 0, "vision.csv", "motion.csv", 4.0, marks)
    made = drawer_sessions.Session(Path("one"), "one", datetime.now(UTC), rig, "desk")
    content = json.loads(json.dumps(drawer_sessions.to_json(made, [take])))
    fields = stated("session.json of a drawer")
    assert unstated(content, fields) == absent(content, fields) == set()


def test_a_recording_of_a_puck_has_the_fields_of_the_page(tmp_path: Path) -> None:
    content = json.loads((recorded.written(tmp_path) / puck_episodes.MANIFEST).read_text())
    fields = stated("recording.json")
    assert unstated(content, fields) == absent(content, fields) == set()


def test_strokes_to_be_played_have_the_fields_of_the_page(tmp_path: Path) -> None:
    play = recording_plan.plan(Table(), episodes=2, steps=50, draw=np.random.default_rng(0))
    stroke_files.write_plays(tmp_path / "strokes.npz", play, seed=0)
    content = json.loads((tmp_path / "strokes.json").read_text())
    fields = stated("strokes.json")
    assert unstated(content, fields) == absent(content, fields) == set()


@pytest.mark.slow
def test_the_files_of_a_clip_have_the_fields_of_the_page(tmp_path: Path) -> None:
    from ricochet.tasks.systems.bouncing_ball.calibration import run

    request = CalibrationRequest(catalogue.load_settings(), tmp_path / "out", ball="ping-pong")
    run.run([str(clip(tmp_path / "clip.wav"))], request)
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    fields = stated("result.json", CLIPS)
    assert unstated(result, fields) == set()
    never = {"withheld", "registered.name", "registered.version"}
    few = {field for field in fields if field.startswith(("takes.rejected", "restitution.beyond"))}
    assert absent(result, fields) - few == never
    details = json.loads((tmp_path / "out" / "details.json").read_text())
    assert unstated(details, stated("details.json", {"clips", "all"})) == set()
