"""What is reported of a posterior's validation: the posterior, tosses touched, cups predicted."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ricochet.models.systems.bouncing_ball.viscoelastic_restitution import REFERENCE_SPEED
from ricochet.tasks.registry.aliases import CANDIDATE
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.systems.bouncing_ball import contact_package
from ricochet.tasks.systems.bouncing_ball.contact_package import FAMILY
from ricochet.tasks.systems.bouncing_ball.figures import validation as figures
from ricochet.tasks.systems.bouncing_ball.validation import results, trials, twin_balls
from ricochet.tasks.systems.bouncing_ball.validation.gate import CalibrationEvidence
from ricochet.tasks.systems.bouncing_ball.validation.results import Role, TwinResult
from ricochet.tasks.systems.bouncing_ball.validation.twin_balls import DRAWN, KNOWN
from ricochet.tasks.validation.contenders import Contenders
from ricochet.tasks.validation.outcomes import SIMULATED
from ricochet.tasks.validation.report import Report

LABELS = {
    "success": "tosses touched, share",
    "cup_inside_90": "cups inside their predicted 90 %, share",
    "energy": "energy of the paddle over its mass, m²/s",
    "latency_p99": "from sound to new target, 99th percentile, s",
    "refused": "events and targets refused, and stops",
    "restitution_mean": "restitution, mean",
    "restitution_sd": "restitution, standard deviation",
    "log10_concentration_mean": "log10 concentration, mean",
    "log10_concentration_sd": "log10 concentration, standard deviation",
    "three_bounces_restitution_mean": "restitution by three bounces, mean",
    "three_bounces_restitution_sd": "restitution by three bounces, standard deviation",
}


def report(contenders: Contenders, _: CalibrationEvidence, result: TwinResult) -> Report:
    """Return what is recorded and shown."""
    packages = contenders.packages
    samples = {role: trials.samples_of(package) for role, package in packages.items()}
    return Report(
        result=result,
        content=results.to_json(result),
        summary=summary(result),
        trials=f"{len(result.seeds)} tosses and {len(result.positions)} cups{_of(result)}",
        stated=posterior_line(packages[CANDIDATE]),
        measured={
            role: _posterior(package) | _trials(result, role) for role, package in packages.items()
        },
        labels=LABELS,
        parameters={"tosses": len(result.seeds)},
        draw=lambda: figures.comparison(samples, result),
    )


def summary(result: TwinResult) -> dict[str, Any]:
    """Return the keys of `result.json` that are the ball's own."""
    tracking = result.tracking
    return {
        "rig": result.rig,
        "truth": _truth(result),
        "success": result.success.shares(),
        "inside_90": result.inside_90.shares(),
        "energy": dict(tracking.energy),
        "latency_p99": dict(tracking.latency),
        "refused": {role: list(lines) for role, lines in tracking.refused.items()},
        "trials": results.to_json(result),
    }


def line(result: Mapping[str, Any]) -> str:
    """Sum up `result.json` in a line."""
    touched, inside = result["success"][CANDIDATE], result["inside_90"].get(CANDIDATE)
    cups = "no cup tried" if inside is None else f"{inside:.2f} of the cups as predicted"
    drawn = f"; balls {DRAWN}" if result.get("truth") == DRAWN else ""
    return f"touched {touched:.2f} of the tosses, {cups}{drawn}"


def _truth(result: TwinResult) -> str:
    """Say where the nature of the balls that were played is from."""
    if result.rig != SIMULATED:
        return result.rig
    return KNOWN if twin_balls.is_known(result.name) else DRAWN


def _of(result: TwinResult) -> str:
    return f" (balls {DRAWN})" if _truth(result) == DRAWN else ""


def posterior_line(package: Package) -> str:
    """Return the parameters of a posterior with their standard deviations, in words."""
    mean, variance = package.arrays["mean"], package.arrays["covariance"].diagonal()
    said = [
        f"{parameter.name} {at:.6g} ± {spread**0.5:.2g}"
        for parameter, at, spread in zip(package.parameters, mean, variance, strict=True)
    ]
    if package.kind == FAMILY:
        said.append(f"by whole takes, at {REFERENCE_SPEED:g} m/s")
    return ", ".join(said)


def _posterior(package: Package) -> dict[str, float]:
    names = [parameter.name for parameter in package.parameters]
    spread = np.sqrt(np.diag(package.arrays["covariance"]))
    rows = zip(names, package.arrays["mean"], spread, strict=True)
    return {
        key: float(value)
        for name, mean, deviation in rows
        for key, value in ((f"{name}_mean", mean), (f"{name}_sd", deviation))
    } | _three_bounces(package)


def _three_bounces(package: Package) -> dict[str, float]:
    """Return the restitution of the paper's model where another one is stated."""
    if package.kind != FAMILY:
        return {}
    paper = contact_package.of_paper(package)
    sd = float(np.sqrt(paper["covariance"][0, 0]))
    mean = float(paper["mean"][0])
    return {"three_bounces_restitution_mean": mean, "three_bounces_restitution_sd": sd}


def _trials(result: TwinResult, role: Role) -> dict[str, float]:
    tracking = result.tracking
    columns: dict[str, Mapping[Role, float]] = {
        "success": result.success.shares(),
        "cup_inside_90": result.inside_90.shares(),
        "energy": tracking.energy,
        "latency_p99": tracking.latency,
        "refused": {each: float(len(lines)) for each, lines in tracking.refused.items()},
    }
    return {name: column[role] for name, column in columns.items() if role in column}
