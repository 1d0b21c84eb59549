"""What a study of drawers does many times: learn from sessions of a drawer, and try on another."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

from ricochet.hardware.twins.drawers.generator.strokes import CALM, Person
from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.models.sound import spectra
from ricochet.models.systems.drawers import hearing, learning
from ricochet.models.systems.drawers.direction import paper_rule
from ricochet.models.systems.drawers.hearing import Said
from ricochet.models.systems.drawers.labels import PERIOD, SAMPLE_RATE, Labels
from ricochet.models.systems.drawers.speed import paper_regressions
from ricochet.models.systems.drawers.speed.paper_regressions import Predictor
from ricochet.models.systems.drawers.tracking import follower, paper_fusion
from ricochet.models.systems.drawers.tracking.follower import Estimates
from ricochet.tasks.systems.drawers.studies import recorded
from ricochet.tasks.systems.drawers.studies.recorded import Session, Sight

FOLDS = 4
"""Parts in which sessions that are learnt from are left out in turn."""


@dataclass(frozen=True)
class Job:
    """One drawer, learnt from all sessions but one and tried on that.

    Attributes:
        setting: Fields of the generator's `Setting` that are not as usual; `person` is a name.
        out: The session that is left out, of so many.
        code: Digest of what does it: an edit makes other jobs, which a journal does not hold.
    """

    drawer: str
    out: int
    sessions: int
    seconds: float
    light_off: float
    seed: int
    setting: dict[str, Any] = field(default_factory=dict)
    code: str = ""


@dataclass(frozen=True)
class Done:
    """What was measured of the session that was left out.

    Attributes:
        speed: Root of the mean squared error of each way, m/s.
        speed_held: Share of the frames whose speed is in the interval of 0.9.
        sign: Share of right signs in the dark while it moves, of each way.
        position: Root of the mean squared error, m, by phase and way.
        dark_held: Share of dark frames whose position is in the interval of 0.9.
        sound: Rank correlations of loudness and of pitch with the speed while it moves, and how
            flat the first component is: its cosine with a constant.
    """

    speed: dict[str, float]
    speed_held: float
    sign: dict[str, float]
    position: dict[str, dict[str, float]]
    dark_held: float
    sound: dict[str, float]


def do(job: Job) -> Done:
    """Learn, and try."""
    settings = [_setting(job, seed) for seed in range(job.sessions)]
    seeds = [1000 * job.seed + number for number in range(job.sessions)]
    every = [recorded.session(*pair) for pair in zip(settings, seeds, strict=True)]
    tried, setting = every[job.out], settings[job.out]
    learnt = [each for number, each in enumerate(every) if number != job.out]
    draw = torch.Generator().manual_seed(seeds[job.out])
    cases = [(each.features, each.labels) for each in learnt]
    heard = learning.fit(cases, draw, size=learning.Size(folds=FOLDS))
    said = hearing.listen(heard, tried.features)
    sight = recorded.sight(tried, setting, seeds[job.out])
    ours = follower.follow(said.heard(), sight.seen, heard.grammar)
    paper = papers(learnt)
    speeds = {name: predict(tried.power) for name, predict in paper.items()}
    signs = paper_rule.signs(recorded.sources(tried, setting), recorded.AXIS)
    dark = PERIOD * np.arange(1, len(tried.labels.speed) + 1) > job.light_off
    middle = 0.5 * (heard.grammar.low + heard.grammar.high)
    fused = _fused(paper["pcr"], tried, learnt, signs, sight)
    positions = _positions(sight, ours, middle, fused)
    sound = _regularities(tried)
    return measured(tried.labels, speeds, said, signs, positions, ours, dark, sound)


def papers(learnt: Sequence[Session]) -> dict[str, Predictor]:
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
    truth: Labels,
    speeds: dict[str, Float[ndarray, " frame"]],
    said: Said,
    signs: Float[ndarray, " frame"],
    positions: dict[str, Float[ndarray, " frame"]],
    ours: Estimates,
    dark: ndarray,
    sound: dict[str, float],
) -> Done:
    """Return errors and shares of one session."""
    every = {**speeds, "ours": said.speeds.mean}
    held = (truth.speed >= said.speeds.low) & (truth.speed <= said.speeds.high)
    inside = (truth.position >= ours.low) & (truth.position <= ours.high)
    asked = dark & truth.moving
    rules = {
        "difference": signs,
        "hmm": paper_rule.filtered(signs),
        "ours": np.where(ours.opening > 0.5, 1.0, -1.0),
    }
    phases = {"light_on": ~dark, "light_off": dark, "total": np.ones(len(dark), bool)}
    return Done(
        speed={name: _rms(found - truth.speed) for name, found in every.items()},
        speed_held=float(held.mean()),
        sign={
            name: float(np.mean(found[asked] == np.sign(truth.velocity[asked])))
            for name, found in rules.items()
        },
        position={
            phase: {
                name: _rms((found - truth.position)[frames]) for name, found in positions.items()
            }
            for phase, frames in phases.items()
        },
        dark_held=float(inside[dark].mean()),
        sound=sound,
    )


def encode(done: Done) -> dict[str, Any]:
    """Return what a journal can hold."""
    return asdict(done)


def decode(held: dict[str, Any]) -> Done:
    """Return what a journal held."""
    return Done(**held)


def _setting(job: Job, number: int) -> Setting:
    """Return what is recorded; another person moves the drawer that is tried, where so set."""
    given = dict(job.setting)
    other = given.pop("person", "")
    person = CALM if other and number == job.out else Person()
    usual = Setting(job.drawer, seconds=job.seconds, light_off=job.light_off, person=person)
    return replace(usual, **given)


def _regularities(tried: Session) -> dict[str, float]:
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


def _fused(
    trained: Predictor,
    tried: Session,
    learnt: Sequence[Session],
    signs: Float[ndarray, " frame"],
    sight: Sight,
) -> Float[ndarray, " frame"]:
    """Return the opening by the paper: its regression, rule and filter, m."""
    left = np.concatenate([trained(each.power) - each.labels.speed for each in learnt])
    velocities = trained(tried.power) * paper_rule.filtered(signs)
    return paper_fusion.fused(sight.lit, velocities, float(np.abs(left).mean()), PERIOD)


def _positions(
    sight: Sight, ours: Estimates, middle: float, fused: Float[ndarray, " frame"]
) -> dict[str, Float[ndarray, " frame"]]:
    """Return the opening by each way, m."""
    frames = len(fused)
    return {
        "vision": paper_fusion.held(sight.lit, frames),
        "coast": paper_fusion.coasting(sight.lit, frames, PERIOD),
        "mid_stroke": np.full(frames, middle),
        "paper": fused,
        "ours": ours.place,
    }


def _rms(errors: Float[ndarray, " frame"]) -> float:
    return round(float(np.sqrt(np.mean(errors**2))), 5)
