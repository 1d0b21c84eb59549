"""The bouncing ball as an inference problem: prior, release, measurement (Matl et al., Section 3).

Parameters theta = (restitution, log10 concentration), prior uniform on
[0.55, 0.95] x [1, 5] (Section 4.1). A drop is observed as three bounces: the times T_i and the
places P_i on the plane, each with an error of its own,

    T_i + time_sd * n,    P_i + position_sd * (n, n),    n standard normal and independent.

The data are the four `features` (Eqs. 5, 7, 8) only: ratio, d_1, d_2 and turn. Absolute times are
left out on purpose: with the exact drop height they would give restitution to 1e-5, and no drop
height is known that well. Noise is part of the simulator, so that a density trained on simulations
means the same thing on a recording.

The height of release h is set by hand. Its error is one for all takes of a session, as a ruler's
offset is: log h ~ N(log stated, (sd / stated)^2). An error of each take's own would average out,
so that calling it shared can only widen the answer.

The law has no scale. With gravity fixed, lengths times s and times and speeds times sqrt(s) make
another drop of the same restitution and concentration: ratio and turn stay. So a drop from h is
one from h0 whose s = h0 / h has multiplied

    d_1, d_2, position_sd by s,    time_sd and the sideways start speed by sqrt(s).

That speed comes from the hand and is N(0, 0.1^2) m/s per axis at any height: brought to h0 it has
another size, and this is all that is left of the height.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.core.rows import Rows
from ricochet.models.probability import boxes
from ricochet.models.probability.boxes import Box
from ricochet.models.systems.bouncing_ball import simulator
from ricochet.models.systems.bouncing_ball.features import Features, form_features
from ricochet.models.systems.bouncing_ball.paper_prior import HIGH, LOW, PARAMETERS

__all__ = ["PARAMETERS"]

PRIOR = Box(low=LOW, high=HIGH)
REFERENCE_HEIGHT = 0.26
"""Height of release above the plane in the paper, to which drops are brought, metres."""
HORIZONTAL_SD = 0.1
"""Standard deviation of the horizontal start velocity per axis at any height, metres per second."""
DEFAULT_TIME_SD = 1e-4
"""Timing error of one bounce, seconds."""
DEFAULT_POSITION_SD = 5.35e-3
"""Localisation error of one bounce per axis, metres (6.7 mm mean distance in the plane)."""


@dataclass(frozen=True)
class Noise(Rows):
    """Standard deviation of one bounce's time (s) and of its place per axis (m)."""

    time_sd: Float[Tensor, "*batch"]
    position_sd: Float[Tensor, "*batch"]


@dataclass(frozen=True)
class Release(Rows):
    """How each drop was let go.

    Attributes:
        height, height_sd: Above the plane, and the standard deviation of its error, m.
        session: Drops with one number, from 0 on, share one error.
        horizontal_sd: Standard deviation of the horizontal start velocity per axis, m/s.
    """

    height: Float[Tensor, " drop"]
    height_sd: Float[Tensor, " drop"]
    session: Int[Tensor, " drop"]
    horizontal_sd: float = HORIZONTAL_SD

    @property
    def relative_sd(self) -> Float[Tensor, " drop"]:
        """Standard deviation of the logarithm of the height."""
        return self.height_sd / self.height


@dataclass(frozen=True)
class Drops(Rows):
    """Drops with the parameters they were simulated with, and how they were let go and measured."""

    theta: Float[Tensor, "*batch 2"]
    features: Features
    noise: Noise
    release: Release


def constant_noise(
    shape: tuple[int, ...],
    *,
    time_sd: float = DEFAULT_TIME_SD,
    position_sd: float = DEFAULT_POSITION_SD,
) -> Noise:
    """Return the same noise, s and m per axis, for every drop, in double precision."""
    return Noise(
        torch.full(shape, time_sd, dtype=torch.float64),
        torch.full(shape, position_sd, dtype=torch.float64),
    )


def constant_release(
    shape: tuple[int, ...], *, height: float = REFERENCE_HEIGHT, height_sd: float = 0.0
) -> Release:
    """Return drops of one session from one height, m, by default the paper's and exactly known."""
    return Release(
        torch.full(shape, height, dtype=torch.float64),
        torch.full(shape, height_sd, dtype=torch.float64),
        torch.zeros(shape, dtype=torch.int64),
    )


def at_reference(
    features: Features, noise: Noise, release: Release
) -> tuple[Features, Noise, Float[Tensor, "*batch"]]:
    """Bring drops to `REFERENCE_HEIGHT` exactly, with the start speed's sd per axis there, m/s."""
    scale = REFERENCE_HEIGHT / release.height
    slower = scale.sqrt()
    scaled = Features(
        features.ratio,
        features.first_distance * scale,
        features.second_distance * scale,
        features.turn,
    )
    return (
        scaled,
        Noise(noise.time_sd * slower, noise.position_sd * scale),
        release.horizontal_sd * slower,
    )


def draw_heights(
    release: Release, shape: tuple[int, ...], *, draw: torch.Generator
) -> Float[Tensor, "*shape"]:
    """Draw the heights from which balls really fell, m; only drops of one row share an error."""
    height = release.height.expand(shape)
    if not bool((release.height_sd > 0.0).any()):
        return height
    sessions = int(release.session.max()) + 1
    errors = torch.randn((*shape[:-1], sessions), generator=draw, dtype=torch.float64)
    return height * (release.relative_sd * errors[..., release.session]).exp()


def measure(
    bounces: simulator.Bounces, noise: Noise, *, draw: torch.Generator
) -> tuple[Float[Tensor, "*batch bounce"], Float[Tensor, "*batch bounce 2"]]:
    """Return noisy times, s, and places, m, of the bounces, each with an error of its own."""
    dtype = bounces.times.dtype
    places = bounces.positions[..., :2]
    time_error = torch.randn(bounces.times.shape, generator=draw, dtype=dtype)
    place_error = torch.randn(places.shape, generator=draw, dtype=dtype)
    times = bounces.times + noise.time_sd[..., None].to(dtype) * time_error
    return times, places + noise.position_sd[..., None, None].to(dtype) * place_error


def simulate_features(
    theta: Float[Tensor, "*batch 2"], noise: Noise, release: Release, *, draw: torch.Generator
) -> Features:
    """Simulate one drop a row and return its features as a microphone array would give them.

    Args:
        theta: Restitution and log10 concentration; the axis before the last is the drops.
    """
    bounces = simulator.simulate(
        theta[..., 0],
        10.0 ** theta[..., 1],
        bounces=3,
        drop_height=draw_heights(release, tuple(theta.shape[:-1]), draw=draw),
        horizontal_sd=release.horizontal_sd,
        gravity=GRAVITY,
        draw=draw,
    )
    return form_features(*measure(bounces, noise, draw=draw))


def simulate_drops(noise: Noise, release: Release, *, draw: torch.Generator) -> Drops:
    """Draw parameters from the prior and one measured drop for each pair of errors."""
    theta = boxes.sample(PRIOR, tuple(noise.time_sd.shape), draw=draw)
    return Drops(theta, simulate_features(theta, noise, release, draw=draw), noise, release)
