"""Algorithm 2: sure balls, caution, outliers after the second bounce, symmetries, bad events."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.sound.impact_stream import BounceEvent
from ricochet.models.systems.bouncing_ball.prediction import lookahead
from ricochet.models.systems.bouncing_ball.prediction.lookahead import LastBounces, Law, NextBounces
from ricochet.models.systems.bouncing_ball.tracking import cautious_intercept, intercept
from ricochet.models.systems.bouncing_ball.tracking.cautious_intercept import State
from ricochet.models.systems.bouncing_ball.tracking.event_checks import Bounce
from ricochet.models.systems.bouncing_ball.tracking.workspace import MotionTarget, Workspace
from tests.models.systems.bouncing_ball.tracking.bad_events import BAD, Bad, event

PLACE = Workspace()
PADDLE = (0.05, 0.2)
RESTITUTION = 0.8


def law(across_sd: float, mirror: float = 1.0) -> Law:
    """A ball whose bounces scatter to the side only."""

    def next_bounces(
        time: np.ndarray, distance: np.ndarray, count: int, draw: np.random.Generator
    ) -> NextBounces:
        ones = np.ones((len(time), count))
        side = mirror * across_sd * draw.standard_normal(ones.shape)
        return NextBounces(
            RESTITUTION * time[:, None] * ones, RESTITUTION * distance[:, None] * ones, side
        )

    return next_bounces


def feed(state: State, bounces: list[BounceEvent]) -> tuple[State, MotionTarget | None]:
    target = None
    for bounce in bounces:
        state, target = cautious_intercept.step(
            state, bounce, now=bounce.time + 0.01, paddle=PADDLE
        )
    return state, target


def test_a_sure_ball_is_met_where_the_deterministic_controller_meets_it() -> None:
    start = cautious_intercept.init(law(0.0), PLACE, look_ahead=4)
    _, target = feed(start, [event(1.0, 0.03, 0.0), event(1.4, 0.21, 0.02)])
    exact = intercept.predict(
        intercept.init(RESTITUTION, PLACE, horizontal=1.0),
        Bounce(1.0, 0.03, 0.0),
        Bounce(1.4, 0.21, 0.02),
    )
    assert target is not None and exact is not None and exact.crosses
    assert target.y == pytest.approx(exact.y) and target.z == pytest.approx(exact.z)
    assert target.issued + target.duration == pytest.approx(1.4 + exact.due)


def test_the_way_is_the_reach_over_the_standard_deviation() -> None:
    """Line 9, against the crossings that the same seed gives."""
    bounces = [event(1.0, 0.03, 0.0), event(1.4, 0.21, 0.02)]
    start = cautious_intercept.init(law(0.2), PLACE, look_ahead=2, branches=40, seed=3)
    state, target = feed(start, bounces)
    draw = np.random.default_rng([3, 2])
    last = LastBounces(bounces[1].time - bounces[0].time, (0.21, 0.02), (0.21 - 0.03, 0.02))
    lookahead.next_places(last, law(0.2), count=cautious_intercept.ENVELOPE_SAMPLES, draw=draw)
    ahead = lookahead.sample(last, law(0.2), plane=0.3, depth=2, branches=40, draw=draw)
    spread = lookahead.spread(ahead)
    assert target is not None and spread is not None
    sigma = np.hypot(*spread.sd)
    assert sigma > PLACE.paddle_radius
    share = PLACE.paddle_radius / sigma
    assert target.y == pytest.approx(0.05 + share * (spread.mean[0] - 0.05))
    assert target.z == pytest.approx(0.2 + share * (spread.mean[1] - 0.2))
    assert state.replaced == ()


def test_the_surer_the_samples_the_longer_the_way() -> None:
    ways = []
    for across_sd in (0.05, 0.2, 0.8):
        start = cautious_intercept.init(law(across_sd), PLACE, look_ahead=1, branches=1000)
        _, target = feed(start, [event(1.0, 0.03, 0.2), event(1.4, 0.21, 0.2)])
        assert target is not None
        ways.append(np.hypot(target.y - PADDLE[0], (target.z or 0.0) - PADDLE[1]))
    assert ways[0] > ways[1] > ways[2]


def test_an_outlier_after_the_second_bounce_is_replaced_by_the_mean() -> None:
    good = [event(1.0, -0.20, 0.0), event(1.4, -0.05, 0.0)]
    start = cautious_intercept.init(law(0.01), PLACE, look_ahead=4)
    state, _ = feed(start, good)
    assert state.expected is not None
    mean = state.expected.mean
    np.testing.assert_allclose(mean, [-0.05 + 0.8 * 0.15, 0.0], atol=3 * 0.01 / np.sqrt(500))
    wrong, _ = feed(state, [event(1.72, 0.07, 0.2)])
    assert wrong.replaced == (1.72,)
    assert wrong.last == Bounce(1.72, float(mean[0]), float(mean[1]))
    right, _ = feed(state, [event(1.72, 0.07, 0.01)])
    assert right.replaced == () and right.last == Bounce(1.72, 0.07, 0.01)


def test_an_outlier_in_the_second_bounce_is_believed() -> None:
    start = cautious_intercept.init(law(0.01), PLACE, look_ahead=4)
    state, _ = feed(start, [event(1.0, -0.2, 0.0), event(1.4, -0.1, 0.3, outlier=True)])
    assert state.last == Bounce(1.4, -0.1, 0.3) and state.replaced == ()


def test_a_bounce_without_a_place_is_an_outlier_after_the_second_and_waited_out_before() -> None:
    start = cautious_intercept.init(law(0.01), PLACE, look_ahead=4)
    state, target = feed(start, [event(1.0, -0.2), event(1.4, None)])
    assert target is None and state.last is None and state.expected is None
    state, target = feed(state, [event(1.7, -0.1, 0.03)])
    assert target is not None and target.y == 0.03 and target.z is None
    state, _ = feed(state, [event(2.0, 0.0, 0.03), event(2.3, None)])
    assert state.replaced == (2.3,) and state.last is not None


def test_no_sample_that_crosses_means_no_motion() -> None:
    start = cautious_intercept.init(law(0.01), PLACE, look_ahead=2)
    state, target = feed(start, [event(1.0, -0.2), event(1.4, -0.19)])
    assert target is None and state.expected is not None and state.refused == ()


def test_a_mirrored_ball_gets_the_mirrored_target() -> None:
    start = cautious_intercept.init(law(0.05), PLACE, look_ahead=3)
    other = cautious_intercept.init(law(0.05, mirror=-1.0), PLACE, look_ahead=3)
    one_state, mirrored_state = start, other
    for time, x, y in ((1.0, 0.0, 0.01), (1.4, 0.12, 0.03), (1.72, 0.21, 0.06)):
        one_state, one = cautious_intercept.step(
            one_state, event(time, x, y), now=time, paddle=(0.05, 0.2)
        )
        mirrored_state, mirrored = cautious_intercept.step(
            mirrored_state, event(time, x, -y), now=time, paddle=(-0.05, 0.2)
        )
        assert one is not None and mirrored is not None
        assert mirrored.y == pytest.approx(-one.y) and mirrored.z == pytest.approx(one.z)


def test_later_events_give_the_same_targets_later() -> None:
    targets = []
    for shift in (0.0, 64.0):  # a power of two: differences of times keep their bits, nearly
        start = cautious_intercept.init(law(0.05), PLACE, look_ahead=3)
        _, target = feed(start, [event(1.0 + shift, 0.0), event(1.5 + shift, 0.12, 0.02)])
        assert target is not None
        targets.append(target)
    assert targets[1].y == pytest.approx(targets[0].y)
    assert targets[1].issued - targets[0].issued == pytest.approx(64.0)


@pytest.mark.wrong_types
@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_a_bad_event_moves_nothing_and_leaves_one_line(bad: Bad) -> None:
    start = cautious_intercept.init(law(0.05), PLACE, look_ahead=2)
    state, _ = feed(start, [event(1.0, -0.1), event(1.3, 0.05)])
    after, target = cautious_intercept.step(state, bad.event, now=bad.now, paddle=bad.paddle)
    assert target is None and len(after.refused) == 1 and "\n" not in after.refused[0]
    assert replace(after, refused=()) == state


@pytest.mark.parametrize(
    "change", [{"look_ahead": 0}, {"branches": 0}, {"look_ahead": 9}, {"reach": 0.0}]
)
def test_settings_that_are_none_are_refused(change: dict) -> None:
    with pytest.raises(ValueError, match=r"look_ahead|reach"):
        cautious_intercept.init(law(0.1), PLACE, **{"look_ahead": 2, **change})


def test_whatever_comes_a_target_is_finite_and_nothing_is_raised() -> None:
    draw = np.random.default_rng(8)
    targets = 0
    for seed in range(60):
        sure = intercept.init(RESTITUTION, PLACE)
        cautious = cautious_intercept.init(law(0.05), PLACE, look_ahead=2, seed=seed)
        time = float(10.0 ** draw.uniform(-6, 6))
        for _ in range(8):
            time += float(10.0 ** draw.uniform(-9, 3)) * draw.choice([1.0, 1.0, -1.0, np.nan])
            x, y = 10.0 ** draw.uniform(-12, 3, 2) * draw.choice([-1.0, 0.0, 1.0], 2)
            bounce = event(time, None if draw.random() < 0.2 else float(x), float(y))
            sure, one = intercept.step(sure, bounce, now=time, paddle=PADDLE)
            cautious, two = cautious_intercept.step(cautious, bounce, now=time, paddle=PADDLE)
            targets += (one is not None) + (two is not None)  # a target that is made is finite
            time = time if np.isfinite(time) else 1.0
    assert targets > 50 and sure.refused
