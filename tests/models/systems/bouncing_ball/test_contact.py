"""The family of contacts: the viscoelastic law against its collision, and the draws' laws."""

import math

import pytest
import torch
from scipy import stats

from ricochet.models.systems.bouncing_ball import contact, viscoelastic_restitution
from ricochet.models.systems.bouncing_ball.contact import REFERENCE_SPEED, Contact
from tests.oracles import viscoelastic_collision

NONE = torch.zeros((), dtype=torch.float64)


def _tensor(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize(
    "dissipation, error", [(1e-3, 1e-6), (0.01, 1e-5), (0.03, 1e-4), (0.1, 2e-3)]
)
def test_the_compact_expression_is_the_collision_of_a_viscoelastic_sphere(
    dissipation: float, error: float
) -> None:
    found = float(viscoelastic_restitution.compact(_tensor(dissipation)))
    assert found == pytest.approx(viscoelastic_collision.restitution(dissipation), abs=error)


@pytest.mark.parametrize("law", [contact.constant, contact.linear, contact.viscoelastic])
def test_every_law_has_its_restitution_at_the_reference_speed(law) -> None:
    values = torch.linspace(0.4, 0.99, 13, dtype=torch.float64)
    found = law(values, torch.full_like(values, 0.02), torch.full_like(values, REFERENCE_SPEED))
    torch.testing.assert_close(found, values, rtol=0, atol=1e-9)


def test_a_viscoelastic_ball_loses_less_the_slower_it_is() -> None:
    speeds = torch.linspace(0.05, 5.0, 40, dtype=torch.float64)
    found = contact.viscoelastic(_tensor(0.85).expand(40), NONE, speeds)
    assert bool((found.diff() < 0.0).all()) and float(found[0]) < 1.0
    # 1 - e goes as the fifth root of the speed, to first order
    small = contact.viscoelastic(_tensor(0.999, 0.999), NONE, _tensor(2.0, 2.0 / 32.0))
    assert float((1 - small[1]) / (1 - small[0])) == pytest.approx(0.5, abs=1e-2)


def test_the_linear_law_has_its_slope_and_stays_a_restitution() -> None:
    speeds = _tensor(0.0, 1.0, 3.0, 100.0)
    found = contact.linear(_tensor(0.9).expand(4), _tensor(0.03).expand(4), speeds)
    torch.testing.assert_close(found, _tensor(0.96, 0.93, 0.87, contact.LOWEST))


def _contact(**other: float) -> Contact:
    values = {"restitution": 0.8, "concentration": math.inf, "slope": 0.0, "tangential_loss": 0.0}
    values |= {"tail_share": 0.0, "tail_ratio": 1.0, "scatter": 0.0} | other
    return Contact(**{name: torch.tensor(v, dtype=torch.float64) for name, v in values.items()})


def test_without_noise_a_bounce_keeps_a_share_of_both_speeds() -> None:
    impact = _tensor(0.5, -0.2, -2.0)
    found = contact.bounce(impact, _contact(tangential_loss=0.2), draw=torch.Generator())
    torch.testing.assert_close(found, _tensor(0.4, -0.16, 1.6))


def test_the_scatter_is_that_of_the_exit_speed() -> None:
    impact = _tensor(0.0, 0.0, -2.0).expand(4000, 3)
    draw = torch.Generator().manual_seed(1)
    speeds = contact.bounce(impact, _contact(scatter=0.01), draw=draw)[:, 2]
    # standard error of a standard deviation of 4000: 1.1 %
    assert float(speeds.std()) == pytest.approx(0.016, rel=0.035)


def test_a_share_of_the_redirections_is_wide() -> None:
    """1 - cos is a mixture of two exponentials: Kolmogorov and Smirnov's test of 20,000 draws."""
    draw = torch.Generator().manual_seed(2)
    law = _contact(concentration=1e4, tail_share=0.15, tail_ratio=0.01)
    found = contact.bounce(_tensor(0.0, 0.0, -2.0).expand(20_000, 3), law, draw=draw)
    fall = (1.0 - found[:, 2] / found.norm(dim=-1)).numpy()

    def expected(value):
        return 1 - 0.85 * stats.expon.sf(value * 1e4) - 0.15 * stats.expon.sf(value * 1e2)

    assert stats.kstest(fall, expected).pvalue > 1e-3


def test_every_exit_leaves_the_surface() -> None:
    draw = torch.Generator().manual_seed(3)
    impact = _tensor(2.0, 0.0, -0.1).expand(2000, 3)
    found = contact.bounce(impact, _contact(concentration=5.0), draw=draw)
    assert bool((found[:, 2] > 0.0).all())
