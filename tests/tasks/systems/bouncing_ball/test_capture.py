"""The rig is what the settings say, or is refused; a session says what its ball was."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import no_progress
from ricochet.models.systems.bouncing_ball import air
from ricochet.models.systems.bouncing_ball.balls import BALLS, REAL_PING_PONG
from ricochet.tasks.general_settings import Capture
from ricochet.tasks.recordings import sessions
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import capture, sample
from ricochet.tasks.systems.bouncing_ball.settings import Drops


@pytest.mark.parametrize("places", ["[[0, 0]]", "[]", "[[0, 0, x]]", "[[.nan, 0, 0]]"])
def test_places_of_microphones_are_three_finite_numbers_each(places: str) -> None:
    with pytest.raises(BadInput, match=r"capture\.microphones"):
        chosen = catalogue.load_settings(overrides=[f"capture.microphones={places}"])
        capture.open_rig("simulated", chosen, seed=0)


def settings_with(*overrides: str) -> Settings:
    return catalogue.load_settings(overrides=[f"capture.{each}" for each in overrides])


def test_takes_that_end_before_the_third_bounce_are_refused() -> None:
    with pytest.raises(BadInput, match=r"found 1\.6 s, expected at least 1\.94 s"):
        capture.open_rig("simulated", settings_with("drop_height=1.0"), seed=0)
    capture.open_rig("simulated", settings_with("drop_height=1.0", "duration=2.0"), seed=0)


def test_the_simulated_rig_needs_a_height_and_a_real_one_may_leave_it_out() -> None:
    unknown = settings_with("drop_height=null")
    with pytest.raises(BadInput, match=r"capture\.drop_height: found null"):
        capture.open_rig("simulated", unknown, seed=0)
    assert unknown[Drops].drop_height is None


@pytest.mark.parametrize("height", ["9", "0.01", "high"])
def test_heights_that_no_calibration_takes_are_not_recorded(height: str) -> None:
    with pytest.raises(BadInput, match=r"capture\.drop_height.* or null"):
        settings_with(f"drop_height={height}")


def test_a_rig_has_the_stated_microphones() -> None:
    stated = [[0.0, 0.0, 0.1], [1.0, 0.0, 0.1], [0.0, 1.0, 0.1], [1.0, 1.0, 0.2]]
    chosen = catalogue.load_settings(overrides=[f"capture.microphones={stated}"])
    rig = capture.open_rig("simulated", chosen, seed=0).rig
    assert [list(each.position) for each in rig.microphones] == stated


PLAIN = ["capture.drops=1", "capture.reverberation_time=0", "capture.duration=1.2"]
REAL = ["capture.diameter=0.04", "capture.mass=0.0027", "nature.viscoelastic=true"]
REAL += ["nature.tail_share=0.1", "nature.tail_ratio=0.05", "nature.take_scatter=0.002"]


def recorded(folder: Path, *overrides: str) -> Path:
    settings = catalogue.load_settings(overrides=[*PLAIN, *overrides])
    capture.capture(settings, folder, rig="simulated", session="s", seed=1, progress=no_progress)
    return folder / "s"


def test_a_session_of_the_paper_s_ball_says_two_numbers_of_it(tmp_path: Path) -> None:
    content = json.loads((recorded(tmp_path) / "session.json").read_text())
    assert content["truth"] == {"restitution": 0.85, "log10_concentration": 3.5}
    assert set(content["object"]) == {"ball", "surface", "drop_height"}


def test_a_session_of_a_real_ball_states_its_size_and_keeps_all_of_its_truth(
    tmp_path: Path,
) -> None:
    folder = recorded(tmp_path, *REAL, "capture.temperature=0.0")
    content = json.loads((folder / "session.json").read_text())
    drag = air.drag(air.COMMON_BALLS["ping-pong"], 0.0)
    assert content["truth"] == {
        "restitution": 0.85,
        "log10_concentration": 3.5,
        "viscoelastic": True,
        "tail_share": 0.1,
        "tail_ratio": 0.05,
        "take_scatter": 0.002,
        "drag": pytest.approx(drag, rel=1e-12),
    }
    read = sessions.read_session(folder)
    assert (read.diameter, read.mass) == (0.04, 0.0027) and len(read.takes) == 1
    assert read.truth is not None and read.truth.slope == 0.0
    assert sessions.stated(read.truth) == content["truth"]


def test_drag_that_is_given_is_that_of_the_ball_whatever_its_size() -> None:
    chosen = catalogue.load_settings(overrides=[*REAL, "nature.drag=0.05"])
    assert capture.ball(chosen).drag == 0.05
    assert capture.ball(catalogue.load_settings(overrides=["nature.drag=0.05"])).drag == 0.05
    assert capture.ball(catalogue.load_settings()).plain


@pytest.mark.parametrize("size", ["diameter=0.04", "mass=0.0027"])
def test_half_a_size_is_refused(size: str) -> None:
    with pytest.raises(BadInput, match=r"expected diameter and mass, or neither"):
        capture.open_rig("simulated", settings_with(size), seed=0)
    real = capture.stated_rig("bench", settings_with(size)[Capture])
    with pytest.raises(BadInput, match=r"^capture\..*expected diameter and mass, or neither"):
        capture._plan(settings_with(size), Path("s"), real, simulated=False)


def test_a_ball_that_bounces_higher_as_it_slows_needs_a_longer_take() -> None:
    overrides = ["capture.drop_height=1.0", "capture.duration=1.95", "nature.slope=0.05"]
    with pytest.raises(BadInput, match=r"capture\.duration"):
        steep = catalogue.load_settings(overrides=[*overrides, "capture.restitution=0.97"])
        capture.open_rig("simulated", steep, seed=0)


def test_the_sample_takes_balls_of_the_family(tmp_path: Path) -> None:
    curved = replace(REAL_PING_PONG, viscoelastic=True)
    pairs = [
        sample.SamplePair(name, "table", ball)
        for name, ball in (("real", curved), ("plain", BALLS["tennis"]))
    ]
    settings = catalogue.load_settings(overrides=PLAIN)
    real, plain = (
        sessions.read_session(folder).truth
        for folder in sample.make(tmp_path, settings, pairs=pairs)
    )
    assert real is not None and plain is not None
    assert (real.viscoelastic, real.scatter) == (True, 0.004) and real.drag == REAL_PING_PONG.drag
    assert set(sessions.stated(plain)) == {"restitution", "log10_concentration"}


@pytest.mark.parametrize(("key", "unit"), [("mass", "kg"), ("diameter", "m")])
def test_a_size_that_no_ball_has_is_refused_with_what_is_expected(key: str, unit: str) -> None:
    with pytest.raises(BadInput, match=rf"found -1, expected a number above 0 and .*, {unit}, or"):
        settings_with(f"{key}=-1")


def test_a_ball_of_no_material_is_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"capture\.mass: found 8\.06e\+04 kg/m\^3"):
        recorded(tmp_path, "capture.diameter=0.04", "capture.mass=2.7")
    assert not (tmp_path / "s").exists()
