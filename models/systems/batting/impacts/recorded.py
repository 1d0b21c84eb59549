"""Impacts as they are measured: a body, its contact with a surface, velocities before and after.

In the axes normal n and tangent t = (-n_y, n_x), with r the contact from the centre of mass, w the
spin and s the velocity of the surface there,

    V = v + w x r - s,  J = m (v' - v)

are the velocity of the contact before impact and the impulse that the change of velocity gives. The
law of impact is Eqs. 1-6 of Fu et al. (`impact_law`).
"""

from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ricochet.models.core.compiled import compiled
from ricochet.models.systems.batting.impact_law import Contact, Law, noisy_impulse
from ricochet.models.systems.batting.shapes import Shapes
from ricochet.models.systems.batting.support_functions import evaluate


@dataclass(frozen=True)
class Impacts:
    """Impacts, one an entry; SI units, axes of the world.

    Attributes:
        mass, inertia: Of the body, inertia about its centre of mass.
        contact: From the centre of mass.
        normal: Of the surface, of length one, towards the body.
        surface: Velocity of the surface at the contact.
        before, after: Velocity of the centre of mass, x and y, and spin.
    """

    mass: Float[ndarray, " impact"]
    inertia: Float[ndarray, " impact"]
    contact: Float[ndarray, "impact 2"]
    normal: Float[ndarray, "impact 2"]
    surface: Float[ndarray, "impact 2"]
    before: Float[ndarray, "impact 3"]
    after: Float[ndarray, "impact 3"]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.mass)

    def take(self, which: Bool[ndarray, " impact"] | Int[ndarray, " taken"]) -> "Impacts":
        """Return some of them."""
        return Impacts(*(getattr(self, field.name)[which] for field in fields(self)))

    @property
    def gyration(self) -> Float[ndarray, " impact"]:
        """Radius of gyration, m."""
        return np.sqrt(self.inertia / self.mass)

    @property
    def impulse(self) -> Float[ndarray, "impact 2"]:
        """The impulse that the change of velocity gives, normal and tangential, kg m/s."""
        return self.mass[:, None] * in_axes(self.after[:, :2] - self.before[:, :2], self.normal)

    @property
    def contacts(self) -> Float[ndarray, "impact 6"]:
        """Mass, inertia, contact and its velocity before impact: the entries of a `Contact`."""
        own = np.stack([self.mass, self.inertia], axis=1)
        place = in_axes(self.contact, self.normal)
        return np.concatenate([own, place, self.closing(self.before)], axis=1)

    def closing(self, motion: Float[ndarray, "impact 3"]) -> Float[ndarray, "impact 2"]:
        """Return the velocity of the contact relative to the surface, normal and tangential."""
        turned = np.stack([-self.contact[:, 1], self.contact[:, 0]], axis=1)
        velocity = motion[:, :2] + motion[:, 2:] * turned - self.surface
        return in_axes(velocity, self.normal)


def in_axes(
    vector: Float[ndarray, "impact 2"], normal: Float[ndarray, "impact 2"]
) -> Float[ndarray, "impact 2"]:
    """Return components along the normal and the tangent."""
    tangential = vector[:, 1] * normal[:, 0] - vector[:, 0] * normal[:, 1]
    return np.stack([(vector * normal).sum(1), tangential], axis=1)


def changes(
    impacts: Impacts, impulse: Float[ndarray, "*draw impact 2"]
) -> Float[ndarray, "*draw impact 3"]:
    """Return the changes of vx, vy and radius of gyration times spin by impulses, m/s."""
    along, across = impulse[..., 0], impulse[..., 1]
    place, normal = in_axes(impacts.contact, impacts.normal), impacts.normal
    x = (along * normal[:, 0] - across * normal[:, 1]) / impacts.mass
    y = (along * normal[:, 1] + across * normal[:, 0]) / impacts.mass
    turn = (place[:, 0] * across - place[:, 1] * along) / (impacts.mass * impacts.gyration)
    return np.stack([x, y, turn], axis=-1)


def observed_changes(impacts: Impacts) -> Float[ndarray, "impact 3"]:
    """Return the measured changes of vx, vy and radius of gyration times spin, m/s."""
    found = impacts.after - impacts.before
    found[:, 2] *= impacts.gyration
    return found


def struck(impacts: Impacts, impulse: Float[ndarray, "impact 2"]) -> Impacts:
    """Return impacts with the velocities after impulses."""
    change = changes(impacts, impulse)
    change[:, 2] /= impacts.gyration
    kept = {field.name: getattr(impacts, field.name) for field in fields(impacts)}
    return Impacts(**(kept | {"after": impacts.before + change}))


def simulate(
    law: Law,
    shapes: Shapes,
    count: int,
    draw: np.random.Generator,
    *,
    speed: float = 1.5,
    noise: bool = True,
) -> Impacts:
    """Return random impacts of bodies of some shapes with surfaces that move.

    Args:
        speed: Deviation of each velocity of the body before impact, m/s; that of its radius of
            gyration times spin is half of it, and that of the surface a third.
        noise: Whether impulses have the law's noise.
    """
    kind, mass = (
        draw.integers(len(shapes.radius), size=count),
        0.005 * np.exp(0.3 * draw.normal(size=count)),
    )
    direction, turn = draw.uniform(-np.pi, np.pi, (2, count))
    contact = np.empty((count, 2))
    for place, (which, alpha, phi) in enumerate(zip(kind, direction, turn, strict=True)):
        h, slope = evaluate(shapes.cosines[which], shapes.sines[which], alpha - phi)
        c, s = np.cos(alpha), np.sin(alpha)
        contact[place] = h * c - slope * s, h * s + slope * c
    normal = -np.stack([np.cos(direction), np.sin(direction)], axis=1)
    gyration = np.sqrt(shapes.gyration_squared[kind])
    before = speed * draw.normal(size=(count, 3))
    before[:, 2] *= 0.5 / gyration
    surface = speed / 3.0 * draw.normal(size=(count, 2))
    inertia = mass * gyration**2
    found = Impacts(mass, inertia, contact, normal, surface, before, before.copy())
    along = found.closing(before)[:, 0]
    before[:, :2] -= (np.maximum(along, 0.0) * 2.0 + 0.02 * speed)[:, None] * normal
    return struck(found, impulses(law, found.contacts, draw.normal(size=(count, 2)) * noise))


@compiled
def impulses(
    law: Law, contacts: Float[ndarray, "impact 6"], noise: Float[ndarray, "impact 2"]
) -> Float[ndarray, "impact 2"]:
    """Return impulses with noise (Eqs. 1-6), from standard normal numbers."""
    found = np.empty(noise.shape)
    for i in range(len(contacts)):
        row = contacts[i]
        contact = Contact(row[0], row[1], row[2], row[3], row[4], row[5])
        found[i, 0], found[i, 1] = noisy_impulse(law, contact, noise[i, 0], noise[i, 1])
    return found
