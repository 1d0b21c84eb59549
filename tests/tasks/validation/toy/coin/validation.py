"""How coins are validated: flips counted anew, then flips that every contender guesses.

A coin shows heads 0.8 of the time. A contender states the chance of heads and guesses the side that
it makes the likelier one.
"""

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.verdicts import Check
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.systems.coin.kinds import COIN
from ricochet.tasks.validation.checks import not_worse
from ricochet.tasks.validation.judge import Validation
from ricochet.tasks.validation.outcomes import SIMULATED, Paired, paired_from_json, reading
from ricochet.tasks.validation.report import Report

TRUTH, FLIPS, SCHEMA = 0.8, 200, "toy.flips/1"


@dataclass(frozen=True)
class Flips:
    """The guesses of a candidate and of the champion."""

    name: str
    candidate: str
    champion: str | None
    guessed: Paired
    rig: str = SIMULATED


def refuse(name):
    if name == "coin-lost":
        raise BadInput(name, "a coin that is lost", "one that can be flipped")


def stated(package):
    return float(package.arrays["chance"][0])


def flips(seed, stream):
    return np.random.default_rng([seed, stream]).random(FLIPS) < TRUTH


def measure(candidate, settings, seed, progress):
    progress(1, 1)
    return abs(stated(candidate.package) - flips(seed, 0).mean())


def judge_evidence(error):
    return (Check("stated chance", bool(error < 0.15), f"{error:.2f} off", "at most 0.15 off"),)


def open_simulated(request):
    def play(contenders, seed, folder):
        heads = flips(seed, 1)
        guesses = {
            role: tuple(bool(right) for right in heads == (stated(package) > 0.5))
            for role, package in contenders.packages.items()
        }
        (output_folder(folder) / "flips.txt").write_text("".join("HT"[not each] for each in heads))
        paired = Paired(guesses["candidate"], guesses.get("champion"))
        return Flips(contenders.name, contenders.candidate, contenders.champion, paired)

    return play


def to_json(result):
    versions = {key: getattr(result, key) for key in ("name", "candidate", "champion")}
    return {"schema": SCHEMA, **versions, "guessed": result.guessed.to_json()}


def read(content, where):
    with reading(content, SCHEMA, where):
        versions = {key: content[key] for key in ("name", "candidate", "champion")}
        return Flips(**versions, guessed=paired_from_json(content["guessed"]))


def report(contenders, error, result):
    shares = result.guessed.shares()
    return Report(
        result=result,
        content=to_json(result),
        summary={"error": error, "guessed": shares},
        trials=f"{FLIPS} flips",
        stated=f"heads {stated(contenders.packages['candidate']):g}",
        measured={role: {"guessed": share} for role, share in shares.items()},
        labels={"guessed": "flips guessed, share"},
        parameters={"flips": FLIPS},
        draw=Figure,
    )


VALIDATION = Validation(
    kind=COIN,
    refuse=refuse,
    rigs={SIMULATED: open_simulated},
    measure=measure,
    judge_evidence=judge_evidence,
    judge_result=lambda result, error: (not_worse("guesses", result.guessed),),
    report=report,
    read=read,
    line=lambda result: f"guessed {result['guessed']['candidate']:.2f} of the flips",
)
