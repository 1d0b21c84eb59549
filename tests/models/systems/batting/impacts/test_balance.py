"""Newton's balance holds for every law of impact, and names what of a table is wrong."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.impacts import balance
from ricochet.models.systems.batting.impacts.recorded import Impacts
from tests.models.systems.batting.tables import mirrored, table, turned


@pytest.mark.parametrize("law", [Law(), Law(0.2, -0.5, 0.05, 0.0, 0.3, 0.3)])
def test_it_is_exact_whatever_the_law_and_the_axes(law: Law) -> None:
    impacts = table(0, law=law)
    for each in (impacts, turned(impacts, 0.7), mirrored(impacts)):
        found = balance.of(each)
        assert found.residual_share < 1e-12 and found.holds
        assert not found.broken.any() and balance.misfit(each, found) == []


def flipped(impacts: Impacts, part: str, signs: tuple[float, ...]) -> Impacts:
    return replace(impacts, **{part: getattr(impacts, part) * np.array(signs)})


def both(impacts: Impacts, signs: tuple[float, ...]) -> Impacts:
    return flipped(flipped(impacts, "before", signs), "after", signs)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda x: flipped(x, "contact", (-1.0, 1.0)), "x of contacts"),
        (lambda x: flipped(x, "contact", (1.0, -1.0)), "y of contacts"),
        (lambda x: both(x, (-1.0, 1.0, 1.0)), "x of velocities"),
        (lambda x: both(x, (1.0, -1.0, 1.0)), "y of velocities"),
        (lambda x: both(x, (1.0, 1.0, -1.0)), "spin seems to have the other sign"),
        (lambda x: both(x, (1.0, 1.0, 180.0 / np.pi)), "spin seems to be in degrees/s"),
        (lambda x: replace(x, inertia=3.0 * x.inertia), "impulses give 0.333 times"),
        (lambda x: replace(x, inertia=0.5 * x.inertia), "impulses give 2 times"),
    ],
)
def test_what_is_wrong_is_named_in_one_line(spoil, words: str) -> None:
    impacts = spoil(table(1))
    found = balance.of(impacts)
    assert found.residual_share > 0.5 and not found.holds
    (line,) = balance.misfit(impacts, found)
    assert words in line and "\n" not in line


def test_a_mass_that_is_a_little_wrong_is_named_too() -> None:
    impacts = table(2)
    wrong = replace(impacts, inertia=1.2 * impacts.inertia)
    found = balance.of(wrong)
    assert found.residual_share == pytest.approx(1.0 - 1.0 / 1.2) and found.holds
    (line,) = balance.misfit(wrong, found)
    assert "0.83 times the changes of spin" in line


def test_errors_of_measured_spins_are_no_misfit() -> None:
    impacts = table(3)
    error = np.random.default_rng(0).normal(size=len(impacts)) * 0.05 / impacts.gyration
    after = impacts.after + np.stack([0.0 * error, 0.0 * error, error], axis=1)
    found = balance.of(replace(impacts, after=after))
    assert 0.0 < found.residual_share < 0.2
    assert balance.misfit(impacts, found) == []


def test_rows_of_which_one_entry_is_wrong_are_separated_from_the_others() -> None:
    impacts = table(4)
    after = impacts.after.copy()
    after[7, 0] += 3.0
    after[11, 2] *= -1.0
    found = balance.of(replace(impacts, after=after))
    assert np.flatnonzero(found.broken).tolist() == [7, 11]


def test_bodies_that_hardly_turn_are_balanced_whatever_their_spin_errs_by() -> None:
    impacts = table(5, 200)
    push = np.hstack([impacts.normal, np.zeros((200, 1))])
    pushed = replace(impacts, contact=-0.3 * impacts.normal, after=impacts.before + push)
    assert balance.of(pushed).residual_share < 1e-6
    error = 0.01 / impacts.gyration * np.random.default_rng(0).normal(size=200)
    after = pushed.after + np.stack([0.0 * error, 0.0 * error, error], axis=1)
    found = balance.of(replace(pushed, after=after))
    assert found.residual_share == pytest.approx(1.0) and found.holds
