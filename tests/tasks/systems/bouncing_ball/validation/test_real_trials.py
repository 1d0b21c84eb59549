"""Trials on a real rig, played against fakes of robot and card with a scripted operator."""

import functools
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from ricochet.hardware import locks
from ricochet.hardware.microphones import sound_device
from ricochet.hardware.robots import ur
from ricochet.models.arms import ur5
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.operator import OperatorAbortError
from ricochet.tasks.systems.bouncing_ball import sample
from ricochet.tasks.systems.bouncing_ball.settings import Tosses
from ricochet.tasks.systems.bouncing_ball.tracking import laboratory, real_rig
from ricochet.tasks.systems.bouncing_ball.validation import real_trials
from ricochet.tasks.systems.bouncing_ball.validation.results import TrackingTrials
from ricochet.tasks.validation.contenders import Contenders
from tests.hardware.microphones.sound_card import Room
from tests.oracles import telemetry_reader
from tests.tasks.systems.bouncing_ball.real_rig_fakes import (
    HOST,
    PAIR,
    install,
    loaded,
    setup,
    tossed,
    with_real,
)


def read(folder, name):
    return json.loads((folder / name).read_text())


def test_each_role_comes_once_a_block_in_an_order_that_the_seed_draws():
    roles = ("candidate", "champion")
    order = real_trials.turns(roles, seed=4, tosses=200)
    assert [turn.number for turn in order] == list(range(1, 401))
    blocks = [order[i : i + 2] for i in range(0, 400, 2)]
    assert all({turn.role for turn in block} == set(roles) for block in blocks)
    assert all(one.seed == other.seed for one, other in blocks)
    first = sum(block[0].role == "candidate" for block in blocks)
    assert 58 <= first <= 142  # 100 of 200, standard deviation 7.1, six of them either way
    assert order == real_trials.turns(roles, seed=4, tosses=200)
    assert order != real_trials.turns(roles, seed=5, tosses=200)


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        (["no"], "found no, expected 192.0.2.1 typed"),
        (["yes"], "found no, expected"),
        (["192.0.2.2"], "found no, expected"),
        ([], "found none, expected"),
    ],
)
def test_without_the_very_word_nothing_is_armed_and_nothing_moves(
    monkeypatch, tmp_path, answers, says
):
    fakes = install(monkeypatch, tmp_path)
    with pytest.raises(OperatorAbortError, match=says) as ended:
        real_trials.run_tosses(setup(fakes, *answers), seed=1, folder=tmp_path)
    assert "\n" not in str(ended.value) and "the robot did not move" in str(ended.value)
    assert fakes.controller.sent == [] and fakes.controller.watchdog == 0.0
    kept = read(tmp_path, "motion.json")
    assert kept["answer"] in ("no", "none") and kept["asked_at"] <= kept["answered_at"]
    assert any("Where: the paddle's centre in the plane x = 0.30 m" in x for x in kept["asked"])


def test_the_question_says_what_where_how_fast_and_how_often(monkeypatch, tmp_path):
    fakes = install(monkeypatch, tmp_path)
    with pytest.raises(OperatorAbortError):
        real_trials.run_tosses(setup(fakes, "no"), seed=1, folder=tmp_path)
    said = "\n".join(fakes.shown)
    for part in (HOST, "y -0.35 to 0.35 m", "3.14 rad/s", "2.3 m/s", "4 tosses of the tennis"):
        assert part in said
    assert "(0.300, 0.000, 0.200) m in the table's frame" in said and "emergency stop" in said


def test_the_paddle_s_greatest_speed_is_that_of_the_fastest_joint():
    """Oracle: finite differences of the inverse kinematics at places and ways drawn at random."""
    rig = real_rig.Workspace()
    draw, step = np.random.default_rng(2), 1e-6
    speeds = []
    for _ in range(300):
        y, z, angle = draw.uniform((-0.35, 0.0, 0.0), (0.35, 0.5, np.pi))
        here = np.array((rig.x, y, z))
        there = here + step * np.array((0.0, np.cos(angle), np.sin(angle)))
        rate = np.abs(ur5.inverse(there) - ur5.inverse(here)).max() / step
        speeds.append(ur5.JOINT_SPEED / rate)
    assert 0.8 * real_rig.fastest(rig) < max(speeds) <= 1.02 * real_rig.fastest(rig)


