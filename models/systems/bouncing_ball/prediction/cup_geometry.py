"""A ball that is dropped over an incline and may bounce off it into a cup.

STReSSD, section 4.3. The floor is z = 0 and the foot of the incline is the y axis, from which it
rises towards -x at an angle b. The cup stands on the floor at (d, 0); its rim is a circle of radius
R at height H. The ball, of radius r, touches the incline when its centre is r away from it. There
the law of `bouncing_ball` acts. That plane has no edges, so a drop over (x, y) is the drop over
the origin moved along it: its centre meets the incline first at

    (x, y, (r - x sin b) / cos b).

Between contacts the centre flies on a parabola; from c with velocity v it passes the rim's height

    going up at t1 and down at t2,    t = (v_z -+ s) / g,    s = sqrt(v_z^2 - 2 g (H - c_z)).

in air at the two times that Newton's rule finds. The ball is in the cup if all contacts so far were
on the incline and its centre is at most R - r from the cup's axis at t2, having risen past the
rim's height (if it did) farther than R + r from it. So a ball that touches the lip has missed at
t2, and one that bounces on the floor has missed; what touches the lip only before t2, and the
incline's edge at the foot, are not looked at.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import family_simulator, flight, simulator
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.family_simulator import Surroundings
from ricochet.models.systems.bouncing_ball.simulator import Bounces

_CORRECTIONS = 4
_NEAR = 1e-5  # m; what air keeps below the rim's height never meets it


@dataclass(frozen=True)
class Scene:
    """Where the incline and the cup are.

    Attributes:
        tilt: Angle b of the incline, rad.
        length: Of the incline along its slope, m.
        width: Of the incline, m; its middle is y = 0.
        cup_distance: From the foot to the cup's axis along the floor, m.
        rim_radius: R, inside, m.
        rim_height: H above the floor, m.
    """

    tilt: float
    length: float
    width: float
    cup_distance: float
    rim_radius: float
    rim_height: float
    gravity: float = GRAVITY


@dataclass(frozen=True)
class _Rim:
    """Flights at the rim's height: whether each falls through it, has risen to it, and where."""

    falls: Tensor
    rises: Tensor
    before: Tensor
    after: Tensor


def simulate(
    restitution: Float[Tensor, "*#batch"],
    concentration: Float[Tensor, "*#batch"],
    drop: Float[Tensor, "*#batch 2"],
    *,
    ball_radius: float,
    drop_height: float,
    scene: Scene,
    bounces: int = 6,
    horizontal_sd: float = 0.0,
    draw: torch.Generator,
) -> Bool[Tensor, "*batch"]:
    """Drop balls and return which of them end in the cup.

    Args:
        restitution: Exit over entry normal speed, in (0, 1].
        concentration: Of the exit direction; infinity means no scatter.
        drop, ball_radius: Place (x, y) of the ball's centre at release, and its radius, m.
        drop_height: How far the ball falls until it touches the incline below it, m.
        bounces: Most contacts with the incline that are followed.
        horizontal_sd: Standard deviation of each horizontal velocity component at release, m/s.

    Raises:
        ValueError: If an argument is out of its range or the ball does not fit into the cup.
    """
    each = torch.broadcast_tensors(restitution, concentration, drop[..., 0])  # _shapes loads sympy
    contacts = simulator.simulate(
        each[0],
        concentration,
        bounces=bounces,
        drop_height=drop_height,
        horizontal_sd=horizontal_sd,
        gravity=scene.gravity,
        tilt=scene.tilt,
        draw=draw,
    )
    return enters(contacts, drop, ball_radius=ball_radius, scene=scene)


