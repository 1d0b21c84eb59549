"""A simulated rig: balls dropped on a surface in a room, recorded by microphones.

A take is one drop by `models.systems.bouncing_ball.simulator` of which every bounce sounds as
`acoustics` says, the first impact being its reference.
"""

import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.microphones import acoustics
from ricochet.hardware.microphones.acoustics import Acoustics
from ricochet.hardware.microphones.interface import Recording, Rig, now
from ricochet.hardware.microphones.journal import Journal
from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import simulator

BLOCK = 512  # frames given to the journal at once
FEWEST_BOUNCES, MOST_BOUNCES = 3, 16

LATEST_RELEASE = 0.06
"""Start of a take to the release, s, at most."""


@dataclass(frozen=True)
class Scene:
    """What is dropped and how it sounds; for the last six see `Acoustics`.

    Attributes:
        restitution: Exit over entry normal speed.
        log10_concentration: Decimal logarithm of the exit direction's concentration.
        drop_height: Height of the release, m.
        reverberation_time: s.
        snr: dB, of the first bounce.
        noise_steps: Steps of 16 bit.
        loudness_sd: Of a logarithm.
        survey_sd: m.
        contact_sd: s.
    """

    restitution: float
    log10_concentration: float
    drop_height: float
    reverberation_time: float = 0.35
    snr: float = 28.0
    noise_steps: float = 6.0
    loudness_sd: float = 0.1
    survey_sd: float = 1.5e-3
    contact_sd: float = 20e-6

    def acoustics(self) -> Acoustics:
        """Return how it sounds."""
        return Acoustics(
            self.reverberation_time,
            self.snr,
            self.noise_steps,
            self.loudness_sd,
            self.survey_sd,
            self.contact_sd,
        )


class SimulatedRig:
    """A recorder that simulates; `paced` makes a take last as long as a real one."""

    exclusive = False

    def __init__(
        self, rig: Rig, scene: Scene, *, draw: np.random.Generator, paced: bool = False
    ) -> None:
        """Set the scene.

        Args:
            scene: What is dropped and where.
            draw: Source of all randomness of the takes.
            paced: Whether to record in real time.
        """
        self.rig = rig
        self._scene = scene
        self._draw = draw
        self._paced = paced
        self._setup = acoustics.set_up(
            rig, scene.acoustics(), drop_height=scene.drop_height, draw=draw
        )

    def record(self, duration: float, *, journal: Path | None = None) -> Recording:
        """Drop the ball once and record it; see `interface.Recorder`."""
        started = now()
        samples = self._render(duration)
        if journal is not None or self._paced:
            self._play(samples, journal)
        return Recording(samples=samples, started_at=started)

    def _render(self, duration: float) -> Float[ndarray, "channel frame"]:
        """Simulate and render one drop."""
        release = self._draw.uniform(0.02, LATEST_RELEASE)
        times, positions, speeds = self._drop(duration - release)
        setup, draw = self._setup, self._draw
        contacts = acoustics.clicks(times + release, positions, speeds, setup=setup, draw=draw)
        samples = acoustics.render(contacts, setup=setup, duration=duration, draw=draw)
        return acoustics.converted(samples)

    def _drop(
        self, duration: float
    ) -> tuple[Float[ndarray, " bounce"], Float[ndarray, "bounce 3"], Float[ndarray, " bounce"]]:
        """Return time, place and normal speed at entry of the bounces within a time."""
        scene = self._scene
        bounces = simulator.simulate(
            torch.tensor(scene.restitution, dtype=torch.float64),
            torch.tensor(10.0**scene.log10_concentration, dtype=torch.float64),
            bounces=MOST_BOUNCES,
            drop_height=scene.drop_height,
            draw=torch.Generator().manual_seed(int(self._draw.integers(2**62))),
        )
        times = bounces.times.numpy()
        exits = bounces.velocities.numpy()[:, 2]
        speeds = np.concatenate(([math.sqrt(2 * GRAVITY * scene.drop_height)], exits[:-1]))
        inside = times < duration
        return times[inside], bounces.positions.numpy()[inside], speeds[inside]

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
