"""What `ricochet plan` expects beside what calibrations of that size reach, and how it falls.

Run by `python -m benchmarks.bouncing_ball.planned_sessions [--takes N] [--sessions N] [--falling]`.

A ping-pong ball of the paper's model and one whose restitution varies by 0.3 % from take to take
fall from 0.26 m under the simulated rig. Printed of each session, restitution and log10
concentration: the deviations that are expected of it, by Laplace's rule, and those that
`whole_chains.infer` states. With `--falling` only the expected ones are, for 5 to 40 takes.
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


def compared(ball: KnownBall, takes: int, seed: int, *, infer: bool) -> Float[ndarray, "2 2"]:
    """Return the deviations expected of a session and those its calibration states, rows."""
    draw = np.random.default_rng([seed, takes])
    chains = planned_sessions.simulate(ball, Session(takes, HEIGHT), RIG, draw=draw)
    expected = expected_posterior.of_takes(chains, ball, drag=DRAG, members=MEMBERS)
    if not infer:
        return np.array([expected, expected])
    names = [f"take {number}" for number in range(takes)]
    first = ball.theta[:2] + draw.normal(0.0, (0.003, 0.2))
    answer = whole_chains.infer(chains, names, first=first, ball=Ball(), draw=draw)
    return np.array([expected, answer.family.pair.std(0)])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--takes", type=int, default=10)
    parser.add_argument("--sessions", type=int, default=5)
    parser.add_argument("--falling", action="store_true")
    given = parser.parse_args()
    use_one_thread()
    print("scatter of takes  takes  session  expected             reached")
    for scatter in SCATTERS:
        ball = paper_ball(take_scatter=scatter)
        for takes in (5, 10, 20, 40) if given.falling else (given.takes,):
            rows = []
            for seed in range(given.sessions):
                found = compared(ball, takes, seed, infer=not given.falling)
                rows.append(found)
                print(_line(scatter, takes, str(seed), found), flush=True)
            print(_line(scatter, takes, "median", np.median(rows, axis=0)), flush=True)


def _line(scatter: float, takes: int, session: str, found: Float[ndarray, "2 2"]) -> str:
    pairs = "    ".join(f"{first:.6f}, {second:.4f}" for first, second in found)
    return f"{scatter:16.4f}  {takes:5d}  {session:>7}  {pairs}"


if __name__ == "__main__":
    main()