def simulate_family(
    draws: ContactDraws,
    drop: Float[Tensor, "*batch 2"],
    *,
    ball_radius: float,
    drop_height: float,
    scene: Scene,
    bounces: int = 6,
    draw: torch.Generator,
) -> Bool[Tensor, "*batch"]:
    """Drop balls of the family from rest and return which of them end in the cup; see `simulate`.

    Args:
        draws: A single one, or one for each drop; the paper's fly on parabolas.
    """
    if draws.plain:
        return simulate(
            draws.contact.restitution,
            draws.contact.concentration,
            drop,
            ball_radius=ball_radius,
            drop_height=drop_height,
            scene=scene,
            bounces=bounces,
            draw=draw,
        )
    around = Surroundings(draws.drag, torch.tensor([scene.tilt, 0.0], dtype=torch.float64))
    found = family_simulator.simulate(
        draws.contact,
        torch.zeros((*drop.shape[:-1], 3), dtype=torch.float64),
        drop_height=drop_height,
        law=draws.law,
        around=around,
        bounces=bounces,
        gravity=scene.gravity,
        draw=draw,
    )
    contacts = Bounces(
        found.times, _in_world(found.positions, scene), _in_world(found.velocities, scene)
    )
    return enters(contacts, drop, ball_radius=ball_radius, scene=scene, drag=draws.drag)


def enters(
    contacts: Bounces,
    drop: Float[Tensor, "*#batch 2"],
    *,
    ball_radius: float,
    scene: Scene,
    drag: Float[Tensor, "*#batch"] | None = None,
) -> Bool[Tensor, "*batch"]:
    """Return which balls end in the cup, given their contacts with an endless incline.

    Args:
        contacts: Contacts of balls that were released over the origin, in world axes.
        drop, ball_radius: Place (x, y) of the ball's centre at release, and its radius, m.
        drag: k of the air between contacts and rim, 1/m; None is no air.

    Raises:
        ValueError: If the ball does not fit into the cup.
    """
    if not 0.0 <= ball_radius < scene.rim_radius:
        raise ValueError(f"ball_radius must be in [0, {scene.rim_radius}), found {ball_radius}")
    first = _first_contact(drop.to(contacts.positions), ball_radius, scene)
    centres = contacts.positions + first[..., None, :]
    arrives = _on_incline(centres, scene).cumprod(-1).bool()
    if drag is None:
        rim = _flown(centres, contacts.velocities, scene)
    else:
        rim = _dragged(centres, contacts.velocities, scene, drag[..., None])
    return (arrives & _passes_rim(rim, ball_radius, scene)).any(-1)


def aim(restitution: float, *, ball_radius: float, drop_height: float, scene: Scene) -> float:
    """Return the x, m, of the drop that a noiseless ball ends on the cup's axis in one bounce.

    From rest the ball leaves with v_n = e sqrt(2 g h) cos b and v_t = sqrt(2 g h) sin b. The
    height of the contact falls with x = d - v_x t, so that the flight time t solves

        r / cos b - d tan b + (v_z + v_x tan b) t - g t^2 / 2 = H.

    The x may lie beyond the incline's ends.

    Args:
        restitution: Exit over entry normal speed e.
        ball_radius, drop_height: r, and the height h that it falls, m.

    Raises:
        ValueError: If no such ball rises to the rim.
    """
    sine, cosine = math.sin(scene.tilt), math.cos(scene.tilt)
    speed = math.sqrt(2.0 * scene.gravity * drop_height)
    normal, along = restitution * speed * cosine, speed * sine
    forward, up = normal * sine + along * cosine, normal * cosine - along * sine
    slope = sine / cosine
    climb = scene.rim_height - ball_radius / cosine + scene.cup_distance * slope
    rise = up + forward * slope
    square = rise * rise - 2.0 * scene.gravity * climb
    if square < 0.0:
        raise ValueError(f"restitution {restitution} from {drop_height} m does not reach the rim")
    return scene.cup_distance - forward * (rise + math.sqrt(square)) / scene.gravity


def _first_contact(
    drop: Float[Tensor, "*batch 2"], ball_radius: float, scene: Scene
) -> Float[Tensor, "*batch 3"]:
    """Return the centre of a ball that touches the incline below the place of its release."""
    x, y = drop.unbind(-1)
    height = (ball_radius - x * math.sin(scene.tilt)) / math.cos(scene.tilt)
    return torch.stack((x, y, height), -1)


