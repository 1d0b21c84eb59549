r"""What the bounce times of drops say of a ball: quadrature over the family of `contact` and `air`.

For each law of restitution by speed, with y the coordinates below and the prior of `parameters`,

    p(law, y | times) ~ p(law) p(y) prod_drops p(times of the drop | y)          (`drop_times`).

    coordinate          prior
    logit restitution   restitution uniform in RANGE
    slope               as in `parameters`; the linear law alone has one
    log scatter         N(log 0.004, 1.2^2): of the contact, and of collision noise as well
    log jitter          N(log 0.1 ms, 1.2^2): ringing and echoes, from tens of microseconds to 1 ms
    log drag            as in `parameters`, of an unknown ball if no other is given

The integral is that of `times_quadrature`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from scipy import special

from ricochet.models.systems.bouncing_ball import restitution_laws as laws
from ricochet.models.systems.bouncing_ball.calibration import drop_times, times_quadrature
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Ball, Drop
from ricochet.models.systems.bouncing_ball.calibration.times_quadrature import Problem
from ricochet.models.systems.bouncing_ball.chains import parameters
from ricochet.models.systems.bouncing_ball.restitution_laws import RestitutionLaw

LAWS: Mapping[str, RestitutionLaw] = {
    "constant": laws.constant,
    "linear": laws.linear,
    "viscoelastic": laws.viscoelastic,
}
"""Members of the family, each as probable as any other in advance."""
_LINEAR = list(LAWS).index("linear")


@dataclass(frozen=True)
class Posterior:
    """Weighted points of the posterior over the laws and their parameters.

    Attributes:
        balls: One entry a point.
        member: Number of the law of each point, as in `LAWS`.
        weights: They add up to 1.
        log_evidence: Log density of the times after each drop's first, s^-1 each.
    """

    balls: Ball
    member: Int[ndarray, " point"]
    weights: Float[ndarray, " point"]
    log_evidence: float

    def restitution(self, speed: float) -> Float[ndarray, " point"]:
        """Return every point's restitution at an impact speed, m/s."""
        found = np.empty_like(self.weights)
        at = np.asarray(speed, dtype=np.float64)
        for number, law in enumerate(LAWS.values()):
            here = self.member == number
            found[here] = law(self.balls.restitution[here], self.balls.slope[here], at)
        return found

    def moments(self, speed: float) -> tuple[float, float]:
        """Return mean and standard deviation of restitution at an impact speed, m/s."""
        values = self.restitution(speed)
        mean = (self.weights * values).sum()
        return float(mean), math.sqrt(float((self.weights * (values - mean) ** 2).sum()))

    def members(self) -> dict[str, float]:
        """Return the probability of each law."""
        return {
            name: float(self.weights[self.member == number].sum())
            for number, name in enumerate(LAWS)
        }

    def only(self, name: str) -> "Posterior":
        """Return the posterior given that one law holds; the evidence stays that of all."""
        here = self.member == list(LAWS).index(name)
        balls = Ball(*(value[here] for value in vars(self.balls).values()))
        weights = self.weights[here] / self.weights[here].sum()
        return Posterior(balls, self.member[here], weights, self.log_evidence)


def infer(drops: Sequence[Drop], drag: tuple[float, float] = parameters.UNKNOWN_DRAG) -> Posterior:
    """Return the posterior of the ball that made all the drops.

    Args:
        drag: Centre and spread of the prior of log drag, 1/m.

    Raises:
        ValueError: If there is no drop, or one has fewer than three ascending finite times, or
            misses a bounce between the first two.
    """
    _check(drops)
    with np.errstate(all="ignore"):  # far points overflow, and weigh nothing
        parts = [
            times_quadrature.integrate(Problem(drops, law, sloped=number == _LINEAR, drag=drag))
            for number, law in enumerate(LAWS.values())
        ]
    balls, logs = zip(*parts, strict=True)
    members = [np.full(each.shape, number) for number, each in enumerate(logs)]
    log_weights = np.concatenate(logs) - math.log(len(LAWS))
    log_evidence = special.logsumexp(log_weights)
    columns = zip(*(vars(ball).values() for ball in balls), strict=True)
    return Posterior(
        Ball(*(np.concatenate(column) for column in columns)),
        np.concatenate(members),
        np.exp(log_weights - log_evidence),
        float(log_evidence),
    )


def predictive(drop: Drop, given: Posterior) -> float:
    """Return the log density of another drop's times after the first, s^-1 each."""
    with np.errstate(divide="ignore"):
        total = np.log(given.weights)
    for number, law in enumerate(LAWS.values()):
        here = given.member == number
        balls = Ball(*(value[here] for value in vars(given.balls).values()))
        total[here] += drop_times.log_likelihood(drop, balls, law=law)
    return float(special.logsumexp(np.nan_to_num(total, nan=-math.inf)))


def _check(drops: Sequence[Drop]) -> None:
    if not drops:
        raise ValueError("drops: there is none")
    for index, drop in enumerate(drops):
        times = np.asarray(drop.times)
        ascending = np.isfinite(times).all() and (np.diff(times) > 0.0).all()
        if len(times) < 3 or not ascending:
            found = f"got {len(times)}"
            raise ValueError(f"drops[{index}]: need three or more ascending times, {found}")
        if 0 in drop.missing:
            raise ValueError(f"drops[{index}]: a bounce is missing between the first two")
