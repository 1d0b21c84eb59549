"""What all bounces of a target's takes tell, as `ricochet.calibration/2` says it.

    members        weight of each law of restitution by speed
    restitution    at the reference speed, at the first bounce, and as a band over the speeds met
    nuisances      mean and central 90 % interval of everything else that was inferred
    shared         height and tilt of each session, with deviations

`mean`, `covariance`, `region_90` and `samples` stay those of the paper's model; a finding says
where the whole takes contradict it. The registered package holds both (`family_packages`).
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.sound import array_errors, array_findings
from ricochet.models.sound.arrays import Microphones
from ricochet.models.systems.bouncing_ball.air import Size
from ricochet.models.systems.bouncing_ball.calibration import whole_chains
from ricochet.models.systems.bouncing_ball.calibration.calibrate import Calibration
from ricochet.models.systems.bouncing_ball.calibration.criticism import Finding
from ricochet.models.systems.bouncing_ball.calibration.whole_chains import Ball, ChainAnswer
from ricochet.models.systems.bouncing_ball.chains import missed_bounces, parameters
from ricochet.models.systems.bouncing_ball.chains.observations import SHARED, TILT_SD, Take
from ricochet.models.systems.bouncing_ball.contact import REFERENCE_SPEED
from ricochet.models.systems.bouncing_ball.listening import shared_errors
from ricochet.models.systems.bouncing_ball.listening.takes import DetectedTake
from ricochet.tasks.recordings.sessions import Session
from ricochet.tasks.systems.bouncing_ball.calibration.detections import Detections
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate

SCHEMA = "ricochet.calibration/2"
LENGTHS = (3, 4, 5, 6)
"""Bounces of a take that are used: takes of one length are computed together."""
FEWEST_PLACES = 2
LEAST_PLACE_SD = 3e-4
"""What no real contact and no error to the first order keeps below, m."""
SPEEDS = 9
APART = 1e-3
"""Chance below which the paper's restitution is said to contradict the whole takes."""


def infer(
    detected: Detections,
    found: Calibration,
    *,
    rules: Calibrate,
    seed: int,
    progress: Progress = no_progress,
) -> ChainAnswer | None:
    """Infer the family from whole takes; None where too few can be used."""
    takes, names = takes_of(detected, found, rules)
    if len(takes) < whole_chains.FEWEST:
        return None
    return whole_chains.infer(
        takes,
        names,
        first=found.mean,
        ball=ball_of(detected.sessions),
        about=lambda shared: takes_of(detected, found, rules, about=shared)[0],
        draw=np.random.default_rng(seed),
        progress=progress,
    )


def takes_of(
    detected: Detections,
    found: Calibration,
    rules: Calibrate,
    *,
    about: Float[ndarray, "session error"] | None = None,
) -> tuple[list[Take], list[str]]:
    """Return the chains of the first usable takes and their names.

    Args:
        about: Errors of the arrays without which the takes are located; None takes none out.
    """
    number = {session.identity: place for place, session in enumerate(detected.sessions)}
    most = max(len(session.rig.microphones) for session in detected.sessions)
    errors = shared_errors.LEADING + len(array_errors.errors(most).names)
    takes: list[Take] = []
    names: list[str] = []
    for each in detected.takes:
        if len(takes) == rules.whole_takes:
            break
        place = number[each.file.split("/")[0]]
        array = detected.sessions[place].rig.array()
        known = shared_errors.LEADING + len(array_errors.errors(len(array.positions)).names)
        without = np.zeros(known) if about is None else about[place, :known]
        chain = _chain(each.detected, array, rules.survey_sd, about=without)
        if chain is None:
            continue
        height, height_sd = _height(detected.sessions[place], found, place, rules.release_sd)
        less = errors - chain.areas.shape[-1]
        chain = replace(
            chain,
            distortion=np.pad(chain.distortion, ((0, 0), (0, 0), (0, less))),
            areas=np.pad(chain.areas, ((0, 0), (0, less))),
        )
        takes.append(replace(chain, height=height, height_sd=height_sd, session=place))
        names.append(each.file)
    return takes, names


def _height(
    session: Session, found: Calibration, place: int, release_sd: float
) -> tuple[float, float]:
    if session.drop_height is not None:
        return session.drop_height, release_sd
    return found.heights[place].height, found.heights[place].height_sd


def _chain(
    detected: DetectedTake,
    array: Microphones,
    survey_sd: float,
    *,
    about: Float[ndarray, " error"],
) -> Take | None:
    """Return the chain of a take, bounces that were missed among it; None where it is too short."""
    if detected.positions is None or len(detected.times) < LENGTHS[0]:
        return None
    own = shared_errors.own_errors(detected, array, place_sd=survey_sd)
    located = shared_errors.linearised(detected, array, about=about, place_sd=survey_sd)
    places = located.places.copy()
    unused = detected.outliers | ~np.isfinite(own.place_sd + places.sum(1))
    if len(places) - unused.sum() < FEWEST_PLACES:
        return None
    for axis in range(2):  # a first guess where nothing is known
        known = np.flatnonzero(~unused)
        places[unused, axis] = np.interp(np.flatnonzero(unused), known, places[known, axis])
    seen = Take(
        times=located.times,
        places=places,
        time_sd=own.time_sd,
        place_sd=np.where(unused, np.inf, np.hypot(own.place_sd, LEAST_PLACE_SD)),
        height=1.0,
        height_sd=1.0,
        session=0,
        distortion=located.distortion,
        areas=located.areas,
    )
    return _cut(missed_bounces.inserted(seen, detected.missing))


