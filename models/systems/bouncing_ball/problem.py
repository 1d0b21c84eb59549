"""The bouncing ball as an inference problem: prior, measurement, features (Matl et al., Section 3).

Parameters theta = (restitution, log10 concentration), prior uniform on
[0.55, 0.95] x [1, 5] (Section 4.1). A drop is heard as three bounces: the times T_i and the places
P_i on the plane, each with an error of its own,

    T_i + time_sd * n,    P_i + position_sd * (n, n),    n standard normal and independent.

The data are four features only (Eqs. 5, 7, 8), with t_i = T_{i+1} - T_i and p_i = P_{i+1} - P_i:

    ratio = t_2 / t_1,   d_1 = |p_1|,   d_2 = |p_2|,   turn = signed angle from p_1 to p_2.

Absolute times are left out on purpose: with the exact drop height they would give restitution to
1e-5, and no drop height is known that well. Noise is part of the simulator, so that a density
trained on simulations means the same thing on a recording.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.probability import boxes
from ricochet.models.probability.boxes import Box
from ricochet.models.systems.bouncing_ball import simulator

PARAMETERS = ("restitution", "log10_concentration")
PRIOR = Box(low=(0.55, 1.0), high=(0.95, 5.0))
DROP_HEIGHT = 0.26
"""Height of release above the plane, metres."""
HORIZONTAL_SD = 0.1
"""Standard deviation of the horizontal start velocity per axis, metres per second."""
DEFAULT_TIME_SD = 1e-4
"""Timing error of one bounce, seconds."""
DEFAULT_POSITION_SD = 5.35e-3
"""Localisation error of one bounce per axis, metres (6.7 mm mean distance in the plane)."""


@dataclass(frozen=True)
class Noise:
    """Standard deviation of one bounce's time (s) and of its place per axis (m)."""

    time_sd: Float[Tensor, "*batch"]
    position_sd: Float[Tensor, "*batch"]


@dataclass(frozen=True)
class Features:
    """What is kept of a drop: Eq. 5 (no unit), Eq. 7 (m, m) and Eq. 8 (rad) of Matl et al."""

    ratio: Float[Tensor, "*batch"]
    first_distance: Float[Tensor, "*batch"]
    second_distance: Float[Tensor, "*batch"]
    turn: Float[Tensor, "*batch"]


@dataclass(frozen=True)
class Drops:
    """Drops with the parameters they were simulated with and the noise they were heard through."""

    theta: Float[Tensor, "*batch 2"]
    features: Features
    noise: Noise


def constant_noise(
    shape: tuple[int, ...],
    *,
    time_sd: float = DEFAULT_TIME_SD,
    position_sd: float = DEFAULT_POSITION_SD,
) -> Noise:
    """Return the same noise for every drop.

    Args:
        shape: Shape of the batch.
        time_sd: Timing error of one bounce, s.
        position_sd: Localisation error of one bounce per axis, m.

    Returns:
        Noise of the batch's shape, double precision.
    """
    return Noise(
        torch.full(shape, time_sd, dtype=torch.float64),
        torch.full(shape, position_sd, dtype=torch.float64),
    )


def measure(
    bounces: simulator.Bounces, noise: Noise, *, draw: torch.Generator
) -> tuple[Float[Tensor, "*batch bounce"], Float[Tensor, "*batch bounce 2"]]:
    """Hear simulated bounces: add the timing and the localisation error of each.

    Args:
        bounces: Simulated bounces.
        noise: Errors of one bounce, one pair a drop.
        draw: Source of randomness.

    Returns:
        Noisy times, s, and noisy places on the plane, m.
    """
    dtype = bounces.times.dtype
    places = bounces.positions[..., :2]
    time_error = torch.randn(bounces.times.shape, generator=draw, dtype=dtype)
    place_error = torch.randn(places.shape, generator=draw, dtype=dtype)
    times = bounces.times + noise.time_sd[..., None].to(dtype) * time_error
    return times, places + noise.position_sd[..., None, None].to(dtype) * place_error


def features(
    times: Float[Tensor, "*batch bounce"], positions: Float[Tensor, "*batch bounce axis"]
) -> Features:
    """Form the features of the first three bounces (Eqs. 5, 7, 8 of Matl et al.).

    Args:
        times: Times of at least three bounces, s; any origin.
        positions: Their places, m; only the first two coordinates are used.

    Returns:
        The four features. Two bounces heard in the wrong order give a ratio that is not positive.
    """
    first, second = times[..., 1] - times[..., 0], times[..., 2] - times[..., 1]
    steps = positions[..., 1:3, :2] - positions[..., :2, :2]
    (x1, y1), (x2, y2) = steps[..., 0, :].unbind(-1), steps[..., 1, :].unbind(-1)
    turn = torch.atan2(x1 * y2 - x2 * y1, x1 * x2 + y1 * y2)
    return Features(second / first, torch.hypot(x1, y1), torch.hypot(x2, y2), turn)


def simulate_features(
    theta: Float[Tensor, "*batch 2"], noise: Noise, *, draw: torch.Generator
) -> Features:
    """Simulate one drop a row and return its measured features.

    Args:
        theta: Restitution and log10 concentration.
        noise: Errors of one bounce, one pair a drop.
        draw: Source of randomness.

    Returns:
        The four features as a microphone array would give them.
    """
    bounces = simulator.simulate(
        theta[..., 0],
        10.0 ** theta[..., 1],
        bounces=3,
        drop_height=DROP_HEIGHT,
        horizontal_sd=HORIZONTAL_SD,
        gravity=GRAVITY,
        draw=draw,
    )
    return features(*measure(bounces, noise, draw=draw))


def simulate_drops(noise: Noise, *, draw: torch.Generator) -> Drops:
    """Draw parameters from the prior and one measured drop for each.

    Args:
        noise: Errors of one bounce, one pair a drop; its shape is the shape of the batch.
        draw: Source of randomness.

    Returns:
        Parameters with the features of their drops.
    """
    theta = boxes.sample(PRIOR, tuple(noise.time_sd.shape), draw=draw)
    return Drops(theta, simulate_features(theta, noise, draw=draw), noise)
