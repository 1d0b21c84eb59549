"""Algorithm 1: the printed equations, a simulated ball without noise, symmetries, bad events."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ricochet.models.systems.bouncing_ball import simulator
from ricochet.models.systems.bouncing_ball.tracking import intercept
from ricochet.models.systems.bouncing_ball.tracking.event_checks import Bounce
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
from tests.models.systems.bouncing_ball.tracking.bad_events import BAD, Bad, event

PLACE = Workspace()
PADDLE = (0.05, 0.2)


def test_prediction_equals_the_printed_equations() -> None:
    """Eqs. 11 to 16 by hand, with numbers from a calculator's steps."""
    e, g = 0.8, 9.81
    state = intercept.init(e, PLACE)
    found = intercept.predict(state, Bounce(1.0, 0.0, 0.0), Bounce(1.4, 0.16, 0.12))
    assert found is not None
    d, t = 0.2, 0.4
    d_plane = 0.14 / 0.8  # the line runs at cos = 0.16 / 0.2 to x
    assert not e**2 * d > d_plane and not found.crosses
    assert found.y == pytest.approx(0.12 / 0.16 * 0.30) and found.due == pytest.approx(e * t)

    near = intercept.predict(state, Bounce(1.0, 0.06, 0.0), Bounce(1.4, 0.22, 0.12))
    assert near is not None and near.crosses
    d_plane = 0.08 / 0.8
    t_plane = d_plane * t / (e * d)
    assert near.y == pytest.approx(0.12 + 0.75 * 0.08)
    assert near.due == pytest.approx(t_plane)
    assert near.z == pytest.approx(e * g * t / 2 * t_plane - g / 2 * t_plane**2)


