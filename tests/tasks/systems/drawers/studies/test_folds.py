"""Frames left out by contiguous parts and by drawers: each once, and none that was learnt from."""

import numpy as np
import pytest

from ricochet.models.systems.drawers.features import Features
from ricochet.models.systems.drawers.labels import Labels
from ricochet.tasks.systems.drawers.studies import folds, summary
from ricochet.tasks.systems.drawers.trials import Frames


def frames(start: int, count: int) -> Frames:
    numbers = np.arange(start, start + count, dtype=float)
    column = numbers[:, None]
    return Frames(Features(column, column, column), column, Labels(numbers, numbers, numbers))


def test_parts_together_are_the_whole() -> None:
    whole = folds._joined([frames(0, 10), frames(10, 13)])
    parts = folds._cut(whole, 7)
    assert {len(each.power) for each in parts} == {3, 4}
    again = folds._joined(parts)
    np.testing.assert_array_equal(again.power[:, 0], np.arange(23.0))
    np.testing.assert_array_equal(again.labels.position, np.arange(23.0))
    np.testing.assert_array_equal(again.features.place[:, 0], np.arange(23.0))


@pytest.mark.proof
@pytest.mark.slow
def test_errors_are_of_every_drawer_and_way() -> None:
    jobs = folds.planned(2, 12.0, 5.0, 0, "")
    done = [folds.do(job) for job in (jobs[1], jobs[-1])]
    found = folds.by_way(done)
    (name,) = found["contiguous"]
    assert len(found["drawer_out"]) == 4
    ways = set(found["contiguous"][name])
    assert ways == set(found["drawer_out"][name]) and {"ours", "pcr", "cubic"} <= ways
    rows = summary.of_folds(found)["contiguous"][name]
    assert all(len(each) == 2 for each in found["contiguous"][name].values())
    assert rows["ours"]["value"] < rows["mean"]["value"]
    assert rows["ours"]["interval"][0] <= rows["ours"]["value"] <= rows["ours"]["interval"][1]
