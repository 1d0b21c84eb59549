"""The moving picture of the README: an arm meets a ball of which it knows only the sound.

    python -m ricochet.tasks.systems.bouncing_ball.toss_movie toss.gif

Drops of a ball are simulated and calibrated; then the ball is tossed in the twin, until a toss is
met of which every bounce was located.
"""

import sys
from pathlib import Path

import numpy as np

from ricochet.hardware.microphones.stream import PlayedSound
from ricochet.hardware.robots.paddle_arm import ArmState
from ricochet.hardware.robots.simulated import SimulatedArm
from ricochet.models.systems.bouncing_ball.balls import BALLS
from ricochet.models.systems.bouncing_ball.tracking.toss import Toss
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import write_bytes
from ricochet.tasks.systems.bouncing_ball.figures import toss_movies
from ricochet.tasks.systems.bouncing_ball.figures.toss_movies import DetectedBounce, Recording
from ricochet.tasks.systems.bouncing_ball.figures.toss_strips import MICROPHONES, Frame
from ricochet.tasks.systems.bouncing_ball.settings import Study, Tosses
from ricochet.tasks.systems.bouncing_ball.studies import ball_models
from ricochet.tasks.systems.bouncing_ball.tracking import control_loop, controllers
from ricochet.tasks.systems.bouncing_ball.tracking.control_loop import TimedEvent
from ricochet.tasks.systems.bouncing_ball.tracking.controllers import BallModel, ControllerInputs
from ricochet.tasks.systems.bouncing_ball.tracking.laboratory import open_laboratory
from ricochet.tasks.systems.bouncing_ball.tracking.laboratory import workspace as workspace_of
from ricochet.tasks.systems.bouncing_ball.validation import simulated_trials, toss_log, trials

BEFORE = 0.15
"""From the first picture to the first bounce, s."""
TOSSES = 20
"""That are tried."""


def make(settings: Settings, *, ball: str = "ping-pong", seed: int = 0) -> bytes | None:
    """Return the moving picture as GIF; None where scenes cannot be drawn.

    Raises:
        RuntimeError: If no toss is met.
    """
    draws = ball_models.of_pairs(BALLS[ball], drops=settings[Study].drops, seed=seed)
    model = controllers.fit_ball_model(draws)
    for number in range(seed, seed + TOSSES):
        laboratory = open_laboratory(settings, ball=BALLS[ball], seed=number)
        sound = laboratory.toss()
        events = tuple(control_loop.listen(sound))
        toss = laboratory.truth_for_evaluation().toss
        states = _met(toss, events, model, settings, number)
        if states:
            return _drawn(toss, events, sound, states)
    raise RuntimeError(f"of {TOSSES} tosses none was met with every bounce located")


def _met(
    toss: Toss,
    events: tuple[TimedEvent, ...],
    model: BallModel,
    settings: Settings,
    seed: int,
) -> list[ArmState]:
    """Return the motion of the arm; empty if it misses, or if a bounce was not located rightly."""
    workspace, states = workspace_of(settings[Tosses]), list[ArmState]()
    inputs = ControllerInputs(model, workspace, toss.ball, settings, seed)
    run = control_loop.run_control_loop(
        controllers.controller(trials.CONTROLLER, inputs),
        events,
        SimulatedArm(workspace),
        until=simulated_trials.end_of(toss),
        record=states.append,
    )
    outcome = simulated_trials.outcome_of(run, toss, events, workspace=workspace)
    return states if outcome.kind == "success" and not outcome.outliers else []


def _drawn(
    toss: Toss, events: tuple[TimedEvent, ...], sound: PlayedSound, states: list[ArmState]
) -> bytes | None:
    clock = np.array([state.time for state in states])
    joints = np.array([state.joints for state in states])
    end = simulated_trials.end_of(toss)
    frames = [
        Frame(
            float(when),
            np.array([np.interp(when, clock, angle) for angle in joints.T]),
            toss_log.ball_at(toss, float(when)),
        )
        for when in toss_movies.instants(toss.times[0] - BEFORE, end)
    ]
    located = [(each.time, each.event.position) for each in events]
    places = [each.position for each in sound.rig.microphones]
    return toss_movies.movie(
        frames,
        [DetectedBounce(time, (at[0], at[1])) for time, at in located if at is not None],
        Recording(
            np.concatenate([buffer.samples[0] for buffer in sound.buffers()]),
            sound.rig.sample_rate,
        ),
        title=f"a {toss.ball.name} ball met by its sound, {toss_movies.SLOWER:.0f} times slower",
        ball_radius=toss.ball.radius,
        microphones=places[: len(MICROPHONES)],
    )


def main(path: Path, settings: Settings) -> None:
    """Write the moving picture."""
    content = make(settings)
    if content is None:
        sys.exit("no picture: MuJoCo found no EGL to draw with")
    write_bytes(path, content)


if __name__ == "__main__":
    from ricochet.tasks.systems import catalogue

    main(Path(sys.argv[1]), catalogue.load_settings())
