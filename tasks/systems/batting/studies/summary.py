"""The numbers of the study: totals with intervals, paired ratios, filters and the paper's claims.

Passes are scaled to ten trials of 200 s, as Table I counts them. Intervals are those of the
bootstrap over trials; a pair of rows met the same starts and the same noise, and its p-value is
that of a permutation of signs of the differences (one-sided).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.inference import sign_flips
from ricochet.models.systems.batting.belief import flights
from ricochet.models.systems.batting.table import DISTANCES
from ricochet.tasks.systems.batting.studies.jobs import Done
from ricochet.tasks.systems.batting.studies.rows import DELTA, OPEN

RESAMPLES = 4000
CERTAIN = 0.05
AT_DELTA = int(np.abs(DISTANCES - DELTA).argmin())
PAIRS = (("ours", "B"), ("B", "C"), ("C", "D"), ("A", "B"), ("ours", "A"))


def row(done: Sequence[Done], seconds: float) -> dict[str, Any]:
    """Return the passes of a row at each distance with intervals, and what it did."""
    scale = 10.0 * 200.0 / seconds
    passes = np.array([each.passes for each in done], float) * scale
    drawn = passes[_resamples(len(done))].mean(1)
    low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
    return {
        "trials": len(done),
        "passes": _by_distance(passes.mean(0)),
        "interval": {key: list(pair) for key, pair in _pairs(low, high).items()},
        "bats": round(float(np.mean([each.bats for each in done])), 2),
        "looks": round(float(np.mean([each.looks for each in done])), 2),
        "plan_ms": milliseconds([each.plan_ms for each in done]),
        "update_ms": milliseconds([each.update_ms for each in done]),
    }


def paired(more: Sequence[Done], less: Sequence[Done]) -> dict[str, Any]:
    """Return how the passes of two rows at DELTA compare over the trials that both played.

    Returns:
        The `ratio` of totals with its 90 % `interval`, where a row without a pass counts as half a
        one; the `medians` of both, for totals may be those of a few trials; how many trials the
        first `won`; the one-sided `p`.
    """
    count = min(len(more), len(less))
    a = np.array([each.passes[AT_DELTA] for each in more[:count]], float)
    b = np.array([each.passes[AT_DELTA] for each in less[:count]], float)
    rows = _resamples(count)
    ratios = a[rows].sum(1) / np.maximum(b[rows].sum(1), 0.5)
    return {
        "trials": count,
        "ratio": round(float(a.sum() / max(b.sum(), 0.5)), 3),
        "interval": [round(float(each), 3) for each in np.quantile(ratios, [0.05, 0.95])],
        "medians": [float(np.median(a)), float(np.median(b))],
        "won": int((a > b).sum()),
        "p": sign_flips.p_value(a - b),
    }


def filter_row(done: Sequence[Done]) -> dict[str, Any]:
    """Return how well a filter localised, and how long it took."""
    columns = np.array([[each.error, each.shape, each.inside] for each in done]).T
    return {
        **flights.accuracy(*columns),
        "update_ms": milliseconds([each.update_ms for each in done]),
    }


def claims(
    played: Mapping[str, Sequence[Done]], flown: Mapping[str, Sequence[Done]]
) -> list[dict[str, Any]]:
    """Return each sentence of the paper that the study can answer, and whether it holds here.

    Args:
        played: Trials of each row.
        flown: Flights of each filter.

    Returns:
        For each `sentence` its one-sided `p`, and whether it `holds`: True where p is below
        CERTAIN, False where the contrary's is, None where the study does not decide.
    """
    best_open = max(OPEN, key=lambda name: _total(played[name]))
    answers = [
        _compared("noise in the plan helps: B passes more often than C", played["B"], played["C"]),
        _compared(
            "one particle beats the set: C passes more often than D", played["C"], played["D"]
        ),
        *(_shape_soon(name, flown[name]) for name in ("paper_200", "ours")),
        *(
            _compared(
                f"open loop is always worse: {closed} passes more often than {best_open}, the best"
                " of E to J",
                played[closed],
                played[best_open],
            )
            for closed in ("B", "C", "D")
        ),
        _best("E is the best open loop: it passes more often than each of F to J", played),
        _compared("nothing beats A: it passes more often than ours", played["A"], played["ours"]),
    ]
    return answers


def milliseconds(times: Sequence[Sequence[float]]) -> dict[str, float] | None:
    """Return means over trials of the mean and 99th percentile, and the largest; None: no times."""
    known = np.array([each for each in times if each], float)
    if not len(known):
        return None
    mean, p99, _ = known.mean(0)
    return {
        "mean": round(float(mean), 2),
        "p99": round(float(p99), 2),
        "largest": round(float(known[:, 2].max()), 2),
    }


def _compared(sentence: str, more: Sequence[Done], less: Sequence[Done]) -> dict[str, Any]:
    return _answer(sentence, paired(more, less)["p"], paired(less, more)["p"])


def _best(sentence: str, played: Mapping[str, Sequence[Done]]) -> dict[str, Any]:
    """Compare E with each other open loop; it is best if better than each, not if worse than one.

    Of five comparisons the contrary's smallest p is multiplied by five (Bonferroni).
    """
    others = [played[name] for name in OPEN if name != "E"]
    better = max(paired(played["E"], other)["p"] for other in others)
    worse = min(paired(other, played["E"])["p"] for other in others)
    return _answer(sentence, better, min(len(others) * worse, 1.0))


def _shape_soon(name: str, flown: Sequence[Done]) -> dict[str, Any]:
    from scipy import stats

    right = sum(each.soon > 0.5 for each in flown)
    more, less = (
        float(stats.binomtest(right, len(flown), 0.5, side).pvalue) for side in ("greater", "less")
    )
    sentence = f"shape is soon known: {name} is right in most flights after {flights.SOON:g} s"
    return _answer(sentence, more, less)


def _answer(sentence: str, p: float, contrary: float) -> dict[str, Any]:
    decided = {True: p < CERTAIN, False: contrary < CERTAIN}
    holds = next((answer for answer, is_so in decided.items() if is_so), None)
    return {"sentence": sentence, "holds": holds, "p": p}


def _total(done: Sequence[Done]) -> float:
    return float(np.mean([each.passes[AT_DELTA] for each in done]))


def _by_distance(values: Float[ndarray, " distance"]) -> dict[str, float]:
    return {f"{d:.2f}": round(float(v), 2) for d, v in zip(DISTANCES, values, strict=True)}


def _pairs(
    low: Float[ndarray, " distance"], high: Float[ndarray, " distance"]
) -> dict[str, tuple[float, float]]:
    return {
        key: (value, top)
        for (key, value), top in zip(
            _by_distance(low).items(), _by_distance(high).values(), strict=True
        )
    }


def _resamples(count: int) -> ndarray:
    return np.random.default_rng(1).integers(0, count, (RESAMPLES, count))
