r"""How a hanging box moves, many at once, with the derivatives of all states.

With the moment u = m c, the inertia I about the joint, and S the axes of both joints in coordinates
of the box (`hanging_box`), which also has the equations and what the carrier is,

    S'I S q'' = -d q' - S' (I b + o x I o + u x p),

linear in the eleven numbers u, I and d. Rates are stepped before angles (Eq. 12), so that they are
those of half a step before; a rate that is not observed may stand for either. The derivatives of
q'' by states and numbers are torch's, of all steps at once; steps chain them by

    dq'_{n+1} = dq'_n + h dq''_n,    dq_{n+1} = dq_n + h dq'_{n+1}.

Source: Heiden et al., Eq. 12 and section V-C; derivatives: ours.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

NUMBERS = 11
"""Moment (3), inertia xx, yy, zz, xy, xz, yz about the joint, damping (2); kg m, kg m^2, N m s."""
STATES = 4
"""Both angles, rad, then both rates, rad/s."""


@dataclass(frozen=True)
class Derivatives:
    """Of the states of motions, by where they start and by the numbers."""

    by_start: Float[Tensor, "*batch step 4 4"]
    by_number: Float[Tensor, "*batch step 4 11"]


@dataclass(frozen=True)
class BoxMotion:
    """Motions.

    Attributes:
        numbers: Of the boxes.
        carried: Spin, turning and pull (`hanging_box.Carrier`), at the start of each short step.
        passed: Angles and rates before each short step, and after the last.
        short: Duration of a short step, s.
        substeps: Short steps of a step.
    """

    numbers: Float[Tensor, "11 ..."]
    carried: Float[Tensor, "9 short *batch"]
    passed: Float[Tensor, "4 instant *batch"]
    short: float
    substeps: int

    @property
    def states(self) -> Float[Tensor, "*batch step 4"]:
        """After each step."""
        return self.passed[:, self.substeps :: self.substeps].movedim((0, 1), (-1, -2))

    def gradient(
        self, weights: Float[Tensor, "*batch step 4"]
    ) -> tuple[Float[Tensor, "*batch 4"], Float[Tensor, "*batch 11"]]:
        """Return the gradient of sum(weights * states) by starts and by numbers, backwards."""
        given = weights.movedim((-2, -1), (0, 1))
        turning, speeding = torch.zeros_like(given[0, :2]), torch.zeros_like(given[0, :2])
        by_states, by_numbers = self._slopes.split((STATES, NUMBERS), 1)
        pulls = torch.empty_like(by_states[:, 0])
        for number in reversed(range(pulls.shape[1])):
            step, last = divmod(number + 1, self.substeps)
            if last == 0:
                turning, speeding = turning + given[step - 1, :2], speeding + given[step - 1, 2:]
            speeding = speeding + self.short * turning
            pulls[:, number] = pull = self.short * speeding
            by = (by_states[:, :, number] * pull[:, None]).sum(0)
            turning, speeding = turning + by[:2], speeding + by[2:]
        own = (by_numbers * pulls[:, None]).sum((0, 2))
        return torch.cat((turning, speeding)).movedim(0, -1), own.movedim(0, -1)

    def jacobian(self) -> Derivatives:
        """Return all derivatives, forwards."""
        slopes = self._slopes
        _, varied, count, *batch = slopes.shape
        turned, sped = slopes.new_zeros(2, 2, varied, *batch)
        turned[range(2), range(2)] = sped[range(2), range(2, STATES)] = 1.0
        found = slopes.new_empty(count // self.substeps, STATES, varied, *batch)
        for number in range(count):
            by = slopes[:, :, number]
            changed = by[:, :STATES, None].mul(torch.cat((turned, sped))[None]).sum(1)
            changed[:, STATES:] += by[:, STATES:]
            sped = sped + self.short * changed
            turned = turned + self.short * sped
            step, last = divmod(number + 1, self.substeps)
            if last == 0:
                found[step - 1, :2], found[step - 1, 2:] = turned, sped
        by_state = found.movedim((0, 1, 2), (-3, -2, -1))
        return Derivatives(*by_state.split((STATES, NUMBERS), -1))

    @cached_property
    def _slopes(self) -> Float[Tensor, "2 15 short *batch"]:
        """Return derivatives of both accelerations, by states and numbers, of all short steps."""
        before = self.passed[:, :-1].detach().clone().requires_grad_()
        numbers = self.numbers.detach()[:, None].expand(-1, *before.shape[1:]).clone()
        numbers.requires_grad_()
        with torch.enable_grad():
            found = accelerations(numbers, before[:2], before[2:], self.carried)
            rows = [
                torch.cat(torch.autograd.grad(each.sum(), (before, numbers), retain_graph=True))
                for each in found
            ]
        return torch.stack(rows)


def move(
    numbers: Float[Tensor, "*batch 11"],
    starts: Float[Tensor, "*batch 4"],
    carried: Float[Tensor, "*#batch short 9"],
    *,
    short: float,
    substeps: int,
) -> BoxMotion:
    """Return motions from starts, in short steps of a duration in s.

    Args:
        carried: At the start of each short step.
        substeps: Short steps of a step.
    """
    batch = starts.shape[:-1]
    own = numbers.expand(*batch, NUMBERS).movedim(-1, 0).contiguous()
    held = carried.expand(*batch, *carried.shape[-2:]).movedim((-1, -2), (0, 1))
    count = held.shape[1]
    passed = starts.new_empty(STATES, count + 1, *batch)
    passed[:, 0] = starts.movedim(-1, 0)
    angles, rates = passed[:2, 0], passed[2:, 0]
    for number in range(count):
        first, second = accelerations(own, angles, rates, held[:, number])
        rates = rates + short * torch.stack((first, second))
        angles = angles + short * rates
        passed[:2, number + 1], passed[2:, number + 1] = angles, rates
    return BoxMotion(own, held, passed, short, substeps)


def accelerations(
    numbers: Float[Tensor, "11 ..."],
    angles: Float[Tensor, "2 ..."],
    rates: Float[Tensor, "2 ..."],
    carried: Float[Tensor, "9 ..."],
) -> tuple[Float[Tensor, "..."], Float[Tensor, "..."]]:
    """Return those of both angles, rad/s^2, of boxes side by side."""
    moment, inertia, damping = numbers[:3], numbers[3:9], numbers[9:]
    (sine_1, sine_2), (cosine_1, cosine_2), (r1, r2) = angles.sin(), angles.cos(), rates
    spin, turning, pull = (
        _turned_back(carried[place : place + 3], sine_1, cosine_1, sine_2, cosine_2)
        for place in (0, 3, 6)
    )
    own = cosine_2 * r1, r2, sine_2 * r1
    whole = tuple(a + b for a, b in zip(spin, own, strict=True))
    drift_x, drift_y, drift_z = (a - b for a, b in zip(turning, _cross(own, spin), strict=True))
    both = r1 * r2
    drift = drift_x - sine_2 * both, drift_y, drift_z + cosine_2 * both
    parts = _times(inertia, drift), _cross(whole, _times(inertia, whole)), _cross(moment, pull)
    load_x, load_y, load_z = (a + b + c for a, b, c in zip(*parts, strict=True))
    force_1 = -damping[0] * r1 - cosine_2 * load_x - sine_2 * load_z
    force_2 = -damping[1] * r2 - load_y
    xx, yy, zz, xy, xz, yz = inertia
    mass_11 = cosine_2 * (cosine_2 * xx + 2.0 * sine_2 * xz) + sine_2**2 * zz
    mass_12 = cosine_2 * xy + sine_2 * yz
    inverse = 1.0 / (mass_11 * yy - mass_12**2)
    return (
        inverse * (yy * force_1 - mass_12 * force_2),
        inverse * (mass_11 * force_2 - mass_12 * force_1),
    )


Vector = tuple[Tensor, Tensor, Tensor]


def _turned_back(
    vector: Float[Tensor, "3 ..."],
    sine_1: Tensor,
    cosine_1: Tensor,
    sine_2: Tensor,
    cosine_2: Tensor,
) -> Vector:
    """Return a vector of the flange in coordinates of the box: by the transpose of Rx Ry."""
    x, y, z = vector
    tilted_y, tilted_z = cosine_1 * y + sine_1 * z, cosine_1 * z - sine_1 * y
    return cosine_2 * x - sine_2 * tilted_z, tilted_y, sine_2 * x + cosine_2 * tilted_z


def _cross(a: Vector | Tensor, b: Vector | Tensor) -> Vector:
    (ax, ay, az), (bx, by, bz) = a, b
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


def _times(inertia: Float[Tensor, "6 ..."], b: Vector) -> Vector:
    (xx, yy, zz, xy, xz, yz), (x, y, z) = inertia, b
    return xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z
