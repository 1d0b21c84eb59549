"""The name of the network is its own; a posterior may be of any ball on any surface."""

import pytest

from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.kinds import DENSITY, POSTERIOR

PAIRS = ("ping-pong-table", "tennis-table", "moon-ball-table", "ball-table", "a-b")


@pytest.mark.parametrize(
    ("kind", "name"), [(DENSITY, "ball-density"), *((POSTERIOR, pair) for pair in PAIRS)]
)
def test_exactly_one_kind_decides_each_name(kind, name):
    assert catalogue.kind_of(name) is kind
