"""Where a motion goes on to, by a posterior, against where it went.

Each recording is watched for two windows from some instants on, and predicted. An interval of 90 %
is that between draws' quantiles, errors of observation added.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.inference import motion_predictions
from ricochet.models.inference.multiple_shooting import Shooting, Simulator
from ricochet.models.inference.shooting_density import Noise
from ricochet.tasks.systems.rigid_bodies import motion_inference
from ricochet.tasks.systems.rigid_bodies.motion_inference import Inferred
from ricochet.tasks.systems.rigid_bodies.motion_tables import Recorded

WATCHED = 2
"""Windows."""
AHEAD = (0.25, 0.5)
"""Seconds after the last that was watched."""
STARTS = (0.0, 5.0, 15.0)
"""Seconds from a recording's start at which watching begins, where it is long enough."""
_DRAWS, _REPEATED = 100, 4


@dataclass(frozen=True)
class Prediction:
    """Of some places of recordings.

    Attributes:
        errors: By how much the median of the draws is off, in the position's unit, at each of
            `AHEAD`.
        inside: Whether the 90 % interval holds what came.
    """

    errors: Float[ndarray, "place ahead position"]
    inside: Float[ndarray, "place ahead position"]


def predict(
    inferred: Inferred, runs: Mapping[str, Recorded], generator: np.random.Generator
) -> dict[str, Prediction]:
    """Predict each recording; those too short for a single place are left out."""
    found = {}
    for name, run in runs.items():
        watched = WATCHED * inferred.problem.frames(run.rate)
        last = len(run.states) - 1 - watched - round(max(AHEAD) * run.rate)
        places = [place for start in STARTS if (place := round(start * run.rate)) <= last]
        if places:
            found[name] = _predicted(inferred, run, places, generator)
    return found


def together(found: Sequence[Prediction]) -> Prediction:
    """Return the places of all."""
    return Prediction(
        np.concatenate([each.errors for each in found]),
        np.concatenate([each.inside for each in found]),
    )


def _predicted(
    inferred: Inferred, run: Recorded, places: Sequence[int], generator: np.random.Generator
) -> Prediction:
    positions = run.states.shape[1] // 2
    at = [max(round(t * run.rate), 1) - 1 for t in AHEAD]
    watched, ahead = _watched(inferred, run, places, at[-1] + 1)
    theta, noise = _particles(inferred, generator)
    inside = inferred.inside or inferred.limits
    draws = motion_predictions.predicted(watched, inside, theta, noise, ahead, generator)
    states = draws[:, :, at, :positions]
    error = noise.sigma[:, None, None, :positions] * watched.scale[:positions]
    blurred = states + error * torch.from_numpy(generator.normal(size=states.shape))
    low, middle, high = np.quantile(blurred.numpy(), (0.05, 0.5, 0.95), axis=0)
    begin = WATCHED * watched.steps + 1
    came = np.stack([run.states[place + begin :][at][:, :positions] for place in places])
    return Prediction(np.abs(middle - came), ((came >= low) & (came <= high)).astype(float))


def _watched(
    inferred: Inferred, run: Recorded, places: Sequence[int], frames: int
) -> tuple[Shooting, list[Simulator]]:
    """Return what is watched, and simulators of the windows in which frames are to come."""
    problem, steps = inferred.problem, inferred.problem.frames(run.rate)
    seen = np.stack([run.states[place : place + WATCHED * steps + 1] for place in places])

    def simulator(begin: int, windows: int) -> Simulator:
        pieces = [(run, place + begin * steps) for place in places]
        acting = motion_inference.inputs_of(pieces, windows=windows, steps=steps)
        return problem.simulator(run.rate, acting)

    learnt = inferred.shooting
    shooting = Shooting(
        simulator(0, WATCHED), torch.from_numpy(seen), WATCHED, learnt.scale, learnt.seen
    )
    windows = range(WATCHED, WATCHED + math.ceil(frames / steps))
    return shooting, [simulator(begin, 1) for begin in windows]


def _particles(
    inferred: Inferred, generator: np.random.Generator
) -> tuple[Float[Tensor, "draw parameter"], Noise]:
    """Return draws of parameters and noise."""
    posterior, scale = inferred.posterior, inferred.shooting.scale
    own = scale[: inferred.shooting.observable]
    theta, sigma, delta = (
        each.flatten(0, 1) for each in (posterior.theta, posterior.sigma, posterior.delta)
    )
    chosen = torch.from_numpy(generator.integers(len(theta), size=_DRAWS * _REPEATED))
    return theta[chosen], Noise(sigma[chosen] / own, delta[chosen] / scale)
