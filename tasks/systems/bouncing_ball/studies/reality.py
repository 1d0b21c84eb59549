"""The study of real balls and rooms: is an answer ever wrong without a word?

Sessions of each departure (`departed_sessions`) are answered by the whole-chain inference.
`result.json` says of each departure

    coverage_90        share of 90 % intervals that hold the truth
    rms_error_over_sd  of restitution at the reference speed and of log10 concentration
    warned             share of sessions with a finding, or whose answer is said to be weak
    silent_and_wrong   share without either, whose 99.9 % interval of one of both misses the truth
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.sound import array_findings
from ricochet.models.systems.bouncing_ball.calibration import whole_chains
from ricochet.models.systems.bouncing_ball.calibration.whole_chains import Ball, ChainAnswer
from ricochet.models.systems.bouncing_ball.chains.observations import SHARED
from ricochet.models.systems.bouncing_ball.contact import REFERENCE_SPEED
from ricochet.models.systems.bouncing_ball.problem import PARAMETERS
from ricochet.tasks.systems.bouncing_ball.settings import Study
from ricochet.tasks.systems.bouncing_ball.studies import departed_sessions
from ricochet.tasks.systems.bouncing_ball.studies.departed_sessions import DEPARTURES, Departure
from ricochet.tasks.systems.interface import StudyRequest

SEED = 91_000
TAKES, BOUNCES = 12, 8
QUICK_TAKES, QUICK_BOUNCES = 8, 6
CHANNELS, SAMPLE_RATE = 3, 44100.0


def run(request: StudyRequest) -> dict[str, Any]:
    """Answer sessions of every departure; a quick study takes one short session each."""
    sessions = 1 if request.quick else max(1, request.settings[Study].repeats // 5)
    rows: dict[str, Any] = {}
    total = len(DEPARTURES) * sessions
    for name, departure in DEPARTURES.items():
        outcomes = []
        for number in range(sessions):
            seed = SEED + 1000 * request.seed + number
            outcomes.append(_outcome(departure, seed, quick=request.quick))
            request.progress(len(rows) * sessions + number + 1, total)
        rows[name] = {"held": departure.held} | _row(outcomes)
    return {"quick": request.quick, "seed": request.seed, "departures": rows}


def _outcome(departure: Departure, seed: int, *, quick: bool) -> Mapping[str, Any]:
    """Answer one session: levels of the truth, errors in deviations, and what was said."""
    takes, bounces = (QUICK_TAKES, QUICK_BOUNCES) if quick else (TAKES, BOUNCES)
    session = departed_sessions.simulate(departure, takes=takes, bounces=bounces, seed=seed)
    draw = np.random.default_rng(seed)
    answer = whole_chains.infer(
        session,
        [f"take-{number:02d}" for number in range(takes)],
        first=departure.truth + draw.normal(0.0, (0.005, 0.2)),
        ball=Ball(departure.size),
        about=lambda shared: departed_sessions.relocated(session, shared),
        draw=draw,
    )
    draws = np.column_stack((answer.family.restitution(REFERENCE_SPEED), answer.family.theta[:, 1]))
    below = (draws < departure.truth).mean(0)
    return {
        "level": np.abs(2.0 * below - 1.0),
        "error": (draws.mean(0) - departure.truth) / draws.std(0),
        "said": [each.sentence for each in answer.findings] + _array(answer),
        "weak": answer.weak,
    }


def _array(answer: ChainAnswer) -> list[str]:
    own = slice(len(SHARED), None)
    found = array_findings.findings(
        answer.shared[0, own],
        answer.shared_covariance[0, own, own],
        channels=CHANNELS,
        sample_rate=SAMPLE_RATE,
    )
    return [each.text for each in found]


def _row(outcomes: list[Mapping[str, Any]]) -> dict[str, Any]:
    levels = np.array([each["level"] for each in outcomes])
    errors = np.array([each["error"] for each in outcomes])
    warned = np.array([bool(each["said"] or each["weak"]) for each in outcomes])
    wrong = (levels > 0.999).any(1)
    return {
        "sessions": len(outcomes),
        "coverage_90": _named((levels < 0.9).mean(0)),
        "rms_error_over_sd": _named(np.sqrt((errors**2).mean(0))),
        "warned": float(warned.mean()),
        "silent_and_wrong": float((wrong & ~warned).mean()),
        "said": sorted({text for each in outcomes for text in each["said"]})[:5],
    }


def _named(values: Float[ndarray, " 2"]) -> dict[str, float]:
    return dict(zip(PARAMETERS, values.tolist(), strict=True))
