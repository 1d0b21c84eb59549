"""Draws of a contact as they are used while a ball is in the air: columns, restitution tabulated.

What `contact` and `contact_draws` say in torch, in numpy for some hundreds or thousands of balls.
Restitution is tabulated for each draw at equally spaced roots of the speed, where all laws are
smooth, and taken as linear between them, which is right to 3e-5 from 0.1 m/s on; draws of constant
restitution have one entry. The factor 1 + s n of the exit speed is kept above a tenth.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray
from torch import Tensor

from ricochet.models.probability import von_mises_fisher
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws

FASTEST = 16.0
"""Speed of impact, m/s, above which restitution is taken to be what it is there."""
_NODES = 129
_SLOWEST_FACTOR = 0.1
_TOGETHER = 8192


@dataclass(frozen=True)
class ContactTable:
    """Draws of a contact and of the air about it, as columns.

    Attributes:
        restitution: By speed, or a single column where it is constant for all.
        concentration, tail_share, tail_ratio, scatter: As in `contact.Contact`.
        kept: Share of the tangential speed that a contact leaves, 1 - l.
        drag: k of the air, 1/m.
    """

    restitution: Float[ndarray, "draw node"]
    concentration: Float[ndarray, " draw"]
    kept: Float[ndarray, " draw"]
    tail_share: Float[ndarray, " draw"]
    tail_ratio: Float[ndarray, " draw"]
    scatter: Float[ndarray, " draw"]
    drag: Float[ndarray, " draw"]

    def __len__(self) -> int:
        """Number of draws."""
        return len(self.concentration)

    @property
    def spread(self) -> Float[ndarray, " draw"]:
        """Variance of the exit direction on each axis, of both components together, rad^2.

        That of each is at most 1, about that of any direction that leaves.
        """
        narrow = np.maximum(self.concentration, 1.0)
        wide = 1.0 / np.maximum(self.tail_ratio * self.concentration, 1.0)
        return np.asarray((1.0 - self.tail_share) / narrow + self.tail_share * wide)

    @property
    def airless(self) -> bool:
        """Whether no draw meets any air."""
        return not self.drag.any()


def tabulate(draws: ContactDraws) -> ContactTable:
    """Tabulate draws.

    >>> from ricochet.models.systems.bouncing_ball import contact_draws
    >>> table = tabulate(contact_draws.of_pairs(torch.tensor([[0.8, 3.0]])))
    >>> restitution(table, np.array([0]), np.array([2.5])).round(3).tolist()
    [0.8]
    """
    contact = draws.contact
    constant = not bool(draws.viscoelastic.any() | contact.slope.any())
    roots = torch.linspace(0.0, FASTEST**0.5, _NODES, dtype=torch.float64)
    speeds = roots[-1:] ** 2 if constant else roots**2
    columns = (
        contact.concentration, 1.0 - contact.tangential_loss, contact.tail_share,
        contact.tail_ratio, contact.scatter, draws.drag,
    )  # fmt: skip
    return ContactTable(_tabulated(draws, speeds), *(column.numpy().copy() for column in columns))


def _tabulated(draws: ContactDraws, speeds: Float[Tensor, " node"]) -> Float[ndarray, "draw node"]:
    """Return the restitution of each draw at each speed, some thousand draws at a time."""
    found = np.empty((len(draws.drag), len(speeds)))
    for begin in range(0, len(found), _TOGETHER):
        some = slice(begin, begin + _TOGETHER)
        found[some] = draws.rows(some).restitution(speeds[:, None]).T.numpy()
    return found


def restitution(
    table: ContactTable, row: Int[ndarray, "*#batch"], speed: Float[ndarray, "*#batch"]
) -> Float[ndarray, "*batch"]:
    """Return the restitution of some draws, by their numbers, at speeds of impact, m/s."""
    if table.restitution.shape[1] == 1:
        return np.asarray(table.restitution[row, 0] + 0.0 * speed)
    place = np.sqrt(np.minimum(speed / FASTEST, 1.0)) * (_NODES - 1)
    node = np.minimum(place.astype(np.int64), _NODES - 2)
    low, high = table.restitution[row, node], table.restitution[row, node + 1]
    return np.asarray(low + (place - node) * (high - low))


def bounce(
    table: ContactTable,
    row: Int[ndarray, " ball"],
    impact: Float[ndarray, "3 ball"],
    *,
    draw: np.random.Generator,
) -> Float[ndarray, "3 ball"]:
    """Draw exit velocities, m/s, all of which leave the surface; see `contact.bounce`.

    Args:
        row: Which draw each ball follows.
        impact: Velocity on arrival, m/s; the third component is along the normal, of any sign.
    """
    speed = np.abs(impact[2])
    rise = (restitution(table, row, speed) * speed)[None]
    mean = np.concatenate((table.kept[row] * impact[:2], rise))
    concentration = table.concentration[row]
    if table.scatter.any():
        factor = 1.0 + table.scatter[row] * draw.standard_normal(len(row))
        mean *= np.maximum(factor, _SLOWEST_FACTOR)
    if table.tail_share.any():
        wide = draw.random(len(row)) < table.tail_share[row]
        concentration = np.where(wide, table.tail_ratio[row], 1.0) * concentration
    drawn = von_mises_fisher.redirect_few(mean, concentration, draw=draw)
    while (down := drawn[2] <= 0.0).any():
        again = von_mises_fisher.redirect_few(mean[:, down], concentration[down], draw=draw)
        drawn[:, down] = again
    return drawn
