"""Cost of one step of the belief controller.

Run by `python -m benchmarks.bouncing_ball.belief [--tosses N]`.

Tosses of the three balls with draws of the paper's posterior, and of the real ping-pong ball with
draws of the family, detected with errors of 1 mm and one position in seven wrong, go through
the controller on one core. Printed: wall clock and processor time of the thread a step (other work
on the machine does not touch the latter), by the number of the bounce.
"""

import argparse
import time

import numpy as np
import torch

from ricochet.models.sound.impact_stream import BounceEvent
from ricochet.models.systems.bouncing_ball import contact_draws
from ricochet.models.systems.bouncing_ball.balls import BALLS, REAL_PING_PONG, Ball
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.tracking import belief_intercept
from ricochet.models.systems.bouncing_ball.tracking import toss as ball_toss
from ricochet.models.systems.bouncing_ball.tracking.toss import Toss
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace

MICROPHONES = np.array([[-0.30, -0.25, 0.0762], [0.25, -0.30, 0.0762], [0.0, 0.32, 0.0762]])


def events(toss: Toss, draw: np.random.Generator, sd: float = 1e-3) -> list[BounceEvent]:
    """The events of a toss, off by `sd`, m."""
    found = []
    for when, place in zip(toss.times, toss.positions[:, :2], strict=True):
        off = draw.normal(0.0, 0.1 if draw.random() < 1 / 7 else sd, 2)
        covariance = sd**2 * np.eye(2)
        found.append(BounceEvent(when, when + 8e-4, place + off, covariance, False, 20.0))
    return found


def pairs(ball: Ball, draw: np.random.Generator) -> ContactDraws:
    """Draws of the paper's posterior."""
    theta = np.column_stack(
        (
            draw.normal(ball.restitution, 0.002, 200),
            draw.normal(ball.log10_concentration, 0.04, 200),
        )
    )
    return contact_draws.of_pairs(torch.from_numpy(theta))


def family(ball: Ball) -> ContactDraws:
    """Draws of a ball in air, whose restitution falls with speed."""
    return ball.nature.rows(torch.zeros(200, dtype=torch.long))


def costs(
    ball: Ball, draws: ContactDraws, tosses: int, draw: np.random.Generator
) -> list[tuple[int, float, float]]:
    """Bounce, wall clock and processor time of each step, s."""
    rows = []
    source = torch.Generator().manual_seed(1)
    for seed, toss in enumerate(ball_toss.tosses(ball, tosses, draw=source)):
        state = belief_intercept.init(
            draws, Workspace(), ball_radius=ball.radius, seed=seed, microphones=MICROPHONES
        )
        for number, event in enumerate(events(toss, draw), start=1):
            wall, thread = time.perf_counter(), time.thread_time()
            state, _ = belief_intercept.step(
                state, event, now=event.time + 0.015, paddle=(0.0, 0.2)
            )
            rows.append((number, time.perf_counter() - wall, time.thread_time() - thread))
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tosses", type=int, default=100, help="tosses a ball")
    tosses = parser.parse_args().tosses
    torch.set_num_threads(1)
    draw = np.random.default_rng(1)
    for title, known in (
        ("pairs", [(ball, pairs(ball, draw)) for ball in BALLS.values()]),
        ("family", [(REAL_PING_PONG, family(REAL_PING_PONG))]),
    ):
        for ball, draws in known:
            costs(ball, draws, 3, draw)  # warm up
        rows = [row for ball, draws in known for row in costs(ball, draws, tosses, draw)]
        _print(title, 1e3 * np.array(rows))


def _print(title: str, table: np.ndarray) -> None:
    columns = f"{'wall median':>14s}{'p99':>8s}{'cpu median':>14s}{'p99':>8s}"
    print(f"{title + ', step, ms':20s}{'steps':>8s}{columns}")
    for name, rows in (
        ("bounce 1", table[table[:, 0] == 1e3]),
        ("bounce 2", table[table[:, 0] == 2e3]),
        ("later", table[table[:, 0] > 2e3]),
        ("all", table),
    ):
        wall, thread = (np.quantile(rows[:, column], (0.5, 0.99)) for column in (1, 2))
        print(
            f"{name:20s}{len(rows):8d}{wall[0]:14.2f}{wall[1]:8.2f}{thread[0]:14.2f}{thread[1]:8.2f}"
        )


if __name__ == "__main__":
    main()
