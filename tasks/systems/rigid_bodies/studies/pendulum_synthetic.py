"""The study of synthetic pendulums: Figs. 2 to 4, 6, 11 and 12 of Heiden et al., section V-A.

Each set of data is ten pendulums, whose two lengths have a known law; every row infers it. Rows are
compared by Eq. 11 over lengths, both ways, against fifty further pendulums, and by the maximum mean
discrepancy of trajectories; `log_p_obs` is the mean log density of what was seen (Eqs. 3 and 9);
`width` the particles' deviation over that of the law, 0 of a single guess and 1 of the truth.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from scipy.spatial.distance import pdist

from ricochet.models.inference import multiple_shooting
from ricochet.models.probability import sample_distances
from ricochet.tasks.console.jobs import Journal, run_all
from ricochet.tasks.console.progress import part
from ricochet.tasks.figures import style
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.systems.interface import StudyRequest
from ricochet.tasks.systems.rigid_bodies.figures import pendulum_synthetic as figures
from ricochet.tasks.systems.rigid_bodies.settings import Pendulum
from ricochet.tasks.systems.rigid_bodies.studies import (
    likelihood_free,
    peer_samplers,
    synthetic_lengths,
    synthetic_rows,
    tables,
)
from ricochet.tasks.systems.rigid_bodies.studies import (
    synthetic_pictures as pictures,
)
from ricochet.tasks.systems.rigid_bodies.studies.synthetic_lengths import Data
from ricochet.tasks.systems.rigid_bodies.studies.synthetic_rows import (
    EXACT,
    POPULATION,
    TRUTH,
    Inferred,
    Job,
)

QUICK_SECONDS, QUICK_SIMULATIONS = 3.0, 2000
SIMULATIONS = 10_000
SHARES = (1 / 16, 1 / 4)
"""Of the processor time, for the metrics on the way there (Fig. 4)."""
NUMBERS = ("kl_real_sim", "kl_sim_real", "mmd2", "log_p_obs", "width", "cpu_s")


@dataclass(frozen=True)
class Plan:
    """How much is computed.

    Attributes:
        seeds: Sets of data.
        seconds: Of processor time for a method and a set.
    """

    seeds: tuple[int, ...]
    seconds: float
    simulations: int
    learnt: tuple[str, ...]

    def jobs(self) -> list[Job]:
        """Return all, those that take long first."""
        learnt = [Job(row, self.seeds, 0.0, self.simulations) for row in self.learnt]
        rows = (POPULATION, *present(), EXACT, TRUTH)
        each = [Job(row, (seed,), self.seconds, 0) for seed in self.seeds for row in rows]
        return learnt + each + self.on_the_way()

    def on_the_way(self) -> list[Job]:
        """Return the methods on the first set of data, within less time."""
        first = self.seeds[:1]
        return [Job(row, first, self.seconds * share, 0) for row in present() for share in SHARES]


def run(request: StudyRequest) -> dict[str, Any]:
    """Infer every row for every set of data, compare and draw."""
    plan, out = _plan(request), output_folder(request.out)
    jobs = plan.jobs()
    journal = Journal(out / f"rows-{_digest()}.journal", _encode, _decode)
    found = run_all(
        synthetic_rows.work,
        jobs,
        journal=journal,
        progress=part(request.progress, 0, 2),
    )
    of_job = dict(zip(jobs, found, strict=True))
    by_row = {row: _gathered(row, plan, of_job) for row in rows(plan)}
    judges = {seed: Judge.of(seed) for seed in plan.seeds}
    each = {
        row: [judges[seed].numbers(one) for seed, one in zip(plan.seeds, inferred, strict=True)]
        for row, inferred in by_row.items()
    }
    table = {row: tables.averaged(numbers, NUMBERS) for row, numbers in each.items()}
    first = {row: inferred[0].lengths for row, inferred in by_row.items()}
    on_the_way = _on_the_way(plan, of_job, judges[plan.seeds[0]], each)
    bounds = {row: each[row][0] for row in (EXACT, TRUTH, POPULATION)}
    _draw(out, plan, first, on_the_way, bounds)
    journal.file.unlink()
    request.progress(1, 1)
    return {
        "quick": request.quick,
        "seeds": list(plan.seeds),
        "seconds": plan.seconds,
        "bandwidth": {str(seed): judge.sigma for seed, judge in judges.items()},
        "rows": table,
        "claims": claims(table),
        "absent": absent(),
        "settings": {row: dict(chosen) for row, chosen in synthetic_rows.SETTINGS.items()},
    }


def _draw(
    out: Path,
    plan: Plan,
    first: Mapping[str, Float[ndarray, "particle 2"]],
    on_the_way: Mapping[str, Sequence[Mapping[str, float | None]]],
    bounds: Mapping[str, Mapping[str, Any]],
) -> None:
    """Write all figures, of the first set of data."""
    seed = plan.seeds[0]
    data = synthetic_rows.data_of(seed)
    law = (synthetic_lengths.MEAN, synthetic_lengths.COVARIANCE)
    moving = [row for row in (EXACT, "svgd-ss", "cem-ss", "mdn-downsampled") if row in first]
    drawn = {
        "posteriors": figures.posteriors(first, law, data.lengths),
        "on_the_way": figures.on_the_way(on_the_way, bounds),
        "landscape": figures.landscapes(pictures.landscapes(seed), figures.TITLES),
        "sum_and_product": figures.landscapes(
            pictures.sum_and_product(plan.seconds), figures.TITLES
        ),
        "inputs": figures.inputs(pictures.inputs(seed)),
        "motions": figures.motions(
            {row: pictures.motions(first[row]) for row in moving},
            pictures.motions(data.test_lengths),
            synthetic_lengths.DURATION,
        ),
    }
    style.write(out, drawn)


def rows(plan: Plan) -> tuple[str, ...]:
    """Return all rows, the exact ones first."""
    return (EXACT, TRUTH, POPULATION, *present(), *plan.learnt)


def present() -> tuple[str, ...]:
    """Return the rows of methods whose packages are installed."""
    missing = absent()
    return tuple(row for row in synthetic_rows.names() if row.rsplit("-", 1)[0] not in missing)


def absent() -> dict[str, str]:
    """Return why methods are left out."""
    return peer_samplers.absent()


@dataclass(frozen=True)
class Judge:
    """What particles are compared with.

    Attributes:
        trajectories: Of the further pendulums, over the scale.
        apart: Median distance of two of them: the width of the kernel.
    """

    data: Data
    sigma: float
    trajectories: Float[ndarray, "test input"]
    apart: float

    @classmethod
    def of(cls, seed: int) -> "Judge":
        """Return that of a set of data."""
        at = synthetic_rows.known(seed)
        trajectories = _trajectories(at.data.test_lengths, at.data.scale.numpy())
        return cls(at.data, at.sigma, trajectories, float(np.median(pdist(trajectories))))

    def numbers(self, found: Inferred) -> dict[str, float | None]:
        """Compare particles; None is an infinite divergence: some of them are the same."""
        lengths, tests = found.lengths, self.data.test_lengths
        rolled = _trajectories(lengths, self.data.scale.numpy())
        spread = np.sqrt(np.linalg.det(np.cov(lengths.T)))
        law = np.sqrt(np.linalg.det(synthetic_lengths.COVARIANCE))
        return {
            "kl_real_sim": _divergence(tests, lengths),
            "kl_sim_real": _divergence(lengths, tests),
            "mmd2": sample_distances.mean_discrepancy(self.trajectories, rolled, self.apart),
            "log_p_obs": self._log_p_obs(rolled),
            "width": float(np.sqrt(spread / law)),
            "cpu_s": found.cpu_s,
        }

    def _log_p_obs(self, rolled: Float[ndarray, "particle input"]) -> float:
        seen = (self.data.observed[:, 1:] / self.data.scale).flatten(1)
        residuals = (torch.from_numpy(rolled)[:, None] - seen)[:, :, None, :, None]
        each = multiple_shooting.log_likelihoods(residuals, self.sigma)
        return float(multiple_shooting.of_all(each, mixture=True)[0].mean())


def claims(table: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Answer what the paper says of its Figs. 3 and 4, and what ours is meant to do."""
    svgd = min(tables.kinds(table, "svgd"), key=lambda row: table[row]["kl_real_sim"])
    others = [row for name in ("emcee", "cem", "sgld", "nuts") for row in tables.kinds(table, name)]
    metrics = ("kl_real_sim", "kl_sim_real", "mmd2")
    ahead = {
        metric: [row for row in others if tables.less(table[row][metric], table[svgd][metric])]
        for metric in metrics
    }
    widths = {row: table[row]["width"] for row in (svgd, *others)}
    cem = [widths[row] for row in tables.kinds(table, "cem")]
    gap = {
        metric: abs(table[svgd][metric] - table[EXACT][metric])
        for metric in ("kl_real_sim", "kl_sim_real")
    }
    ours = {metric: table[POPULATION][metric] for metric in ("kl_real_sim", "kl_sim_real")}
    return [
        tables.claim(
            "SVGD outperforms the other methods in all metrics except log likelihood",
            not any(ahead.values()),
            {"svgd": svgd, "ahead_of_it": ahead},
        ),
        tables.claim("CEM collapses to a single estimate", max(cem) < 0.25, {"width": cem}),
        tables.claim("SVGD is within 0.15 of the exact density", max(gap.values()) <= 0.15, gap),
        tables.claim(
            "mean and covariance of the lengths predict better than any bumps: 0.35 and 0.20",
            ours["kl_real_sim"] <= 0.35 and ours["kl_sim_real"] <= 0.20,
            ours,
        ),
    ]


