"""Strokes within the arm's limits, records as recorded, and predictions that keep their promise."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.puck import (
    dataset,
    mode_fitting,
    prediction_checks,
)
from ricochet.models.systems.air_hockey.puck.segmentation import Recording
from ricochet.models.systems.air_hockey.simulator import Disturbance
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles import hockey_modes, puck_sampler

TABLE = Table()
MODES = hockey_modes.made(wall=(0.04, 0.03), mallet=(0.02, 0.04), delay=0.0)


@pytest.mark.parametrize("seed", range(3))
def test_a_stroke_keeps_the_limits_and_meets_the_puck(seed):
    draw = np.random.default_rng(seed)
    stroke = dataset.random_stroke(TABLE, steps=60, draw=draw)
    joints, speeds = stroke.commands[:, 0], stroke.commands[:, 1]
    assert (np.abs(joints) < iiwa.USABLE * iiwa.JOINT_LIMIT).all()
    assert (np.abs(speeds) < iiwa.USABLE * iiwa.SPEED_LIMIT).all()
    places = iiwa.tip(joints)
    np.testing.assert_allclose(places[:, 2], iiwa.TIP_HEIGHT, atol=1e-3)
    # Speeds are those of the positions: by the mean over a period, to the change within it.
    means = 0.5 * (speeds[1:] + speeds[:-1])
    changes = np.diff(joints, axis=0) / 0.02
    assert np.abs(changes - means).max() < 0.05
    path = places[:, :2] + TABLE.robot_base[:2]
    times = 0.02 * np.arange(1, 61)[:, None]
    drag = -np.expm1(-0.5 * times) / 0.5
    apart = np.linalg.norm(stroke.puck[:2] + stroke.puck[2:] * drag - path, axis=-1)
    assert apart.min() < TABLE.contact_radius
    assert np.linalg.norm(stroke.puck[:2] - path[0]) > TABLE.contact_radius


def fastest(stroke: dataset.Stroke) -> tuple[float, float]:
    """Largest speed of a stroke's tip, m/s, and the size of its angle."""
    jacobian, speeds = iiwa.pose(stroke.commands[:, 0]).jacobian, stroke.commands[:, 1]
    velocity = (jacobian @ speeds[..., None])[..., 0]
    quickest = velocity[np.linalg.norm(velocity, axis=-1).argmax()]
    return float(np.linalg.norm(quickest)), float(abs(np.arctan2(quickest[1], quickest[0])))


@pytest.mark.proof
def test_strokes_are_as_fast_as_shots():
    """30 of them: half reach 0.9 m/s, the fast ones go sideways, as those of shots do."""
    draw = np.random.default_rng(5)
    strokes = [dataset.random_stroke(TABLE, steps=50, draw=draw) for _ in range(30)]
    speed, angle = np.array([fastest(stroke) for stroke in strokes]).T
    assert np.median(speed) > 0.9
    assert speed.max() > 2.0
    assert angle[speed > 1.5].min() > 0.5


def test_effort_is_in_proportion_to_the_pace():
    """The same path of the tip: joint speeds go with the pace; twice a limit is an effort of 2."""
    start, along = np.array((-0.75, -0.1)), np.array((0.8, 0.6))
    joints = iiwa.HOME + 0.3 * np.random.default_rng(0).standard_normal((5, 7))
    slow, fast = (
        dataset.effort(
            dataset.follow(start, along, pace=pace, steps=200, table=TABLE, joints=joints)
        )
        for pace in (0.2, 0.4)
    )
    np.testing.assert_allclose(fast, 2.0 * slow, rtol=0.05)  # the even piece is 1 cm longer
    commands = np.zeros((3, 2, 7))
    commands[:, 0], commands[1, 1, 2] = iiwa.HOME, 2.0 * 0.9 * 0.95 * iiwa.SPEED_LIMIT[2]
    assert dataset.effort(commands) == pytest.approx(2.0)
    commands[2, 0, 3] = iiwa.JOINT_LIMIT[3]
    assert dataset.effort(commands) == np.inf


