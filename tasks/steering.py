"""Controllers by name, made from a calibrated posterior."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from models.controllers import belief, cautious_intercept, intercept
from models.controllers.intercept import State
from models.controllers.workspace import Workspace
from models.sound.realtime import BounceEvent
from models.systems import bounce_sampler, bounce_transition
from models.systems.ball_toss import Ball
from models.systems.bounce_sampler import Table
from tasks.deflection import Controller
from tasks.laboratory import look_ahead
from tasks.settings import Toss

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
    transition = bounce_transition.train(torch.from_numpy(np.array(theta)), draw=draw)
    return Knowledge(theta, bounce_sampler.tabulate(transition))


def controller(
    name: str,
    knowledge: Knowledge,
    workspace: Workspace,
    ball: Ball,
    settings: Toss,
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
        law = functools.partial(bounce_sampler.sample, knowledge.table)
        cautious = cautious_intercept.init(law, workspace, look_ahead=ahead, seed=seed)
        return Controller(cautious, cautious_intercept.step)
    if name == "belief":
        believed = belief.init(
            knowledge.theta,
            workspace,
            ball_radius=ball.radius,
            seed=seed,
            microphones=None if microphones is None else np.array(microphones, float),
        )
        return Controller(believed, belief.step)
    raise ValueError(f"controller: found {name!r}, expected one of models/controllers")


def _stay(state: State, event: BounceEvent, *, now: float, paddle: Place) -> tuple[State, None]:
    """Hear and do nothing."""
    return state, None
