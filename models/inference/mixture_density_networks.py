"""Mixture density network: a conditional density q(theta | x) fitted to simulations.

A small network maps inputs x to a mixture in coordinates y(theta), cut to the prior's box
(`truncated_mixtures`). It is trained by maximum likelihood on pairs (theta_i, x_i) drawn from prior
and simulator,

    minimise  - (1 / N) sum_i log q(theta_i | x_i),

whose minimum over all densities is the posterior (Papamakarios and Murray 2016; BayesSim, Ramos et
al. 2019; Section 3.1 of Matl et al.). Several members, trained side by side from different
starts, are averaged as one mixture. The step size follows one cosine; the weights that did best on
held-out pairs are kept. Network in single precision, density in double.
"""

import math
import time
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import feed_forward
from ricochet.models.inference.adamw import AdamW
from ricochet.models.inference.density_evaluation import SD_RANGE, size
from ricochet.models.inference.feed_forward import Layers
from ricochet.models.probability import bijections, boxes, truncated_mixtures
from ricochet.models.probability.bijections import Coordinates
from ricochet.models.probability.boxes import Box
from ricochet.models.probability.truncated_mixtures import TruncatedMixture


@dataclass(frozen=True)
class Inputs:
    """What the network sees of each case, and the coordinates in which it answers."""

    values: Float[Tensor, "*batch input"]
    coordinates: Coordinates


@dataclass(frozen=True)
class Training:
    """Size and schedule of the training.

    Attributes:
        components: Gaussians of one member's mixture.
        hidden: Width of each hidden layer.
        layers: How many those are; with none the mixture is linear in the inputs but for its
            constraints, as with Fourier features.
        members: Networks averaged.
        rate, decay: Highest step size and weight decay of AdamW.
        held_out: Share of the pairs kept for choosing the weights.
        patience: Stop after so many looks at the held-out pairs without a better one.
    """

    components: int = 6
    hidden: int = 64
    layers: int = 2
    members: int = 2
    steps: int = 3000
    batch: int = 256
    rate: float = 4e-3
    decay: float = 1e-4
    held_out: float = 0.1
    patience: int = 10


