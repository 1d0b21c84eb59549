"""Training of small networks for mean and deviation (`small_networks`).

The mean is fitted by least squares, the deviation by the normal likelihood of what the mean leaves,
whose gradient does not reach the mean: it would trade errors where s is large for those where it is
small.

    minimise  E[(y - m)^2] + a E[r^2 / (2 s^2) + log s],    r = y - m held fixed

Noise on the scaled inputs keeps members smooth.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import feed_forward
from ricochet.models.inference.adamw import AdamW
from ricochet.models.inference.feed_forward import Layers
from ricochet.models.inference.small_networks import LEAST_SCALE, LOG_RANGE, Network

SPREAD_WEIGHT = 0.1  # a
CLIP = 5.0  # of a gradient's norm


@dataclass(frozen=True)
class Training:
    """Size and schedule.

    Attributes:
        hidden, members: Units of both hidden layers, and networks averaged.
        epochs, batch: Passes through the cases, and cases a step.
        rate, decay: Of AdamW.
        jitter: Deviation of the noise on scaled inputs.
    """

    hidden: int = 64
    members: int = 4
    epochs: int = 40
    batch: int = 256
    rate: float = 3e-3
    decay: float = 1e-2
    jitter: float = 0.1


def fit(
    inputs: Float[ndarray, "case input"],
    outputs: Float[ndarray, " case"],
    training: Training,
    draw: torch.Generator,
    progress: Progress = no_progress,
) -> Network:
    """Train members side by side.

    >>> x = np.linspace(-1.0, 1.0, 300)[:, None]
    >>> network = fit(x, 3.0 * x[:, 0], Training(hidden=16, epochs=60), torch.Generator())
    >>> from ricochet.models.inference import small_networks
    >>> bool(abs(small_networks.predict(network, np.array([[0.5]]))[0][0] - 1.5) < 0.1)
    True

    Args:
        inputs, outputs: Of the cases; numbers, all of them.
        draw: Of weights, batches and noise.

    Raises:
        ValueError: If a number is not finite.
    """
    if not (np.isfinite(inputs).all() and np.isfinite(outputs).all()):
        raise ValueError("inputs or outputs hold a number that is not finite")
    centre, scale = inputs.mean(0), np.maximum(inputs.std(0), LEAST_SCALE)
    unit = max(float(outputs.std()), LEAST_SCALE)
    x = torch.tensor((inputs - centre) / scale, dtype=torch.float32)
    y = torch.tensor(outputs / unit, dtype=torch.float32)
    sizes = (x.shape[1], training.hidden, training.hidden, 2)
    layers = feed_forward.init(sizes, members=training.members, draw=draw)
    _descend(layers, x, y, training, draw, progress)
    arrays = (
        tuple(each.detach().double().numpy().copy() for each in part)
        for part in (layers.weights, layers.biases)
    )
    weights, biases = arrays
    return Network(centre, scale, weights, biases, unit)


def fit_together(
    sessions: Sequence[tuple[Float[ndarray, "_ input"], Float[ndarray, " _"]]],
    training: Training,
    draw: torch.Generator,
) -> Network:
    """Train on the cases of several sessions, as `fit` does on one.

    >>> session = (np.zeros((4, 2)), np.zeros(4))
    >>> small = Training(hidden=2, members=1, epochs=1)
    >>> fit_together([session, session], small, torch.Generator()).weights[0].shape
    (1, 2, 2)
    """
    inputs, outputs = zip(*sessions, strict=True)
    return fit(np.vstack(inputs), np.concatenate(outputs), training, draw)


def _descend(
    layers: Layers,
    x: Float[Tensor, "case input"],
    y: Float[Tensor, " case"],
    training: Training,
    draw: torch.Generator,
    progress: Progress,
) -> None:
    steps = max(1, training.epochs * len(x) // training.batch)
    variables = feed_forward.variables(layers)
    optimiser = AdamW(variables, peak=training.rate, decay=training.decay, steps=steps)
    for step in range(steps):
        chosen = torch.randint(len(x), (training.batch,), generator=draw)
        noise = training.jitter * torch.randn((training.batch, x.shape[1]), generator=draw)
        out = feed_forward.forward(layers, x[chosen] + noise)
        optimiser.descend(_loss(out, y[chosen]), clip=CLIP)
        progress(step + 1, steps)


def _loss(out: Float[Tensor, "member case 2"], y: Float[Tensor, " case"]) -> Float[Tensor, ""]:
    mean, log = out[..., 0], out[..., 1].clamp(*LOG_RANGE)
    left = y - mean
    spread = 0.5 * (left.detach() / log.exp()) ** 2 + log
    return (left**2).mean() + SPREAD_WEIGHT * spread.mean()
