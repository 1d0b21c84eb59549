"""The `sbi` package as a rival: neural posterior estimation on the same simulations and features.

NPE (Greenberg et al. 2019, single round) with the package's own mixture density network ("mdn") and
defaults. It is given the logarithms of the ratio and of the
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
from ricochet.models.systems.bouncing_ball.features import Features
from ricochet.models.systems.bouncing_ball.problem import PRIOR, Drops
from ricochet.tasks.systems.bouncing_ball.studies.methods import Answers, Method

_SAMPLES = 2000


def absent() -> str | None:
    """Return why the package cannot be used here, or None when it can."""
    if importlib.util.find_spec("sbi") is None:
        return "the sbi package is not installed; pip install 'ricochet-lab[compare]' adds it"
    return None


def train(drops: Drops, *, seed: int = 0) -> Method:
    """Train the package's estimator on simulated drops, with its default settings.

    The drops have one noise level, as the estimator is not given the noise. The seed is that of
    torch's global generator, which the package uses; it is restored afterwards.
    """
    from sbi.inference import NPE
    from sbi.utils import BoxUniform

    low, high = boxes.bounds(PRIOR, dtype=torch.float32)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        began = time.process_time()
        prior = BoxUniform(low, high)
        engine = NPE(prior=prior, density_estimator="mdn", show_progress_bars=False)
        engine.append_simulations(drops.theta.float(), _columns(drops.features))
        trained = engine.train()
        spent = time.process_time() - began

    def answer(cases: Drops) -> Answers:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(seed + 1)
            return _answer(trained, cases)

    return Method(answer, spent)


def _answer(trained: Any, cases: Drops) -> Answers:
    """Sample the estimator, cut at the prior, renormalise by the share that lies inside."""
    given = _columns(cases.features)
    points = trained.sample((_SAMPLES,), condition=given)
    inside = boxes.contains(PRIOR, points.double())
    share = inside.double().mean(0).clamp(min=1.0 / _SAMPLES)
    density = trained.log_prob(points, condition=given).double() - share.log()
    truth = trained.log_prob(cases.theta.float()[None], condition=given)[0].double()
    weights = inside.double() / inside.double().sum(0).clamp(min=1.0)
    return Answers(
        points.double(),
        weights,
        torch.where(inside, density, -math.inf),
        truth - share.log(),
    )


def _columns(features: Features) -> Tensor:
    columns = (features.ratio, features.first_distance, features.second_distance)
    return torch.stack([*(c.clamp(min=1e-9).log() for c in columns), features.turn], -1).float()
