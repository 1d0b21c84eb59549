"""Controllers of balls at the ends of what a package may hold: each bounce is answered."""

import numpy as np
import pytest
import torch

from ricochet.models.sound.impact_stream import BounceEvent
from ricochet.models.systems.bouncing_ball import contact_draws
from ricochet.models.systems.bouncing_ball.balls import BALLS
from ricochet.models.systems.bouncing_ball.contact import Contact
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import contact_package
from ricochet.tasks.systems.bouncing_ball.grid_package import WIDEST
from ricochet.tasks.systems.bouncing_ball.tracking import controllers
from ricochet.tasks.systems.bouncing_ball.tracking.controllers import ControllerInputs

DRAWS = 100
PLAIN = {
    "concentration": 1e3, "slope": 0.0, "tangential_loss": 0.0, "tail_share": 0.0,
    "tail_ratio": 1.0, "scatter": 0.0, "drag": 0.0,
}  # fmt: skip
ENDS = [{name: end} for name, ends in contact_package.BOUNDS.items() for end in ends]
TOGETHER = [
    {"concentration": 10.0, "drag": 10.0},
    {"tail_share": 1.0, "tail_ratio": 1e-5, "drag": 10.0},
    {"concentration": 10.0, "tail_share": 1.0, "tail_ratio": 1e-5, "scatter": 3.0, "slope": 1.0},
    {"restitution": 0.3, "tangential_loss": 1.0, "drag": 10.0, "concentration": 1e5},
]


def family(changed: dict[str, float]) -> ContactDraws:
    """Return draws of a package whose every number is the same but for restitution."""
    found = {name: np.full(DRAWS, value) for name, value in (PLAIN | changed).items()}
    found.setdefault("restitution", np.linspace(0.7, 0.8, DRAWS))
    curved = np.arange(DRAWS) % 2 == 0
    contact_package.check(
        {f"contact.{name}": column for name, column in found.items()}
        | {"contact.viscoelastic": curved}
    )
    columns = {name: torch.from_numpy(column) for name, column in found.items()}
    drag = columns.pop("drag")
    return ContactDraws(Contact(**columns), torch.from_numpy(curved), drag)


def targets(name: str, draws: ContactDraws) -> list[float]:
    """Return the numbers of all targets of a ball that comes to the paddle in five bounces."""
    model = controllers.fit_ball_model(draws)
    inputs = ControllerInputs(
        model, Workspace(), BALLS["ping-pong"], catalogue.load_settings(), seed=0
    )
    own = controllers.controller(name, inputs)
    state, time, x, found = own.state, 0.3, -0.5, list[float]()
    for flight in 0.36 * 0.8 ** np.arange(5):
        event = BounceEvent(
            time, time + 8e-4, np.array([x, 0.02]), 4e-6 * np.eye(2), outlier=False, strength=30.0
        )
        state, target = own.step(state, event, now=time + 0.02, paddle=Workspace().home)
        if target is not None:
            found += [each for each in (target.y, target.z, target.duration) if each is not None]
        time, x = time + flight, x + 0.6 * flight
    return found


@pytest.mark.parametrize("changed", ENDS + TOGETHER, ids=str)
@pytest.mark.parametrize("name", ["intercept", "cautious_intercept", "belief"])
def test_each_bounce_is_answered_at_the_bounds_of_a_family(name, changed) -> None:
    assert np.isfinite(targets(name, family(changed))).all()


@pytest.mark.parametrize("end", WIDEST[1])
@pytest.mark.parametrize("name", ["intercept", "cautious_intercept", "belief"])
def test_each_bounce_is_answered_at_the_ends_of_the_widest_prior(name, end) -> None:
    pairs = torch.linspace(0.7, 0.8, DRAWS, dtype=torch.float64)[:, None].repeat(1, 2)
    pairs[:, 1] = end
    assert np.isfinite(targets(name, contact_draws.of_pairs(pairs))).all()
