"""Inference without a likelihood: a mixture density learnt from simulations, as BayesSim does.

Parameters are drawn all over the limits and simulated, numbers of each trajectory are the inputs,
and a mixture of normal laws is fitted whose parts a network gives (MDN), or random Fourier features
(MDRFF). What is drawn for a trajectory is then drawn from its mixture.

Sources: Ramos, Possas and Fox 2019; Heiden et al., appendix II-D.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import fourier_features, mixture_density_networks
from ricochet.models.inference import trajectory_statistics as statistics
from ricochet.models.inference.fourier_features import Features
from ricochet.models.inference.mixture_density_networks import (
    ConditionalDensity,
    Inputs,
    Training,
)
from ricochet.models.probability import boxes, truncated_mixtures
from ricochet.models.probability.bijections import Coordinates
from ricochet.models.probability.boxes import Box

STATISTICS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "downsampled": statistics.downsampled,
    "difference": statistics.differences,
    "summary": statistics.summary,
    "signature": partial(statistics.signature, depth=3),
}
MODELS = ("mdn", "mdrff-rbf", "mdrff-matern")
NAMES = tuple(f"{model}-{statistic}" for model in MODELS for statistic in STATISTICS)
"""Of rows."""
FREQUENCIES, LENGTH = 200, 1.0
"""Of the Fourier features, and the kernel's over the root of the number of inputs."""
NETWORK = Training(components=5, hidden=24, members=1, steps=4000)
"""Two hidden layers of 24 units, as in the paper."""
_WIDE = 10.0
_AT_ONCE = 500


@dataclass(frozen=True)
class Simulated:
    """Parameters, and the motions that they gave."""

    theta: Float[Tensor, "case parameter"]
    states: Float[Tensor, "case instant state"]


@dataclass(frozen=True)
class Learnt:
    """A density of parameters given a trajectory."""

    density: ConditionalDensity
    statistic: str
    scale: Float[Tensor, " state"]
    features: Features | None

    def draws(
        self, states: Float[Tensor, "instant state"], count: int, draw: torch.Generator
    ) -> Float[Tensor, "{count} parameter"]:
        """Draw parameters given a trajectory."""
        values = numbers(self.statistic, states[None] / self.scale)
        inputs = _inputs(values, self.features, self.density.box)
        mixture = self.density.mixture(inputs)
        return truncated_mixtures.sample(mixture, count, draw=draw)[:, 0]


def learn(
    simulated: Simulated,
    box: Box,
    *,
    model: str,
    statistic: str,
    draw: torch.Generator,
    training: Training = NETWORK,
    progress: Progress = no_progress,
) -> Learnt:
    """Fit the density of a model and a statistic to simulations.

    Args:
        model: Of `MODELS`.
        statistic: Of `STATISTICS`.
    """
    scale = simulated.states.flatten(0, 1).std(0)
    values = numbers(statistic, simulated.states / scale)
    features = None
    if model != "mdn":
        training = replace(training, layers=0)
        features = fourier_features.drawn(
            values, count=FREQUENCIES, smooth=model == "mdrff-rbf", draw=draw, length=LENGTH
        )
    fitted = mixture_density_networks.fit(
        simulated.theta,
        _inputs(values, features, box),
        box=box,
        training=training,
        draw=draw,
        progress=progress,
    )
    return Learnt(fitted.density, statistic, scale, features)


def numbers(
    statistic: str, states: Float[Tensor, "case instant state"]
) -> Float[Tensor, "case input"]:
    """Return what stands for trajectories, a few hundred of them at a time."""
    return torch.cat([STATISTICS[statistic](part) for part in states.split(_AT_ONCE)])


def _inputs(values: Tensor, features: Features | None, box: Box) -> Inputs:
    """Return inputs of a density in coordinates that are all but linear."""
    low, high = boxes.bounds(box)
    middle, wide = (0.5 * (low + high), _WIDE * (high - low))
    seen = values if features is None else features(values)
    every = (len(values), box.dimension)
    return Inputs(seen.float(), Coordinates(middle.expand(every), wide.expand(every)))
