r"""How probable it is that an opponent's mallet meets a puck before the goal line.

Near the line a puck goes straight, p(t) = p_0 + v t, and so, for as long as that takes, does the
mallet, o(t) = o_0 + u t. With t_0 the time at which the puck is as far as the mallet, w = v - u,
they pass at the distance d, on one side or the other, and touch if |d| is below the contact's
radius R:

    d = (p - o) x w / |w|,        P = Phi((R - d) / s) - Phi((-R - d) / s),

s being the deviation of p - o across w: of the puck's place on the line and of the mallet's
forecast. Where the mallet stands behind the line nothing is blocked. Places are in m, times in s.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy.special import ndtr

from ricochet.models.systems.air_hockey.opponent.tracker import OpponentTracker
from ricochet.models.systems.air_hockey.shots.crossings import Crossing
from ricochet.models.systems.air_hockey.table import Table

_ROUNDS = 2  # of finding when the puck is as far as the mallet
_LEAST_SD = 1e-3  # m


def block_probability(
    opponent: OpponentTracker,
    crossing: Crossing,
    table: Table,
    *,
    until_contact: Float[ndarray, "*batch"],
) -> Float[ndarray, "*batch"]:
    """Return the probability that pucks are blocked; 0 for those that do not arrive.

    Args:
        until_contact: How long it is until each puck is struck, s; times of crossings count from
            there.
    """
    arrives = crossing.arrives
    found = np.zeros(arrives.shape)
    if not (opponent.is_there and arrives.any()):
        return found
    line = np.stack((np.full(arrives.sum(), table.half_length), crossing.y[arrives]), -1)
    velocity = crossing.velocity[arrives]
    when = (until_contact + crossing.time)[arrives]
    early = np.zeros_like(when)
    for _ in range(_ROUNDS):
        mallet = opponent.forecast(np.maximum(when - early, 0.0))
        early = (table.half_length - mallet.place[:, 0]) / velocity[:, 0]
    apart = line - early[:, None] * velocity - mallet.place
    against = velocity - mallet.velocity
    across = np.stack((-against[:, 1], against[:, 0]), -1)
    across /= np.linalg.norm(against, axis=-1, keepdims=True)
    spread = mallet.sd**2 + np.stack((0.0 * when, crossing.sd[arrives] ** 2), -1)
    sd = np.sqrt((spread * across**2).sum(-1) + _LEAST_SD**2)
    off = (apart * across).sum(-1)
    radius = table.contact_radius
    chance = ndtr((radius - off) / sd) - ndtr((-radius - off) / sd)
    found[arrives] = np.where(early > 0.0, chance, 0.0)
    return found
