"""The lines of sessions in sound: what is printed of answers, alone and together."""

import numpy as np

from benchmarks.bouncing_ball import sound_sessions
from ricochet.tasks.systems.bouncing_ball.studies.reality_rows import Judged


def test_a_line_has_errors_and_chance_and_a_refusal_has_none() -> None:
    answer = Judged(np.array([0.5, 0.2]), np.array([1.0, -0.25]), 0.4)
    assert sound_sessions.line(answer).split() == ["+1.00", "-0.25", "p", "0.400"]
    assert sound_sessions.line(None) == "refused"


def test_a_summary_tells_even_chances_from_high_ones() -> None:
    levels, errors = np.array([0.5, 0.95]), np.array([1.0, -2.0])
    even = [Judged(levels, errors * (-1) ** k, p) for k, p in enumerate(np.linspace(0, 1, 10))]
    high = [Judged(levels, errors, p) for p in np.linspace(0.9, 1.0, 10)]
    said = sound_sessions.summary(even)
    assert "rms [1. 2.], 90 % hold [1. 0.]" in said and "0.50 on average" in said
    # ten numbers above 0.9: the distance from uniformity is 0.9, its chance 1e-10
    assert "at a chance of 0.000" in sound_sessions.summary(high)
    assert "at a chance of 0.000" not in said
