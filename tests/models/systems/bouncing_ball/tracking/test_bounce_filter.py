"""The belief against joint Gaussians, enumerated histories, the simulator, and its symmetries."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import special, stats

from ricochet.models.systems.bouncing_ball import contact, contact_draws, contact_table, flight
from ricochet.models.systems.bouncing_ball.balls import BALLS, REAL_PING_PONG
from ricochet.models.systems.bouncing_ball.contact import Contact
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.tracking import (
    bounce_filter,
    late_arrivals,
)
from ricochet.models.systems.bouncing_ball.tracking import toss as ball_toss
from ricochet.models.systems.bouncing_ball.tracking.bounce_filter import Belief, TossPrior
from ricochet.models.systems.bouncing_ball.tracking.event_hypotheses import (
    Detection,
    EventHypothesis,
    SensorModel,
)
from ricochet.models.systems.bouncing_ball.tracking.late_arrivals import Detour
from ricochet.models.systems.bouncing_ball.tracking.toss import Toss
from tests.models.systems.bouncing_ball.tracking import test_late_arrivals

PRIOR = TossPrior()
SENSOR = SensorModel()
INLIER, OUTLIER = EventHypothesis.INLIER, EventHypothesis.OUTLIER
SURE = replace(SENSOR, false_alarm_rate=1e-12, miss_rate=1e-12, restitution_sd=0.0)


def detection(
    time: float, place: tuple[float, float] | None, *, flagged: bool = False
) -> Detection:
    """A place with an error of 1 mm, whose sound took the stated travel time."""
    where = None if place is None else np.array(place)
    spread = None if place is None else 1e-6 * np.eye(2)
    return Detection(time, time + bounce_filter.TRAVEL, where, spread, flagged)


def believe(theta: np.ndarray, events: list[Detection], *, sensor: SensorModel = SENSOR) -> Belief:
    return believed(contact_draws.of_pairs(torch.from_numpy(theta.copy())), events, sensor=sensor)


def believed(
    draws: ContactDraws, events: list[Detection], *, sensor: SensorModel = SENSOR
) -> Belief:
    contacts = contact_table.tabulate(draws)
    belief = bounce_filter.begin(contacts, events[0], prior=PRIOR, sensor=sensor)
    for event in events[1:]:
        belief = bounce_filter.update(belief, event, prior=PRIOR, sensor=sensor)
    return belief


def straight(places: list[tuple[float, float] | None]) -> tuple[np.ndarray, list[Detection]]:
    """Theta and events of a ball that never turns: flights of 0.4 s, 0.32 s and so on."""
    times = 1.0 + np.concatenate(([0.0], np.cumsum(0.4 * 0.8 ** np.arange(len(places) - 1))))
    events = [detection(float(t), place) for t, place in zip(times, places, strict=True)]
    return np.array([[0.8, 18.0]]), events


def enumerated(events: list[Detection], sensor: SensorModel) -> dict[tuple[int, ...], float]:
    """Probability of every history of a ball that never turns, from the joint Gaussian of places.

    p_i = p_1 + u (t_i - t_1): the places of the inliers are jointly normal.
    """
    prior_mean = np.array([*PRIOR.position, *PRIOR.velocity])
    prior = np.diag(np.square([*PRIOR.position_sd, *PRIOR.velocity_sd]))
    scores = {}
    for history in itertools.product((INLIER, OUTLIER), repeat=len(events)):
        good = [event for event, kind in zip(events, history, strict=True) if kind == INLIER]
        wrong = len(events) - len(good)
        score = len(good) * np.log1p(-sensor.outlier_rate) + wrong * np.log(
            sensor.outlier_rate / sensor.outlier_area
        )
        if good:
            rows = [np.hstack((np.eye(2), (g.time - events[0].time) * np.eye(2))) for g in good]
            map_ = np.vstack(rows)
            noise = (1e-6 + sensor.survey_sd**2) * np.eye(len(map_))
            law = stats.multivariate_normal(map_ @ prior_mean, map_ @ prior @ map_.T + noise)
            score += law.logpdf(np.concatenate([g.position for g in good]))
        scores[history] = float(score)
    total = special.logsumexp(list(scores.values()))
    return {history: float(np.exp(score - total)) for history, score in scores.items()}


@pytest.mark.parametrize(
    "places",
    [
        [(-0.15, 0.0), (0.02, 0.01), (0.16, 0.02)],
        [(-0.15, 0.1), (0.02, 0.01), (0.16, 0.02)],
        [(-0.15, 0.0), (0.12, -0.1), (0.16, 0.02)],
        [(-0.05, 0.05), (0.02, 0.01)],
    ],
)
def test_the_weights_of_histories_equal_the_enumerated_ones(
    places: list[tuple[float, float]],
) -> None:
    theta, events = straight(list(places))
    belief = believe(theta, events, sensor=SURE)
    expected = enumerated(events, SURE)
    found = dict(
        zip(map(tuple, belief.hypotheses.tolist()), np.exp(belief.log_weight[:, 0]), strict=True)
    )
    for history, probability in expected.items():
        assert found.get(history, 0.0) == pytest.approx(probability, abs=1e-6)


def test_without_wrong_places_mean_and_covariance_are_those_of_the_joint_gaussian() -> None:
    places = [(-0.15, 0.0), (0.02, 0.01), (0.16, 0.02)]
    theta, events = straight(list(places))
    belief = believe(theta, events, sensor=replace(SURE, outlier_rate=1e-12))
    prior = np.diag(np.square([*PRIOR.position_sd, *PRIOR.velocity_sd]))
    since = np.array([event.time - events[0].time for event in events])
    map_ = np.vstack([np.hstack((np.eye(2), t * np.eye(2))) for t in since])
    noise = (1e-6 + SURE.survey_sd**2) * np.eye(6)
    gain = prior @ map_.T @ np.linalg.inv(map_ @ prior @ map_.T + noise)
    start = np.array([*PRIOR.position, *PRIOR.velocity])
    start = start + gain @ (np.concatenate(places) - map_ @ start)
    last = np.block([[np.eye(2), since[-1] * np.eye(2)], [np.zeros((2, 2)), np.eye(2)]])
    expected = last @ (prior - gain @ map_ @ prior) @ last.T
    np.testing.assert_allclose(belief.mean[0, 0], last @ start, atol=1e-5)
    np.testing.assert_allclose(belief.covariance[0, 0], expected, atol=1e-7)


def test_a_mirrored_ball_is_believed_mirrored() -> None:
    theta = np.array([[0.9, 1.8], [0.88, 1.9]])
    places = [(-0.15, 0.03), (0.02, 0.06), (0.15, 0.01)]
    times = (1.0, 1.36, 1.67)
    one = believe(theta, [detection(t, place) for t, place in zip(times, places, strict=True)])
    other = believe(theta, [detection(t, (x, -y)) for t, (x, y) in zip(times, places, strict=True)])
    sign = np.array([1.0, -1.0, 1.0, -1.0])
    np.testing.assert_allclose(other.mean, one.mean * sign, atol=1e-9)
    np.testing.assert_allclose(other.covariance, one.covariance * np.outer(sign, sign), atol=1e-9)
    np.testing.assert_allclose(other.log_weight, one.log_weight, atol=1e-9)


def test_later_events_are_believed_alike_and_draws_may_come_in_any_order() -> None:
    theta = np.array([[0.9, 1.8], [0.88, 1.9], [0.91, 1.7]])
    rows = [(1.0, (-0.15, 0.03)), (1.36, (0.02, 0.06)), (1.67, None)]
    one = believe(theta, [detection(t, place) for t, place in rows])
    later = believe(theta, [detection(t + 64.0, place) for t, place in rows])
    turned = believe(theta[::-1], [detection(t, place) for t, place in rows])
    np.testing.assert_allclose(later.mean, one.mean, atol=1e-9)
    np.testing.assert_allclose(later.log_weight, one.log_weight, atol=1e-8)
    np.testing.assert_allclose(turned.log_weight[:, ::-1], one.log_weight, atol=1e-9)


def test_the_draw_that_the_flights_fit_gains_weight() -> None:
    theta = np.array([[0.8, 3.0], [0.85, 3.0]])
    times = 1.0 + np.concatenate(([0.0], np.cumsum(0.4 * 0.85 ** np.arange(3))))
    places = [(-0.15 + 0.4 * (t - 1.0), 0.0) for t in times]
    belief = believe(theta, [detection(t, p) for t, p in zip(times.tolist(), places, strict=True)])
    assert np.exp(belief.log_weight).sum(axis=0)[1] > 0.99


def test_an_early_event_is_a_false_alarm_and_a_late_one_comes_after_a_miss() -> None:
    theta = np.array([[0.8, 3.0]])
    start = [detection(1.0, (-0.2, 0.0)), detection(1.4, (-0.04, 0.0))]
    early = believe(theta, [*start, detection(1.5, (0.1, 0.2))])
    assert early.hypotheses[0].tolist() == [INLIER, INLIER, EventHypothesis.FALSE_ALARM]
    assert early.time[0] == pytest.approx(1.4)
    missed = believe(theta, [*start, detection(1.4 + 0.32 + 0.256, (-0.04 + 0.4 * 0.576, 0.0))])
    assert missed.hypotheses[0].tolist() == [
        INLIER,
        INLIER,
        EventHypothesis.INLIER_AFTER_MISS,
    ]
    assert missed.entry[0, 0] == pytest.approx(0.5 * 9.81 * 0.256, rel=1e-6)


def tossed(name: str, count: int) -> list[Toss]:
    found = ball_toss.tosses(BALLS[name], count, draw=torch.Generator().manual_seed(2))
    return [toss for toss in found if len(toss.times) >= 3]


@pytest.mark.parametrize("wrong", [0, 1])
def test_the_third_bounce_tells_an_outlier_in_the_first_or_second(wrong: int) -> None:
    """Places off by 20 cm sideways, unflagged; at least 9 in 10 are found out."""
    ball = BALLS["ping-pong"]
    theta = np.array([[ball.restitution, ball.log10_concentration]])
    draw = np.random.default_rng(0)
    found, others = [], []
    for toss in tossed("ping-pong", 30):
        places = toss.positions[:3, :2] + draw.normal(0.0, 1e-3, (3, 2))
        places[wrong, 1] += 0.2 * draw.choice((-1.0, 1.0))
        events = [detection(float(t), tuple(p)) for t, p in zip(toss.times, places, strict=False)]
        probability = bounce_filter.outlier_probability(believe(theta, events))
        found.append(probability[wrong] > 0.8)
        others.append(np.delete(probability, wrong).max() < 0.5)
    assert len(found) >= 20
    assert np.mean(found) >= 0.9 and np.mean(others) >= 0.9


def test_late_arrivals_tell_where_the_last_bounce_was_better_than_its_prediction() -> None:
    """Moon balls, one microphone late by 10 to 30 cm: the mean error falls by a third or more."""
    ball, draw = BALLS["moon ball"], np.random.default_rng(0)
    theta = np.array([[ball.restitution, ball.log10_concentration]])
    errors = []
    for toss in tossed("moon ball", 60):
        place = toss.positions[2, :2]
        wrong = test_late_arrivals.located(
            place, draw.uniform(0.1, 0.3) * np.eye(3)[draw.integers(3)]
        )
        if not np.isfinite(wrong).all():
            continue
        late = late_arrivals.estimates(wrong, test_late_arrivals.MICROPHONES, detour=Detour())
        places = (*toss.positions[:2, :2], wrong)
        events = [detection(float(t), tuple(p)) for t, p in zip(toss.times, places, strict=False)]
        pair = []
        for known in (late, ()):
            belief = believe(theta, [*events[:2], replace(events[2], late=known)])
            weight = np.exp(belief.log_weight)[..., None]
            pair.append(np.hypot(*((belief.mean[..., :2] * weight).sum((0, 1)) - place)))
        errors.append(pair)
    with_late, predicted = np.mean(errors, axis=0)
    assert len(errors) > 20
    assert with_late < 2.0 / 3.0 * predicted, (with_late, predicted)


def through_air(missing: int | None = None) -> tuple[ContactDraws, list[Detection], np.ndarray]:
    """A ball of the family that never turns nor scatters: events, and its last arrival (u, w)."""
    ball = replace(REAL_PING_PONG, log10_concentration=12.0, scatter=0.0, tangential_loss=0.1)
    nature = ball.nature
    time, place = 1.0, torch.tensor([-0.2, 0.0], dtype=torch.float64)
    velocity = torch.tensor([[0.5, 0.02, 1.8]], dtype=torch.float64)
    events, draw = [detection(time, tuple(place.tolist()))], torch.Generator().manual_seed(0)
    impact = velocity
    for number in range(3):
        flown = flight.fly(velocity, drag=nature.drag)
        time, place = time + float(flown.duration), place + flown.displacement[0]
        if number != missing:
            events.append(detection(time, tuple(place.tolist())))
        impact = flown.impact
        velocity = contact.bounce(impact, nature.contact, law=nature.law, draw=draw)
    return nature, events, impact[0].numpy()


def test_a_ball_in_air_is_known_to_arrive_as_it_does() -> None:
    """The last arrival of the family's ball; the paper's model of it is off by ten times more."""
    nature, events, impact = through_air()
    belief = believed(nature, events, sensor=replace(SURE, outlier_rate=1e-12))
    assert -belief.entry[0, 0] == pytest.approx(impact[2], abs=2e-3)
    np.testing.assert_allclose(belief.mean[0, 0, 2:], impact[:2], atol=0.02)
    pair = contact_draws.of_pairs(
        torch.tensor([[float(nature.restitution(torch.tensor(1.8))), 12]])
    )
    other = believed(pair, events, sensor=replace(SURE, outlier_rate=1e-12))
    assert abs(other.entry[0, 0] + impact[2]) > 0.02


def test_a_draw_with_the_right_air_and_law_gains_weight() -> None:
    nature, events, _ = through_air()
    still = replace(nature, drag=0.0 * nature.drag)
    both = ContactDraws(
        Contact(*(torch.cat((x, x)) for x in vars(nature.contact).values())),
        torch.cat((nature.viscoelastic, nature.viscoelastic)),
        torch.cat((nature.drag, still.drag)),
    )
    belief = believed(both, events, sensor=replace(SENSOR, restitution_sd=0.001))
    assert np.exp(belief.log_weight).sum(axis=0)[0] > 0.9


def test_a_missed_contact_in_air_is_noticed() -> None:
    nature, events, impact = through_air(missing=1)
    belief = believed(nature, events)
    assert belief.hypotheses[0].tolist() == [INLIER, INLIER, EventHypothesis.INLIER_AFTER_MISS]
    assert -belief.entry[0, 0] == pytest.approx(impact[2], abs=5e-3)
