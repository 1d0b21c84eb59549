"""Hidden Markov chains of few states: what is believed after each observation.

    p_t(i)  proportional to  L_t(i) sum_j p_{t-1}(j) A(j, i)

with A the probabilities of going from j to i and L_t(i) the likelihood of observation t in state i.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray


def forward(
    likelihoods: Float[ndarray, "time state"],
    transition: Float[ndarray, "state state"],
    initial: Float[ndarray, " state"],
) -> Float[ndarray, "time state"]:
    """Return the probabilities of the states after each observation.

    >>> stay = np.array([[0.7, 0.3], [0.3, 0.7]])
    >>> forward(np.array([[0.9, 0.1], [0.5, 0.5]]), stay, np.array([0.5, 0.5])).round(2)
    array([[0.9 , 0.1 ],
           [0.66, 0.34]])

    Args:
        likelihoods: Of each observation in each state, up to a factor.
        transition: Rows sum to one.
        initial: Before the first step to the first observation.

    Raises:
        ValueError: If an observation is impossible in all states that can be.
    """
    found, now = np.empty(likelihoods.shape), initial
    for place, likelihood in enumerate(likelihoods):
        now = likelihood * (now @ transition)
        total = now.sum()
        if not total > 0.0:
            raise ValueError(f"likelihoods[{place}] is {likelihood}, impossible in every state")
        now = now / total
        found[place] = now
    return found
