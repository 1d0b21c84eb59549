"""Rows of the methods' table: measured right on a method whose numbers are known."""

import math
from dataclasses import replace

import pytest
import torch

from ricochet.models.probability import boxes
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.problem import PRIOR, Drops
from ricochet.tasks.systems.bouncing_ball.studies import methods, sbi_method
from ricochet.tasks.systems.bouncing_ball.studies.methods import Answers, Method
from tests.oracles.boxes import volume


def simulated(count: int) -> Drops:
    draw = torch.Generator().manual_seed(1)
    return problem.simulate_drops(
        problem.constant_noise((count,)), problem.constant_release((count,)), draw=draw
    )


def prior_with_a_slope(cases: Drops) -> Answers:
    """Answer with a density that grows with restitution and is flat in concentration."""
    grid = torch.cartesian_prod(*boxes.axes(PRIOR, (50, 5)))[:, None].expand(
        250, len(cases.theta), 2
    )
    return Answers(grid, slope(grid).softmax(0), slope(grid), slope(cases.theta))


def slope(theta: torch.Tensor) -> torch.Tensor:
    return (2.0 * (theta[..., 0] - 0.55) / 0.4 + 1e-9).log() - math.log(volume(PRIOR))


def test_a_known_answer_gives_the_known_row() -> None:
    row = methods.evaluate(Method(prior_with_a_slope, 2.5), simulated(600))
    # the mean of the sloped density is 0.55 + 0.4 * 2/3; |u - 2/3| over u ~ U[0, 1] has mean 5/18
    # and sd 0.18: standard error 0.18 * 0.4 / sqrt(600) = 0.003; three of them
    assert abs(row["mae_mean"]["restitution"] - 0.4 * 5 / 18) < 0.009
    # the peak is the upper end: mean error 0.2, sd 0.4 / sqrt(12) / sqrt(600) = 0.0047
    assert abs(row["mae_peak"]["restitution"] - 0.2) < 0.015
    # E[-log 2u] = 1 - log 2, sd 1 / sqrt(600) = 0.041
    expected = math.log(volume(PRIOR)) + 1.0 - math.log(2.0)
    assert abs(row["negative_log_posterior"] - expected) < 0.123
    # the region of mass m is u > sqrt(1 - m): it holds a uniform u with 1 - sqrt(1 - m), and
    # 3 * 0.5 / sqrt(600) = 0.061 plus half a cell
    for level, found in row["coverage"].items():
        assert abs(found - (1.0 - math.sqrt(1.0 - float(level)))) < 0.075
    assert row["train_cpu_s"] == 2.5


def test_the_order_of_the_cases_does_not_matter() -> None:
    cases = simulated(60)
    plain = methods.evaluate(Method(prior_with_a_slope), cases)
    turned = methods.evaluate(Method(prior_with_a_slope), cases.rows(torch.arange(59, -1, -1)))
    for key in ("mae_mean", "mae_peak", "coverage"):
        assert plain[key] == pytest.approx(turned[key], rel=1e-9)


def test_a_picked_drop_keeps_its_numbers() -> None:
    cases = simulated(5)
    one = cases.rows(slice(2, 3))
    assert torch.equal(one.theta[0], cases.theta[2])
    assert one.features.turn[0] == cases.features.turn[2]
    assert one.noise.position_sd.shape == (1,)


def test_an_absent_rival_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "compare" in (sbi_method.absent() or "")


@pytest.mark.slow
def test_the_rival_answers_with_a_proper_density() -> None:
    pytest.importorskip("sbi", reason="the sbi package is not installed")
    method = replace(sbi_method.train(simulated(500)), train_cpu_s=0.0)
    answers = method.answer(simulated(8))
    torch.testing.assert_close(answers.weights.sum(0), torch.ones(8).double())
    kept = answers.points[answers.weights > 0.0]
    assert boxes.contains(PRIOR, kept).all()
