"""A package returns as written; what hostile ones meet is in tests/crash."""

import numpy as np
import pytest

from ricochet.tasks.registry import packages
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID


@pytest.fixture
def written(tmp_path, package):
    packages.write_package(tmp_path / "package", package, reader=GRID)
    return tmp_path / "package"


def test_a_package_returns_as_written(written, package):
    found = packages.read_package(written, reader=GRID)
    assert found.parameters == package.parameters
    assert (found.kind, found.data_digest, found.git_commit) == (
        "grid",
        package.data_digest,
        "unknown",
    )
    assert found.checks == package.checks
    for name, array in package.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)


def test_writing_twice_gives_the_same_bytes(tmp_path, package):
    first = packages.write_package(tmp_path / "a", package, reader=GRID)
    assert packages.write_package(tmp_path / "a", package, reader=GRID) == first
    assert packages.write_package(tmp_path / "b", package, reader=GRID) == first
