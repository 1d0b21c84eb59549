"""What the belief controller loses under wrong assumptions.

Run by `python -m benchmarks.bouncing_ball.misspecification`.

Tosses of the three balls in the twin laboratory, with one bounce in six an outlier, are run with
the controller's default assumptions, then assuming other outlier rates, other detours and other
hands. The tosses stay the same. Printed: share touched of those that could be, and energy, in the
mean of the balls; for the differences in the share, their standard error over tosses.
"""

import argparse
from typing import Any

import numpy as np
import torch

from ricochet.hardware.robots.simulated import SimulatedArm
from ricochet.models.systems.bouncing_ball import contact_draws
from ricochet.models.systems.bouncing_ball.balls import BALLS
from ricochet.models.systems.bouncing_ball.tracking import belief_intercept
from ricochet.models.systems.bouncing_ball.tracking.bounce_filter import TossPrior
from ricochet.models.systems.bouncing_ball.tracking.event_hypotheses import SensorModel
from ricochet.models.systems.bouncing_ball.tracking.late_arrivals import Detour
from ricochet.models.systems.bouncing_ball.tracking.outcomes import Outcome
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
from ricochet.tasks.general_settings import Capture
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.studies import tracking as study
from ricochet.tasks.systems.bouncing_ball.tracking import control_loop
from ricochet.tasks.systems.bouncing_ball.tracking.control_loop import Controller
from ricochet.tasks.systems.bouncing_ball.tracking.laboratory import open_laboratory
from ricochet.tasks.systems.bouncing_ball.validation import simulated_trials

ASSUMPTIONS: dict[str, dict[str, Any]] = {
    "the defaults": {},
    "5 % outliers": {"sensor": SensorModel(outlier_rate=0.05)},
    "40 % outliers": {"sensor": SensorModel(outlier_rate=0.40)},
    "no late arrivals": {"sensor": SensorModel(late_share=0.0)},
    "detours of 0.10 +- 0.04 m": {"detour": Detour(mean=0.10, sd=0.04)},
    "detours of 0.35 +- 0.04 m": {"detour": Detour(mean=0.35, sd=0.04)},
    "hand slower by 0.15 m/s": {"toss_prior": TossPrior(velocity=(0.35, 0.0))},
    "hand faster by 0.15 m/s": {"toss_prior": TossPrior(velocity=(0.65, 0.0))},
    "first contact 0.1 m farther": {"toss_prior": TossPrior(position=(-0.04, 0.05))},
    "prior twice as wide": {
        "toss_prior": TossPrior(position_sd=(0.3, 0.3), velocity_sd=(0.4, 0.3), flight_sd=0.2)
    },
}


def detected_tosses(number: int, about: Settings) -> list[Any]:
    """Each toss of each ball, and the events of it."""
    rows = []
    for ball in BALLS.values():
        for index in range(number):
            laboratory = open_laboratory(about, ball=ball, seed=study.SEED + index)
            events = list(control_loop.listen(laboratory.toss()))
            rows.append((ball, index, events, laboratory.truth_for_evaluation().toss))
    return rows


def run_tosses(rows: list[Any], assumed: dict[str, Any], about: Settings) -> list[Outcome]:
    """Run the belief controller on every toss under some assumptions."""
    outcomes = []
    for ball, index, events, toss in rows:
        draw = np.random.default_rng(index)
        theta = draw.normal(ball.theta, (0.002, 0.04), (200, 2))
        state = belief_intercept.init(
            contact_draws.of_pairs(torch.from_numpy(theta)),
            Workspace(),
            ball_radius=ball.radius,
            seed=index,
            microphones=np.array(about[Capture].microphones),
            **assumed,
        )
        done = control_loop.run_control_loop(
            Controller(state, belief_intercept.step),
            events,
            SimulatedArm(Workspace()),
            until=simulated_trials.end_of(toss),
        )
        outcomes.append(simulated_trials.outcome_of(done, toss, events, workspace=Workspace()))
    return outcomes


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tosses", type=int, default=100, help="tosses a ball")
    number = parser.parse_args().tosses
    torch.set_num_threads(1)
    about = catalogue.load_settings(None, [])
    rows = detected_tosses(number, about)
    print(f"{'assumed':30s}{'touched':>10s}{'difference':>20s}{'energy':>10s}")
    first: np.ndarray | None = None
    for name, assumed in ASSUMPTIONS.items():
        outcomes = [o for o in run_tosses(rows, assumed, about) if o.kind != "boundaries"]
        touched = np.array([o.kind == "success" for o in outcomes], float)
        energy = np.mean([o.energy for o in outcomes])
        first = touched if first is None else first
        gap = touched - first
        error = gap.std() / np.sqrt(len(gap))
        print(f"{name:30s}{touched.mean():10.3f}{gap.mean():+11.3f} +- {error:.3f}{energy:10.4f}")


if __name__ == "__main__":
    main()
