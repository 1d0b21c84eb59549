"""What whole takes say of a surface beside their first three bounces, at equal recordings.

Run by `python -m benchmarks.bouncing_ball.whole_takes_gain [--sessions N]`.

Each session has 20 drops of a ping-pong ball of the paper's model, ten bounces each, detected as
the default rig detects them: three bounces are answered by the exact posterior, whole takes by the
family of models. The table has the standard deviation and the error, in deviations, of log10
concentration of both, and the ratio of both deviations.
"""

import argparse

import numpy as np
import torch

from ricochet.models.systems.bouncing_ball import features, problem
from ricochet.models.systems.bouncing_ball.calibration import posterior, whole_chains
from ricochet.models.systems.bouncing_ball.calibration.whole_chains import Ball
from ricochet.models.systems.bouncing_ball.chains.observations import Take
from tests.oracles.simulated_chains import Case, session

TRUTH = np.array([0.85, 3.5])
CASE = Case(takes=20, bounces=10)


def of_three_bounces(takes: list[Take]) -> tuple[float, float]:
    """Return mean and deviation of log10 concentration by the first three bounces."""
    times = torch.from_numpy(np.array([take.times[:3] for take in takes]))
    places = torch.from_numpy(np.array([take.places[:3] for take in takes]))
    shape = (len(takes),)
    found = posterior.posterior(
        features.form_features(times, places),
        problem.constant_noise(shape, time_sd=CASE.time_sd, position_sd=CASE.place_sd),
        problem.constant_release(shape, height=CASE.height, height_sd=takes[0].height_sd),
    )
    return float(found.mean[1]), float(np.sqrt(found.covariance[1, 1]))


def of_whole_takes(takes: list[Take], seed: int) -> tuple[float, float]:
    """Return mean and deviation of log10 concentration by all bounces."""
    names = [f"take {number}" for number in range(len(takes))]
    draw = np.random.default_rng(seed)
    first = TRUTH + draw.normal(0.0, (0.003, 0.2))
    found = whole_chains.infer(takes, names, first=first, ball=Ball(), draw=draw).family.pair[:, 1]
    return float(found.mean()), float(found.std())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=3)
    arguments = parser.parse_args()
    print("session    three bounces: sd, error    whole takes: sd, error    ratio of sd")
    ratios = []
    for seed in range(1, 1 + arguments.sessions):
        takes = session(CASE, seed)
        three, whole = of_three_bounces(takes), of_whole_takes(takes, seed)
        ratios.append(whole[1] / three[1])
        errors = [(mean - TRUTH[1]) / sd for mean, sd in (three, whole)]
        print(
            f"{seed:7d}{three[1]:20.3f}{errors[0]:+8.2f}{whole[1]:18.3f}{errors[1]:+8.2f}"
            f"{ratios[-1]:15.2f}",
            flush=True,
        )
    print(f"ratio on average {np.mean(ratios):.2f}")


if __name__ == "__main__":
    main()
