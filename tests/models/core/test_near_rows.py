"""Rows that are one though rounded are found, and rows that differ in one number are not."""

import numpy as np
import pytest

from ricochet.models.core import near_rows


def matched(values, others, scale=None):
    """Return which rows share a cell, of either grid, with the row of the same number."""
    scale = near_rows.scales(values) if scale is None else scale
    one, two = (near_rows.cells(each, scale) for each in (values, others))
    return (one == two).any(axis=0)


@pytest.fixture
def values():
    return np.random.default_rng(0).normal(size=(2000, 6)) * [1e-3, 1.0, 1e3, 5.0, 5.0, 5.0]


def test_rows_in_single_precision_are_those_in_double(values):
    assert matched(values, values.astype(np.float32).astype(np.float64)).mean() > 0.999


@pytest.mark.parametrize("column", range(6))
def test_rows_that_differ_in_one_number_are_two(values, column):
    other = values.copy()
    other[:, column] += 2.0 * near_rows.ALIKE * near_rows.scales(values)[column]
    assert not matched(values, other).any()


def test_units_of_a_column_and_the_order_of_columns_change_nothing(values):
    other = values.astype(np.float32).astype(np.float64)
    found = matched(values, other)
    assert (matched(values * 1024.0, other * 1024.0) == found).all()
    assert (matched(values[:, ::-1], other[:, ::-1]) == found).all()


def test_columns_that_do_not_change_and_outliers_are_compared(values):
    values[:, 1], values[:, 2] = 0.0, 7.0
    values[:400, 3] = 1e300
    assert matched(values, values).all()
    other = values.copy()
    other[:, 5] += 0.01
    assert not matched(values, other).any()
    assert len(np.unique(near_rows.cells(values, near_rows.scales(values))[0])) == len(values)


def test_zeros_of_either_sign_are_one():
    assert matched(np.zeros((3, 2)), -np.zeros((3, 2))).all()


def test_what_tables_share_is_what_sets_say(values):
    rows = np.random.default_rng(1).integers(0, 60, (4, 50)).astype(np.uint64)
    one, other = set(rows[0]), set(rows[1])
    share = len(one & other) / min(len(one), len(other))
    assert near_rows.shared(list(rows[:2])) == {(0, 1): share}
    two_at_most = [np.arange(0, 5), np.arange(4, 9), np.arange(8, 12)]
    assert near_rows.shared([each.astype(np.uint64) for each in two_at_most]) == {
        (0, 1): 1 / 5,
        (1, 2): 1 / 4,
    }
    assert near_rows.shared([rows[0]] * 3) == {(0, 1): 1.0, (1, 2): 1.0}


def test_of_fifty_tables_the_two_that_share_rows_are_found():
    tables = np.random.default_rng(2).integers(0, 2**63, (50, 20_000), dtype=np.uint64)
    tables[17, :15_000] = tables[3, 5000:]
    assert near_rows.shared(list(tables)) == {(3, 17): 0.75}
