"""Next bounces drawn from the transition density, ten thousand in a few milliseconds.

The density of models.systems.bouncing_ball.prediction.transition_density has one input, so its
mixtures are tabulated once at equally spaced u and taken as linear between them: no network runs
while a ball is in the air. A draw of (e, p, l) picks a component and draws one axis after the other
from a cut Gaussian, as `truncated_mixtures` says; few draws fall outside and are drawn by the
inverse of the cut distribution function instead. Then, with r^2 = s^2 + e^2 / 4,

    t' / t = 2 r cos l sin p,    (along, across) = g t^2 (t' / t) r (cos l cos p, sin l).
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from scipy import special

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball.prediction import transition_density
from ricochet.models.systems.bouncing_ball.prediction.lookahead import NextBounces
from ricochet.models.systems.bouncing_ball.prediction.transition_density import (
    BOX,
    HALF_SLOPE,
    SCALES,
    Transition,
)

_NODES = 2049
_AXES = ((), (6,), (7, 8))  # columns of the regressions of each axis on those before it


@dataclass(frozen=True)
class Table:
    """The mixtures at equally spaced u.

    Attributes:
        cumulative: Cumulative weights of the components.
        numbers: Of each component, in y: three centres, three conditional standard deviations,
            and the regressions p on e, l on e, l on p.
        restitution: Where the coordinates of e are centred.
    """

    cumulative: Float[ndarray, "node component"]
    numbers: Float[ndarray, "node component 9"]
    restitution: float


def tabulate(transition: Transition) -> Table:
    """Evaluate the network at all nodes."""
    u = torch.linspace(0.0, 1.0, _NODES, dtype=torch.float64)
    time = torch.ones_like(u)
    distance = GRAVITY * HALF_SLOPE * u / (1.0 - u).clamp(min=1e-9)
    last = transition_density.Flights(time, distance, torch.zeros_like(u))
    found = transition_density.mixture(transition, last)
    slopes = torch.stack([found.slope[..., i, j] for i, j in ((1, 0), (2, 0), (2, 1))], -1)
    return Table(
        found.log_weights.exp().cumsum(-1).numpy(),
        torch.cat((found.mean, found.sd, slopes), -1).numpy(),
        transition.restitution,
    )


def sample(
    table: Table,
    time: Float[ndarray, " parent"],
    distance: Float[ndarray, " parent"],
    count: int,
    draw: np.random.Generator,
) -> NextBounces:
    """Draw next bounces, (parent, count), after two `time`, s, and `distance`, m, apart."""
    length = GRAVITY * time**2
    s = (distance / length)[:, None]
    numbers = _pick(table, s, count, draw)
    centres = (
        np.asarray(table.restitution),
        np.arctan2(0.5 * table.restitution, s),
        np.asarray(0.0),
    )
    offsets: list[ndarray] = []
    point: list[ndarray] = []
    for axis, centre in enumerate(centres):
        columns = zip(_AXES[axis], offsets, strict=True)
        shift = sum((numbers[..., column] * offset for column, offset in columns), start=0.0)
        low = np.arcsinh((BOX.low[axis] - centre) / SCALES[axis])
        high = np.arcsinh((BOX.high[axis] - centre) / SCALES[axis])
        y = _cut_normal(numbers[..., axis] + shift, numbers[..., 3 + axis], (low, high), draw)
        offsets.append(y - numbers[..., axis])
        point.append(centre + SCALES[axis] * np.sinh(y))
    return _fly(point, s, time[:, None], length[:, None])


def _pick(
    table: Table, s: Float[ndarray, "parent 1"], count: int, draw: np.random.Generator
) -> Float[ndarray, "parent sample 9"]:
    """Interpolate the mixtures of each parent and draw a component for each sample."""
    place = (s / (s + HALF_SLOPE))[:, 0] * (_NODES - 1)
    node = np.minimum(place.astype(np.int64), _NODES - 2)
    part = (place - node)[:, None]
    cumulative = table.cumulative[node] * (1.0 - part) + table.cumulative[node + 1] * part
    numbers = table.numbers[node] * (1.0 - part[..., None])
    numbers += table.numbers[node + 1] * part[..., None]
    parents, components = cumulative.shape
    uniform = draw.random((parents, count))
    chosen = np.repeat(components * np.arange(parents)[:, None], count, axis=1)
    for edge in cumulative.T[:-1]:
        chosen += uniform > edge[:, None]
    return numbers.reshape(parents * components, 9)[chosen]


def _cut_normal(
    middle: Float[ndarray, "parent sample"],
    sd: Float[ndarray, "parent sample"],
    bounds: tuple[float | ndarray, float | ndarray],
    draw: np.random.Generator,
) -> Float[ndarray, "parent sample"]:
    """Draw from Gaussians cut to an interval; those that fall outside are drawn anew inside."""
    y = middle + sd * draw.standard_normal(sd.shape)
    low, high = (np.broadcast_to(bound, y.shape) for bound in bounds)
    outside = (y <= low) | (y >= high)
    if outside.any():
        centre, scale = middle[outside], sd[outside]
        left, right = (low[outside] - centre) / scale, (high[outside] - centre) / scale
        mirrored = left + right > 0.0  # in the lower tail the distribution function has its digits
        first, last = np.where(mirrored, -right, left), np.where(mirrored, -left, right)
        mass = special.ndtr(first), special.ndtr(last)
        z = special.ndtri(mass[0] + draw.random(len(centre)) * (mass[1] - mass[0]))
        again = centre + scale * np.where(mirrored, -z, z)
        y[outside] = np.clip(again, low[outside], high[outside])
    return y


def _fly(
    point: list[Float[ndarray, "parent sample"]],
    s: Float[ndarray, "parent 1"],
    time: Float[ndarray, "parent 1"],
    length: Float[ndarray, "parent 1"],
) -> NextBounces:
    """Turn departures (e, p, l) into flights."""
    energy, elevation, side = point
    speed = np.sqrt(s * s + 0.25 * energy * energy)
    flat = speed * np.cos(side)
    tau = np.maximum(2.0 * flat * np.sin(elevation), 1e-12)
    reach = length * tau
    return NextBounces(time * tau, reach * flat * np.cos(elevation), reach * speed * np.sin(side))
