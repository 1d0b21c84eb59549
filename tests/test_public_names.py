"""The public names of `ricochet`: few, documented, and nothing is imported before one is used."""

import subprocess
import sys

import numpy as np
import pytest

import ricochet
from tests.checkouts import python_path


def test_there_are_at_most_25_and_each_is_documented():
    assert len(ricochet.__all__) <= 25
    assert set(ricochet.__all__) == set(ricochet._PLACES)
    for name in ricochet.__all__:
        assert getattr(ricochet, name).__doc__, name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ricochet.nothing


def test_importing_the_package_imports_no_other():
    program = "import sys, ricochet; print(*(m for m in sys.modules if m in ('numpy', 'torch')))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == ""


def test_a_package_of_constant_restitution_has_it_at_all_speeds():
    samples = np.array([[0.8, 3.0], [0.9, 3.5]])
    package = ricochet.Package(
        kind="grid",
        name="ball-table",
        parameters=(),
        arrays={"samples": samples},
        inputs={},
        checks={},
        data_digest="",
        git_commit="",
    )
    found = ricochet.restitution(package, np.array([1.0, 2.0, 4.0]))
    np.testing.assert_array_equal(found, np.tile([0.8, 0.9], (3, 1)))
