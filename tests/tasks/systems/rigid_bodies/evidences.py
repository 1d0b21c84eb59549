"""What a gate of pendulums may find, made up: of sound posteriors and of overconfident ones."""

import numpy as np

from ricochet.models.inference import chain_agreement, chain_regions
from ricochet.tasks.systems.rigid_bodies.validation.gate import PendulumEvidence
from ricochet.tasks.systems.rigid_bodies.validation.held_out import Predicted
from tests.models.inference.test_chain_agreement import slow_chains

MIXED = np.random.default_rng(9).normal(size=(8, 8))
CHANCE = 0.02


def predicted(share: float, draw: np.random.Generator, touched: int = 0) -> Predicted:
    """Of two recordings of forty places, whose intervals hold a share; forty passes."""
    inside = draw.random((80, 2, 2)) < share
    places = np.arange(80)
    error = draw.normal(size=inside.shape)
    return Predicted(
        error, 0.0 * error + 2.0, inside, places // 40, places % 2 == 0, places < 2 * touched
    )


def evidence(seed: int, *, stated: float = 1.0, method: float = 1.0) -> PendulumEvidence:
    """What is found of a posterior stated, or inferred, with deviations that are too small."""
    draw = np.random.default_rng(seed)
    one, other = slow_chains(draw, chains=32) @ MIXED, slow_chains(draw) @ MIXED
    places = []
    for _ in range(12):
        chains = method * slow_chains(draw, rounds=15, chains=12, memory=0.6) @ MIXED
        places.append(chain_regions.place(chains, draw.normal(size=8) @ MIXED))
    agreement = chain_agreement.compare(stated * one, other)
    return PendulumEvidence(agreement, tuple(places), predicted(0.9, draw), CHANCE)
