"""Controllers by name, made from a calibrated posterior."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.sound.impact_stream import BounceEvent
from ricochet.models.systems.bouncing_ball.prediction import transition_density, transition_sampler
from ricochet.models.systems.bouncing_ball.prediction.transition_sampler import Table
from ricochet.models.systems.bouncing_ball.tracking import (
    belief_intercept,
    cautious_intercept,
    intercept,
)
from ricochet.models.systems.bouncing_ball.tracking.intercept import State
from ricochet.models.systems.bouncing_ball.tracking.toss import Ball
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
from ricochet.tasks.systems.bouncing_ball.settings import Tosses
from ricochet.tasks.systems.bouncing_ball.tracking.control_loop import Controller
from ricochet.tasks.systems.bouncing_ball.tracking.laboratory import look_ahead

Place = tuple[float, float]


@dataclass(frozen=True)
class Knowledge:
    """What calibration told about a ball.

    Attributes:
        theta: Draws of restitution and log10 concentration, shape (sample, 2).
        table: The law of the next bounce that they give.
    """

    theta: Float[ndarray, "sample 2"]
    table: Table


def learn(theta: Float[ndarray, "sample 2"], *, draw: torch.Generator) -> Knowledge:
    """Train the law of the next bounce on the calibrated simulator.

    Args:
        theta: Draws of the posterior.
        draw: Source of randomness.

    Returns:
        The knowledge that controllers use.
    """
    transition = transition_density.train(torch.from_numpy(np.array(theta)), draw=draw)
    return Knowledge(theta, transition_sampler.tabulate(transition))


def controller(
    name: str,
    knowledge: Knowledge,
    workspace: Workspace,
    ball: Ball,
    settings: Tosses,
    *,
    seed: int,
    microphones: Sequence[Sequence[float]] | None = None,
) -> Controller:
    """Make a controller.

    Args:
        name: `stay`, `intercept`, `intercept_frictionless`, `cautious_intercept` or `belief`.
        knowledge: What is known of the ball.
        workspace: The robot's plane.
        ball: The ball; only its name and its radius are read.
        settings: How far to look ahead.
        seed: Seed of its samples.
        microphones: Where the microphones are said to be, m; only `belief` reads them.

    Returns:
        The controller at rest.

    Raises:
        ValueError: If there is no controller of the name.
    """
    if name == "stay":
        return Controller(intercept.init(1.0, workspace), _stay)
    if name in ("intercept", "intercept_frictionless"):
        share = None if name == "intercept" else 1.0
        restitution = float(knowledge.theta[:, 0].mean())
        state = intercept.init(restitution, workspace, horizontal=share)
        return Controller(state, intercept.step)
    if name == "cautious_intercept":
        ahead = look_ahead(settings, ball.name)
        law = functools.partial(transition_sampler.sample, knowledge.table)
        cautious = cautious_intercept.init(law, workspace, look_ahead=ahead, seed=seed)
        return Controller(cautious, cautious_intercept.step)
    if name == "belief":
        believed = belief_intercept.init(
            knowledge.theta,
            workspace,
            ball_radius=ball.radius,
            seed=seed,
            microphones=None if microphones is None else np.array(microphones, float),
        )
        return Controller(believed, belief_intercept.step)
    raise ValueError(f"controller: found {name!r}, expected one of models/controllers")


def _stay(state: State, event: BounceEvent, *, now: float, paddle: Place) -> tuple[State, None]:
    """Hear and do nothing."""
    return state, None
