"""What all bounces of a target's takes tell, as `ricochet.calibration/2` says it.

    stated         `whole_takes`, or `three_bounces` where the former are weak
    three_bounces  what the paper's model says
    members        weight of each law of restitution by speed
    restitution    at the reference speed, at the first bounce, and as a band over the speeds met
    nuisances      mean and central 90 % interval of everything else that was inferred
    shared         height, tilt and errors of the array of each session, with deviations
    takes          gain `whole_takes`: how many are explained, and which were set aside

An answer that may be relied on is the one stated: `mean`, `covariance`, `region_90`, `samples` and
`predictive_p_value` are its own, restitution at the reference speed and log10 concentration, and
those of the paper's model stand under `three_bounces`. A weak one is given beside that of three
bounces. A finding says where both contradict one another. The registered package holds both
(`family_packages`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import zip_longest
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
from ricochet.models.systems.bouncing_ball.calibration.release_height import SessionHeight
from ricochet.models.systems.bouncing_ball.calibration.whole_chains import Ball, ChainAnswer
from ricochet.models.systems.bouncing_ball.chains import missed_bounces, parameters
from ricochet.models.systems.bouncing_ball.chains.observations import SHARED, TILT_SD, Take
from ricochet.models.systems.bouncing_ball.contact import REFERENCE_SPEED
from ricochet.models.systems.bouncing_ball.listening import shared_errors
from ricochet.models.systems.bouncing_ball.listening.takes import DetectedTake
from ricochet.models.systems.bouncing_ball.problem import PARAMETERS
from ricochet.tasks.recordings.sessions import Session
from ricochet.tasks.systems.bouncing_ball.calibration.detections import Detections, NamedTake
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate

SCHEMA = "ricochet.calibration/2"
WHOLE, THREE = "whole_takes", "three_bounces"
"""Which answer is stated."""
_STATED = ("mean", "covariance", "region_90", "predictive_p_value")
SHORTEST = 3
"""Bounces of a take from which one is used."""
FEWEST_PLACES = 2
LEAST_PLACE_SD = 3e-4
"""What no real contact and no error to the first order keeps below, m."""
SPEEDS = 9
APART = 1e-3
"""Chance below which the paper's answer is said to contradict the whole takes."""
_AT_REFERENCE = f"restitution at {REFERENCE_SPEED:g} m/s"
_AIR = "air, or restitution that depends on speed"
_PLACES = "redirections that are sometimes wider, or errors of places that are not as assumed"


def infer(
    detected: Detections,
    found: Calibration,
    *,
    rules: Calibrate,
    seed: int,
    progress: Progress = no_progress,
) -> ChainAnswer | None:
    """Infer the family from whole takes; None where too few can be used."""
    chosen = _usable(detected, rules)
    takes = takes_of(chosen, detected, found, rules)
    if len(takes) < whole_chains.FEWEST:
        return None
    return whole_chains.infer(
        takes,
        [each.file for each in chosen],
        first=found.mean,
        ball=ball_of(detected.sessions),
        about=lambda shared: takes_of(chosen, detected, found, rules, about=shared),
        draw=np.random.default_rng(seed),
        progress=progress,
    )


def _usable(detected: Detections, rules: Calibrate) -> list[NamedTake]:
    """Return the takes that are explained as wholes: the first usable ones, from all sessions."""
    found: dict[str, list[NamedTake]] = {session.identity: [] for session in detected.sessions}
    arrays = {session.identity: session.rig.array() for session in detected.sessions}
    for each in detected.takes:
        name = _session_of(each)
        still = np.zeros(_errors(arrays[name]))
        if _chain(each.detected, arrays[name], rules, about=still) is not None:
            found[name].append(each)
    rounds = zip_longest(*found.values())
    chosen = [each for row in rounds for each in row if each is not None][: rules.whole_takes]
    return [each for each in detected.takes if any(each is other for other in chosen)]


