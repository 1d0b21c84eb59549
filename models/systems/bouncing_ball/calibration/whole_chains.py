"""A session's answer from every bounce of its takes, by the family of models (`chains`).

Detections that are no bounces are left out (`chains.false_bounces`). Takes whose intervals shrink
like no other's, or that the best member cannot have made, are set aside, at most a third; a stated
height that the takes refute is taken for a guess; where the takes kept still disagree by more than
chance, restitution and concentration are widened to what they disagree (`chains.fit`). An answer is
weak, and says so, where too few draws carry it or the surface is so rough that paths about the most
likely ones are no normal law.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.core.constants import GRAVITY
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.core.threads import one_thread
from ricochet.models.systems.bouncing_ball.air import Size
from ricochet.models.systems.bouncing_ball.calibration import departures
from ricochet.models.systems.bouncing_ball.calibration.criticism import Finding
from ricochet.models.systems.bouncing_ball.chains import (
    false_bounces,
    family,
    fit,
    observations,
    posterior,
    shared_posterior,
)
from ricochet.models.systems.bouncing_ball.chains.false_bounces import Judged
from ricochet.models.systems.bouncing_ball.chains.family import LAWS, Family
from ricochet.models.systems.bouncing_ball.chains.fit import Fit
from ricochet.models.systems.bouncing_ball.chains.log_density import Density
from ricochet.models.systems.bouncing_ball.chains.observations import Take
from ricochet.models.systems.bouncing_ball.chains.parameters import Prior

FEWEST = 5
"""Takes below which the family has too little to go by."""
ROUGHEST = 1.5
"""log10 concentration below which no path is near to normal."""
GUESS = 0.3
"""Relative error of a height that is not to be believed."""
_FEWEST_DRAWS = 50.0
_LARGEST_SHARE = 1.0 / 3.0
_FAR, _LEAST_SPREAD = 6.0, 0.005  # in deviations of the takes' log ratios, and their least one
_RELOCATIONS, _STAYS = 12, 0.05
_FARTHEST = 8.0  # of errors without which takes are located, prior deviations
_REFUTED = 3.0  # deviations by which takes contradict a stated height
_TAKE_CHANCE = 0.01  # that a sound session loses any take
Heights = dict[int, tuple[float, float]]
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
        names: Of the takes, explained or not.
        heights: Of each session with takes that are explained, by its number: the height of release
            as stated, m, and the relative standard deviation of its error.
    """

    family: Family
    fit: Fit
    kept: Bool[ndarray, " take"]
    shared: Float[ndarray, "session error"]
    shared_covariance: Float[ndarray, "session error error"]
    speeds: tuple[float, float, float]
    findings: tuple[Finding, ...]
    weak: str = ""
    names: tuple[str, ...] = ()
    heights: Heights = field(default_factory=dict)


@one_thread()
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
    prior = family.prior(LAWS["constant"], drag)
    starts = family.starts_of(prior, first)
    pilot = _screened(takes, prior, starts, about, draw)
    found = family.infer(
        observations.grouped(pilot.chosen),
        starts=np.vstack((pilot.point, starts[:1])),
        drag=drag,
        draw=draw,
        progress=progress,
    )
    judged = fit.judge(found.best, draw=draw)
    shared, covariance = shared_posterior.moments(found.best, draw=draw)
    wider = family.spread_by(found, judged.factors)
    heights = {take.session: (take.height, take.height_sd / take.height) for take in pilot.chosen}
    speeds = _speeds(pilot.chosen, shared, heights)
    answer = ChainAnswer(wider, judged, pilot.kept, shared, covariance, speeds, (), _weak(found))
    answer = replace(answer, names=tuple(names), heights=heights)
    said = departures.found(
        wider,
        judged,
        shared=(shared, covariance),
        heights=heights,
        drag=drag if ball.size else None,
    )
    odd = _odd_takes(names, pilot.kept, pilot.chances)
    return replace(answer, findings=said + _false_bounces(takes, names, pilot) + odd)


def _agreeing(takes: Sequence[Take]) -> Bool[ndarray, " take"]:
    """Mark the takes whose intervals shrink like those of the others, or all if too few do."""
    ratios = np.array([np.median(np.diff(np.log(np.diff(take.times)))) for take in takes])
    away = np.abs(ratios - np.median(ratios))
    near = away <= _FAR * np.maximum(1.4826 * np.median(away), _LEAST_SPREAD)
    return near if (~near).sum() <= _LARGEST_SHARE * len(near) else np.ones_like(near)


