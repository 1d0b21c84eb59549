"""A ball that is dropped over an incline and may bounce off it into a cup.

STReSSD, section 4.3. The floor is z = 0 and the foot of the incline is the y axis, from which it
rises towards -x at an angle b. The cup stands on the floor at (d, 0); its rim is a circle of radius
R at height H. The ball, of radius r, touches the incline when its centre is r away from it. There
the law of `bouncing_ball` acts. That plane has no edges, so a drop over (x, y) is the drop over
the origin moved along it: its centre meets the incline first at

    (x, y, (r - x sin b) / cos b).

Between contacts the centre flies on a parabola; from c with velocity v it passes the rim's height

    going up at t1 and down at t2,    t = (v_z -+ s) / g,    s = sqrt(v_z^2 - 2 g (H - c_z)).

The ball is in the cup if all contacts so far were on the incline and its centre is at most R - r
from the cup's axis at t2, having risen past the rim's height (if it did) farther than R + r from
it. So a ball that touches the lip has missed at t2, and one that bounces on the floor has missed;
what touches the lip only before t2, and the incline's edge at the foot, are not looked at.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import simulator
from ricochet.models.systems.bouncing_ball.simulator import Bounces


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


def enters(
    contacts: Bounces, drop: Float[Tensor, "*#batch 2"], *, ball_radius: float, scene: Scene
) -> Bool[Tensor, "*batch"]:
    """Return which balls end in the cup, given their contacts with an endless incline.

    Args:
        contacts: Contacts of balls that were released over the origin, in world axes.
        drop, ball_radius: Place (x, y) of the ball's centre at release, and its radius, m.

    Raises:
        ValueError: If the ball does not fit into the cup.
    """
    if not 0.0 <= ball_radius < scene.rim_radius:
        raise ValueError(f"ball_radius must be in [0, {scene.rim_radius}), found {ball_radius}")
    first = _first_contact(drop.to(contacts.positions), ball_radius, scene)
    centres = contacts.positions + first[..., None, :]
    arrives = _on_incline(centres, scene).cumprod(-1).bool()
    return (arrives & _passes_rim(centres, contacts.velocities, ball_radius, scene)).any(-1)


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


def _passes_rim(
    centre: Float[Tensor, "*batch 3"],
    velocity: Float[Tensor, "*batch 3"],
    ball_radius: float,
    scene: Scene,
) -> Bool[Tensor, "*batch"]:
    """Return which flights go down through the rim, clear of it, and have not run into it."""
    climb = velocity[..., 2]
    square = climb.square() - 2.0 * scene.gravity * (scene.rim_height - centre[..., 2])
    root = square.clamp(min=0.0).sqrt()
    up, down = (climb - root) / scene.gravity, (climb + root) / scene.gravity

    def from_axis(time: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
        place = centre[..., :2] + velocity[..., :2] * time[..., None]
        return torch.hypot(place[..., 0] - scene.cup_distance, place[..., 1])

    falls_in = (square >= 0.0) & (down > 0.0) & (from_axis(down) <= scene.rim_radius - ball_radius)
    return falls_in & ((up <= 0.0) | (from_axis(up) >= scene.rim_radius + ball_radius))
