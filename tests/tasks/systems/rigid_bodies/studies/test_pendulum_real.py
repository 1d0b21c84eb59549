"""The study of the filmed pendulum at its smallest, of a simulated film: rows and pictures."""

import json
from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import no_progress
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.interface import StudyRequest
from ricochet.tasks.systems.rigid_bodies import pendulum_inference
from ricochet.tasks.systems.rigid_bodies.settings import Pendulum
from ricochet.tasks.systems.rigid_bodies.studies import (
    filmed_pendulum,
    likelihood_free,
    real_rows,
    real_search,
)
from ricochet.tasks.systems.rigid_bodies.studies import pendulum_real as study
from ricochet.tasks.systems.rigid_bodies.studies.real_rows import OURS, PRIOR, Job

FRAMES = 700


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eleven recordings of two rods."""
    place = tmp_path_factory.mktemp("films")
    generator = np.random.default_rng(3)
    starts = np.zeros((11, 4))
    starts[:, :2] = generator.uniform(1.0, 2.5, (11, 2)) * generator.choice((-1.0, 1.0), (11, 2))
    parts = []
    for _ in range(2):
        parts.append(filmed_pendulum.rolled(real_search.RODS[None], starts[:, :])[0])
        starts = parts[-1][:, -1]
    for number, states in enumerate(np.concatenate(parts, 1)[:, :FRAMES]):
        angles = states[:, :2] + 2e-4 * generator.normal(size=(FRAMES, 2))
        np.savetxt(place / f"{number}.csv", angles, "%.6f", ",", header="angle_1,angle_2",
                   comments="")  # fmt: skip
    return place


def test_the_prior_is_even_and_simulations_begin_where_the_film_does(folder: Path) -> None:
    found = real_rows.work(Job(PRIOR, 0, str(folder)))
    limits = pendulum_inference.limits()
    share = (found.parameters - limits.low.numpy()) / (limits.high - limits.low).numpy()
    assert share.min() >= 0.0 and share.max() <= 1.0
    assert abs(share.mean() - 0.5) < 4.0 / np.sqrt(12 * share.size)
    film = real_rows.film_of(str(folder))
    simulated = real_rows.simulate(film, 50, np.random.default_rng(0))
    np.testing.assert_array_equal(simulated.states[:, 0], np.tile(film.seen[0], (50, 1)))
    assert bool(((simulated.theta > 0.0) & (simulated.theta < 1.0)).all())


def test_jobs_are_each_row_and_seed_once() -> None:
    plan = study.Plan("films", (3, 4), 5, 10, likelihood_free.NAMES, study.SWEPT)
    seconds = {3: 1.0, 4: 2.0}
    jobs = [*plan.first(), *plan.rest(seconds)]
    assert len(set(jobs)) == len(jobs)
    of_methods = [job for job in jobs if job.row == "svgd-ms"]
    assert [(job.seed, job.seconds) for job in of_methods] == [(3, 1.0), (4, 2.0)]
    assert {job.sigma for job in jobs if job.row == "csvgd-ms"} == {0.1, *study.SIGMAS}
    assert set(study.rows(plan)) >= {job.row for job in jobs} - {real_rows.PAPER_LIMITS}


def test_no_film_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    settings = catalogue.load_settings().changed(Pendulum, films=str(tmp_path))
    out = tmp_path / "out"
    with pytest.raises(BadInput, match=r"pendulum\.films"):
        study.run(StudyRequest(settings, out, no_progress))
    assert not out.exists()


@pytest.mark.proof
def test_the_study_has_its_rows_and_pictures(tmp_path: Path, folder: Path, monkeypatch) -> None:
    monkeypatch.setattr(study, "QUICK_PARTICLES", 6)
    monkeypatch.setattr(study, "QUICK_SIMULATIONS", 300)
    monkeypatch.setattr(study, "QUICK_SECONDS", 0.5)
    changed = {"films": str(folder), "particles": 8, "instants": [0.0], "span": 0.5}
    settings = catalogue.load_settings().changed(Pendulum, **changed)
    found = study.run(StudyRequest(settings, tmp_path, no_progress, quick=True))
    assert json.loads(json.dumps(found)) == found
    rows = found["rows"]
    assert {OURS, PRIOR, "svgd-ms", "mdn-downsampled"} <= set(rows)
    assert rows[OURS]["energy_score"] < 0.5 * rows[PRIOR]["energy_score"]
    assert rows[OURS]["starts_at_best"] >= 0.5
    assert found["held_out"]["0"]["angle_deg"]["0.25"] < 5.0
    assert set(found["crossing"]) == {"short", "long"}
    passed = found["crossing"]["short"]
    assert passed["oracle"]["contacts"] == 0
    assert passed["oracle"]["of_oracle"] in (1.0, None)
    assert all((tmp_path / f"{name}.png").is_file() for name in ("motions", "motions_learnt"))
    assert not list(tmp_path.glob("*.journal"))
