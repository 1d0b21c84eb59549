"""What a system reports of a validation: numbers with their names, words and a figure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from ricochet.tasks.figures.style import COLOURS
from ricochet.tasks.registry.aliases import CANDIDATE, CHAMPION
from ricochet.tasks.validation.outcomes import ComparedVersions

ROLE_COLOURS = {CANDIDATE: COLOURS[1], CHAMPION: COLOURS[0]}
"""Colours of the two posteriors or policies that a validation compares."""


@dataclass(frozen=True)
class Report:
    """What is recorded and shown of a validation, whatever was compared.

    Attributes:
        content: The trials, as JSON can hold them.
        summary: The system's own keys of `result.json`.
        trials: What the trials were, in words.
        stated: What the candidate states, in words.
        measured: Metrics by role and name; the same names for both roles.
        labels: Names of metrics in words, with units, in the order of the page's table.
        parameters: How much was tried, by name.
    """

    result: ComparedVersions
    content: Mapping[str, Any]
    summary: Mapping[str, Any]
    trials: str
    stated: str
    measured: Mapping[str, Mapping[str, float]]
    labels: Mapping[str, str]
    parameters: Mapping[str, Any]
    draw: Callable[[], Figure]
