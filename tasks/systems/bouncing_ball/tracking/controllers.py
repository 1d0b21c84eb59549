"""Controllers by name, made from a calibrated posterior."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ricochet.models.sound.impact_stream import BounceEvent
from ricochet.models.systems.bouncing_ball import contact_table
from ricochet.models.systems.bouncing_ball.balls import Ball
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.contact_table import ContactTable
from ricochet.models.systems.bouncing_ball.prediction import family_transitions
from ricochet.models.systems.bouncing_ball.tracking import (
    belief_intercept,
    cautious_intercept,
    intercept,
)
from ricochet.models.systems.bouncing_ball.tracking.intercept import State
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
from ricochet.tasks.general_settings import Capture
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems.bouncing_ball.settings import Tosses
from ricochet.tasks.systems.bouncing_ball.tracking.control_loop import Controller
from ricochet.tasks.systems.bouncing_ball.tracking.laboratory import look_ahead

STATIONARY = "stay"
"""Name of the controller that never moves: what chance alone touches."""


@dataclass(frozen=True)
class BallModel:
    """Draws of what is known of a ball, and the same as they are used while it is in the air."""

    draws: ContactDraws
    table: ContactTable


@dataclass(frozen=True)
class ControllerInputs:
    """All that a controller is made from; it knows name and radius of the ball, not its nature."""

    model: BallModel
    workspace: Workspace
    ball: Ball
    settings: Settings
    seed: int


def fit_ball_model(draws: ContactDraws) -> BallModel:
    """Prepare draws of a posterior for prediction."""
    return BallModel(draws, contact_table.tabulate(draws))


def controller(name: str, inputs: ControllerInputs) -> Controller:
    """Return the controller of a name before the first bounce; `ValueError` if there is none."""
    if name not in BUILDERS:
        raise ValueError(f"controller: found {name!r}, expected one of {', '.join(BUILDERS)}")
    return BUILDERS[name](inputs)


def _stationary(inputs: ControllerInputs) -> Controller:
    def step(
        state: State, event: BounceEvent, *, now: float, paddle: tuple[float, float]
    ) -> tuple[State, None]:
        return state, None

    return Controller(intercept.init(1.0, inputs.workspace), step)


def _intercept(inputs: ControllerInputs, *, horizontal: float | None = None) -> Controller:
    restitution = float(inputs.model.draws.contact.restitution.mean())
    state = intercept.init(restitution, inputs.workspace, horizontal=horizontal)
    return Controller(state, intercept.step)


def _cautious_intercept(inputs: ControllerInputs) -> Controller:
    state = cautious_intercept.init(
        functools.partial(family_transitions.sample, inputs.model.table),
        inputs.workspace,
        look_ahead=look_ahead(inputs.settings[Tosses], inputs.ball.name),
        seed=inputs.seed,
        drag=float(inputs.model.draws.drag.mean()),
    )
    return Controller(state, cautious_intercept.step)


def _belief(inputs: ControllerInputs) -> Controller:
    state = belief_intercept.init(
        inputs.model.draws,
        inputs.workspace,
        ball_radius=inputs.ball.radius,
        seed=inputs.seed,
        microphones=np.array(inputs.settings[Capture].microphones, float),
    )
    return Controller(state, belief_intercept.step)


BUILDERS: Mapping[str, Callable[[ControllerInputs], Controller]] = {
    STATIONARY: _stationary,
    "intercept": _intercept,
    "intercept_frictionless": functools.partial(_intercept, horizontal=1.0),
    "cautious_intercept": _cautious_intercept,
    "belief": _belief,
}
"""Every controller by the name that settings and results use."""