@pytest.mark.parametrize(
    ("overrides", "armed", "says"),
    [
        ([], False, "--rig real: found no --arm"),
        (["real.robot=''"], True, "real.robot: found nothing, expected the robot's address"),
        (["real.base=[1, 2]"], True, "real.base=.* expected a list of 3, each a number"),
        (["real.base=[1, 2, .nan]"], True, "real.base=.* expected a list of 3, each a number"),
        (["real.base=[2.0, 0.0, 0.3]"], True, "base: found .* easy reach"),
        (["capture.microphones=[[0, 0, 0.1]]"], True, "capture.microphones: found 1 places"),
        (
            ["capture.microphones=[[-0.3, -0.25, 0.08], [0.3, -0.25, 0.08], [0, 0.32, 0.08]]"],
            True,
            r"capture.microphones, entry 1: found \(0.300, -0.250, 0.080\) m, expected a place",
        ),
    ],
)
def test_a_rig_described_in_part_is_bad_input(monkeypatch, tmp_path, overrides, armed, says):
    install(monkeypatch, tmp_path)
    with pytest.raises(BadInput, match=says) as refused:
        real_rig.open_rig(loaded(*overrides), armed=armed)
    assert "\n" not in str(refused.value)


def test_a_robot_or_microphones_that_do_not_answer_are_bad_input(monkeypatch, tmp_path):
    fakes = install(monkeypatch, tmp_path)
    fakes.controller.connected = False
    with pytest.raises(BadInput, match=r"robot 192\.0\.2\.1: found Failed to connect"):
        real_rig.open_rig(loaded(), armed=True)
    fakes.controller.connected, fakes.room.channels = True, 2
    with pytest.raises(BadInput, match="expected an input device with 3 channels"):
        real_rig.open_rig(loaded(), armed=True)


@pytest.mark.parametrize("missing", ["sounddevice", "rtde_receive"])
def test_without_a_driver_one_line_names_the_extra(monkeypatch, tmp_path, missing):
    drivers = {"sounddevice": (sound_device, "sounddevice"), "rtde_receive": (ur, "_late")}
    place, name = drivers[missing]
    own = getattr(place, name)
    install(monkeypatch, tmp_path)
    monkeypatch.setattr(place, name, own)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(BadInput, match=r"expected the extra `(capture|robot)`"):
        real_rig.open_rig(loaded(), armed=True)


def test_a_robot_that_changed_while_the_operator_read_is_refused(monkeypatch, tmp_path):
    fakes = install(monkeypatch, tmp_path)
    made = setup(fakes, HOST)
    fakes.controller.protective = True
    with pytest.raises(BadInput, match="safety: found protective stop"):
        real_trials.run_tosses(made, seed=1, folder=tmp_path)
    assert fakes.controller.sent == []


def test_a_robot_that_another_process_uses_is_left_alone(monkeypatch, tmp_path):
    fakes = install(monkeypatch, tmp_path)
    made = setup(fakes, HOST)
    with locks.hold(locks.RigLock(f"robot-{HOST}")), pytest.raises(locks.BusyError):
        real_trials.run_tosses(made, seed=1, folder=tmp_path)
    assert fakes.controller.sent == []


@pytest.mark.parametrize("answers", [("stop",), ("what?", "STOP"), ()])
def test_an_operator_who_stops_or_leaves_before_a_toss_ends_it(monkeypatch, tmp_path, answers):
    fakes = install(monkeypatch, tmp_path)
    with pytest.raises(OperatorAbortError, match=r"operator: found (stop|the end of input)"):
        real_trials.run_tosses(setup(fakes, HOST, *answers), seed=1, folder=tmp_path)
    assert fakes.controller.sent == [] and "stopScript" in fakes.controller.calls
    assert read(tmp_path, "motion.json")["answer"] == "yes"
    assert read(tmp_path, "tosses.json") == {"tosses": []}