def test_a_record_is_the_trace_every_twenty_milliseconds():
    trace = np.arange(2 * 100 * 11, dtype=float).reshape(2, 100, 11)
    recording = dataset.sampled(trace)
    np.testing.assert_array_equal(recording.puck, trace[:, 19::20, 0:2])
    np.testing.assert_array_equal(recording.puck_velocity, trace[:, 19::20, 3:5])
    np.testing.assert_allclose(recording.mallet_velocity, 11.0 / 0.001)


def test_records_of_the_table_repeat_with_the_seed():
    world = simulator.build()
    done: list[int] = []
    runs = [
        dataset.collect(
            world,
            episodes=2,
            steps=8,
            disturbance=Disturbance(),
            draw=np.random.default_rng(seed),
            progress=done.append,
        )
        for seed in (0, 0, 1)
    ]
    assert done == [1, 2] * 3
    np.testing.assert_array_equal(runs[0].puck, runs[1].puck)
    assert np.abs(runs[0].puck - runs[2].puck).max() > 0.01


@pytest.mark.proof
@pytest.mark.slow
def test_modes_of_the_table_are_those_of_its_physics():
    """50 episodes: drag 0.5 /s, airflow 0.1 m/s^2, the challenge's restitutions."""
    world = simulator.build()
    recording = dataset.collect(
        world, episodes=50, disturbance=Disturbance(), draw=np.random.default_rng(2)
    )
    modes = mode_fitting.fit(recording, TABLE)
    np.testing.assert_allclose(np.diag(modes.floating.matrix), np.exp(-0.5 * 0.02), atol=1e-4)
    assert modes.airflow_sd == pytest.approx(0.1 / 2**0.5, rel=0.01)
    assert 0.70 < -modes.wall.matrix[0, 0] < 0.80
    assert 0.82 < modes.wall.matrix[1, 1] < 0.87
    assert 0.40 < modes.mallet.matrix[0, 2] - 1.0 < 0.52
    assert 0.003 < modes.delay < 0.010


def synthetic(episodes: int, draw: np.random.Generator) -> Recording:
    """Pucks drawn from `MODES`, no mallet."""
    place = draw.uniform(-1.0, 1.0, (episodes, 2)) * (0.7, 0.4)
    states = puck_sampler.release(MODES, place, draw.normal(0.0, 0.6, (episodes, 2)), draw=draw)
    path = puck_sampler.paths(MODES, states, TABLE, steps=75, draw=draw).swapaxes(0, 1)
    none = np.full((episodes, 76, 2), np.nan)
    return Recording(path[..., :2], path[..., 2:4], none, none)


@pytest.mark.proof
def test_regions_of_the_true_modes_hold_what_they_promise():
    """Three errors of a share p among N, at most the 150 airflows: 3 sqrt(p (1 - p) / N)."""
    recording = synthetic(150, np.random.default_rng(1))
    rows = prediction_checks.prediction_table(
        MODES, recording, TABLE, draw=np.random.default_rng(2)
    )
    found = {(row.mode, row.horizon): row for row in rows}
    needed = [("floating", 0.02), ("bank", 0.02), ("floating", 1.0), ("one bank", 1.0)]
    assert all(found[key].count > 20 for key in needed)
    for row in (found[key] for key in needed):
        count = min(row.count, 150)
        assert abs(row.coverage[0] - 0.5) < 3.0 * (0.25 / count) ** 0.5
        assert abs(row.coverage[1] - 0.9) < 3.0 * (0.09 / count) ** 0.5
        assert row.error < row.baseline


@pytest.mark.slow
def test_regions_of_overconfident_modes_hold_less():
    """The same means with a fifth of the standard deviation at walls and of the airflow."""
    sure = replace(
        MODES, wall=replace(MODES.wall, covariance=0.04 * MODES.wall.covariance), airflow_sd=0.014
    )
    recording = synthetic(60, np.random.default_rng(1))
    rows = prediction_checks.prediction_table(sure, recording, TABLE, draw=np.random.default_rng(2))
    bank = next(row for row in rows if row.mode == "bank")
    assert bank.coverage[1] < 0.4
