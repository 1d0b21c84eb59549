"""What a model of a ball is worth to those who meet it: pairs against the family, without sound.

Run by `python -m benchmarks.bouncing_ball.ball_models [--tosses N] [--played N] [--ball NAME]`.

Bounces of tosses are detected to 3 mm, one position in seven wrong, in place of the sound of the
study `ricochet study ball-tracking`, so that many tosses are cheap: the same tosses and detections
for both models, which are calibrated on simulated drops (`studies.ball_models`), and for what the
ball truly is. Printed by ball:
where and when the belief expects the crossing after the last bounce but one, or the last of fewer
than three, against where it is (root mean square), and how often its 90 % intervals hold it; and
with `--played` the share that controllers touch of tosses within the paddle's reach, and the gain
of the family on the same tosses, with standard errors.
"""

import argparse

import numpy as np
import torch

from benchmarks.bouncing_ball import belief
from ricochet.hardware.robots.simulated import SimulatedArm
from ricochet.models.systems.bouncing_ball.balls import Ball
from ricochet.models.systems.bouncing_ball.tracking import (
    belief_intercept,
    crossing_samples,
    outcomes,
)
from ricochet.models.systems.bouncing_ball.tracking import toss as ball_toss
from ricochet.models.systems.bouncing_ball.tracking.toss import Toss
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.studies import ball_models, tracking
from ricochet.tasks.systems.bouncing_ball.tracking import control_loop, controllers
from ricochet.tasks.systems.bouncing_ball.tracking.control_loop import TimedEvent
from ricochet.tasks.systems.bouncing_ball.tracking.controllers import BallModel, ControllerInputs
from ricochet.tasks.systems.bouncing_ball.validation import simulated_trials

KNOWN = 0.011
"""From the sound of a bounce to the end of the buffer in which it is detected, s: at most."""
DROPS, SEED = 100, 70_000


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tosses", type=int, default=300, help="tosses a ball")
    parser.add_argument("--played", type=int, default=0, help="of those, with controllers")
    parser.add_argument("--ball", choices=list(ball_models.TOSSED), help="this ball alone")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    settings = catalogue.load_settings(None, [])
    for number, (name, ball) in enumerate(ball_models.TOSSED.items()):
        if arguments.ball in (None, name):
            known = {
                "pairs": ball_models.of_pairs(ball, drops=DROPS, seed=SEED + number),
                "family": ball_models.of_family(ball, seed=SEED + number),
                "truth": ball.nature,
            }
            models = {model: controllers.fit_ball_model(draws) for model, draws in known.items()}
            draw = torch.Generator().manual_seed(SEED)
            tosses = ball_toss.tosses(ball, arguments.tosses, draw=draw)
            reached = [toss for toss in tosses if _reached(toss)]
            _print_predictions(ball, models, reached)
            if arguments.played > 0:
                _print_controllers(ball, models, reached[: arguments.played], settings)


def _print_predictions(ball: Ball, models: dict[str, BallModel], tosses: list[Toss]) -> None:
    for model, known in models.items():
        rows = [_predicted(toss, number, known) for number, toss in enumerate(tosses)]
        found = np.array([row for row in rows if row is not None])
        rms = np.sqrt((found[:, 0] ** 2).mean(0)) * 1e3
        held = found[:, 1].mean(0)
        error = np.sqrt(0.09 / len(found))
        texts = [
            f"{name} {each:5.1f} {unit}, held {share:.3f}"
            for name, unit, each, share in zip("yzt", ("mm", "mm", "ms"), rms, held, strict=True)
        ]
        print(f"{ball.name:18s}{model:8s}{len(found):5d}  {'; '.join(texts)} (+- {error:.3f})")


def _predicted(toss: Toss, number: int, known: BallModel) -> np.ndarray | None:
    """Errors of the median crossing (y, z, t), and whether 90 % intervals hold it."""
    assert toss.crossing is not None and toss.crossing_time is not None
    events = [each.event for each in _detected(toss, number)]
    events = events[:-1] if len(events) > 2 else events
    state = belief_intercept.init(
        known.draws, Workspace(), ball_radius=toss.ball.radius, seed=number
    )
    for event in events:
        state, _ = belief_intercept.step(state, event, now=event.arrival, paddle=(0.0, 0.1))
    if state.belief is None:
        return None
    ahead = crossing_samples.sample(
        state.belief,
        plane=Workspace().x,
        count=400,
        prior=state.toss_prior,
        draw=np.random.default_rng(number),
    )
    if ahead.crosses.sum() < 40:
        return None
    samples = np.stack((ahead.y, ahead.z, ahead.time))[:, ahead.crosses]
    truth = np.array([*toss.crossing, toss.crossing_time])
    low, middle, high = np.quantile(samples, (0.05, 0.5, 0.95), axis=1)
    return np.stack((middle - truth, ((low <= truth) & (truth <= high)).astype(float)))


def _print_controllers(
    ball: Ball, models: dict[str, BallModel], reached: list[Toss], settings: Settings
) -> None:
    for name in tracking.MODELLED:
        found = {model: np.zeros(len(reached)) for model in models}
        for number, toss in enumerate(reached):
            events = _detected(toss, number)
            for model, known in models.items():
                inputs = ControllerInputs(known, Workspace(), ball, settings, number)
                found[model][number] = _touched(name, inputs, toss, events)
        rows = [_share(found["pairs"]), _share(found["family"])]
        gain = found["family"] - found["pairs"]
        rows.append(f"{gain.mean():+.3f} +- {gain.std() / np.sqrt(len(gain)):.3f}")
        cells = f"{rows[0]:>16s}{rows[1]:>16s}{rows[2]:>18s}"
        print(f"{ball.name:18s}{name:24s}{len(reached):7d}{cells}", flush=True)


def _reached(toss: Toss) -> bool:
    place = Workspace()
    found = outcomes.judge(
        toss.crossing,
        np.array(place.home),
        workspace=place,
        ball_radius=toss.ball.radius,
        outliers=(),
    )
    return found[0] != "boundaries"


def _detected(toss: Toss, number: int) -> list[TimedEvent]:
    draw = np.random.default_rng((SEED, number))
    found = belief.events(toss, draw, sd=3e-3)
    return [TimedEvent(event.arrival + KNOWN, event, 0.0) for event in found]


def _touched(name: str, inputs: ControllerInputs, toss: Toss, events: list[TimedEvent]) -> bool:
    done = control_loop.run_control_loop(
        controllers.controller(name, inputs),
        events,
        SimulatedArm(inputs.workspace),
        until=simulated_trials.end_of(toss),
    )
    outcome = simulated_trials.outcome_of(done, toss, events, workspace=inputs.workspace)
    return outcome.kind == "success"


def _share(found: np.ndarray) -> str:
    share = float(found.mean())
    return f"{share:.3f} +- {np.sqrt(share * (1.0 - share) / len(found)):.3f}"


if __name__ == "__main__":
    main()
