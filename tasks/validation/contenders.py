"""Who is compared: the candidate of a name and, where there is one, its champion."""

import contextlib
from dataclasses import asdict, dataclass
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import promotion
from ricochet.tasks.registry import versions as registry
from ricochet.tasks.registry.aliases import CANDIDATE, CHAMPION
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.registry.manifests import OlderSchemaError
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.validation.outcomes import SCHEMA


@dataclass(frozen=True)
class Contenders:
    """The versions that are compared and their packages, verified, both by role.

    The role of the champion is there only where there is one.
    """

    name: str
    versions: dict[str, str]
    packages: dict[str, Package]

    @property
    def candidate(self) -> str:
        """The candidate's version."""
        return self.versions[CANDIDATE]

    @property
    def champion(self) -> str | None:
        """The champion's version; None where there is no champion."""
        return self.versions.get(CHAMPION)

    @property
    def registered(self) -> Registered:
        """The candidate in the registry."""
        return Registered(self.name, self.candidate)

    def where(self, role: str) -> str:
        """Return a role's version in words, for errors."""
        return Registered(self.name, self.versions[role]).where


def load(tracker: Tracker, name: str, kind: PackageKind) -> Contenders | None:
    """Fetch candidate and champion as a controller would; None where they are the same.

    A champion of an older schema, which no controller can read, counts as none.

    Raises:
        BadInput: If there is no candidate, it was rolled back, or a package is not whole.
    """
    found = {role: registry.resolve(tracker, name, role) for role in (CANDIDATE, CHAMPION)}
    candidate = found[CANDIDATE]
    if candidate is None:
        raise _no_candidate(tracker, name, kind)
    if candidate == found[CHAMPION]:
        return None
    promotion.refuse_rolled_back(tracker, candidate)
    packages = {CANDIDATE: registry.load(tracker, candidate, kind=kind)}
    versions, champion = {CANDIDATE: candidate.version}, found[CHAMPION]
    if champion is not None:
        with contextlib.suppress(OlderSchemaError):
            packages[CHAMPION] = registry.load(tracker, champion, kind=kind)
            versions[CHAMPION] = champion.version
    return Contenders(name, versions, packages)


def refuse_unregistered(tracker: Tracker, name: str, *, kind: PackageKind) -> None:
    """Refuse with BadInput a name that has no candidate."""
    if registry.resolve(tracker, name, CANDIDATE) is None:
        raise _no_candidate(tracker, name, kind)


def _no_candidate(tracker: Tracker, name: str, kind: PackageKind) -> BadInput:
    """Name those that there are."""
    there = sorted(filter(kind.matches, registry.names(tracker)))
    others = f" of {', '.join(there)}" if there else ""
    expected = f"one{others}, or one that `{kind.made_by}` makes"
    return BadInput(name, "no candidate in the registry", expected)


def unchanged(tracker: Tracker, name: str) -> dict[str, Any]:
    """Return the result where the candidate is the champion already."""
    pair = promotion.present(tracker, name)
    return {"schema": SCHEMA, "name": name, "unchanged": True, "aliases": asdict(pair)}
