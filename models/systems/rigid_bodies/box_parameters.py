r"""The parameters of a hanging box and of two weights in it, and the numbers its motion depends on.

A box of known mass has its moments of inertia about its centre of mass, that centre and the
friction of both joints (eleven parameters, Table IVa); weights of known mass lie on its bottom at
places (x, y), and may change places without a difference (Table IVb). With the mass M, the centre
c, the tensor C about it, and weights m at p, the numbers (`box_motion`) are

    u = M c + sum m p,    I = C + M (|c|^2 - c c') + sum m (|p|^2 - p p'),    d.

Source: Heiden et al., section V-C, appendix II-E, Table IV; masses: 920 g and 500 g.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray
from torch import Tensor

from ricochet.models.systems.rigid_bodies import box_motion
from ricochet.models.systems.rigid_bodies.box_motion import BoxMotion

EMPTY = (
    "inertia_xx", "inertia_yy", "inertia_zz", "inertia_xy", "inertia_xz", "inertia_yz",
    "centre_x", "centre_y", "centre_z", "friction_1", "friction_2",
)  # fmt: skip
EMPTY_UNITS = ("kg m^2",) * 6 + ("m",) * 3 + ("N m s/rad",) * 2
EMPTY_LOW = (0.05,) * 3 + (-0.01,) * 3 + (-0.005, -0.005, 0.1, 0.0, 0.0)
EMPTY_HIGH = (0.1,) * 3 + (0.01,) * 3 + (0.005, 0.005, 0.4, 0.15, 0.15)
WEIGHTS = ("weight_1_x", "weight_1_y", "weight_2_x", "weight_2_y")
WEIGHTS_UNITS = ("m",) * 4
WEIGHTS_HIGH = (0.14, 0.08, 0.14, 0.08)
WEIGHTS_LOW = tuple(-each for each in WEIGHTS_HIGH)
MASS, WEIGHT = 0.92, 0.5
"""Of the box and of each weight, kg."""
DEPTH = 0.4
"""Of the weights below the joint, m: the paper does not say; the centre of the box lies above."""

_ROUNDS = 20

Numbers = Callable[[Float[Tensor, " parameter"]], Float[Tensor, " 11"]]


def of_empty(theta: Float[Tensor, "*batch 11"]) -> Float[Tensor, "*batch 11"]:
    """Return the numbers of boxes without weights.

    >>> of_empty(torch.tensor([0.06, 0.07, 0.08, 0, 0, 0, 0, 0, 0.2, 0.1, 0.1]))[:5]
    tensor([0.0000, 0.0000, 0.1840, 0.0968, 0.1068])
    """
    centre = theta[..., 6:9]
    return torch.cat((MASS * centre, theta[..., :6] + MASS * about(centre), theta[..., 9:]), -1)


def with_weights(
    numbers: Float[Tensor, "*batch 11"], places: Float[Tensor, "*batch 4"]
) -> Float[Tensor, "*batch 11"]:
    """Return the numbers of boxes with two weights."""
    depth = torch.full_like(places[..., :1], DEPTH)
    spots = [torch.cat((places[..., at : at + 2], depth), -1) for at in (0, 2)]
    moment, inertia, damping = numbers.split((3, 6, 2), -1)
    moment = moment + WEIGHT * (spots[0] + spots[1])
    inertia = inertia + WEIGHT * (about(spots[0]) + about(spots[1]))
    return torch.cat((moment, inertia, damping), -1)


def loaded(theta: Float[Tensor, "*batch 15"]) -> Float[Tensor, "*batch 11"]:
    """Return the numbers of boxes and weights that are both unknown."""
    return with_weights(of_empty(theta[..., :11]), theta[..., 11:])


def empty_of_both(theta: Float[Tensor, "*batch 15"]) -> Float[Tensor, "*batch 11"]:
    """Return the numbers of the same boxes before weights were put in."""
    return of_empty(theta[..., :11])


def swapped(theta: Float[Tensor, "*batch parameter"]) -> Float[Tensor, "*batch parameter"]:
    """Return parameters, places of the weights last, with the weights in each other's place."""
    rest, places = theta[..., :-4], theta[..., -4:]
    return torch.cat((rest, places.roll(2, -1)), -1)


