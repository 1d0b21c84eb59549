"""Likelihoods of a pendulum's motion with their gradients, a core-second, beside torch's autograd.

Run by `python -m benchmarks.rigid_bodies.pendulum_likelihoods [--particles N] [--seconds S]`. A
motion of 400 steps is divided into one window and into 20; the gradient is that by all parameters
and all starts. `autograd` is what a user would write: the same steps, differentiated by torch.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.inference.fixed_noise_density import FixedNoiseDensity
from ricochet.models.inference.limits import Limits, Shares
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.systems.rigid_bodies import double_pendulum
from ricochet.models.systems.rigid_bodies.pendulum_limits import HIGH, LOW

STEPS, PERIOD, SIGMA = 400, 2.5e-3, 1.0
WINDOWS = (1, 20)
START = (2.0, -0.5, 3.0, -6.0)


@dataclass(frozen=True)
class Rate:
    """Likelihoods with gradient a second of processor time."""

    name: str
    windows: int
    ours: float
    autograd: float


def density(windows: int) -> FixedNoiseDensity:
    """Return that of a simulated motion."""
    low, high = torch.from_numpy(LOW), torch.from_numpy(HIGH)
    start = torch.tensor(START, dtype=torch.float64)[None]
    theta = low + 0.3 * (high - low)
    states = double_pendulum.roll_out(theta[None], start, steps=STEPS, duration=PERIOD)
    seen = torch.cat((start[:, None], states), 1)
    simulate = partial(double_pendulum.move, duration=PERIOD)
    shooting = Shooting(simulate, seen, windows, seen[0].std(0))
    return FixedNoiseDensity(shooting, Shares(Limits(low, high)), SIGMA)


def ours(problem: FixedNoiseDensity, u: Float[Tensor, "particle unknown"]) -> Tensor:
    """Return the gradients by the derivatives of the equations of motion."""
    return problem.expanded(u)[1]


def by_autograd(problem: FixedNoiseDensity, u: Float[Tensor, "particle unknown"]) -> Tensor:
    """Return the gradients as torch derives the same steps."""
    u = u.detach().requires_grad_()
    shooting, count = problem.shooting, problem.parameters
    first = shooting.starts[:, :1].expand(len(u), -1, -1, -1)
    rest = u[:, count:].reshape(len(u), *shooting.starts[:, 1:].shape) * shooting.scale
    starts = torch.cat((first, rest), 2)
    states = double_pendulum.roll_out(
        problem.theta(u)[:, None], starts.flatten(1, 2), steps=shooting.steps, duration=PERIOD
    ).unflatten(1, starts.shape[1:3])
    seen = shooting.observed[:, 1:].unflatten(1, (shooting.windows, shooting.steps))
    residuals = (seen - states) / shooting.scale
    defects = (starts[:, :, 1:] - states[:, :, :-1, -1]) / shooting.scale
    value = (residuals / problem.sigma).square().sum() + (defects / problem.delta).square().sum()
    return torch.autograd.grad(-0.5 * value, u)[0]


def rate(work: Callable[[], object], count: int, seconds: float) -> float:
    """Return how many are done in a second of processor time, after one that is not timed."""
    work()
    begun, done = time.process_time(), 0
    while (spent := time.process_time() - begun) < seconds:
        work()
        done += count
    return done / spent


def measured(particles: int, seconds: float) -> list[Rate]:
    """Time both, in one process and on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    found = []
    for windows in WINDOWS:
        problem = density(windows)
        share = torch.full((particles, len(LOW)), 0.3, dtype=torch.float64)
        u = problem.begun(share, np.random.default_rng(0))
        two = (rate(partial(each, problem, u), particles, seconds) for each in (ours, by_autograd))
        found.append(Rate(f"{windows} x {STEPS // windows}", windows, *two))
    torch.set_num_threads(threads)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--particles", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=5.0)
    given = parser.parse_args(arguments)
    print("windows x steps     ours, 1/s   autograd, 1/s   ratio")
    for each in measured(given.particles, given.seconds):
        ratio = each.ours / each.autograd
        print(f"{each.name:>15}{each.ours:>14.0f}{each.autograd:>16.0f}{ratio:>8.1f}")


if __name__ == "__main__":
    main()