@dataclass(frozen=True)
class _Pilot:
    """A likely point, the takes to go by, which of all they are, and every take's chance.

    Attributes:
        judged: What is false of every take.
    """

    point: Float[ndarray, " parameter"]
    chosen: list[Take]
    kept: Bool[ndarray, " take"]
    chances: Float[ndarray, " take"]
    judged: list[Judged]


def _screened(
    takes: Sequence[Take],
    prior: Prior,
    starts: Float[ndarray, "start parameter"],
    about: Relocation | None,
    draw: np.random.Generator,
) -> _Pilot:
    """Find a likely point of the constant law, and judge takes, heights and places there."""
    suspects = false_bounces.suspected(takes)
    supposed = [sets[0] if sets else () for sets in suspects]
    kept, best = _likely(false_bounces.left_out(takes, supposed), prior, starts)
    judged = false_bounces.judged(takes, suspects, best)
    false = [each.false for each in judged]
    if false != supposed:
        kept, best = _likely(false_bounces.left_out(takes, false), prior, starts)
    shared = best.paths.shared[0]
    believed = false_bounces.left_out(takes, false)
    if about is not None:
        believed, shared = _relocated(
            lambda errors: false_bounces.left_out(about(errors), false), kept, best, shared
        )
    refuted = np.abs(shared[:, 0]) > _REFUTED
    believed = [_unsure(take) if refuted[take.session] else take for take in believed]
    member = posterior.at_point(observations.grouped(_chosen(believed, kept)), prior, best.point)
    chances = np.zeros(len(takes))
    chances[kept] = fit.chances(member, draw=draw)[1]
    odd = kept & (chances * len(takes) < _TAKE_CHANCE)
    if (odd | ~kept).sum() <= _LARGEST_SHARE * len(takes):
        kept = kept & ~odd
    return _Pilot(best.point, _chosen(believed, kept), kept, chances, judged)


def _likely(
    takes: Sequence[Take], prior: Prior, starts: Float[ndarray, "start parameter"]
) -> tuple[Bool[ndarray, " take"], Density]:
    """Mark the takes that agree, and return the density about their most likely point."""
    kept = _agreeing(takes)
    modes = posterior.modes(observations.grouped(_chosen(takes, kept)), prior, starts)
    return kept, modes[0].density


def _chosen(takes: Sequence[Take], kept: Bool[ndarray, " take"]) -> list[Take]:
    return [take for take, yes in zip(takes, kept, strict=True) if yes]


def _relocated(
    about: Relocation,
    kept: Bool[ndarray, " take"],
    density: Density,
    shared: Float[ndarray, "session error"],
) -> tuple[list[Take], Float[ndarray, "session error"]]:
    """Locate all takes about the errors found, again and again until these stay."""
    for _ in range(_RELOCATIONS):
        takes, before = about(np.clip(shared, -_FARTHEST, _FARTHEST)), shared
        chains = observations.grouped(_chosen(takes, kept))
        shared = shared_posterior.most_likely(chains, density.prior, density.point)
        if np.abs(shared - before).max() < _STAYS:
            break
    return takes, shared


def _unsure(take: Take) -> Take:
    """Take the stated height for a guess."""
    return replace(take, height_sd=GUESS * take.height)


def _weak(found: Family) -> str:
    if found.effective < _FEWEST_DRAWS:
        return f"only {found.effective:.0f} draws carry the answer"
    rough = float(found.theta[:, 1].mean())
    if rough < ROUGHEST:
        return f"log10 concentration {rough:.1f} is below {ROUGHEST}: paths are far from normal"
    return ""


def _speeds(
    takes: Sequence[Take], shared: Float[ndarray, "session error"], heights: Heights
) -> tuple[float, float, float]:
    """Return the least, the greatest and the first speed of impact, without air.

    Takes fell from the inferred heights, not from those stated.
    """
    falls = []
    for take in takes:
        stated, error = heights[take.session]
        falls.append(np.sqrt(2.0 * GRAVITY * stated * np.exp(error * shared[take.session, 0])))
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


def _false_bounces(
    takes: Sequence[Take], names: Sequence[str], pilot: _Pilot
) -> tuple[Finding, ...]:
    """Say which detections of the takes that are kept are left out."""
    sentence = "the detection of {} at {:.3f} s is no bounce of the ball and left out"
    return tuple(
        Finding("bounce", sentence.format(name, take.times[number]), judged.chance, (name,))
        for take, name, judged, kept in zip(takes, names, pilot.judged, pilot.kept, strict=True)
        for number in judged.false
        if kept
    )
