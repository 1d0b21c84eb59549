"""The study of synthetic pendulums, at its smallest: rows, claims, pictures, and a second run."""

import json
from pathlib import Path
from typing import Any

import pytest

from ricochet.models.core.progress import no_progress
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.interface import StudyRequest
from ricochet.tasks.systems.rigid_bodies.settings import Pendulum
from ricochet.tasks.systems.rigid_bodies.studies import pendulum_synthetic as study
from ricochet.tasks.systems.rigid_bodies.studies import synthetic_rows, tables

PICTURES = ("inputs", "landscape", "motions", "on_the_way", "posteriors", "sum_and_product")


def row(kl: float, width: float = 1.0) -> dict[str, Any]:
    return {"kl_real_sim": kl, "kl_sim_real": kl, "mmd2": kl, "width": width}


def table(**changed: Any) -> dict[str, Any]:
    rows = {name: row(1.0) for name in study.rows(study.Plan((0,), 1.0, 10, ()))}
    rows |= {f"{name}-ss": row(1.0) for name in ("emcee", "nuts")}
    rows |= {"svgd-ss": row(0.5), "exact": row(0.4), "population": row(0.1)}
    return {**rows, "cem-ss": row(2.0, 0.01), "cem-ms": row(2.0, 0.02), **changed}


def holding(rows: dict[str, Any]) -> list[bool]:
    return [claim["holds"] for claim in study.claims(rows)]


def test_claims_are_answered_by_the_numbers() -> None:
    assert holding(table()) == [True, True, True, True]
    better = {**row(1.0), "mmd2": 0.1}
    assert holding(table(**{"sgld-ms": better}))[0] is False
    assert holding(table(**{"cem-ms": row(2.0, 0.5)}))[1] is False
    assert holding(table(exact=row(0.2)))[2] is False
    assert holding(table(population={**row(0.1), "kl_sim_real": 0.3}))[3] is False


@pytest.mark.proof
def test_particles_that_are_the_same_have_no_divergence_and_are_ahead_of_none() -> None:
    same = synthetic_rows.Inferred([[1.5, 2.0]] * 100, 0.1)
    numbers = study.Judge.of(0).numbers(same)
    assert numbers["kl_sim_real"] is None
    assert numbers["width"] == 0.0
    averaged = tables.averaged([numbers, {**numbers, "kl_sim_real": 1.0}], study.NUMBERS)
    assert averaged["kl_sim_real"] is None
    assert averaged["infinite"] >= 1
    none = {**row(0.1), "kl_sim_real": None}
    assert (
        "sgld-ss"
        not in study.claims(table(**{"sgld-ss": none}))[0]["figures"]["ahead_of_it"]["kl_sim_real"]
    )


@pytest.mark.proof
def test_the_study_has_its_rows_and_pictures(tmp_path: Path) -> None:
    settings = catalogue.load_settings().changed(Pendulum, seconds=0.3)
    request = StudyRequest(settings, tmp_path, no_progress, quick=True)
    result = study.run(request)
    assert {"exact", "truth", "population", "svgd-ss", "csvgd-ms"} <= set(result["rows"])
    assert json.loads(json.dumps(result)) == result
    for name in PICTURES:
        assert (tmp_path / f"{name}.png").stat().st_size > 5_000
    assert not list(tmp_path.glob("*.journal"))
    truth = result["rows"]["truth"]
    assert truth["kl_real_sim"] < 0.5 < result["rows"]["sgld-ss"]["kl_real_sim"]