def _plan(request: StudyRequest) -> Plan:
    settings = request.settings[Pendulum]
    learnt = likelihood_free.NAMES
    if request.quick:
        count = request.count or 1
        seeds = tuple(range(request.seed, request.seed + count))
        return Plan(seeds, min(QUICK_SECONDS, settings.seconds), QUICK_SIMULATIONS, learnt[:4])
    seeds = tuple(range(request.seed, request.seed + (request.count or settings.seeds)))
    return Plan(seeds, settings.seconds, SIMULATIONS, learnt)


def _gathered(row: str, plan: Plan, of_job: Mapping[Job, list[Inferred]]) -> list[Inferred]:
    """Return what a row gave for each set of data."""
    if row in plan.learnt:
        return of_job[Job(row, plan.seeds, 0.0, plan.simulations)]
    return [of_job[Job(row, (seed,), plan.seconds, 0)][0] for seed in plan.seeds]


def _on_the_way(
    plan: Plan,
    of_job: Mapping[Job, list[Inferred]],
    judge: Judge,
    each: Mapping[str, list[dict[str, float | None]]],
) -> dict[str, list[dict[str, float | None]]]:
    """Return the numbers of the methods on the first set of data, as their time grows."""
    first = plan.seeds[:1]
    return {
        row: [
            *(
                judge.numbers(of_job[Job(row, first, plan.seconds * share, 0)][0])
                for share in SHARES
            ),
            each[row][0],
        ]
        for row in present()
    }


def _divergence(p: ndarray, q: ndarray) -> float | None:
    try:
        return sample_distances.divergence(p, q)
    except ValueError:
        return None


def _trajectories(
    lengths: Float[ndarray, "case 2"], scale: Float[ndarray, " 4"]
) -> Float[ndarray, "case input"]:
    moved = synthetic_lengths.moved(torch.from_numpy(lengths)).numpy()
    return (moved / scale).reshape(len(lengths), -1)


def _digest() -> str:
    """Return what marks the settings of the methods, so that no journal of others is read."""
    text = json.dumps({row: dict(chosen) for row, chosen in synthetic_rows.SETTINGS.items()})
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _encode(found: list[Inferred]) -> Any:
    return [asdict(one) for one in found]


def _decode(found: Any) -> list[Inferred]:
    return [Inferred(**one) for one in found]
