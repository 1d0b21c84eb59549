"""The posterior of a ball-surface pair, and the files that say it.

samples.npz   theta, shape (4000, 2), float64
package/      `ricochet.posterior/1`, the density on a grid
figures/      PNG
details.json  the key, findings, metrics, the posterior as drops accumulate
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ricochet.models.core.bad_input import BadInput
from ricochet.models.inference import grid_densities
from ricochet.models.inference.calibration_checks import coverage
from ricochet.models.sound.arrival_hypotheses import Tolerances
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import calibrate as ball_calibration
from ricochet.models.systems.bouncing_ball.calibration import network_features, simulation_checks
from ricochet.models.systems.bouncing_ball.calibration.calibrate import Calibration, MeasuredDrops
from ricochet.models.systems.bouncing_ball.calibration.simulation_checks import ProductChecks
from ricochet.tasks.console.progress import Progress, no_progress
from ricochet.tasks.registry.packages import Package, write_package
from ricochet.tasks.storage.files import output_folder, write_arrays, write_json
from ricochet.tasks.storage.provenance import artifacts, git_commit
from ricochet.tasks.systems.bouncing_ball.calibration import (
    density_packages,
    density_training,
    detections,
    times_only,
)
from ricochet.tasks.systems.bouncing_ball.calibration import run as steps
from ricochet.tasks.systems.bouncing_ball.calibration.detections import Heard
from ricochet.tasks.systems.bouncing_ball.figures import calibration_set
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID as GRID_READER
from ricochet.tasks.systems.bouncing_ball.kinds import DENSITY
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate
from ricochet.tasks.training.steps import TrainingRequest

GRID = 121
"""Points an axis of the packaged density; straight lines between them err by under 1e-2 nats."""
REFERENCES = 32

Infer = Callable[..., Calibration]


@dataclass(frozen=True)
class Network:
    """The density network that looks at single drops: its package and its name."""

    folder: Path
    name: str


def calibrate(
    pair: "steps.Pair",
    order: "steps.Order",
    *,
    progress: Progress = no_progress,
    infer: Infer = ball_calibration.calibrate,
) -> dict[str, Any]:
    """Calibrate a pair from its sessions and write its files, all but `result.json`.

    Args:
        pair: The pair.
        order: What is wanted.
        progress: Told of each take.
        infer: Turns measured drops into a posterior.

    Returns:
        What `result.json` shall hold, nothing being registered yet.

    Raises:
        BadInput: If too few takes can be used.
    """
    rules = order.settings[Calibrate]
    known = Tolerances(place_sd=rules.survey_sd, contact_sd=rules.contact_sd)
    heard = detections.hear(pair.sources, tolerances=known, progress=progress)
    _check(pair, heard, rules.fewest_takes)
    if not heard.placed:
        return times_only.calibrate_heard(pair, order, heard)
    drops, network = detections.measured(heard, release_sd=rules.release_sd), find_network(order)
    found = infer(drops, draw=torch.Generator().manual_seed(order.seed))
    drops = replace(drops, release=found.release)
    result = _result(heard, found, network)
    checked = _check_product(order, drops, found, progress)
    details = _details(pair, order, heard, found, drops, network)
    details["metrics"] |= _coverage_metrics(checked)
    write_arrays(pair.folder / "samples.npz", {"theta": _theta(found)})
    package = _package(pair, order, found, details, checked)
    write_package(pair.folder / "package", package, reader=GRID_READER)
    calibration_set.draw(pair.name, heard, found, details, checked, folder=pair.folder / "figures")
    write_json(pair.folder / "details.json", details)
    return result


def find_network(order: "steps.Order") -> Network:
    """Return the density network that was asked for, or the one of these settings.

    Args:
        order: What is wanted.

    Returns:
        The network; trained now, under `artifacts/`, where there is none yet.

    Raises:
        BadInput: If what was asked for is no package of a density.
    """
    folder = order.density
    if folder is not None:
        density_packages.read(folder)
    if folder is None:
        place = output_folder(artifacts() / "train" / "density")
        request = TrainingRequest(order.settings, place, seed=0)
        folder = density_training.find_or_train(request)
    name = order.model or f"{DENSITY.pattern}/{density_packages.local_version(folder)}"
    return Network(folder, name)


def _check(pair: "steps.Pair", heard: Heard, fewest: int) -> None:
    if len(heard.takes) >= fewest:
        return
    reasons = "; ".join(f"{entry.file}: {entry.reason}" for entry in heard.rejected[:3])
    found = f"{len(heard.takes)} takes that can be used" + (f" ({reasons})" if reasons else "")
    raise BadInput(", ".join(map(str, pair.sources)), found, f"at least {fewest}")


def _theta(found: Calibration) -> np.ndarray:
    return np.asarray(found.samples, dtype=np.float64)


def _result(heard: Heard, found: Calibration, network: Network) -> dict[str, Any]:
    rejected = [asdict(entry) for entry in heard.rejected]
    rejected += [{"file": file, "reason": reason} for file, reason in found.set_aside]
    names = problem.PARAMETERS
    return {
        "schema": steps.SCHEMA,
        "object": detections.object_of(heard),
        "release": _heights(heard, found),
        "sessions": [session.identity for session in heard.sessions],
        "takes": {"used": len(found.used), "rejected": rejected},
        "parameters": list(names),
        "mean": np.asarray(found.mean).tolist(),
        "covariance": np.asarray(found.covariance).tolist(),
        "region_90": dict(zip(names, np.asarray(found.region_90).tolist(), strict=True)),
        "samples": "samples.npz",
        "predictive_p_value": float(found.predictive_p_value),
        "model": {"density": network.name},
        "registered": None,
    }


def _details(
    pair: "steps.Pair",
    order: "steps.Order",
    heard: Heard,
    found: Calibration,
    drops: MeasuredDrops,
    network: Network,
) -> dict[str, Any]:
    return {
        "schema": "ricochet.calibration-details/1",
        "key": steps.key(pair, order),
        "recordings": pair.digest,
        "git_commit": git_commit(),
        "seed": order.seed,
        **detections.provenance(heard),
        "findings": [asdict(finding) for finding in found.findings],
        "metrics": _metrics(heard, found, drops, network),
        "narrowing": [
            {"drops": n, "mean": grid.mean.tolist(), "covariance": grid.covariance.tolist()}
            for n, grid in found.narrowing
        ],
    }


def _heights(heard: Heard, found: Calibration) -> list[dict[str, Any]]:
    """Say from which height each session's balls are taken to have fallen, and who says so."""
    return [
        {
            "session": session.identity,
            "stated": height.stated,
            "height": height.height,
            "height_sd": height.height_sd,
            "source": height.source,
            "from_takes": height.from_takes,
            "from_takes_sd": height.from_takes_sd,
        }
        for session, height in zip(heard.sessions, found.heights, strict=True)
    ]


