"""What is said of sessions before anything is inferred."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball.listening.takes import DetectedTake
from ricochet.tasks.systems.bouncing_ball.calibration import detection_findings
from ricochet.tasks.systems.bouncing_ball.calibration.detections import NamedTake


def taken(session, number, times):
    count = len(times)
    found = DetectedTake(times, np.full(count, 1e-5), None, None, np.zeros(count, dtype=bool))
    path = Path("data") / session / f"{number}.flac"
    return NamedTake(f"{session}/{number}.flac", path, found, ())


def sessions(**drops):
    named = [
        SimpleNamespace(identity=name, folder=Path("data") / name, diameter=None, mass=None)
        for name in drops
    ]
    takes = [taken(name, k, times) for name, each in drops.items() for k, times in enumerate(each)]
    return SimpleNamespace(sessions=named, takes=takes)


def drops(seed):
    draw = np.random.default_rng(seed)
    return list(np.cumsum(0.4 * 0.85 ** np.arange(8) * (1 + 1e-3 * draw.normal(size=(6, 8))), 1))


@pytest.mark.parametrize("between", [0, 1, detection_findings.NEXT])
def test_sessions_that_heard_the_same_drops_are_named(between):
    """They counted twice, and the answer was as narrow as that of twice as many drops."""
    left = drops(0)
    others = {f"s{number}": drops(number + 1) for number in range(between)}
    found = detection_findings.findings(
        sessions(left=left, **others, right=[0.3 + times for times in left])
    )
    if between == detection_findings.NEXT:
        assert not list(found)
        return
    (said,) = found
    assert said.name == "recorders" and said.takes == tuple(f"right/{n}.flac" for n in range(6))
    assert "6 drops of left seem to be drops of right too" in said.sentence
