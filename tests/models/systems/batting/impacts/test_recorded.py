"""Impacts as they are measured: impulses and changes belong together."""

import numpy as np

from ricochet.models.systems.batting.impacts import recorded
from tests.models.systems.batting.tables import LAW, table


def test_changes_by_the_measured_impulses_are_the_measured_changes() -> None:
    impacts = table(0)
    expected = recorded.changes(impacts, impacts.impulse)
    np.testing.assert_allclose(expected, recorded.observed_changes(impacts), atol=1e-12)
    again = recorded.struck(impacts, impacts.impulse)
    np.testing.assert_allclose(again.after, impacts.after, atol=1e-12)


def test_every_simulated_contact_approaches_and_leaves() -> None:
    impacts = table(1, 2000)
    assert (impacts.closing(impacts.before)[:, 0] < 0.0).all()
    assert (impacts.closing(impacts.after)[:, 0] > 0.0).all()
    np.testing.assert_allclose(np.hypot(*impacts.normal.T), 1.0)
    assert ((impacts.contact * impacts.normal).sum(1) < 0.0).all()


def test_some_of_the_impacts_have_the_entries_that_they_had() -> None:
    impacts = table(2)
    some = impacts.take(np.arange(5, 20))
    assert len(some) == 15
    np.testing.assert_array_equal(some.contacts, impacts.contacts[5:20])


def test_the_same_draws_make_the_same_table_and_others_another() -> None:
    first, again, other = table(5), table(5), table(6)
    np.testing.assert_array_equal(first.after, again.after)
    assert not np.array_equal(first.after, other.after)


def test_noise_is_a_share_of_the_normal_impulse() -> None:
    quiet, noisy = table(7, 4000, noise=False), table(7, 4000)
    share = (noisy.impulse - quiet.impulse) / quiet.impulse[:, :1]
    # a deviation of 4000 draws errs by 1.1 % (one error); some are mirrored
    np.testing.assert_allclose(share.std(0), (LAW.normal_share, LAW.tangential_share), rtol=0.04)
