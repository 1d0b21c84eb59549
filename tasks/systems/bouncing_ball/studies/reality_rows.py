"""What the study of real balls and rooms counts: answers against the truth, and what was said.

    coverage_90          share of 90 % intervals that hold the truth
    rms_error_over_sd    of restitution at the reference speed and of log10 concentration
    refused              share of sessions that were refused in one line, as bad input
    warned               share with a finding, an answer said to be weak, or a refusal
    silent_and_wrong     share without any, whose 99.9 % interval of one of both misses the truth
    predictive_p_values  chance of each session under what was inferred of it

Coverage and errors are those of the sessions that were answered; None where there is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.problem import PARAMETERS
from ricochet.tasks.console.jobs import Journal

WRONG = 0.999
"""Content of the central interval that misses the truth where an answer is wrong."""
SAID = 5
"""Different sentences of a row that are kept."""


@dataclass(frozen=True)
class Judged:
    """An answer and the truth.

    Attributes:
        level: Content of the central interval that just reaches the truth.
        error: Of the mean, in posterior deviations.
        p_value: Predictive, of the session.
    """

    level: Float[ndarray, " 2"]
    error: Float[ndarray, " 2"]
    p_value: float

    @property
    def wrong(self) -> bool:
        """Whether one of both intervals misses the truth."""
        return bool((self.level > WRONG).any())


@dataclass(frozen=True)
class Outcome:
    """What came of a session.

    Attributes:
        answer: That of whole takes, or of three bounces where there is no other; None if refused.
        three_bounces: The answer of the paper's model where it was made.
        said: Findings, or why the session was refused.
        weak: Whether the answer is said to be.
    """

    answer: Judged | None
    said: tuple[str, ...]
    weak: bool = False
    three_bounces: Judged | None = None

    @property
    def warned(self) -> bool:
        """Whether anything was said."""
        return bool(self.said) or self.weak


def judge(
    draws: Float[ndarray, "draw 2"], truth: Float[ndarray, " 2"], *, p_value: float
) -> Judged:
    """Hold draws of restitution and log10 concentration against the truth."""
    below = (draws < truth).mean(0)
    error = (draws.mean(0) - truth) / draws.std(0)
    return Judged(np.abs(2.0 * below - 1.0), error, p_value)


def journal(file: Path) -> Journal[Outcome]:
    """Return the journal of sessions that are finished."""

    def encode(found: Outcome) -> dict[str, Any]:
        answers = {"answer": _encoded(found.answer), "three_bounces": _encoded(found.three_bounces)}
        return vars(found) | answers

    def decode(values: dict[str, Any]) -> Outcome:
        answers = {name: _decoded(values[name]) for name in ("answer", "three_bounces")}
        return Outcome(said=tuple(values["said"]), weak=values["weak"], **answers)

    return Journal(file, encode, decode)


def _encoded(answer: Judged | None) -> dict[str, Any] | None:
    if answer is None:
        return None
    return vars(answer) | {"level": answer.level.tolist(), "error": answer.error.tolist()}


def _decoded(values: dict[str, Any] | None) -> Judged | None:
    if values is None:
        return None
    return Judged(np.array(values["level"]), np.array(values["error"]), values["p_value"])


def row(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the row of a departure."""
    found = {
        "sessions": len(outcomes),
        "refused": float(np.mean([each.answer is None for each in outcomes])),
        "warned": float(np.mean([each.warned for each in outcomes])),
        "said": sorted({text for each in outcomes for text in each.said})[:SAID],
    } | _compared([(each.answer, each.warned) for each in outcomes])
    three = [(each.three_bounces, each.warned) for each in outcomes]
    if any(answer is not None for answer, _ in three):
        found["three_bounces"] = _compared(three)
    return found


def _compared(answers: Sequence[tuple[Judged | None, bool]]) -> dict[str, Any]:
    """Compare answers, each with whether anything was said of it, with the truth."""
    given = [answer for answer, _ in answers if answer is not None]
    silent = [answer is not None and answer.wrong and not warned for answer, warned in answers]
    levels = np.array([each.level for each in given]).reshape(-1, len(PARAMETERS))
    errors = np.array([each.error for each in given]).reshape(-1, len(PARAMETERS))
    return {
        "coverage_90": _named((levels < 0.9).mean(0)) if given else None,
        "rms_error_over_sd": _named(np.sqrt((errors**2).mean(0))) if given else None,
        "silent_and_wrong": float(np.mean(silent)),
        "predictive_p_values": [each.p_value for each in given],
    }


def _named(values: Float[ndarray, " 2"]) -> dict[str, float]:
    return dict(zip(PARAMETERS, values.tolist(), strict=True))
