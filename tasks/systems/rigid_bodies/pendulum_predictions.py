"""Where a pendulum goes on to, by its posterior, against where it went.

Each recording is watched for a tenth of a second from some instants on, and predicted. Errors are
medians over recordings, instants and both angles; an interval of 90 % is that between draws'
quantiles, errors of observation added.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.inference import motion_predictions
from ricochet.models.inference.shooting_density import Noise
from ricochet.tasks.systems.rigid_bodies.motion_files import Recorded
from ricochet.tasks.systems.rigid_bodies.pendulum_inference import WINDOW, Inferred, shooting_of

WATCHED = 0.1
"""Seconds."""
AHEAD = (0.25, 0.5)
"""Seconds after the last that was watched."""
STARTS = (0.0, 5.0, 15.0)
"""Seconds from a recording's start at which watching begins, where it is long enough."""
_DRAWS, _REPEATED = 100, 4


@dataclass(frozen=True)
class Prediction:
    """Of some places of recordings.

    Attributes:
        errors: By how much the median of the draws is off, rad, at each of `AHEAD`.
        inside: Whether the 90 % interval holds what came.
    """

    errors: Float[ndarray, "place ahead 2"]
    inside: Float[ndarray, "place ahead 2"]

    def to_json(self) -> dict[str, Any]:
        """Return what results say of it."""
        off, held = np.degrees(np.median(self.errors, (0, 2))), self.inside.mean((0, 2))
        return {
            "places": len(self.errors),
            "angle_deg": {f"{t:g}": float(x) for t, x in zip(AHEAD, off, strict=True)},
            "coverage_90": {f"{t:g}": float(x) for t, x in zip(AHEAD, held, strict=True)},
        }


def predict(
    inferred: Inferred, runs: Mapping[str, Recorded], generator: np.random.Generator
) -> dict[str, Prediction]:
    """Predict each recording; those too short for a single place are left out."""
    found = {}
    for name, run in runs.items():
        last = len(run.states) - 1 - round((WATCHED + max(AHEAD)) * run.rate)
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
    step = max(1, round(WINDOW * run.rate))
    windows = round(WATCHED / WINDOW)
    seen = torch.from_numpy(np.stack([run.states[p : p + windows * step + 1] for p in places]))
    watched = shooting_of(seen, run.rate, windows, inferred.shooting.scale)
    theta, noise = _particles(inferred, generator)
    ahead = round(max(AHEAD) / WINDOW)
    draws = motion_predictions.predicted(watched, inferred.limits, theta, noise, ahead, generator)
    at = [round(t * run.rate) - 1 for t in AHEAD]
    angles = draws[:, :, at, :2]
    error = noise.sigma[:, None, None, :2] * watched.scale[:2]
    blurred = angles + error * torch.from_numpy(generator.normal(size=angles.shape))
    low, middle, high = np.quantile(blurred.numpy(), (0.05, 0.5, 0.95), axis=0)
    came = np.stack([run.states[p + windows * step + 1 :][at][:, :2] for p in places])
    return Prediction(np.abs(middle - came), ((came >= low) & (came <= high)).astype(float))


def _particles(
    inferred: Inferred, generator: np.random.Generator
) -> tuple[Float[Tensor, "draw 11"], Noise]:
    """Return draws of parameters and noise."""
    posterior, scale = inferred.posterior, inferred.shooting.scale
    theta, sigma, delta = (
        each.flatten(0, 1) for each in (posterior.theta, posterior.sigma, posterior.delta)
    )
    chosen = torch.from_numpy(generator.integers(len(theta), size=_DRAWS * _REPEATED))
    return theta[chosen], Noise(sigma[chosen] / scale, delta[chosen] / scale)
