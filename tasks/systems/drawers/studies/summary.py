"""The numbers of the study of drawers: of each drawer over its sessions, the sweep, and claims.

Errors of sessions are averaged as squares, over all of them, as Baum et al. average theirs; their
intervals, of nine of ten, are those of the bootstrap over sessions; of one session there is none.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.inference import sign_flips
from ricochet.tasks.systems.drawers.trials import Measured

RESAMPLES = 4000
CERTAIN = 0.05
FLAT = 0.9
"""Cosine with a constant from which a component is called flat."""
PAPER = ("loudness", "pitch", "both", "cubic", "pcr")
"""The paper's five regressions of speed."""


def drawer(done: Sequence[Measured]) -> dict[str, Any]:
    """Return what was measured of a drawer."""
    first = done[0]
    return {
        "sessions": len(done),
        "speed_rmse": {name: _root([each.speed[name] for each in done]) for name in first.speed},
        "speed_coverage_90": _share([each.speed_held for each in done]),
        "sign": {name: _mean([each.sign[name] for each in done]) for name in first.sign},
        "position_rmse": {
            phase: {name: _root([each.position[phase][name] for each in done]) for name in ways}
            for phase, ways in first.position.items()
        },
        "dark_coverage_90": _share([each.dark_held for each in done]),
        "ratios": _ratios(done),
        "sound": {name: _mean([each.sound[name] for each in done]) for name in first.sound},
        "place_heard": {
            name: _root([each for each in values if each is not None])
            for name in first.place_heard
            for values in [[each.place_heard[name] for each in done]]
            if any(each is not None for each in values)
        },
    }


def sweep_row(
    setting: Mapping[str, Any], by_drawer: Mapping[str, Sequence[Measured]]
) -> dict[str, Any]:
    """Return what a setting of the generator leaves of ours, in all and by drawer."""
    done = [each for sessions in by_drawer.values() for each in sessions]
    sizes = [len(sessions) for sessions in by_drawer.values()]
    return {
        "setting": dict(setting),
        "sessions": len(done),
        "ours_over_mid_stroke": _over_middle(done, sizes),
        "drawers": {name: _over_middle(sessions) for name, sessions in by_drawer.items()},
        "sign": _mean([each.sign["ours"] for each in done]),
        "dark_coverage_90": _share([each.dark_held for each in done]),
    }


def of_folds(errors: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]) -> dict[str, Any]:
    """Return roots over sessions of the errors of speed, by how parts were left out."""
    return {
        how: {
            name: {way: _root(values) for way, values in ways.items()}
            for name, ways in drawers.items()
        }
        for how, drawers in errors.items()
    }


def claims(by_drawer: Mapping[str, Sequence[Measured]]) -> list[dict[str, Any]]:
    """Return each sentence of the paper, whether it holds over all sessions, and in each drawer.

    Returns:
        `holds` is True where the one-sided p is below CERTAIN, False where the contrary's is, else
        None; `mean` is the mean difference that is asked about.
    """
    others = [name for name in PAPER if name != "pcr"]
    done = [each for sessions in by_drawer.values() for each in sessions]
    best = min(others, key=lambda name: np.mean([each.speed[name] ** 2 for each in done]))
    asked: dict[str, Callable[[Measured], float]] = {
        "a drawer is louder with speed": lambda one: one.sound["loudness"],
        "a drawer sounds higher with speed": lambda one: one.sound["pitch"],
        f"components predict speed best: better than {best}, the best of the other four": (
            lambda one: one.speed[best] - one.speed["pcr"]
        ),
        f"the first component is flat: its cosine with a constant is above {FLAT:g}": (
            lambda one: one.sound["first_component"] - FLAT
        ),
        "the paper's fusion is better in the dark than vision that goes on at its last velocity": (
            lambda one: _less(one, "light_off", "paper", "coast")
        ),
        "the paper's fusion is better in the dark than the place that was seen last": (
            lambda one: _less(one, "light_off", "paper", "vision")
        ),
        "vision alone is better than the paper's fusion while there is light": (
            lambda one: _less(one, "light_on", "vision", "paper")
        ),
        "the paper's fusion is better than the middle of the stroke in the dark": (
            lambda one: _less(one, "light_off", "paper", "mid_stroke")
        ),
    }
    return [
        {
            "sentence": sentence,
            **_decided([more(each) for each in done]),
            "drawers": {
                name: _decided([more(each) for each in sessions])
                for name, sessions in by_drawer.items()
            },
        }
        for sentence, more in asked.items()
    ]


def _less(one: Measured, phase: str, better: str, worse: str) -> float:
    """Return by how much one way is nearer than another, m."""
    places = one.position[phase]
    return float(places[worse] - places[better])


def _ratios(done: Sequence[Measured]) -> dict[str, Any]:
    """Return what the targets are about."""
    best = min(PAPER, key=lambda name: np.mean([each.speed[name] ** 2 for each in done]))
    lit = [each.position["light_on"] for each in done]
    return {
        f"speed_over_{best}": _ratio(
            [each.speed["ours"] for each in done], [each.speed[best] for each in done]
        ),
        "dark_over_mid_stroke": _over_middle(done),
        "light_over_vision": _ratio(
            [each["ours"] for each in lit], [each["vision"] for each in lit]
        ),
    }


def _over_middle(done: Sequence[Measured], sizes: Sequence[int] = ()) -> dict[str, Any]:
    """Return the error in the dark over that of the middle of the stroke."""
    dark = [each.position["light_off"] for each in done]
    return _ratio([each["ours"] for each in dark], [each["mid_stroke"] for each in dark], sizes)


def _decided(more: Sequence[float]) -> dict[str, Any]:
    """Say whether differences are above 0."""
    differences = np.array(more)
    p, contrary = sign_flips.p_value(differences), sign_flips.p_value(-differences)
    holds = True if p < CERTAIN else False if contrary < CERTAIN else None
    return {"holds": holds, "p": p, "mean": _mean(more)}


def _mean(values: Sequence[float]) -> dict[str, Any]:
    return _with_interval(np.array(values), lambda drawn: drawn.mean(-1))


def _share(values: Sequence[float]) -> dict[str, Any]:
    """Return the mean of shares, and the least."""
    return {**_mean(values), "least": _rounded(min(values))}


def _root(values: Sequence[float]) -> dict[str, Any]:
    return _with_interval(np.array(values), lambda drawn: np.sqrt((drawn**2).mean(-1)))


def _ratio(
    more: Sequence[float], less: Sequence[float], sizes: Sequence[int] = ()
) -> dict[str, Any]:
    """Return the ratio of roots of mean squares."""
    both = np.stack([more, less], axis=1)
    return _with_interval(
        both,
        lambda drawn: np.sqrt((drawn[..., 0] ** 2).mean(-1) / (drawn[..., 1] ** 2).mean(-1)),
        sizes,
    )


def _with_interval(values: ndarray, summary: Any, sizes: Sequence[int] = ()) -> dict[str, Any]:
    """Resample values, those of each part among themselves where parts are given by their sizes."""
    if len(values) < 2:
        return {"value": _rounded(summary(values)), "interval": None}
    draw, first, parts = np.random.default_rng(0), 0, []
    for size in sizes or (len(values),):
        parts.append(first + draw.integers(size, size=(RESAMPLES, size)))
        first += size
    rows = np.concatenate(parts, axis=1)
    low, high = np.quantile(summary(values[rows]), [0.05, 0.95])
    return {
        "value": _rounded(summary(values)),
        "interval": [_rounded(low), _rounded(high)],
    }


def _rounded(value: Float[ndarray, ""] | float) -> float:
    return round(float(value), 5)
