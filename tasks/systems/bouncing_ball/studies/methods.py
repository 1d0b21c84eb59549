"""One row of a table of inference methods: errors, negative log posterior, coverage, training time.

A method answers cases (drops with known parameters) by points that carry its posterior's mass,

    mean = sum_i w_i theta_i,   peak = the point of highest density,
    credibility of the truth = sum of the w_i whose density exceeds that at the truth,

so that networks, grids and samplers are measured by the same lines of code.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.inference import calibration_checks
from ricochet.models.inference.mixture_density_networks import ConditionalDensity, Training
from ricochet.models.probability import truncated_mixtures
from ricochet.models.systems.bouncing_ball.calibration import drop_posterior, network_features
from ricochet.models.systems.bouncing_ball.calibration.drop_posterior import InputFeatures
from ricochet.models.systems.bouncing_ball.problem import PARAMETERS, Drops

_AT_ONCE = 25


@dataclass(frozen=True)
class Answers:
    """A posterior of each case as weighted points, and its log density at the truth.

    Attributes:
        points: Parameters that carry the mass.
        weights: Mass of each point; a case's weights sum to one.
        log_density_of_truth: Log density at the parameters that made the case.
    """

    points: Float[Tensor, "point case 2"]
    weights: Float[Tensor, "point case"]
    log_density: Float[Tensor, "point case"]
    log_density_of_truth: Float[Tensor, " case"]


@dataclass(frozen=True)
class Method:
    """How a method answers a few cases, and what its training cost on this machine, in s."""

    answer: Callable[[Drops], Answers]
    train_cpu_s: float = 0.0


def evaluate(method: Method, cases: Drops) -> dict[str, Any]:
    """Measure a method on cases whose parameters are known.

    Returns:
        A row with keys mae_mean, mae_peak, negative_log_posterior, coverage, train_cpu_s and
        answer_cpu_s (of one case). A truth to which the method gives no density at all makes its
        mean infinite: then it is None, and `without_density` says how many there are.
    """
    began, count = time.process_time(), len(cases.theta)
    parts = []
    for start in range(0, count, _AT_ONCE):
        part = cases.rows(slice(start, start + _AT_ONCE))
        parts.append(_measure(method.answer(part), part.theta))
    mean, peak, loss, level = (torch.cat(column) for column in zip(*parts, strict=True))
    rows = calibration_checks.coverage(level.numpy())
    return {
        "mae_mean": _by_parameter(mean),
        "mae_peak": _by_parameter(peak),
        "negative_log_posterior": _finite(loss.mean()),
        "negative_log_posterior_error": _finite(loss.std() / count**0.5),
        "without_density": int((~torch.isfinite(loss)).sum()),
        "coverage": {f"{row.nominal:g}": row.found for row in rows},
        "train_cpu_s": method.train_cpu_s,
        "answer_cpu_s": (time.process_time() - began) / count,
    }


def _finite(value: Tensor) -> float | None:
    return float(value) if bool(torch.isfinite(value)) else None


def network_method(
    density: ConditionalDensity,
    *,
    form_inputs: InputFeatures = network_features.from_both,
    train_cpu_s: float = 0.0,
) -> Method:
    """Return the method that answers with a density network, trained for so long, s."""

    def answer(cases: Drops) -> Answers:
        mixture = drop_posterior.posterior(
            density, cases.features, cases.noise, cases.release, form_inputs=form_inputs
        )
        table = truncated_mixtures.nodes(mixture, per_axis=20)
        return Answers(
            table.points,
            table.log_weights.exp(),
            truncated_mixtures.log_density(mixture, table.points),
            truncated_mixtures.log_density(mixture, cases.theta),
        )

    return Method(answer, train_cpu_s)


def train_network(
    drops: Drops,
    *,
    form_inputs: InputFeatures = network_features.from_both,
    training: Training = drop_posterior.PAPER,
    draw: torch.Generator,
) -> Method:
    """Train a network on simulated drops, with all or a part of the features, as a method."""
    fit = drop_posterior.train(drops, form_inputs=form_inputs, training=training, draw=draw)
    return network_method(fit.density, form_inputs=form_inputs, train_cpu_s=fit.cpu_time)


def _measure(answers: Answers, truth: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return errors of mean and peak, negative log density and credibility of each case."""
    mean = (answers.weights[..., None] * answers.points).sum(0)
    best = answers.log_density.argmax(0, keepdim=True)[..., None]
    peak = answers.points.take_along_dim(best, 0)[0]
    above = answers.log_density > answers.log_density_of_truth
    level = (answers.weights * above).sum(0)
    return (mean - truth).abs(), (peak - truth).abs(), -answers.log_density_of_truth, level


def _by_parameter(errors: Float[Tensor, "case 2"]) -> dict[str, float]:
    return dict(zip(PARAMETERS, errors.mean(0).tolist(), strict=True))
