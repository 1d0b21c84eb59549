"""What MLflow says of a registered name and of a version, from its registration on, in Markdown.

A validation puts its verdict above what is said of a version.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ricochet.tasks.registry import quantities
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.registry.packages import Package

RULE = "\n\n---\n\n"
"""Between the last validation and what was said before."""
MOST = 12
"""Checks that are listed; all are in `package/checks.json`."""


def of_name(kind: PackageKind) -> str:
    """Say how versions come here and how aliases move."""
    return (
        f"Versions come from `{kind.made_by}`. The alias `champion`, which controllers follow, "
        "moves by `ricochet validate` and `ricochet promote`, behind a gate. Setting an alias on "
        "this page by-passes the gate; `ricochet doctor` reports it."
    )


def of_version(package: Package, kind: PackageKind, *, run_id: str, figure: str | None) -> str:
    """Describe a version by its numbers, its checks and the figure of the run that made it."""
    numbers = (kind.load_reader().describe or quantities.of_package)(package)
    rows = [f"| {each.name} | {each.text} | {each.interval} |" for each in numbers]
    table = ["| number | mean +- sd | 90 % |", "| --- | --- | --- |", *rows] if rows else []
    checks = [f"- {name}: {value}" for name, value in _leaves(package.checks)]
    more = [f"- and {len(checks) - MOST} more"] if len(checks) > MOST else []
    picture = f"![{figure}](get-artifact?path={figure}&run_uuid={run_id})" if figure else ""
    parts = [
        "\n".join(table),
        "\n".join(["Checks when it was made (`package/checks.json`):", "", *checks[:MOST], *more]),
        picture,
    ]
    return "\n\n".join(part for part in parts if part)


def with_validation(said: str, before: str) -> str:
    """Put what a validation says of a version above the rest, in place of the last one."""
    return said + RULE + before.rpartition(RULE)[2] if before else said


def _leaves(checks: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Return numbers and texts by their path, and how long each list is."""
    for name, value in checks.items():
        path = f"{above}{name}".replace("_", " ")
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}, ")
        elif isinstance(value, list):
            yield path, "none" if not value else f"{len(value)} entries"
        else:
            yield path, f"{value:.4g}" if isinstance(value, float) else str(value)
