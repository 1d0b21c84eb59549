"""What a calibration from times alone writes, of a session of two microphones and of a clip."""

import json
from dataclasses import replace

import numpy as np
import pytest
import soundfile

from ricochet.hardware.microphones.interface import default_rig
from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound import impact_synthesis
from ricochet.models.systems.bouncing_ball import air
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.calibration import detections, times_only
from ricochet.tasks.systems.bouncing_ball.calibration.targets import (
    CalibrationRequest,
    CalibrationTarget,
)
from tests.tasks.recordings import small_sessions

RIG = default_rig("bench", sample_rate=44100)
PAIR = default_rig("pair", sample_rate=44100, places=[m.position for m in RIG.microphones[:2]])
TIMES = 0.1 + np.append(0.0, np.cumsum(0.45 * 0.85 ** np.arange(8)))


def sound(rig, seed=0):
    """A drop of nine bounces on one spot, each seed's a little later than the last's."""
    late = 3e-4 * seed * np.arange(9)
    return impact_synthesis.render(
        TIMES + late,
        np.tile([0.05, -0.08, 0.0], (9, 1)),
        0.1 * 0.85 ** np.arange(9),
        microphones=rig.array(),
        duration=3.0,
        draw=np.random.default_rng(seed),
        noise=impact_synthesis.Background(snr=30.0),
    )


def asked(tmp_path, source, *, bare):
    folder = output_folder(tmp_path / "out")
    request = CalibrationRequest(catalogue.load_settings(), folder)
    return CalibrationTarget("ball", (source,), folder, "digest", bare=bare), request


@pytest.mark.slow
def test_a_session_of_two_microphones_gives_restitution_by_speed(tmp_path):
    takes = [sound(PAIR, seed) for seed in range(2)]
    plan = small_sessions.plan(tmp_path / "pair", rig=PAIR)
    small_sessions.write_session(plan, takes)
    target, request = asked(tmp_path, tmp_path / "pair", bare=False)
    found = detections.detect([tmp_path / "pair"])
    result = times_only.calibrate_sessions(target, request, found)
    assert result["takes"]["used"] == 2
    assert result["mean"][0] == pytest.approx(0.85, abs=0.02)
    by_speed = result["restitution"]
    assert result["mean"][0] == by_speed["at_first_bounce"]["mean"]
    assert by_speed["reference_speed"] == 2.0
    speeds = [row["speed"] for row in by_speed["band"]]
    assert speeds == sorted(speeds)
    for row in (*by_speed["band"], *by_speed["beyond"]):
        assert set(row) == {"speed", "mean", "sd", "region_90"}
        assert row["region_90"][0] <= row["mean"] <= row["region_90"][1]
    assert result["predictive_p_value"] is None
    assert sum(result["members"].values()) == pytest.approx(1.0)
    with np.load(target.folder / "samples.npz") as arrays:
        assert arrays["theta"].shape == (4000, 2)
    details = json.loads((target.folder / "details.json").read_text())
    assert [len(drop["times"]) for drop in details["drops"]] == [9, 9]


@pytest.mark.slow
def test_a_session_of_two_microphones_takes_the_air_of_the_size_that_it_states(tmp_path):
    plan = small_sessions.plan(tmp_path / "pair", rig=PAIR)
    small_sessions.write_session(plan, [sound(PAIR)])
    target, request = asked(tmp_path, tmp_path / "pair", bare=False)
    found = detections.detect([tmp_path / "pair"])
    size = air.COMMON_BALLS["ping-pong"]
    stated = [replace(each, diameter=size.diameter, mass=size.mass) for each in found.sessions]
    result = times_only.calibrate_sessions(target, request, replace(found, sessions=stated))
    terminal = result["restitution"]["terminal_speed_if_constant"]
    # drag is known to 13 %, a speed to half of it
    assert terminal["median"] == pytest.approx(air.terminal_speed(air.drag(size)), rel=0.2)
    low, high = terminal["region_90"]
    assert high / low < 1.4


@pytest.mark.slow
def test_a_clip_s_answer_depends_on_the_ball_that_is_named_and_not_on_the_seed(tmp_path):
    path = tmp_path / "clip.wav"
    soundfile.write(path, 2.0 * sound(RIG)[0], 44100)
    results = []
    for seed in (0, 1):
        target, request = asked(tmp_path, path, bare=True)
        results.append(
            times_only.calibrate(target, CalibrationRequest(request.settings, request.out, seed))
        )
    assert results[0]["mean"] == results[1]["mean"]
    assert results[0]["covariance"] == results[1]["covariance"]
    sized = replace(request, ball="ping-pong")
    result = times_only.calibrate(target, sized)
    assert results[0]["object"] == {"ball": "clip", "surface": "unknown", "drop_height": None}
    size = {"diameter": 0.04, "mass": 0.0027, "air_temperature": 20.0}
    assert result["object"] == {**results[0]["object"], "ball": "ping-pong", **size}
    slowest, fastest = result["restitution"]["terminal_speed_if_constant"]["region_90"]
    assert slowest < 8.6 < fastest < 1.4 * slowest
    drawn = {path.name for path in (target.folder / "figures").iterdir()}
    assert drawn == {"recording.png", "restitution-by-speed.png"}


def test_clicks_of_a_clock_are_refused_in_one_line(tmp_path):
    ticks = np.zeros(5 * 44100)
    ticks[np.arange(9) * 22050 + 11025] = 0.5
    path = tmp_path / "clock.wav"
    draw = np.random.default_rng(0)
    soundfile.write(path, ticks + 1e-4 * draw.standard_normal(len(ticks)), 44100)
    target, request = asked(tmp_path, path, bare=True)
    with pytest.raises(BadInput, match=r"clock\.wav: found no ball: 9 onsets"):
        times_only.calibrate(target, request)
