"""The twin laboratory: it tosses a ball and gives its sound away, nothing else.

A toss by `models.systems.bouncing_ball.tracking.toss` clicks as `hardware.microphones.acoustics`
says; a robot hums (`models.sound.machine_noise`), and an arm or a hand now and then stands between
a contact and a microphone (`occlusions`). The ball sounds until it crosses the robot's plane or is
lost.

A user of the laboratory gets microphones to listen to. What truly happened is for evaluation:
`truth_for_evaluation`.
"""

from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float32
from numpy import ndarray

from ricochet.hardware.microphones import acoustics
from ricochet.hardware.microphones.acoustics import STEP, Acoustics
from ricochet.hardware.microphones.interface import Rig
from ricochet.hardware.microphones.stream import PlayedSound
from ricochet.hardware.twins import occlusions
from ricochet.hardware.twins.occlusions import Blocked, Obstacles
from ricochet.models.sound import machine_noise
from ricochet.models.sound.machine_noise import Machine
from ricochet.models.systems.bouncing_ball.balls import Ball
from ricochet.models.systems.bouncing_ball.problem import REFERENCE_HEIGHT
from ricochet.models.systems.bouncing_ball.tracking import toss as ball_toss
from ricochet.models.systems.bouncing_ball.tracking.toss import Toss

RELEASE = 0.35  # s from the stream's start to the hand's letting go
AFTERWARDS = 0.30  # s of sound after the last event of a toss


@dataclass(frozen=True)
class Surroundings:
    """All that makes bounces hard to detect.

    Attributes:
        acoustics: The room, the sound card and what is not known exactly.
        obstacles: What stands between contacts and microphones.
        robot_noise: The robot's steady sound over the background, dB.
        robot: What it sounds like.
    """

    acoustics: Acoustics = field(default_factory=Acoustics)
    obstacles: Obstacles = field(default_factory=Obstacles)
    robot_noise: float = 0.0
    robot: Machine = field(default_factory=Machine)


@dataclass(frozen=True)
class Truth:
    """What truly happened in one toss, for evaluation only.

    Attributes:
        toss: Where the ball was.
        blocked: Which microphones were kept from which contacts.
    """

    toss: Toss
    blocked: Blocked


class Laboratory:
    """A table, microphones and a ball of hidden nature."""

    def __init__(
        self,
        rig: Rig,
        ball: Ball,
        surroundings: Surroundings | None = None,
        *,
        plane: float = 0.30,
        draw: np.random.Generator,
    ) -> None:
        """Set up the table.

        Args:
            rig: The microphones as stated.
            surroundings: What makes bounces hard to detect; None takes the defaults.
            plane: x of the robot's plane, m.
            draw: Source of all randomness. Each toss has its own, so that it does not depend on
                how the others were blocked.
        """
        self.rig = rig
        self._ball = ball
        self._surroundings = surroundings or Surroundings()
        self._plane = plane
        self._draw = draw
        self._setup = acoustics.set_up(
            rig, self._surroundings.acoustics, drop_height=REFERENCE_HEIGHT, draw=draw
        )
        self._truths: list[Truth] = []

    def toss(self) -> PlayedSound:
        """Toss the ball once and return the microphones that record it."""
        of_ball, of_paths, of_sound = self._draw.spawn(3)
        toss = ball_toss.toss(
            self._ball,
            self._plane,
            release=RELEASE,
            draw=torch.Generator().manual_seed(int(of_ball.integers(2**62))),
        )
        blocked = occlusions.choose(
            len(toss.times),
            len(self.rig.microphones),
            obstacles=self._surroundings.obstacles,
            draw=of_paths,
        )
        truth = Truth(toss, blocked)
        self._truths.append(truth)
        return PlayedSound(self.rig, self._sound(truth, of_sound))

    def truth_for_evaluation(self, number: int = -1) -> Truth:
        """Return what truly happened in a toss, the last by default; no controller may ask."""
        return self._truths[number]

    def _sound(self, truth: Truth, draw: np.random.Generator) -> Float32[ndarray, "channel frame"]:
        """Render what the microphones record of one toss."""
        setup, about, toss = self._setup, self._surroundings, truth.toss
        contacts = acoustics.clicks(
            toss.times, toss.positions, toss.entry_speeds, setup=setup, draw=draw
        )
        samples = acoustics.render(contacts, setup=setup, duration=_duration(toss), draw=draw)
        occlusions.block(samples, contacts, truth.blocked, setup=setup, obstacles=about.obstacles)
        level = about.acoustics.noise_steps * STEP * 10.0 ** (about.robot_noise / 20.0)
        samples += machine_noise.steady(
            about.robot,
            level,
            microphones=setup.array,
            frames=samples.shape[1],
            draw=draw,
        )
        return acoustics.converted(samples)


def _duration(toss: Toss) -> float:
    """Length of a toss's sound, s."""
    last = toss.times[-1] if len(toss.times) else RELEASE
    return AFTERWARDS + max(float(last), toss.crossing_time or 0.0)
