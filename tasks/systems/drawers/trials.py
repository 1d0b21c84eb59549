"""Trials of what was learnt of a drawer: on sessions that it was not learnt from, beside the paper.

A study tries it on the generator's sessions, a calibration on takes that were held out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy import stats

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.sound import spectra
from ricochet.models.systems.drawers import hearing, learning
from ricochet.models.systems.drawers.direction import paper_rule
from ricochet.models.systems.drawers.features import Features
from ricochet.models.systems.drawers.hearing import Hearing, Said
from ricochet.models.systems.drawers.labels import PERIOD, SAMPLE_RATE, Labels
from ricochet.models.systems.drawers.learning import Size
from ricochet.models.systems.drawers.speed import paper_regressions
from ricochet.models.systems.drawers.speed.paper_regressions import Predictor
from ricochet.models.systems.drawers.tracking import follower, paper_fusion
from ricochet.models.systems.drawers.tracking.follower import Estimates
from ricochet.models.systems.drawers.tracking.pace import Seen
from ricochet.models.systems.drawers.tracking.paper_fusion import Lit, Velocities

AXIS = np.array([1.0, 0.0, 0.0])
"""The way a drawer opens, as its microphones are placed."""
AT_LIMIT = 3e-3
"""m from the farthest places of a take."""


@dataclass(frozen=True)
class Frames:
    """What is heard and true in the frames of a take.

    Attributes:
        power: Spectra of amplitudes squared, for the paper's regressions.
    """

    features: Features
    power: Float[ndarray, "frame bin"]
    labels: Labels


class Sight(NamedTuple):
    """What is known at the end of each lit frame.

    Attributes:
        lit: By the paper's filter of the camera alone.
        seen: By the camera, as ours takes it; None: not seen.
        with_sound: From velocities by the sound to the paper's filter of camera and sound.
    """

    lit: Lit
    seen: list[Seen | None]
    with_sound: Callable[[Velocities], Lit]


@dataclass(frozen=True)
class Learnt:
    """What a drawer sounds like, ours and the paper's.

    Attributes:
        error: Mean error of the paper's regression on components in training, m/s.
    """

    hearing: Hearing
    paper: dict[str, Predictor]
    error: float


@dataclass(frozen=True)
class Trial:
    """A take that is tried: what is seen of it, and where its sounds come from.

    Attributes:
        sources: Unit vector to the loudest sound of each frame.
        dark: Frames after the light went off.
    """

    frames: Frames
    sight: Sight
    sources: Float[ndarray, "frame 3"]
    dark: Bool[ndarray, " frame"]


@dataclass(frozen=True)
class Measured:
    """What was measured of a take.

    Attributes:
        speed: Root of the mean squared error of each way, m/s.
        speed_held: Share of the frames whose speed is in the interval of 0.9.
        sign: Share of right signs in the dark while it moves, of each way; none is half right.
        position: Root of the mean squared error, m, by phase and way.
        dark_held: Share of dark frames whose position is in the interval of 0.9.
        sound: Rank correlations of loudness and of pitch with the speed while it moves, and how
            flat the first component is: its cosine with a constant.
        place_heard: Root of the mean squared error of the place that single frames are heard to
            have, m: of those that end `at_limits`, by impact or by stop, and `elsewhere`; None: of
            no frame.
    """

    speed: dict[str, float]
    speed_held: float
    sign: dict[str, float]
    position: dict[str, dict[str, float]]
    dark_held: float
    sound: dict[str, float]
    place_heard: dict[str, float | None]


def learn(
    sessions: Sequence[Frames],
    draw: torch.Generator,
    *,
    groups: Sequence[int] | None = None,
    size: Size | None = None,
    progress: Progress = no_progress,
) -> Learnt:
    """Learn what a drawer sounds like, our way and the paper's, from two groups at least.

    Args:
        sessions: Frames of each.
        draw: Of the trainings.
        groups: Of each: what shares one is of one recording; None: each is its own.
        size: Of the trainings.
    """
    cases = [(each.features, each.labels) for each in sessions]
    heard = learning.fit(cases, draw, groups=groups, size=size, progress=progress)
    paper = papers(sessions)
    left = np.concatenate([paper["pcr"](each.power) - each.labels.speed for each in sessions])
    return Learnt(heard, paper, float(np.abs(left).mean()))


def follow(learnt: Learnt, trial: Trial) -> tuple[Said, Estimates]:
    """Return what the sound of each frame says, and where ours has the drawer."""
    said = hearing.listen(learnt.hearing, trial.frames.features)
    return said, follower.follow(said.heard(), trial.sight.seen, learnt.hearing.grammar)


def attempt(learnt: Learnt, trial: Trial) -> Measured:
    """Return what was measured of a take that was lit and then dark, and whose truth is known."""
    said, ours = follow(learnt, trial)
    speeds = {name: predict(trial.frames.power) for name, predict in learnt.paper.items()}
    return measured(trial, speeds, said, positions(learnt, trial, ours), ours)


def positions(learnt: Learnt, trial: Trial, ours: Estimates) -> dict[str, Float[ndarray, " frame"]]:
    """Return where each way has the drawer at the end of each frame, m."""
    grammar, lit, count = learnt.hearing.grammar, trial.sight.lit, len(trial.dark)
    signs = paper_rule.filtered(paper_rule.signs(trial.sources, AXIS))
    heard = Velocities(learnt.paper["pcr"](trial.frames.power) * signs, learnt.error)
    return {
        "vision": paper_fusion.held(lit, count),
        "coast": paper_fusion.coasting(lit, count, PERIOD),
        "mid_stroke": np.full(count, 0.5 * (grammar.low + grammar.high)),
        "paper": paper_fusion.fused(trial.sight.with_sound(heard), heard, PERIOD),
        "ours": ours.place,
    }


def papers(learnt: Sequence[Frames]) -> dict[str, Predictor]:
    """Return the paper's regressions of speed, fitted, and the mean."""
    power = np.vstack([each.power for each in learnt])
    speed = np.concatenate([each.labels.speed for each in learnt])
    linear = {
        "loudness": paper_regressions.loud,
        "pitch": paper_regressions.pitched,
        "both": paper_regressions.both,
        "cubic": paper_regressions.cubic,
    }
    return {
        "mean": lambda of: np.full(len(of), speed.mean()),
        **{name: paper_regressions.fit_linear(seen, power, speed) for name, seen in linear.items()},
        "pcr": paper_regressions.fit_components(power, speed, log=False),
        "pcr_log": paper_regressions.fit_components(power, speed, log=True),
    }


