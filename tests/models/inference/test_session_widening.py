"""Intervals widened for a session to come hold in it, on average, however few were known."""

import numpy as np
import pytest
from scipy import integrate, stats

from ricochet.models.inference import session_widening
from ricochet.models.inference.session_widening import PRIOR_SESSIONS, SPREAD, factor

WORLDS, NEXT, NORMAL = 600, 20, float(stats.norm.ppf(0.95))


def test_a_factor_is_that_of_the_integral_over_the_next_session() -> None:
    needed = np.array([0.8, 1.1, 1.9])
    logs, freedom = np.log(needed), 2.0 + PRIOR_SESSIONS
    variance = (((logs - logs.mean()) ** 2).sum() + PRIOR_SESSIONS * SPREAD**2) / freedom
    predictive = stats.t(freedom, logs.mean(), np.sqrt(variance * (1.0 + 1.0 / 3.0)))

    def held(log_width: float) -> float:
        share = 2.0 * stats.norm.cdf(NORMAL * factor(needed) / np.exp(log_width)) - 1.0
        return float(share * predictive.pdf(log_width))

    assert integrate.quad(held, -30.0, 30.0, limit=400, points=[0.0])[0] == pytest.approx(
        0.9, abs=2e-3
    )


@pytest.mark.proof
@pytest.mark.parametrize("known", [2, 4, 7])
def test_intervals_hold_in_the_next_session_where_sessions_differ_as_believed(known: int) -> None:
    """Mean share of frames held in sessions to come; its error is that of WORLDS shares.

    The frames of known sessions together would hold less.
    """
    draw = np.random.default_rng(known)
    shares, pooled = np.empty(WORLDS), np.empty(WORLDS)
    for world in range(WORLDS):
        needed = np.exp(0.35 * draw.standard_normal(known))
        following = np.exp(0.35 * draw.standard_normal(NEXT))
        frames = np.abs(draw.standard_normal((known, 300))) * needed[:, None]
        shares[world] = _held(factor(needed), following)
        pooled[world] = _held(float(np.quantile(frames, 0.9)) / NORMAL, following)
    error = 4.0 * shares.std() / np.sqrt(WORLDS)
    assert 0.9 - error < shares.mean() < 0.92 + error
    assert pooled.mean() < shares.mean() - 0.005


def test_a_factor_goes_with_the_unit_and_not_with_the_order() -> None:
    needed = np.array([0.7, 1.0, 1.6, 1.2])
    assert factor(3.0 * needed) == pytest.approx(3.0 * factor(needed))
    assert factor(needed[::-1]) == pytest.approx(factor(needed))


def test_fewer_sessions_and_sessions_that_differ_more_widen_more() -> None:
    assert factor(np.ones(2)) > factor(np.ones(4)) > factor(np.ones(40)) > 1.0
    assert factor(np.array([0.5, 2.0])) > factor(np.array([0.8, 1.25]))


@pytest.mark.parametrize("needed", [[], [1.0, 0.0], [np.nan], [np.inf, 1.0]])
def test_factors_that_are_none_are_refused(needed: list[float]) -> None:
    with pytest.raises(ValueError, match="factors of sessions"):
        session_widening.factor(np.array(needed))


def _held(wide: float, following: np.ndarray) -> float:
    return float((2.0 * stats.norm.cdf(NORMAL * wide / following) - 1.0).mean())
