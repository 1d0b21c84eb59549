"""How many tosses a paddle that stays at home touches by chance alone.

It stands in for the champion that a first candidate on a real rig does not have. A touch is the
ball crossing the robot's plane at most a paddle's and a ball's radius from the paddle's home; the
share is that of the tosses within reach (`models.systems.bouncing_ball.tracking.outcomes`), of the
ball easiest for it.
"""

import numpy as np
import torch

from ricochet.models.systems.bouncing_ball.balls import BALLS, Ball
from ricochet.models.systems.bouncing_ball.tracking import outcomes, toss
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace

TOSSES = 4000
"""Of each ball: a standard error of the share below 0.008, in about a second."""
SEED = 0


def share(workspace: Workspace) -> float:
    """Return the share of tosses that a paddle at the home of a workspace touches."""
    return max(_share(ball, workspace) for ball in BALLS.values())


def _share(ball: Ball, workspace: Workspace) -> float:
    home, draw = np.array(workspace.home), torch.Generator().manual_seed(SEED)
    kinds = [
        outcomes.judge(
            each.crossing, home, workspace=workspace, ball_radius=ball.radius, outliers=()
        )[0]
        for each in toss.tosses(ball, TOSSES, plane=workspace.x, draw=draw)
    ]
    within = sum(kind != "boundaries" for kind in kinds)
    return kinds.count("success") / max(within, 1)
