"""Claims about the filmed pendulum: answered by the figures, one way and the other."""

from typing import Any

import numpy as np
import pytest

from ricochet.models.systems.rigid_bodies.pendulum_limits import HIGH, LOW
from ricochet.tasks.systems.rigid_bodies.studies import likelihood_free, real_claims, real_rows
from ricochet.tasks.systems.rigid_bodies.studies.real_rows import OURS, PARAMETERS_ALONE, Found


def row(value: float | None, spread: float = 0.5, sd: float = 0.0) -> dict[str, Any]:
    names = ("kl_real_sim", "kl_sim_real", "mmd2", "energy_score")
    found: dict[str, Any] = dict.fromkeys(names, value)
    found |= {"spread": spread, "fit_rmse": 0.05, "starts_at_best": 1.0}
    return {**found, "sd": dict.fromkeys(names, sd)}


def table(**changed: Any) -> dict[str, Any]:
    """All as the paper and we would have it."""
    rows = {name: row(5.0 if name.endswith("ss") else 6.0) for name in real_rows.names()}
    rows |= {name: row(7.0) for name in likelihood_free.NAMES}
    rows |= {"cem-ss": row(8.0, 0.01), "cem-ms": row(8.0, 0.01), "prior": row(0.0)}
    rows |= {"sgld-ms": row(4.0), "csvgd-ms": row(3.0)}
    rows |= {OURS: row(1.0), PARAMETERS_ALONE: row(2.0)}
    return {**rows, **{name.replace("_", "-"): each for name, each in changed.items()}}


def limited(*inertias: float) -> Found:
    theta = 0.5 * (LOW + HIGH) * np.ones((4, 1))
    theta[:, [1, 7]] = inertias
    return Found(theta.tolist(), 0.12, 1.0, 1.0)


def holding(rows: dict[str, Any], inertias=(0.002, 0.002), length: float = 0.146) -> list[bool]:
    theta = np.tile(0.5 * (LOW + HIGH), (100, 1))
    theta[:, 5] = length + 1e-3 * np.random.default_rng(0).normal(size=100)
    return [each["holds"] for each in real_claims.claims(rows, limited(*inertias), theta, 5)]


def test_all_hold_where_figures_are_as_the_sentences_say() -> None:
    held = holding(table())
    assert all(held)
    assert len(held) == 10


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"svgd_ss": row(2.5)}, 0),
        ({"sgld_ms": row(5.5)}, 1),
        ({"sgld_ms": row(None)}, 1),
        ({"nuts_ms": row(4.0)}, 2),
        ({"cem_ms": row(8.0, 0.4)}, 3),
        ({"mdn_difference": row(2.9)}, 4),
        ({"cem_ms": row(0.5, 0.01)}, 5),
        ({"cem_ms": row(1.5, 0.01)}, 6),
    ],
)
def test_a_figure_that_is_otherwise_lets_its_sentence_fall(changed, place: int) -> None:
    assert not holding(table(**changed))[place]


def test_fits_limits_and_the_clock_are_judged_by_their_own_figures() -> None:
    poor = {**row(1.0), "fit_rmse": 0.1}
    rows = table()
    assert not holding({**rows, OURS: poor})[7]
    assert not holding(rows, inertias=(0.002, 0.1))[8]
    assert not holding(rows, length=0.091)[9]


def test_rows_that_the_seeds_do_not_part_are_level_and_not_ahead() -> None:
    rows = table(cem_ms=row(0.9, sd=0.2), sgld_ms=row(0.9, sd=0.01), nuts_ms=row(None))
    level, ahead = real_claims.ties(rows, OURS, "mmd2", 5)
    assert (level, ahead) == (["cem-ms"], ["sgld-ms"])


def test_methods_that_are_absent_are_not_spoken_of() -> None:
    rows = {name: each for name, each in table().items() if not name.startswith(("nuts", "emcee"))}
    assert all(holding(rows))


def test_parameters_of_which_half_the_fits_are_at_a_limit_are_named() -> None:
    assert real_claims.at_the_papers_limits(limited(0.002, 1.0).parameters) == [
        "inertia_1 low",
        "inertia_2 high",
    ]
