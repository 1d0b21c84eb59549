"""A coin's probability of heads: learnt from flips, packaged, tried and judged."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress
from ricochet.tasks.registry import runs, versions
from ricochet.tasks.registry.aliases import CANDIDATE
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import Package, read_package, write_package
from ricochet.tasks.registry.verdicts import Check
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import digest_of, sha256
from ricochet.tasks.storage.provenance import git_commit
from ricochet.tasks.systems.coin.kinds import COIN
from ricochet.tasks.systems.coin.settings import Coin
from ricochet.tasks.systems.interface import StudyRequest
from ricochet.tasks.training.steps import Procedure, Publication, Step, TrainingRequest
from ricochet.tasks.validation.contenders import Contenders
from ricochet.tasks.validation.judge import Candidate, RigRequest, Validation
from ricochet.tasks.validation.outcomes import SIMULATED
from ricochet.tasks.validation.report import Report

NAME = "coin-fair"


def evaluate(arrays: dict[str, Any], inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the probability of heads, weighted."""
    return {"probability": inputs["weight"] * arrays["heads"].mean()}


READER = Reader(evaluate, "ricochet.coin/2", "coin")


def flip(count: int, seed: int) -> np.ndarray:
    """Return which flips are heads."""
    return np.random.default_rng(seed).random(count) < 0.5


def key(request: TrainingRequest) -> str:
    """Return the digest of what decides a training."""
    return digest_of([asdict(request.settings[Coin]), request.seed])


def is_complete(request: TrainingRequest) -> bool:
    """Tell whether the coin was flipped."""
    try:
        return read_package(request.out / NAME, reader=READER).data_digest == key(request)
    except BadInput:
        return False


def learn(request: TrainingRequest, progress: Progress) -> None:
    """Flip the coin and write what came of it."""
    package = Package(
        kind="coin",
        name=NAME,
        parameters=(Parameter("heads", "1", 0.0, 1.0),),
        arrays={"heads": flip(request.settings[Coin].flips, request.seed).astype(float)},
        inputs={"weight": np.ones(1)},
        checks={},
        data_digest=key(request),
        git_commit=git_commit(),
    )
    write_package(request.out / NAME, package, reader=READER)
    progress(1, 1)


def steps(request: TrainingRequest) -> tuple[Step, ...]:
    """Return the only step."""
    return (Step("flips", partial(learn, request)),)


def describe(request: TrainingRequest) -> dict[str, Any]:
    """Return the share of heads."""
    package = read_package(request.out / NAME, reader=READER)
    heads = float(package.arrays["heads"].mean())
    return {"schema": "ricochet.coins/1", "heads": heads, "registered": None}


def publish(request: TrainingRequest, flow_run: str) -> Publication:
    """Register the coin."""
    tracker, folder = runs.connect(), request.out / NAME
    run = runs.open_run(tracker, "coin", sha256(folder / READER.manifest), name=NAME, tags={})
    version = versions.register(tracker, NAME, folder, kind=COIN, run_id=run.run_id, tags={})
    runs.finish(tracker, run.run_id)
    return Publication(run.experiment_id, run.run_id, {"registered": {NAME: version.version}})


PROCEDURE = Procedure(
    is_complete=is_complete,
    steps=steps,
    describe=describe,
    packages=lambda request: {NAME: request.out / NAME},
    publish=publish,
    lines=lambda result, out: (f"heads {result['heads']:.2f}",),
    metrics=lambda result: {"heads": result["heads"]},
)


def study(request: StudyRequest) -> Mapping[str, Any]:
    """Count heads."""
    count = request.count or (10 if request.quick else request.settings[Coin].flips)
    request.progress(count, count)
    return {"flips": count, "heads": float(flip(count, request.seed).mean())}


@dataclass(frozen=True)
class Flips:
    """New flips against what the contenders promise."""

    name: str
    candidate: str
    champion: str | None
    rig: str
    error: dict[str, float]


def try_out(settings: Settings, contenders: Contenders, seed: int, folder: Path) -> Flips:
    """Compare each contender's promise with new flips."""
    found = flip(settings[Coin].flips, seed + 100).mean()
    error = {
        role: abs(float(package.arrays["heads"].mean() - found))
        for role, package in contenders.packages.items()
    }
    return Flips(contenders.name, contenders.candidate, contenders.champion, SIMULATED, error)


def open_table(request: RigRequest) -> Any:
    """Return what flips."""
    return partial(try_out, request.settings)


def measure(candidate: Candidate, settings: Settings, seed: int, progress: Progress) -> float:
    """Return how far the coin is off a fair one, over what is allowed."""
    return abs(float(candidate.package.arrays["heads"].mean()) - 0.5) / settings[Coin].bias


def report(contenders: Contenders, evidence: float, result: Flips) -> Report:
    """Return the errors."""
    return Report(
        result=result,
        content=asdict(result),
        summary={"error": result.error},
        trials="flips",
        stated="the share of heads",
        measured={role: {"error": error} for role, error in result.error.items()},
        labels={"error": "error of the share"},
        parameters={},
        draw=Figure,
    )


VALIDATION: Validation[float, Flips] = Validation(
    kind=COIN,
    refuse=COIN.refuse,
    rigs={SIMULATED: open_table},
    measure=measure,
    judge_evidence=lambda off: (Check("bias", off < 1.0, f"{off:.2f}", "below 1"),),
    judge_result=lambda result, off: (
        Check("flips", result.error[CANDIDATE] < 0.2, f"{result.error[CANDIDATE]}", "below 0.2"),
    ),
    report=report,
    read=lambda content, where: Flips(**content),
    line=lambda result: f"off by {result['error'][CANDIDATE]:.2f}",
)
