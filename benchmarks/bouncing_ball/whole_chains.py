"""What it costs to explain whole takes by the family of models.

Run by `python -m benchmarks.bouncing_ball.whole_chains`.

For simulated sessions of a ping-pong ball in air, and some takes and bounces each: seconds of the
processor, paths at parameter points that were tried (`laplace.problems_of`), effective draws of the
least sampled member that has a say, and how far the answer is from the truth in its deviations.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np

from ricochet.models.systems.bouncing_ball import air
from ricochet.models.systems.bouncing_ball.calibration import whole_chains
from ricochet.models.systems.bouncing_ball.calibration.whole_chains import Ball, ChainAnswer
from ricochet.models.systems.bouncing_ball.chains import laplace
from ricochet.models.systems.bouncing_ball.chains.observations import Take
from ricochet.models.systems.bouncing_ball.chains.paths import Paths
from tests.oracles.simulated_chains import Case, session

SIZES = ((10, 6), (20, 8))
"""Takes and bounces."""
TRUTH = np.array([0.85, 3.5])
BALL = air.COMMON_BALLS["ping-pong"]


def answered(takes: list[Take]) -> tuple[ChainAnswer, float, int]:
    """Return the answer, the seconds of the processor, and the number of paths tried."""
    tried = 0
    problems_of: Callable[..., Any] = laplace.problems_of

    def counted(groups: Any, paths: Paths, values: Any) -> Any:
        nonlocal tried
        tried += len(paths.shared)
        return problems_of(groups, paths, values)

    names = [f"take {number}" for number in range(len(takes))]
    first, draw = TRUTH + np.array([0.003, -0.2]), np.random.default_rng(0)
    start = time.process_time()
    with mock.patch.object(laplace, "problems_of", counted):
        answer = whole_chains.infer(takes, names, first=first, ball=Ball(BALL), draw=draw)
    return answer, time.process_time() - start, tried


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    heads = ("takes", "bounces", "seconds", "paths tried", "effective", "e off", "log k off")
    print("".join(f"{head:>13s}" for head in heads))
    for count, bounces in SIZES:
        takes = session(Case(count, bounces, units={"drag": air.drag(BALL)}), arguments.seed)
        answer, spent, tried = answered(takes)
        pair = answer.family.pair
        off = (pair.mean(0) - TRUTH) / pair.std(0)
        print(
            f"{count:13d}{bounces:13d}{spent:13.1f}{tried:13d}{answer.family.effective:13.0f}"
            f"{off[0]:13.2f}{off[1]:13.2f}"
        )


if __name__ == "__main__":
    main()
