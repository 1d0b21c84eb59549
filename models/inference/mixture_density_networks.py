"""Mixture density network: a conditional density q(theta | x) fitted to simulations.

A small network maps inputs x to a mixture in coordinates y(theta), cut to the prior's box
(ricochet.models.probability.truncated_mixtures). It is trained by maximum likelihood on pairs
(theta_i, x_i) drawn from prior and simulator,

    minimise  - (1 / N) sum_i log q(theta_i | x_i),

whose minimum over all densities is the posterior (Papamakarios and Murray 2016; BayesSim, Ramos et
al. 2019; Section 3.1 of Matl et al.). Several members, trained side by side from different
starts, are averaged as one mixture. The step size follows one cosine; the weights that did best on
held-out pairs are kept. Network in single precision, density in double.
"""

import itertools
import math
import time
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.inference.adamw import AdamW
from ricochet.models.probability import bijections as coordinates
from ricochet.models.probability import boxes, truncated_mixtures
from ricochet.models.probability.bijections import Coordinates
from ricochet.models.probability.boxes import Box
from ricochet.models.probability.truncated_mixtures import TruncatedMixture

_SD_RANGE = (-6.0, 3.0)


@dataclass(frozen=True)
class Inputs:
    """What the network is told of a case, and the coordinates in which it answers."""

    values: Float[Tensor, "*batch input"]
    coordinates: Coordinates


@dataclass(frozen=True)
class Training:
    """Size and schedule of the training.

    Attributes:
        components: Gaussians of one member's mixture.
        hidden: Width of each of the two hidden layers.
        members: Networks averaged.
        steps: Number of gradient steps.
        batch: Pairs in one step.
        rate: Highest step size of AdamW.
        decay: Weight decay of AdamW.
        held_out: Share of the pairs kept for choosing the weights.
        patience: Stop after so many looks at the held-out pairs without a better one.
    """

    components: int = 6
    hidden: int = 64
    members: int = 2
    steps: int = 3000
    batch: int = 256
    rate: float = 4e-3
    decay: float = 1e-4
    held_out: float = 0.1
    patience: int = 10


@dataclass(frozen=True)
class Layers:
    """Weights of all members: two hidden layers and the output."""

    weights: tuple[Float[Tensor, "member input output"], ...]
    biases: tuple[Float[Tensor, "member 1 output"], ...]


