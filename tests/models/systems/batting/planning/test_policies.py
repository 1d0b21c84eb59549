"""Policies that plan again and again: one look a bat, by the plan that is carried out."""

import numpy as np

from ricochet.models.systems.batting import bat
from ricochet.models.systems.batting.planning import policies
from ricochet.models.systems.batting.planning.goal_bats import Swing
from ricochet.models.systems.batting.planning.policies import Replanned, View
from tests.models.systems.batting import scenes

IMPACT = 1.1  # s


def test_the_last_plan_before_an_impact_says_whether_the_bat_is_a_look() -> None:
    cloud, draw = scenes.objects(20, 1), np.random.default_rng(0)
    now = [0.0]

    def look(scenarios, angle, horizon, world):
        return Swing(bat.hold(angle), 0.0, 0.3, IMPACT - now[0], 0.0, look=True)

    policy = Replanned(look, lambda cloud, world, draw: policies.sample(cloud, 3, world, draw))
    decided = []
    for frame in range(30):
        now[0] = 0.05 * frame
        if now[0] > IMPACT:
            break
        made = policy.decide(View(now[0], 0.0, cloud), scenes.quiet(), draw)
        if made is not None:
            decided.append((round(now[0], 2), made.look))
    assert decided == [(0.0, False), (0.25, False), (0.5, False), (0.75, True)]
