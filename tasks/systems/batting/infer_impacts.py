"""What `ricochet infer impacts` does: a table of impacts in, the law of impact and its doubts out.

The table is read, and refused where it must be, before anything is computed. A share of the rows,
evenly among them, is held out and predicted.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy import stats

from ricochet.models.systems.batting.belief.localiser import FilterSettings
from ricochet.models.systems.batting.impacts import inference, misfits
from ricochet.models.systems.batting.impacts.believed_law import believed_law
from ricochet.models.systems.batting.impacts.inference import (
    REGION,
    ImpactPosterior,
    Predicted,
)
from ricochet.models.systems.batting.impacts.parameters import NOISE, PARAMETERS
from ricochet.models.systems.batting.impacts.recorded import Impacts
from ricochet.models.systems.batting.shapes import seven_shapes
from ricochet.models.systems.batting.table import Table
from ricochet.tasks.figures import style
from ricochet.tasks.registry.packages import remove_package
from ricochet.tasks.storage.files import output_folder, sha256, write_arrays
from ricochet.tasks.storage.provenance import git_commit
from ricochet.tasks.systems.batting import impact_figures, impact_files, packages
from ricochet.tasks.systems.batting.impact_files import ImpactTable, Rejected
from ricochet.tasks.systems.batting.packages import Batter
from ricochet.tasks.systems.batting.settings import LearntImpacts
from ricochet.tasks.systems.interface import InferenceRequest

SCHEMA = "ricochet.impact-posterior/1"
HOLD_OUT, PACKAGE = "hold_out", "package"
FAR = "far from the law that explains the others: probability {:.2f}"
MANY_REJECTED = 0.2
"""Share of the rows above which it is a misfit."""


def run(request: InferenceRequest) -> dict[str, Any]:
    """Infer, predict, and write `samples.npz`, figures and a package, or say why there is none."""
    (file,) = request.files
    settings = request.settings[LearntImpacts]
    table = impact_files.read(file)
    held = held_out(table.rows - 2, request.numbers[HOLD_OUT])
    learnt, others = table.impacts.take(~held), table.impacts.take(held)
    impact_files.refuse_few(file, len(learnt), len(table), table.rejected, int(held.sum()))
    draw = np.random.default_rng(request.seed)
    posterior = inference.infer(
        learnt,
        draw,
        friction_limit=settings.friction_limit,
        particles=settings.particles,
        progress=request.progress,
    )
    predicted = _predicted(posterior, learnt, others, draw) if len(others) else None
    outlier = inference.outlier_probabilities(posterior, table.impacts)
    misfit = misfits.of(posterior, table.impacts, outlier, predicted, draw)
    batter = batter_of(posterior, learnt, draw.spawn(1)[0])
    result = {
        "schema": SCHEMA,
        "file": str(file),
        "sha256": sha256(file),
        **_rows(table, outlier * ~held, len(learnt)),
        **_numbers(posterior),
        "balance": {
            "residual_share": table.balance.residual_share,
            "spin_ratio": table.balance.ratio[0],
        },
        "misfit": [*table.misfit, *_many_rejected(table), *misfit],
        "held_out": None if predicted is None else _of_held_out(predicted),
        "law": dict(batter.law._asdict()),
        "samples": "samples.npz",
        "registered": None,
    }
    _write(request, posterior, predicted)
    if (reason := withheld(batter)) is not None:
        remove_package(request.out / PACKAGE)  # an earlier table's
        return result | {"withheld": reason}
    write_package(request, batter, result)
    return result


def batter_of(posterior: ImpactPosterior, learnt: Impacts, draw: np.random.Generator) -> Batter:
    """Return what a controller of the study's table and shapes knows of a posterior."""
    law = believed_law(posterior, learnt, draw)
    return Batter(seven_shapes(), Table(), posterior.theta, law, FilterSettings())


def withheld(batter: Batter) -> str | None:
    """Say in a line why no controller is to have what was learnt: too much noise; else None."""
    noise = np.array([batter.law.normal_share, batter.law.tangential_share])
    factor = float((noise / packages.least_noise(batter.theta)).max())
    if factor <= packages.WIDEST:
        return None
    return (
        f"no package: to hold nine of ten impacts a controller would need {factor:.1f} times the"
        f" noise that was learnt, {packages.WIDEST:g} at most: the law is not that of this table"
    )


def write_package(
    request: InferenceRequest,
    batter: Batter,
    result: Mapping[str, Any],
    further: Mapping[str, Any] | None = None,
) -> None:
    """Write the package of a result, with what else was measured."""
    settings = request.settings[LearntImpacts]
    packages.write(
        batter,
        request.out / PACKAGE,
        name=request.name,
        checks={"held_out": result["held_out"], "misfit": result["misfit"], **(further or {})},
        key=result["sha256"],
        git_commit=git_commit(),
        settings={
            "hold_out": request.numbers[HOLD_OUT],
            "particles": settings.particles,
            "friction_limit": settings.friction_limit,
        },
        friction_limit=settings.friction_limit,
    )


