"""The study of the bouncing ball's inference: Fig. 5 and Sec. 4.1-4.2 of Matl et al., measured.

    noise       methods on the same cases, with the default timing and localisation errors
    paper       the same without noise and with the paper's 6000 simulations
    ablation    times, places or both (the table of Fig. 5a), in the paper's setting
    product     coverage of the joint posterior of many drops, over the prior and for three balls

`--quick` takes a small share of every count, and shorter sessions: those of 100 drops at a low
concentration take a minute each.
"""

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from ricochet.models.core.progress import Progress
from ricochet.models.inference import density_arrays
from ricochet.models.inference.mixture_density_networks import ConditionalDensity
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.balls import BALLS
from ricochet.models.systems.bouncing_ball.calibration import drop_posterior, network_features
from ricochet.models.systems.bouncing_ball.problem import (
    DEFAULT_POSITION_SD,
    DEFAULT_TIME_SD,
    Drops,
)
from ricochet.tasks.console.jobs import run_all
from ricochet.tasks.figures import calibration_checks, style
from ricochet.tasks.general_settings import Quick
from ricochet.tasks.storage.files import digest_of, output_folder
from ricochet.tasks.storage.provenance import code_digest
from ricochet.tasks.systems.bouncing_ball.settings import Study
from ricochet.tasks.systems.bouncing_ball.studies import exact_method, sbi_method
from ricochet.tasks.systems.bouncing_ball.studies import methods as method_rows
from ricochet.tasks.systems.bouncing_ball.studies import sessions as product_rows
from ricochet.tasks.systems.bouncing_ball.studies.methods import Method
from ricochet.tasks.systems.bouncing_ball.studies.sessions import Session
from ricochet.tasks.systems.interface import StudyRequest

SEED, APART = 1000, 1_000_000
"""The first seed of the study, and how far those of two studies lie apart."""
QUICK, QUICK_DROPS = 0.3, 20
"""The part of `study.quick` that exact posteriors leave time for; the most drops of a session."""


@dataclass(frozen=True)
class Setting:
    """One noise level with its number of simulations, and the first seed of the study."""

    time_sd: float
    position_sd: float
    simulations: int
    first: int = SEED

    def drops(self, count: int, seed: int) -> Drops:
        """Simulate drops from the prior; the seed counts from the first of the study."""
        draw = self.draw(seed)
        noise = problem.constant_noise((count,), time_sd=self.time_sd, position_sd=self.position_sd)
        return problem.simulate_drops(noise, problem.constant_release((count,)), draw=draw)

    def draw(self, seed: int) -> torch.Generator:
        """Return a generator of a seed that counts from the first of the study."""
        return torch.Generator().manual_seed(self.first + seed)

    def describe(self) -> dict[str, Any]:
        """Return the noise and the simulations as the result states them."""
        noise = {"time_s": self.time_sd, "position_m": self.position_sd}
        return {"noise": noise, "simulations": self.simulations}


def run(request: StudyRequest) -> dict[str, Any]:
    """Make the tables and figures of the study."""
    study = request.settings[Study]
    if request.quick:
        study = shrunk(study, request.settings[Quick].quick)
    first = SEED + APART * request.seed
    noisy = Setting(DEFAULT_TIME_SD, DEFAULT_POSITION_SD, study.simulations, first)
    paper = Setting(0.0, 0.0, study.paper_simulations, first)
    steps = _steps(study, request.progress)
    general = drop_posterior.train_general(simulations=5 * study.simulations, draw=noisy.draw(0))
    steps(1)
    result = {
        "quick": request.quick,
        **noisy.describe(),
        "cases": study.cases,
        "methods": _methods(noisy, study, general.density, general.cpu_time, steps),
        "paper": {**paper.describe(), "methods": _paper_methods(paper, study, steps)},
        "ablation": _ablation(paper, study, steps),
        "product": _product(study, general.density, request.out, steps, first),
    }
    _draw(result, request.out)
    return result


def shrunk(study: Study, share: float) -> Study:
    """Return the study at a share of its counts, in short sessions."""
    sizes = {
        name: max(1, round(QUICK * share * value))
        for name, value in asdict(study).items()
        if name in ("simulations", "cases", "sessions", "repeats")
    }
    return replace(study, **sizes, drops=min(study.drops, QUICK_DROPS))


