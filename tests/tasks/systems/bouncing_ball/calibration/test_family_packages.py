"""What whole takes tell goes into the package where it may be relied on, and else stays out."""

from dataclasses import replace

import numpy as np
import torch

from ricochet.models.systems.bouncing_ball.chains.parameters import NAMES
from ricochet.tasks.registry.packages import read_package, write_package
from ricochet.tasks.systems.bouncing_ball import contact_package
from ricochet.tasks.systems.bouncing_ball.calibration import family_packages
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from tests.tasks.systems.bouncing_ball.calibration import family_cases


def test_the_package_keeps_the_grid_and_gains_the_draws(package, tmp_path):
    answer = family_cases.answer(1)
    made = family_packages.packaged(package, answer, seed=0)
    write_package(tmp_path / "package", made, reader=GRID)
    read = read_package(tmp_path / "package", reader=GRID)
    assert read.kind == "family" and read.checks["family"]["members"] == family_cases.WEIGHTS
    summary = ("samples", "mean", "covariance")
    for name, array in package.arrays.items():
        place = f"three_bounces.{name}" if name in summary else name
        np.testing.assert_array_equal(read.arrays[place], array)
    found = contact_package.contact_draws(read)
    np.testing.assert_allclose(
        read.arrays["samples"], contact_package.summary_of(found)["samples"], rtol=1e-12
    )
    np.testing.assert_allclose(read.arrays["mean"], read.arrays["samples"].mean(0), rtol=1e-12)

    expected = answer.family
    at = found.restitution(torch.tensor(1.0, dtype=torch.float64)).numpy()
    # the draws scatter by less than 5e-5 from take to take: four errors of the mean of 4000
    assert abs(at.mean() - expected.restitution(1.0).mean()) < 4.0 * 5e-5 / 4000**0.5
    kappa = torch.log10(found.contact.concentration).numpy()
    np.testing.assert_allclose(kappa, expected.theta[:, 1], rtol=1e-12)
    np.testing.assert_array_equal(found.viscoelastic.numpy(), expected.member == 2)


def test_the_summary_of_the_paper_s_model_is_found_in_packages_of_both_kinds(package):
    pairs = np.array([[0.8, 2.0], [0.9, 3.0], [0.85, 2.2]])
    own = {"samples": pairs, "mean": pairs.mean(0), "covariance": np.cov(pairs.T)}
    plain = replace(package, arrays=package.arrays | own)
    made = family_packages.packaged(plain, family_cases.answer(1), seed=0)
    for name, expected in own.items():
        assert contact_package.of_paper(plain)[name] is expected
        assert contact_package.of_paper(made)[name] is expected
        assert made.arrays[name] is not expected


def test_the_same_seed_makes_the_same_package_and_another_one_none(package):
    answer = family_cases.answer(1)
    one, two, other = (
        family_packages.packaged(package, answer, seed=seed).arrays["contact.restitution"]
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


def test_without_an_answer_to_rely_on_the_package_stays_as_it_was(package):
    assert family_packages.packaged(package, None, seed=0) is package
    weak = family_cases.answer(1, weak="only 3 draws carry the answer")
    assert family_packages.packaged(package, weak, seed=0) is package
    assert family_packages.metrics(None) == {}


def test_the_numbers_of_a_run_are_those_of_the_draws():
    answer = family_cases.answer(2)
    found = family_packages.metrics(answer)
    family = answer.family
    drag = np.exp(family.theta[:, NAMES.index("log_drag")])
    assert found["whole_takes_drag_per_m_mean"] == drag.mean()
    assert found["whole_takes_drag_per_m_sd"] == drag.std()
    weights = [found[f"whole_takes_weight_{name}"] for name in family_cases.WEIGHTS]
    assert np.isclose(sum(weights), 1.0) and all(np.isfinite(list(found.values())))
    step = np.eye(len(NAMES))[NAMES.index("log_drag")]
    moved = family_packages.metrics(
        replace(answer, family=replace(family, theta=family.theta + step))
    )
    expected = np.e * found["whole_takes_drag_per_m_mean"]
    assert np.isclose(moved["whole_takes_drag_per_m_mean"], expected)