@dataclass(frozen=True)
class ConditionalDensity:
    """A trained density; `log_density` and `mixture` evaluate it.

    Attributes:
        box: Prior bounds; no mass lies outside.
        layers: Weights of the members.
        input_centre: Mean of the training inputs.
        input_scale: Their standard deviation.
        y_centre: Mean of the training targets in y.
        y_scale: Their standard deviation.
    """

    box: Box
    layers: Layers
    input_centre: Float[Tensor, " input"]
    input_scale: Float[Tensor, " input"]
    y_centre: Float[Tensor, " n"]
    y_scale: Float[Tensor, " n"]

    def mixture(self, inputs: Inputs) -> TruncatedMixture:
        """Return q( . | x) of each case, members averaged.

        Args:
            inputs: The cases.

        Returns:
            One mixture in the parameters' units for each case.
        """
        with torch.no_grad():
            batch = inputs.values.shape[:-1]
            flat = inputs.values.reshape(-1, inputs.values.shape[-1])
            low, high = self._bounds(inputs.coordinates)
            apart = self._members(self.layers, flat, low, high)
            count = apart.log_weights.shape[0]
            log_weights, mean, sd, slope = (
                field.movedim(0, 1).reshape(*batch, -1, *field.shape[3:])
                for field in (apart.log_weights, apart.mean, apart.sd, apart.slope)
            )
        equal = log_weights - math.log(count)
        return TruncatedMixture(equal, mean, sd, slope, low, high, inputs.coordinates)

    def log_density(
        self, theta: Float[Tensor, "*sample n"], inputs: Inputs
    ) -> Float[Tensor, "*sample"]:
        """Evaluate log q(theta | x).

        Args:
            theta: Parameters; leading axes broadcast against the cases.
            inputs: The cases.

        Returns:
            Log density in the parameters' units, minus infinity outside the prior.
        """
        return truncated_mixtures.log_density(self.mixture(inputs), theta.double())

    def _bounds(self, where: Coordinates) -> tuple[Tensor, Tensor]:
        return coordinates.interval(where, *boxes.bounds(self.box))

    def _members(
        self, layers: Layers, values: Tensor, low: Tensor, high: Tensor
    ) -> TruncatedMixture:
        """Return the mixtures (member, case) in y for inputs (case, input)."""
        hidden = ((values - self.input_centre) / self.input_scale).float()
        out = _forward(layers, hidden).double()
        n = len(self.y_centre)
        components = out.shape[-1] // _size(n)
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
        density: The density.
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
) -> Fit:
    """Fit a conditional density to pairs of parameters and inputs.

    Args:
        theta: Parameters drawn from the prior.
        inputs: What each of them led to.
        box: The prior's bounds.
        training: Size and schedule.
        draw: Source of randomness; the same state gives the same density.

    Returns:
        The density with the record of its training.

    Raises:
        ValueError: If an input is not finite or a parameter is outside the box.
    """
    began = time.process_time()
    _check(theta, inputs, box)
    order = torch.randperm(len(theta), generator=draw)
    y = coordinates.forward(inputs.coordinates, theta.double())
    low, high = coordinates.interval(inputs.coordinates, *boxes.bounds(box))
    data = tuple(table[order] for table in (inputs.values, y, low, high))
    kept = max(1, int(training.held_out * len(theta)))
    start = _start(data[0][kept:], data[1][kept:], box, training, draw)
    slope = coordinates.log_slope(inputs.coordinates, theta.double())[order[:kept]].mean()
    held, rest = tuple(t[:kept] for t in data), tuple(t[kept:] for t in data)
    layers, record = _train(start, rest, held, training, draw)
    density = ConditionalDensity(
        box, layers, start.input_centre, start.input_scale, start.y_centre, start.y_scale
    )
    nats = tuple(loss - float(slope) for loss in record)
    return Fit(density, nats, time.process_time() - began)


def to_arrays(density: ConditionalDensity) -> dict[str, np.ndarray]:
    """Return the density as plain arrays, for a file format without code in it.

    Args:
        density: The density.

    Returns:
        Arrays by name.
    """
    tensors = {
        "input_centre": density.input_centre,
        "input_scale": density.input_scale,
        "y_centre": density.y_centre,
        "y_scale": density.y_scale,
        "box": torch.stack(boxes.bounds(density.box)),
    }
    for index, (weight, bias) in enumerate(
        zip(density.layers.weights, density.layers.biases, strict=True)
    ):
        tensors[f"weight_{index}"], tensors[f"bias_{index}"] = weight, bias
    return {name: tensor.numpy().copy() for name, tensor in tensors.items()}


def from_arrays(arrays: dict[str, np.ndarray]) -> ConditionalDensity:
    """Rebuild a density from the arrays of `to_arrays`.

    Args:
        arrays: Arrays by name.

    Returns:
        The density, equal bit for bit.

    Raises:
        ValueError: If an array is missing.
    """
    depth = sum(name.startswith("weight_") for name in arrays)
    needed = {"input_centre", "input_scale", "y_centre", "y_scale", "box", "weight_0"}
    needed |= {f"bias_{index}" for index in range(depth)}
    if missing := needed - arrays.keys():
        raise ValueError(f"arrays: missing {sorted(missing)}")
    tensors = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
    layers = Layers(
        tuple(tensors[f"weight_{index}"] for index in range(depth)),
        tuple(tensors[f"bias_{index}"] for index in range(depth)),
    )
    low, high = tensors["box"].tolist()
    names = ("input_centre", "input_scale", "y_centre", "y_scale")
    return ConditionalDensity(
        Box(tuple(low), tuple(high)), layers, *(tensors[name] for name in names)
    )


