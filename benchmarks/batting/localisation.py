"""How well an object is found from nothing: filters over flights of which the truth is known.

Run by `python -m benchmarks.batting.localisation [--flights N] [--seconds S] [--screen-noise X]`.

An object starts anywhere, at up to 1.5 m/s and rad/s an axis, under a bat that swings at omega 0.6,
and is seen twenty times a second. `paper_200` is the filter of Fu et al., `ours` that of the
controller, and `truth_started` has 40,000 particles that begin at the truth with every shape.
"""

import argparse
from collections.abc import Sequence

from ricochet.tasks.console import table
from ricochet.tasks.systems.batting.studies import jobs, summary
from ricochet.tasks.systems.batting.studies.jobs import FILTERS, Job

COLUMNS = {
    "flights": "flights",
    "median, m": "position_m/median",
    "90 %, m": "position_m/p90",
    "right shape": "shape",
    "beyond 1 m": "lost",
    "90 % regions": "coverage_90",
    "update, ms": "update_ms/mean",
    "p99, ms": "update_ms/p99",
}


def lines(flights: int, seconds: float, screen_noise: float) -> Sequence[str]:
    """Return the table of the filters."""
    jobs.warm_up()
    rows = {}
    for row in FILTERS:
        done = [
            jobs.do(Job(row, "flight", number, seconds, screen_noise, 0))
            for number in range(flights)
        ]
        rows[row] = summary.filter_row(done)
    return table.of_records(rows, COLUMNS, label="filter")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flights", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=12.0)
    parser.add_argument("--screen-noise", type=float, default=0.02)
    given = parser.parse_args()
    for line in lines(given.flights, given.seconds, given.screen_noise):
        print(line)


if __name__ == "__main__":
    main()
