r"""A double pendulum in a vertical plane: two bodies on joints, and how its motion varies.

Angles are of link 1 from straight down and of link 2 from link 1. The bodies enter by a, b, u, v,
p, q, l, d_1 and d_2 of `pendulum_parameters`. With the angles A and B, their rates A' and B',
h = l (p cos B - q sin B), k = dh/dB and G = g (p sin(A + B) + q cos(A + B)),

    (a + b + 2 h) A'' + (b + h) B'' = -k B' (2 A' + B') - g (u sin A + v cos A) - G - d_1 A',
          (b + h) A''   +   b B''   =  k A'^2 - G - d_2 B'.

Steps: Heiden et al., Eq. 12.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.rigid_bodies.pendulum_parameters import (
    COMBINATIONS,
    combinations,
    combinations_by_parameter,
)

STATES = 4
"""Both angles, rad, then both rates, rad/s."""
_VARIED = STATES + COMBINATIONS


@dataclass(frozen=True)
class Jacobian:
    """Derivatives of the states of motions by where they start and by the parameters."""

    by_start: Float[Tensor, "*batch step 4 4"]
    by_parameter: Float[Tensor, "*batch step 4 11"]


def roll_out(
    theta: Float[Tensor, "*#batch 11"],
    starts: Float[Tensor, "*#batch 4"],
    *,
    steps: int,
    duration: float,
    substeps: int = 1,
    gravity: float = GRAVITY,
) -> Float[Tensor, "*batch {steps} 4"]:
    """Return the states after each step of a duration in s, by semi-implicit Euler (Eq. 12).

    Args:
        substeps: Into which each step is divided.
    """
    own, short = combinations(theta), duration / substeps
    state = starts.expand(*own.shape[1:], STATES) if starts.ndim < own.ndim else starts
    angles, rates = state[..., :2].movedim(-1, 0), state[..., 2:].movedim(-1, 0)
    found = []
    for _ in range(steps):
        for _ in range(substeps):
            rates = rates + short * _System(own, angles, rates, gravity).accelerations()
            angles = angles + short * rates
        found.append(torch.cat((angles, rates)))
    return torch.stack(found).movedim((0, 1), (-2, -1))


@dataclass(frozen=True)
class Motion:
    """Motions, and what their derivatives are made of.

    Attributes:
        states: After each step.
    """

    states: Float[Tensor, "*batch step 4"]
    _theta: Float[Tensor, "*#batch 11"]
    _system: "_System"
    _short: float
    _substeps: int

    def gradient(
        self, weights: Float[Tensor, "*batch step 4"]
    ) -> tuple[Float[Tensor, "*batch 4"], Float[Tensor, "*batch 11"]]:
        """Return the gradient of sum(weights * states) by starts and parameters, backwards."""
        given = weights.movedim((-2, -1), (0, 1))
        turning, speeding = torch.zeros_like(given[0, :2]), torch.zeros_like(given[0, :2])
        by_states = self._system.by_states()
        pulls = torch.empty_like(by_states[:, 0])
        for number in reversed(range(pulls.shape[1])):
            step, last = divmod(number + 1, self._substeps)
            if last == 0:
                turning, speeding = turning + given[step - 1, :2], speeding + given[step - 1, 2:]
            speeding = speeding + self._short * turning
            pulls[:, number] = pull = self._short * speeding
            by = (by_states[:, :, number] * pull[:, None]).sum(0)
            turning, speeding = turning + by[:2], speeding + by[2:]
        own = self._system.pulled_back(pulls).movedim(0, -1)
        chained = own[..., None, :] @ combinations_by_parameter(self._theta)
        return torch.cat((turning, speeding)).movedim(0, -1), chained[..., 0, :]

    def jacobian(self) -> Jacobian:
        """Return all derivatives, forwards."""
        by_states, by_combinations = self._system.by_states(), self._system.by_combinations()
        _, _, count, *batch = by_states.shape
        varied = self._theta.new_zeros(STATES, _VARIED, *batch)
        varied[range(STATES), range(STATES)] = 1.0
        turned, sped = varied[:2], varied[2:]
        steps = self.states.shape[-2]
        found = varied.new_empty(steps, STATES, _VARIED, *batch)
        for number in range(count):
            by = by_states[:, :, number]
            changed = by[:, 0, None] * turned[0] + by[:, 1, None] * turned[1]
            changed += by[:, 2, None] * sped[0] + by[:, 3, None] * sped[1]
            changed[:, STATES:] += by_combinations[:, :, number]
            sped = sped + self._short * changed
            turned = turned + self._short * sped
            step, last = divmod(number + 1, self._substeps)
            if last == 0:
                found[step - 1, :2], found[step - 1, 2:] = turned, sped
        by_state = found.movedim((0, 1, 2), (-3, -2, -1))
        by_start, by_combination = by_state.split((STATES, COMBINATIONS), -1)
        return Jacobian(by_start, _chained(by_combination, self._theta))


def _chained(
    by_combination: Float[Tensor, "*batch step 4 9"], theta: Float[Tensor, "*#batch 11"]
) -> Float[Tensor, "*batch step 4 11"]:
    """Pass on to the parameters, in one product for all that share them."""
    chain = combinations_by_parameter(theta)
    if theta.ndim == by_combination.ndim - 2 and theta.ndim > 1 and theta.shape[-2] == 1:
        rows = by_combination.flatten(-4, -2) @ chain[..., 0, :, :]
        return rows.unflatten(-2, by_combination.shape[-4:-1])
    return by_combination @ chain[..., None, :, :]


def move(
    theta: Float[Tensor, "*#batch 11"],
    starts: Float[Tensor, "*#batch 4"],
    *,
    steps: int,
    duration: float,
    substeps: int = 1,
    gravity: float = GRAVITY,
) -> Motion:
    """Return what `roll_out` does, with what its derivatives need."""
    own, short = combinations(theta), duration / substeps
    batch = torch.broadcast_shapes(theta.shape[:-1], starts.shape[:-1])
    state = starts.expand(*batch, STATES).movedim(-1, 0)
    passed = state.new_empty(STATES, steps * substeps + 1, *batch)
    passed[:, 0], angles, rates = state, state[:2], state[2:]
    for number in range(steps * substeps):
        rates = rates + short * _System(own, angles, rates, gravity).accelerations()
        angles = angles + short * rates
        passed[:2, number + 1], passed[2:, number + 1] = angles, rates
    states = passed[:, substeps::substeps].movedim((0, 1), (-1, -2))
    system = _System(own, passed[:2, :-1], passed[2:, :-1], gravity)
    return Motion(states, theta, system, short, substeps)


class _System:
    """The equations of motion at some states: a matrix M and a right side."""

    def __init__(
        self,
        own: Float[Tensor, "9 ..."],
        angles: Float[Tensor, "2 ..."],
        rates: Float[Tensor, "2 ..."],
        gravity: float,
    ) -> None:
        """Evaluate what accelerations and derivatives share."""
        self.own, self.rates, self.gravity = own, rates, gravity
        a, b, u, v, p, q, length, d1, d2 = own
        (first, second), (w1, w2) = angles, rates
        self.sine1, self.cosine1 = gravity * first.sin(), gravity * first.cos()
        self.sine2, self.cosine2 = length * second.sin(), length * second.cos()
        both = first + second
        self.sine12, self.cosine12 = gravity * both.sin(), gravity * both.cos()
        self.h = p * self.cosine2 - q * self.sine2
        self.k = -p * self.sine2 - q * self.cosine2
        self.m11, self.m12, self.m22 = a + b + 2.0 * self.h, b + self.h, b
        self.inverse = 1.0 / (self.m11 * self.m22 - self.m12**2)
        self.swirl = w2 * (2.0 * w1 + w2)
        pull = p * self.sine12 + q * self.cosine12
        self.right1 = -self.k * self.swirl - u * self.sine1 - v * self.cosine1 - pull - d1 * w1
        self.right2 = self.k * w1**2 - pull - d2 * w2

    def accelerations(self) -> Float[Tensor, "2 ..."]:
        """Return both, rad/s^2."""
        return torch.stack(self.found)

    @cached_property
    def found(self) -> tuple[Tensor, Tensor]:
        """Both accelerations, apart."""
        return self._solved(self.right1, self.right2)

    def by_states(self) -> Float[Tensor, "2 4 ..."]:
        """Return the derivatives of the accelerations by angles and rates.

        M A = R gives M dA = dR - dM A, a pair of right sides for each variable.
        """
        _, _, u, v, p, q, _, d1, d2 = self.own
        w1, w2 = self.rates
        by_second = self._by_h(self.k, -self.h)
        pull = p * self.cosine12 - q * self.sine12
        return self._solved_all(
            (
                (v * self.sine1 - u * self.cosine1 - pull, -pull),
                (by_second[0] - pull, by_second[1] - pull),
                (-2.0 * self.k * w2 - d1, 2.0 * self.k * w1),
                (-2.0 * self.k * (w1 + w2), (-d2).expand(w2.shape)),
            )
        )

    def by_combinations(self) -> Float[Tensor, "2 9 ..."]:
        """Return the derivatives of the accelerations by what they depend on."""
        return self._solved_all(self._rights())

    def pulled_back(self, pulls: Float[Tensor, "2 substep ..."]) -> Float[Tensor, "9 ..."]:
        """Return the derivatives of sum(pulls * accelerations) over the substeps."""
        first, second = self._solved(*pulls)  # M is symmetric
        return torch.stack([(first * r1 + second * r2).sum(0) for r1, r2 in self._rights()])

    def _rights(self) -> list[tuple[Tensor, Tensor]]:
        """Return the right sides for the nine combinations."""
        f1, f2 = self.found
        w1, w2 = self.rates
        length, zero = self.own[6], torch.zeros_like(f1)
        by_p, by_q = self._by_h(self.cosine2, -self.sine2), self._by_h(-self.sine2, -self.cosine2)
        return [
            (-f1, zero),
            (-f1 - f2, -f1 - f2),
            (-self.sine1, zero),
            (-self.cosine1, zero),
            (by_p[0] - self.sine12, by_p[1] - self.sine12),
            (by_q[0] - self.cosine12, by_q[1] - self.cosine12),
            self._by_h(self.h / length, self.k / length),
            (-w1, zero),
            (zero, -w2),
        ]

    def _by_h(self, dh: Tensor, dk: Tensor) -> tuple[Tensor, Tensor]:
        """Return the right sides for what changes h and k."""
        f1, f2 = self.found
        return (
            -dk * self.swirl - dh * (2.0 * f1 + f2),
            dk * self.rates[0] ** 2 - dh * f1,
        )

    def _solved(self, right1: Tensor, right2: Tensor) -> tuple[Tensor, Tensor]:
        return (
            self.inverse * (self.m22 * right1 - self.m12 * right2),
            self.inverse * (self.m11 * right2 - self.m12 * right1),
        )

    def _solved_all(self, rights: Sequence[tuple[Tensor, Tensor]]) -> Float[Tensor, "2 row ..."]:
        """Return the solutions for some pairs of right sides."""
        found = self.right1.new_empty(2, len(rights), *self.right1.shape)
        for number, (right1, right2) in enumerate(rights):
            found[0, number], found[1, number] = self._solved(right1, right2)
        return found
