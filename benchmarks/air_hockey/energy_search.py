"""One iteration of the search for the shooting angle, compared with the alternatives.

    python -m benchmarks.air_hockey.energy_search

A network 7-128-128-1 and 256 samples, as in a control period of 20 ms: Algorithm 1 in numpy (ours),
the same with the network in torch, the network asked at each angle without sharing what the angles
have in common, and the expert's way: 256 shots rolled out. Then other numbers of samples, in which
the time of the thread says what another load on the machine does not touch.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch

from ricochet.models.systems.air_hockey.shots import energy_network, energy_search, objective
from ricochet.models.systems.air_hockey.shots.energy_network import Energy
from ricochet.models.systems.air_hockey.shots.energy_search import Samples
from ricochet.models.systems.air_hockey.table import LARGEST_ANGLE
from tests.oracles.hockey_modes import CONDITIONS

HIDDEN = 128
TARGET = 0.3  # ms
STATE = np.array([-0.4, 0.2, 0.05, -0.02, 0.05, 0.03])


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2000, help="iterations of ours")
    repeats = parser.parse_args().repeats
    torch.set_num_threads(1)
    net = network()
    print(f"{'one iteration, ms':36s}{'samples':>8s}{'median':>9s}{'p99':>9s}", end="")
    print(f"{'processor median':>18s}{'p99':>9s}")
    for name, count, run, times in rows(net, repeats):
        wall, thread = measure(run, energy_search.init(count), times).T
        print(f"{name:36s}{count:8d}{np.median(wall):9.3f}{np.quantile(wall, 0.99):9.3f}", end="")
        print(f"{np.median(thread):18.3f}{np.quantile(thread, 0.99):9.3f}")
        if (name, count) == ("Algorithm 1, numpy (ours)", 256):
            verdict = "met" if np.median(thread) <= TARGET else "MISSED"
            print(f"  target {TARGET} ms on one core, processor: {verdict}")


def network() -> Energy:
    """Return a network of the size that is trained."""
    draw = np.random.default_rng(0)
    shapes = ((7,), (7,), (7, HIDDEN), (HIDDEN,), (HIDDEN, HIDDEN), (HIDDEN,), (HIDDEN,))
    numbers = [(draw.standard_normal(s) / np.sqrt(s[0])).astype(np.float32) for s in shapes]
    numbers[1] = np.ones(7, np.float32)
    return Energy(*numbers)


Iteration = Callable[[Samples, np.random.Generator], Samples]


def rows(net: Energy, repeats: int) -> list[tuple[str, int, Iteration, int]]:
    """Return what is measured: name, samples, one iteration, how often."""

    def ours(samples: Samples, draw: np.random.Generator) -> Samples:
        return energy_search.step(net, STATE, samples, draw=draw)[0]

    table = [("Algorithm 1, numpy (ours)", count, ours, repeats) for count in (256, 64, 1024)]
    table.append(("the network in torch", 256, in_torch(net), repeats))
    table.append(("the network without sharing", 256, unshared(net), repeats))
    table.append(("the expert: roll-outs", 256, rolled_out, max(repeats // 50, 3)))
    return table


def in_torch(net: Energy) -> Iteration:
    """Algorithm 1 with torch's tensors throughout."""
    layers = [torch.from_numpy(n) for n in energy_network.to_arrays(net).values()]
    location, scale, first, first_offset, second, second_offset, last = layers
    state = torch.from_numpy(STATE.astype(np.float32))
    draw = torch.Generator().manual_seed(0)

    @torch.no_grad()
    def run(samples: Samples, _: np.random.Generator) -> Samples:
        shares = torch.from_numpy(samples.shares)
        chosen = torch.multinomial(shares, len(shares), replacement=True, generator=draw)
        angles = torch.from_numpy(samples.angles)[chosen].float()
        angles += samples.sigma * torch.randn(len(shares), generator=draw)
        angles = angles.clamp(-LARGEST_ANGLE, LARGEST_ANGLE)
        inputs = torch.cat((state.expand(len(shares), 6), angles[:, None]), 1)
        units = torch.relu((inputs - location) / scale @ first + first_offset)
        found = torch.relu(units @ second + second_offset) @ last
        after = torch.softmax(-found.double(), 0).numpy()
        return Samples(angles.double().numpy(), after, samples.sigma)

    return run


def unshared(net: Energy) -> Iteration:
    """Algorithm 1 with the whole first layer for each angle."""

    def run(samples: Samples, draw: np.random.Generator) -> Samples:
        count = len(samples.angles)
        chosen = draw.choice(count, count, p=samples.shares / samples.shares.sum())
        angles = samples.angles[chosen] + samples.sigma * draw.standard_normal(count)
        angles = angles.clip(-LARGEST_ANGLE, LARGEST_ANGLE)
        found = energy_network.evaluate(net, np.tile(STATE, (count, 1)), angles).astype(np.float64)
        shares = np.exp(found.min() - found)
        return Samples(angles, shares / shares.sum(), samples.sigma)

    return run


def rolled_out(samples: Samples, draw: np.random.Generator) -> Samples:
    """Evaluate the angles themselves."""
    objective.evaluate(CONDITIONS, np.tile(STATE, (len(samples.angles), 1)), samples.angles)
    return samples


def measure(run: Iteration, samples: Samples, times: int) -> np.ndarray:
    """Return wall clock and processor time of iterations that start from each other, ms."""
    draw, spent = np.random.default_rng(0), []
    for _ in range(times + 10):
        wall, thread = time.perf_counter(), time.thread_time()
        samples = run(samples, draw)
        spent.append((time.perf_counter() - wall, time.thread_time() - thread))
    return 1e3 * np.array(spent)[10:]


if __name__ == "__main__":
    main()
