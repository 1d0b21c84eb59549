"""Old runs that nothing refers to any more are removed, with their files; all others stay.

A run of `calibrate` or `validate` goes when it ended long ago and nothing names it: no version of a
registered model, whatever its aliases, no description or tag of one, no line of the log of
promotions, and no run of the same account that stays, as its parent or child. Versions, packages,
recordings and the log of promotions are never removed, nor is a run that is open, or another
account's, who may have made very many.
"""

import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain

from mlflow.entities import Run, RunStatus, ViewType
from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

from ricochet.tasks.registry import pages, promotion_log, runs
from ricochet.tasks.registry.runs import PAGE, Tracker

EXPERIMENTS = ("calibrate", "validate")
PARENT = "mlflow.parentRunId"
RUN = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
"""Id of a run, wherever it stands in a text."""
DAY = 86400.0
LONGEST = 2000
"""Characters of each text that is kept of a run."""


@dataclass(frozen=True, slots=True)
class KeptRun:
    """Of a run what decides whether it goes: ten thousand whole ones take a gigabyte.

    Attributes:
        head: Its parent, itself where it has none.
        ended: In milliseconds; None of one that is open, though it failed before.
        place: Where its files are.
    """

    run_id: str
    head: str
    ended: int | None
    place: str


def old_runs(tracker: Tracker, *, days: float) -> list[KeptRun]:
    """Return the runs that ended so many days ago and that nothing refers to, oldest first."""
    found = list(_all_runs(tracker))
    families = list(_families(found))
    latest = 1000.0 * (time.time() - days * DAY)
    stay = {run.run_id for run in found if run.ended is None or run.ended >= latest}
    needed = _named(tracker) | stay
    kept = set().union(*(family for family in families if family & needed))
    old = [run for run in found if run.run_id not in kept and _is_own(tracker, run)]
    return sorted(old, key=lambda run: run.ended or 0)


def remove(tracker: Tracker, *, days: float) -> int:
    """Remove those runs; returns how many. A removal that is interrupted is done again."""
    old = old_runs(tracker, days=days)
    for run in old:
        get_artifact_repository(run.place, tracking_uri=tracker.uri).delete_artifacts()
        tracker.client.delete_run(run.run_id)
    return len(old)


def _all_runs(tracker: Tracker) -> Iterator[KeptRun]:
    """Read the administrator's and one's own runs where some go, open ones too."""
    places = [
        found.experiment_id
        for found in pages.every(tracker.client.search_experiments)
        if found.name in EXPERIMENTS
    ]
    search = partial(
        tracker.client.search_runs, places, run_view_type=ViewType.ACTIVE_ONLY, max_results=PAGE
    )
    for author in runs.authors() if places else ():
        condition = f"tags.`{runs.AUTHOR}` {author}"
        found = pages.every(partial(search, filter_string=condition), largest=math.inf)
        yield from filter(_is_short, map(_kept, found))


def _is_short(run: KeptRun) -> bool:
    """Tell whether all that is kept of a run is as long as such texts are."""
    return max(map(len, (run.run_id, run.head, run.place))) <= LONGEST


def _kept(run: Run) -> KeptRun:
    info, head = run.info, run.data.tags.get(PARENT, run.info.run_id)
    ended = info.end_time if RunStatus.is_terminated(RunStatus.from_string(info.status)) else None
    return KeptRun(info.run_id, head, ended, str(info.artifact_uri))


def _families(found: Iterable[KeptRun]) -> Iterator[set[str]]:
    """Yield each parent with all that descends from it, a run without either by itself."""
    every = list(found)
    heads, families = {run.run_id: run.head for run in every}, dict[str, set[str]]()
    for run in every:
        first = _first(heads, run.run_id)
        families.setdefault(first, {first}).add(run.run_id)
    yield from families.values()


def _first(heads: Mapping[str, str], run: str) -> str:
    """Return the first parent of a run; where they go round in a circle, the least of them."""
    seen = [run]
    while (head := heads.get(run, run)) != run:
        if head in seen:
            return min(seen[seen.index(head) :])
        seen.append(run := head)
    return run


def _is_own(tracker: Tracker, run: KeptRun) -> bool:
    """Tell whether a run's files are where this store keeps them; others are nobody's to remove."""
    own = tracker.artifacts
    return own is None or (run.place.startswith(f"{own}/") and ".." not in run.place)


def _named(tracker: Tracker) -> set[str]:
    """Return the id of every run that a registered model, a version or the log names."""
    texts = chain(_registered(tracker), (str(entry) for entry in promotion_log.read()))
    return {run for text in texts for run in RUN.findall(text)}


def _registered(tracker: Tracker) -> Iterator[str]:
    for model in pages.every(tracker.client.search_registered_models):
        yield f"{model.description} {model.tags}"
        for version in pages.versions(tracker.client, f"name = '{model.name}'"):
            yield f"{version.run_id} {version.source} {version.description} {version.tags}"
