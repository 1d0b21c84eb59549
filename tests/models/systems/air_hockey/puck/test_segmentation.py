"""Contacts found in records whose law is known, whatever the instant of sampling."""

from dataclasses import replace

import numpy as np

from ricochet.models.systems.air_hockey.puck import segmentation
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles import hockey_records

TABLE = Table()
DRAG = hockey_records.DRAG


def test_every_contact_is_found_and_floating_holds_none():
    recording = hockey_records.record(160, np.random.default_rng(3))
    assigned = segmentation.assign(recording, TABLE, drag=np.array((DRAG, DRAG)))
    assert len(assigned.strikes.touch) > 50  # of 80; others graze, or are at a wall
    assert len(assigned.banks.touch) > 80
    speed = recording.puck_velocity
    kick = np.linalg.norm(speed[:, 1:] - np.exp(-DRAG * 0.02) * speed[:, :-1], axis=-1)
    assert kick[assigned.floating].max() < 0.02
    lasting = assigned.strikes.stop - assigned.strikes.start
    assert (lasting == 1).mean() > 0.9  # two where a sample fell into the touch's own step


def test_a_soft_contact_is_one_datum_whatever_the_phase_of_sampling():
    found = []
    for phase in np.arange(0.0, 0.02, 0.005):
        strikes = segmentation.assign(hockey_records.soft(phase), TABLE, drag=np.zeros(2)).strikes
        assert len(strikes.touch) == 1
        found.append(np.concatenate((strikes.normal[0], strikes.before[0], strikes.after[0])))
    np.testing.assert_allclose(found, np.broadcast_to(found[0], (4, 8)), atol=2e-3)
    assert found[0][6] > 1.2 * 1.2  # the spring gives back: faster than the mallet


def test_no_contact_is_used_whose_velocities_are_not_known():
    """Neither floats what is not known; the contacts of other episodes stay as they were."""
    recording = hockey_records.record(40, np.random.default_rng(3))
    drag = np.array((DRAG, DRAG))
    before = segmentation.assign(recording, TABLE, drag=drag)
    speed = recording.puck_velocity.copy()
    for episode, stop in zip(before.banks.episode[:5], before.banks.stop[:5], strict=True):
        speed[episode, stop:] = np.nan
    after = segmentation.assign(replace(recording, puck_velocity=speed), TABLE, drag=drag)
    unknown = np.isnan(speed).any(-1)
    assert not (after.floating & (unknown[:, 1:] | unknown[:, :-1])).any()
    assert np.isfinite(after.banks.before).all() and np.isfinite(after.banks.after).all()
    kept = ~unknown[before.banks.episode, before.banks.stop]
    np.testing.assert_array_equal(after.banks.after, before.banks.after[kept])
