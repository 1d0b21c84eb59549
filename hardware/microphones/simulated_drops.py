"""A simulated rig: balls dropped on a surface in a room, recorded by microphones.

A take is one drop, of the paper's ball by `models.systems.bouncing_ball.simulator`, of another by
`family_simulator`; every bounce sounds as `acoustics` says, the first impact being its reference.
"""

import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.microphones import acoustics
from ricochet.hardware.microphones.acoustics import Acoustics
from ricochet.hardware.microphones.interface import Recording, Rig, now
from ricochet.hardware.microphones.journal import Journal
from ricochet.models.systems.bouncing_ball import air, family_simulator, simulator
from ricochet.models.systems.bouncing_ball import contact as contacts
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.family_simulator import Surroundings
from ricochet.models.systems.bouncing_ball.simulator import Bounces

BLOCK = 512  # frames given to the journal at once
FEWEST_BOUNCES, MOST_BOUNCES = 3, 16

LATEST_RELEASE = 0.06
"""Start of a take to the release, s, at most."""
RELEASE_SPEED = 0.1
"""Standard deviation of each horizontal component at the release, m/s, as in `simulator`."""


@dataclass(frozen=True)
class Scene:
    """What is dropped and how it sounds; for the six from `reverberation_time` see `Acoustics`.

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
        nature: A draw of the family in place of restitution and concentration; None: the paper's.
        take_scatter: Relative standard deviation of its restitution from take to take.
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
    nature: ContactDraws | None = None
    take_scatter: float = 0.0

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
        draw = torch.Generator().manual_seed(int(self._draw.integers(2**62)))
        if scene.nature is None:
            bounces, drag = _paper_s(scene, draw), 0.0
        else:
            bounces, drag = _natural(scene, scene.nature, draw), float(scene.nature.drag)
        times = bounces.times.numpy()
        exits = bounces.velocities.numpy()[:, 2]
        first = air.speed_after_fall(scene.drop_height, drag)
        speeds = np.concatenate(([first], air.speed_on_return(exits[:-1], drag)))
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


def _paper_s(scene: Scene, draw: torch.Generator) -> Bounces:
    """Drop a ball of constant restitution without air."""
    return simulator.simulate(
        torch.tensor(scene.restitution, dtype=torch.float64),
        torch.tensor(10.0**scene.log10_concentration, dtype=torch.float64),
        bounces=MOST_BOUNCES,
        drop_height=scene.drop_height,
        draw=draw,
    )


def _natural(scene: Scene, nature: ContactDraws, draw: torch.Generator) -> Bounces:
    """Drop a ball of the family, with a restitution of this take."""
    own = 1.0 + scene.take_scatter * torch.randn(1, generator=draw, dtype=torch.float64)
    level = (nature.contact.restitution * own).clamp(contacts.LOWEST, contacts.HIGHEST)
    bounces = family_simulator.simulate(
        replace(nature.contact, restitution=level),
        family_simulator.start_velocities((1,), horizontal_sd=RELEASE_SPEED, draw=draw),
        drop_height=scene.drop_height,
        law=nature.law,
        around=Surroundings(nature.drag),
        bounces=MOST_BOUNCES,
        draw=draw,
    )
    return Bounces(bounces.times[0], bounces.positions[0], bounces.velocities[0])
