"""Sets of chains: errors as textbooks have them, laws that are one and laws that are not."""

import numpy as np
import pytest

from ricochet.models.inference import chain_agreement


def slow_chains(draw, rounds=20, chains=16, size=8, memory=0.8):
    """Chains of a normal law that hang together from round to round."""
    found = [draw.normal(size=(chains, size))]
    for _ in range(rounds - 1):
        fresh = draw.normal(size=(chains, size))
        found.append(memory * found[-1] + np.sqrt(1.0 - memory**2) * fresh)
    return np.array(found)


def test_the_error_of_a_mean_is_that_of_the_chains_means() -> None:
    draw = np.random.default_rng(0)
    one, other = slow_chains(draw), slow_chains(draw, chains=9)
    found = chain_agreement.compare(one, other).mean
    scale = other.std((0, 1))
    expected = [(each.mean(0) / scale).var(0, ddof=1) / each.shape[1] for each in (one, other)]
    np.testing.assert_allclose(found.error, np.sqrt(sum(expected)), rtol=1e-9)
    apart = (one.mean((0, 1)) - other.mean((0, 1))) / scale
    np.testing.assert_allclose(found.value, apart, rtol=1e-9)
    assert found.degrees == 8


def test_units_do_not_matter_and_a_stretch_is_its_logarithm() -> None:
    draw = np.random.default_rng(1)
    one, other = slow_chains(draw), slow_chains(draw)
    units, zero = draw.uniform(0.1, 9.0, 8), draw.normal(size=8)
    plain = chain_agreement.compare(one, other)
    changed = chain_agreement.compare(zero + units * one, zero + units * other)
    np.testing.assert_allclose(changed.mean.value, plain.mean.value, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(changed.width.error, plain.width.error, rtol=1e-6)
    halved = chain_agreement.compare(0.5 * one, other)
    for before, after in ((plain.width, halved.width), (plain.together, halved.together)):
        np.testing.assert_allclose(after.value - before.value, np.log(0.5), rtol=1e-9)


@pytest.mark.proof
def test_one_law_is_refused_as_often_as_stated_and_half_the_width_always() -> None:
    """Of 200 pairs a share of 0.1 is 0.1 +- 0.021: at most 0.164, three errors more."""
    draw, chance, right, squeezed = np.random.default_rng(2), 0.1, [], []
    for _ in range(200):
        one, other = slow_chains(draw), slow_chains(draw, chains=32)
        found = chain_agreement.compare(one, other)
        each = (found.mean, found.width, found.together)
        right.append([abs(d.value[0]) > d.bound(chance)[0] for d in each])
        found = chain_agreement.compare(0.5 * one, other)
        squeezed.append(abs(found.together.value[0]) > found.together.bound(0.001)[0])
    assert np.mean(right, 0).max() <= 0.164
    assert np.mean(right, 0).min() >= 0.036
    assert np.mean(squeezed) == 1.0


def test_too_few_chains_are_refused() -> None:
    with pytest.raises(ValueError, match="3 chains, expected at least 4"):
        chain_agreement.compare(np.ones((5, 3, 2)), np.ones((5, 9, 2)))
