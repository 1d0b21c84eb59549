"""Continuations against the parabola of a sure ball, and against simulated tosses by coverage."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ricochet.models.systems.bouncing_ball import contact, contact_draws, contact_table, flight
from ricochet.models.systems.bouncing_ball.balls import BALLS, REAL_PING_PONG, Ball
from ricochet.models.systems.bouncing_ball.tracking import bounce_filter, crossing_samples
from ricochet.models.systems.bouncing_ball.tracking import toss as ball_toss
from ricochet.models.systems.bouncing_ball.tracking.bounce_filter import Belief, TossPrior
from ricochet.models.systems.bouncing_ball.tracking.crossing_samples import Continuations
from ricochet.models.systems.bouncing_ball.tracking.event_hypotheses import Detection, SensorModel
from ricochet.models.systems.bouncing_ball.tracking.toss import Toss

PLANE = 0.30
PRIOR, SENSOR = TossPrior(), SensorModel()


def sure(place: tuple[float, float], velocity: tuple[float, float], entry: float) -> Belief:
    """A ball without noise, known exactly, at its last contact at 1 s."""
    theta = torch.tensor([[0.8, np.inf]])
    return Belief(
        contact_table.tabulate(contact_draws.of_pairs(theta)),
        np.array([[[*place, *velocity]]]),
        np.zeros((1, 1, 4, 4)),
        np.array([[entry]]),
        np.array([1.0]),
        np.zeros((1, 1)),
        np.zeros((1, 1), dtype=int),
    )


def go_on(belief: Belief, count: int = 50, seed: int = 0) -> Continuations:
    draw = np.random.default_rng(seed)
    return crossing_samples.sample(belief, plane=PLANE, count=count, prior=PRIOR, draw=draw)


def test_a_sure_ball_crosses_on_its_parabola() -> None:
    """e w = 1.6 m/s: flights of 0.326 and 0.261 s; at 0.5 m/s the plane comes in 0.4 s."""
    ahead = go_on(sure((0.1, -0.05), (0.5, 0.1), 2.0))
    first = 2.0 * 1.6 / 9.81
    wait = 0.4 - first
    assert (ahead.flight == 2).all() and ahead.crosses.all()
    # The belief's root is taken with a jitter of 1e-6 m.
    np.testing.assert_allclose(ahead.time, 1.4, atol=3e-5)
    np.testing.assert_allclose(ahead.y, -0.05 + 0.1 * 0.4, atol=3e-5)
    np.testing.assert_allclose(ahead.z, 1.28 * wait - 0.5 * 9.81 * wait**2, atol=1e-4)
    np.testing.assert_allclose(ahead.next_contact, 1.0 + first, atol=1e-9)


def test_balls_lost_over_another_edge_never_cross_and_one_short_of_the_plane_falls_below() -> None:
    sideways = go_on(sure((0.0, 0.2), (0.1, 0.5), 2.0))
    assert not sideways.crosses.any() and np.isnan(sideways.y).all()
    over_the_edge = go_on(sure((0.2, 0.0), (0.09 / (3.2 / 9.81), 0.0), 2.0))  # lands at 0.29
    assert over_the_edge.crosses.all() and (over_the_edge.z < 0.0).all()


def test_the_same_seed_gives_the_same_samples_and_a_shift_in_y_shifts_them() -> None:
    one = go_on(sure((0.1, 0.0), (0.5, 0.0), 2.0), seed=3)
    other = go_on(sure((0.1, 0.02), (0.5, 0.0), 2.0), seed=3)
    np.testing.assert_allclose(other.y - 0.02, one.y, atol=1e-12)
    np.testing.assert_array_equal(other.z, one.z)


def test_a_sure_ball_crosses_where_its_flight_through_air_does() -> None:
    """One contact, one flight from it to the plane, both followed."""
    ball = replace(REAL_PING_PONG, log10_concentration=np.inf, scatter=0.0)
    nature, entry = ball.nature, torch.tensor([[0.8, 0.1, -2.0]], dtype=torch.float64)
    belief = replace(sure((0.1, -0.05), (0.8, 0.1), 2.0), contacts=contact_table.tabulate(nature))
    draw = torch.Generator().manual_seed(0)
    exit_ = contact.bounce(entry, nature.contact, law=nature.law, draw=draw)
    away = torch.tensor([0.2], dtype=torch.float64)
    when, where = flight.meet(exit_, away, drag=nature.drag)
    ahead = go_on(belief)
    assert (ahead.flight == 1).all()
    # 1e-4: the jitter of the belief's root in place and speed over 0.4 s; 1 ms of first order
    np.testing.assert_allclose(ahead.time, 1.0 + float(when[0]), atol=1e-3)
    np.testing.assert_allclose(ahead.y, -0.05 + float(where[0, 1]), atol=1e-4)
    np.testing.assert_allclose(ahead.z, float(where[0, 2]), atol=2e-3)


def predicted(
    toss: Toss, bounces: int, wrong: int | None, draw: np.random.Generator
) -> Continuations:
    """What the belief after some bounces predicts, one of them off by tens of centimetres."""
    ball = toss.ball
    contacts = contact_table.tabulate(ball.nature)
    belief = None
    for number in range(bounces):
        when, place = float(toss.times[number]), toss.positions[number, :2]
        off = draw.uniform(-0.25, 0.25, 2) if number == wrong else draw.normal(0.0, 3e-3, 2)
        event = Detection(when, when + 8e-4, place + off, 1e-8 * np.eye(2), False)
        if belief is None:
            belief = bounce_filter.begin(contacts, event, prior=PRIOR, sensor=SENSOR)
        else:
            belief = bounce_filter.update(belief, event, prior=PRIOR, sensor=SENSOR)
    assert belief is not None
    return go_on(belief, count=300, seed=int(draw.integers(1 << 30)))


@pytest.mark.proof
@pytest.mark.parametrize("ball", [*BALLS.values(), REAL_PING_PONG], ids=lambda ball: ball.name)
@pytest.mark.parametrize("wrong", [None, 2])
def test_nine_in_ten_crossings_lie_in_the_predicted_intervals(
    ball: Ball, wrong: int | None
) -> None:
    """Of y, z and time, after all bounces but those after the third.

    With about 150 tosses three standard errors of a coverage of 0.9 are 0.073. The belief allows
    for restitutions that vary and for errors of the survey, so it may cover more.
    """
    draw = np.random.default_rng(5)
    hits = []
    for toss in ball_toss.tosses(ball, 200, draw=torch.Generator().manual_seed(4)):
        if toss.crossing is None or toss.crossing_time is None or len(toss.times) < 2:
            continue
        bounces = min(len(toss.times), 3)
        ahead = predicted(toss, bounces, wrong if bounces == 3 else None, draw)
        truth = (toss.crossing[0], toss.crossing[1], toss.crossing_time)
        samples = [values[ahead.crosses] for values in (ahead.y, ahead.z, ahead.time)]
        if len(samples[0]) < 30:
            continue
        ends = [np.quantile(values, (0.05, 0.95)) for values in samples]
        hits.append([low <= value <= high for value, (low, high) in zip(truth, ends, strict=True)])
    assert len(hits) > 100
    coverage = np.mean(hits, axis=0)
    assert (coverage > 0.9 - 3.0 * np.sqrt(0.09 / len(hits))).all(), coverage
    assert (coverage < 0.995).all(), coverage
