"""Which figures a calibration of sessions draws, and under which names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from numpy import ndarray

from ricochet.models.inference.calibration_checks import coverage
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import criticism as ball_criticism
from ricochet.models.systems.bouncing_ball.calibration.calibrate import Calibration
from ricochet.models.systems.bouncing_ball.calibration.simulation_checks import ProductChecks
from ricochet.models.systems.bouncing_ball.calibration.whole_chains import ChainAnswer
from ricochet.models.systems.bouncing_ball.listening.bounce_chains import interval_ratios
from ricochet.tasks.figures import calibration_checks, style
from ricochet.tasks.recordings import sessions
from ricochet.tasks.systems.bouncing_ball.calibration import chain_answers
from ricochet.tasks.systems.bouncing_ball.calibration.detections import (
    Detections,
    NamedTake,
    measured,
)
from ricochet.tasks.systems.bouncing_ball.figures import calibration, whole_takes
from ricochet.tasks.systems.bouncing_ball.figures import criticism as criticism_figures


def draw(
    name: str,
    detected: Detections,
    answers: tuple[Calibration, ChainAnswer | None],
    details: Mapping[str, Any],
    checks: ProductChecks,
    *,
    folder: Path,
) -> None:
    """Draw every figure of a pair into a folder; `BadInput` if the place cannot be written.

    Args:
        answers: That of three bounces, and that of whole takes if there is one.
    """
    found, whole = answers
    drawn = {
        "posterior": _posterior(name, found, whole, details["truth"]),
        "narrowing": _narrowing(found),
        "ratio-by-bounce": _ratios(name, detected, chain_answers.stated(whole, found)),
        "localisation": _localisation(detected),
        "waveform": _waveform(detected, detected.takes[0]),
        "restitution-by-take": _by_take(detected, found),
        "rank-histogram": _ranks(checks),
        "coverage": _coverage(checks),
    }
    if whole is not None:
        constant = np.asarray(found.region_90)[0]
        figure = whole_takes.restitution_by_speed(whole, constant, title=name)
        drawn["restitution-by-speed"] = figure
    style.write(folder, drawn)


def _posterior(
    name: str, found: Calibration, whole: ChainAnswer | None, truth: Mapping[str, float] | None
) -> Figure:
    samples = chain_answers.stated(whole, found)
    other = {} if samples is found.samples else {"three bounces, 90 %": np.asarray(found.samples)}
    return calibration.posterior(np.asarray(samples), title=name, truth=truth, other=other)


def _narrowing(found: Calibration) -> Figure:
    means = np.array([grid.mean for _, grid in found.narrowing])
    spreads = np.array([np.sqrt(np.diag(grid.covariance)) for _, grid in found.narrowing])
    return calibration.narrowing([number for number, _ in found.narrowing], means, spreads)


def _ratios(name: str, detected: Detections, stated: Float[ndarray, "draw 2"]) -> Figure:
    ratios = [
        interval_ratios(take.detected.times, take.detected.missing) for take in detected.takes
    ]
    low, high = (float(value) for value in np.quantile(stated[:, 0], [0.05, 0.95]))
    return calibration.ratio_by_bounce(ratios, title=name, interval=(low, high))


def _by_take(detected: Detections, found: Calibration) -> Figure:
    drops = measured(detected, release_sd=0.0)
    values, errors = ball_criticism.restitution_by_take(drops.features, drops.noise, found.release)
    low, high = (float(value) for value in found.region_90[0])
    return criticism_figures.restitution_by_take(
        drops.names,
        values,
        errors,
        interval=(low, high),
        set_aside=[name for name, _ in found.set_aside],
        notes=[finding.sentence for finding in found.findings],
    )


def _ranks(checks: ProductChecks) -> Figure:
    columns = zip(problem.PARAMETERS, checks.ranks.T, strict=True)
    return calibration_checks.rank_histogram(dict(columns), bins=max(4, len(checks.levels) // 5))


def _coverage(checks: ProductChecks) -> Figure:
    rows = coverage(checks.levels)
    name = f"{checks.drops} drops"
    return calibration_checks.coverage(
        [row.nominal for row in rows], {name: [row.found for row in rows]}, cases=rows[0].cases
    )


def _localisation(detected: Detections) -> Figure:
    bounces = [take.detected for take in detected.takes if take.detected.positions is not None]
    return calibration.localisation_map(
        detected.sessions[0].rig.array().positions,
        np.concatenate([take.positions for take in bounces if take.positions is not None]),
        np.concatenate([take.covariances for take in bounces if take.covariances is not None]),
        np.concatenate([take.outliers for take in bounces]),
    )


def _waveform(detected: Detections, take: NamedTake) -> Figure:
    samples = sessions.load_take(take.path)
    rate = float(detected.sessions[0].rig.sample_rate)
    return calibration.waveform(samples, rate, take.detected.times, title=take.file)