def _size(n: int) -> int:
    """Outputs of one component: a weight, n means, n spreads, n (n - 1) / 2 slopes."""
    return 1 + 2 * n + n * (n - 1) // 2


def _soft_clip(value: Tensor) -> Tensor:
    low, high = _SD_RANGE
    return low + (high - low) * torch.sigmoid((value - 0.5 * (low + high)) * 4.0 / (high - low))


def _forward(layers: Layers, hidden: Tensor) -> Tensor:
    last = len(layers.weights) - 1
    for index, (weight, bias) in enumerate(zip(layers.weights, layers.biases, strict=True)):
        hidden = hidden @ weight + bias
        if index < last:
            hidden = torch.nn.functional.silu(hidden)
    return hidden


def _start(
    values: Tensor, y: Tensor, box: Box, training: Training, draw: torch.Generator
) -> ConditionalDensity:
    """Draw the first weights; components start spread over the targets' quantiles."""
    n, outputs = y.shape[-1], training.components * _size(y.shape[-1])
    sizes = [values.shape[-1], training.hidden, training.hidden, outputs]
    weights, biases = [], []
    for fan_in, fan_out in itertools.pairwise(sizes):
        normal = torch.randn((training.members, fan_in, fan_out), generator=draw)
        gain = 0.1 if fan_out == outputs else 1.5
        weights.append(normal * (gain / math.sqrt(fan_in)))
        biases.append(torch.zeros(training.members, 1, fan_out))
    middle, means = training.components, training.components * n
    spread = torch.randn((training.members, 1, means), generator=draw)
    biases[-1][..., middle : middle + means] = spread
    return ConditionalDensity(
        box,
        Layers(tuple(weights), tuple(biases)),
        values.mean(0),
        values.std(0).clamp(min=1e-6),
        y.mean(0),
        y.std(0).clamp(min=1e-6),
    )


def _loss(
    density: ConditionalDensity, layers: Layers, data: tuple[Tensor, ...]
) -> Float[Tensor, " member"]:
    values, y, low, high = data
    mixture = density._members(layers, values, low, high)
    return -truncated_mixtures.log_density(mixture, y).mean(-1)


def _train(
    start: ConditionalDensity,
    data: tuple[Tensor, ...],
    held: tuple[Tensor, ...],
    training: Training,
    draw: torch.Generator,
) -> tuple[Layers, list[float]]:
    """Run AdamW under one cosine and keep each member's best weights."""
    variables = [w.requires_grad_() for w in (*start.layers.weights, *start.layers.biases)]
    layers, record = start.layers, list[float]()
    optimiser = AdamW(variables, peak=training.rate, decay=training.decay, steps=training.steps)
    best, kept = torch.full((training.members,), math.inf, dtype=torch.float64), _copy(layers)
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
            kept = _keep(kept, layers, better)
            record.append(float(best.mean()))
            stale = 0 if bool(better.any()) else stale + 1
            if stale >= training.patience:
                break
    return kept, record


def _copy(layers: Layers) -> Layers:
    return Layers(
        tuple(w.detach().clone() for w in layers.weights),
        tuple(b.detach().clone() for b in layers.biases),
    )


def _keep(kept: Layers, now: Layers, better: Tensor) -> Layers:
    """Take the new weights of the members that did better."""
    choose = better[:, None, None]
    pairs = zip((*kept.weights, *kept.biases), (*now.weights, *now.biases), strict=True)
    merged = [torch.where(choose, new.detach(), old) for old, new in pairs]
    depth = len(kept.weights)
    return Layers(tuple(merged[:depth]), tuple(merged[depth:]))


def _check(theta: Tensor, inputs: Inputs, box: Box) -> None:
    if not bool(torch.isfinite(inputs.values).all()):
        raise ValueError("inputs: hold a value that is not finite")
    if not bool(boxes.contains(box, theta.double()).all()):
        raise ValueError("theta: a row lies outside the box")
