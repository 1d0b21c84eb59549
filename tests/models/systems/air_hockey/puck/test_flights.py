"""The best partition against all partitions, and laws of flight recovered from what they made."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.puck import flights, place_smoothing
from ricochet.models.systems.air_hockey.puck.flights import FlightLaw
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles import hockey_records
from tests.oracles.hockey_records import AIRFLOW, DRAG

TABLE = Table()
LAW = FlightLaw(drag=0.5, noise=2e-3, airflow_sd=0.1, scatter=1e-4)
NOISE = 1e-3


def kicked(draw: np.random.Generator, count: int = 9) -> np.ndarray:
    """Places of a puck that is kicked somewhere."""
    speed = np.repeat(draw.normal(0.0, 1.0, (2, 2)), (4, count - 4), axis=0)
    places = np.cumsum(0.02 * speed, axis=0)
    return places + LAW.noise * draw.standard_normal(places.shape)


def total(places: np.ndarray, begins: np.ndarray) -> float:
    """Evidence of a partition of an episode without gaps, flight by flight."""
    starts = np.flatnonzero(begins)
    found = 0.0
    for start, stop in zip(starts, [*starts[1:], len(places)], strict=True):
        piece = places[None, start:stop]
        density = place_smoothing.run(LAW.motion, piece, np.zeros((1, stop - start), bool))
        found += density.log_density[0, 1:].sum() + np.log(0.03)
        found -= np.log(4.0 * TABLE.half_length * TABLE.half_width)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_no_partition_has_more_evidence(seed):
    places = kicked(np.random.default_rng(seed))
    best = flights.partition(LAW, places[None], TABLE)[0]
    assert best[0] and (best[3] or best[4])  # it was at both speeds' lines when it was kicked
    every = itertools.product((False, True), repeat=len(places) - 1)
    most = max(total(places, np.array((True, *rest))) for rest in every)
    assert total(places, best) == pytest.approx(most, abs=1e-9)


def test_mirrored_later_and_interrupted_episodes_have_the_same_flights():
    episodes = np.stack([kicked(np.random.default_rng(seed)) for seed in range(4)])
    begins = flights.partition(LAW, episodes, TABLE)
    mirrored = flights.partition(LAW, episodes[::-1] * (1.0, -1.0), TABLE)
    np.testing.assert_array_equal(mirrored[::-1], begins)
    unseen = np.full((4, 3, 2), np.nan)
    later = flights.partition(LAW, np.concatenate((unseen, episodes, unseen), axis=1), TABLE)
    np.testing.assert_array_equal(later[:, 3:-3], begins)
    assert not later[:, :3].any() and not later[:, -3:].any()
    episodes[:, 6] = np.nan
    np.testing.assert_array_equal(flights.partition(LAW, episodes, TABLE), begins)


@pytest.fixture(scope="module")
def learnt():
    """Record, law and flights of 60 episodes; an episode that is struck has some flights."""
    draw = np.random.default_rng(2)
    recording = hockey_records.record(60, draw)
    places = recording.puck + NOISE * draw.standard_normal(recording.puck.shape)
    law, begins = flights.learn(places, TABLE)
    return recording, places, law, begins


def test_drag_noise_and_airflow_are_recovered(learnt):
    """To three standard errors; of the drag, by the curvature of the evidence.

    The noise to 1 / sqrt(2 N), N = 6000 numbers less five a flight: 1 %. The airflow's sd to
    1 / sqrt(240): 6.5 %. Flights that are cut at contacts lose little.
    """
    _, places, law, begins = learnt
    assert law.noise == pytest.approx(NOISE, rel=0.03)
    assert law.airflow_sd == pytest.approx(AIRFLOW, rel=0.2)
    step = 0.05
    beside = [replace(law, drag=law.drag + off).motion for off in (-step, 0.0, step)]
    low, most, high = (place_smoothing.evidence(each, places, begins) for each in beside)
    error = step / np.sqrt(2.0 * most - low - high)
    assert error < 0.02
    assert law.drag == pytest.approx(DRAG, abs=3.0 * error)
    assert law.scatter < 1e-4  # a noise of 1.4 mm/s a period; there was none


def test_velocities_err_as_said_within_flights(learnt):
    """But next to a contact, where a sample may belong to either side: one sample in fifty."""
    recording, places, law, begins = learnt
    found = place_smoothing.smooth(law.motion, places, begins)
    off = (found.mean[..., 1] - recording.puck_velocity) / found.sd[..., 1:2]
    near = np.zeros(begins.shape, bool)
    kicked_at = np.abs(np.diff(recording.puck_velocity, axis=1)).max(-1) > 0.02
    near[:, 1:] |= kicked_at
    near[:, :-1] |= kicked_at
    inside = off[~near]
    assert np.sqrt((inside**2).mean()) < 1.15
    assert np.sqrt((inside**2).mean()) > 0.7  # errors of a flight go together: 150 at least
    assert (np.abs(off) > 4.0).mean() < 0.02
