"""The law of impact comes back from simulated impacts, as sure as it may be and no surer."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.impacts import inference, recorded
from ricochet.models.systems.batting.impacts.inference import ImpactPosterior
from ricochet.models.systems.batting.shapes import seven_shapes
from tests.models.systems.batting.tables import TRUTH, law_of, mirrored, table, turned


def inferred(impacts: recorded.Impacts, seed: int = 0) -> ImpactPosterior:
    return inference.infer(impacts, np.random.default_rng(seed), particles=400)


@pytest.fixture(scope="module")
def learnt() -> ImpactPosterior:
    return inferred(table(0, 150))


def test_the_law_comes_back(learnt: ImpactPosterior) -> None:
    assert learnt.theta.shape == (1600, 5)
    away = np.abs(learnt.theta.mean(0) - TRUTH) / learnt.theta.std(0)
    assert (away < 4.0).all()  # of 5 in one of 3000 tables
    # 150 impacts: the deviation of e is about 1.8 s / sqrt(150), those of noise s / sqrt(300)
    assert learnt.theta[:, 0].std() < 0.01
    np.testing.assert_allclose(learnt.theta[:, 3:].std(0), TRUTH[3:] / np.sqrt(300), rtol=0.3)
    assert learnt.unidentified == []


def test_axes_and_units_of_mass_do_not_matter(learnt: ImpactPosterior) -> None:
    impacts = table(0, 150)
    heavy = replace(impacts, mass=1e3 * impacts.mass, inertia=1e3 * impacts.inertia)
    for other in (turned(impacts, 1.0), mirrored(impacts), heavy):
        again = inferred(other)
        # draws worth some hundreds each: means differ by less than a third of a deviation
        away = np.abs(again.theta.mean(0) - learnt.theta.mean(0)) / learnt.theta.std(0)
        assert (away < 0.33).all()


def test_where_all_impacts_stick_friction_is_only_bounded_below() -> None:
    impacts = table(1, 400, Law(0.8, 0.0, 1.8, 0.0, 0.03, 0.03))
    across, along = (np.abs(impacts.contacts[:, k]) for k in (5, 4))
    found = inferred(impacts.take(across < 0.3 * along))
    assert found.unidentified == ["friction"]
    low, high = np.quantile(found.theta[:, 2], (0.02, 0.98))
    assert low > 0.2 and high > 1.9
    # uniform above some bound, so that the upper half of the range has more than half of the draws
    assert (found.theta[:, 2] > 1.0).mean() > 0.5


def test_where_all_impacts_slide_tangential_restitution_keeps_its_prior() -> None:
    impacts = table(2, 400, Law(0.8, 0.5, 0.05, 0.0, 0.03, 0.01))
    slip = np.abs(impacts.contacts[:, 5]) > 3.0 * np.abs(impacts.contacts[:, 4])
    found = inferred(impacts.take(slip))
    assert "tangential_restitution" in found.unidentified
    # the deviation of a uniform law from -1 to 1 is 0.577
    assert found.theta[:, 1].std() == pytest.approx(0.577, abs=0.08)
    assert abs(found.theta[:, 2].mean() - 0.05) < 0.01


def test_wrong_rows_neither_move_nor_narrow_the_law(learnt: ImpactPosterior) -> None:
    impacts = table(0, 150)
    impulse = impacts.impulse
    impulse[:6] = impulse[:6][:, ::-1] * 4.0
    spoilt = recorded.struck(impacts, impulse)
    found = inferred(spoilt)
    # six rows of 150 are lost: a few per cent of each deviation, and as little of the means
    np.testing.assert_allclose(found.theta.std(0), learnt.theta.std(0), rtol=0.3)
    away = np.abs(found.theta.mean(0) - learnt.theta.mean(0)) / learnt.theta.std(0)
    assert (away < 1.2).all()
    chances = inference.outlier_probabilities(found, spoilt)
    assert (chances[:6] > 0.99).all() and (chances[6:] < 0.5).mean() > 0.97


def test_impacts_without_noise_have_the_least_noise() -> None:
    found = inferred(table(3, 60, noise=False))
    assert np.abs(found.theta.mean(0)[:3] - TRUTH[:3]).max() < 1e-3
    assert found.theta[:, 3:].max() < 3e-4


def test_predictions_hold_further_impacts(learnt: ImpactPosterior) -> None:
    others = table(5, 400)
    found = inference.predict(learnt, others, np.random.default_rng(0))
    # 400 impacts at 0.9: a standard error of 0.015; three of them, and the posterior's own
    assert found.coverage == pytest.approx(0.9, abs=0.055)
    quiet = table(5, 400, noise=False)
    exact = recorded.observed_changes(others) - recorded.observed_changes(quiet)
    assert found.rms == pytest.approx(np.sqrt((exact**2).mean()), rel=0.1)
    one = inference.predict(learnt, others.take(np.arange(1)), np.random.default_rng(0))
    np.testing.assert_array_equal(one.mean[0], found.mean[0])


def test_a_posterior_that_is_too_sure_holds_too_few() -> None:
    sure = ImpactPosterior(TRUTH * np.array((1.0, 1.0, 1.0, 0.5, 0.5)) + np.zeros((10, 1)))
    found = inference.predict(sure, table(5, 400), np.random.default_rng(0))
    # a plane normal law of half the width: 1 - exp(-4.605 / 8) = 0.44
    assert found.coverage == pytest.approx(0.44, abs=0.075)


def test_too_few_are_refused() -> None:
    with pytest.raises(ValueError, match="impacts 9, expected at least 10"):
        inferred(table(0, 9))


def test_a_contact_that_separates_is_refused() -> None:
    impacts = table(0, 20)
    with pytest.raises(ValueError, match=r"normal velocity .* expected below 0"):
        inferred(replace(impacts, before=impacts.after, after=impacts.before))


def calibrated(tables: int, impacts: int, seed: int) -> tuple[np.ndarray, float]:
    """Return whether regions hold the truth, of coefficients and of all, and held-out impacts."""
    inside, held = [], []
    for number in range(tables):
        draw = np.random.default_rng([seed, number])
        theta = draw.uniform((0.4, -0.2, 0.1, 0.02, 0.02), (0.95, 0.9, 1.0, 0.15, 0.15))
        whole = recorded.simulate(law_of(theta), seven_shapes(), impacts, draw)
        found = inference.infer(whole.take(np.arange(0, impacts, 2)), draw, particles=500)
        others = whole.take(np.arange(1, impacts, 2))
        held.append(inference.predict(found, others, draw).coverage)
        inside.append((found.nearer(theta, 3) <= 0.9, found.nearer(theta) <= 0.9))
    return np.array(inside), float(np.mean(held))


@pytest.mark.proof
@pytest.mark.slow
def test_regions_of_small_tables_hold_the_truth() -> None:
    inside, held = calibrated(30, 100, 0)
    # of 30 tables at 0.9, 22 to 30 hold it but in one of 250
    low, high = stats.binom(30, 0.9).ppf((0.002, 0.998))
    assert all(low <= count <= high for count in inside.sum(0))
    # 1500 held-out impacts: an error of 0.008, and each table's posterior adds about 0.005
    assert held == pytest.approx(0.9, abs=0.03)


@pytest.mark.proof
def test_regions_of_two_hundred_tables_hold_the_truth() -> None:
    inside, held = calibrated(200, 300, 1)
    # of 200 tables at 0.9 a share of 0.836 to 0.964 holds it: three standard errors of 0.021
    assert (np.abs(inside.mean(0) - 0.9) < 0.064).all()
    assert held == pytest.approx(0.9, abs=0.01)  # 30,000 impacts: three errors are 0.006


@pytest.mark.slow
def test_regions_of_a_law_that_is_too_sure_are_widened_until_they_hold() -> None:
    """With half of the noise squared distances are four times what they should be."""
    draw = np.random.default_rng(0)
    theta = np.tile(TRUTH * (1.0, 1.0, 1.0, 0.5, 0.5), (100, 1))
    sure = ImpactPosterior(theta)
    right = ImpactPosterior(np.tile(TRUTH, (100, 1)))
    learnt, others = table(1, 400), table(2, 400)
    widening = inference.widening_of(sure, learnt, draw)
    # Three standard errors of the 0.9 quantile of 400 exponential numbers: 3 (0.3 / 20) / 0.1 / 2.3
    assert widening == pytest.approx(4.0, rel=0.2)
    assert 1.0 <= inference.widening_of(right, learnt, draw) < 1.2
    assert inference.predict(sure, others, draw).coverage < 0.6
    # Three standard errors of 0.015 of these, and as much of the learnt
    held = inference.predict(sure, others, draw, widening=widening).coverage
    assert held == pytest.approx(0.9, abs=0.064)
