"""Small networks: by numpy as by torch, and mean and deviation of a law that is known."""

import numpy as np
import pytest
import torch

from ricochet.models.inference import feed_forward, network_training, small_networks
from ricochet.models.inference.feed_forward import Layers
from ricochet.models.inference.network_training import Training
from ricochet.models.inference.small_networks import Network

SMALL = Training(hidden=24, members=3, epochs=60, jitter=0.02)


def fitted(seed: int = 0, unit: float = 1.0) -> tuple[Network, np.ndarray, np.ndarray]:
    """A network of y = sin 3x with deviation 0.05 to 0.25, and fresh cases of it."""
    draw = np.random.default_rng(seed)

    def cases(count: int) -> tuple[np.ndarray, np.ndarray]:
        x = draw.uniform(-1.0, 1.0, (count, 1))
        noise = (0.15 + 0.1 * x[:, 0]) * draw.standard_normal(count)
        return x, unit * (np.sin(3.0 * x[:, 0]) + noise)

    network = network_training.fit(*cases(4000), SMALL, torch.Generator().manual_seed(seed))
    return network, *cases(2000)


@pytest.fixture(scope="module")
def network() -> Network:
    return fitted()[0]


@pytest.mark.proof
def test_numpy_predicts_as_torch_does(network: Network) -> None:
    inputs = np.random.default_rng(1).uniform(-1.0, 1.0, (20, 1))
    layers = Layers(
        tuple(torch.tensor(each) for each in network.weights),
        tuple(torch.tensor(each) for each in network.biases),
    )
    out = feed_forward.forward(layers, torch.tensor((inputs - network.centre) / network.scale))
    mean, deviation = small_networks.predict(network, inputs)
    np.testing.assert_allclose(mean, network.unit * out[..., 0].mean(0).numpy(), rtol=1e-9)
    spread = torch.exp(2.0 * out[..., 1]).mean(0) + out[..., 0].var(0, correction=0)
    np.testing.assert_allclose(deviation, network.unit * np.sqrt(spread.numpy()), rtol=1e-9)


def test_a_case_is_the_same_alone_and_among_others(network: Network) -> None:
    inputs = np.linspace(-1.0, 1.0, 7)[:, None]
    together = small_networks.predict(network, inputs)
    alone = [small_networks.predict(network, each[None]) for each in inputs]
    np.testing.assert_allclose(together, np.hstack(alone), rtol=1e-12)


def test_mean_and_deviation_are_those_of_the_law() -> None:
    network, x, y = fitted(2)
    mean, deviation = small_networks.predict(network, x)
    assert np.sqrt(np.mean((mean - np.sin(3.0 * x[:, 0])) ** 2)) < 0.05
    assert np.median(np.abs(deviation - (0.15 + 0.1 * x[:, 0]))) < 0.03
    # 2000 cases: a share of 0.9 is known to 0.0067, the deviation to some 5 %, 0.01 of the share.
    assert np.mean(np.abs(y - mean) < 1.645 * deviation) == pytest.approx(0.9, abs=0.03)


@pytest.mark.proof
def test_outputs_in_another_unit_are_predicted_in_it() -> None:
    (one, x, _), (other, _, _) = fitted(3), fitted(3, unit=1000.0)
    np.testing.assert_allclose(
        1000.0 * small_networks.predict(one, x)[0], small_networks.predict(other, x)[0], atol=20.0
    )


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        network_training.fit(np.full((3, 1), np.nan), np.ones(3), SMALL, torch.Generator())
