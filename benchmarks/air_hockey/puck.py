"""Cost of filtering and predicting a puck: `python -m benchmarks.air_hockey.puck [--repeats N]`.

Printed, in microseconds of one core: a period of the filter, without contact, with a bank and with
a strike; a prediction of a second by tabled flights, floating and with banks, and the same by
single periods; and a period of 100000 roll-outs, each, and the same by a loop over them.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

from ricochet.models.systems.air_hockey.puck import dynamics, piecewise_filter
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles import hockey_modes

TABLE = Table()
MODES = hockey_modes.MODES


def cost(call: Callable[[], object], repeats: int) -> float:
    """Median wall clock of a call, microseconds."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return 1e6 * float(np.median(taken))


def known(x: float, y: float, vx: float, vy: float) -> piecewise_filter.State:
    """A filter that knows a puck well."""
    state = piecewise_filter.init(MODES, TABLE, position=np.array((x, y)))
    mean = np.array((x, y, vx, vy, 0.0, 0.0))
    spread = np.diag(np.repeat((1e-3, 0.01, 0.03), 2) ** 2)
    return piecewise_filter.State(mean, spread, MODES, TABLE, state.noise)


def singly(state: piecewise_filter.State) -> None:
    """Predict a second by fifty periods."""
    mean, covariance = state.mean, state.covariance
    for _ in range(50):
        mean, covariance = dynamics.step(MODES, mean, covariance, TABLE)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=500)
    repeats = parser.parse_args().repeats
    calm, wall = known(0.0, 0.0, 0.3, 0.1), known(0.0, 0.48, 0.5, 1.0)
    mallet, speed = np.array((-0.070, 0.0)), np.array((1.0, 0.0))
    rows = [
        ("filter, floating", lambda: piecewise_filter.update(calm, np.array((0.006, 0.002)))),
        ("filter, bank", lambda: piecewise_filter.update(wall, np.array((0.01, 0.478)))),
        (
            "filter, strike",
            lambda: piecewise_filter.update(calm, None, mallet=mallet, mallet_velocity=speed),
        ),
        ("a second, floating", lambda: piecewise_filter.predict(calm, 1.0)),
        ("a second, with banks", lambda: piecewise_filter.predict(wall, 1.0)),
        ("a second, by single periods", lambda: singly(wall)),
    ]
    for name, call in rows:
        print(f"{name:36s}{cost(call, repeats):10.1f}")
    draw, count = np.random.default_rng(0), 100_000
    means = np.concatenate((draw.uniform(-0.45, 0.45, (count, 2)), draw.normal(size=(count, 4))), 1)
    spreads = np.broadcast_to(calm.covariance, (count, 6, 6))
    batch = cost(lambda: dynamics.step(MODES, means, spreads, TABLE), 5) / count
    print(f"{'period of a roll-out, batched':36s}{batch:10.3f}")
    alone = cost(lambda: dynamics.step(MODES, means[0], spreads[0], TABLE), repeats)
    print(f"{'period of a roll-out, one by one':36s}{alone:10.3f}")


if __name__ == "__main__":
    main()
