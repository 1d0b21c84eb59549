"""What `ricochet plan` expects beside what calibrations of that size reach, and how it falls.

Run by `python -m benchmarks.bouncing_ball.planned_sessions [--takes N] [--sessions N] [--falling]`.

A ping-pong ball of the paper's model and one whose restitution varies by 0.3 % from take to take
fall from 0.26 m under the simulated rig. Expected: the median of simulated sessions, by Laplace's
rule. Reached: the deviations that `whole_chains.infer` states for other sessions, their median and
least and greatest. With `--falling` only the expected ones are printed, for 5 to 80 takes.
"""

import argparse

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.microphones import interface
from ricochet.models.systems.bouncing_ball.calibration import whole_chains
from ricochet.models.systems.bouncing_ball.calibration.whole_chains import Ball
from ricochet.models.systems.bouncing_ball.planning import expected_posterior, planned_sessions
from ricochet.models.systems.bouncing_ball.planning.planned_sessions import KnownBall, Rig, Session
from ricochet.tasks.console.threads import use_one_thread
from tests.oracles.planned_balls import DRAG, MEMBERS, paper_ball

RIG = Rig(interface.default_rig("simulated").array())
SCATTERS = (1e-4, 3e-3)
HEIGHT = 0.26


def expected(ball: KnownBall, takes: int, seed: int) -> Float[ndarray, " 2"]:
    """Return the deviations that are expected of one session."""
    draw = np.random.default_rng([seed, takes])
    session = Session(takes, HEIGHT)
    return expected_posterior.deviations(ball, session, RIG, drag=DRAG, members=MEMBERS, draw=draw)


def reached(ball: KnownBall, takes: int, seed: int) -> Float[ndarray, " 2"]:
    """Return the deviations that a calibration of another session states."""
    draw = np.random.default_rng([seed, takes, 1])
    chains = planned_sessions.simulate(ball, Session(takes, HEIGHT), RIG, draw=draw)
    names = [f"take {number}" for number in range(takes)]
    first = ball.theta[:2] + draw.normal(0.0, (0.003, 0.2))
    answer = whole_chains.infer(chains, names, first=first, ball=Ball(), draw=draw)
    return np.asarray(answer.family.pair.std(0))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--takes", type=int, default=10)
    parser.add_argument("--sessions", type=int, default=5)
    parser.add_argument("--falling", action="store_true")
    given = parser.parse_args()
    use_one_thread()
    print("scatter of takes  takes  expected             reached: median    (least to greatest)")
    for scatter in SCATTERS:
        ball, seeds = paper_ball(take_scatter=scatter), range(given.sessions)
        for takes in (5, 10, 20, 40, 80) if given.falling else (given.takes,):
            middle = np.median([expected(ball, takes, seed) for seed in seeds], axis=0)
            line = f"{scatter:16.4f}  {takes:5d}  {middle[0]:.6f}, {middle[1]:.4f}"
            if not given.falling:
                found = np.array([reached(ball, takes, seed) for seed in seeds])
                for column, digits in zip(found.T, (6, 4), strict=True):
                    ends = f"({column.min():.{digits}f} to {column.max():.{digits}f})"
                    line += f"   {np.median(column):.{digits}f} {ends}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