def in_order(places: Float[ndarray, "draw 4"]) -> Float[ndarray, "draw 4"]:
    """Return draws, weights named so that all draws are alike.

    >>> in_order(np.array([[1.0, 0.0, -1.0, 0.0], [-1.1, 0.0, 1.1, 0.0]]))
    array([[ 1. ,  0. , -1. ,  0. ],
           [ 1.1,  0. , -1.1, -0. ]])
    """
    apart = np.linalg.norm(places[:, :2] - places[:, 2:], axis=1)
    mean = places[apart.argmax()] if len(places) > 2 else places[0]
    found = places
    for _ in range(_ROUNDS):
        found = nearer(found, mean)
        mean = found.mean(0)
    return found


def nearer(places: Float[ndarray, "draw 4"], mean: Float[ndarray, " 4"]) -> ndarray:
    """Return draws in the order that is nearer to some places."""
    other = np.roll(places, 2, axis=1)
    closer = ((other - mean) ** 2).sum(1) < ((places - mean) ** 2).sum(1)
    return np.where(closer[:, None], other, places)


def about(place: Float[Tensor, "*batch 3"]) -> Float[Tensor, "*batch 6"]:
    """Return |p|^2 - p p' as xx, yy, zz, xy, xz, yz.

    >>> about(torch.tensor([0.0, 1.0, 2.0])) + 0.0
    tensor([ 5.,  4.,  1.,  0.,  0., -2.])
    """
    x, y, z = place.unbind(-1)
    return torch.stack((y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z), -1)


@dataclass(frozen=True)
class ParametrisedMotion:
    """Motions whose derivatives are by parameters."""

    motion: BoxMotion
    chain: Float[Tensor, "particle window 11 parameter"]

    @property
    def states(self) -> Float[Tensor, "particle window step 4"]:
        """After each step."""
        return self.motion.states

    def gradient(self, weights: Float[Tensor, "particle window step 4"]) -> tuple[Tensor, Tensor]:
        """Return the gradient of sum(weights * states) by starts and by parameters."""
        by_start, by_number = self.motion.gradient(weights)
        return by_start, (by_number[..., None, :] @ self.chain)[..., 0, :]

    def jacobian(self) -> "Slopes":
        """Return all derivatives."""
        found = self.motion.jacobian()
        rows = found.by_number.flatten(2, 3) @ self.chain
        return Slopes(found.by_start, rows.unflatten(2, found.by_number.shape[2:4]))


@dataclass(frozen=True)
class Slopes:
    """Derivatives of states by where motions start and by parameters."""

    by_start: Float[Tensor, "particle window step 4 4"]
    by_parameter: Float[Tensor, "particle window step 4 parameter"]


@dataclass(frozen=True)
class BoxSimulator:
    """Boxes on a flange that moves in a known way, window by window.

    Attributes:
        carried: Of each window, at the start of each short step (`box_motion.move`).
        boxes: How numbers follow from the parameters.
        which: Of these holds in each window.
        short: Duration of a short step, s.
        substeps: Short steps of a step.
    """

    carried: Float[Tensor, "window short 9"]
    boxes: tuple[Numbers, ...]
    which: Int[Tensor, " window"]
    short: float
    substeps: int

    def __call__(
        self,
        theta: Float[Tensor, "particle 1 parameter"],
        starts: Float[Tensor, "particle window 4"],
        *,
        steps: int,
    ) -> ParametrisedMotion:
        """Return the motions of some steps, of the first windows where starts are fewer."""
        own, which = theta[:, 0], self.which[: starts.shape[1]]
        numbers = torch.stack([each(own) for each in self.boxes], 1)
        slopes = [torch.func.vmap(torch.func.jacrev(each))(own) for each in self.boxes]
        motion = box_motion.move(
            numbers[:, which],
            starts,
            self.carried[: starts.shape[1], : steps * self.substeps],
            short=self.short,
            substeps=self.substeps,
        )
        return ParametrisedMotion(motion, torch.stack(slopes, 1)[:, which])
