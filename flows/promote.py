"""Making one version the champion by hand, if the gate lets it pass; and going back.

    complete what a crash interrupted -> refuse what was rolled back -> judge -> aliases

It runs without Prefect: no step waits or is tried again.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import promotion, runs
from ricochet.tasks.registry.promotion import Moved
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems import catalogue
from ricochet.tasks.validation import judge
from ricochet.tasks.validation.judge import Judgement, Validation


@dataclass(frozen=True)
class Promotion:
    """What came of a version: the judgement, and where the aliases are if it was promoted."""

    registered: Registered
    judged: Judgement | None
    moved: Moved | None

    @property
    def refusals(self) -> tuple[str, ...]:
        """One line for each check that failed."""
        return () if self.judged is None else self.judged.verdict.refusals

    def to_json(self) -> dict[str, Any]:
        """Return what `result.json` says of it."""
        judged, moved = self.judged, self.moved
        return {
            **asdict(self.registered),
            "validation": None if judged is None else judged.validation or None,
            "gate": None if judged is None else judged.verdict.to_json(),
            "promoted": moved is not None,
            "changed": moved is not None and moved.changed,
        }

    def line(self) -> str:
        """Return what came of it in a line.

        Raises:
            BadInput: If the gate refused the version.
        """
        where = self.registered.where
        if self.judged is not None and not self.judged.verdict.passed:
            found = f"{len(self.refusals)} of {len(self.judged.verdict.checks)} checks failed"
            raise BadInput(where, found, "a candidate that passes the gate")
        return f"{where}: passes the gate" if self.moved is None else line(self.moved)


def promote(
    registered: Registered,
    *,
    settings: Settings,
    seed: int,
    sessions: Sequence[Path],
    reason: str,
    again: bool,
) -> Promotion:
    """Complete a promotion that a crash interrupted, or judge and promote a version that passes.

    Args:
        sessions: Folders of its recordings; none takes those under `data/` that its run names.
        reason: Kept in the log.
        again: Whether it may have been rolled back before.

    Raises:
        BadInput: If the version is not there or not whole, it was rolled back, or its recordings
            are not at hand.
    """
    tracker, kind = runs.connect(), catalogue.kind_of(registered.name)
    moved = promotion.finish(tracker, registered, kind=kind)
    if moved is not None:
        return Promotion(registered, None, moved)
    if not again:
        promotion.refuse_rolled_back(tracker, registered)
    judged = judge_only(registered, settings=settings, seed=seed, sessions=sessions).judged
    if judged is None or not judged.verdict.passed:
        return Promotion(registered, judged, None)
    moved = promotion.promote(
        tracker,
        registered,
        kind=kind,
        verdict=judged.verdict,
        against=judged.champion,
        validation=judged.validation,
        reason=reason,
        again=again,
    )
    return Promotion(registered, judged, moved)


def judge_only(
    registered: Registered, *, settings: Settings, seed: int, sessions: Sequence[Path]
) -> Promotion:
    """Judge a version and move nothing; BadInput like `judge.judge`."""
    validation: Validation[Any, Any] = catalogue.validation_of(registered.name)
    judged = judge.judge(
        runs.connect(), validation, registered, settings=settings, seed=seed, sessions=sessions
    )
    return Promotion(registered, judged, None)


def rollback(name: str, reason: str) -> Moved:
    """Restore the aliases that there were before the last promotion."""
    kind = catalogue.kind_of(name)
    return promotion.rollback(runs.connect(), name, kind=kind, reason=reason)


def line(moved: Moved) -> str:
    """Return where the aliases are, in a line."""
    pair = moved.pair
    where = f"champion {pair.champion or 'none'}, previous {pair.previous or 'none'}"
    return f"{moved.name}: {where}{'' if moved.changed else ', unchanged'}"
