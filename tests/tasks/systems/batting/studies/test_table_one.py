"""The study of batting, whole but short."""

from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.progress import no_progress
from ricochet.models.systems.batting import trial
from ricochet.models.systems.batting.belief.localiser import FilterSettings
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.batting.studies import jobs, table_one
from ricochet.tasks.systems.batting.studies.jobs import Job
from ricochet.tasks.systems.batting.studies.rows import CLOSED, KNOWN, OPEN
from ricochet.tasks.systems.interface import StudyRequest

SMALL = FilterSettings(draws=2000, early=1000, particles=1000)


def request(out: Path, count: int | None = None, **numbers: float) -> StudyRequest:
    numbers = {"screen_noise": 0.02, **numbers}
    return StudyRequest(
        catalogue.load_settings(), out, no_progress, quick=True, count=count, numbers=numbers
    )


def test_rows_of_one_number_meet_the_same_starts_and_noise(tmp_path, monkeypatch):
    asked = table_one.asked(request(tmp_path, count=2, seconds=1.0))
    planned = table_one.planned(asked, 0.02, seed=4)
    assert len(set(planned)) == len(planned)
    for row in (*CLOSED, *OPEN):
        numbers = [each.number for each in planned if (each.row, each.mode) == (row, "filter")]
        assert numbers[:2] == [0, 1]
    seen = []
    real = trial.random_start
    monkeypatch.setattr(trial, "random_start", lambda *given: seen.append(real(*given)) or seen[-1])
    for row in ("E", "J"):
        jobs.do(Job(row, "filter", 1, 0.5, 0.02, 4))
    first, second = seen
    np.testing.assert_array_equal(first.state, second.state)
    np.testing.assert_array_equal(first.world.noise, second.world.noise)
    np.testing.assert_array_equal(first.screen, second.screen)
    other = real(4, 2, 0.5, 0.02)
    assert (other.state != first.state).all()


def test_options_set_what_is_played(tmp_path):
    quick = table_one.asked(request(tmp_path))
    assert quick == table_one.QUICK
    longer = table_one.asked(request(tmp_path, count=4, seconds=50.0))
    assert (longer.trials, longer.open_trials, longer.seconds) == (4, 10, 50.0)


@pytest.mark.proof
def test_a_short_study_has_every_number_and_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "FilterSettings", lambda: SMALL)
    monkeypatch.setitem(jobs.FILTERS, "ours", SMALL)
    monkeypatch.setitem(
        jobs.FILTERS, "truth_started", FilterSettings(draws=0, particles=500, bandwidth=0.0)
    )
    monkeypatch.setattr(table_one, "FLIGHT", 1.0)
    monkeypatch.setattr(table_one, "warm_up", lambda: None)
    one_process = lambda *given, **named: run_all(*given, **named, workers=1)  # noqa: E731
    run_all = table_one.pool.run_all
    monkeypatch.setattr(table_one.pool, "run_all", one_process)
    asked = request(tmp_path, count=1, seconds=1.5)
    result = table_one.run(asked)
    assert set(result["rows"]) == {*CLOSED, *OPEN}
    assert set(result["known_state"]) == set(KNOWN)
    assert set(result["filter"]) == {"paper_200", "ours", "truth_started"}
    assert len(result["claims"]) == 9
    assert (tmp_path / "table_one.png").stat().st_size > 10_000
    monkeypatch.setattr(table_one, "do", lambda job: pytest.fail(f"{job} was played again"))
    assert table_one.run(asked) == result


@pytest.mark.slow
def test_a_trial_is_the_same_when_it_is_played_again(monkeypatch):
    monkeypatch.setattr(jobs, "FilterSettings", lambda: SMALL)
    job = Job("ours", "filter", 3, 3.0, 0.02, 1)
    first, second = jobs.do(job), jobs.do(job)
    assert (first.passes, first.bats) == (second.passes, second.bats)
