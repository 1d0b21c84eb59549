"""Sessions of the simulated rig whose recordings depart: noise, speech, channels and clocks.

A ball of `departed_sessions` falls in the rig's room, and what channel m records, x_m, is written
to the disk as

    y_m(u) = x_p(m)(u') + speech at microphone m,    u = (1 + r_m) u' + d_m,

with the channels in an order p, a delay d and a drift r of one clock, as `array_errors` has them.
Speech (`speech_synthesis`) comes from someone a metre off the table, through the same room.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import signal

from ricochet.hardware.microphones import acoustics, interface
from ricochet.hardware.microphones.interface import Recorder, Recording
from ricochet.hardware.microphones.simulated_drops import Scene, SimulatedRig
from ricochet.models.sound import room_acoustics, speech_synthesis
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.room_acoustics import Room
from ricochet.tasks.recordings import recorder as sealing
from ricochet.tasks.recordings.sessions import Session
from ricochet.tasks.systems.bouncing_ball.studies.departed_sessions import HEIGHT, Ball

DURATION = 1.6
"""Length of a take, s."""
NOISE = Scene.noise_steps * acoustics.STEP
"""Standard deviation of a sample of the background, full scale 1."""
SPEAKER, MOUTH = 1.0, 0.4
"""How far from the table's middle someone speaks, and how high above it, m."""
_FINER = 16  # times the sample rate, between whose samples lines are straight
Samples = Float[ndarray, "channel frame"]
Change = Callable[[Samples, Microphones, np.random.Generator], Samples]


def unchanged(samples: Samples, array: Microphones, draw: np.random.Generator) -> Samples:
    """Leave a take as it was recorded."""
    return samples


def spoken(
    samples: Samples, array: Microphones, draw: np.random.Generator, *, below: float
) -> Samples:
    """Speak over a take, so many dB below the click of its first bounce (mean powers)."""
    rate, frames = array.sample_rate, samples.shape[1]
    voice = speech_synthesis.speech(3.0 * frames / rate, sample_rate=rate, draw=draw)
    angle = draw.uniform(0.0, 2.0 * np.pi)
    place = np.array([[SPEAKER * np.cos(angle), SPEAKER * np.sin(angle), MOUTH]])
    room = Room(reverberation_time=Scene.reverberation_time)
    responses, _ = room_acoustics.responses(place, microphones=array, room=room)
    heard = [signal.fftconvolve(voice, each[0])[frames : 2 * frames] for each in responses]
    level = NOISE * 10.0 ** ((Scene.snr - below) / 20.0)
    return np.asarray(samples + level / np.std(heard) * np.array(heard))


def exchanged(samples: Samples, array: Microphones, draw: np.random.Generator) -> Samples:
    """Exchange the last two channels."""
    return np.concatenate([samples[:-2], samples[:-3:-1]])


def dead(samples: Samples, array: Microphones, draw: np.random.Generator) -> Samples:
    """Leave nothing but noise in channel 1."""
    found = samples.copy()
    found[1] = NOISE * draw.standard_normal(samples.shape[1])
    return found


def late(
    samples: Samples,
    array: Microphones,
    draw: np.random.Generator,
    *,
    delay: float = 0.0,
    drift: float = 0.0,
) -> Samples:
    """Delay channel 1, s, and let its clock drift by a share of the time since the beginning."""
    frames = samples.shape[1]
    fine = signal.resample(samples[1], _FINER * frames)
    written = np.arange(frames) / array.sample_rate
    true = (written - delay) / (1.0 + drift)
    found = samples.copy()
    found[1] = np.interp(true * _FINER * array.sample_rate, np.arange(len(fine)), fine)
    return found


@dataclass(frozen=True)
class RecordedDeparture:
    """One way in which recordings differ from those of the rig as it is stated.

    Attributes:
        snr: Of the first bounce, dB (`Acoustics`).
        change: Of a take; must be picklable.
    """

    snr: float = Scene.snr
    change: Change = unchanged


RECORDED: dict[str, RecordedDeparture] = {
    "recorded": RecordedDeparture(),
    "noise 20 dB": RecordedDeparture(snr=20.0),
    "noise 10 dB": RecordedDeparture(snr=10.0),
    "speech": RecordedDeparture(change=partial(spoken, below=20.0)),
    "loud speech": RecordedDeparture(change=partial(spoken, below=10.0)),
    "swapped channels": RecordedDeparture(change=exchanged),
    "dead channel": RecordedDeparture(change=dead),
    "channel 0.2 ms late, recorded": RecordedDeparture(change=partial(late, delay=2e-4)),
    "clock 2 samples/s, recorded": RecordedDeparture(change=partial(late, drift=2.0 / 44100.0)),
    "clock 20 samples/s, recorded": RecordedDeparture(change=partial(late, drift=20.0 / 44100.0)),
}


class _DepartedRig:
    """A recorder of which every take is changed."""

    exclusive = False

    def __init__(self, inside: Recorder, change: Change, draw: np.random.Generator) -> None:
        self.rig = inside.rig
        self._inside, self._change, self._draw = inside, change, draw

    def record(self, duration: float, *, journal: Path | None = None) -> Recording:
        """Record a take and change it; nothing is kept for salvage."""
        recording = self._inside.record(duration)
        samples = recording.samples.astype(np.float64)
        changed = self._change(samples, self.rig.array(), self._draw)
        return replace(recording, samples=acoustics.converted(changed))


def record(
    departure: RecordedDeparture, ball: Ball, folder: Path, *, takes: int, seed: int
) -> Path:
    """Record a session at a folder that is not there yet, and return the folder."""
    rig, draw = interface.default_rig("simulated"), np.random.default_rng(seed)
    scene = Scene(ball.restitution, ball.log10_concentration, HEIGHT, snr=departure.snr)
    inside = SimulatedRig(rig, scene, draw=draw)
    plan = Session(
        folder=folder,
        identity=folder.name,
        started_at=interface.now(),
        rig=rig,
        ball="ball",
        surface="table",
        drop_height=HEIGHT,
    )
    recorder = _DepartedRig(inside, departure.change, np.random.default_rng([seed, 1]))
    sealing.record_session(recorder, plan, takes=takes, duration=DURATION)
    return folder
