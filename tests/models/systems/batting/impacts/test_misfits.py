"""Departures that nobody modelled are said, and tables of the law have nothing to say."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.batting.impacts import inference, misfits, recorded
from ricochet.models.systems.batting.impacts.inference import ImpactPosterior
from ricochet.models.systems.batting.impacts.recorded import Impacts
from ricochet.models.systems.batting.shapes import seven_shapes
from tests.models.systems.batting.tables import LAW, TRUTH, law_of, table


def misfit(impacts: Impacts) -> list[str]:
    learnt, others = (impacts.take(np.arange(first, len(impacts), 2)) for first in (0, 1))
    posterior = inference.infer(learnt, np.random.default_rng(0), particles=300)
    outlier = inference.outlier_probabilities(posterior, impacts)
    predicted = inference.predict(posterior, others, np.random.default_rng(1))
    return misfits.of(posterior, impacts, outlier, predicted, np.random.default_rng(2))


def each_by(impacts: Impacts, laws: np.ndarray, seed: int = 9) -> Impacts:
    """Let each impact have a law of its own."""
    noise = np.random.default_rng(seed).normal(size=(len(impacts), 2))
    rows = [
        recorded.impulses(law_of(law), impacts.contacts[k : k + 1], noise[k : k + 1])[0]
        for k, law in enumerate(laws)
    ]
    return recorded.struck(impacts, np.array(rows))


@pytest.mark.parametrize("seed", range(3))
def test_a_table_of_the_law_has_none(seed: int) -> None:
    assert misfit(table(seed)) == []


def test_residuals_at_the_truth_are_standard_normal() -> None:
    found = misfits.residuals(ImpactPosterior(TRUTH[None]), table(0, 4000))
    # 4000: three errors are 0.047 of a mean and 0.034 of a deviation; a few rows are mirrored
    np.testing.assert_allclose(found.mean(0), 0.0, atol=0.06)
    np.testing.assert_allclose(found.std(0), 1.0, atol=0.06)


def test_restitution_that_falls_with_speed_is_said() -> None:
    impacts = table(0)
    laws = np.tile(TRUTH, (300, 1))
    laws[:, 0] -= 0.08 * np.clip(-impacts.contacts[:, 4], 0.0, 6.0)
    assert any(
        "restitution falls with the normal speed" in x for x in misfit(each_by(impacts, laws))
    )


def test_friction_that_falls_with_sliding_is_said() -> None:
    impacts = table(1)
    laws = np.tile(TRUTH, (300, 1))
    laws[:, 2] *= 1.3 - 0.12 * np.clip(np.abs(impacts.contacts[:, 5]), 0.0, 7.0)
    found = misfit(each_by(impacts, laws))
    assert any("tangential impulse falls with the sliding speed" in line for line in found)


def test_two_surfaces_in_one_table_are_said() -> None:
    impacts = table(2)
    laws = np.tile(TRUTH, (300, 1))
    laws[::8, :3] = 0.2, -0.5, 0.05
    found = " ".join(misfit(each_by(impacts, laws)))
    assert "far from the law" in found or "longer tails" in found


def test_a_restitution_above_one_is_said() -> None:
    impacts = table(3)
    impulse = impacts.impulse * np.array((1.4, 1.0))
    found = misfit(recorded.struck(impacts, impulse))
    assert any("no coefficients within the limits" in line for line in found)


def test_long_tails_are_said() -> None:
    impacts = table(4)
    noise = np.random.default_rng(0).standard_t(2.5, size=(300, 2))
    impulse = recorded.impulses(LAW, impacts.contacts, noise)
    found = misfit(recorded.struck(impacts, impulse))
    assert any("longer tails" in line or "far from the law" in line for line in found)


def test_a_law_that_explains_little_is_said() -> None:
    impacts = table(5)
    spoilt = replace(impacts, contact=impacts.contact * np.array((-1.0, 1.0)))
    spoilt = spoilt.take(spoilt.contacts[:, 4] < 0.0)
    assert any("explains little of this table" in line for line in misfit(spoilt))


def test_predictions_that_are_too_sure_are_said() -> None:
    sure = ImpactPosterior(TRUTH * np.array((1.0, 1.0, 1.0, 0.5, 0.5)) + np.zeros((10, 1)))
    impacts = table(6)
    predicted = inference.predict(sure, impacts, np.random.default_rng(0))
    found = misfits.of(sure, impacts, np.zeros(300), predicted, np.random.default_rng(0))
    assert any("too sure of themselves" in line for line in found)


@pytest.mark.parametrize(("axes", "signs"), [("x", (-1.0, 1.0)), ("x and y", (-1.0, -1.0))])
def test_surface_velocities_of_the_wrong_sign_are_named(
    axes: str, signs: tuple[float, float]
) -> None:
    """The surface moves as fast as the body does, and almost never away from it."""
    impacts = recorded.simulate(
        law_of(TRUTH), seven_shapes(), 400, np.random.default_rng(4), speed=1.0
    )
    turned = replace(impacts, surface=impacts.surface * np.array(signs))
    approaching = turned.closing(turned.before)[:, 0] < -0.1
    found = misfit(turned.take(approaching))
    assert any(line.startswith(f"{axes} of the surface's velocity") for line in found)
