"""What the belief controller loses under wrong assumptions.

Run by `python -m benchmarks.bouncing_ball.misspecification`.

Tosses of the three balls in the twin, heard through its microphones with one bounce in six
mislocated, are met by the belief as it is told by default, then by the same told other rates of
wrong places, other detours and other hands. The tosses stay the same. Printed: share touched of
those that could be, and energy, in the mean of the balls; for the differences in the share, their
standard error over tosses.
"""

import argparse
from typing import Any

import numpy as np
import torch

from ricochet.hardware.robots.simulated import SimulatedArm
from ricochet.models.systems.bouncing_ball.tracking import belief_intercept
from ricochet.models.systems.bouncing_ball.tracking import toss as ball_toss
from ricochet.models.systems.bouncing_ball.tracking.bounce_filter import Ears, Toss
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

TOLD: dict[str, dict[str, Any]] = {
    "as it is by default": {},
    "5 % of the places wrong": {"ears": Ears(wrong=0.05)},
    "40 % of the places wrong": {"ears": Ears(wrong=0.40)},
    "late arrivals not told": {"ears": Ears(late=0.0)},
    "detours of 0.10 +- 0.04 m": {"detour": Detour(mean=0.10, sd=0.04)},
    "detours of 0.35 +- 0.04 m": {"detour": Detour(mean=0.35, sd=0.04)},
    "hand slower by 0.15 m/s": {"toss": Toss(velocity=(0.35, 0.0))},
    "hand faster by 0.15 m/s": {"toss": Toss(velocity=(0.65, 0.0))},
    "first contact 0.1 m farther": {"toss": Toss(place=(-0.04, 0.05))},
    "hand half as sure": {"toss": Toss(place_sd=(0.3, 0.3), velocity_sd=(0.4, 0.3), flight_sd=0.2)},
}


def heard_tosses(number: int, about: Settings) -> list[Any]:
    """Each toss of each ball, and what was heard of it."""
    rows = []
    for ball in ball_toss.BALLS.values():
        for index in range(number):
            laboratory = open_laboratory(about, ball=ball, seed=study.SEED + index)
            events = list(control_loop.listen(laboratory.toss()))
            rows.append((ball, index, events, laboratory.truth_for_evaluation().toss))
    return rows


def meet(rows: list[Any], told: dict[str, Any], about: Settings) -> list[Outcome]:
    """Meet every toss with the belief that is told so."""
    outcomes = []
    for ball, index, events, toss in rows:
        draw = np.random.default_rng(index)
        known = (ball.restitution, ball.log10_concentration)
        theta = draw.normal(known, (0.002, 0.04), (200, 2))
        state = belief_intercept.init(
            theta,
            Workspace(),
            ball_radius=ball.radius,
            seed=index,
            microphones=np.array(about[Capture].microphones),
            **told,
        )
        done = control_loop.deflect(
            Controller(state, belief_intercept.step),
            events,
            SimulatedArm(Workspace()),
            until=simulated_trials.end_of(toss),
        )
        outcomes.append(simulated_trials.judged(done, toss, events))
    return outcomes


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tosses", type=int, default=100, help="tosses a ball")
    number = parser.parse_args().tosses
    torch.set_num_threads(1)
    about = catalogue.load_settings(None, [])
    rows = heard_tosses(number, about)
    print(f"{'told':30s}{'touched':>10s}{'difference':>20s}{'energy':>10s}")
    first: np.ndarray | None = None
    for name, told in TOLD.items():
        outcomes = [o for o in meet(rows, told, about) if o.kind != "boundaries"]
        touched = np.array([o.kind == "success" for o in outcomes], float)
        energy = np.mean([o.energy for o in outcomes])
        first = touched if first is None else first
        gap = touched - first
        error = gap.std() / np.sqrt(len(gap))
        print(f"{name:30s}{touched.mean():10.3f}{gap.mean():+11.3f} +- {error:.3f}{energy:10.4f}")


if __name__ == "__main__":
    main()
