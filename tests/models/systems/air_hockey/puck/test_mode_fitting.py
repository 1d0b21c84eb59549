"""Modes recovered from records whose law is known."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey.puck import dynamics, mode_fitting, segmentation
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.puck.segmentation import Contacts, Recording
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles import hockey_records
from tests.oracles.hockey_records import AIRFLOW, DRAG, MALLET, MALLET_SD, WALL_SD

TABLE = Table()


@pytest.fixture(scope="module")
def recording() -> Recording:
    return hockey_records.record(160, np.random.default_rng(3))


@pytest.fixture(scope="module")
def fitted(recording: Recording) -> PuckModes:
    return mode_fitting.fit(recording, TABLE)


def test_the_law_of_a_record_is_recovered(fitted):
    """About 80 strikes and 100 banks: three errors of each number (of w / U, in U's metric).

    An sd is known to 1 / sqrt(2 N) of itself, 8 %; a t-density's fit loses little of that. A
    number of the matrix to sd / sqrt(N) / (spread of its input by U, at least 0.3).
    """
    np.testing.assert_allclose(np.diag(fitted.floating.matrix), np.exp(-DRAG * 0.02), atol=2e-5)
    np.testing.assert_allclose(np.diag(fitted.wall.matrix), (-0.75, 0.84), atol=0.03)
    np.testing.assert_allclose(np.sqrt(np.diag(fitted.wall.covariance)), WALL_SD, rtol=0.3)
    np.testing.assert_allclose(fitted.mallet.matrix, MALLET, atol=0.06)
    np.testing.assert_allclose(np.sqrt(np.diag(fitted.mallet.covariance)), MALLET_SD, rtol=0.3)
    # 160 episodes of two axes give an sd to 1 / sqrt(640) = 4 %.
    assert pytest.approx(AIRFLOW, rel=0.12) == fitted.airflow_sd
    assert fitted.delay < 1e-3


def test_a_mirrored_record_gives_the_same_modes(recording, fitted):
    """Not so the order of episodes, nor x for -x."""
    for sign in ((1.0, -1.0), (-1.0, 1.0)):
        parts = (recording.puck, recording.puck_velocity)
        parts += (recording.mallet, recording.mallet_velocity)
        mirrored = Recording(*(part[::-1] * sign for part in parts))
        other = dynamics.to_arrays(mode_fitting.fit(mirrored, TABLE))
        for name, array in dynamics.to_arrays(fitted).items():
            np.testing.assert_allclose(other[name], array, atol=1e-9)


def test_delay_of_a_soft_contact_is_within_it():
    strikes = segmentation.assign(hockey_records.soft(0.005), TABLE, drag=np.zeros(2)).strikes
    assert 0.003 < mode_fitting.fit_delay(strikes) < 0.015


def test_a_record_without_strikes_is_refused(recording):
    alone = replace(recording, mallet=np.full_like(recording.mallet, np.nan))
    with pytest.raises(ValueError, match="strikes"):
        mode_fitting.fit(alone, TABLE)


def test_strikes_of_pucks_that_may_spin_are_not_used(recording):
    """A third of the struck pucks were kicked before, and leave the mallet half as fast again.

    The others give the law to three errors, as above, of 2 / 3 as many strikes.
    """
    strikes = segmentation.assign(recording, TABLE, drag=np.array((DRAG, DRAG))).strikes
    wild = recording.puck_velocity.copy()
    late = [k for k in range(0, len(strikes.touch), 3) if strikes.start[k] > 2]
    for k in late:
        wild[strikes.episode[k], 0] += 0.5
        wild[strikes.episode[k], strikes.stop[k] :] *= 1.5
    found = mode_fitting.fit(replace(recording, puck_velocity=wild), TABLE).mallet
    assert len(late) > 10
    np.testing.assert_allclose(found.matrix, MALLET, atol=0.075)
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), MALLET_SD, rtol=0.37)


def banks(count: int, draw: np.random.Generator, share: float = 0.15) -> Contacts:
    """Banks of which a share keeps 0.93 +- 0.06 of the normal speed, the others 0.735 +- 0.02.

    The first 40 % are of pucks that do not spin and keep 0.84 of the tangential speed.
    """
    before = np.column_stack((draw.uniform(0.4, 3.0, count), draw.uniform(-2.0, 2.0, count)))
    rare = draw.random(count) < share
    normal = np.where(rare, 0.93, 0.735) + np.where(rare, 0.06, 0.02) * draw.standard_normal(count)
    spin = np.where(np.arange(count) < 0.4 * count, 0.0, 0.1 * draw.standard_normal(count))
    after = before * np.column_stack((-normal, np.where(rare, 0.9, 0.84) + spin))
    whole, none, pair = np.arange(count), np.zeros(count), np.zeros((count, 2))
    return Contacts(whole, whole, whole + 1, none, pair, before, after, pair)


ANY = LinearGaussian(np.diag((-0.74, 0.85)), np.zeros(2), np.diag((0.08, 0.06)) ** 2)


def test_usual_and_unusual_banks_are_separated():
    """300 banks, 45 of them unusual: three errors of a share, and of each mean and spread.

    At 0.80 the two laws are equally likely: one unusual bank in seventy is below, taken for usual.
    """
    found = banks(300, np.random.default_rng(4))
    usual, unusual = mode_fitting.fit_rebounds(found, ANY, first=np.arange(300) < 120)
    assert unusual.share == pytest.approx(0.15, abs=3.0 * (0.15 * 0.85 / 300) ** 0.5)
    assert usual.share + unusual.share == pytest.approx(1.0)
    speed = np.array((1.5, 1.0))
    kept = usual.law.matrix @ speed + usual.law.offset
    np.testing.assert_allclose(kept / speed, (-0.735, 0.84), atol=3.0 * 0.02 / 255**0.5)
    assert usual.law.covariance[0, 0] ** 0.5 == pytest.approx(0.02, rel=0.2)
    assert usual.law.covariance[1, 1] ** 0.5 < 0.01  # spins of 0.1 are not in it
    kept = unusual.law.matrix @ speed + unusual.law.offset
    np.testing.assert_allclose(kept / speed, (-0.93, 0.9), atol=3.0 * 0.1 / 45**0.5)
    assert unusual.law.covariance[0, 0] ** 0.5 == pytest.approx(0.06, rel=0.4)


def test_the_order_of_banks_does_not_matter():
    found, first = banks(120, np.random.default_rng(5)), np.arange(120) < 50
    back = replace(found, before=found.before[::-1], after=found.after[::-1])
    one = mode_fitting.fit_rebounds(found, ANY, first=first)
    other = mode_fitting.fit_rebounds(back, ANY, first=first[::-1])
    for way, same in zip(one, other, strict=True):
        assert way.share == pytest.approx(same.share)
        np.testing.assert_allclose(way.law.matrix, same.law.matrix, atol=1e-9)


def test_more_unusual_banks_are_a_larger_share():
    shares = [
        mode_fitting.fit_rebounds(
            banks(300, np.random.default_rng(6), share), ANY, first=np.arange(300) < 120
        )[1].share
        for share in (0.08, 0.2, 0.4)
    ]
    assert shares == sorted(shares)


def test_with_few_unusual_banks_there_are_no_rebounds():
    """Two of forty: no law is fitted to them, and the modes have the one of any bank."""
    found = banks(40, np.random.default_rng(7), 0.0)
    found.after[:2, 0] = -1.0 * found.before[:2, 0]
    assert mode_fitting.fit_rebounds(found, ANY, first=np.arange(40) < 20) == ()
