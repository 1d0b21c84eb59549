"""The study of the filmed pendulum: Tables I to III, Figs. 5 and 8 to 10 of Heiden et al., V-B.

Every method infers eleven parameters of one second of film, with the processor time that ours took.
Its particles are rolled out from ten other recordings' first states and compared with them
(`filmed_pendulum`). Then what ours predicts, and what may be let pass the pendulum.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ricochet.models.core.progress import Progress
from ricochet.tasks.console.jobs import Journal, run_all
from ricochet.tasks.console.progress import part
from ricochet.tasks.figures import style
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.systems.interface import StudyRequest
from ricochet.tasks.systems.rigid_bodies.figures import pendulum_real as figures
from ricochet.tasks.systems.rigid_bodies.settings import Pendulum
from ricochet.tasks.systems.rigid_bodies.studies import (
    filmed_pendulum,
    likelihood_free,
    peer_samplers,
    real_ahead,
    real_claims,
    real_rows,
    tables,
)
from ricochet.tasks.systems.rigid_bodies.studies.filmed_pendulum import METRICS, Film
from ricochet.tasks.systems.rigid_bodies.studies.methods import PARTICLES
from ricochet.tasks.systems.rigid_bodies.studies.real_rows import (
    OURS,
    PAPER_LIMITS,
    PARAMETERS_ALONE,
    PRIOR,
    SIGMA,
    Found,
    Job,
)

SIMULATIONS = 10_000
QUICK_PARTICLES, QUICK_SIMULATIONS, QUICK_SECONDS = 8, 1000, 10.0
SWEPT = ("csvgd-ms", "sgld-ms")
SIGMAS = (0.3 * SIGMA, 3.0 * SIGMA)
"""Further sigmas for them: the paper does not state its own."""
NUMBERS = (*METRICS, "spread", "unstable", "fit_rmse", "starts_at_best", "cpu_s")


@dataclass(frozen=True)
class Plan:
    """How much is computed.

    Attributes:
        particles: Of ours; of what is shown of every row, a hundred.
        swept: Rows that are tried with other sigmas.
        most: Seconds of processor time for a method, where ours took longer.
    """

    folder: str
    seeds: tuple[int, ...]
    particles: int
    simulations: int
    learnt: tuple[str, ...]
    swept: tuple[str, ...]
    most: float = math.inf

    def job(self, row: str, seed: int, seconds: float = 0.0, sigma: float = SIGMA) -> Job:
        """Return the job of a row."""
        if row in (OURS, PARAMETERS_ALONE):
            return Job(OURS, seed, self.folder, particles=self.particles)
        if row in (PRIOR, PAPER_LIMITS):
            return Job(row, seed, self.folder)
        if row in likelihood_free.NAMES:
            return Job(row, seed, self.folder, simulations=self.simulations)
        return Job(row, seed, self.folder, seconds, sigma=sigma)

    def first(self) -> list[Job]:
        """Return ours, whose processor time is that of the others, and what takes none."""
        paper = self.job(PAPER_LIMITS, self.seeds[0])
        return [self.job(row, seed) for row in (OURS, PRIOR) for seed in self.seeds] + [paper]

    def rest(self, seconds: Mapping[int, float]) -> list[Job]:
        """Return all others, those that take long first."""
        each = [
            self.job(row, seed, seconds[seed])
            for row in (*self.learnt, *present())
            for seed in self.seeds
        ]
        return each + list(self.sweep(seconds).values())

    def sweep(self, seconds: Mapping[int, float]) -> dict[tuple[str, float], Job]:
        """Return rows with other sigmas, on the first seed."""
        seed = self.seeds[0]
        rows = [row for row in self.swept if row in present()]
        return {(row, s): self.job(row, seed, seconds[seed], s) for row in rows for s in SIGMAS}


def run(request: StudyRequest) -> dict[str, Any]:
    """Infer every row, compare, predict, answer the claims and draw."""
    plan, settings = _plan(request), request.settings[Pendulum]
    film = filmed_pendulum.read(Path(plan.folder))  # refused before anything is written
    out = output_folder(request.out)
    journal = Journal(out / f"rows-{_digest(plan.folder)}.journal", asdict, lambda d: Found(**d))
    found = _worked(plan.first(), journal, part(request.progress, 0, 3))
    seconds = {seed: min(plan.most, found[plan.job(OURS, seed)].cpu_s) for seed in plan.seeds}
    found |= _worked(plan.rest(seconds), journal, part(request.progress, 1, 3))
    by_row = {
        row: [found[plan.job(row, seed, seconds[seed])] for seed in plan.seeds]
        for row in rows(plan)
    }
    by_row[PARAMETERS_ALONE] = [replace(one, departure=None) for one in by_row[OURS]]
    each = {row: [_numbers(film, one) for one in some] for row, some in by_row.items()}
    table = {row: tables.averaged(numbers, NUMBERS) for row, numbers in each.items()}
    ahead = real_ahead.run(
        Path(plan.folder), settings, out, request.seed,
        quick=request.quick, progress=part(request.progress, 2, 3),
    )  # fmt: skip
    style.write(
        out,
        {
            **figures.motions(film, {row: some[0] for row, some in by_row.items()}),
            "metrics": figures.metrics(each),
        },
    )
    journal.file.unlink()
    limited = found[plan.job(PAPER_LIMITS, plan.seeds[0])]
    return {
        "quick": request.quick,
        **_compared(plan, table, limited),
        "sweep": {
            row: {f"{s:g}": _numbers(film, found[job]) for (name, s), job in
                  plan.sweep(seconds).items() if name == row}
            for row in plan.swept
        },
        "claims": real_claims.claims(table, limited, ahead.theta, len(plan.seeds)),
        "held_out": ahead.held_out,
        "crossing": ahead.crossing,
    }  # fmt: skip


def rows(plan: Plan) -> tuple[str, ...]:
    """Return the names of all rows."""
    return (OURS, PARAMETERS_ALONE, PRIOR, *present(), *plan.learnt)


def present() -> tuple[str, ...]:
    """Return the rows of methods whose packages are installed."""
    missing = peer_samplers.absent()
    return tuple(row for row in real_rows.names() if row.rsplit("-", 1)[0] not in missing)


def _compared(plan: Plan, table: Mapping[str, Any], limited: Found) -> dict[str, Any]:
    """Return the rows, and how they were computed."""
    return {
        "seeds": list(plan.seeds),
        "sigma": SIGMA,
        "windows": dict(filmed_pendulum.WINDOWS),
        "particles": plan.particles,
        "rows": table,
        "paper_limits": {
            "fit_rmse": limited.fit_rmse,
            "at_limits": real_claims.at_the_papers_limits(limited.parameters),
        },
        "absent": peer_samplers.absent(),
        "settings": {row: dict(chosen) for row, chosen in real_rows.SETTINGS.items()},
    }


def _worked(jobs: Sequence[Job], journal: Journal[Found], progress: Progress) -> dict[Job, Found]:
    found = run_all(real_rows.work, jobs, journal=journal, progress=progress)
    return dict(zip(jobs, found, strict=True))


def _numbers(film: Film, found: Found) -> dict[str, float | None]:
    return {
        **film.judge.numbers(found.parameters, found.departures),
        "fit_rmse": found.fit_rmse,
        "starts_at_best": found.starts_at_best,
        "cpu_s": found.cpu_s,
    }


def _plan(request: StudyRequest) -> Plan:
    settings, quick = request.settings[Pendulum], request.quick
    count = request.count or (1 if quick else settings.repeats)
    seeds = tuple(range(request.seed, request.seed + count))
    folder = str(Path(settings.films).resolve())
    names = likelihood_free.NAMES
    if quick:
        return Plan(
            folder, seeds, QUICK_PARTICLES, QUICK_SIMULATIONS, names[::3], (), QUICK_SECONDS
        )
    return Plan(folder, seeds, PARTICLES, SIMULATIONS, names, SWEPT)


def _digest(folder: str) -> str:
    """Return what marks settings and recordings, so that no journal of others is read."""
    text = json.dumps({row: dict(chosen) for row, chosen in real_rows.SETTINGS.items()})
    content = (Path(folder) / f"{filmed_pendulum.LEARNT}.csv").read_bytes()
    return hashlib.sha256(text.encode() + content).hexdigest()[:8]
