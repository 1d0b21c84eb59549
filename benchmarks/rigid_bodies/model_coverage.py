"""How often intervals of a MuJoCo model's numbers hold the truth.

Run by `python -m benchmarks.rigid_bodies.model_coverage --runs N [--particles N] [--rounds N]
[--seed N] [--workers N] [--journal FILE]`; with a journal a run that was stopped goes on.

A cart on a spring carries a rod, its mass, the spring's stiffness and the magnitude of the hinge's
damping anywhere within their limits. It is let go and pushed by a sine of 3 N, and both joints are
seen at 100 Hz with errors of half a millimetre and half a milliradian, as `--errors` has it. The
recording is a file that is read as `ricochet infer --model` does; 0.6 s are learnt from, with
windows and smoothing of params.yaml.

Printed: the share of 90 % regions of all three together (by the distance from their mean that nine
of ten draws keep, in their covariance) and of the central 90 % intervals of each that hold the
truth, with the exact 95 % interval of a share of 0.9 among so many runs; the intervals' widths over
those of the limits; how well particles mixed; and the time of a run.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from scipy import stats

from ricochet.models.inference.limits import Shares
from ricochet.models.systems.rigid_bodies import mujoco_parameters
from ricochet.tasks.console.jobs import Journal, run_all
from ricochet.tasks.console.progress import bar
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.rigid_bodies import (
    model_inference,
    model_parameters,
    model_recordings,
    motion_inference,
)
from ricochet.tasks.systems.rigid_bodies.model_parameters import Unknown
from ricochet.tasks.systems.rigid_bodies.motion_inference import Amount, Inferred
from ricochet.tasks.systems.rigid_bodies.settings import Model

RATE, SECONDS = 100.0, 0.6
CART = """<mujoco><option timestep="0.01"/><worldbody><body name="cart">
<joint name="slide" type="slide" axis="1 0 0" damping="0.8" stiffness="40"/>
<geom type="box" size="0.1 0.05 0.05" mass="1.2"/>
<body name="bob"><joint name="hinge" axis="0 1 0" damping="0.01"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.02" mass="0.3"/></body></body></worldbody>
<actuator><motor name="push" joint="slide"/></actuator></mujoco>"""
PARAMETERS = """
mass: {of: body cart mass, low: 0.5, high: 3, unit: kg}
stiffness: {of: joint slide stiffness, low: 5, high: 100, unit: N/m}
friction: {of: joint hinge damping, low: 1e-3, high: 1, unit: N m s, logarithmic: true}
"""


@dataclass(frozen=True)
class Job:
    """One recording."""

    seed: int
    particles: int
    rounds: int
    errors: float


@dataclass(frozen=True)
class Outcome:
    """Shares of the draws nearer to the mean, and below the truth; widths; the worst mixing."""

    nearer: float
    below: list[float]
    widths: list[float]
    mixing: float
    seconds: float


def recorded(file: Path, model: mujoco.MjModel, unknown: Unknown, job: Job) -> np.ndarray:
    """Write what is seen of a cart, and return what the parameters are."""
    draw = np.random.default_rng([job.seed, 0])
    shares = Shares(unknown.limits, unknown.logarithmic)
    share = shares.limits.low.new_tensor(draw.uniform(size=len(unknown.names)))
    theta = shares.parameters(share).numpy()
    data, phase = mujoco.MjData(model), draw.uniform(0.0, 2.0 * np.pi)
    mujoco_parameters.assign(model, data, unknown.places, theta)
    data.qpos[:] = draw.uniform(-0.1, 0.1), draw.uniform(-1.0, 1.0)
    rows = ["time,slide,hinge,push"]
    for frame in range(round((SECONDS + 0.2) * RATE) + 1):
        push = 3.0 * np.sin(7.0 * frame / RATE + phase)
        slide, hinge = data.qpos + job.errors * draw.normal(size=2)
        rows.append(f"{frame / RATE:.9g},{slide:.9g},{hinge:.9g},{push:.9g}")
        data.ctrl[:] = push
        for _ in range(round(1.0 / (RATE * model.opt.timestep))):
            mujoco.mj_step(model, data)
    file.write_text("\n".join(rows))
    return theta


def inferred(job: Job) -> tuple[np.ndarray, Inferred]:
    """Record a cart and infer it."""
    model, settings = mujoco.MjModel.from_xml_string(CART), catalogue.load_settings()[Model]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cart.yaml").write_text(PARAMETERS)
        unknown = model_parameters.read(folder / "cart.yaml", model)
        truth = recorded(folder / "run.csv", model, unknown, job)
        run = model_recordings.read(folder / "run.csv", model, width=settings.smoothing)
    found = motion_inference.infer(
        model_inference.problem(model, unknown, settings.window),
        {"run.csv": run},
        np.random.default_rng([job.seed, 1]),
        amount=Amount(SECONDS, (0.0,), job.particles, job.rounds),
    )
    return truth, found


def outcome(job: Job) -> Outcome:
    """Say where among the draws the truth lies."""
    begun = time.process_time()
    truth, found = inferred(job)
    shares = Shares(found.limits, found.problem.logarithmic)
    draws = shares.of(found.theta).numpy()
    at = shares.of(found.limits.low.new_tensor(truth)).numpy()
    mean, factor = draws.mean(0), np.linalg.cholesky(np.cov(draws.T))
    away = [np.linalg.norm(np.linalg.solve(factor, (x - mean).T), axis=0) for x in (draws, at)]
    low, high = np.quantile(draws, (0.05, 0.95), axis=0)
    return Outcome(
        float((away[0] < away[1]).mean()),
        (draws < at).mean(0).tolist(),
        (high - low).tolist(),
        float(found.posterior.mixing.max()),
        time.process_time() - begun,
    )


def lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Return what some recordings say."""
    low, high = np.array(stats.binom(len(outcomes), 0.9).interval(0.95)) / len(outcomes)
    together = np.mean([each.nearer <= 0.9 for each in outcomes])
    below = np.array([each.below for each in outcomes])
    each = ((below > 0.05) & (below < 0.95)).mean(0)
    widths = np.median([one.widths for one in outcomes], 0)
    mixing = np.quantile([one.mixing for one in outcomes], (0.5, 0.9, 1.0))
    seconds = np.median([one.seconds for one in outcomes])
    return [
        f"{len(outcomes)} recordings; of them a share of 0.9 is within {low:.2f} to {high:.2f}",
        f"90 % regions of all three hold the truth: {together:.2f}",
        "90 % intervals of mass, stiffness, friction: " + " ".join(f"{x:.2f}" for x in each),
        "their widths over the limits', half: " + " ".join(f"{x:.3g}" for x in widths),
        "mixing, half, nine tenths, worst: " + " ".join(f"{x:.2f}" for x in mixing),
        f"{seconds:.0f} s of a processor each",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, infer and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--particles", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--errors", type=float, default=5e-4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--journal", type=Path)
    given = parser.parse_args(arguments)
    journal = given.journal and Journal(given.journal, vars, lambda entry: Outcome(**entry))
    jobs = [
        Job(given.seed + number, given.particles, given.rounds, given.errors)
        for number in range(given.runs)
    ]
    with bar("recordings") as progress:
        found = run_all(outcome, jobs, workers=given.workers, journal=journal, progress=progress)
    print(*lines(found), sep="\n")


if __name__ == "__main__":
    main()
