"""A simulated rig: balls dropped on a surface in a room, heard by microphones.

A take is one drop by `models.simulators.bouncing_ball` of which every bounce is rendered by
`models.sound.synthesis`. A bounce at normal speed w is as loud as (w / w_0)^1.2, w_0 being the
speed of the first impact. The gain is set once, so that the first impact of a ball that falls
straight down at the origin has the stated signal-to-noise ratio; later bounces are fainter, as real
ones are. Samples are rounded to the steps of a 16 bit sound card.

Nobody knows a rig exactly: the microphones that hear stand a little off the places that the session
states, for as long as the rig lives, and the instant at which a contact clicks scatters.
"""

import math
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from hardware.microphones.interface import Recording, Rig, now
from hardware.microphones.journal import Journal
from models.simulators import bouncing_ball
from models.sound import rooms, synthesis

STEP = 2.0**-15  # one step of 16 bit, full scale 1
LOUDNESS_POWER = 1.2
GRAVITY = 9.81
BLOCK = 512  # frames given to the journal at once
FEWEST_BOUNCES, MOST_BOUNCES = 3, 16


@dataclass(frozen=True)
class Scene:
    """What is dropped and where.

    Attributes:
        restitution: Exit over entry normal speed.
        log10_concentration: Decimal logarithm of the exit direction's concentration.
        drop_height: Height of the release, m.
        reverberation_time: Time in which the room's sound falls by 60 dB, s; 0 is a free field.
        snr: Direct click of the first bounce over the background, dB.
        noise_steps: Standard deviation of the background, in steps of 16 bit.
        loudness_sd: Scatter of the logarithm of each bounce's loudness.
        survey_sd: Error of each coordinate of a microphone's stated place, m.
        contact_sd: Scatter of the instant at which a contact clicks, s.
    """

    restitution: float
    log10_concentration: float
    drop_height: float = 0.26
    reverberation_time: float = 0.35
    snr: float = 28.0
    noise_steps: float = 6.0
    loudness_sd: float = 0.1
    survey_sd: float = 1.5e-3
    contact_sd: float = 20e-6


class SimulatedRig:
    """A recorder that simulates; `paced` makes a take last as long as a real one."""

    exclusive = False

    def __init__(
        self, rig: Rig, scene: Scene, *, draw: np.random.Generator, paced: bool = False
    ) -> None:
        """Set the scene.

        Args:
            rig: The microphones.
            scene: What is dropped and where.
            draw: Source of all randomness of the takes.
            paced: Whether to record in real time.
        """
        self.rig = rig
        self._scene = scene
        self._draw = draw
        self._paced = paced
        self._gain = _gain(rig, scene)
        stated = rig.array()
        error = scene.survey_sd * draw.standard_normal(stated.positions.shape)
        self._array = replace(stated, positions=stated.positions + error)

    def record(self, duration: float, *, journal: Path | None = None) -> Recording:
        """Drop the ball once and record it; see `interface.Recorder`.

        Args:
            duration: Length of the take, s.
            journal: File that receives the audio while it is recorded.
        """
        started = now()
        samples = self._render(duration)
        if journal is not None or self._paced:
            self._play(samples, journal)
        return Recording(samples=samples, started_at=started)

    def _render(self, duration: float) -> Float[ndarray, "channel frame"]:
        """Simulate and render one drop."""
        scene = self._scene
        release = self._draw.uniform(0.02, 0.06)
        times, positions, speeds = self._drop(duration - release)
        scatter = np.exp(scene.loudness_sd * self._draw.standard_normal(len(times)))
        late = scene.contact_sd * self._draw.standard_normal(len(times))
        samples = synthesis.render(
            times + release + late,
            positions,
            self._gain * _loudness(speeds, scene.drop_height) * scatter,
            microphones=self._array,
            duration=duration,
            draw=self._draw,
            room=_room(scene),
            noise=synthesis.Background(level=scene.noise_steps * STEP),
        )
        return np.clip(np.round(samples / STEP) * STEP, -1.0, 1.0 - STEP).astype(np.float32)

    def _drop(
        self, duration: float
    ) -> tuple[Float[ndarray, " bounce"], Float[ndarray, "bounce 3"], Float[ndarray, " bounce"]]:
        """Return time, place and normal speed at entry of the bounces within a time."""
        scene = self._scene
        bounces = bouncing_ball.simulate(
            torch.tensor(scene.restitution, dtype=torch.float64),
            torch.tensor(10.0**scene.log10_concentration, dtype=torch.float64),
            bounces=MOST_BOUNCES,
            drop_height=scene.drop_height,
            draw=torch.Generator().manual_seed(int(self._draw.integers(2**62))),
        )
        times = bounces.times.numpy()
        exits = bounces.velocities.numpy()[:, 2]
        speeds = np.concatenate(([math.sqrt(2 * GRAVITY * scene.drop_height)], exits[:-1]))
        heard = times < duration
        return times[heard], bounces.positions.numpy()[heard], speeds[heard]

    def _play(self, samples: Float[ndarray, "channel frame"], path: Path | None) -> None:
        """Give the samples block by block to the journal, at the pace of a sound card if asked."""
        rate = self.rig.sample_rate
        journal = None
        if path is not None:
            ahead = 2.0 if self._paced else samples.shape[1] / rate
            journal = Journal(path, channels=len(samples), sample_rate=rate, seconds_ahead=ahead)
        begun = time.monotonic()
        for first in range(0, samples.shape[1], BLOCK):
            if self._paced:
                time.sleep(max(0.0, begun + first / rate - time.monotonic()))
            if journal is not None:
                journal.push(samples[:, first : first + BLOCK].T)
        if journal is not None:
            journal.close()


def _loudness(speeds: Float[ndarray, " bounce"], height: float) -> Float[ndarray, " bounce"]:
    """Return each bounce's loudness over that of the first."""
    return np.asarray((speeds / math.sqrt(2 * GRAVITY * height)) ** LOUDNESS_POWER)


def _room(scene: Scene) -> rooms.Room | None:
    """Return the room, None for a free field."""
    if scene.reverberation_time == 0.0:
        return None
    return rooms.Room(reverberation_time=scene.reverberation_time)


def _gain(rig: Rig, scene: Scene) -> float:
    """Return the loudness at 1 m, full scale 1, of the first bounce at the origin."""
    array = rig.array()
    distances = np.linalg.norm(array.positions, axis=1)[None]
    level = synthesis.noise_level(
        scene.snr,
        np.ones(1),
        distances,
        click=synthesis.Click(),
        sample_rate=array.sample_rate,
    )
    return scene.noise_steps * STEP / level
