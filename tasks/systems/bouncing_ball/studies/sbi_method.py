"""The `sbi` package as a rival: neural posterior estimation on the same simulations and features.

NPE (Greenberg et al. 2019, single round) with the package's own estimators and defaults: a mixture
density network ("mdn") or a spline flow ("nsf"). It is given the logarithms of the ratio and of the
distances, which serve it better than raw features, and the signed angle. Mass outside the prior is
cut off and the density renormalised, as its posterior class does. The package is an optional
extra: imported late, absent without harm.
"""

import importlib.util
import math
import time
from typing import Any

import torch
from torch import Tensor

from ricochet.models.probability import boxes
from ricochet.models.systems.bouncing_ball.problem import PRIOR, Drops, Features
from ricochet.tasks.systems.bouncing_ball.studies.methods import Answers, Method

_SAMPLES = 2000


def absent() -> str | None:
    """Return why the package cannot be used here, or None when it can."""
    if importlib.util.find_spec("sbi") is None:
        return "the sbi package is not installed; pip install 'ricochet[compare]' adds it"
    return None


def train(
    drops: Drops, *, estimator: str = "mdn", logarithms: bool = True, seed: int = 0
) -> Method:
    """Train the package's estimator on simulated drops, with its default settings.

    Args:
        drops: The simulations; one noise level, as the estimator is not told the noise.
        estimator: Name of the package's density estimator: "mdn" or "nsf".
        logarithms: Whether to give logarithms of ratio and distances, or raw features.
        seed: Seed of torch's global generator, which the package uses; restored afterwards.

    Raises:
        ImportError: If the package is not installed.
    """
    from sbi.inference import NPE
    from sbi.utils import BoxUniform

    low, high = boxes.bounds(PRIOR, dtype=torch.float32)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        began = time.process_time()
        engine = NPE(
            prior=BoxUniform(low, high), density_estimator=estimator, show_progress_bars=False
        )
        engine.append_simulations(drops.theta.float(), _columns(drops.features, logarithms))
        trained = engine.train()
        spent = time.process_time() - began

    def answer(cases: Drops) -> Answers:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(seed + 1)
            return _answer(trained, cases, logarithms)

    return Method(answer, spent)


def _answer(trained: Any, cases: Drops, logarithms: bool) -> Answers:
    """Sample the estimator, cut at the prior, renormalise by the share that lies inside."""
    told = _columns(cases.features, logarithms)
    points = trained.sample((_SAMPLES,), condition=told)
    inside = boxes.contains(PRIOR, points.double())
    share = inside.double().mean(0).clamp(min=1.0 / _SAMPLES)
    density = trained.log_prob(points, condition=told).double() - share.log()
    truth = trained.log_prob(cases.theta.float()[None], condition=told)[0].double()
    weights = inside.double() / inside.double().sum(0).clamp(min=1.0)
    return Answers(
        points.double(),
        weights,
        torch.where(inside, density, -math.inf),
        truth - share.log(),
    )


def _columns(features: Features, logarithms: bool) -> Tensor:
    columns = [features.ratio, features.first_distance, features.second_distance]
    if logarithms:
        columns = [length.clamp(min=1e-9).log() for length in columns]
    return torch.stack([*columns, features.turn], -1).float()
