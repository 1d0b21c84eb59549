"""Looking 10,000 samples ahead: bounces simulated and bounces of a trained density, in one run.

    python -m benchmarks.bouncing_ball.lookahead

From two bounces of a tossed ball, n = 10 samples of each next bounce, k = 4 bounces ahead, a plane
that none reaches: all 11,110 bounces are drawn, 10,000 of them the last. Ours simulates the contact
of each draw of the posterior (`family_transitions`), of pairs and of a ball whose restitution falls
with speed in air. The others draw from the paper's trained density of the pairs: tabulated; one
mixture at a time with torch.distributions, as a loop over samples does
(and as `sbi`'s posteriors, conditioned on one observation, make one do); and the whole batch of a
level at once through the network with this project's own torch sampler. Wall clock, and processor
time of the thread, which other work on the machine does not touch. Then: how often regions and
intervals of the next bounce hold it, with exact binomial intervals.
"""

import argparse
import functools
import time
from collections.abc import Callable

import numpy as np
import torch

from ricochet.models.core.constants import GRAVITY
from ricochet.models.inference import calibration_checks
from ricochet.models.probability import truncated_mixtures
from ricochet.models.systems.bouncing_ball import contact_draws, contact_table
from ricochet.models.systems.bouncing_ball.balls import BALLS, REAL_PING_PONG
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.prediction import (
    family_transitions,
    lookahead,
    transition_density,
    transition_sampler,
)
from ricochet.models.systems.bouncing_ball.prediction.lookahead import LastBounces, Law, NextBounces
from ricochet.models.systems.bouncing_ball.prediction.transition_density import (
    Flights,
    Transition,
)

POSTERIOR_SD = (0.002, 0.05)
LAST = LastBounces(0.35, (-0.2, 0.0), (0.12, 0.02))
SAMPLES = 400
DEPTH, BRANCHES, FAR = 4, 10, 9.0
OURS = ("simulated, pairs (ours)", "simulated, in air (ours)")
TARGET = (5.0, 10.0)  # ms, median and p99


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000, help="look-aheads of ours")
    parser.add_argument("--cases", type=int, default=5000, help="bounces a ball for coverage")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    trained = {name: train(name) for name in BALLS}
    _print_costs(trained["ping-pong"], arguments.repeats)
    for name, transition in trained.items():
        _print_coverage(name, transition, arguments.cases)


def train(ball: str) -> Transition:
    """Train on a posterior as a hundred drops leave it."""
    draw = torch.Generator().manual_seed(1)
    return transition_density.train(posterior(ball, 4000, draw), draw=draw)


def posterior(ball: str, count: int, draw: torch.Generator) -> torch.Tensor:
    """Draws of restitution and log10 concentration as a hundred drops leave them."""
    centre, spread = (
        torch.tensor(n, dtype=torch.float64) for n in (BALLS[ball].theta, POSTERIOR_SD)
    )
    return centre + spread * torch.randn((count, 2), generator=draw, dtype=torch.float64)


def by_batches(transition: Transition) -> Callable[..., NextBounces]:
    """Run the network on a level's parents at once and draw with torch."""
    draw = torch.Generator().manual_seed(0)

    def next_bounces(
        times: np.ndarray, distances: np.ndarray, count: int, _: np.random.Generator
    ) -> NextBounces:
        last = Flights(*(torch.from_numpy(n) for n in (times, distances, 0.0 * times)))
        mixture = transition_density.mixture(transition, last)
        return _flights(truncated_mixtures.sample(mixture, count, draw=draw).movedim(0, 1), last)

    return next_bounces


def one_at_a_time(transition: Transition) -> Callable[..., NextBounces]:
    """Make a torch.distributions mixture for each parent in a loop; the cut is left out."""

    def next_bounces(
        times: np.ndarray, distances: np.ndarray, count: int, _: np.random.Generator
    ) -> NextBounces:
        rows = []
        last = Flights(*(torch.from_numpy(n) for n in (times, distances, 0.0 * times)))
        for index in range(len(times)):
            one = Flights(*(field[index, None] for field in (last.time, last.distance, last.turn)))
            mixture = transition_density.mixture(transition, one)
            factor = torch.eye(3, dtype=torch.float64) - mixture.slope[0]
            lower = torch.linalg.solve_triangular(
                factor, torch.diag_embed(mixture.sd[0]), upper=False
            )
            law = torch.distributions.MixtureSameFamily(
                torch.distributions.Categorical(logits=mixture.log_weights[0]),
                torch.distributions.MultivariateNormal(mixture.mean[0], scale_tril=lower),
            )
            where = mixture.coordinates
            assert where is not None
            rows.append(where.location + where.scale * torch.sinh(law.sample((count,))))
        return _flights(torch.stack(rows), last)

    return next_bounces


