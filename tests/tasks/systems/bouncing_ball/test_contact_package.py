"""Draws of a contact come back from a package as they went in, and bad ones are refused."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.chains import parameters
from ricochet.models.systems.bouncing_ball.contact import Contact
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.tasks.registry.packages import read_package, write_package
from ricochet.tasks.systems.bouncing_ball import contact_package
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from tests import grid_packages

SPEEDS = torch.tensor([0.3, 2.0, 4.0], dtype=torch.float64)[:, None]


def draws(count: int = 102) -> ContactDraws:
    level = torch.linspace(0.5, 0.95, count, dtype=torch.float64)
    contact = Contact(
        level, 1e3 * level, 0.02 * level, 0.1 - 0.2 * level, 0.01 * level, level, 1e-3 * level
    )
    return ContactDraws(contact, torch.arange(count) % 2 == 1, 0.01 * level)


@pytest.fixture
def family(package):
    return contact_package.with_contacts(package, draws())


def assert_same(found: ContactDraws, expected: ContactDraws) -> None:
    for name, column in vars(expected.contact).items():
        torch.testing.assert_close(getattr(found.contact, name), column, rtol=0.0, atol=0.0)
    torch.testing.assert_close(found.drag, expected.drag, rtol=0.0, atol=0.0)
    assert torch.equal(found.viscoelastic, expected.viscoelastic)


def test_draws_come_back_from_the_disk_as_they_went_in(family, tmp_path):
    write_package(tmp_path / "package", family, reader=GRID)
    read = read_package(tmp_path / "package", reader=GRID)
    assert_same(contact_package.contact_draws(read), draws())


def test_read_only_arrays_and_laws_as_bytes_are_read(family):
    name = "contact.viscoelastic"
    arrays = family.arrays | {name: family.arrays[name].astype(np.uint8)}
    for array in arrays.values():
        array.flags.writeable = False
    assert_same(contact_package.contact_draws(replace(family, arrays=arrays)), draws())


def test_rows_of_the_arrays_are_rows_of_the_draws(family):
    some = np.array([4, 1])
    arrays = {name: family.arrays[name][some] for name in contact_package.arrays_of(draws())}
    found = contact_package.contact_draws(replace(family, arrays=family.arrays | arrays))
    assert_same(found, draws().rows(some))


def test_a_package_of_the_paper_s_model_bounces_alike_at_all_speeds(package):
    samples = np.array([[0.8, 3.0], [0.9, 2.0]])
    made = replace(package, arrays=package.arrays | {"samples": samples})
    found = contact_package.contact_draws(made)
    expected = torch.from_numpy(samples[:, 0]).expand(3, 2)
    torch.testing.assert_close(found.restitution(SPEEDS), expected)
    assert not bool(found.drag.any())


def changed(values, place):
    """The first number changed."""
    found = values.copy()
    found[0] = place
    return found


@pytest.mark.parametrize(
    ("name", "bad", "said"),
    [
        ("restitution", lambda v: v[:0], "no draw"),
        ("slope", lambda v: v[:3], "shape (3,)"),
        ("slope", lambda v: np.stack((v, v)), "shape (2, 102)"),
        ("drag", lambda v: v.astype(np.float32), "numbers of float32"),
        ("slope", lambda v: changed(v, np.nan), "not finite"),
        ("concentration", lambda v: changed(v, np.inf), "not finite"),
        ("restitution", lambda v: changed(v, 0.991), "expected numbers from 0.3 to 0.99"),
        ("restitution", lambda v: changed(v, 0.299), "expected numbers from 0.3 to 0.99"),
        ("concentration", lambda v: changed(v, 9.9), "expected numbers from 10 to 100000"),
        ("concentration", lambda v: changed(v, 1.1e5), "expected numbers from 10 to 100000"),
        ("concentration", lambda v: 0.0 * v, "expected numbers from 10 to 100000"),
        ("tangential_loss", lambda v: changed(v, 1.5), "expected numbers from -1 to 1"),
        ("tail_share", lambda v: changed(v, -0.1), "expected numbers from 0 to 1"),
        ("tail_ratio", lambda v: changed(v, 2.0), "expected numbers from 1e-05 to 1"),
        ("tail_ratio", lambda v: changed(v, 0.0), "expected numbers from 1e-05 to 1"),
        ("scatter", lambda v: changed(v, -1e-3), "expected numbers from 0 to 3"),
        ("drag", lambda v: changed(v, -0.1), "expected numbers from 0 to 10"),
        ("viscoelastic", lambda v: v.astype(np.float64), "values of float64"),
        ("viscoelastic", lambda v: 2 * v.astype(np.uint8), "up to 2"),
    ],
)
def test_what_is_no_draw_of_a_contact_is_refused_by_its_name(family, name, bad, said):
    name = f"contact.{name}"
    arrays = family.arrays | {name: bad(family.arrays[name])}
    with pytest.raises(BadInput) as refused:
        contact_package.contact_draws(replace(family, arrays=arrays))
    assert f"package: {name}: " in str(refused.value) and said in str(refused.value)
    assert "\n" not in str(refused.value)


def with_restitution(package, level):
    """The same draws of another ball, beside the grid of a package."""
    contact = replace(draws().contact, restitution=level)
    return contact_package.with_contacts(package, replace(draws(), contact=contact))


LEVELS = draws().contact.restitution
DULL, LIVELY = 0.3 + 0.1 * LEVELS, 0.96 + 0.02 * LEVELS


def test_draws_of_another_ball_than_the_grid_beside_them_are_refused():
    for middle, level in ((0.8, DULL), (0.6, LIVELY)):
        grid = grid_packages.narrow(middle=(middle, 3.0))
        with pytest.raises(BadInput, match=rf"restitution .* beside {middle} by three bounces"):
            GRID.check(with_restitution(grid, level), "here")


@pytest.mark.parametrize("middle", [(0.94, 3.0), (0.555, 3.0), (0.6, 1.05)])
def test_a_lively_ball_beyond_the_paper_s_prior_is_read(tmp_path, middle):
    """Three bounces are explained at an edge of their prior, near to the ball or far from it."""
    made = with_restitution(grid_packages.narrow(middle=middle, deviation=(1e-3, 0.01)), LIVELY)
    assert made.arrays["mean"][0] > made.parameters[0].high
    write_package(tmp_path / "package", made, reader=GRID)
    assert read_package(tmp_path / "package", reader=GRID).kind == "family"


def test_whatever_an_inference_may_answer_is_within_the_bounds():
    ends = parameters.Prior().bounds
    for drag in (parameters.UNKNOWN_DRAG, (parameters.ABSENT["log_drag"], 0.13)):
        ends[:, parameters.NAMES.index("log_drag")] = drag[0] + np.array((-6.0, 6.0)) * drag[1]
        found = parameters.values(ends)
        for name, (low, high) in contact_package.BOUNDS.items():
            values = getattr(found, name)
            assert low <= values.min() and values.max() <= high, name


@pytest.mark.parametrize("name", ["restitution", "tail_ratio", "viscoelastic", "drag"])
def test_a_missing_array_is_named(family, name):
    arrays = {key: value for key, value in family.arrays.items() if key != f"contact.{name}"}
    with pytest.raises(BadInput, match=f"package: contact.{name}: found no"):
        contact_package.contact_draws(replace(family, arrays=arrays))


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        (np.zeros((0, 2)), "shape"),
        (np.ones((3, 1)), "shape"),
        (np.full((3, 2), np.nan), "not finite"),
        (np.full((3, 2), 1.5), "restitution 1.5"),
    ],
)
def test_pairs_that_are_none_are_refused(package, samples, said):
    made = replace(package, arrays=package.arrays | {"samples": samples})
    with pytest.raises(BadInput, match=f"package: samples: .*{said}"):
        contact_package.contact_draws(made)


def test_a_package_of_anything_else_is_refused(package):
    with pytest.raises(BadInput, match="kind 'policy'"):
        contact_package.contact_draws(replace(package, kind="policy"))