def _on_incline(centres: Float[Tensor, "*batch 3"], scene: Scene) -> Bool[Tensor, "*batch"]:
    """Return where the point that is touched lies between the incline's edges."""
    x, y, z = centres.unbind(-1)
    beyond_foot = x * math.cos(scene.tilt) - z * math.sin(scene.tilt)
    within = (beyond_foot <= 0.0) & (beyond_foot >= -scene.length)
    return within & (y.abs() <= 0.5 * scene.width)


def _flown(
    centre: Float[Tensor, "*batch 3"], velocity: Float[Tensor, "*batch 3"], scene: Scene
) -> _Rim:
    """Fly on parabolas."""
    climb = velocity[..., 2]
    square = climb.square() - 2.0 * scene.gravity * (scene.rim_height - centre[..., 2])
    root = square.clamp(min=0.0).sqrt()
    up, down = (climb - root) / scene.gravity, (climb + root) / scene.gravity
    before, after = (centre[..., :2] + velocity[..., :2] * time[..., None] for time in (up, down))
    return _Rim((square >= 0.0) & (down > 0.0), up > 0.0, before, after)


def _dragged(
    centre: Float[Tensor, "*batch 3"],
    velocity: Float[Tensor, "*batch 3"],
    scene: Scene,
    drag: Float[Tensor, "*#batch"],
) -> _Rim:
    """Fly through air those that reach the rim without it: Newton's rule on both times."""
    still = _flown(centre, velocity, scene)
    chosen, climb = still.falls, velocity[..., 2]
    start, speeds = centre[chosen], velocity[chosen]
    k = drag.expand(climb.shape)[chosen]
    lift = scene.rim_height - start[:, 2]
    root = (speeds[:, 2].square() - 2.0 * scene.gravity * lift).clamp(min=0.0).sqrt()
    falls, rises, places = chosen.clone(), still.rises.clone(), []
    for sign in (-1.0, 1.0):
        time = (speeds[:, 2] + sign * root) / scene.gravity
        for _ in range(_CORRECTIONS):
            moved, rate = flight.after(speeds, time, drag=k, gravity=scene.gravity)
            time = time + (lift - moved[:, 2]) / torch.where(rate[:, 2] == 0.0, 1.0, rate[:, 2])
        moved, rate = flight.after(speeds, time, drag=k, gravity=scene.gravity)
        reached = ((moved[:, 2] - lift).abs() < _NEAR) & (sign * rate[:, 2] <= 0.0)
        falls[chosen] &= reached
        if sign < 0.0:
            rises[chosen] = time > 0.0
        place = centre[..., :2].clone()
        place[chosen] += moved[:, :2]
        places.append(place)
    return _Rim(falls, rises, *places)


def _passes_rim(rim: _Rim, ball_radius: float, scene: Scene) -> Bool[Tensor, "*batch"]:
    """Return which flights go down through the rim, clear of it, and have not run into it."""

    def from_axis(place: Float[Tensor, "*batch 2"]) -> Float[Tensor, "*batch"]:
        return torch.hypot(place[..., 0] - scene.cup_distance, place[..., 1])

    falls_in = rim.falls & (from_axis(rim.after) <= scene.rim_radius - ball_radius)
    return falls_in & (~rim.rises | (from_axis(rim.before) >= scene.rim_radius + ball_radius))


def _in_world(vectors: Float[Tensor, "*batch 3"], scene: Scene) -> Float[Tensor, "*batch 3"]:
    """Turn vectors from the axes of the incline to the world's."""
    sine, cosine = math.sin(scene.tilt), math.cos(scene.tilt)
    along, across, normal = vectors.unbind(-1)
    return torch.stack((along * cosine + normal * sine, across, normal * cosine - along * sine), -1)
