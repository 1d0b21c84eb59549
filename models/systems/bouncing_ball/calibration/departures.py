"""What a session departs in from what was stated, its size, and what to do about it.

The family explains these departures, and its intervals allow for them; they are said because a
person can mend most of them. Each is said where its posterior leaves no doubt (four deviations)
and it is large enough to matter.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

from ricochet.models.systems.bouncing_ball.calibration.criticism import Finding
from ricochet.models.systems.bouncing_ball.chains import parameters
from ricochet.models.systems.bouncing_ball.chains.family import Family
from ricochet.models.systems.bouncing_ball.chains.fit import CHANCE, Fit
from ricochet.models.systems.bouncing_ball.chains.observations import TILT_SD
from ricochet.models.systems.bouncing_ball.chains.parameters import NAMES
from ricochet.models.systems.bouncing_ball.contact import REFERENCE_SPEED

SURE = 4.0
"""Posterior deviations."""
MISFIT = 0.0025
"""Chance that a session of the model is said not to fit."""
_TILT, _HEIGHT = 0.009, 0.05  # rad, and share of the height
_SCATTER, _NOISE, _SPEED = 0.005, 2.0, 0.2
_VAGUE = 0.003  # standard deviation of restitution
_DRAG = 3.0  # deviations of what size and mass allow
_SPEEDS, _RISE = (1.0, 3.0), 0.002  # m/s, and of restitution between them


def found(
    family: Family,
    fit: Fit,
    *,
    shared: tuple[Float[ndarray, "session error"], Float[ndarray, "session error error"]],
    heights: Mapping[int, tuple[float, float]],
    drag: tuple[float, float] | None,
) -> tuple[Finding, ...]:
    """Return what is to be said about a session.

    Args:
        shared: Mean and covariance of the errors of each session.
        heights: As supposed, m, with the relative deviation of the error, by the session's number.
        drag: Centre and spread of log drag as size and mass state it; None where they are unknown.
    """
    said = [*_shared(shared, heights), *_scatters(family.theta), *_misfit(fit)]
    if drag is None:
        said += _air(family.restitution(REFERENCE_SPEED))
    else:
        said += _drag(family.theta[:, NAMES.index("log_drag")], drag)
        said += _rising(*(family.restitution(speed) for speed in _SPEEDS))
    return tuple(said)


def _shared(
    shared: tuple[ndarray, ndarray], heights: Mapping[int, tuple[float, float]]
) -> list[Finding]:
    findings = []
    for number, (height, relative) in sorted(heights.items()):
        mean, sd = shared[0][number], np.sqrt(np.diag(shared[1][number]))
        off = mean[0] * relative
        z = mean[0] / max(float(sd[0]), 1e-9)
        if abs(z) > SURE and abs(off) > _HEIGHT:
            fell = height * np.exp(off)
            sentence = f"the takes fell from {fell:.3f} m, not from {height:.3f} m"
            findings.append(Finding("height", sentence, _chance(z)))
        tilt, tilt_sd = TILT_SD * np.hypot(*mean[1:3]), TILT_SD * float(sd[1:3].max())
        if tilt > _TILT and tilt > SURE * tilt_sd:
            towards = round(float(np.degrees(np.arctan2(mean[2], mean[1]))))
            sentence = (
                f"the surface descends by {np.degrees(tilt):.1f} degrees towards {towards} "
                "degrees from the x axis: level it"
            )
            findings.append(Finding("tilt", sentence, _chance(tilt / tilt_sd)))
    return findings


def _scatters(theta: Float[ndarray, "draw parameter"]) -> list[Finding]:
    """Say what scatters more than a sound session's takes and detections do."""
    values = parameters.values(theta)
    rows = (
        ("takes", values.take_scatter, _SCATTER, "restitution scatters by {:.3f} from take to "
         "take: one ball, one spot, no warming up?"),
        ("time noise", values.time_noise, _NOISE, "times of bounces are {:.1f} times as uncertain "
         "as the detector states: noise, reverberation, a moving microphone?"),
        ("place noise", values.place_noise, _NOISE, "places of bounces are {:.1f} times as "
         "uncertain as the detector states: are the microphones where they are stated to be?"),
        ("release", values.release_speed, _SPEED, "the ball is let go with {:.2f} m/s sideways: "
         "let it go at rest"),
    )  # fmt: skip
    findings = []
    for name, draws, limit, sentence in rows:
        chance = float((draws < limit).mean())
        if chance < 1e-3:
            findings.append(Finding(name, sentence.format(np.median(draws)), chance))
    return findings


def _air(restitution: Float[ndarray, " draw"]) -> list[Finding]:
    """Say that air cannot be separated from restitution by speed where the size is not stated."""
    sd = float(restitution.std())
    if sd < _VAGUE:
        return []
    sentence = (
        f"restitution is known only to {sd:.3f}: air, and a restitution that falls with speed, "
        "explain the bounces alike: state the ball's diameter and mass"
    )
    return [Finding("air", sentence, 1.0)]


def _drag(logs: Float[ndarray, " draw"], prior: tuple[float, float]) -> list[Finding]:
    z = (logs.mean() - prior[0]) / prior[1]
    if abs(z) < _DRAG:
        return []
    sentence = (
        f"the air brakes the ball {np.exp(logs.mean() - prior[0]):.2f} times as much as its "
        "diameter and mass say: are they right?"
    )
    return [Finding("drag", sentence, _chance(z))]


def _rising(slow: Float[ndarray, " draw"], fast: Float[ndarray, " draw"]) -> list[Finding]:
    """Say that restitution rises with speed, as that of a ball does whose air is overstated."""
    rise, sd = float((fast - slow).mean()), float((fast - slow).std())
    if rise < max(_RISE, SURE * sd):
        return []
    sentence = (
        f"restitution rises by {rise:.4f} from {_SPEEDS[0]:g} to {_SPEEDS[1]:g} m/s, which hardly "
        "any ball's does: air brakes it less than its diameter and mass say; are they right?"
    )
    return [Finding("speed", sentence, _chance(rise / max(sd, 1e-9)))]


def _misfit(fit: Fit) -> list[Finding]:
    findings = []
    if fit.p_value < MISFIT:
        sentence = "the bounces are not those of any member of the family: look at takes and rig"
        findings.append(Finding("misfit", sentence, fit.p_value))
    for name, factor in zip(("restitution", "concentration"), fit.factors, strict=True):
        if factor > 1.0:
            sentence = f"takes disagree about {name}: its interval is made {factor:.1f} times wider"
            findings.append(Finding("disagreement", sentence, CHANCE))
    return findings


def _chance(z: float) -> float:
    return float(2.0 * stats.norm.sf(abs(z)))
