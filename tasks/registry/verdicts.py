"""What a gate decides about a candidate: a verdict, made of checks."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Check:
    """One check: its name, whether it passed, what was found and what was expected."""

    name: str
    passed: bool
    found: str
    expected: str

    @property
    def line(self) -> str:
        """The check in one line."""
        return f"{self.name}: found {self.found}, expected {self.expected}"


@dataclass(frozen=True)
class Verdict:
    """All checks of a candidate."""

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed, and there was one."""
        return bool(self.checks) and all(check.passed for check in self.checks)

    @property
    def refusals(self) -> tuple[str, ...]:
        """One line for each check that failed."""
        return tuple(check.line for check in self.checks if not check.passed)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {"passed": self.passed, "checks": [asdict(check) for check in self.checks]}