def test_microphones_that_stop_end_it_with_their_line_and_the_arm_stands(monkeypatch, tmp_path):
    fakes = install(monkeypatch, tmp_path, room=Room(dies=0.4))
    with pytest.raises(
        OperatorAbortError, match=r"toss 1: sound_device: found no sound for 0\.2 s"
    ):
        real_trials.run_tosses(setup(fakes, HOST, ""), seed=1, folder=tmp_path)
    assert fakes.controller.calls[-2:] == ["disconnect", "receive disconnect"]
    (toss,) = read(tmp_path, "tosses.json")["tosses"]
    assert toss["verdict"] == "fault" and "found no sound" in toss["refused"][-1]


@pytest.mark.slow
def test_a_robot_that_does_not_follow_ends_it_with_its_line(monkeypatch, tmp_path):
    monkeypatch.setattr("ricochet.hardware.microphones.sound_stream.SILENCE", 2.0)
    fakes = install(monkeypatch, tmp_path, room=Room(tossed(1)), dither=1e-5)
    made = setup(fakes, HOST, "", "touched")
    say = made.operator.say

    def seize(line):
        fakes.controller.stuck = fakes.controller.stuck or line.startswith("listening")
        say(line)

    object.__setattr__(made.operator, "say", seize)
    with pytest.raises(OperatorAbortError, match="toss 1: robot does not follow: found a joint"):
        real_trials.run_tosses(made, seed=1, folder=tmp_path)
    assert "servoStop" in fakes.controller.calls
    channels = [
        entry.channel
        for role in ("candidate", "champion")
        for entry in telemetry_reader.read(tmp_path / f"telemetry-{role}.mcap")
    ]
    assert {"arm", "bounce", "target", "refusal", "toss"} <= set(channels)


@pytest.mark.slow
def test_spoilt_tosses_are_repeated_up_to_their_limit(monkeypatch, tmp_path):
    monkeypatch.setattr("ricochet.hardware.microphones.sound_stream.SILENCE", 2.0)
    fakes = install(monkeypatch, tmp_path)
    settings = with_real(loaded(), patience=0.2)
    made = setup(fakes, HOST, "", "spoilt", "", "spoilt", settings=settings)
    with pytest.raises(OperatorAbortError, match="toss 1: found 2 spoilt in a row"):
        real_trials.run_tosses(made, seed=1, folder=tmp_path)
    rows = read(tmp_path, "tosses.json")["tosses"]
    assert [row["verdict"] for row in rows] == ["spoilt"] * 2
    assert len({(row["number"], row["role"], row["seed"]) for row in rows}) == 1


@pytest.mark.slow
def test_a_toss_with_a_sample_that_is_no_number_is_set_aside_and_the_trials_go_on(
    monkeypatch, tmp_path
):
    """The second time that the card listens, block 60 (0.6 s) holds one NaN: nobody is asked."""
    monkeypatch.setattr("ricochet.hardware.microphones.sound_stream.SILENCE", 2.0)
    spoilt = [(), ((60, 3, 1, np.nan),), ()]
    fakes = install(monkeypatch, tmp_path, room=Room(tossed(3), spoilt=spoilt))
    settings = with_real(loaded(), tosses=1)
    made = setup(fakes, HOST, "", "touched", "", "", "missed", settings=settings)
    tracking = real_trials.run_tosses(made, seed=1, folder=tmp_path)
    rows = read(tmp_path, "tosses.json")["tosses"]
    assert [(row["number"], row["verdict"]) for row in rows] == [
        (1, "touched"),
        (2, "spoilt"),
        (2, "missed"),
    ]
    assert "1 sample of channel 1 not finite" in rows[1]["refused"][-1]
    assert any("set aside, sound at" in line for line in fakes.shown)
    assert sorted(won for wins in tracking.success.values() for won in wins) == [False, True]


