"""The study of drawers: the paper's figures and Table I beside ours, a sweep, and its claims.

Each session of a drawer is left out in turn, learnt from the others and tried. Finished sessions
are kept in `journal.jsonl`, so that a study that was stopped goes on; trials of edited code are
others.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ricochet.hardware.twins.drawers import frozen
from ricochet.hardware.twins.drawers.generator.drawers import DRAWERS
from ricochet.tasks.console import jobs as pool
from ricochet.tasks.console.jobs import Journal
from ricochet.tasks.figures import style
from ricochet.tasks.storage import provenance
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.systems.drawers.figures import errors
from ricochet.tasks.systems.drawers.studies import folds, summary, timing
from ricochet.tasks.systems.drawers.studies.jobs import Job, decode, do, encode
from ricochet.tasks.systems.interface import StudyRequest

SWEPT = ("kitchen-large", "cabinet-bottom")
"""Drawers on which settings of the generator are tried."""
SWEEP: tuple[dict[str, Any], ...] = (
    {},
    {"array": "ring-6", "place": "front"},
    {"array": "ring-4", "place": "side"},
    {"array": "ring-4", "place": "front"},
    {"moving_share": 0.25},
    {"moving_share": 0.75},
    {"moving_share": 1.0},
    {"snr": 5.0},
    {"snr": 12.0},
    {"snr": 25.0},
    {"reverberation_time": 0.3},
    {"reverberation_time": 0.5},
    {"texture": False},
    {"impacts": False},
    {"person": "calm"},
)


@dataclass(frozen=True)
class Amount:
    """How much is recorded.

    Attributes:
        sessions: Of each drawer.
        tried: How many of them are left out in turn.
        seconds, light_off: Of a session, s.
        swept: Sessions that are left out of each drawer and setting of the sweep, of `of`.
    """

    sessions: int
    tried: int
    seconds: float
    light_off: float
    swept: int
    of: int


FULL = Amount(8, 8, 120.0, 40.0, 2, 6)
QUICK = Amount(3, 1, 30.0, 15.0, 0, 0)


def run(request: StudyRequest) -> dict[str, Any]:
    """Record, learn, try and count."""
    amount = QUICK if request.quick else FULL
    usual = planned(amount, request.seed)
    swept = [] if request.quick else planned_sweep(amount, request.seed)
    jobs = [*(job for each in usual.values() for job in each), *(job for _, job in swept)]
    folder = output_folder(request.out)
    journal = Journal(folder / "journal.jsonl", encode, decode)
    done = pool.run_all(do, jobs, journal=journal, progress=request.progress)
    by_job = dict(zip(map(journal.key, jobs), done, strict=True))
    found = {name: [by_job[journal.key(job)] for job in each] for name, each in usual.items()}
    rows = [
        summary.sweep_row(
            setting,
            {
                name: [
                    by_job[journal.key(job)]
                    for place, job in swept
                    if (place, job.drawer) == (number, name)
                ]
                for name in SWEPT
            },
        )
        for number, setting in enumerate(SWEEP)
        if swept
    ]
    drawers = {name: summary.drawer(each) for name, each in found.items()}
    left_out = _folds(amount, request, folder)
    figures = {"speed_errors": errors.speeds(drawers), "position_errors": errors.positions(drawers)}
    style.write(folder, figures | ({"sweep": errors.sweep(rows)} if rows else {}))
    return {
        "quick": request.quick,
        "generator": frozen.DIGEST,
        "drawers": drawers,
        "sweep": rows,
        "speed_rmse_of_folds": left_out,
        "frame_ms": timing.frame_ms(),
        "claims": summary.claims(found),
    }


def _folds(amount: Amount, request: StudyRequest, folder: Path) -> dict[str, Any]:
    """Return errors of speed by contiguous folds, and with one drawer left out."""
    code = provenance.code_digest(folds.__name__)[:16]
    jobs = folds.planned(amount.sessions, amount.seconds, amount.light_off, request.seed, code)
    journal = Journal(folder / "folds.jsonl", folds.encode, folds.encode)
    done = pool.run_all(folds.do, jobs, journal=journal, progress=request.progress)
    return summary.of_folds(folds.by_way(done))


def planned(amount: Amount, seed: int) -> dict[str, list[Job]]:
    """Return the jobs of each drawer."""
    code = _code()
    return {
        name: [
            Job(name, out, amount.sessions, amount.seconds, amount.light_off, seed, {}, code)
            for out in range(amount.tried)
        ]
        for name in DRAWERS
    }


def planned_sweep(amount: Amount, seed: int) -> list[tuple[int, Job]]:
    """Return the jobs of the sweep with the place of their setting."""
    code = _code()
    return [
        (
            number,
            Job(name, out, amount.of, amount.seconds, amount.light_off, seed, setting, code),
        )
        for number, setting in enumerate(SWEEP)
        for name in SWEPT
        for out in range(amount.swept)
    ]


def _code() -> str:
    return provenance.code_digest("ricochet.tasks.systems.drawers.studies.jobs")[:16]
