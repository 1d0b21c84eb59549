"""Every disturbance that is set reaches the simulator."""

from dataclasses import fields, replace

import pytest

from ricochet.models.systems.air_hockey.simulator import Disturbance
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.disturbance import disturbance_of
from ricochet.tasks.systems.air_hockey.settings import Hockey


@pytest.mark.parametrize("name", [field.name for field in fields(Disturbance)])
def test_every_disturbance_reaches_the_simulator(name):
    plain = catalogue.load_settings()[Hockey]
    value = getattr(plain, name)
    other = replace(plain, **{name: not value if isinstance(value, bool) else value + 1})
    changed = replace(disturbance_of(plain), **{name: getattr(other, name)})
    assert disturbance_of(other) == changed != disturbance_of(plain)
