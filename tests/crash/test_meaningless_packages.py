"""Packages whose digests hold and whose numbers mean nothing are refused, in one line."""

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.rigid_bodies import model_packages

DRAW = np.random.default_rng(0)


@pytest.fixture
def whole(package: Package) -> Package:
    """A package of a grid with draws and their moments."""
    return package


def forged(package: Package, reader: Reader, folder) -> None:
    """Write a package as one would who knows the rules of digests, and reads nothing back."""
    open_to_all = dataclasses.replace(reader, check=None)
    packages.write_package(folder, package, reader=open_to_all)


HOSTILE = [
    ("mean", lambda a: a * np.nan),
    ("mean", lambda a: a - 3.0),
    ("mean", lambda a: a[:1]),
    ("mean", lambda a: a[None]),
    ("mean", lambda a: a.astype(np.float32)),
    ("mean", lambda a: a + 0.05),
    ("covariance", lambda a: -a),
    ("covariance", lambda a: a + np.array(((0.0, 1e-3), (0.0, 0.0)))),
    ("covariance", lambda a: np.array(((1e-4, 1.0), (1.0, 1e-4)))),
    ("covariance", lambda a: a[:1, :1]),
    ("covariance", lambda a: np.eye(3)),
    ("covariance", lambda a: 1e-9 * a),
    ("covariance", lambda a: a * np.inf),
    ("samples", lambda a: a[:0]),
    ("samples", lambda a: a[:, :1]),
    ("samples", lambda a: a + 100.0),
    ("samples", lambda a: a.T.copy()),
    ("samples", lambda a: np.where(a == a.max(), np.nan, a)),
    ("samples", lambda a: np.where(a == a.max(), np.inf, a)),
    ("samples", lambda a: a.astype(np.int64)),
    ("rows", lambda a: a[::-1].copy()),
    ("rows", lambda a: a**2),
    ("rows", lambda a: a + 10.0),
    ("rows", lambda a: a[:1]),
    ("low", lambda a: a + 1.0),
    ("low", lambda a: a[:-1]),
    ("high", lambda a: a + 1.0),
    ("high", lambda a: 0.0 * a + 0.55),
    ("log_density", lambda a: a[:, :1]),
    ("log_density", lambda a: np.full_like(a, -np.inf)),
    ("log_density", lambda a: np.where(a == a.max(), np.inf, a)),
    ("log_density", lambda a: a.ravel()),
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_numbers_that_mean_nothing_are_refused(whole, tmp_path, number):
    name, change = HOSTILE[number]
    with np.errstate(all="ignore"):
        arrays = whole.arrays | {name: change(whole.arrays[name])}
        try:
            forged(dataclasses.replace(whole, arrays=arrays), GRID, tmp_path / "package")
        except (BadInput, ValueError, IndexError):
            return  # nobody could have written it
    with pytest.raises(BadInput) as error:
        packages.read_package(tmp_path / "package", reader=GRID)
    assert "\n" not in str(error.value)


def test_the_same_with_nothing_spoilt_is_read(whole, tmp_path):
    forged(whole, GRID, tmp_path / "package")
    assert packages.read_package(tmp_path / "package", reader=GRID).kind == "grid"


@pytest.mark.parametrize("kind", ["particles", "draws", "coin", "", "x" * 100])
def test_a_package_of_another_kind_is_refused(whole, tmp_path, kind):
    forged(dataclasses.replace(whole, kind=kind), GRID, tmp_path / "package")
    with pytest.raises(BadInput, match="kind"):
        packages.read_package(tmp_path / "package", reader=GRID)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_whatever_arrays_there_are_the_draws_that_pass_lie_in_the_prior(whole, tmp_path, data):
    name = data.draw(st.sampled_from(("samples", "mean", "covariance")))
    shape = data.draw(st.sampled_from(((2,), (2, 2), (5, 2), (0, 2), (1,), ())))
    array = data.draw(arrays_of.arrays(np.float64, shape))
    made = dataclasses.replace(whole, arrays=whole.arrays | {name: array})
    try:
        with np.errstate(all="ignore"):  # as when it is read
            GRID.check(made, "here")
    except BadInput:
        return
    for found in (made.arrays["samples"], made.arrays["mean"]):
        assert (found >= (0.549, 0.99)).all() and (found <= (0.951, 5.01)).all()


@pytest.mark.parametrize("shift", [0.0, 20.0])
def test_draws_of_a_model_lie_in_their_prior(tmp_path, shift):
    samples = DRAW.normal(0.0, 1.0, (200, 2)) + shift
    noise = np.full((200, 3), 0.1)
    package = Package(
        kind="draws",
        name="model-crane",
        parameters=tuple(Parameter(name, "kg", -9.0, 9.0) for name in ("a", "b")),
        arrays={
            "samples": samples, "observation": noise, "departure": noise,
            "mean": samples.mean(0), "covariance": np.cov(samples.T),
        },
        inputs=model_packages.inputs(),
        checks={},
        data_digest="0" * 32,
        git_commit="unknown",
    )  # fmt: skip
    forged(package, model_packages.READER, tmp_path / "package")
    if shift:
        with pytest.raises(BadInput, match="the prior's box"):
            packages.read_package(tmp_path / "package", reader=model_packages.READER)
    else:
        packages.read_package(tmp_path / "package", reader=model_packages.READER)
