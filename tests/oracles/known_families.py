"""A family whose draws are given, not inferred."""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.chains import family
from ricochet.models.systems.bouncing_ball.chains.family import Family
from ricochet.models.systems.bouncing_ball.chains.parameters import NAMES
from ricochet.models.systems.bouncing_ball.chains.paths import Paths
from ricochet.models.systems.bouncing_ball.chains.posterior import Member

UNKNOWN = family.drag_prior(None, 20.0)


def draws(count: int, **columns: float | Float[ndarray, " draw"]) -> Float[ndarray, "draw name"]:
    """Return draws at the prior's centre but for the columns that are given."""
    theta = np.tile(family.prior(family.LAWS["linear"], UNKNOWN).centre, (count, 1))
    for name, values in columns.items():
        theta[:, NAMES.index(name)] = values
    return theta


def family_of(theta: Float[ndarray, "draw name"], member: Int[ndarray, " draw"]) -> Family:
    """Return the family of some draws, each of the member whose number is given."""
    nowhere = Paths((), np.zeros((1, 1, 1)))
    members = {
        name: Member(
            family.prior(law, UNKNOWN),
            theta[:1],
            np.ones(1),
            0.0,
            1.0,
            theta[0],
            np.eye(1),
            (),
            nowhere,
        )
        for name, law in family.LAWS.items()
    }
    shares = np.bincount(member, minlength=3) / len(member)
    return Family(members, dict(zip(members, shares.tolist(), strict=True)), theta, member)
