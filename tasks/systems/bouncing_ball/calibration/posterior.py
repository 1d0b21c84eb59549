"""The posterior of a ball on a surface, and the files that say it.

samples.npz   theta, shape (4000, 2), float64: the answer that is stated; three_bounces, alike: that
              of the paper's model
package/      `ricochet.posterior/2`: the density on a grid, and what whole takes tell
figures/      PNG
details.json  the key, findings, metrics, the posterior as drops accumulate
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import grid_densities
from ricochet.models.inference.calibration_checks import coverage
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import network_features, simulation_checks
from ricochet.models.systems.bouncing_ball.calibration.calibrate import Calibration, MeasuredDrops
from ricochet.models.systems.bouncing_ball.calibration.simulation_checks import ProductChecks
from ricochet.tasks.registry.packages import Package, write_package
from ricochet.tasks.storage.files import output_folder, write_arrays, write_json
from ricochet.tasks.storage.provenance import artifacts, git_commit
from ricochet.tasks.systems.bouncing_ball.calibration import (
    answers,
    chain_answers,
    density_files,
    density_packages,
    density_training,
    detections,
    family_packages,
    product_checks,
    times_only,
)
from ricochet.tasks.systems.bouncing_ball.calibration.answers import Answers
from ricochet.tasks.systems.bouncing_ball.calibration.detections import Detections
from ricochet.tasks.systems.bouncing_ball.calibration.targets import (
    SCHEMA,
    CalibrationRequest,
    CalibrationTarget,
    details_header,
)
from ricochet.tasks.systems.bouncing_ball.contact_package import GRID as GRID_KIND
from ricochet.tasks.systems.bouncing_ball.figures import calibration_set
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID as GRID_READER
from ricochet.tasks.systems.bouncing_ball.kinds import DENSITY
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate
from ricochet.tasks.training.steps import TrainingRequest

GRID = 121
"""Points an axis of the packaged density; straight lines between them err by under 1e-2 nats."""
REFERENCES = 32


@dataclass(frozen=True)
class Network:
    """The density network that looks at single drops: its package and its name."""

    folder: Path
    name: str


def calibrate(
    target: CalibrationTarget,
    request: CalibrationRequest,
    *,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Calibrate from sessions and write the files, all but `result.json`, which is returned.

    `BadInput` if too few takes can be used, or a session has no height of release and no take that
    tells it.
    """
    rules = request.settings[Calibrate]
    detected = answers.detect(target.sources, rules=rules, progress=progress)
    if not detected.placed:
        return times_only.calibrate_sessions(target, request, detected)
    network = find_or_train_network(request)
    answer = answers.infer(detected, rules=rules, seed=request.seed, progress=progress)
    found = answer.found
    result = _result(detected, found, network)
    if answer.chains is not None:
        result = chain_answers.content(answer.chains, detected, result)
    checked = _check_product(request, answer.drops, found, progress)
    details = _details(target, request, answer, network)
    details["metrics"] |= family_packages.metrics(answer.chains) | {
        f"product_coverage_{round(100 * row.nominal)}": row.found
        for row in coverage(checked.levels)
    }
    theta = chain_answers.stated(answer.chains, found)
    write_arrays(target.folder / "samples.npz", {"theta": theta, "three_bounces": found.samples})
    package = _package(target, request, found, details, checked)
    package = family_packages.packaged(package, answer.chains, seed=request.seed)
    details["package_kind"] = package.kind
    write_package(target.folder / "package", package, reader=GRID_READER)
    figures = target.folder / "figures"
    both = found, answer.chains
    calibration_set.draw(target.name, detected, both, details, checked, folder=figures)
    write_json(target.folder / "details.json", details)
    return result


def find_or_train_network(request: CalibrationRequest) -> Network:
    """Return the density network asked for, or that of the settings, trained if there is none yet.

    `BadInput` if what was asked for is no package of a density.
    """
    folder = request.density
    if folder is None:
        place = output_folder(artifacts() / "train" / "density")
        folder = density_training.find_or_train(TrainingRequest(request.settings, place, seed=0))
    else:
        density_files.read(folder)
    name = request.model or f"{DENSITY.pattern}/{density_packages.local_version(folder)}"
    return Network(folder, name)


def _result(detected: Detections, found: Calibration, network: Network) -> dict[str, Any]:
    rejected = [asdict(entry) for entry in detected.rejected]
    rejected += [{"file": file, "reason": reason} for file, reason in found.set_aside]
    names = problem.PARAMETERS
    return {
        "schema": SCHEMA,
        "object": detections.object_of(detected),
        "sessions": [session.identity for session in detected.sessions],
        "takes": {"used": len(found.used), "rejected": rejected},
        "parameters": list(names),
        "mean": found.mean.tolist(),
        "covariance": found.covariance.tolist(),
        "region_90": dict(zip(names, found.region_90.tolist(), strict=True)),
        "samples": "samples.npz",
        "predictive_p_value": found.predictive_p_value,
        "release": _heights(detected, found),
        "model": {"density": network.name},
        "registered": None,
    }