def tossed(heading: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bounces without redraw of a ball let go at x = -0.3: times, places, exit velocities."""
    speed = 0.6
    bounces = simulator.simulate(
        torch.tensor([0.8], dtype=torch.float64),
        torch.tensor([math.inf], dtype=torch.float64),
        bounces=6,
        start_velocity=torch.tensor([speed * math.cos(heading), speed * math.sin(heading), 0.0]),
        drop_height=0.26,
        draw=torch.Generator().manual_seed(0),
    )
    places = bounces.positions[0].numpy() + np.array([-0.3, 0.0, 0.0])
    return bounces.times[0].numpy(), places, bounces.velocities[0].numpy()


@pytest.mark.parametrize("heading", [-0.4, 0.0, 0.3])
def test_a_simulated_ball_without_noise_is_met_exactly(heading: float) -> None:
    times, places, velocities = tossed(heading)
    last = int(np.flatnonzero(places[:, 0] < PLACE.x)[-1])
    wait = (PLACE.x - places[last, 0]) / velocities[last, 0]
    crossing_y = places[last, 1] + velocities[last, 1] * wait
    height = velocities[last, 2] * wait - 0.5 * 9.81 * wait**2
    state = intercept.init(0.8, PLACE, horizontal=1.0)
    for time, place in zip(times[: last + 1], places[: last + 1], strict=True):
        bounce = event(float(time), float(place[0]), float(place[1]))
        state, target = intercept.step(state, bounce, now=float(time) + 0.01, paddle=PADDLE)
        assert target is not None
        if time > times[0]:
            assert target.y == pytest.approx(crossing_y, abs=1e-6)
    assert target.z == pytest.approx(height, abs=1e-6)
    assert target.issued + target.duration == pytest.approx(times[last] + wait, abs=1e-6)


def test_the_first_bounce_sends_the_paddle_to_its_y_at_the_present_height() -> None:
    state = intercept.init(0.8, PLACE)
    state, target = intercept.step(state, event(1.0, -0.1, 0.07), now=1.01, paddle=PADDLE)
    assert target is not None and target.y == 0.07 and target.z is None
    assert state.last == Bounce(1.0, -0.1, 0.07)


@settings(max_examples=60, deadline=None)
@given(
    x=st.floats(-0.25, 0.25),
    y=st.floats(-0.3, 0.3),
    dx=st.floats(0.01, 0.3),
    dy=st.floats(-0.2, 0.2),
    shift=st.floats(-50.0, 50.0),
)
def test_mirrored_and_delayed_bounces_give_mirrored_and_delayed_targets(
    x: float, y: float, dx: float, dy: float, shift: float
) -> None:
    state = intercept.init(0.85, PLACE)
    one = intercept.predict(state, Bounce(0.0, x - dx, y - dy), Bounce(0.35, x, y))
    other = intercept.predict(state, Bounce(shift, x - dx, dy - y), Bounce(shift + 0.35, x, -y))
    assert one is not None and other is not None
    assert other.y == pytest.approx(-one.y, abs=1e-9)
    if one.crosses == other.crosses:  # they may differ in the last digit at the edge of Eq. 13
        assert other.due == pytest.approx(one.due, abs=1e-9)


def test_places_and_targets_move_together_along_y() -> None:
    state = intercept.init(0.85, PLACE)
    one = intercept.predict(state, Bounce(0.0, 0.1, 0.0), Bounce(0.3, 0.25, 0.02))
    other = intercept.predict(state, Bounce(0.0, 0.1, 0.1), Bounce(0.3, 0.25, 0.12))
    assert one is not None and other is not None and one.z == other.z
    assert other.y - one.y == pytest.approx(0.1)


@pytest.mark.wrong_types
@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_a_bad_event_moves_nothing_and_leaves_one_line(bad: Bad) -> None:
    state = intercept.init(0.8, PLACE)
    for good in (event(1.0, -0.1), event(1.3, 0.05)):
        state, _ = intercept.step(state, good, now=good.time + 0.01, paddle=PADDLE)
    after, target = intercept.step(state, bad.event, now=bad.now, paddle=bad.paddle)
    assert target is None and len(after.refused) == 1 and "\n" not in after.refused[0]
    assert replace(after, refused=()) == state


def test_a_bounce_without_a_place_is_waited_out_and_the_next_is_a_first() -> None:
    state = intercept.init(0.8, PLACE)
    targets = []
    for bounce in (event(1.0, -0.1), event(1.3, None), event(1.5, 0.1, 0.04)):
        state, target = intercept.step(state, bounce, now=bounce.time + 0.01, paddle=PADDLE)
        targets.append(target)
    assert targets[1] is None
    assert targets[2] is not None and targets[2].y == 0.04 and targets[2].z is None


@pytest.mark.parametrize(
    "before, last",
    [
        (Bounce(1.0, 0.1, 0.0), Bounce(1.3, 0.1, 0.1)),  # along the plane
        (Bounce(1.0, 0.1, 0.0), Bounce(1.3, 0.1, 0.0)),  # on the spot
    ],
)
def test_a_ball_that_never_meets_the_plane_gives_no_target(before: Bounce, last: Bounce) -> None:
    assert intercept.predict(intercept.init(0.8, PLACE), before, last) is None


def test_a_ball_that_moves_away_or_is_past_the_plane_does_not_cross() -> None:
    state = intercept.init(0.8, PLACE)
    away = intercept.predict(state, Bounce(1.0, 0.2, 0.0), Bounce(1.3, 0.0, 0.0))
    past = intercept.predict(state, Bounce(1.0, 0.2, 0.0), Bounce(1.3, 0.4, 0.0))
    assert away is not None and past is not None and not away.crosses and not past.crosses


def test_what_is_due_already_makes_no_target() -> None:
    state = intercept.init(0.8, PLACE)
    state, _ = intercept.step(state, event(1.0, 0.0), now=1.01, paddle=PADDLE)
    state, target = intercept.step(state, event(1.3, 0.299), now=1.31, paddle=PADDLE)
    assert target is None and state.refused == ()


@pytest.mark.parametrize("restitution", [0.0, -1.0, 1.1, math.nan])
def test_a_restitution_that_is_none_is_refused(restitution: float) -> None:
    with pytest.raises(ValueError, match="restitution"):
        intercept.init(restitution, PLACE)
