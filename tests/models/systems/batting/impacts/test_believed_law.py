"""One law in place of a posterior: its regions hold what the posterior's hold."""

import numpy as np
import pytest

from ricochet.models.systems.batting.impacts import inference
from ricochet.models.systems.batting.impacts.believed_law import believed_law
from ricochet.models.systems.batting.impacts.inference import ImpactPosterior
from tests.models.systems.batting.tables import table


def covered(law, impacts) -> float:
    theta = np.array([[law[0], law[1], law[2], law.normal_share, law.tangential_share]])
    draw = np.random.default_rng(3)
    return inference.predict(ImpactPosterior(theta), impacts, draw).coverage


@pytest.mark.proof
def test_its_regions_hold_nine_of_ten_of_further_impacts() -> None:
    """Over eight tables of 60 learnt and 200 fresh: within three errors of both counts."""
    shares = []
    for seed in range(8):
        draw = np.random.default_rng(seed)
        learnt, fresh = table(seed, 60), table(seed, 260).take(np.arange(260) >= 60)
        posterior = inference.infer(learnt, draw, particles=300)
        shares.append(covered(believed_law(posterior, learnt, draw), fresh))
    error = 3.0 * np.sqrt(0.09 / (8 * 60) + 0.09 / (8 * 200))
    assert abs(np.mean(shares) - 0.9) < error


def test_it_is_the_mean_and_never_surer_than_the_draws() -> None:
    learnt = table(1, 100)
    posterior = inference.infer(learnt, np.random.default_rng(0), particles=300)
    law = believed_law(posterior, learnt, np.random.default_rng(1))
    np.testing.assert_allclose(law[:3], posterior.theta[:, :3].mean(0))
    least = np.sqrt((posterior.theta[:, 3:] ** 2).mean(0))
    assert (np.array([law.normal_share, law.tangential_share]) >= least * (1.0 - 1e-12)).all()
    assert law.impulse_noise == 0.0