def _details(
    target: CalibrationTarget,
    request: CalibrationRequest,
    answer: Answers,
    network: Network,
) -> dict[str, Any]:
    detected, found = answer.detected, answer.found
    return {
        **details_header(target, request),
        **detections.provenance(detected),
        "release": _heights(detected, found),
        "findings": answer.findings,
        "metrics": _metrics(answer, network),
        "narrowing": [
            {"drops": n, "mean": grid.mean.tolist(), "covariance": grid.covariance.tolist()}
            for n, grid in found.narrowing
        ],
    }


def _heights(detected: Detections, found: Calibration) -> list[dict[str, Any]]:
    """Say from which height each session's balls are taken to have fallen, and who says so."""
    names = ("stated", "height", "height_sd", "source", "from_takes", "from_takes_sd")
    return [
        {"session": session.identity} | {name: getattr(height, name) for name in names}
        for session, height in zip(detected.sessions, found.heights, strict=True)
    ]


def _metrics(answer: Answers, network: Network) -> dict[str, float]:
    """Return the numbers of a run, those of the answer first: MLflow lists them in this order."""
    found, drops = answer.found, answer.drops
    metrics = _moments("", chain_answers.stated(answer.chains, found)) | {
        "takes_used": float(len(found.used)),
        "takes_rejected": float(len(answer.detected.rejected) + len(found.set_aside)),
        "predictive_p_value": _p_value(answer),
        "three_bounces_predictive_p_value": found.predictive_p_value,
        "time_sd_s": float(drops.time_sd.mean()),
        "position_sd_m": float(drops.position_sd.mean()),
        "network_log_density_nats": _network_log_density(network, drops, found),
    }
    return metrics | _moments("three_bounces_", found.samples)


def _moments(prefix: str, draws: Float[ndarray, "draw 2"]) -> dict[str, float]:
    """Return mean and standard deviation of each parameter."""
    named = zip(problem.PARAMETERS, draws.mean(0), draws.std(0), strict=True)
    return {
        f"{prefix}{name}_{word}": float(number)
        for name, mean, sd in named
        for word, number in (("mean", mean), ("sd", sd))
    }


def _p_value(answer: Answers) -> float:
    """Return that of the answer that is stated."""
    whole = answer.chains
    return answer.found.predictive_p_value if whole is None or whole.weak else whole.fit.p_value


def _network_log_density(network: Network, drops: MeasuredDrops, found: Calibration) -> float:
    """Return what the network, shown single drops, thinks of the posterior mean, in nats."""
    inputs = network_features.from_both(drops.features, drops.noise, drops.release)
    mean = torch.from_numpy(found.mean).expand(len(drops.names), 2)
    values = density_files.read(network.folder).log_density(mean, inputs)
    finite = values[torch.isfinite(values)]
    return float(finite.median()) if len(finite) else -1e3


def _check_product(
    request: CalibrationRequest, drops: MeasuredDrops, found: Calibration, progress: Progress
) -> ProductChecks:
    """Simulate sessions at the posterior, with the noise of the takes in it."""
    used = drops.rows(np.isin(drops.names, found.used))
    return simulation_checks.check(
        found.samples,
        used.noise,
        used.release,
        sessions=request.settings[Calibrate].check_sessions,
        draw=torch.Generator().manual_seed(request.seed + 1),
        progress=progress,
        place_all=product_checks.place_all,
    )


def _product_checks(checked: ProductChecks) -> dict[str, Any]:
    rows = {row.nominal: row for row in coverage(checked.levels)}
    ranks = np.round(checked.ranks, 4).T.tolist()
    return {
        "drops": checked.drops,
        "sessions": len(checked.levels),
        "coverage": {f"{nominal:g}": row.found for nominal, row in rows.items()},
        "coverage_90_interval": [rows[0.9].low, rows[0.9].high],
        "ranks": dict(zip(problem.PARAMETERS, ranks, strict=True)),
    }


def _package(
    target: CalibrationTarget,
    request: CalibrationRequest,
    found: Calibration,
    details: dict[str, Any],
    checked: ProductChecks,
) -> Package:
    coarse = found.density.window
    window = grid_densities.at_rows(coarse, np.linspace(coarse.rows[0], coarse.rows[-1], GRID))
    points = window.points(GRID).reshape(-1, 2)
    chosen = np.random.default_rng(0).choice(len(found.samples), REFERENCES, replace=False)
    return Package(
        kind=GRID_KIND,
        name=target.name,
        parameters=density_packages.parameters(),
        arrays={
            "rows": window.rows,
            "low": window.low,
            "high": window.high,
            "log_density": found.density.log_density_at(points).reshape(GRID, GRID),
            "samples": found.samples,
            "mean": found.mean,
            "covariance": found.covariance,
        },
        inputs={"theta": found.samples[chosen]},
        checks={
            "predictive_p_value": found.predictive_p_value,
            "findings": details["findings"],
            "product": _product_checks(checked),
        },
        data_digest=target.digest,
        git_commit=git_commit(),
        settings={"calibrate": asdict(request.settings[Calibrate]), "seed": request.seed},
    )
