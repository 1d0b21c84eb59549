"""The study end to end at a tiny size: the keys of its result, its figures, its progress."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.settings import Study
from ricochet.tasks.systems.bouncing_ball.studies import inference
from ricochet.tasks.systems.interface import StudyRequest

TINY = {
    "simulations": 300,
    "paper_simulations": 200,
    "cases": 3,
    "sessions": 2,
    "repeats": 2,
    "drops": 3,
}
PAIR = {"restitution", "log10_concentration"}
LEVELS = {"0.5", "0.8", "0.9", "0.95"}


def test_quick_takes_its_share_of_every_count_and_never_none() -> None:
    full = catalogue.load_settings()[Study]
    quick = inference.shrunk(replace(full, repeats=3), 0.1)
    assert quick.simulations == round(0.03 * full.simulations)
    assert quick.sessions == round(0.03 * full.sessions) and quick.repeats == 1
    # what is a setting of the problem, and not a count, stays
    assert quick.paper_simulations == full.paper_simulations
    assert quick.drops == inference.QUICK_DROPS < full.drops
    assert inference.shrunk(replace(full, drops=3), 0.1).drops == 3


def test_the_noise_free_setting_observes_exact_drops_and_repeats_by_seed() -> None:
    paper = inference.Setting(0.0, 0.0, 10)
    first, second = paper.drops(5, 3), paper.drops(5, 3)
    assert float(first.noise.time_sd.abs().max()) == 0.0
    assert (first.features.ratio == second.features.ratio).all()
    assert (first.theta != paper.drops(5, 4).theta).all()
    other = inference.Setting(0.0, 0.0, 10, inference.SEED + inference.APART)
    assert (first.theta != other.drops(5, 3).theta).all()


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path, list]:
    out, steps = tmp_path_factory.mktemp("study"), []
    plain = catalogue.load_settings()
    tiny = plain.changed(Study, **TINY)
    result = inference.run(StudyRequest(tiny, out, lambda *step: steps.append(step)))
    return result, out, steps


def _is_a_row(row: dict[str, Any]) -> None:
    assert set(row["mae_mean"]) == set(row["mae_peak"]) == PAIR
    assert set(row["coverage"]) == LEVELS
    assert math.isfinite(row["negative_log_posterior"]) and row["train_cpu_s"] >= 0.0


@pytest.mark.proof
def test_the_result_holds_the_tables_of_methods(study) -> None:
    result = study[0]
    assert result["noise"] == {"time_s": 1e-4, "position_m": 5.35e-3}
    assert result["simulations"] == TINY["simulations"] and result["cases"] == TINY["cases"]
    assert {"mdn", "exact", "sbi-mdn"} <= set(result["methods"])
    assert result["paper"]["noise"] == {"time_s": 0.0, "position_m": 0.0}
    for row in [*result["methods"].values(), *result["paper"]["methods"].values()]:
        if "absent" in row:  # the peer is an optional extra
            assert "pip install" in row["absent"]
        else:
            _is_a_row(row)
    assert "absent" not in result["methods"]["mdn"] and "absent" not in result["methods"]["exact"]


@pytest.mark.proof
def test_the_result_holds_the_ablation(study) -> None:
    assert set(study[0]["ablation"]) == {"time", "position", "both"}
    for row in study[0]["ablation"].values():
        _is_a_row(row)


@pytest.mark.proof
def test_the_result_holds_the_products(study) -> None:
    product = study[0]["product"]
    assert set(product) == {"prior", "ping-pong", "tennis", "moon ball"}
    prior = product.pop("prior")
    assert prior["drops"] == TINY["drops"] and prior["sessions"] == TINY["sessions"]
    assert 0.0 <= prior["coverage_90"] <= 1.0
    for row in product.values():
        assert row["drops"] == TINY["drops"] and row["repeats"] == TINY["repeats"]
        assert 0.0 <= row["coverage_90"] <= 1.0
        assert set(row["error_over_sd"]) == set(row["bias"]) == PAIR


@pytest.mark.proof
def test_the_result_can_be_written_as_strict_json(study) -> None:
    assert json.loads(json.dumps(study[0], allow_nan=False))["cases"] == study[0]["cases"]


@pytest.mark.proof
def test_the_study_draws_its_figures(study) -> None:
    for name in ("coverage-one-drop.png", "coverage-product.png"):
        assert (study[1] / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.proof
def test_the_study_s_progress_rises_to_its_end(study) -> None:
    done = [step for step, _ in study[2]]
    assert done == sorted(done) and study[2][-1][0] == study[2][-1][1]
    # every step up to the end is work: none of the last is skipped or repeated
    assert done.count(done[-1]) == 1
