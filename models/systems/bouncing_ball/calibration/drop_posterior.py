"""The density networks of one drop: times and places, times only, places only.

One network serves good rigs and poor ones, low drops and high ones: it is trained on simulations
whose noise and height of release are drawn too,

    log time_sd ~ U, log position_sd ~ U, log height ~ U, log (height_sd / height) ~ U,

with a share of the drops without any noise, and a share whose height is known exactly; and it is
given the noise and the release of the take. Section 4.1 of Matl et al. trains one model per subset
of the features; the same code does that by the choice of the inputs.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.inference import mixture_density_networks
from ricochet.models.inference.mixture_density_networks import (
    ConditionalDensity,
    Fit,
    Inputs,
    Training,
)
from ricochet.models.probability.truncated_mixtures import TruncatedMixture
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import network_features
from ricochet.models.systems.bouncing_ball.features import Features
from ricochet.models.systems.bouncing_ball.problem import PRIOR, Drops, Noise, Release

InputFeatures = Callable[[Features, Noise, Release], Inputs]
"""What a network is given: `from_both`, `from_times` or `from_places` of network_features."""

GENERAL = Training(steps=4000, batch=512, held_out=0.05)
"""For a network that serves every rig: 200,000 simulations, about 15 s on one core."""
PAPER = Training(components=4, hidden=32, members=4, steps=1500, rate=8e-3, decay=0.01)
"""For the paper's 6000 simulations at one noise level: about 5 s on one core."""


@dataclass(frozen=True)
class NoiseRange:
    """Rigs to train for; a little wider than the rigs to be met, as a network is worst at an edge.

    Attributes:
        time_sd, position_sd: Lowest and highest error of one bounce, s and m per axis.
        noise_free: Share of drops that are measured without any error.
    """

    time_sd: tuple[float, float] = (3e-6, 3e-3)
    position_sd: tuple[float, float] = (3e-5, 6e-2)
    noise_free: float = 0.05


@dataclass(frozen=True)
class ReleaseRange:
    """Heights of release to train for.

    Attributes:
        height: Lowest and highest, m.
        relative_sd: Smallest and largest standard deviation of its logarithm.
        exact: Share of drops whose height is known exactly.
    """

    height: tuple[float, float] = (0.04, 2.5)
    relative_sd: tuple[float, float] = (1e-3, 0.15)
    exact: float = 0.3


def draw_release(span: ReleaseRange, count: int, *, draw: torch.Generator) -> Release:
    """Draw how drops are let go, each of a session of its own."""
    exact = torch.rand(count, generator=draw, dtype=torch.float64) < span.exact
    height = _log_uniform(span.height, count, draw)
    relative_sd = _log_uniform(span.relative_sd, count, draw)
    return Release(height, torch.where(exact, 0.0, relative_sd * height), torch.arange(count))


def draw_noise(span: NoiseRange, count: int, *, draw: torch.Generator) -> Noise:
    """Draw rigs, a pair of errors each: log-uniform in both."""
    free = torch.rand(count, generator=draw, dtype=torch.float64) < span.noise_free
    time_sd = _log_uniform(span.time_sd, count, draw)
    position_sd = _log_uniform(span.position_sd, count, draw)
    return Noise(torch.where(free, 0.0, time_sd), torch.where(free, 0.0, position_sd))


def train(
    drops: Drops,
    *,
    form_inputs: InputFeatures = network_features.from_both,
    training: Training = GENERAL,
    draw: torch.Generator,
) -> Fit:
    """Fit the posterior of one drop to simulated drops."""
    inputs = form_inputs(drops.features, drops.noise, drops.release)
    return mixture_density_networks.fit(
        drops.theta, inputs, box=PRIOR, training=training, draw=draw
    )


def train_general(
    *,
    simulations: int = 200_000,
    span: NoiseRange | None = None,
    training: Training = GENERAL,
    draw: torch.Generator,
) -> Fit:
    """Simulate drops on rigs of all qualities and fit the network that serves them all."""
    noise = draw_noise(span or NoiseRange(), simulations, draw=draw)
    release = draw_release(ReleaseRange(), simulations, draw=draw)
    return train(problem.simulate_drops(noise, release, draw=draw), training=training, draw=draw)


def posterior(
    density: ConditionalDensity,
    features: Features,
    noise: Noise,
    release: Release,
    *,
    form_inputs: InputFeatures = network_features.from_both,
) -> TruncatedMixture:
    """Return each drop's posterior, a mixture, by a network trained with the same inputs."""
    return density.mixture(form_inputs(features, noise, release))


def _log_uniform(
    span: tuple[float, float], count: int, draw: torch.Generator
) -> Float[Tensor, " drop"]:
    low, high = (torch.tensor(value, dtype=torch.float64).log() for value in span)
    fraction = torch.rand(count, generator=draw, dtype=torch.float64)
    return (low + (high - low) * fraction).exp()
