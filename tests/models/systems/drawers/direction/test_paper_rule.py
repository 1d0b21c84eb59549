"""The paper's rule of direction: a source that passes by, mirrored axes, a filter that smooths."""

import numpy as np
import pytest

from ricochet.models.systems.drawers.direction import paper_rule

AXIS = np.array([1.0, 0.0, 0.0])


def passing(openings: np.ndarray) -> np.ndarray:
    """Unit vectors to a front that moves along the axis, 0.6 m beside the array."""
    places = np.stack([openings - 0.2, np.full(len(openings), 0.6), 0.0 * openings], axis=1)
    return places / np.linalg.norm(places, axis=1, keepdims=True)


def test_a_source_that_passes_by_has_the_sign_of_its_motion() -> None:
    openings = np.concatenate([np.linspace(0.0, 0.4, 20), np.linspace(0.4, 0.1, 15)])
    found = paper_rule.signs(passing(openings), AXIS)
    np.testing.assert_array_equal(found[1:], np.sign(np.diff(openings)))
    np.testing.assert_array_equal(paper_rule.signs(passing(openings), -AXIS), -found)


def test_without_noise_the_filter_changes_nothing_that_lasts() -> None:
    found = np.repeat([1.0, -1.0, 1.0], 10)
    believed = paper_rule.filtered(found, 0.95)
    np.testing.assert_array_equal(believed, found)


def chance_signs(reliability: float) -> tuple[np.ndarray, np.ndarray]:
    """A direction that stays for 15 frames on average, and signs of it that are right so often."""
    draw = np.random.default_rng(0)
    true = np.where(np.cumsum(draw.random(20_000) < 1 / 15) % 2, 1.0, -1.0)
    return true, np.where(draw.random(20_000) < reliability, true, -true)


@pytest.mark.parametrize("reliability", [0.55, 0.6, 0.9])
def test_with_the_printed_probability_one_sign_outweighs_all_before(reliability: float) -> None:
    """What was believed fades by 0.3 a frame, to less than what one sign says."""
    _, seen = chance_signs(reliability)
    np.testing.assert_array_equal(paper_rule.filtered(seen, reliability), seen)


def test_with_a_direction_that_stays_longer_the_filter_helps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    true, seen = chance_signs(0.6)
    monkeypatch.setattr(paper_rule, "STAYS", 1.0 - 1.0 / 15.0)
    assert (paper_rule.filtered(seen) == true).mean() > (seen == true).mean() + 0.05


def test_frames_without_a_sign_forget() -> None:
    found = np.concatenate([[1.0], np.zeros(60)])
    believed = paper_rule.filtered(found)
    assert believed[1] == 1.0 and believed[-1] == 0.0
