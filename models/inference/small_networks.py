"""Mean and deviation of a number given inputs, by small trained networks, by numpy alone.

Members are averaged: m is the mean of their means; s^2 the mean of their squared deviations plus
the variance of their means, so that inputs far from all training widen the answer.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

LOG_RANGE = (-5.0, 2.0)
"""Of the logarithm of a deviation, in units of the output's scale."""
LEAST_SCALE = 1e-9
"""Of an input and of the output, that training gives to what does not vary."""


@dataclass(frozen=True)
class Network:
    """Trained members.

    Attributes:
        centre, scale: Mean and deviation of each input.
        weights, biases: Of all members, from the first layer to mean and log deviation.
        unit: Of the output.
    """

    centre: Float[ndarray, " input"]
    scale: Float[ndarray, " input"]
    weights: tuple[Float[ndarray, "member _ _"], ...]
    biases: tuple[Float[ndarray, "member 1 _"], ...]
    unit: float


@dataclass(frozen=True)
class Session:
    """Cases that belong together.

    Attributes:
        used: Cases that are trained on; all are answered.
    """

    inputs: Float[ndarray, "case input"]
    outputs: Float[ndarray, " case"]
    used: Bool[ndarray, " case"]


@dataclass(frozen=True)
class Answer:
    """Mean and deviation of each case."""

    mean: Float[ndarray, " case"]
    deviation: Float[ndarray, " case"]


@dataclass(frozen=True)
class CrossFit:
    """A network of all sessions, and the answers to each by one that had not seen it."""

    network: Network
    left_out: tuple[Answer, ...]


def answer(network: Network, inputs: Float[ndarray, "case input"]) -> Answer:
    """Return what a network answers.

    >>> one, zero = np.ones((1, 2, 2)), np.zeros((1, 1, 2))
    >>> network = Network(np.zeros(2), np.ones(2), (one,), (zero,), 0.5)
    >>> answer(network, np.eye(2)).mean
    array([0.5, 0.5])
    """
    return Answer(*predict(network, inputs))


def predict(
    network: Network, inputs: Float[ndarray, "case input"]
) -> tuple[Float[ndarray, " case"], Float[ndarray, " case"]]:
    """Return mean and deviation of the output for each case.

    >>> one, zero = np.ones((1, 2, 2)), np.zeros((1, 1, 2))
    >>> mean, deviation = predict(Network(np.zeros(2), np.ones(2), (one,), (zero,), 0.5), np.eye(2))
    >>> mean, deviation.round(3)
    (array([0.5, 0.5]), array([1.359, 1.359]))
    """
    hidden = (inputs - network.centre) / network.scale
    last = len(network.weights) - 1
    for index, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        hidden = hidden @ weight + bias
        if index < last:
            hidden = hidden / (1.0 + np.exp(-np.clip(hidden, -60.0, 60.0)))
    means, logs = hidden[..., 0], np.clip(hidden[..., 1], *LOG_RANGE)
    variance = np.exp(2.0 * logs).mean(0) + means.var(0)
    return network.unit * means.mean(0), network.unit * np.sqrt(variance)
