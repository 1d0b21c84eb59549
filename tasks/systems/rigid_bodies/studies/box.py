"""The study of the shaken box: two weights at hidden places, by all methods (Heiden et al., V-C).

Twenty placements are shaken by the motion of the paper and by one that tells most, and every method
says where the weights are (`box_rows`). The box has what the model lacks (`box_placements`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ricochet.models.systems.rigid_bodies import box_planning
from ricochet.tasks.console.jobs import Journal, run_all
from ricochet.tasks.console.progress import part
from ricochet.tasks.figures import style
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.systems.interface import StudyRequest
from ricochet.tasks.systems.rigid_bodies.figures import box as figures
from ricochet.tasks.systems.rigid_bodies.settings import ShakenBox
from ricochet.tasks.systems.rigid_bodies.studies import (
    box_fits,
    box_judge,
    box_placements,
    box_rows,
    likelihood_free,
    peer_samplers,
    tables,
)
from ricochet.tasks.systems.rigid_bodies.studies.box_placements import MOTIONS, OURS, PAPER
from ricochet.tasks.systems.rigid_bodies.studies.box_rows import Found, Job

QUICK_SECONDS, QUICK_SIMULATIONS, QUICK_ROUNDS, QUICK_PLACEMENTS = 1.0, 200, 8, 1
_PLANNED = 8
_SHARES = (0.35, 0.65)


@dataclass(frozen=True)
class Plan:
    """How much is computed.

    Attributes:
        seeds: Of the placements.
        seconds: Of processor time for a method and placement, where it goes on as long as it may.
        rounds: Of ours, that settle and that are kept.
        particles: Of ours.
        discrepancy: Of ours, the deviation of a share by which a number may be off.
        simulations: That the rows learn from that are named in `learnt`.
    """

    seeds: tuple[int, ...]
    seconds: float
    rounds: int
    particles: int
    discrepancy: float
    simulations: int
    learnt: tuple[str, ...]

    def jobs(self) -> list[Job]:
        """Return all, those that take long first."""
        found = [
            Job(
                box_rows.OURS,
                motion,
                seed,
                particles=self.particles,
                rounds=self.rounds,
                discrepancy=self.discrepancy,
            )
            for motion in MOTIONS
            for seed in self.seeds
        ]
        for motion in MOTIONS:
            found += [
                Job(row, motion, self.seeds[0], simulations=self.simulations, others=self.seeds)
                for row in self.learnt
            ]
            found += [
                Job(
                    row,
                    motion,
                    seed,
                    0.0 if row in (box_rows.PRIOR, box_rows.SYSID) else self.seconds,
                )
                for row in (*present(), box_rows.PRIOR)
                for seed in self.seeds
            ]
        return found


def run(request: StudyRequest) -> dict[str, Any]:
    """Infer every row of every placement, compare and draw."""
    plan, out = _plan(request), output_folder(request.out)
    journal = Journal(out / "rows.journal", list, list)
    jobs = plan.jobs()
    found: list[Found] = run_all(
        box_rows.work, jobs, journal=journal,
        progress=part(request.progress, 0, 1),
    )  # fmt: skip
    each = {motion: _by_row(jobs, found, motion) for motion in MOTIONS}
    planned = _planned(plan.discrepancy)
    motions = {
        motion: {
            "rows": {row: _summary(numbers) for row, numbers in rows.items()},
            "planned_sd_mm": planned[motion],
        }
        for motion, rows in each.items()
    }
    truth = box_placements.placement(PAPER, plan.seeds[0]).places
    pictures = {
        f"places_{motion}": figures.places(_drawn(rows), truth) for motion, rows in each.items()
    }
    style.write(out, {**pictures, "errors": figures.errors(each)})
    journal.file.unlink()
    return {
        "quick": request.quick,
        "plan": {**asdict(plan), "seeds": list(plan.seeds), "learnt": list(plan.learnt)},
        "motions": motions,
        "deviation_ratio": _ratio(motions),
        "absent": absent(),
        "settings": {row: dict(chosen) for row, chosen in box_rows.SETTINGS.items()},
        "each": {
            motion: {
                row: [{name: one[name] for name in box_judge.NUMBERS} for one in numbers]
                for row, numbers in rows.items()
            }
            for motion, rows in each.items()
        },
    }


def present() -> tuple[str, ...]:
    """Return the rows of methods whose packages are installed."""
    missing = absent()
    rows = (*box_rows.names(), box_rows.SYSID)
    return tuple(row for row in rows if row.rsplit("-", 1)[0] not in missing)


def absent() -> dict[str, str]:
    """Return why rows are missing, by their methods."""
    missing = {} if box_fits.present() else {box_rows.SYSID: box_fits.ABSENT}
    return peer_samplers.absent() | missing


def _by_row(jobs: Sequence[Job], found: Sequence[Found], motion: str) -> dict[str, Found]:
    """Return the numbers of all placements by row."""
    rows: dict[str, Found] = {}
    for job, numbers in zip(jobs, found, strict=True):
        if job.motion == motion:
            rows.setdefault(job.row, []).extend(numbers)
    return rows


def _drawn(rows: Mapping[str, Found]) -> dict[str, np.ndarray]:
    """Return the places that each row drew for the first placement."""
    return {row: np.array(numbers[0]["places"]) for row, numbers in rows.items()}


def _summary(numbers: Found) -> dict[str, Any]:
    """Return means over placements; medians and worst of errors, and how many shares are even."""
    columns = {name: np.array([one[name] for one in numbers]) for name in box_judge.NUMBERS}
    shares = columns.pop("order_share")
    even = (shares >= _SHARES[0]) & (shares <= _SHARES[1])
    mean = tables.averaged(numbers, tuple(columns))
    return {
        **mean,
        "placements": len(numbers),
        "inside_90": float(columns["inside_90"].mean()),
        "order_shares": [float(shares.mean()), float(1.0 - shares.mean())],
        "both_orders": float(even.mean()),
        "median": {name: float(np.median(each)) for name, each in columns.items()},
        "worst": {name: float(columns[name].max()) for name in ("sum_error_mm", "weight_error_mm")},
    }


def _planned(discrepancy: float) -> dict[str, float]:
    """Return how well each motion would tell places of weights, mm, as it was planned."""
    theta = box_planning.likely(_PLANNED)
    return {
        motion: 1e3
        * box_planning.planned_deviation(
            box_placements.joints_of(motion),
            box_placements.RATE,
            theta,
            discrepancy=discrepancy,
        )
        for motion in MOTIONS
    }


def _ratio(motions: Mapping[str, Any]) -> float:
    """Return our deviation by our motion over that by the paper's, medians of the placements."""
    ours, paper = (
        motions[motion]["rows"][box_rows.OURS]["median"]["sd_mm"] for motion in (OURS, PAPER)
    )
    return float(ours / paper) if paper else math.nan


def _plan(request: StudyRequest) -> Plan:
    settings, quick = request.settings[ShakenBox], request.quick
    count = request.count or (QUICK_PLACEMENTS if quick else settings.placements)
    ours = Plan(
        seeds=tuple(range(request.seed, request.seed + count)),
        seconds=settings.seconds,
        rounds=settings.rounds,
        particles=settings.particles,
        discrepancy=settings.discrepancy,
        simulations=settings.simulations,
        learnt=likelihood_free.NAMES,
    )
    if not quick:
        return ours
    return replace(
        ours,
        seconds=QUICK_SECONDS,
        rounds=QUICK_ROUNDS,
        simulations=QUICK_SIMULATIONS,
        learnt=likelihood_free.NAMES[::5],
    )