def _cut(take: Take) -> Take | None:
    """Return the longest beginning that ends with a detected bounce; None where it is too short."""
    seen = np.isfinite(take.time_sd)
    fitting = [length for length in LENGTHS if length <= len(seen) and seen[length - 1]]
    for length in fitting[::-1]:
        placed = int(np.isfinite(take.place_sd[:length]).sum())
        if seen[:length].sum() >= LENGTHS[0] and placed >= FEWEST_PLACES:
            columns = ("times", "places", "time_sd", "place_sd", "distortion", "areas")
            return replace(take, **{name: getattr(take, name)[:length] for name in columns})
    return None


def ball_of(sessions: Sequence[Session]) -> Ball:
    """Return what sessions of one ball say of it; `BadInput` if they contradict one another."""
    sizes = {(session.diameter, session.mass) for session in sessions}
    if len(sizes) > 1:
        where = ", ".join(str(session.folder) for session in sessions)
        raise BadInput(f"{where}: object", "diameters or masses that differ", "those of one ball")
    diameter, mass = sizes.pop()
    size = None if diameter is None or mass is None else Size(diameter, mass)
    temperature = float(np.mean([session.rig.temperature for session in sessions]))
    return Ball(size, temperature)


def content(answer: ChainAnswer, detected: Detections) -> dict[str, Any]:
    """Return what `result.json` gains."""
    slow, fast, first = answer.speeds
    band = np.linspace(slow, fast, SPEEDS)
    return {
        "schema": SCHEMA,
        "members": answer.family.weights,
        "restitution": {
            "reference_speed": REFERENCE_SPEED,
            "at_reference": _summary(answer.family.restitution(REFERENCE_SPEED)),
            "at_first_bounce": {"speed": first} | _summary(answer.family.restitution(first)),
            "band": [{"speed": v} | _summary(answer.family.restitution(float(v))) for v in band],
        },
        "nuisances": _parameters(answer),
        "shared": _shared(answer, detected),
        "weak": answer.weak or None,
    }


def findings(answer: ChainAnswer, detected: Detections, found: Calibration) -> list[dict[str, Any]]:
    """Return what is said of the whole takes, a contradiction of the paper's model included."""
    array = _array(answer, detected)
    cause = "errors of the array" if array else "air, or restitution that depends on speed"
    every = (*answer.findings, *array, *_contradiction(answer, found, cause))
    said = [asdict(finding) for finding in every]
    if answer.weak:
        sentence = f"the answer of whole takes is weak: {answer.weak}"
        said.append(asdict(Finding("weak", sentence, 1.0)))
    return said


def _array(answer: ChainAnswer, detected: Detections) -> list[Finding]:
    """Say what is wrong with the arrays of the sessions."""
    said = []
    for number, session in enumerate(detected.sessions):
        channels = len(session.rig.microphones)
        own = slice(shared_errors.LEADING, None)
        count = len(array_errors.errors(channels).names)
        for each in array_findings.findings(
            answer.shared[number, own][:count],
            answer.shared_covariance[number, own, own][:count, :count],
            channels=channels,
            sample_rate=session.rig.sample_rate,
        ):
            chance = float(2.0 * stats.norm.sf(abs(each.deviations)))
            said.append(Finding("array", f"{session.identity}: {each.text}", chance))
    return said


def _contradiction(answer: ChainAnswer, found: Calibration, cause: str) -> tuple[Finding, ...]:
    """Say where the paper's restitution is not one that whole takes allow."""
    draws = answer.family.restitution(REFERENCE_SPEED)
    spread = np.hypot(draws.std(), np.sqrt(found.covariance[0, 0]))
    away = abs(draws.mean() - found.mean[0]) / spread
    chance = float(2.0 * stats.norm.sf(away))
    if answer.weak or chance > APART:
        return ()
    sentence = (
        f"whole takes give restitution {draws.mean():.4f} +- {draws.std():.4f} at "
        f"{REFERENCE_SPEED:g} m/s, where one constant without air gives {found.mean[0]:.4f} +- "
        f"{np.sqrt(found.covariance[0, 0]):.4f}: {cause}"
    )
    return (Finding("family", sentence, chance),)


def _summary(draws: Float[ndarray, " draw"]) -> dict[str, Any]:
    low, high = np.quantile(draws, [0.05, 0.95]).tolist()
    return {"mean": float(draws.mean()), "sd": float(draws.std()), "region_90": [low, high]}


def _parameters(answer: ChainAnswer) -> dict[str, Any]:
    values = vars(parameters.values(answer.family.theta))
    found = {name: _summary(draws) for name, draws in values.items() if name != "restitution"}
    found["log10_concentration"] = _summary(answer.family.theta[:, 1])
    return found


def _shared(answer: ChainAnswer, detected: Detections) -> list[dict[str, Any]]:
    """Return what takes of each session share, with deviations.

    The height, relative to what is stated, tilts, rad, and the errors of the array by name: places,
    m, the speed of sound, relative, delays, s, and drifts, relative, against channel 0.
    """
    relative = float(np.median(answer.family.best.groups[0].chains.height_error))
    rows = []
    each = zip(detected.sessions, answer.shared, answer.shared_covariance, strict=True)
    for session, mean, covariance in each:
        array = array_errors.errors(len(session.rig.microphones))
        names = (*SHARED, *array.names)
        units = np.concatenate(([relative, TILT_SD, TILT_SD], array.sd))
        sd = np.sqrt(np.diag(covariance))
        found = {
            name: {"mean": float(unit * mean[place]), "sd": float(unit * sd[place])}
            for place, (name, unit) in enumerate(zip(names, units, strict=True))
        }
        rows.append({"session": session.identity} | found)
    return rows
