"""Which way a drawer moves, as Baum et al. find it (Sec. III-B, IV-B): a rule and its filter.

With s_t the unit vector towards the sound of frame t and a the axis along which the drawer opens,

    d_t = (s_t - s_{t-1}) / |s_t - s_{t-1}|                                              (2)
    sign_t = sign of d_t . a

is filtered by a hidden Markov chain in which a sign stays with probability 0.7. How far a single
sign is to be believed the paper leaves open: `reliability` is the share that is right, as in Table
I. Where the sound comes from the same direction twice there is no sign. (With 0.7 what was believed
fades to less than what one sign says, whatever its reliability: the filter changes no sign, and
goes on with the last one where there is none.)
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.filters import hidden_markov

STAYS = 0.7
RELIABILITY = 0.6  # of a sign; Table I prints 0.57 to 0.63


def signs(
    sources: Float[ndarray, "frame 3"], axis: Float[ndarray, " 3"]
) -> Float[ndarray, " frame"]:
    """Return 1 for opening, -1 for closing, 0 for neither (Eq. 2); the first has no sign.

    >>> signs(np.array([[1.0, 0, 0], [0.6, 0.8, 0], [0.6, 0.8, 0]]), np.array([0.0, 1.0, 0.0]))
    array([0., 1., 0.])
    """
    moved = np.diff(sources, axis=0, prepend=sources[:1])
    return np.sign(moved @ axis)


def filtered(
    found: Float[ndarray, " frame"], reliability: float = RELIABILITY
) -> Float[ndarray, " frame"]:
    """Return the likelier sign after each frame, by those up to it; 0 where both are as likely.

    >>> filtered(np.array([1.0, -1.0, 1.0, 0.0]))
    array([ 1., -1.,  1.,  1.])

    Args:
        found: Of each frame, as `signs` gives them.
        reliability: Probability that one is right.
    """
    right = np.where(found == 0.0, 0.5, reliability)
    opening = np.where(found > 0.0, right, 1.0 - right)
    likelihoods = np.stack([1.0 - opening, opening], axis=1)
    stays = np.array([[STAYS, 1.0 - STAYS], [1.0 - STAYS, STAYS]])
    believed = hidden_markov.forward(likelihoods, stays, np.array([0.5, 0.5]))
    return np.sign(np.round(believed[:, 1] - believed[:, 0], 12))
