"""The study of batting: Table I of Fu et al. beside ours, filters, and the paper's claims.

All rows meet the same starts and the same noise (`jobs`). Finished trials are kept in
`journal.jsonl`, so that a study that was stopped goes on; another seed, length or screen noise is
another study in the same journal, and so are trials of edited code.
"""

from dataclasses import dataclass
from typing import Any

from ricochet.tasks.console import jobs as pool
from ricochet.tasks.console.jobs import Journal
from ricochet.tasks.figures import style
from ricochet.tasks.storage import provenance
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.systems.batting.figures import table_one as pictures
from ricochet.tasks.systems.batting.studies import summary
from ricochet.tasks.systems.batting.studies.jobs import (
    FILTERS,
    Done,
    Job,
    decode,
    do,
    encode,
    warm_up,
)
from ricochet.tasks.systems.batting.studies.rows import CLOSED, KNOWN, OPEN, TABLE_ONE
from ricochet.tasks.systems.interface import StudyRequest

FLIGHT = 12.0  # s
OPEN_SHARE = 2.5  # trials of open loops, for each trial of the others


@dataclass(frozen=True)
class Amount:
    """How much is played: trials of closed and of open loops, their length, and flights."""

    trials: int
    open_trials: int
    seconds: float
    flights: int


FULL = Amount(trials=40, open_trials=100, seconds=200.0, flights=100)
QUICK = Amount(trials=2, open_trials=8, seconds=30.0, flights=6)


def run(request: StudyRequest) -> dict[str, Any]:
    """Play all rows, follow flights and count."""
    amount = asked(request)
    noise = request.numbers["screen_noise"]
    all_jobs = planned(amount, noise, request.seed)
    folder = output_folder(request.out)
    journal = Journal(folder / "journal.jsonl", encode, decode)
    warm_up()
    done = pool.run_all(do, all_jobs, journal=journal, progress=request.progress)
    by_row: dict[tuple[str, str], list[Done]] = {}
    for job, each in zip(all_jobs, done, strict=True):
        by_row.setdefault((job.mode, job.row), []).append(each)
    result = counted(by_row, amount, noise)
    style.write(folder, {"table_one": pictures.passes(result)})
    return {"quick": request.quick, **result}


def asked(request: StudyRequest) -> Amount:
    """Return how much a request asks for."""
    full = QUICK if request.quick else FULL
    trials = request.count or full.trials
    seconds = request.numbers.get("seconds", full.seconds)
    flights = full.flights if request.count is None else max(1, round(2.5 * trials))
    open_trials = full.open_trials if request.count is None else round(OPEN_SHARE * trials)
    return Amount(trials, open_trials, seconds, flights)


def planned(amount: Amount, noise: float, seed: int) -> list[Job]:
    """Return all jobs, the longest first so that processors end together."""
    code = provenance.code_digest("ricochet.tasks.systems.batting.studies.jobs")[:16]
    closed = [
        Job(row, "filter", number, amount.seconds, noise, seed, code)
        for number in range(amount.trials)
        for row in CLOSED
    ]
    known = [
        Job(row, "known", number, amount.seconds, noise, seed, code)
        for number in range(amount.trials)
        for row in KNOWN
    ]
    flown = [
        Job(row, "flight", number, FLIGHT, noise, seed, code)
        for number in range(amount.flights)
        for row in FILTERS
    ]
    opened = [
        Job(row, "filter", number, amount.seconds, noise, seed, code)
        for number in range(amount.open_trials)
        for row in OPEN
    ]
    return [*closed, *known, *flown, *opened]


def counted(
    by_row: dict[tuple[str, str], list[Done]], amount: Amount, noise: float
) -> dict[str, Any]:
    """Return `result.json` from what was played."""
    played = {row: by_row["filter", row] for row in (*CLOSED, *OPEN)}
    known = {row: by_row["known", row] for row in KNOWN}
    flown = {name: by_row["flight", name] for name in FILTERS}
    return {
        "trials": amount.trials,
        "seconds": amount.seconds,
        "screen_noise": noise,
        "rows": {row: summary.row(done, amount.seconds) for row, done in sorted(played.items())},
        "known_state": {row: summary.row(done, amount.seconds) for row, done in known.items()},
        "paired": {
            **{f"{a}_over_{b}": summary.paired(played[a], played[b]) for a, b in summary.PAIRS},
            **{
                f"known_{a}_over_{b}": summary.paired(known[a], known[b])
                for a, b in summary.PAIRS
                if "D" not in (a, b)
            },
        },
        "filter": {row: summary.filter_row(flown[row]) for row in FILTERS},
        "claims": summary.claims(played, flown),
        "paper": {row: list(counts) for row, counts in TABLE_ONE.items()},
    }
