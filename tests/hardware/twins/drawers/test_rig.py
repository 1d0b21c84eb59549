"""The simulated ring beside a drawer: a take a call, each of its own, and what the camera saw."""

import numpy as np

from ricochet.hardware.twins.drawers import rig
from ricochet.hardware.twins.drawers.generator import rooms
from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.hardware.twins.drawers.rig import SimulatedDrawer

SETTING = Setting("kitchen-small", array="ring-4", seconds=6.0, light_off=3.0)


def test_takes_differ_and_come_again_with_the_seed() -> None:
    one, same = SimulatedDrawer(SETTING, seed=5), SimulatedDrawer(SETTING, seed=5)
    first, second = one.record(6.0), one.record(6.0)
    assert first.samples.shape == (4, 96_000) and first.gaps == ()
    assert not np.array_equal(first.samples, second.samples)
    np.testing.assert_array_equal(same.record(6.0).samples, first.samples)
    assert one.last is not None and one.last.vision[-1, 0] <= 3.0 < one.last.motion[-1, 0]


def test_microphones_stand_where_the_generator_has_them() -> None:
    found = rig.ring_rig("ring-6", "front")
    places = np.array([each.position for each in found.microphones])
    np.testing.assert_allclose(places, rooms.ring("ring-6", "front").positions, atol=1e-6)
    assert found.sample_rate == 16_000