def _steps(study: Study, progress: Progress) -> Callable[[int], None]:
    total = study.sessions + len(BALLS) * study.repeats + 10
    done = 0

    def step(count: int) -> None:
        nonlocal done
        done = min(done + count, total)
        progress(done, total)

    return step


def _methods(
    setting: Setting,
    study: Study,
    general: ConditionalDensity,
    general_cpu_s: float,
    steps: Callable[[int], None],
) -> dict[str, Any]:
    training = setting.drops(setting.simulations, 1)
    cases = setting.drops(study.cases, 2)
    draw = setting.draw(3)
    mdn = method_rows.train_network(training, training=drop_posterior.GENERAL, draw=draw)
    methods: dict[str, Method] = {
        "mdn": mdn,
        "mdn-every-rig": method_rows.network_method(general, train_cpu_s=general_cpu_s),
        "exact": Method(exact_method.answer),
    }
    rows = _rows(methods, cases, steps)
    return rows | _peer(training, cases, steps)


def _paper_methods(setting: Setting, study: Study, steps: Callable[[int], None]) -> dict[str, Any]:
    training = setting.drops(setting.simulations, 4)
    cases = setting.drops(study.cases, 5)
    draw = setting.draw(6)
    rows = _rows({"mdn": method_rows.train_network(training, draw=draw)}, cases, steps)
    return rows | _peer(training, cases, steps)


def _rows(methods: dict[str, Method], cases: Drops, steps: Callable[[int], None]) -> dict[str, Any]:
    rows = {}
    for name, method in methods.items():
        rows[name] = method_rows.evaluate(method, cases)
        steps(1)
    return rows


def _peer(training: Drops, cases: Drops, steps: Callable[[int], None]) -> dict[str, Any]:
    """Return the row of the `sbi` package on the same simulations, or why there is none."""
    reason = sbi_method.absent()
    row = {"absent": reason} if reason else method_rows.evaluate(sbi_method.train(training), cases)
    steps(1)
    return {"sbi-mdn": row}


def _ablation(setting: Setting, study: Study, steps: Callable[[int], None]) -> dict[str, Any]:
    training = setting.drops(setting.simulations, 4)
    cases = setting.drops(study.cases, 5)
    rows = {}
    for name, form_inputs in (
        ("time", network_features.from_times),
        ("position", network_features.from_places),
        ("both", network_features.from_both),
    ):
        draw = setting.draw(7)
        method = method_rows.train_network(training, form_inputs=form_inputs, draw=draw)
        rows[name] = method_rows.evaluate(method, cases)
        steps(1)
    return rows


def _product(
    study: Study, network: ConditionalDensity, out: Path, steps: Callable[[int], None], first: int
) -> dict[str, Any]:
    sessions = {"prior": [Session(10 * first + i, study.drops) for i in range(study.sessions)]}
    for place, ball in enumerate(BALLS.values(), start=1):
        start = first * (10 + 10 * place)
        sessions[ball.name] = [
            Session(start + i, study.drops, ball.theta) for i in range(study.repeats)
        ]
    arrays = density_arrays.to_arrays(network)
    network_digest = hashlib.sha256(b"".join(each.tobytes() for each in arrays.values()))
    key = digest_of([code_digest(__name__), network_digest.hexdigest()])
    counted = 0

    def report(done: int, total: int) -> None:
        nonlocal counted
        steps(done - counted)
        counted = done

    found = iter(
        run_all(
            partial(product_rows.outcome, network=arrays),
            [session for group in sessions.values() for session in group],
            journal=product_rows.journal(output_folder(out) / f"sessions-{key[:12]}.jsonl"),
            progress=report,
        )
    )
    groups = {name: list(islice(found, len(group))) for name, group in sessions.items()}
    rows = {"prior": product_rows.prior_row(groups.pop("prior"), study.drops)}
    return rows | {ball: product_rows.ball_row(each, study.drops) for ball, each in groups.items()}


def _draw(result: dict[str, Any], out: Path) -> None:
    """Draw the coverage of one drop and of products against the diagonal."""
    found = {
        name: list(row["coverage"].values())
        for name, row in result["methods"].items()
        if "coverage" in row
    }
    levels = (0.5, 0.8, 0.9, 0.95)
    one = calibration_checks.coverage(levels, found, cases=result["cases"])
    product = result["product"]["prior"]
    many = calibration_checks.coverage(
        levels, {"product": list(product["coverage"].values())}, cases=product["sessions"]
    )
    style.write(out, {"coverage-one-drop": one, "coverage-product": many})
