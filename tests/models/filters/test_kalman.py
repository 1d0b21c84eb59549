"""The Kalman filter against the information form, and its symmetries."""

import numpy as np
import pytest
from scipy import stats

from ricochet.models.filters import kalman

STATES = 4


def positive(draw: np.random.Generator, *shape: int) -> np.ndarray:
    """A covariance, or a batch of them: a square of normal numbers, away from zero."""
    root = draw.normal(size=(*shape, shape[-1]))
    return root @ np.swapaxes(root, -1, -2) + 0.1 * np.eye(shape[-1])


def problem(seed: int, width: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    return {
        "mean": draw.normal(size=STATES),
        "covariance": positive(draw, STATES),
        "observed": draw.normal(size=width),
        "observation": draw.normal(size=(width, STATES)),
        "noise": positive(draw, width),
    }


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_update_equals_the_information_form(seed: int, width: int) -> None:
    """P'^-1 = P^-1 + H^T R^-1 H,  P'^-1 m' = P^-1 m + H^T R^-1 y, computed apart."""
    given = problem(seed, width)
    before, weight = np.linalg.inv(given["covariance"]), np.linalg.inv(given["noise"])
    rows = given["observation"]
    expected = np.linalg.inv(before + rows.T @ weight @ rows)
    vector = before @ given["mean"] + rows.T @ weight @ given["observed"]
    found = kalman.update(**given)
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.mean, expected @ vector, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_the_density_is_that_of_the_predicted_observation(width: int) -> None:
    given = problem(7, width)
    rows = given["observation"]
    spread = rows @ given["covariance"] @ rows.T + given["noise"]
    law = stats.multivariate_normal(rows @ given["mean"], spread)
    found = kalman.update(**given)
    away = given["observed"] - rows @ given["mean"]
    assert found.log_density == pytest.approx(law.logpdf(given["observed"]))
    assert found.squared_distance == pytest.approx(away @ np.linalg.solve(spread, away))


@pytest.mark.parametrize("width", [2, 3])
def test_a_batch_equals_its_members(width: int) -> None:
    draw = np.random.default_rng(3)
    given = problem(2, width)
    given["mean"] = draw.normal(size=(3, 5, STATES))
    given["covariance"] = positive(draw, 3, 5, STATES)
    found = kalman.update(**given)
    for index in np.ndindex(3, 5):
        member = {
            **given,
            "mean": given["mean"][index],
            "covariance": given["covariance"][index],
        }
        one = kalman.update(**member)
        np.testing.assert_allclose(found.mean[index], one.mean, rtol=1e-12)
        np.testing.assert_allclose(found.covariance[index], one.covariance, atol=1e-12)
        assert found.log_density[index] == pytest.approx(one.log_density, rel=1e-12)


def test_independent_observations_may_come_in_either_order_or_together() -> None:
    first, second = problem(4, 2), problem(5, 1)
    belief = first["mean"], first["covariance"]

    def observe(mean: np.ndarray, covariance: np.ndarray, given: dict) -> kalman.Updated:
        names = ("observed", "observation", "noise")
        return kalman.update(mean, covariance, **{name: given[name] for name in names})

    one = observe(*belief, first)
    one = observe(one.mean, one.covariance, second)
    other = observe(*belief, second)
    other = observe(other.mean, other.covariance, first)
    together = kalman.update(
        *belief,
        np.concatenate((first["observed"], second["observed"])),
        observation=np.concatenate((first["observation"], second["observation"])),
        noise=np.block(
            [[first["noise"], np.zeros((2, 1))], [np.zeros((1, 2)), second["noise"]]],
        ),
    )
    for each in (other, together):
        np.testing.assert_allclose(each.mean, one.mean, rtol=1e-9)
        np.testing.assert_allclose(each.covariance, one.covariance, atol=1e-10)


def test_a_prediction_has_the_moments_of_moved_samples() -> None:
    """100,000 samples: the error of a mean is sd / 316, of a variance 0.45 % of it; three each."""
    draw, count = np.random.default_rng(6), 100_000
    given, transition = problem(8, 1), np.random.default_rng(9).normal(size=(STATES, STATES))
    noise, offset = positive(draw, STATES), draw.normal(size=STATES)
    mean, covariance = kalman.predict(
        given["mean"], given["covariance"], transition=transition, noise=noise, offset=offset
    )
    states = draw.multivariate_normal(given["mean"], given["covariance"], count)
    moved = states @ transition.T + offset
    moved += draw.multivariate_normal(np.zeros(STATES), noise, count)
    sd = np.sqrt(np.diag(covariance))
    assert (np.abs(moved.mean(axis=0) - mean) < 3.0 * sd / np.sqrt(count)).all()
    assert (np.abs(np.cov(moved.T) - covariance) < 0.0135 * np.outer(sd, sd)).all()


def test_predictions_of_a_batch_may_each_have_their_own_motion() -> None:
    draw = np.random.default_rng(10)
    mean, covariance = draw.normal(size=(6, STATES)), positive(draw, 6, STATES)
    transition, noise = draw.normal(size=(6, STATES, STATES)), positive(draw, 6, STATES)
    found = kalman.predict(mean, covariance, transition=transition, noise=noise)
    for i in range(6):
        one = kalman.predict(mean[i], covariance[i], transition=transition[i], noise=noise[i])
        np.testing.assert_allclose(found[0][i], one[0], rtol=1e-12)
        np.testing.assert_allclose(found[1][i], one[1], atol=1e-12)
