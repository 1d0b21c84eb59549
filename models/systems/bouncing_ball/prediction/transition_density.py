"""The law of the next bounce given the last two: the transition density of Matl et al., sec. 3.4.2.

A flight took the time t and went the distance d; the next takes t', goes d' and turns by a. With
times in units of t and lengths in units of g t^2 nothing but the slope s = d / (g t^2) and theta is
left of the law, at any speed: where the ball was let go adds nothing. theta is drawn from the
calibrated posterior, so the density has one input, u = s / (s + 1/2) in [0, 1): it knows every ball
from the vertical to the grazing one. The next flight is written as the speed and direction with
which the ball leaves,

    (x, y, w) = (d' cos a / t', d' sin a / t', g t' / 2) / (g t)
              = r (cos l cos p, sin l, cos l sin p)

    e^2 = 4 (r^2 - s^2)      the restitution that the energy gives (Eq. 6)
    p in (0, pi)             elevation in the plane of travel; atan2(e / 2, s) without a redraw
    l in (-pi/2, pi/2)       angle out of that plane

In (e, p, l) the law is smooth and cut exactly where the ball would enter the table, which a
truncated mixture (`mixture_density_networks`) can be told. The density in (t', d', a) is

    q(t', d', a) = q(e, p, l) * 4 / (e r cos l) * delta / (2 tau^2) / (t * g t^2),

with tau = t' / t and delta = d' / (g t^2). It is trained on the simulator without measurement
noise: detected bounces have an error of their own, which is the filter's to add.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.inference import mixture_density_networks
from ricochet.models.inference.mixture_density_networks import ConditionalDensity, Inputs, Training
from ricochet.models.probability.bijections import Coordinates
from ricochet.models.probability.boxes import Box
from ricochet.models.probability.truncated_mixtures import TruncatedMixture
from ricochet.models.systems.bouncing_ball import simulator
from ricochet.models.systems.bouncing_ball.problem import REFERENCE_HEIGHT

TRAINING = Training(components=4, hidden=32, members=1, steps=2500, batch=512)
"""Size of the network: one input, about 10 s on one core."""
BOX = Box(low=(0.2, 0.0, -0.5 * math.pi), high=(1.2, math.pi, 0.5 * math.pi))
"""Bounds of (e, p, l)."""
PAIRS = 100_000
"""Flights simulated for the training."""
FLATTEST = 0.97
"""Balls are let go with u up to here; a contact spreads them further."""
HALF_SLOPE = 0.5
"""The slope s at which u is 1/2."""
SCALES = (0.05, 1.0, 1.0)
"""Scale of the coordinates y of (e, p, l) (`bijections`)."""
_LARGEST_SLOPE = 100.0  # above, e^2 = 4 (r^2 - s^2) loses digits


@dataclass(frozen=True)
class Flights:
    """What the last two bounces say of the next: three numbers of each flight.

    Attributes:
        time, distance: From bounce to bounce, s and m.
        turn: Signed angle from the flight before, rad.
    """

    time: Float[Tensor, "*batch"]
    distance: Float[Tensor, "*batch"]
    turn: Float[Tensor, "*batch"]


@dataclass(frozen=True)
class Transition:
    """The trained density of (e, p, l) given u, and the mean restitution about which it looks."""

    density: ConditionalDensity
    restitution: float


def train(
    theta: Float[Tensor, "sample 2"],
    *,
    pairs: int = PAIRS,
    training: Training = TRAINING,
    draw: torch.Generator,
) -> Transition:
    """Fit the law of the next bounce to the calibrated simulator.

    Args:
        theta: Samples of the posterior: restitution and log10 concentration.
        draw: Source of randomness; the same state gives the same density.

    Raises:
        ValueError: If a sample is not finite or a restitution is outside the bounds of e.
    """
    low, high = BOX.low[0], BOX.high[0]
    inside = (theta[:, 0] > low) & (theta[:, 0] < high) & torch.isfinite(theta).all(-1)
    if len(theta) == 0 or not bool(inside.all()):
        raise ValueError(f"theta: need finite rows with restitution in ({low}, {high})")
    restitution = float(theta[:, 0].double().mean())
    last, after = simulate(theta, pairs, draw=draw)
    inputs = _inputs(slope(last), restitution)
    point = departure(last, after)
    fit = mixture_density_networks.fit(point, inputs, box=BOX, training=training, draw=draw)
    return Transition(fit.density, restitution)


def simulate(
    theta: Float[Tensor, "sample 2"],
    pairs: int,
    *,
    height: float = REFERENCE_HEIGHT,
    draw: torch.Generator,
) -> tuple[Flights, Flights]:
    """Simulate two flights in a row for balls let go with any slope.

    Args:
        height: Height from which they fall, m; it sets the units of the flights, no more.

    Returns:
        The flight between the first two bounces and the one after it; a few balls that graze the
        table are left out, as the slope of the first flight tells.
    """
    chosen = theta[torch.randint(len(theta), (pairs,), generator=draw)].double()
    restitution, concentration = chosen[:, 0], 10.0 ** chosen[:, 1]
    u = FLATTEST * torch.rand(pairs, generator=draw, dtype=torch.float64)
    rise = restitution * math.sqrt(2.0 * GRAVITY * height)
    start = torch.zeros(pairs, 3, dtype=torch.float64)
    start[:, 0] = 2.0 * rise * HALF_SLOPE * u / (1.0 - u)
    bounces = simulator.simulate(
        restitution, concentration, drop_height=height, start_velocity=start, draw=draw
    )
    times = bounces.times.diff(dim=-1)
    steps = bounces.positions[..., :2].diff(dim=-2)
    heading = torch.atan2(steps[..., 1], steps[..., 0])
    turn = torch.remainder(heading[:, 1] - heading[:, 0] + math.pi, 2.0 * math.pi) - math.pi
    distance = torch.linalg.vector_norm(steps, dim=-1)
    last = Flights(times[:, 0], distance[:, 0], torch.zeros_like(turn))
    after = Flights(times[:, 1], distance[:, 1], turn)
    kept = slope(last) < _LARGEST_SLOPE
    return _select(last, kept), _select(after, kept)


def slope(last: Flights) -> Float[Tensor, "*batch"]:
    """Return s = d / (g t^2), half the cotangent of the elevation with which that flight began."""
    return last.distance / (GRAVITY * last.time**2)


def mixture(transition: Transition, last: Flights) -> TruncatedMixture:
    """Return the law of the next departure (e, p, l), one mixture a flight."""
    return transition.density.mixture(_inputs(slope(last), transition.restitution))


def departure(last: Flights, after: Flights) -> Float[Tensor, "*batch 3"]:
    """Return a flight's (e, p, l): restitution by energy, elevation, angle out of plane, rad."""
    tau, delta = after.time / last.time, after.distance / (GRAVITY * last.time**2)
    ahead, side = delta / tau * torch.cos(after.turn), delta / tau * torch.sin(after.turn)
    up = 0.5 * tau
    energy = 4.0 * (ahead**2 + side**2 + up**2 - slope(last) ** 2)
    elevation = torch.atan2(up, ahead)
    return torch.stack(
        (energy.clamp(min=0.0).sqrt(), elevation, torch.atan2(side, torch.hypot(ahead, up))), -1
    )


def _inputs(s: Float[Tensor, "*batch"], restitution: float) -> Inputs:
    """Return u and the place of the law without a redraw at the mean restitution."""
    level = torch.zeros_like(s)
    place = torch.stack((level + restitution, torch.atan2(level + 0.5 * restitution, s), level), -1)
    scale = torch.tensor(SCALES, dtype=s.dtype).expand(place.shape)
    return Inputs((s / (s + HALF_SLOPE))[..., None], Coordinates(place, scale))


def _select(flights: Flights, kept: Tensor) -> Flights:
    return Flights(flights.time[kept], flights.distance[kept], flights.turn[kept])
