"""Who is on trial, whatever the trials are: loaded at first and, if it passes, promoted at last."""

from dataclasses import asdict, dataclass
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import promotion
from ricochet.tasks.registry import versions as registry
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.registry.runs import OpenRun, Tracker
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.validation.results import CANDIDATE, CHAMPION
from ricochet.tasks.validation.checks import Verdict

SCHEMA = "ricochet.validation/1"


@dataclass(frozen=True)
class Trial:
    """Who is on trial.

    Attributes:
        name: Name in the registry.
        versions: The versions by role; the champion's only where there is one.
        packages: Their packages, verified.
    """

    name: str
    versions: dict[str, str]
    packages: dict[str, Package]


@task(name="load as a controller would", cache_policy=NO_CACHE, retries=2, retry_delay_seconds=5)
def load(tracker: Tracker, name: str) -> Trial | None:
    """Fetch and verify candidate and champion.

    Args:
        tracker: The store.
        name: Name in the registry.

    Returns:
        Who is on trial; None where the candidate is the champion already.

    Raises:
        BadInput: If there is no such setting of shots or no candidate, it was rolled back, or a
            package is not whole.
    """
    kind = catalogue.kind_of(name)
    found = {role: registry.resolve(tracker, name, role) for role in (CANDIDATE, CHAMPION)}
    candidate = found[CANDIDATE]
    if candidate is None:
        raise BadInput(name, "no candidate in the registry", f"one; {kind.made_by} makes it")
    if candidate == found[CHAMPION]:
        return None
    promotion.refuse_rolled_back(candidate)
    there = {role: version for role, version in found.items() if version is not None}
    packages = {role: registry.load(tracker, version, kind=kind) for role, version in there.items()}
    return Trial(name, {role: version.version for role, version in there.items()}, packages)


@task(name="move the aliases", cache_policy=NO_CACHE, retries=0)
def move(tracker: Tracker, trial: Trial, verdict: Verdict, run: OpenRun) -> bool:
    """Make the candidate the champion.

    Args:
        tracker: The store.
        trial: Who was on trial.
        verdict: A verdict that passed.
        run: The validation.

    Returns:
        Whether an alias moved.
    """
    registered = Registered(trial.name, trial.versions[CANDIDATE])
    kind = catalogue.kind_of(trial.name)
    return promotion.promote(
        tracker, registered, kind=kind, verdict=verdict, validation=run.run_id, reason="validated"
    ).changed


def unchanged(tracker: Tracker, name: str) -> dict[str, Any]:
    """Return the result where the candidate is the champion already.

    Args:
        tracker: The store.
        name: Name in the registry.
    """
    pair = promotion.present(tracker, name)
    return {"schema": SCHEMA, "name": name, "unchanged": True, "aliases": asdict(pair)}
