"""A ball that bounces on a level or tilted plane and leaves each contact in a random direction.

STReSSD, section 3.2. World axes: z up, gravity g along -z. The plane holds the origin; for a tilt b
about y its normal is n = (sin b, 0, cos b), and (cos b, 0, -sin b) and y span it. The ball is a
point, let go at height h above the origin at time 0 with horizontal velocity N(0, sd^2) on each
axis. In plane axes gravity is (g sin b, 0, -g cos b): a flight is a parabola and needs no stepping.

    first flight    T = (w + r) / (g cos b),    r = sqrt(w^2 + 2 g h cos^2 b),    w = v.n at release
    at a contact    v.n = -r becomes e r, the rest of v unchanged        (restitution, no friction)
                    v becomes |v| x,  x from von Mises-Fisher(v / |v|, k), drawn again until x.n > 0
    later flights   T = 2 r / (g cos b),    r = v.n of the exit.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import contact

_BLOCK = 1 << 15  # drops at a time on a processor, so that what a step touches stays in cache
_BLOCK_APART = 1 << 22  # on an accelerator, where only memory limits


@dataclass(frozen=True)
class Bounces:
    """The contacts of drops with the plane, in order.

    Attributes:
        times: Time of each contact after the release, s.
        positions: World position of each contact, m.
        velocities: World velocity with which the ball leaves, after the redraw, m/s.
    """

    times: Float[Tensor, "*batch bounce"]
    positions: Float[Tensor, "*batch bounce 3"]
    velocities: Float[Tensor, "*batch bounce 3"]


def simulate(
    restitution: Float[Tensor, "*#batch"],
    concentration: Float[Tensor, "*#batch"],
    *,
    drop_height: float | Float[Tensor, "*#batch"],
    bounces: int = 3,
    horizontal_sd: float = 0.1,
    gravity: float = GRAVITY,
    tilt: float = 0.0,
    start_velocity: Float[Tensor, "*#batch 3"] | None = None,
    draw: torch.Generator,
    device: torch.device | str | None = None,
) -> Bounces:
    """Drop balls and return their first contacts.

    Args:
        restitution: Exit over entry normal speed, in (0, 1]; its type is that of the result.
        concentration: Concentration k of the exit direction; infinity means no redraw.
        drop_height: Height of the release above the origin, m.
        horizontal_sd: Standard deviation of each horizontal velocity component at release, m/s.
        tilt: Angle of the plane about y, rad; a positive one descends towards +x.
        start_velocity: World velocity at release, m/s; drawn when absent.
        draw: Source of randomness, on the device of the computation.
        device: Where to compute and return; that of `restitution` when absent.

    Returns:
        Times, positions and exit velocities. In memory the batch is the last axis.

    Raises:
        ValueError: If an argument is out of its range, or `draw` is on another device.
    """
    place = torch.device(device) if device is not None else restitution.device
    _check_scalars(bounces, horizontal_sd, gravity, tilt)
    if draw.device.type != place.type:
        raise ValueError(f"draw must be on {place.type}, found one on {draw.device.type}")
    height = torch.as_tensor(drop_height, dtype=restitution.dtype)
    start = torch.zeros(3) if start_velocity is None else start_velocity
    columns = _broadcast(restitution, (concentration, height, *start.unbind(-1)), place)
    _check_drops(*columns[:3])
    drops = torch.stack([column.reshape(-1) for column in columns])
    table = drops.new_empty((bounces, 7, drops.shape[1]))
    plane = _Plane(math.cos(tilt), math.sin(tilt), gravity)
    sd = horizontal_sd if start_velocity is None else 0.0
    block = _BLOCK if place.type == "cpu" else _BLOCK_APART
    for first in range(0, drops.shape[1], block):
        part = slice(first, first + block)
        _drop(drops[:, part], plane, sd, draw, table[:, :, part])
    table = table.reshape(bounces, 7, *columns[0].shape)
    return Bounces(
        times=table[:, 0].movedim(0, -1),
        positions=table[:, 1:4].movedim((0, 1), (-2, -1)),
        velocities=table[:, 4:7].movedim((0, 1), (-2, -1)),
    )


def _broadcast(first: Tensor, others: tuple[Tensor, ...], place: torch.device) -> list[Tensor]:
    """Bring all tensors to one shape, one device and the type of the first."""
    tensors = [tensor.detach().to(place, first.dtype) for tensor in (first, *others)]
    return list(torch.broadcast_tensors(*tensors))


@dataclass(frozen=True)
class _Plane:
    """Cosine and sine of the tilt, and gravity along the plane and into it."""

    cosine: float
    sine: float
    gravity: float

    @property
    def pull_along(self) -> float:
        return self.gravity * self.sine

    @property
    def pull_into(self) -> float:
        return self.gravity * self.cosine


def _drop(
    drops: Float[Tensor, "6 drop"],
    plane: _Plane,
    horizontal_sd: float,
    draw: torch.Generator,
    out: Float[Tensor, "bounce 7 drop"],
) -> None:
    """Fill the rows (time, position, velocity) of each bounce for one block of drops."""
    restitution, concentration, height = drops[:3]
    velocity = _release(drops[3:], plane, horizontal_sd, draw)
    position = torch.stack((height * -plane.sine, torch.zeros_like(height)))
    flight, impact = _first_flight(velocity[2], height * plane.cosine, plane.pull_into)
    time = torch.zeros_like(flight)
    for row in out:
        torch.add(time, flight, out=row[0])
        time = row[0]
        position.addcmul_(velocity[:2], flight)
        position[0].addcmul_(flight, flight, value=0.5 * plane.pull_along)
        velocity[0].add_(flight, alpha=plane.pull_along)
        torch.mul(restitution, impact, out=velocity[2])
        velocity = contact.redirected(velocity, concentration, draw=draw)
        _to_world(position, velocity, plane, row[1:])
        impact = velocity[2]
        flight = impact * (2.0 / plane.pull_into)


def _release(
    start: Float[Tensor, "3 drop"], plane: _Plane, horizontal_sd: float, draw: torch.Generator
) -> Float[Tensor, "3 drop"]:
    """Return the velocity at release in plane axes, with the random part added."""
    x, y, z = start.clone()
    if horizontal_sd > 0.0:
        for component in (x, y):
            noise = torch.randn(x.shape, generator=draw, dtype=x.dtype, device=x.device)
            component.add_(noise, alpha=horizontal_sd)
    along = x * plane.cosine - z * plane.sine
    return torch.stack((along, y, x * plane.sine + z * plane.cosine))


def _first_flight(
    normal: Float[Tensor, " drop"], height: Float[Tensor, " drop"], pull: float
) -> tuple[Float[Tensor, " drop"], Float[Tensor, " drop"]]:
    """Return the time from release to contact and the normal speed there, without cancellation."""
    impact = torch.sqrt(normal.square() + 2.0 * pull * height)
    rising = (normal + impact) / pull
    falling = 2.0 * height / (impact - normal)
    return torch.where(normal > 0.0, rising, falling), impact


def _to_world(
    position: Float[Tensor, "2 drop"],
    velocity: Float[Tensor, "3 drop"],
    plane: _Plane,
    out: Float[Tensor, "6 drop"],
) -> None:
    """Write position and velocity, turned from plane axes to world axes."""
    torch.mul(position[0], plane.cosine, out=out[0])
    out[1].copy_(position[1])
    torch.mul(position[0], -plane.sine, out=out[2]).add_(0.0)  # no negative zeros
    along, normal = velocity[0], velocity[2]
    torch.add(along * plane.cosine, normal, alpha=plane.sine, out=out[3])
    out[4].copy_(velocity[1])
    torch.add(normal * plane.cosine, along, alpha=-plane.sine, out=out[5])


def _check_scalars(bounces: int, horizontal_sd: float, gravity: float, tilt: float) -> None:
    if bounces < 1:
        raise ValueError(f"bounces must be at least 1, found {bounces}")
    if not (math.isfinite(horizontal_sd) and horizontal_sd >= 0.0):
        raise ValueError(f"horizontal_sd must be at least 0, found {horizontal_sd}")
    if not (math.isfinite(gravity) and gravity > 0.0):
        raise ValueError(f"gravity must be positive, found {gravity}")
    if not abs(tilt) < math.pi / 2:
        raise ValueError(f"tilt must be within a right angle, found {tilt}")


def _check_drops(
    restitution: Float[Tensor, "*batch"],
    concentration: Float[Tensor, "*batch"],
    height: Float[Tensor, "*batch"],
) -> None:
    if not restitution.is_floating_point():
        raise ValueError(f"restitution must be floating, found {restitution.dtype}")
    if not bool(((restitution > 0.0) & (restitution <= 1.0)).all()):
        raise ValueError(f"restitution must be in (0, 1], found {restitution.tolist()[:3]}")
    if not bool((concentration > 0.0).all()):
        raise ValueError("concentration must be positive, found one that is not")
    if not bool(((height > 0.0) & torch.isfinite(height)).all()):
        raise ValueError("drop_height must be positive, found one that is not")