def _flights(point: torch.Tensor, last: Flights) -> NextBounces:
    energy, elevation, side = point.unbind(-1)
    s = transition_density.slope(last)[:, None]
    speed = torch.sqrt(s**2 + 0.25 * energy**2)
    flat = speed * torch.cos(side)
    tau = (2.0 * flat * torch.sin(elevation)).clamp(min=1e-12)
    reach = GRAVITY * last.time[:, None] ** 2 * tau
    along, across = reach * flat * torch.cos(elevation), reach * speed * torch.sin(side)
    return NextBounces((last.time[:, None] * tau).numpy(), along.numpy(), across.numpy())


def simulated(draws: ContactDraws) -> Law:
    """The sampler that simulates contacts."""
    return functools.partial(family_transitions.sample, contact_table.tabulate(draws))


def tabulated(transition: Transition) -> Law:
    """The sampler of the tabulated density."""
    return functools.partial(transition_sampler.sample, transition_sampler.tabulate(transition))


def _print_costs(transition: Transition, repeats: int) -> None:
    pairs = posterior("ping-pong", 4000, torch.Generator().manual_seed(1))
    real = REAL_PING_PONG.nature.rows(torch.zeros(4000, dtype=torch.long))
    methods = (
        (OURS[0], simulated(contact_draws.of_pairs(pairs)), repeats),
        (OURS[1], simulated(real), repeats),
        ("density, tabulated", tabulated(transition), repeats),
        ("network, batches in torch", by_batches(transition), max(repeats // 5, 3)),
        ("torch.distributions, a loop", one_at_a_time(transition), 5),
    )
    print(f"{'10,000 samples ahead, ms':30s}{'runs':>6s}{'median':>10s}{'p99':>10s}", end="")
    print(f"{'processor median':>18s}{'p99':>10s}")
    for name, law, count in methods:
        draw = np.random.default_rng(0)
        spent = np.array([_cost(law, draw) for _ in range(count + 1)])[1:] * 1e3
        wall, thread = spent.T
        print(f"{name:30s}{count:6d}{np.median(wall):10.2f}{np.quantile(wall, 0.99):10.2f}", end="")
        print(f"{np.median(thread):18.2f}{np.quantile(thread, 0.99):10.2f}")
        if name in OURS:
            met = np.median(thread) <= TARGET[0] and np.quantile(thread, 0.99) <= TARGET[1]
            verdict = "met" if met else "MISSED"
            print(f"  target {TARGET[0]:g} ms median, {TARGET[1]:g} ms p99, processor: {verdict}")


def _cost(law: Callable[..., NextBounces], draw: np.random.Generator) -> tuple[float, float]:
    wall, thread = time.perf_counter(), time.thread_time()
    found = lookahead.sample(LAST, law, plane=FAR, depth=DEPTH, branches=BRANCHES, draw=draw)
    assert found.missed > 0.999
    return time.perf_counter() - wall, time.thread_time() - thread


def _print_coverage(name: str, transition: Transition, cases: int) -> None:
    """Regions of (time, distance, turn), in departures' coordinates, and intervals of each."""
    draw = torch.Generator().manual_seed(4)
    theta = posterior(name, cases, draw)
    last, after = transition_density.simulate(theta, cases, draw=draw)
    mixture = transition_density.mixture(transition, last)
    truth = truncated_mixtures.log_density(mixture, transition_density.departure(last, after))
    samples = truncated_mixtures.sample(mixture, SAMPLES, draw=draw)
    above = (truncated_mixtures.log_density(mixture, samples) > truth).sum(0).numpy()
    place = np.random.default_rng(7).random(len(above))  # spread over the cell of its rank
    rows = [("region", (above + place) / (SAMPLES + 1))]
    drawn = tabulated(transition)(
        last.time.numpy(), last.distance.numpy(), SAMPLES, np.random.default_rng(5)
    )
    triples = np.stack((drawn.time, drawn.distance, drawn.turn), axis=-1)
    after_rows = np.column_stack([n.numpy() for n in (after.time, after.distance, after.turn)])
    ranks = calibration_checks.ranks(triples, after_rows, draw=np.random.default_rng(6))
    for label, column in zip(("time", "distance", "turn"), ranks.T, strict=True):
        rows.append((label, np.abs(2.0 * column - 1.0)))
    print(f"\n{name}: {len(truth)} next bounces, {-float(truth.mean()):.3f} nats")
    for label, levels in rows:
        found = calibration_checks.coverage(levels)
        cells = [
            f"{100 * r.nominal:.0f} %: {r.found:.3f} [{r.low:.3f}, {r.high:.3f}]" for r in found
        ]
        print(f"  {label:10s}" + "   ".join(cells))


if __name__ == "__main__":
    main()
