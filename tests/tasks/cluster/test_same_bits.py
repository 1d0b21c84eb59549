"""Whatever is sent to a cluster has the bits that this process gives it, on any number of workers.

Data sets, labels, exact posteriors, a study and a search: each by the function that a verb calls.
"""

import hashlib
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from benchmarks.compute import cluster, cluster_processes
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.tasks.cluster.computing import computing
from ricochet.tasks.console import jobs
from ricochet.tasks.general_settings import Search
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.policies import labelling
from ricochet.tasks.systems.batting.studies import jobs as batting_jobs
from ricochet.tasks.systems.batting.studies import table_one
from ricochet.tasks.systems.bouncing_ball import simulated_drops
from ricochet.tasks.systems.bouncing_ball.settings import Simulate
from ricochet.tasks.training import search
from tests.models.systems.air_hockey.shots import test_objective as shots
from tests.tasks.training import test_search


def data_set(folder: Path) -> bytes:
    """Simulate drops in three pieces."""
    given = Simulate(drops=2 * simulated_drops.PIECE + 10, time_sd=1e-4, position_sd=5e-3)
    simulated_drops.run(given, folder, seed=3)
    with np.load(folder / simulated_drops.DATA) as found:
        return b"".join(found[name].tobytes() for name in sorted(found))


def labels(folder: Path) -> bytes:
    """Roll out angles of pucks in three chunks."""
    draw = np.random.default_rng(0)
    states = draw.uniform(objective.LOW, objective.HIGH, (5, 6))
    angles = np.tile(np.linspace(-1.0, 1.0, objective.CHUNK // 2), (5, 1))
    found = labelling.exhaustive(shots.CONDITIONS, states, angles)
    return b"".join(column.tobytes() for column in vars(found).values())


def posteriors(folder: Path) -> bytes:
    """Infer sessions exactly."""
    found = jobs.run_all(partial(cluster.infer, str(folder)), cluster.sessions(3, seed=0))
    return b"".join(repr(each.level).encode() + each.ranks.tobytes() for each in found)


def study(folder: Path) -> bytes:
    """Play a row of each kind of Table I's for two seconds; how long it took is no result."""
    amount = table_one.Amount(trials=1, open_trials=0, seconds=2.0, flights=1)
    planned = table_one.planned(amount, 0.02, seed=4)
    one_each = {job.mode: replace(job, seconds=2.0) for job in planned}
    played = jobs.run_all(batting_jobs.do, list(one_each.values()))
    return repr([replace(each, plan_ms=(), update_ms=()) for each in played]).encode()


def proposals(folder: Path) -> bytes:
    """Search settings, three trials at a time."""
    rules = Search(batch=3, storage="")
    found = search.search(test_search.space(), folder, trials=6, seed=5, rules=rules)
    return repr((found, search.completed("study", folder))).encode()


KINDS = (data_set, labels, posteriors, study, proposals)
FEW = (data_set, proposals)


def digests(place: Path, overrides: list[str], kinds: tuple) -> dict[str, str]:
    """Return the digest of each kind, computed where settings say."""
    found = {}
    with computing(catalogue.load_settings(None, overrides)):
        for kind in kinds:
            folder = place / kind.__name__
            folder.mkdir(parents=True)
            found[kind.__name__] = hashlib.sha256(kind(folder)).hexdigest()
    return found


@pytest.mark.parametrize(
    ("count", "kinds"),
    [
        pytest.param(2, FEW, marks=pytest.mark.slow),
        pytest.param(1, KINDS, marks=pytest.mark.proof),
        pytest.param(2, KINDS, marks=pytest.mark.proof),
    ],
)
def test_jobs_have_the_same_bits_on_workers(tmp_path: Path, count: int, kinds: tuple) -> None:
    expected = digests(tmp_path / "here", ["compute.workers=1"], kinds)
    with cluster_processes.scheduler(tmp_path) as scheduler:
        place = tmp_path / "workers"
        place.mkdir()
        with cluster_processes.workers(scheduler, place, count):
            assert digests(place / "out", scheduler.overrides, kinds) == expected