def measured(
    trial: Trial,
    speeds: dict[str, Float[ndarray, " frame"]],
    said: Said,
    places: dict[str, Float[ndarray, " frame"]],
    ours: Estimates,
) -> Measured:
    """Return errors and shares of one take."""
    truth, dark = trial.frames.labels, trial.dark
    every = {**speeds, "ours": said.speeds.mean}
    asked = dark & truth.moving
    signs = paper_rule.signs(trial.sources, AXIS)
    rules = {
        "difference": signs,
        "hmm": paper_rule.filtered(signs),
        "ours": np.where(ours.opening > 0.5, 1.0, -1.0),
    }
    phases = {"light_on": ~dark, "light_off": dark, "total": np.ones(len(dark), bool)}
    return Measured(
        speed={name: _rms(found - truth.speed) for name, found in every.items()},
        speed_held=float(said.speeds.hold(truth.speed).mean()),
        sign={
            name: float(0.5 + 0.5 * np.mean(found[asked] * np.sign(truth.velocity[asked])))
            for name, found in rules.items()
        },
        position={
            phase: {name: _rms((found - truth.position)[frames]) for name, found in places.items()}
            for phase, frames in phases.items()
        },
        dark_held=float(ours.hold(truth.position)[dark].mean()),
        sound=_regularities(trial.frames),
        place_heard=_place_heard(said, truth),
    )


def _place_heard(said: Said, truth: Labels) -> dict[str, float | None]:
    """Return how far off the places are that moving frames are heard to have."""
    heard = truth.moving & np.isfinite(said.places.deviation)
    errors = said.places.mean - truth.position
    low, high = truth.position.min(), truth.position.max()
    ending = np.minimum(truth.position - low, high - truth.position) < AT_LIMIT
    frames = {"at_limits": heard & ending, "elsewhere": heard & ~ending}
    return {name: _rms(errors[chosen]) if chosen.any() else None for name, chosen in frames.items()}


def _regularities(tried: Frames) -> dict[str, float]:
    moving = tried.labels.moving
    power, speed = tried.power[moving], tried.labels.speed[moving]
    loud, pitch = spectra.loudness(power), spectra.pitch(power, SAMPLE_RATE)
    amplitudes = np.sqrt(tried.power)
    _, _, rows = np.linalg.svd(amplitudes - amplitudes.mean(0), full_matrices=False)
    return {
        "loudness": float(stats.spearmanr(loud, speed).statistic),
        "pitch": float(stats.spearmanr(pitch, speed).statistic),
        "first_component": float(abs(rows[0].sum()) / np.sqrt(len(rows[0]))),
    }


def _rms(errors: Float[ndarray, " frame"]) -> float:
    return round(float(np.sqrt(np.mean(errors**2))), 5)
