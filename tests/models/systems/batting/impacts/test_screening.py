"""Rows that cannot be impacts have a reason, tables in other units one finding."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.batting.impacts import balance, screening
from tests.models.systems.batting.tables import mirrored, table, turned


def test_impacts_have_no_fault_in_any_axes() -> None:
    impacts = table(0)
    for each in (impacts, turned(impacts, 0.3), mirrored(impacts)):
        faults = screening.no_body(each) + screening.no_impact(each)
        faults += screening.unbalanced(each, balance.of(each))
        assert set(faults) == {""} and screening.other_units(each) is None


def test_the_first_fault_of_each_row_is_its_reason() -> None:
    impacts = table(1, 20)
    mass, inertia, normal = impacts.mass.copy(), impacts.inertia.copy(), impacts.normal.copy()
    mass[2], inertia[2:4], normal[4] = 0.0, -1.0, 0.5 * normal[4]
    faults = screening.no_body(replace(impacts, mass=mass, inertia=inertia, normal=normal))
    assert {k: fault for k, fault in enumerate(faults) if fault} == {
        2: "the mass is not positive: 0",
        3: "the inertia is not positive: -1",
        4: "the normal is not of length 1: 0.5",
    }


def test_a_normal_that_was_rounded_is_made_one() -> None:
    impacts = table(2, 20)
    rounded = replace(impacts, normal=np.round(impacts.normal, 2))
    assert set(screening.no_body(rounded)) == {""}
    whole = screening.with_unit_normals(rounded)
    np.testing.assert_allclose(np.hypot(*whole.normal.T), 1.0)


def test_pairs_that_separate_and_impulses_that_pull_are_named() -> None:
    impacts = table(3, 20)
    swapped = replace(impacts, before=impacts.after, after=impacts.before)
    assert all("does not approach" in fault for fault in screening.no_impact(swapped))
    pulled = replace(impacts, after=2.0 * impacts.before - impacts.after)
    assert all("would pull the body" in fault for fault in screening.no_impact(pulled))


def test_a_contact_that_goes_on_into_the_surface_is_named() -> None:
    impacts = table(4, 20)
    half = replace(impacts, after=0.7 * impacts.before + 0.3 * impacts.after)
    faults = screening.unbalanced(half, balance.of(half))
    assert sum("approaches the surface after" in fault for fault in faults) > 15


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ({"contact": 1e3}, "contacts"),
        ({"inertia": 1e6}, "contacts"),
        ({"mass": 1e3}, "contacts"),
        ({"contact": 1e3, "inertia": 1e6}, "radii of gyration"),
        ({"before": 1e3, "after": 1e3, "surface": 1e3}, "speeds of"),
    ],
)
def test_units_that_are_off_by_a_thousand_are_found(scale: dict[str, float], words: str) -> None:
    impacts = table(5)
    spoilt = replace(impacts, **{name: by * getattr(impacts, name) for name, by in scale.items()})
    found = screening.other_units(spoilt)
    assert found is not None and found[0].startswith(words)


def test_spins_that_are_off_by_a_thousand_are_found() -> None:
    impacts, spin = table(6), np.array((1.0, 1.0, 1e3))
    spoilt = replace(impacts, before=impacts.before * spin, after=impacts.after * spin)
    found = screening.other_units(spoilt)
    assert found is not None and found[0].startswith("impulses that give 0.001 times")
