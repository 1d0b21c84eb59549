"""A package of the family is evaluated by numpy alone, and readers of the grid still read it."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball import contact as contacts
from ricochet.models.systems.bouncing_ball.contact import Contact
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.packages import read_package, write_package
from ricochet.tasks.systems.bouncing_ball import contact_package, family_package
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID, grid_log_density
from tests.checkouts import python_path

SPEEDS = np.array([0.05, 0.5, 2.0, 7.0])


def draws(count: int = 200) -> ContactDraws:
    make = np.random.default_rng(1)
    columns = (
        make.uniform(0.3, 0.99, count), 10.0 ** make.uniform(1.0, 5.0, count),
        make.normal(0.0, 0.05, count), make.normal(0.1, 0.1, count), make.uniform(0.0, 0.1, count),
        make.uniform(0.01, 1.0, count), make.uniform(0.0, 0.01, count),
    )  # fmt: skip
    drag = torch.from_numpy(make.uniform(0.0, 0.2, count))
    return ContactDraws(
        Contact(*map(torch.from_numpy, columns)), torch.arange(count) % 3 == 0, drag
    )


@pytest.fixture
def family(package):
    return contact_package.with_contacts(package, draws())


def test_its_constants_are_those_of_the_contact():
    assert family_package.REFERENCE_SPEED == contacts.REFERENCE_SPEED
    assert (family_package.LOWEST, family_package.HIGHEST) == (contacts.LOWEST, contacts.HIGHEST)


def test_restitution_equals_that_of_the_laws(family):
    found = family_package.restitution(family.arrays, SPEEDS)
    oracle = draws().restitution(torch.from_numpy(SPEEDS)[:, None]).numpy()
    np.testing.assert_allclose(found, oracle, rtol=0.0, atol=1e-9)


def test_every_law_has_its_level_at_the_reference_speed(family):
    found = family_package.restitution(family.arrays, np.array([2.0]))
    np.testing.assert_allclose(found[0], family.arrays["contact.restitution"], atol=1e-12)


def test_a_batch_of_speeds_equals_its_members(family):
    together = family_package.restitution(family.arrays, SPEEDS)
    alone = [family_package.restitution(family.arrays, np.array([v]))[0] for v in SPEEDS]
    np.testing.assert_array_equal(together, alone)


def test_outputs_do_not_depend_on_the_order_of_the_draws(family):
    turned = {
        name: values[::-1] if name.startswith("contact.") else values
        for name, values in family.arrays.items()
    }
    found = family_package.family_outputs(turned, family.inputs)
    expected = family_package.family_outputs(family.arrays, family.inputs)
    assert set(found) == set(expected) and len(found) == 7
    for name in found:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-12)


def test_a_package_of_the_grid_has_no_outputs_of_a_family(package):
    assert family_package.family_outputs(package.arrays, package.inputs) == {}


def test_the_self_test_finds_draws_that_are_not_those_it_was_made_with(family, tmp_path):
    write_package(tmp_path / "package", family, reader=GRID)
    read = read_package(tmp_path / "package", reader=GRID)
    assert read.kind == "family" and set(read.inputs) == {"theta", "speed"}
    shifted = Reader(
        grid_log_density,
        further=lambda arrays, inputs: family_package.family_outputs(
            arrays | {"contact.slope": arrays["contact.slope"] + 0.01}, inputs
        ),
    )
    with pytest.raises(BadInput, match="self-test"):
        read_package(tmp_path / "package", reader=shifted)


def test_one_without_its_draws_fails_its_self_test(family, tmp_path):
    less = {name: a for name, a in family.arrays.items() if name != "contact.drag"}
    with pytest.raises(KeyError):
        write_package(tmp_path / "package", replace(family, arrays=less), reader=GRID)


def test_a_reader_of_the_grid_alone_reads_it_as_before(package, family, tmp_path):
    """As every reader did before there were packages of the kind `family`."""
    before = Reader(grid_log_density)
    write_package(tmp_path / "family", family, reader=GRID)
    write_package(tmp_path / "grid", package, reader=before)
    read = read_package(tmp_path / "family", reader=before)
    grid = read_package(tmp_path / "grid", reader=GRID)
    theta = {"theta": np.array([[0.6, 1.5], [0.8, 4.5]])}
    found = grid_log_density(read.arrays, theta)["log_density"]
    expected = grid_log_density(grid.arrays, theta)["log_density"]
    np.testing.assert_array_equal(found, expected)
    assert grid.kind == "grid"


PROGRAM = """
import sys
from pathlib import Path
from ricochet.tasks.registry.packages import read_package
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
package = read_package(Path(sys.argv[1]), reader=POSTERIOR.load_reader())
print(package.kind, "torch" in sys.modules, "scipy" in sys.modules)
"""


def test_reading_it_needs_numpy_and_safetensors_alone(family, tmp_path):
    write_package(tmp_path / "package", family, reader=GRID)
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "package")]
    done = subprocess.run(
        command, capture_output=True, text=True, env={"PYTHONPATH": python_path()}
    )
    assert done.stdout.split() == ["family", "False", "False"], done.stderr
