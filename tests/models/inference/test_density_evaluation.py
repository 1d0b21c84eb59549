"""A trained network says the same by numpy alone as by torch."""

import numpy as np
import torch

from ricochet.models.inference import density_arrays, density_evaluation, mixture_density_networks
from ricochet.models.inference.mixture_density_networks import ConditionalDensity, Inputs, Training
from ricochet.models.probability import boxes, mixture_arrays
from ricochet.models.probability.bijections import Coordinates
from ricochet.models.probability.boxes import Box

BOX = Box((0.0, -1.0), (1.0, 3.0))


def trained() -> tuple[ConditionalDensity, torch.Tensor, Inputs]:
    """Return a network of three members that was trained for a moment, and its pairs."""
    draw = torch.Generator().manual_seed(0)
    theta = boxes.sample(BOX, (300,), draw=draw)
    place = Coordinates(0.9 * theta, torch.full_like(theta, 0.3))
    inputs = Inputs(torch.cat((theta, theta**2), -1).float(), place)
    training = Training(components=3, hidden=16, members=3, steps=60)
    fit = mixture_density_networks.fit(theta, inputs, box=BOX, training=training, draw=draw)
    return fit.density, theta, inputs


def test_mixtures_and_log_density_are_those_by_torch() -> None:
    density, theta, inputs = trained()
    arrays = density_arrays.to_arrays(density)
    rows = (inputs.values, inputs.coordinates.location, inputs.coordinates.scale)
    batch = density_evaluation.mixtures(arrays, *(each.numpy() for each in rows))
    expected = density.mixture(inputs)
    for name in ("log_weights", "mean", "sd", "slope", "low", "high"):
        by_torch = getattr(expected, name).numpy()
        np.testing.assert_allclose(getattr(batch, name), by_torch, rtol=1e-5, atol=1e-5)
    found = mixture_arrays.log_density(batch, theta.numpy())
    by_torch = density.log_density(theta, inputs).numpy()
    np.testing.assert_allclose(found, by_torch, rtol=1e-5, atol=1e-4)


def test_the_order_of_cases_and_of_members_changes_nothing() -> None:
    density, theta, inputs = trained()
    arrays = density_arrays.to_arrays(density)
    rows = [
        each.numpy()
        for each in (inputs.values, inputs.coordinates.location, inputs.coordinates.scale)
    ]
    whole = mixture_arrays.log_density(density_evaluation.mixtures(arrays, *rows), theta.numpy())
    turned = {
        name: array[::-1] if name.startswith(("weight_", "bias_")) else array
        for name, array in arrays.items()
    }
    batch = density_evaluation.mixtures(turned, *(each[::-1] for each in rows))
    found = mixture_arrays.log_density(batch, theta.numpy()[::-1])
    np.testing.assert_allclose(found[::-1], whole, rtol=1e-6, atol=1e-6)