def takes_of(
    chosen: Sequence[NamedTake],
    detected: Detections,
    found: Calibration,
    rules: Calibrate,
    *,
    about: Float[ndarray, "session error"] | None = None,
) -> list[Take]:
    """Return the chains of takes.

    Args:
        about: Errors of the arrays without which the takes are located; None takes none out, nor
            does a take that cannot be located without them.
    """
    number = {session.identity: place for place, session in enumerate(detected.sessions)}
    most = max(_errors(session.rig.array()) for session in detected.sessions)
    takes = []
    for each in chosen:
        place = number[_session_of(each)]
        array = detected.sessions[place].rig.array()
        without = np.zeros(_errors(array))
        chain = _chain(each.detected, array, rules, about=without)
        if about is not None and place < len(about):
            moved = _chain(each.detected, array, rules, about=about[place, : len(without)])
            chain = moved or chain
        if chain is None:
            raise ValueError(f"chosen: {each.file} is no chain")
        height, height_sd = _height(found.heights[place], rules.release_sd)
        less = most - chain.areas.shape[-1]
        chain = replace(
            chain,
            distortion=np.pad(chain.distortion, ((0, 0), (0, 0), (0, less))),
            areas=np.pad(chain.areas, ((0, 0), (0, less))),
        )
        takes.append(replace(chain, height=height, height_sd=height_sd, session=place))
    return takes


def _session_of(take: NamedTake) -> str:
    return take.file.split("/")[0]


def _errors(array: Microphones) -> int:
    """Return how many errors takes of an array share."""
    return shared_errors.LEADING + len(array_errors.errors(len(array.positions)).names)


def _height(found: SessionHeight, release_sd: float) -> tuple[float, float]:
    """Return the height of release and its error; of one that the takes refute nothing is kept.

    Whole takes tell the height to a part in a thousand where air and all bounces are reckoned with,
    so that a guess about that of the first bounces costs nothing.
    """
    if found.refuted:
        return found.height, whole_chains.GUESS * found.height
    if found.stated is None:
        return found.height, found.height_sd
    return found.stated, release_sd


def _chain(
    detected: DetectedTake,
    array: Microphones,
    rules: Calibrate,
    *,
    about: Float[ndarray, " error"],
) -> Take | None:
    """Return the chain of a take, bounces that were missed among it; None where it is too short."""
    if detected.positions is None or len(detected.times) < SHORTEST:
        return None
    own = shared_errors.own_errors(detected, array, place_sd=rules.survey_sd)
    located = shared_errors.linearised(
        detected,
        array,
        about=about,
        place_sd=rules.survey_sd,
        spread=array_errors.surveyed(rules.survey_sd),
    )
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
    return _cut(missed_bounces.inserted(seen, detected.missing), rules.whole_bounces)


def _cut(take: Take, most: int) -> Take | None:
    """Return the longest beginning that ends with a detected bounce; None where it is too short."""
    seen = np.isfinite(take.time_sd)
    for length in range(min(most, len(seen)), SHORTEST - 1, -1):
        placed = int(np.isfinite(take.place_sd[:length]).sum())
        if seen[length - 1] and seen[:length].sum() >= SHORTEST and placed >= FEWEST_PLACES:
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


