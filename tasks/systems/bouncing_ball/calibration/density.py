"""The bouncing ball's conditional density: its training on simulated drops, and its checks.

Training pairs are drawn from prior and simulator; noise and height of release of each drop are
drawn too, from wide ranges, so that one network serves all rigs and heights.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import calibration_checks, mixture_density_networks
from ricochet.models.inference.mixture_density_networks import ConditionalDensity, Inputs, Training
from ricochet.models.probability import truncated_mixtures
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import drop_posterior, network_features
from ricochet.models.systems.bouncing_ball.calibration.drop_posterior import (
    NoiseRange,
    ReleaseRange,
)
from ricochet.tasks.storage.files import digest_of
from ricochet.tasks.storage.provenance import code_digest
from ricochet.tasks.systems.bouncing_ball.settings import Density

SEARCHED = ("hidden", "components", "learning_rate")
"""Settings that a search may choose."""
MAKER = "ricochet.tasks.systems.bouncing_ball.calibration.density_training"
"""The module that makes a package."""
CASES, DRAWS = 1000, 200
"""Drops on which a density is checked, and draws for each."""


@dataclass(frozen=True)
class Trained:
    """A trained density with the record of its training.

    Attributes:
        held_out: Mean negative log density of held-out pairs, nats.
        history: The same at each look during training.
        asked: What was asked for; a search chose `settings` starting from it.
    """

    density: ConditionalDensity
    held_out: float
    history: tuple[float, ...]
    settings: Density
    asked: Density
    seed: int


def training_pairs(count: int, *, draw: torch.Generator) -> tuple[torch.Tensor, Inputs]:
    """Draw parameters, shape (count, 2), and the network's inputs of a drop of each."""
    noise = drop_posterior.draw_noise(NoiseRange(), count, draw=draw)
    release = drop_posterior.draw_release(ReleaseRange(), count, draw=draw)
    drops = problem.simulate_drops(noise, release, draw=draw)
    return drops.theta, network_features.from_both(drops.features, drops.noise, drops.release)


def train(settings: Density, *, seed: int, progress: Progress = no_progress) -> Trained:
    """Train a density as the settings say; the same seed gives the same density."""
    draw = torch.Generator().manual_seed(seed)
    theta, inputs = training_pairs(settings.simulations, draw=draw)
    training = Training(
        components=settings.components,
        hidden=settings.hidden,
        steps=math.ceil(settings.epochs * settings.simulations / settings.batch),
        batch=settings.batch,
        rate=settings.learning_rate,
    )
    fit = mixture_density_networks.fit(
        theta, inputs, box=problem.PRIOR, training=training, draw=draw, progress=progress
    )
    return Trained(fit.density, min(fit.held_out), fit.held_out, settings, settings, seed)


def key(settings: Density, seed: int) -> str:
    """Return the digest of everything that decides a trained density."""
    return digest_of({"settings": asdict(settings), "seed": seed, "code": code_digest(MAKER)})


def check(density: ConditionalDensity, *, seed: int, cases: int = CASES) -> dict[str, Any]:
    """Measure whether the density is calibrated, on drops that are not those of the training."""
    draw = torch.Generator().manual_seed(seed + 2**32)
    theta, inputs = training_pairs(cases, draw=draw)
    mixture = density.mixture(inputs)
    samples = truncated_mixtures.sample(mixture, DRAWS, draw=draw)
    levels = calibration_checks.credibility(
        truncated_mixtures.log_density(mixture, samples).T.numpy(),
        truncated_mixtures.log_density(mixture, theta).numpy(),
    )
    ranks = calibration_checks.ranks(
        samples.transpose(0, 1).numpy(), theta.numpy(), draw=np.random.default_rng(seed)
    )
    rounded = np.round(ranks, 4).T.tolist()
    return {
        "cases": cases,
        "ranks": dict(zip(problem.PARAMETERS, rounded, strict=True)),
        "coverage": {str(row.nominal): row.found for row in calibration_checks.coverage(levels)},
    }
