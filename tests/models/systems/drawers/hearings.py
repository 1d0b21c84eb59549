"""A hearing that was not learnt: small random networks that take what real ones take."""

import numpy as np
import torch

from ricochet.models.inference import feed_forward
from ricochet.models.inference.small_networks import Network
from ricochet.models.systems.drawers import features
from ricochet.models.systems.drawers.belief.place_and_direction import Grammar
from ricochet.models.systems.drawers.direction.estimator import DirectionEstimator
from ricochet.models.systems.drawers.hearing import Hearing
from ricochet.models.systems.drawers.labels import FRAME
from ricochet.models.systems.drawers.place.estimator import PlaceEstimator
from ricochet.models.systems.drawers.speed.estimator import SpeedEstimator


def network(inputs: int, unit: float, seed: int) -> Network:
    draw = torch.Generator().manual_seed(seed)
    layers = feed_forward.init((inputs, 8, 8, 2), members=2, draw=draw)
    weights, biases = (
        tuple(each.detach().double().numpy().copy() for each in part)
        for part in (layers.weights, layers.biases)
    )
    return Network(np.zeros(inputs), np.full(inputs, 20.0), weights, biases, unit)


def random(channels: int) -> Hearing:
    sizes = features.of_samples(np.ones((channels, FRAME)))
    return Hearing(
        SpeedEstimator(network(sizes.speed.shape[1], 0.2, 0), np.ones(4)),
        PlaceEstimator(network(sizes.place.shape[1], 0.1, 1), 0.0, 1.0, 1.0),
        DirectionEstimator(network(sizes.direction.shape[1], 1.0, 2), 1.0),
        Grammar(0.0, 0.3),
    )
