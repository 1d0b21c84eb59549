"""Adaptive importance sampling against densities whose integrals and moments are known."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy import stats

from ricochet.models.systems.bouncing_ball.chains import importance_sampling
from ricochet.models.systems.bouncing_ball.chains.importance_sampling import Draws
from ricochet.models.systems.bouncing_ball.chains.parameters import Prior
from ricochet.models.systems.bouncing_ball.chains.peaks import Mode

pytestmark = pytest.mark.wrong_types  # densities that need no takes
ENOUGH = 500.0


@dataclass(frozen=True)
class Bell:
    """A normal density of norm e^3 whose coordinates are known from a millionth to three units.

    With a bend it is a horn of the same norm: the second coordinate is spread about bend times the
    square of the first, both in deviations. With a gap there is an equal bell so many deviations
    along the first coordinate, half of the norm each.
    """

    bend: float = 0.0
    gap: float = 0.0
    log_norm: float = 3.0
    scale: float = 1.0
    prior: Prior = field(default_factory=Prior)
    point: np.ndarray = field(default_factory=lambda: Prior().centre)
    enough: float = 1.0

    @property
    def sd(self) -> np.ndarray:
        return self.scale * np.geomspace(1e-6, 3.0, len(self.prior.free))

    def away(self, theta: np.ndarray) -> np.ndarray:
        """The deviations of points."""
        return np.asarray((theta - self.point)[..., self.prior.free] / self.sd)

    def __call__(self, theta: np.ndarray) -> np.ndarray:
        z = self.away(theta)
        z[:, 1] -= self.bend * z[:, 0] ** 2
        other = z - self.gap * np.eye(z.shape[1])[0]
        both = [stats.norm.logpdf(each).sum(1) for each in (z, other)]
        return self.log_norm + np.logaddexp(*both) - np.log(2.0) - np.log(self.sd).sum()


def sampled(bell: Bell, seed: int, *, wide: float = 1.0) -> Draws:
    """Draw from a bell, first from a law `wide` times as wide."""
    height = float(bell(bell.point[None])[0])
    mode = Mode(bell, np.diag((wide * bell.sd) ** 2), bell.log_norm, height)
    return importance_sampling.about([mode], draw=np.random.default_rng(seed), enough=ENOUGH)


def test_coordinates_of_sizes_far_apart_are_sampled_and_the_evidence_is_the_norm() -> None:
    bell = Bell()
    found = sampled(bell, 0)
    # the mean weight's relative error is sqrt(1 / effective - 1 / draws); four of it
    assert found.log_evidence == pytest.approx(3.0, abs=4.0 * np.sqrt(1.0 / found.effective))
    away = bell.away(found.weights @ found.theta)
    assert (np.abs(away) < 4.5 / np.sqrt(found.effective)).all()  # one of eleven beyond: 1e-4


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("bend", [0.3, 0.6])
def test_norm_and_mean_of_a_horn_are_found(bend: float, seed: int) -> None:
    bell = Bell(bend=bend)
    found = sampled(bell, seed)
    assert found.effective > ENOUGH
    # five standard errors; squares of a normal number have the variance 2
    allowed = 5.0 / np.sqrt(found.effective)
    assert found.log_evidence == pytest.approx(3.0, abs=allowed)
    mean = found.weights @ bell.away(found.theta)
    assert mean[0] == pytest.approx(0.0, abs=allowed)
    assert mean[1] == pytest.approx(bend, abs=allowed * np.sqrt(1.0 + 2.0 * bend**2))


@pytest.mark.parametrize("seed", range(5))
def test_narrow_first_laws_do_not_stay_narrow(seed: int) -> None:
    bell = Bell()
    found = sampled(bell, seed, wide=0.5)
    deviation = np.sqrt(found.weights @ bell.away(found.theta) ** 2)
    # the standard error of a deviation is 1 / sqrt(2 n); five of it
    assert np.abs(deviation - 1.0).max() < 5.0 / np.sqrt(2.0 * found.effective)


@pytest.mark.parametrize("seed", range(5))
def test_a_draw_that_carries_much_weight_finds_a_hill_that_no_maximum_stands_for(seed: int) -> None:
    bell = Bell(gap=3.0)
    found = sampled(bell, seed, wide=1.5)
    there = found.weights[bell.away(found.theta)[:, 0] > 1.5].sum()
    # the deviation of a share of one half is 0.5 / sqrt(n); five of it
    assert there == pytest.approx(0.5, abs=2.5 / np.sqrt(found.effective))


def test_units_and_constants_change_the_norm_as_they_should() -> None:
    plain, raised, scaled = (
        sampled(bell, 0)
        for bell in (Bell(bend=0.3), Bell(bend=0.3, log_norm=10.0), Bell(bend=0.3, scale=1e-2))
    )
    assert raised.log_evidence == pytest.approx(plain.log_evidence + 7.0)
    np.testing.assert_allclose(raised.weights, plain.weights, atol=1e-9)
    assert scaled.log_evidence == pytest.approx(plain.log_evidence)
