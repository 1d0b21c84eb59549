"""The names of policies are their own."""

import pytest

from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.air_hockey.policy_names import policy_names


@pytest.mark.parametrize("name", policy_names())
def test_the_name_of_every_setting_is_that_of_a_policy(name):
    assert catalogue.kind_of(name) is POLICY
