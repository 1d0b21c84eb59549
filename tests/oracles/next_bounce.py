"""The density of the next bounce in the units of its detection, for tests alone."""

import torch
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.probability import truncated_mixtures
from ricochet.models.systems.bouncing_ball.prediction.transition_density import (
    Flights,
    Transition,
    departure,
    mixture,
    slope,
)


def log_density(transition: Transition, last: Flights, after: Flights) -> Tensor:
    """Evaluate the log density of the next bounce's time, distance and turn, per s, m and rad."""
    point = departure(last, after)
    energy, _, side = point.unbind(-1)
    speed = torch.sqrt(slope(last) ** 2 + 0.25 * energy**2)
    length = GRAVITY * last.time**2
    tau, delta = after.time / last.time, after.distance / length
    stretch = 4.0 / (energy * speed * torch.cos(side)) * delta / (2.0 * tau**2)
    value = truncated_mixtures.log_density(mixture(transition, last), point)
    return value + torch.log(stretch / (last.time * length))