def content(answer: ChainAnswer, detected: Detections, three: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of whole takes, given that of three bounces."""
    slow, fast, first = answer.speeds
    band = np.linspace(slow, fast, SPEEDS)
    own = {} if answer.weak else summarised(answer.family.pair)
    own |= {} if answer.weak else {"predictive_p_value": answer.fit.p_value}
    return {
        **three,
        **own,
        "schema": SCHEMA,
        "stated": THREE if answer.weak else WHOLE,
        "takes": three["takes"] | {WHOLE: _explained(answer)},
        THREE: {name: three[name] for name in _STATED},
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
    cause = "errors of the array" if array else _AIR
    every = (*answer.findings, *array, *contradiction(answer, found, cause))
    said = [asdict(finding) for finding in every]
    if answer.weak:
        sentence = f"the answer of whole takes is weak: {answer.weak}"
        said.append(asdict(Finding("weak", sentence, 1.0)))
    return said


def _array(answer: ChainAnswer, detected: Detections) -> list[Finding]:
    """Say what is wrong with the arrays of the sessions."""
    said, surveyed = [], detected.tolerances.place_sd
    for number in sorted(answer.heights):
        session = detected.sessions[number]
        channels = len(session.rig.microphones)
        own = slice(shared_errors.LEADING, None)
        count = len(array_errors.errors(channels).names)
        for each in array_findings.findings(
            answer.shared[number, own][:count],
            answer.shared_covariance[number, own, own][:count, :count],
            channels=channels,
            sample_rate=session.rig.sample_rate,
            spread=array_errors.surveyed(surveyed),
            usual=array_findings.everyday(surveyed),
        ):
            chance = float(2.0 * stats.norm.sf(abs(each.deviations)))
            said.append(Finding("array", f"{session.identity}: {each.text}", chance))
    return said


def contradiction(
    answer: ChainAnswer, found: Calibration, cause: str = _AIR
) -> tuple[Finding, ...]:
    """Say where the paper's answer is not one that whole takes allow.

    Both share bounces: of two answers by the same data, or by a part of it, the one that knows
    less varies about the other by no more than its own deviation.
    """
    if answer.weak:
        return ()
    means, wide = answer.family.pair.mean(0), answer.family.pair.std(0)
    narrow = np.sqrt(np.diag(found.covariance))
    chances = 2.0 * stats.norm.sf(np.abs(means - found.mean) / np.maximum(wide, narrow))
    said = []
    for number, (name, why) in enumerate(((_AT_REFERENCE, cause), (PARAMETERS[1], _PLACES))):
        if chances[number] < APART / len(chances):
            sentence = (
                f"whole takes give {name} {means[number]:.4f} +- {wide[number]:.4f}, three bounces "
                f"and the paper's model {found.mean[number]:.4f} +- {narrow[number]:.4f}: {why}"
            )
            said.append(Finding("family", sentence, float(chances[number])))
    return tuple(said)


def stated(answer: ChainAnswer | None, found: Calibration) -> Float[ndarray, "draw 2"]:
    """Return the draws of restitution and log10 concentration that are relied on."""
    return found.samples if answer is None or answer.weak else answer.family.pair


def _explained(answer: ChainAnswer) -> dict[str, Any]:
    """Return how many takes are explained as wholes, and which were looked at in vain."""
    names = zip(answer.names, answer.kept, strict=True)
    return {"used": int(answer.kept.sum()), "set_aside": [name for name, kept in names if not kept]}


def summarised(pairs: Float[ndarray, "draw 2"]) -> dict[str, Any]:
    """Return mean, covariance and central 90 % intervals of draws of both parameters."""
    low, high = np.quantile(pairs, [0.05, 0.95], axis=0)
    return {
        "mean": pairs.mean(0).tolist(),
        "covariance": np.cov(pairs.T).tolist(),
        "region_90": dict(zip(PARAMETERS, np.column_stack((low, high)).tolist(), strict=True)),
    }


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
    rows, spread = [], array_errors.surveyed(detected.tolerances.place_sd)
    for number, (_, relative) in sorted(answer.heights.items()):
        session, mean = detected.sessions[number], answer.shared[number]
        array = array_errors.errors(len(session.rig.microphones), spread)
        names = (*SHARED, *array.names)
        units = np.concatenate(([relative, TILT_SD, TILT_SD], array.sd))
        sd = np.sqrt(np.diag(answer.shared_covariance[number]))
        found = {
            name: {"mean": float(unit * mean[place]), "sd": float(unit * sd[place])}
            for place, (name, unit) in enumerate(zip(names, units, strict=True))
        }
        rows.append({"session": session.identity} | found)
    return rows