def held_out(places: ndarray, share: float) -> Bool[ndarray, " impact"]:
    """Return which rows of a file are held out: of a half, every second one.

    Args:
        places: Of the rows, from 0 on.
    """
    counted = np.floor((places + 1) * share + 1e-9) - np.floor(places * share + 1e-9)
    return counted > 0.0


def lines(result: Mapping[str, Any]) -> list[str]:
    """Return what is shown at the terminal."""
    deviations = np.sqrt(np.diag(result["covariance"]))
    table = zip(result["parameters"], result["mean"], deviations, strict=True)
    found = [f"  {name:24}{mean:8.4f} +- {sd:.2g}" for name, mean, sd in table]
    noise = zip(NOISE, result["impulse_noise"], result["impulse_noise_sd"], strict=True)
    found += [
        f"  {'noise, ' + name.replace('_', ' '):24}{mean:8.4f} +- {sd:.2g}"
        for name, mean, sd in noise
    ]
    found.append(f"learnt from {result['used']} of {result['impacts']} rows")
    if (held := result["held_out"]) is not None:
        count = held["impacts"]
        low, high = np.array(stats.binom(count, REGION).interval(0.95)) / count
        found.append(
            f"{count} held-out impacts: {held['coverage_90']:.0%} lie in their 90 % regions"
            f" ({low:.0%} to {high:.0%} are expected); velocities are off by {held['rms']:.3g} m/s"
            " (rms)"
        )
    if result["unidentified"]:
        found.append(f"note: the impacts hardly identify: {', '.join(result['unidentified'])}")
    for each in result["rejected"][:5]:
        found.append(f"rejected: row {each['row']}: {each['reason']}")
    if len(result["rejected"]) > 5:
        found.append(f"rejected: {len(result['rejected']) - 5} more rows, in result.json")
    found += [f"misfit: {line}" for line in result["misfit"]]
    return [*found, result["withheld"]] if "withheld" in result else found


def metrics(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers by which results are compared."""
    found = dict(zip(result["parameters"], result["mean"], strict=True))
    held, tried = result["held_out"], result.get("filter")
    if held is not None:
        found |= {"held_out_coverage_90": held["coverage_90"], "held_out_rms": held["rms"]}
    if tried is not None:
        found |= {
            "filter_coverage_90": tried["coverage_90"],
            "filter_median_m": tried["position_m"]["median"],
        }
    return found


def _rows(table: ImpactTable, outlier: Float[ndarray, " impact"], learnt: int) -> dict[str, Any]:
    """Return what `result.json` says of the rows.

    Args:
        outlier: The probability of each to be far from the law, 0 of those held out.
    """
    far = [
        Rejected(int(row), FAR.format(chance))
        for row, chance in zip(table.rows, outlier, strict=True)
        if chance > 0.5
    ]
    rejected = sorted((*table.rejected, *far), key=lambda each: each.row)
    return {
        "impacts": len(table),
        "used": learnt - len(far),
        "rejected": [{"row": each.row, "reason": each.reason} for each in rejected],
    }


def _numbers(posterior: ImpactPosterior) -> dict[str, Any]:
    """Return what `result.json` says of the coefficients and the noise."""
    theta = posterior.theta
    noise = theta[:, len(PARAMETERS) :]
    low, high = np.quantile(theta, (0.05, 0.95), axis=0)
    names = (*PARAMETERS, *NOISE)
    return {
        "parameters": list(PARAMETERS),
        "mean": theta[:, : len(PARAMETERS)].mean(0).tolist(),
        "covariance": np.cov(theta[:, : len(PARAMETERS)].T).tolist(),
        "impulse_noise": noise.mean(0).tolist(),
        "impulse_noise_sd": noise.std(0).tolist(),
        "interval_90": {
            name: [float(a), float(b)] for name, a, b in zip(names, low, high, strict=True)
        },
        "unidentified": posterior.unidentified,
    }


def _predicted(
    posterior: ImpactPosterior, learnt: Impacts, others: Impacts, draw: np.random.Generator
) -> Predicted:
    """Predict others, in regions that hold nine of ten of the impacts learnt from."""
    of_regions = draw.spawn(1)[0]
    widening = inference.widening_of(posterior, learnt, of_regions)
    return inference.predict(posterior, others, draw, widening=widening)


def _of_held_out(predicted: Predicted) -> dict[str, Any]:
    return {
        "impacts": len(predicted.inside),
        "rms": predicted.rms,
        "coverage_90": predicted.coverage,
        "widening": predicted.widening,
    }


def _many_rejected(table: ImpactTable) -> list[str]:
    if len(table.rejected) <= MANY_REJECTED * len(table):
        return []
    return [f"of {len(table)} rows {impact_files.summary(table.rejected)}"]


def _write(
    request: InferenceRequest, posterior: ImpactPosterior, predicted: Predicted | None
) -> None:
    folder: Path = output_folder(request.out)
    theta = posterior.theta
    write_arrays(
        folder / "samples.npz",
        {"theta": theta[:, : len(PARAMETERS)], "noise": theta[:, len(PARAMETERS) :]},
    )
    drawn = {"posterior": impact_figures.posterior(posterior)}
    if predicted is not None:
        drawn["held_out"] = impact_figures.held_out(predicted)
    style.write(folder, drawn)
