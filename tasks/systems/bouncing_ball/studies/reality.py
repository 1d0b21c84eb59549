"""The study of real balls and rooms: is an answer ever wrong without a word?

Sessions of each departure of the ball, the room or the array (`departed_sessions`) are answered by
three bounces of each take and, from there, by whole takes; sessions whose recordings depart
(`recorded_sessions`) are written to a temporary folder and answered as `ricochet calibrate` answers
them. Every session has a ball of its own. `result.json` has a row (`reality_rows`) of each
departure. Finished sessions are kept in a journal, named after the code,
so that a study which was stopped goes on where it was.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound import array_findings
from ricochet.models.systems.bouncing_ball.calibration import calibrate, whole_chains
from ricochet.models.systems.bouncing_ball.calibration.calibrate import Calibration
from ricochet.models.systems.bouncing_ball.calibration.whole_chains import ChainAnswer
from ricochet.models.systems.bouncing_ball.chains.observations import SHARED
from ricochet.tasks.console.jobs import run_all
from ricochet.tasks.storage.provenance import code_digest
from ricochet.tasks.systems.bouncing_ball.calibration import answers, chain_answers
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate, Study
from ricochet.tasks.systems.bouncing_ball.studies import (
    departed_sessions,
    reality_rows,
    recorded_sessions,
)
from ricochet.tasks.systems.bouncing_ball.studies.departed_sessions import (
    DEPARTURES,
    Ball,
    Departure,
)
from ricochet.tasks.systems.bouncing_ball.studies.reality_rows import Judged, Outcome
from ricochet.tasks.systems.bouncing_ball.studies.recorded_sessions import RECORDED
from ricochet.tasks.systems.interface import StudyRequest

SEED = 91_000
TAKES, BOUNCES = 10, 6
"""Of a session, as many as `ricochet calibrate` explains as wholes."""
CHANNELS, SAMPLE_RATE = 3, 44100.0


@dataclass(frozen=True)
class Job:
    """One session of a departure, by its name."""

    name: str
    seed: int
    rules: Calibrate


def run(request: StudyRequest) -> dict[str, Any]:
    """Answer sessions of every departure; a quick study takes one each.

    Args:
        request: Its count is that of sessions.
    """
    usual = 1 if request.quick else max(1, request.settings[Study].repeats // 5)
    sessions = request.count or usual
    first, rules = SEED + 1000 * request.seed, request.settings[Calibrate]
    names = [*DEPARTURES, *RECORDED]
    jobs = [Job(name, first + number, rules) for name in names for number in range(sessions)]
    journal = reality_rows.journal(request.out / f"sessions-{code_digest(__name__)[:12]}.jsonl")
    outcomes = run_all(outcome, jobs, journal=journal, progress=request.progress)
    rows = {}
    for place, name in enumerate(names):
        held = DEPARTURES[name].held if name in DEPARTURES else None
        own = outcomes[place * sessions : (place + 1) * sessions]
        rows[name] = {"held": held, "recorded": name in RECORDED} | reality_rows.row(own)
    return {"quick": request.quick, "seed": request.seed, "departures": rows}


def outcome(job: Job) -> Outcome:
    """Simulate and answer one session."""
    if job.name in DEPARTURES:
        return _detected(DEPARTURES[job.name], job.seed)
    return recorded(job.name, takes=TAKES, seed=job.seed, rules=job.rules)


def recorded(name: str, *, takes: int, seed: int, rules: Calibrate) -> Outcome:
    """Record and answer a session of a departure in sound."""
    ball = departed_sessions.ball_of(seed)
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "session"
        recorded_sessions.record(RECORDED[name], ball, folder, takes=takes, seed=seed)
        try:
            detected = answers.detect([folder], rules=rules)
            found = answers.infer(detected, rules=rules, seed=seed)
        except BadInput as error:
            return Outcome(None, (str(error).replace(f"{root}/", ""),))
    three = _by_three(found.found, ball)
    whole = three if found.chains is None else _judged(found.chains, found.found, ball)
    said = tuple(finding["sentence"] for finding in found.findings)
    weak = found.chains is not None and bool(found.chains.weak)
    return Outcome(whole, said, weak=weak, three_bounces=three)


def _detected(departure: Departure, seed: int) -> Outcome:
    """Answer one session of a departure without sound."""
    ball = departed_sessions.ball_of(seed)
    session = departed_sessions.simulate(departure, ball, takes=TAKES, bounces=BOUNCES, seed=seed)
    drops = departed_sessions.three_bounces(session)
    three = calibrate.calibrate(drops, draw=torch.Generator().manual_seed(seed))
    answer = whole_chains.infer(
        session,
        drops.names,
        first=three.mean,
        ball=whole_chains.Ball(departure.size),
        about=lambda shared: departed_sessions.relocated(session, shared),
        draw=np.random.default_rng(seed),
    )
    said = (
        *(each.sentence for each in (*three.findings, *answer.findings)),
        *_array(answer),
        *(each.sentence for each in chain_answers.contradiction(answer, three)),
    )
    stated, weak = _judged(answer, three, ball), bool(answer.weak)
    return Outcome(stated, said, weak=weak, three_bounces=_by_three(three, ball))


def _by_three(found: Calibration, ball: Ball) -> Judged:
    return reality_rows.judge(found.samples, ball.truth, p_value=found.predictive_p_value)


def _judged(answer: ChainAnswer, three: Calibration, ball: Ball) -> Judged:
    """Judge what is stated, which is not what whole takes say where that is weak."""
    if answer.weak:
        return _by_three(three, ball)
    return reality_rows.judge(answer.family.pair, ball.truth, p_value=answer.fit.p_value)


def _array(answer: ChainAnswer) -> tuple[str, ...]:
    own = slice(len(SHARED), None)
    found = array_findings.findings(
        answer.shared[0, own],
        answer.shared_covariance[0, own, own],
        channels=CHANNELS,
        sample_rate=SAMPLE_RATE,
    )
    return tuple(each.text for each in found)