def test_too_many_spoilt_tosses_end_the_trials_in_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr("ricochet.hardware.microphones.sound_stream.SILENCE", 2.0)
    always = [((40, 0, 0, np.inf),)] * 2
    fakes = install(monkeypatch, tmp_path, room=Room(spoilt=always))
    with pytest.raises(OperatorAbortError, match="toss 1: found 2 spoilt in a row") as ended:
        real_trials.run_tosses(setup(fakes, HOST, "", ""), seed=1, folder=tmp_path)
    assert "\n" not in str(ended.value)
    rows = read(tmp_path, "tosses.json")["tosses"]
    assert [row["verdict"] for row in rows] == ["spoilt"] * 2
    assert fakes.controller.calls[-1] == "receive disconnect"


@pytest.mark.proof
def test_a_whole_validation_is_played_judged_and_recorded(monkeypatch, tmp_path):
    monkeypatch.setattr("ricochet.hardware.microphones.sound_stream.SILENCE", 2.0)
    fakes = install(monkeypatch, tmp_path, room=Room(tossed(5)))
    verdicts = ("", "touched", "", "spoilt", "", "missed", "", "perhaps", "m", "", "touched")
    made = setup(fakes, HOST, *verdicts)
    tracking = real_trials.run_tosses(made, seed=1, folder=tmp_path)
    judged = [True, False, False, True]
    order = real_trials.turns(("candidate", "champion"), seed=1, tosses=2)
    for role in ("candidate", "champion"):
        outcomes = tuple(won for turn, won in zip(order, judged, strict=True) if turn.role == role)
        assert tracking.success[role] == outcomes
        assert tracking.energy[role] > 0.0 and 0.0 < tracking.latency[role] < 0.5
    rows = read(tmp_path, "tosses.json")["tosses"]
    assert [row["number"] for row in rows] == [1, 2, 2, 3, 4]
    assert all(row["events"] > 0 for row in rows)
    speeds = np.abs(np.diff(fakes.controller.sent, axis=0)).max(1)
    assert speeds.max() <= ur5.JOINT_SPEED * 3.0 / 125.0
    said = " ".join(fakes.shown[len(read(tmp_path, "motion.json")["asked"]) :])
    assert "candidate" not in said and "champion" not in said
    check_telemetry(tmp_path)


def check_telemetry(folder):
    entries = [
        entry
        for role in ("candidate", "champion")
        for entry in telemetry_reader.read(folder / f"telemetry-{role}.mcap")
    ]
    ends = [entry.fields["outcome"] for entry in entries if entry.channel == "toss"]
    assert sorted(ends) == ["missed", "missed", "spoilt", "touched", "touched"]
    paddles = np.array([e.fields["paddle"] for e in entries if e.channel == "arm"])
    assert np.ptp(paddles[:, 1:], axis=0).max() > 0.02  # it went somewhere
    assert np.abs(paddles[:, 0] - 0.30).max() < 0.01


@pytest.mark.slow
def test_without_a_champion_the_share_of_staying_is_measured_at_the_rig_s_own_home(
    monkeypatch, tmp_path
):
    tracking = TrackingTrials({"candidate": (True,)}, {}, {}, {})
    monkeypatch.setattr(real_trials.trials, "ball_models", lambda contenders: {})
    monkeypatch.setattr(real_trials, "run_tosses", lambda *_, **__: tracking)
    shares = {}
    for z in (0.06, 0.1):
        settings = loaded(f"toss.home=[0.0, {z}]", "real.tosses=1")
        rig = SimpleNamespace(workspace=laboratory.workspace(settings[Tosses]))
        alone = Contenders(PAIR, {"candidate": "2"}, {})
        played = functools.partial(real_trials.run, sample.TRUTHS[PAIR], settings, rig, None)
        shares[z] = played(alone, 1, tmp_path).staying
    assert shares[0.1] < shares[0.06] - 0.1
    both = Contenders(PAIR, {"candidate": "2", "champion": "1"}, {})
    tracking.success["champion"] = (False,)
    assert played(both, 1, tmp_path).staying is None
