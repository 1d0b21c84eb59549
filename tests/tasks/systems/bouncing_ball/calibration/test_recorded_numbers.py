"""What a session states is read: each key of `session.json` changes the answer, or is refused."""

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from ricochet.hardware.microphones.interface import default_rig
from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound.arrival_hypotheses import Tolerances
from ricochet.tasks.systems.bouncing_ball.calibration import detections
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate
from ricochet.tasks.systems.catalogue import load_settings
from tests.tasks.systems.bouncing_ball.calibration import test_detections

RIG = default_rig("bench", sample_rate=44100)


def leaves(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every value in a JSON document."""
    if not isinstance(content, dict | list):
        yield path
        return
    for key, value in content.items() if isinstance(content, dict) else enumerate(content):
        yield from leaves(value, (*path, key))


def value_at(content: Any, path: tuple[Any, ...]) -> Any:
    """Return the value at a place."""
    return reduce(lambda inner, key: inner[key], path, content)


def changed(content: Any, path: tuple[Any, ...]) -> Any:
    """Return the document with one value replaced by another of its kind."""
    result = copy.deepcopy(content)
    inner = value_at(result, path[:-1])
    old = inner[path[-1]]
    if path[-1] == "started_at":
        inner[path[-1]] = "2026-11-21T08:00:00Z"
    elif isinstance(old, str):
        inner[path[-1]] = f"{old}-other"
    elif isinstance(old, int):
        inner[path[-1]] = old + 1
    else:
        inner[path[-1]] = old + max(0.02, 0.05 * abs(old))
    return result


def read(folder: Path, rules: Calibrate) -> tuple[str, str]:
    """Return what the inference gets of a session, and what its result says of it.

    A refusal is both.
    """
    known = Tolerances(place_sd=rules.survey_sd, contact_sd=rules.contact_sd)
    try:
        detected = detections.detect([folder], tolerances=known)
    except BadInput as error:
        return str(error), str(error)
    said = (detected.rejected, detections.object_of(detected), detections.provenance(detected))
    if not detected.takes:
        return "no take", repr(said)
    drops = detections.measured(detected, release_sd=rules.release_sd)
    given = [drops.times, drops.time_sd, drops.positions, drops.position_sd]
    given += [drops.release.height, drops.release.height_sd]
    return repr([values.tolist() for values in given]), repr(said)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return test_detections.session(tmp_path_factory.mktemp("recorded") / "evening", RIG)


@pytest.mark.proof
def test_every_number_of_a_session_reaches_the_inference_and_every_word_the_result(
    recorded: Path,
) -> None:
    """The height of release was recorded, repeated in the result, and never used."""
    path, rules = recorded / "session.json", load_settings()[Calibrate]
    content, plain = json.loads(path.read_text()), read(recorded, rules)
    unread, places = [], list(leaves(content))
    for place in places:
        path.write_text(json.dumps(changed(content, place)))
        given, said = read(recorded, rules)
        counts = isinstance(value_at(content, place), float | int) and place[0] != "truth"
        if (given == plain[0]) if counts else (said == plain[1]):
            unread.append(place)
    path.write_text(json.dumps(content))
    assert read(recorded, rules) == plain
    assert len(places) == 31
    assert unread == []


@pytest.mark.slow
@pytest.mark.parametrize("key", ["survey_sd", "contact_sd", "release_sd"])
def test_every_stated_error_reaches_the_inference(recorded: Path, key: str) -> None:
    rules = load_settings()[Calibrate]
    larger = replace(rules, **{key: 3.0 * getattr(rules, key)})
    assert read(recorded, rules)[0] != read(recorded, larger)[0]
