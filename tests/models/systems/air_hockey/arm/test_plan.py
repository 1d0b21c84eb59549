"""A plan's commands are on the table, and whether the arm can follow depends on what they use."""

import numpy as np
import pytest

from ricochet.models.arms import iiwa, splines
from ricochet.models.systems.air_hockey.arm.plan import Plan

STILL = np.zeros(7)


@pytest.mark.parametrize(
    ("without", "peak", "possible"),
    [(1.0, 1.0, True), (1.0, 1.1, True), (1.0, 1.3, False), (1.03, 1.03, False)],
)
def test_more_acceleration_than_planned_is_possible_more_speed_is_not(
    without: float, peak: float, possible: bool
) -> None:
    """Plans use 0.8 of the acceleration that there is, of the speed nearly all."""
    rest = np.zeros((2, 7))
    path = splines.Path(np.array((0.0, 1.0)), rest, rest)
    assert Plan(path, None, peak=peak, peak_without_acceleration=without).possible is possible


def test_commands_are_on_the_table_and_their_speeds_are_those_of_the_places() -> None:
    ends = np.stack((iiwa.HOME, iiwa.HOME + 0.3 * np.eye(7)[0] + 0.1 * np.eye(7)[1]))
    plan = Plan(splines.fit(np.array((0.0, 0.6)), ends, first=STILL, last=STILL), None)
    times = np.linspace(0.05, 0.55, 30)
    joints, speeds = (np.stack(v) for v in zip(*(plan.at(time) for time in times), strict=True))
    np.testing.assert_allclose(iiwa.tip(joints)[:, 2], iiwa.TIP_HEIGHT, atol=1e-6)
    ahead, behind = (np.stack([plan.at(t + d)[0] for t in times]) for d in (1e-4, -1e-4))
    np.testing.assert_allclose((ahead - behind) / 2e-4, speeds, atol=1e-3)
    assert not plan.over and Plan(plan.path, None, passed=0.6).over