@dataclass(frozen=True)
class ConditionalDensity:
    """A trained density, with mean and standard deviation of its inputs and of its targets in y."""

    box: Box
    layers: Layers
    input_centre: Float[Tensor, " input"]
    input_scale: Float[Tensor, " input"]
    y_centre: Float[Tensor, " n"]
    y_scale: Float[Tensor, " n"]

    def mixture(self, inputs: Inputs) -> TruncatedMixture:
        """Return q( . | x) of each case, members averaged, in the parameters' units."""
        with torch.no_grad():
            batch = inputs.values.shape[:-1]
            flat = inputs.values.reshape(-1, inputs.values.shape[-1])
            low, high = bijections.interval(inputs.coordinates, *boxes.bounds(self.box))
            apart = self.members(self.layers, flat, low, high)
            count = apart.log_weights.shape[0]
            log_weights, mean, sd, slope = (
                field.movedim(0, 1).reshape(*batch, -1, *field.shape[3:])
                for field in (apart.log_weights, apart.mean, apart.sd, apart.slope)
            )
        equal = log_weights - math.log(count)
        return TruncatedMixture(equal, mean, sd, slope, low, high, inputs.coordinates)

    def log_density(
        self, theta: Float[Tensor, "*#sample n"], inputs: Inputs
    ) -> Float[Tensor, "*#sample"]:
        """Return log q(theta | x) per unit of the parameters, minus infinity outside the prior."""
        return truncated_mixtures.log_density(self.mixture(inputs), theta.double())

    def members(
        self,
        layers: Layers,
        values: Float[Tensor, "case input"],
        low: Float[Tensor, "*case n"],
        high: Float[Tensor, "*case n"],
    ) -> TruncatedMixture:
        """Return the mixtures (member, case) in y that these layers give, cut to [low, high]."""
        scaled = ((values - self.input_centre) / self.input_scale).float()
        out = feed_forward.forward(layers, scaled).double()
        n = len(self.y_centre)
        components = out.shape[-1] // size(n)
        logits, mean, spread, slope = out.split(
            [components, components * n, components * n, components * n * (n - 1) // 2], -1
        )
        shape = (*out.shape[:-1], components)
        lower = out.new_zeros((*shape, n, n))
        rows, columns = torch.tril_indices(n, n, -1)
        ratio = self.y_scale[rows] / self.y_scale[columns]
        lower[..., rows, columns] = slope.reshape(*shape, -1) * ratio
        return TruncatedMixture(
            log_weights=logits.log_softmax(-1),
            mean=self.y_centre + self.y_scale * mean.reshape(*shape, n),
            sd=self.y_scale * _soft_clip(spread.reshape(*shape, n)).exp(),
            slope=lower,
            low=low,
            high=high,
        )


@dataclass(frozen=True)
class Fit:
    """A trained density and how the training went.

    Attributes:
        held_out: Mean negative log density of held-out pairs at each look, in nats.
        cpu_time: Processor time of the training, s.
    """

    density: ConditionalDensity
    held_out: tuple[float, ...]
    cpu_time: float


def fit(
    theta: Float[Tensor, "pair n"],
    inputs: Inputs,
    *,
    box: Box,
    training: Training,
    draw: torch.Generator,
    progress: Progress = no_progress,
) -> Fit:
    """Fit a conditional density to pairs of parameters and inputs.

    >>> box, draw = Box((0.0,), (1.0,)), torch.Generator().manual_seed(0)
    >>> theta = boxes.sample(box, (200,), draw=draw)
    >>> inputs = Inputs(theta.float(), Coordinates(0 * theta + 0.5, 0 * theta + 1.0))
    >>> training = Training(components=2, hidden=8, steps=40)
    >>> found = fit(theta, inputs, box=box, training=training, draw=draw)
    >>> tuple(found.density.log_density(theta, inputs).shape), len(found.held_out)
    ((200,), 40)

    Raises:
        ValueError: If an input is not finite or a parameter is outside the box.
    """
    began = time.process_time()
    _check(theta, inputs, box)
    order = torch.randperm(len(theta), generator=draw)
    y = bijections.forward(inputs.coordinates, theta.double())
    low, high = bijections.interval(inputs.coordinates, *boxes.bounds(box))
    data = tuple(table[order] for table in (inputs.values, y, low, high))
    kept = max(1, int(training.held_out * len(theta)))
    start = _start(data[0][kept:], data[1][kept:], box, training, draw)
    slope = bijections.log_slope(inputs.coordinates, theta.double())[order[:kept]].mean()
    held, rest = tuple(t[:kept] for t in data), tuple(t[kept:] for t in data)
    layers, record = _train(start, rest, held, training, draw, progress)
    nats = tuple(loss - float(slope) for loss in record)
    return Fit(replace(start, layers=layers), nats, time.process_time() - began)


def _soft_clip(value: Tensor) -> Tensor:
    low, high = SD_RANGE
    return low + (high - low) * torch.sigmoid((value - 0.5 * (low + high)) * 4.0 / (high - low))


def _start(
    values: Tensor, y: Tensor, box: Box, training: Training, draw: torch.Generator
) -> ConditionalDensity:
    """Draw the first weights; components start spread over the targets' quantiles."""
    n, hidden, first = y.shape[-1], training.hidden, training.components
    inner = [hidden] * training.layers
    sizes = [values.shape[-1], *inner, training.components * size(n)]
    layers = feed_forward.init(sizes, members=training.members, draw=draw)
    spread = torch.randn((training.members, 1, training.components * n), generator=draw)
    layers.biases[-1][..., first : first + training.components * n] = spread
    return ConditionalDensity(
        box,
        layers,
        values.mean(0),
        values.std(0).clamp(min=1e-6),
        y.mean(0),
        y.std(0).clamp(min=1e-6),
    )


def _loss(
    density: ConditionalDensity, layers: Layers, data: tuple[Tensor, ...]
) -> Float[Tensor, " member"]:
    values, y, low, high = data
    mixture = density.members(layers, values, low, high)
    return -truncated_mixtures.log_density(mixture, y).mean(-1)


def _train(
    start: ConditionalDensity,
    data: tuple[Tensor, ...],
    held: tuple[Tensor, ...],
    training: Training,
    draw: torch.Generator,
    progress: Progress,
) -> tuple[Layers, list[float]]:
    """Run AdamW under one cosine and keep each member's best weights."""
    layers, record = start.layers, list[float]()
    variables = feed_forward.variables(layers)
    optimiser = AdamW(variables, peak=training.rate, decay=training.decay, steps=training.steps)
    kept = feed_forward.copied(layers)
    best = torch.full((training.members,), math.inf, dtype=torch.float64)
    look, stale = max(1, training.steps // 40), 0
    for step in range(1, training.steps + 1):
        chosen = torch.randint(len(data[0]), (training.batch,), generator=draw)
        loss = _loss(start, layers, tuple(table[chosen] for table in data)).sum()
        optimiser.descend(loss, clip=5.0)
        if step % look == 0 or step == training.steps:
            with torch.no_grad():
                now = _loss(start, layers, held)
            better = now < best
            best = torch.where(better, now, best)
            kept = feed_forward.chosen(layers, kept, better)
            record.append(float(best.mean()))
            stale = 0 if bool(better.any()) else stale + 1
            progress(step, training.steps)
            if stale >= training.patience:
                break
    progress(training.steps, training.steps)
    return kept, record


def _check(theta: Tensor, inputs: Inputs, box: Box) -> None:
    if not bool(torch.isfinite(inputs.values).all()):
        raise ValueError("inputs: hold a value that is not finite")
    if not bool(boxes.contains(box, theta.double()).all()):
        raise ValueError("theta: a row lies outside the box")
