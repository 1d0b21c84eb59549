"""A session's answer from every bounce of its takes, by the family of models (`chains`).

Takes whose intervals shrink like no other's, or that the best member cannot have made, are set
aside, at most a third; a stated height that the takes refute is taken for a guess; where the takes
kept still disagree by more than chance, restitution and concentration are widened to what they
disagree (`chains.fit`). An answer is weak, and says so, where too few draws carry it or the surface
is so rough that paths about the most likely ones are no normal law.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.core.constants import GRAVITY
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.bouncing_ball.air import Size
from ricochet.models.systems.bouncing_ball.calibration import departures
from ricochet.models.systems.bouncing_ball.calibration.criticism import Finding
from ricochet.models.systems.bouncing_ball.chains import family, fit, observations, shared_posterior
from ricochet.models.systems.bouncing_ball.chains.family import Family
from ricochet.models.systems.bouncing_ball.chains.fit import Fit
from ricochet.models.systems.bouncing_ball.chains.observations import SHARED, Take

FEWEST = 5
"""Takes below which the family has too little to go by."""
ROUGHEST = 1.8
"""log10 concentration below which no path is near to normal."""
_FEWEST_DRAWS = 50.0
_LARGEST_SHARE = 1.0 / 3.0
_FAR, _LEAST_SPREAD = 6.0, 0.005  # in deviations of the takes' log ratios, and their least one
_ATTEMPTS = 2
_BENT = 0.5  # deviations of an array's error from which places are located anew about it
_RELOCATIONS, _STAYS = 12, 0.05
_REFUTED = 3.0  # deviations by which takes contradict a stated height
_GUESS = 0.3  # relative error of a height that is not to be believed
_TAKE_CHANCE = 0.01  # that a sound session loses any take
Relocation = Callable[[Float[ndarray, "session error"]], list[Take]]


@dataclass(frozen=True)
class Ball:
    """What is known of the ball and its air beforehand.

    Attributes:
        size: None where it is not known.
        temperature: Of the air, degrees Celsius.
    """

    size: Size | None = None
    temperature: float = 20.0


@dataclass(frozen=True)
class ChainAnswer:
    """What all bounces of a session tell.

    Attributes:
        kept: Which takes are explained.
        shared, shared_covariance: Errors of each session, in units of their prior deviations.
        speeds: Slowest and fastest impact, and that of the first bounce, m/s.
        weak: Why the answer should not be relied on; empty where it may be.
    """

    family: Family
    fit: Fit
    kept: Bool[ndarray, " take"]
    shared: Float[ndarray, "session error"]
    shared_covariance: Float[ndarray, "session error error"]
    speeds: tuple[float, float, float]
    findings: tuple[Finding, ...]
    weak: str = ""


def infer(
    takes: Sequence[Take],
    names: Sequence[str],
    *,
    first: Float[ndarray, " 2"],
    ball: Ball,
    about: Relocation | None = None,
    draw: np.random.Generator,
    progress: Progress = no_progress,
) -> ChainAnswer:
    """Infer a ball on a surface from whole takes.

    Args:
        names: Of the takes, for what is said about them.
        first: Restitution and log10 concentration near to the most likely ones.
        about: Returns the takes as located without given shared errors, where places depend on
            those of an array beyond the first order.

    Raises:
        ValueError: If there are fewer than `FEWEST` takes.
    """
    if len(takes) < FEWEST:
        raise ValueError(f"takes: need {FEWEST}, found {len(takes)}")
    drag = family.drag_prior(ball.size, ball.temperature)
    kept = _agreeing(takes)
    chances = kept.astype(float)
    believed = list(takes)
    for attempt in range(_ATTEMPTS):
        chosen = [take for take, yes in zip(believed, kept, strict=True) if yes]
        found = family.infer(
            observations.grouped(chosen), first=first, drag=drag, draw=draw, progress=progress
        )
        judged = fit.judge(found.best, draw=draw)
        shared, covariance = shared_posterior.moments(found.best, draw=draw)
        chances[kept] = judged.take_p_values
        odd = kept & (chances * len(takes) < _TAKE_CHANCE)
        refuted = np.abs(shared[:, 0]) > _REFUTED
        some = odd.any() and (odd | ~kept).sum() <= _LARGEST_SHARE * len(takes)
        bent = about is not None and np.abs(shared[:, len(SHARED) :]).max(initial=0.0) > _BENT
        if attempt or not (some or bent or refuted.any()):
            break
        kept &= ~odd if some else True
        if bent and about is not None:
            believed = _relocated(about, kept, found, shared)
        believed = [_unsure(take) if refuted[take.session] else take for take in believed]
    wider = family.spread_by(found, judged.factors)
    answer = ChainAnswer(wider, judged, kept, shared, covariance, _speeds(chosen), (), _weak(found))
    said = departures.found(
        wider,
        judged,
        shared=(shared, covariance),
        height=float(np.median([take.height for take in chosen])),
        drag=drag if ball.size else None,
    )
    return replace(answer, findings=said + _odd_takes(names, kept, chances))


def _agreeing(takes: Sequence[Take]) -> Bool[ndarray, " take"]:
    """Mark the takes whose intervals shrink like those of the others, or all if too few do."""
    ratios = np.array([np.median(np.diff(np.log(np.diff(take.times)))) for take in takes])
    away = np.abs(ratios - np.median(ratios))
    near = away <= _FAR * np.maximum(1.4826 * np.median(away), _LEAST_SPREAD)
    return near if (~near).sum() <= _LARGEST_SHARE * len(near) else np.ones_like(near)


def _relocated(
    about: Relocation,
    kept: Bool[ndarray, " take"],
    found: Family,
    shared: Float[ndarray, "session error"],
) -> list[Take]:
    """Locate all takes about the errors found, again and again until these stay."""
    for _ in range(_RELOCATIONS):
        takes = about(shared)
        chosen = [take for take, yes in zip(takes, kept, strict=True) if yes]
        before = shared
        shared = shared_posterior.most_likely(observations.grouped(chosen), found.best)
        if np.abs(shared - before).max() < _STAYS:
            break
    return takes


def _unsure(take: Take) -> Take:
    """Take the stated height for a guess."""
    return replace(take, height_sd=_GUESS * take.height)


def _weak(found: Family) -> str:
    if found.effective < _FEWEST_DRAWS:
        return f"only {found.effective:.0f} draws carry the answer"
    rough = float(found.theta[:, 1].mean())
    if rough < ROUGHEST:
        return f"log10 concentration {rough:.1f} is below {ROUGHEST}: paths are far from normal"
    return ""


def _speeds(takes: Sequence[Take]) -> tuple[float, float, float]:
    """Return the least, the greatest and the first speed of impact, without air."""
    falls = [np.sqrt(2.0 * GRAVITY * take.height) for take in takes]
    later = np.concatenate([0.5 * GRAVITY * np.diff(take.times)[:-1] for take in takes])
    return float(later.min()), float(max(falls)), float(np.median(falls))


def _odd_takes(
    names: Sequence[str], kept: Bool[ndarray, " take"], chances: Float[ndarray, " take"]
) -> tuple[Finding, ...]:
    odd = ~kept
    if not odd.any():
        return ()
    sentence = f"{odd.sum()} of {len(kept)} takes are not bounces of the ball of the others"
    who = tuple(name for name, yes in zip(names, odd, strict=True) if yes)
    return (Finding("take", sentence, float(chances[odd].min()), who),)
