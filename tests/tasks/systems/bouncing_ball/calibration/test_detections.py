"""Sessions of one pair by different rigs: places come before times, and nothing goes unsaid."""

import json

import numpy as np
import pytest

from ricochet.hardware.microphones.interface import default_rig
from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound import impact_synthesis
from ricochet.tasks.systems.bouncing_ball.calibration import detections
from tests.tasks.recordings import small_sessions

RATE = 44100
RIG = default_rig("bench", sample_rate=RATE)
PAIR = default_rig("pair", sample_rate=RATE, places=[m.position for m in RIG.microphones[:2]])
TIMES = 0.1 + np.cumsum([0.0, 0.38, 0.32, 0.27])


def take(seed):
    """A drop that bounces four times on one spot, in three channels."""
    return impact_synthesis.render(
        TIMES,
        np.tile([0.05, -0.08, 0.0], (4, 1)),
        0.1 * 0.84 ** np.arange(4),
        microphones=RIG.array(),
        duration=1.3,
        draw=np.random.default_rng(seed),
        noise=impact_synthesis.Background(snr=30.0),
    )


def session(folder, rig, *, seed=0, spoil=False):
    """Two takes; `spoil` cuts the last one short on the disk."""
    takes = [take(seed + n)[: len(rig.microphones)] for n in range(2)]
    made = small_sessions.write_session(small_sessions.plan(folder, rig=rig), takes)
    if spoil:
        last = folder / made.takes[-1].file
        last.write_bytes(last.read_bytes()[:200])
    return folder


def change(folder, edit):
    """Edit the JSON of a session."""
    path = folder / "session.json"
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("recorded")
    return {
        "three": session(root / "three", RIG),
        "two": session(root / "two", PAIR, seed=10, spoil=True),
        "again": session(root / "again", PAIR, seed=20),
    }


@pytest.mark.parametrize("order", [("three", "two"), ("two", "three")])
def test_a_session_of_two_microphones_is_left_out_beside_one_that_tells_places(folders, order):
    """It used to demote all to times, in silence."""
    done = []
    result = detections.detect(
        [folders[name] for name in order], progress=lambda now, all_: done.append((now, all_))
    )
    assert result.placed
    assert [found.identity for found in result.sessions] == ["three"]
    assert [found.file.split("/")[0] for found in result.takes] == ["three", "three"]
    assert all(found.detected.positions is not None for found in result.takes)
    reasons = {entry.file: entry.reason for entry in result.rejected}
    assert reasons["two/take-0000.flac"] == (
        "fewer than three microphones: times alone, left out as other sessions tell places"
    )
    assert "two/take-0001.flac" in reasons  # for its own fault, which counts once
    assert reasons["two/take-0001.flac"] != reasons["two/take-0000.flac"]
    assert len(result.rejected) == 2
    assert done == [(1, 2), (2, 2)]


@pytest.mark.slow
def test_what_is_left_out_changes_no_detection(folders):
    alone = detections.measured(detections.detect([folders["three"]]), release_sd=5e-3)
    beside = detections.measured(
        detections.detect([folders["again"], folders["three"]]), release_sd=5e-3
    )
    assert alone.names == beside.names
    assert alone.times.equal(beside.times) and alone.positions.equal(beside.positions)


def test_where_no_session_tells_places_the_times_of_all_are_used(folders):
    result = detections.detect([folders["two"], folders["again"]])
    assert not result.placed
    assert [found.identity for found in result.sessions] == ["two", "again"]
    assert [found.file for found in result.takes] == [
        "two/take-0000.flac",
        "again/take-0000.flac",
        "again/take-0001.flac",
    ]
    assert [entry.file for entry in result.rejected] == ["two/take-0001.flac"]
    for found in result.takes:  # a few frames of 44.1 kHz beside intervals of 0.3 s
        assert np.abs(np.diff(found.detected.times) - np.diff(TIMES)).max() < 1e-4


@pytest.mark.slow
def test_what_a_session_states_of_the_release_reaches_every_take(folders, tmp_path):
    """The height was recorded and never read."""
    unstated = session(tmp_path / "unstated", RIG, seed=30)
    change(unstated, lambda content: content["object"].update(drop_height=None))
    change(unstated, lambda content: content.update(started_at="2026-11-20T20:14:00Z"))
    result = detections.detect([unstated, folders["three"]])
    assert [found.identity for found in result.sessions] == ["three", "unstated"]  # as recorded
    release = detections.measured(result, release_sd=3e-3).release
    assert release.session.tolist() == [0, 0, 1, 1]
    assert release.height[:2].tolist() == [0.26, 0.26] and release.height[2:].isnan().all()
    assert release.height_sd.tolist() == [3e-3] * 4
    assert detections.object_of(result)["drop_height"] is None
    assert detections.object_of(detections.detect([folders["three"]]))["drop_height"] == 0.26


@pytest.mark.parametrize("height", [0.01, 26.0])
def test_a_height_that_cannot_be_metres_is_refused_in_one_line(tmp_path, height):
    folder = session(tmp_path / "high", RIG)
    change(folder, lambda content: content["object"].update(drop_height=height))
    with pytest.raises(BadInput) as caught:
        detections.detect([folder])
    line = str(caught.value)
    assert (
        "session.json: object.drop_height: found " in line
        and "expected metres, from 0.02 to 5" in line
    )
    assert "\n" not in line


def test_a_take_that_lost_samples_is_set_aside_since_its_times_are_off(tmp_path):
    """The recorder's count of losses was kept and never read."""
    folder = session(tmp_path / "gap", RIG)
    change(folder, lambda content: content["takes"][1].update(xruns=2))
    result = detections.detect([folder])
    assert [found.file for found in result.takes] == ["gap/take-0000.flac"]
    (entry,) = result.rejected
    assert entry.file == "gap/take-0001.flac" and "lost samples (2 xruns)" in entry.reason
