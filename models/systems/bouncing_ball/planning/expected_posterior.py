"""What a session that has not been recorded would tell: the expected posterior deviations.

The answer of whole takes is a mixture over members (`chains.family`). About the maximum of each
member's density the posterior is nearly normal (Laplace), so that a simulated session of the
design needs a search a member and no draws:

    p(y | takes) ~ sum_m w_m N(y_m, C_m),    w_m from the evidences,    sd^2 = E var + var E.

No asymptotic law in the number of takes is assumed: errors that all takes share, priors of what a
session cannot tell, and members that rule one another out are in it as in a calibration.
"""

from collections.abc import Collection, Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.chains import family, observations, peaks
from ricochet.models.systems.bouncing_ball.chains.log_density import FAR
from ricochet.models.systems.bouncing_ball.chains.observations import Take
from ricochet.models.systems.bouncing_ball.chains.parameters import NAMES, Prior
from ricochet.models.systems.bouncing_ball.chains.peaks import Mode
from ricochet.models.systems.bouncing_ball.planning import planned_sessions
from ricochet.models.systems.bouncing_ball.planning.planned_sessions import (
    KnownBall,
    Rig,
    Session,
)

_LOOSE = {"log_scatter": np.log(2e-3), "log_take_scatter": np.log(1e-3)}


def deviations(
    ball: KnownBall,
    session: Session,
    rig: Rig,
    *,
    drag: tuple[float, float],
    members: Collection[str],
    draw: np.random.Generator,
) -> Float[ndarray, " 2"]:
    """Return the posterior deviations of restitution and log10 concentration of one session.

    Args:
        drag: Centre and spread of the prior of log drag, as the calibration has it.
        members: Names of the members to weigh; the others are taken to be ruled out.

    Raises:
        ValueError: If no member is named, or none explains the session.
    """
    takes = planned_sessions.simulate(ball, session, rig, draw=draw)
    return of_takes(takes, ball, drag=drag, members=members)


def of_takes(
    takes: Sequence[Take],
    ball: KnownBall,
    *,
    drag: tuple[float, float],
    members: Collection[str],
) -> Float[ndarray, " 2"]:
    """Return the same of simulated takes.

    Raises:
        ValueError: If no member is named, or none explains the session.
    """
    chains = observations.grouped(takes)
    modes = []
    for name, prior in family.members(drag).items():
        if name in members:
            with np.errstate(all="ignore"):  # a step too far is not taken
                mode = peaks.find(chains, prior, _start(prior, ball.theta))
            modes += [mode] if mode is not None and mode.height > FAR else []
    if not modes:
        raise ValueError(f"members: none of {sorted(members)} explains the session")
    return _mixed(modes)


def _start(prior: Prior, theta: Float[ndarray, " parameter"]) -> Float[ndarray, " parameter"]:
    """Start at the truth with wide scatters, from which a search comes down but does not climb."""
    start = theta.copy()
    for name, loose in _LOOSE.items():
        number = NAMES.index(name)
        start[number] = max(start[number], loose)
    start[prior.absent] = prior.centre[prior.absent]
    return start


def _mixed(modes: list[Mode]) -> Float[ndarray, " 2"]:
    logs = np.array([mode.log_evidence for mode in modes])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    means = np.array([mode.density.point[:2] for mode in modes])
    within = np.array([np.diag(mode.covariance)[:2] for mode in modes])
    centre = weights @ means
    return np.asarray(np.sqrt(weights @ (within + (means - centre) ** 2)))
