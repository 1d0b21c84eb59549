"""The likelihood is the density of what the simulator draws."""

import numpy as np
import pytest
from scipy import integrate, stats

from ricochet.models.systems.batting.impact_law import Contact, Law, impulse, inverse_mass
from ricochet.models.systems.batting.impacts import likelihood, recorded
from tests.models.systems.batting.tables import TRUTH, table, turned

CONTACT = Contact(0.005, 6e-4, -0.4, 0.15, -1.0, 0.8)


def core(law: Law, j_n: float, j_t: float) -> float:
    scale = 1.0 - likelihood.OUTLIERS
    return float(np.exp(likelihood.log_core(law, CONTACT, j_n, j_t))) / scale


@pytest.mark.parametrize(
    "law", [Law(0.8, 0.5, 0.4, 0.0, 0.05, 0.1), Law(0.1, 0.2, 0.9, 0.0, 0.3, 0.2)]
)
def test_the_core_is_a_density_of_impulses_that_leave(law: Law) -> None:
    """Mirrored noise included, it has all its mass where the contact leaves."""
    a, b, _ = inverse_mass(CONTACT)
    p_n, p_t = impulse(law, CONTACT)
    s_n, s_t = law.normal_share * p_n, law.tangential_share * p_n
    mass, _ = integrate.dblquad(
        lambda j_n, j_t: core(law, j_n, j_t),
        p_t - 6.0 * s_t,
        p_t + 6.0 * s_t,
        lambda j_t: max(-(CONTACT.v_n + b * j_t) / a, p_n - 6.0 * s_n),
        lambda j_t: p_n + 8.0 * s_n,
        epsabs=1e-5,
    )
    assert mass == pytest.approx(1.0, abs=1e-3)


def test_where_nothing_is_mirrored_it_is_the_normal_density() -> None:
    law = Law(0.9, 0.5, 0.4, 0.0, 0.02, 0.03)
    p_n, p_t = impulse(law, CONTACT)
    own = stats.norm.pdf(1.01 * p_n, p_n, 0.02 * p_n) * stats.norm.pdf(p_t, p_t, 0.03 * p_n)
    assert core(law, 1.01 * p_n, p_t) == pytest.approx(own)


def test_draws_of_the_simulator_have_the_density() -> None:
    """Of the distances from zero normal velocity, by Kolmogorov."""
    law = Law(0.1, 0.2, 0.9, 0.0, 0.3, 0.2)
    noise = np.random.default_rng(0).normal(size=(4000, 2))
    drawn = recorded.impulses(law, np.tile(np.array(CONTACT), (4000, 1)), noise)
    a, b, _ = inverse_mass(CONTACT)
    leaving = CONTACT.v_n + a * drawn[:, 0] + b * drawn[:, 1]
    p_n, _ = impulse(law, CONTACT)
    sd = p_n * np.hypot(0.3 * a, 0.2 * b)
    folded = stats.foldnorm(0.1 / sd, scale=sd)
    assert stats.kstest(leaving, folded.cdf).pvalue > 0.001
    for far, j_n, j_t in zip(leaving[:20], *drawn[:20].T, strict=True):
        assert far >= 0.0 and core(law, j_n, j_t) > 0.0


def test_the_whole_is_the_sum_over_impacts_in_any_order_and_axes() -> None:
    impacts = table(0, 30)
    theta = TRUTH + np.array((0.0, 0.1, -0.05, 0.01, 0.0)) * np.arange(3)[:, None]
    whole = likelihood.log_likelihoods(theta, impacts.contacts, impacts.impulse)
    one = [
        likelihood.log_likelihoods(theta, each.contacts, each.impulse)
        for each in (impacts.take(np.array([k])) for k in range(30))
    ]
    np.testing.assert_allclose(np.sum(one, axis=0), whole)
    other = turned(impacts.take(np.arange(30)[::-1]), 0.4)
    again = likelihood.log_likelihoods(theta, other.contacts, other.impulse)
    np.testing.assert_allclose(again, whole)


def test_an_impact_far_from_the_law_informs_of_nothing() -> None:
    impacts = table(1, 2)
    theta = TRUTH + np.array((0.02, 0.0, 0.0, 0.0, 0.0)) * np.arange(3)[:, None]
    wild = impacts.impulse * 50.0
    found = likelihood.log_likelihoods(theta, impacts.contacts, wild)
    np.testing.assert_allclose(found, found[0], atol=1e-9)
    chances = likelihood.outlier_probabilities(theta, impacts.contacts, wild)
    np.testing.assert_allclose(chances, 1.0)
