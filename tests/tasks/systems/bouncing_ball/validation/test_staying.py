"""The share of tosses that a paddle at home touches: simulated, and dependent on that home."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ricochet.models.systems.bouncing_ball.balls import BALLS
from ricochet.models.systems.bouncing_ball.tracking import toss
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
from ricochet.tasks.systems.bouncing_ball.validation import staying

AT_HOME = Workspace()
FAR_ASIDE = (0.35, 0.5)


def reach_of(ball) -> float:
    return AT_HOME.paddle_radius + ball.radius


@pytest.mark.slow
def test_the_share_is_that_of_discs_that_overlap_and_of_other_tosses() -> None:
    """Oracle: crossings counted by hand, drawn apart; two shares of 4000 and 1500 tosses have a
    standard error of 0.016 together, and the bound is four of them."""
    ball = BALLS["tennis"]
    low, high = np.array((AT_HOME.y, AT_HOME.z)).T
    drawn = toss.tosses(ball, 1500, draw=torch.Generator().manual_seed(9))
    crossings = np.array([each.crossing for each in drawn if each.crossing is not None])
    outside = crossings - np.clip(crossings, low, high)
    near = crossings[np.linalg.norm(outside, axis=1) <= reach_of(ball)]
    touched = np.linalg.norm(near - np.array(AT_HOME.home), axis=1) <= reach_of(ball)
    assert abs(staying.share(AT_HOME) - touched.mean()) < 0.064


def test_a_home_that_no_ball_crosses_touches_none_and_the_same_home_gives_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(staying, "TOSSES", 400)  # all of them below
    assert staying.share(replace(AT_HOME, home=FAR_ASIDE)) == 0.0
    assert staying.share(AT_HOME) == staying.share(AT_HOME) > 0.3


@pytest.mark.slow
def test_a_home_farther_aside_touches_fewer() -> None:
    aside = [staying.share(replace(AT_HOME, home=(y, 0.06))) for y in (0.0, 0.1, 0.2)]
    assert staying.share(replace(AT_HOME, home=FAR_ASIDE)) == 0.0
    assert aside == sorted(aside, reverse=True) and aside[-1] < aside[0] - 0.1
