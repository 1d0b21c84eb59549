"""What is left of a position when readings are regressed on: against fits one by one."""

import numpy as np

from ricochet.models.systems.batting.planning import information, swings
from ricochet.models.systems.batting.planning.rollouts import INSTANTS, WATCHED
from ricochet.models.systems.batting.planning.swings import Swings
from ricochet.models.systems.batting.table import CAMERA_PERIOD

NOISE = 0.02


def watched(readings: np.ndarray, places: np.ndarray, until: int) -> Swings:
    """Return one swing over scenarios with readings and places at instants."""
    count = len(places)
    ends = np.full((1, count), (until + 1) * WATCHED)
    empty, one = np.zeros((1, count)), np.zeros(1)
    path = np.zeros((1, swings.KNOTS))
    seen = np.concatenate([readings, places], axis=-1)[None]
    return Swings(one, one, np.ones(1, bool), path, path, empty, empty, ends, empty, seen)


def test_what_is_left_is_that_of_fits_without_each_scenario():
    """Ridge regressions on the others' deviations, one by one, with the means of all."""
    draw, count, until = np.random.default_rng(0), 12, 4
    readings = draw.normal(0.0, 0.05, (count, INSTANTS, 2))
    places = draw.normal(0.0, 1.0, (count, INSTANTS, 2)) + 8.0 * readings.cumsum(1)
    found = information.expected_spread(watched(readings, places, until), NOISE)[0]
    z = readings[:, : until + 1].reshape(count, -1)
    z, x = z - z.mean(0), places[:, until] - places[:, until].mean(0)
    ridge = (count - 1) * NOISE**2 * CAMERA_PERIOD / WATCHED
    left = []
    for i in range(count):
        others = np.arange(count) != i
        a, b = z[others], x[others]
        weights = np.linalg.solve(a.T @ a + ridge * np.eye(z.shape[1]), a.T @ b)
        left.append(x[i] - z[i] @ weights)
    assert np.isclose(found, np.sqrt((np.array(left) ** 2).sum(1).mean()), rtol=1e-9)


def test_readings_that_tell_the_place_leave_less_than_those_that_do_not():
    draw, count = np.random.default_rng(1), 32
    places = np.repeat(draw.normal(0.0, 1.0, (count, 1, 2)), INSTANTS, axis=1)
    telling = watched(0.3 * places, places, 3)
    silent = watched(np.zeros_like(places), places, 3)
    left = [information.expected_spread(each, NOISE)[0] for each in (telling, silent)]
    assert left[0] < 0.2 * left[1]
    # Nothing seen: the prior's spread, each predicted by the mean of all.
    centred = places[:, 0] - places[:, 0].mean(0)
    assert np.isclose(left[1], np.sqrt((centred**2).sum(1).mean()))


def test_the_order_of_scenarios_and_shifts_of_the_table_change_nothing():
    draw, count = np.random.default_rng(2), 10
    readings = draw.normal(0.0, 0.1, (count, INSTANTS, 2))
    places = draw.normal(0.0, 1.0, (count, INSTANTS, 2))
    order = draw.permutation(count)
    as_given = information.expected_spread(watched(readings, places, 5), NOISE)
    turned = information.expected_spread(watched(readings[order], places[order], 5), NOISE)
    shifted = information.expected_spread(watched(readings + 1.0, places - 3.0, 5), NOISE)
    assert np.allclose(as_given, turned)
    assert np.allclose(as_given, shifted)
