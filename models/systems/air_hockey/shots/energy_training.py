r"""Training of the energy by InfoNCE: the best of the tried angles against the others.

For states s_i with tried angles u_i^j, of which u_i is the best (`objective.best`), the loss is

    L = - sum_i log p(u_i | s_i),    p = exp(-E(s_i, u_i)) / sum_j exp(-E(s_i, u_i^j))  (Eqs. 14-15)

by Adam with a rate that decays along a cosine. Each step compares with `against` of the other
angles of a state, other ones each time: the energy of all of them costs more than it teaches. A
tenth of the states is held out, and the weights that did best there are kept.

Source: Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air
Hockey", Secs. IV-C and V-A2; van den Oord et al. 2018, arXiv 1807.03748.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray
from torch import Tensor

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference.adamw import AdamW
from ricochet.models.systems.air_hockey.shots.energy_network import STATE, Energy

LOOKS = 50
"""How often the loss on the held-out states is evaluated."""
_HELD_OUT = 0.1  # share of the states
_CLIP = 10.0  # largest norm of a gradient


@dataclass(frozen=True)
class Training:
    """Size and schedule.

    Attributes:
        epochs: Times that each state is used.
        rate: Highest learning rate.
        against: Angles that the best is compared with in one step.
    """

    hidden: int = 128
    epochs: int = 90
    batch: int = 128
    rate: float = 1.5e-3
    against: int = 24


@dataclass(frozen=True, eq=False)
class Fit:
    """A trained energy.

    Attributes:
        training: Mean loss of the steps before each look, nats, against `Training.against` others.
        held_out: Loss on the held-out states at each look, nats, against all others.
    """

    energy: Energy
    training: tuple[float, ...]
    held_out: tuple[float, ...]

    @property
    def lowest(self) -> float:
        """Held-out loss of the weights that were kept, nats."""
        return min(self.held_out)


def fit(
    states: Float[ndarray, "state 6"],
    angles: Float[ndarray, "state angle"],
    best: Int[ndarray, " state"],
    *,
    training: Training | None = None,
    draw: torch.Generator,
    progress: Progress = no_progress,
) -> Fit:
    """Train an energy.

    Args:
        states, angles: Of the puck at contact, m, m/s, m/s^2, and tried for each, rad.
        best: Number of the best of them.

    Raises:
        ValueError: If a number is not finite, or there are too few states.
    """
    training = training or Training()
    if not (np.isfinite(states).all() and np.isfinite(angles).all()):
        raise ValueError("states, angles: every number must be finite")
    held = max(int(_HELD_OUT * len(states)), 1)
    if len(states) - held < 2:
        raise ValueError(f"states: {len(states)} are too few to train on")
    location, scale = _normal(states, angles)
    inputs = [(n - a) / b for n, a, b in ((states, location[:STATE], scale[:STATE]),
                                          (angles, location[STATE], scale[STATE]))]  # fmt: skip
    single = [torch.from_numpy(n.astype(np.float32)) for n in inputs]
    pairs = _Pairs(single[0], single[1], torch.from_numpy(best.astype(np.int64)))
    layers, losses, looks = _descend(pairs, held, training, draw, progress)
    numbers = [n.astype(np.float32) for n in (location, scale)]
    energy = Energy(*numbers, *(layer.detach().numpy().copy() for layer in layers))
    return Fit(energy, tuple(losses), tuple(looks))


@dataclass(frozen=True)
class _Pairs:
    """Scaled states and angles, and which angle is the best."""

    states: Float[Tensor, "state 6"]
    angles: Float[Tensor, "state angle"]
    best: Int[Tensor, " state"]


def _normal(
    states: Float[ndarray, "state 6"], angles: Float[ndarray, "state angle"]
) -> tuple[Float[ndarray, " input"], Float[ndarray, " input"]]:
    """Return mean and standard deviation of the network's inputs."""
    location = np.append(states.mean(0), angles.mean())
    return location, np.maximum(np.append(states.std(0), angles.std()), 1e-6)


def _start(hidden: int, draw: torch.Generator) -> list[Tensor]:
    """Return random weights (He et al. 2015) and offsets spread over the inputs."""

    def layer(rows: int, gain: float) -> Tensor:
        return gain / math.sqrt(rows) * torch.randn((rows, hidden), generator=draw)

    layers = [layer(STATE + 1, 2.0), layer(1, 0.5)[0], layer(hidden, math.sqrt(2.0))]
    layers += [torch.zeros(hidden), layer(1, 1.0 / math.sqrt(hidden))[0]]
    return [each.requires_grad_() for each in layers]


def _descend(
    pairs: _Pairs,
    held: int,
    training: Training,
    draw: torch.Generator,
    progress: Progress,
) -> tuple[list[Tensor], list[float], list[float]]:
    """Return the weights that did best on the first `held` states, and both losses by look."""
    layers = _start(training.hidden, draw)
    per_epoch = math.ceil((len(pairs.states) - held) / training.batch)
    steps = training.epochs * per_epoch
    adam = AdamW(layers, peak=training.rate, decay=0.0, steps=steps)
    losses, looks, recent = [], [], []
    kept, every = layers, max(steps // LOOKS, 1)
    for step in range(steps):
        if step % per_epoch == 0:
            order = held + torch.randperm(len(pairs.states) - held, generator=draw)
        first = step % per_epoch * training.batch
        loss = _against(layers, pairs, order[first : first + training.batch], training, draw)
        adam.descend(loss, clip=_CLIP)
        recent.append(loss.item())
        if (step + 1) % every == 0 or step + 1 == steps:
            looks.append(_held_out(layers, pairs, held))
            losses.append(sum(recent) / len(recent))
            recent = []
            if looks[-1] <= min(looks):
                kept = [layer.detach().clone() for layer in layers]
            progress(step + 1, steps)
    return kept, losses, looks


def _against(
    layers: list[Tensor],
    pairs: _Pairs,
    rows: Int[Tensor, " row"],
    training: Training,
    draw: torch.Generator,
) -> Float[Tensor, ""]:
    """Return the loss of some states against some of their other angles."""
    best, count = pairs.best[rows, None], pairs.angles.shape[1]
    others = torch.randint(count - 1, (len(rows), training.against), generator=draw)
    others += others >= best
    angles = pairs.angles[rows[:, None], torch.cat((best, others), 1)]
    return _loss(layers, pairs.states[rows], angles, torch.zeros_like(rows))


def _held_out(layers: list[Tensor], pairs: _Pairs, held: int) -> float:
    """Return the loss of the held-out states against all their angles."""
    with torch.no_grad():
        return _loss(layers, pairs.states[:held], pairs.angles[:held], pairs.best[:held]).item()


def _loss(
    layers: list[Tensor],
    states: Float[Tensor, "row 6"],
    angles: Float[Tensor, "row angle"],
    best: Int[Tensor, " row"],
) -> Float[Tensor, ""]:
    """Return the mean of -log p over states (Eqs. 14-15)."""
    first, first_offset, second, second_offset, last = layers
    shared = states @ first[:STATE] + first_offset
    units = torch.relu(shared[:, None] + angles[..., None] * first[STATE])
    energies = torch.relu(units @ second + second_offset) @ last
    return torch.nn.functional.cross_entropy(-energies, best)
