"""Held-out pieces: a posterior that is right holds nine of ten, one too sure holds fewer."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.rigid_bodies.pendulum_tracking import Draws
from ricochet.tasks.systems.rigid_bodies.motion_tables import Recorded
from ricochet.tasks.systems.rigid_bodies.validation import held_out
from ricochet.tasks.systems.rigid_bodies.validation.recordings import HeldOut
from tests.models.systems.rigid_bodies import rods


def places(own: Draws, count: int) -> list[HeldOut]:
    """Return recordings of pendulums that each are one of some draws, seen as they state."""
    generator, found = np.random.default_rng(1), []
    for number in range(count):
        one = own[number : number + 1]
        states = rods.swung(one, rods.starts(1, generator), 280, generator)[:, 0]
        states = states + one.observation * generator.normal(size=states.shape)
        found.append(HeldOut(Recorded(states, rods.RATE), (60,)))
    return found


@pytest.mark.proof
def test_intervals_of_the_right_law_hold_nine_of_ten_and_too_narrow_ones_do_not() -> None:
    """Of 40 motions, two angles each that hang together, 0.9 is 0.9 +- 0.047: at least 0.76."""
    own = rods.draws(140)
    held, right, draw = places(own, 40), own[40:], np.random.default_rng(2)
    found = held_out.predict(right, held, draw)
    one = np.tile(rods.RODS, (len(right.theta), 1))
    sure = replace(right, theta=one, departure=1e-3 * right.departure)
    wrong = held_out.predict(sure, held, draw)
    for ahead in range(len(held_out.AHEAD)):
        assert found.held(ahead)[0] >= 0.76
        assert wrong.held(ahead)[0] < found.held(ahead)[0] - 0.1
    assert (found.median_error < np.radians(20.0)).all()


def test_a_contact_counts_where_the_controller_passed() -> None:
    passes, touched = np.array((True, True, False)), np.array((False, True, True))
    none = np.zeros((3, 2, 2))
    found = held_out.Predicted(none, none, none < 1.0, np.zeros(3, int), passes, touched)
    assert found.free == (True, False)
    assert found.held(0) == (1.0, 3.0)
