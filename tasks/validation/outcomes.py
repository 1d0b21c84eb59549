"""What every validation compares: two versions, each trial good or bad, and how it is stored."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.aliases import CANDIDATE, CHAMPION

SCHEMA = "ricochet.validation/1"
SIMULATED, REAL = "simulated", "real"
"""The rigs. On a real one every trial is another one, and an operator must confirm all motion."""


class ComparedVersions(Protocol):
    """Which versions were compared, whatever the trials were."""

    @property
    def name(self) -> str:
        """Name in the registry."""

    @property
    def candidate(self) -> str:
        """Version of the candidate."""

    @property
    def champion(self) -> str | None:
        """Version of the champion; None where there is none yet."""

    @property
    def rig(self) -> str:
        """The rig, simulated or real."""


@dataclass(frozen=True)
class Paired:
    """Whether each trial with the candidate was good, and with the champion if there is one."""

    candidate: tuple[bool, ...]
    champion: tuple[bool, ...] | None

    def shares(self) -> dict[str, float]:
        """Return the share of good outcomes by role, of those that had a trial."""
        roles = {CANDIDATE: self.candidate, CHAMPION: self.champion}
        return {role: sum(good) / len(good) for role, good in roles.items() if good}

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        champion = None if self.champion is None else list(self.champion)
        return {CANDIDATE: list(self.candidate), CHAMPION: champion}


def versions_by_role(compared: ComparedVersions) -> dict[str, str]:
    """Return the versions that were compared; the champion's only where there is one."""
    champion = {} if compared.champion is None else {CHAMPION: compared.champion}
    return {CANDIDATE: compared.candidate, **champion}


def in_words(compared: ComparedVersions) -> str:
    """Name the versions that were compared, as the title of a figure does."""
    champion = "none" if compared.champion is None else f"version {compared.champion}"
    return f"{compared.name}: candidate version {compared.candidate}, champion {champion}"


def paired_from_json(content: Mapping[str, Any]) -> Paired:
    """Read `Paired.to_json`; KeyError if a role is missing."""
    champion = content[CHAMPION]
    return Paired(
        outcomes_from_json(content[CANDIDATE]),
        None if champion is None else outcomes_from_json(champion),
    )


def outcomes_from_json(values: Sequence[object]) -> tuple[bool, ...]:
    """Read outcomes; TypeError if one is neither true nor false."""
    if not all(isinstance(value, bool) for value in values):
        raise TypeError("an outcome is true or false")
    return tuple(bool(value) for value in values)


@contextlib.contextmanager
def reading(content: Mapping[str, Any], schema: str, where: str) -> Iterator[None]:
    """Refuse with BadInput what is no result of a schema, or not read as one by the block."""
    if content.get("schema") != schema:
        raise BadInput(where, f"schema {content.get('schema')!r}", schema)
    try:
        yield
    except BadInput:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        found = f"a result that cannot be read ({type(error).__name__}: {error})"
        raise BadInput(where, found, f"the keys and kinds of {schema}") from error
