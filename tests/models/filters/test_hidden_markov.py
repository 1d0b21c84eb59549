"""Hidden Markov chains against sums over all paths."""

from itertools import pairwise, product

import numpy as np
import pytest

from ricochet.models.filters import hidden_markov

STAY = np.array([[0.7, 0.3], [0.3, 0.7]])


def test_forward_probabilities_are_sums_over_all_paths() -> None:
    draw = np.random.default_rng(0)
    transition = draw.dirichlet(np.ones(3), 3)
    initial, likelihoods = draw.dirichlet(np.ones(3)), draw.uniform(0.1, 1.0, (5, 3))
    weights = np.zeros(3)
    for path in product(range(3), repeat=6):
        steps = [transition[a, b] for a, b in pairwise(path)]
        seen = [likelihoods[place, state] for place, state in enumerate(path[1:])]
        weights[path[-1]] += initial[path[0]] * np.prod(steps) * np.prod(seen)
    found = hidden_markov.forward(likelihoods, transition, initial)
    np.testing.assert_allclose(found[-1], weights / weights.sum(), rtol=1e-12)


def test_what_is_seen_in_every_state_alike_says_nothing() -> None:
    found = hidden_markov.forward(np.full((60, 2), 0.4), STAY, np.array([1.0, 0.0]))
    np.testing.assert_allclose(found[-1], [0.5, 0.5], atol=1e-9)


def test_exchanged_states_are_believed_exchanged() -> None:
    likelihoods = np.random.default_rng(1).uniform(0.1, 1.0, (8, 2))
    one = hidden_markov.forward(likelihoods, STAY, np.array([0.2, 0.8]))
    other = hidden_markov.forward(likelihoods[:, ::-1], STAY, np.array([0.8, 0.2]))
    np.testing.assert_allclose(one, other[:, ::-1])


def test_the_impossible_is_refused() -> None:
    with pytest.raises(ValueError, match="impossible in every state"):
        hidden_markov.forward(np.array([[0.0, 1.0]]), np.eye(2), np.array([1.0, 0.0]))