def _metrics(
    heard: Heard, found: Calibration, drops: MeasuredDrops, network: Network
) -> dict[str, float]:
    deviation = np.sqrt(np.diag(np.asarray(found.covariance)))
    metrics = {
        "takes_used": float(len(found.used)),
        "takes_rejected": float(len(heard.rejected) + len(found.set_aside)),
        "predictive_p_value": float(found.predictive_p_value),
        "time_sd": float(drops.time_sd.mean()),
        "position_sd": float(drops.position_sd.mean()),
        "network_log_density": _network_log_density(network, drops, found),
    }
    for name, mean, spread in zip(problem.PARAMETERS, found.mean, deviation, strict=True):
        metrics[f"{name}_mean"], metrics[f"{name}_sd"] = float(mean), float(spread)
    return metrics


def _network_log_density(network: Network, drops: MeasuredDrops, found: Calibration) -> float:
    """Return what the network, shown single drops, thinks of the posterior mean, in nats."""
    inputs = network_features.from_both(drops.features, drops.noise, drops.release)
    mean = torch.from_numpy(np.asarray(found.mean, dtype=np.float64))
    values = density_packages.read(network.folder).log_density(
        mean.expand(len(drops.names), 2), inputs
    )
    finite = values[torch.isfinite(values)]
    return float(finite.median()) if len(finite) else -1e3


def _check_product(
    order: "steps.Order", drops: MeasuredDrops, found: Calibration, progress: Progress
) -> ProductChecks:
    """Simulate sessions at the posterior, with the noise of the takes in it."""
    used = drops.keep(np.isin(drops.names, found.used))
    return simulation_checks.check(
        _theta(found),
        used.noise,
        used.release,
        sessions=order.settings[Calibrate].check_sessions,
        draw=torch.Generator().manual_seed(order.seed + 1),
        progress=progress,
    )


def _coverage_metrics(checked: ProductChecks) -> dict[str, float]:
    return {
        f"product_coverage_{round(100 * row.nominal)}": row.found
        for row in coverage(checked.levels)
    }


def _product_checks(checked: ProductChecks) -> dict[str, Any]:
    names = problem.PARAMETERS
    return {
        "drops": checked.drops,
        "sessions": len(checked.levels),
        "coverage": {f"{row.nominal:g}": row.found for row in coverage(checked.levels)},
        "coverage_90_interval": next(
            [row.low, row.high] for row in coverage(checked.levels) if row.nominal == 0.9
        ),
        "ranks": {
            name: np.round(ranks, 4).tolist()
            for name, ranks in zip(names, checked.ranks.T, strict=True)
        },
    }


def _package(
    pair: "steps.Pair",
    order: "steps.Order",
    found: Calibration,
    details: dict[str, Any],
    checked: ProductChecks,
) -> Package:
    coarse = found.density.window
    window = grid_densities.at_rows(coarse, np.linspace(coarse.rows[0], coarse.rows[-1], GRID))
    points = window.points(GRID).reshape(-1, 2)
    chosen = np.random.default_rng(0).choice(len(found.samples), REFERENCES, replace=False)
    return Package(
        kind="grid",
        parameters=density_packages.parameters(),
        arrays={
            "rows": window.rows,
            "low": window.low,
            "high": window.high,
            "log_density": found.density.log_density_at(points).reshape(GRID, GRID),
            "samples": _theta(found),
            "mean": np.asarray(found.mean, dtype=np.float64),
            "covariance": np.asarray(found.covariance, dtype=np.float64),
        },
        inputs={"theta": _theta(found)[chosen]},
        checks={
            "predictive_p_value": float(found.predictive_p_value),
            "findings": details["findings"],
            "product": _product_checks(checked),
        },
        data_digest=pair.digest,
        git_commit=git_commit(),
        settings={"calibrate": asdict(order.settings[Calibrate]), "seed": order.seed},
    )
