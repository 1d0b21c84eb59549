"""Modes learnt from noisy places against those of the exact record, and what cannot change them."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.puck import (
    dataset,
    dynamics,
    flights,
    mode_fitting,
    recorded_modes,
)
from ricochet.models.systems.air_hockey.puck.recorded_modes import Places
from ricochet.models.systems.air_hockey.simulator import Disturbance
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles import hockey_records
from tests.oracles.hockey_records import AIRFLOW, DRAG

TABLE = Table()
NOISE = 1e-3


@pytest.fixture(scope="module")
def places() -> Places:
    draw = np.random.default_rng(2)
    recording = hockey_records.record(100, draw)
    puck, mallet = (
        part + NOISE * draw.standard_normal(part.shape)
        for part in (recording.puck, recording.mallet)
    )
    return Places(puck, mallet)


@pytest.fixture(scope="module")
def learnt(places):
    return recorded_modes.fit(places, TABLE)


def test_the_law_of_what_was_seen_is_recovered(learnt):
    """As of an exact record of 100 episodes (`test_mode_fitting`), to four of its errors.

    One more for what is seen to a millimetre: a velocity to 5 mm/s, 1 % of a contact's.
    """
    modes, law = learnt
    np.testing.assert_allclose(np.diag(modes.floating.matrix), np.exp(-DRAG * 0.02), atol=6e-4)
    np.testing.assert_allclose(np.diag(modes.wall.matrix), (-0.75, 0.84), atol=0.05)
    at_one = modes.mallet.matrix @ (0.0, 0.0, 1.0, 0.0) + modes.mallet.offset
    assert at_one[0] == pytest.approx(1.45, abs=0.05)
    assert modes.airflow_sd == pytest.approx(AIRFLOW, rel=0.2)
    assert law.noise == pytest.approx(NOISE, rel=0.05)


def test_the_laws_are_no_narrower_than_what_made_them(learnt):
    """Three errors below: an sd of 60 banks to 9 %, of 33 strikes to 20 %.

    Of strikes along the normal, where errors are 0.8 of the scatter: sqrt(2 / 33) (1 + 0.8^2) / 2.
    """
    modes, _ = learnt
    assert (np.sqrt(np.diag(modes.wall.covariance)) > 0.73 * hockey_records.WALL_SD).all()
    assert (np.sqrt(np.diag(modes.mallet.covariance)) > 0.4 * hockey_records.MALLET_SD).all()
    assert np.linalg.eigvalsh(modes.floating.covariance)[0] > 0.0


@pytest.mark.proof
def test_order_and_mirror_do_not_change_what_is_learnt(places, learnt):
    mirrored = Places(places.puck[::-1] * (1.0, -1.0), places.mallet[::-1] * (1.0, -1.0))
    found = dynamics.to_arrays(recorded_modes.fit(mirrored, TABLE)[0])
    for name, array in dynamics.to_arrays(learnt[0]).items():
        np.testing.assert_allclose(found[name], array, atol=1e-3)  # of a search's end


@pytest.mark.proof
def test_scatter_is_no_less_than_the_likeliest_and_grows_where_there_is_some():
    """White accelerations of 5e-3 m^2/s^3 are found to a third: 40 flights of 50 samples."""
    draw, law = np.random.default_rng(0), flights.FlightLaw(0.5, NOISE, 0.07, 5e-3)
    begins, motion = np.zeros((40, 50), bool), law.motion
    begins[:, 0] = True
    state = np.stack((np.zeros((40, 2)), draw.normal(0.0, 1.0, (40, 2)), np.zeros((40, 2))), -1)
    root = np.linalg.cholesky(motion.scatter[:2, :2])
    seen = []
    for _ in range(50):
        seen.append(state[..., 0] + NOISE * draw.standard_normal((40, 2)))
        state = state @ motion.transition.T
        state[..., :2] += draw.standard_normal((40, 2, 2)) @ root.T
    found = flights.likeliest(replace(law, scatter=1e-4), np.stack(seen, 1), begins)
    assert found.scatter == pytest.approx(5e-3, rel=0.33)
    above = recorded_modes.cautious_scatter(found, np.stack(seen, 1), begins)
    assert found.scatter < above < 1.5 * found.scatter


def test_a_mallet_is_followed_and_its_absence_is_kept():
    times = 0.02 * np.arange(40)[:, None]
    path = np.column_stack((0.5 * np.sin(3.0 * times), 0.2 * np.cos(4.0 * times)))
    truth = np.column_stack((1.5 * np.cos(3.0 * times), -0.8 * np.sin(4.0 * times)))
    seen = path + NOISE * np.random.default_rng(0).standard_normal(path.shape)
    seen[10:13] = np.nan
    found = recorded_modes.smoothed_mallet(seen[None])
    place, velocity = found.mean[0, :, :, 0], found.mean[0, :, :, 1]
    assert np.isnan(place[10:13]).all() and np.isfinite(place[13:]).all()
    inside = np.r_[2:9, 14:38]
    off = (velocity - truth)[inside] / found.sd[0, inside, 1:2]
    assert np.abs(off).max() < 4.0 and 0.5 < np.sqrt((off**2).mean()) < 1.5


@pytest.mark.proof
@pytest.mark.slow
def test_places_of_the_simulated_table_give_its_velocities_and_laws():
    """Against the simulator's own velocities, from places with 1 mm of noise.

    Samples in a contact belong to either side or to none: one in fifty errs by more than four
    standard deviations. 40 first banks and some 20 strikes give a law to a tenth of its spread,
    0.05 at most, beside what an exact record of the same episodes gives.
    """
    exact = dataset.collect(
        simulator.build(),
        episodes=40,
        steps=75,
        disturbance=Disturbance(),
        draw=np.random.default_rng(4),
    )
    draw = np.random.default_rng(5)
    seen = exact.puck + NOISE * draw.standard_normal(exact.puck.shape)
    seen[np.logical_or.accumulate(np.abs(exact.puck[..., 0]) > TABLE.half_length, axis=1)] = np.nan
    places = Places(seen, exact.mallet + NOISE * draw.standard_normal(exact.mallet.shape))
    modes, law = recorded_modes.fit(places, TABLE)
    found = recorded_modes.smoothed_by(modes, places, TABLE)
    off = np.abs(found.puck_velocity - exact.puck_velocity)
    assert np.nanmedian(off) < 3e-3
    assert np.nanmean(off > 0.05) < 0.02
    assert law.drag == pytest.approx(0.5, abs=0.02)
    assert law.airflow_sd == pytest.approx(0.1 / np.sqrt(2.0), rel=0.2)
    assert law.noise == pytest.approx(NOISE, rel=0.03)
    other = mode_fitting.fit(exact, TABLE)
    np.testing.assert_allclose(modes.wall.matrix, other.wall.matrix, atol=0.05)
    at_one = [m.mallet.matrix[0, 2] + m.mallet.offset[0] for m in (modes, other)]
    assert at_one[0] == pytest.approx(at_one[1], abs=0.05)
