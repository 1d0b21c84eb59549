"""Making one version the champion by hand, if the gate lets it pass; and going back.

    completed after a crash? -> rolled back before? -> judge -> aliases

It needs no Prefect: nothing is waited for and nothing is tried again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import promotion, runs
from ricochet.tasks.registry.promotion import Moved
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems import catalogue
from ricochet.tasks.validation import judge
from ricochet.tasks.validation.judge import Judgement, Validation

SCHEMA = "ricochet.promotion/1"


@dataclass(frozen=True)
class Request:
    """Which version is promoted.

    Attributes:
        registered: The version.
        settings: How well the rig is known, and the size of the checks.
        seed: Seed of all randomness.
        sessions: Folders of its recordings; none takes those under `data/` that its run names.
        reason: Kept in the log.
        again: Whether it may have been rolled back before.
        publish: Whether an alias may move; otherwise it is only judged.
    """

    registered: Registered
    settings: Settings
    seed: int
    sessions: Sequence[Path]
    reason: str
    again: bool
    publish: bool


@dataclass(frozen=True)
class Promotion:
    """What came of it: the judgement, and where the aliases are if they may have moved."""

    registered: Registered
    judged: Judgement | None
    moved: Moved | None

    @property
    def refusals(self) -> tuple[str, ...]:
        """One line for each check that failed."""
        return () if self.judged is None else self.judged.verdict.refusals

    @property
    def line(self) -> str:
        """What came of it, in one line."""
        if self.moved is None:
            return f"{self.registered.name} version {self.registered.version}: passes the gate"
        return line(self.moved)

    def to_json(self) -> dict[str, Any]:
        """Return what `result.json` holds."""
        return {
            "schema": SCHEMA,
            "name": self.registered.name,
            "version": self.registered.version,
            "validation": None if self.judged is None else self.judged.validation or None,
            "gate": None if self.judged is None else self.judged.verdict.to_json(),
            "promoted": self.moved is not None,
            "changed": self.moved is not None and self.moved.changed,
        }

    def refuse(self) -> None:
        """Refuse what the gate refused.

        Raises:
            BadInput: If a check failed.
        """
        if self.refusals and self.judged is not None:
            found = f"{len(self.refusals)} of {len(self.judged.verdict.checks)} checks failed"
            where = f"{self.registered.name} version {self.registered.version}"
            raise BadInput(where, found, "a candidate that passes the gate")


def promote(request: Request) -> Promotion:
    """Complete a promotion that a crash cut, or judge a version and promote it if it passes.

    Raises:
        BadInput: If the version is not there or not whole, it was rolled back, or its recordings
            are not at hand.
    """
    tracker, registered = runs.connect(), request.registered
    kind = catalogue.kind_of(registered.name)
    if request.publish:
        moved = promotion.finish(tracker, registered, kind=kind)
        if moved is not None:
            return Promotion(registered, None, moved)
        if not request.again:
            promotion.refuse_rolled_back(registered)
    return _judged(tracker, request)


def _judged(tracker: Tracker, request: Request) -> Promotion:
    validation: Validation[Any, Any] = catalogue.validation_of(request.registered.name)
    judged = judge.judge(
        tracker,
        validation,
        request.registered,
        settings=request.settings,
        seed=request.seed,
        sessions=request.sessions,
    )
    moved = None
    if request.publish and judged.verdict.passed:
        moved = promotion.promote(
            tracker,
            request.registered,
            kind=validation.kind,
            verdict=judged.verdict,
            validation=judged.validation,
            reason=request.reason,
            again=request.again,
        )
    return Promotion(request.registered, judged, moved)


def rollback(name: str, reason: str) -> Moved:
    """Restore the aliases that there were before the last promotion.

    Raises:
        BadInput: If nothing was ever promoted, or the package to return to is not whole.
    """
    kind = catalogue.kind_of(name)
    return promotion.rollback(runs.connect(), name, kind=kind, reason=reason)


def line(moved: Moved) -> str:
    """Say where the aliases are."""
    pair = moved.pair
    where = f"champion {pair.champion or 'none'}, previous {pair.previous or 'none'}"
    return f"{moved.name}: {where}{'' if moved.changed else ', unchanged'}"
