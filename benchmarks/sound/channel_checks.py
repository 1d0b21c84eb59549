"""How often sessions with a faulty channel are refused by its name, and sessions in order at all.

Sessions of a few drops of the simulated rig (room, noise, microphones off by `--survey`) by three
and by four microphones, the three balls in turn. Each is judged in order, and again with one
channel at fault, or two exchanged, drawn at random. `named` are refused with the right channels,
`wrong` with others; the rest pass, or lose all takes for another reason.

Run `python -m benchmarks.sound.channel_checks [--sessions N] [--drops N] [--survey M] [--snr DB]`.
"""

import argparse
from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy import ndarray

from ricochet.hardware.microphones.interface import default_rig
from ricochet.hardware.microphones.simulated_drops import Scene, SimulatedRig
from ricochet.models.sound import channel_order
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.arrival_hypotheses import Tolerances
from ricochet.models.sound.channel_faults import ChannelFaultError
from ricochet.models.systems.bouncing_ball.listening import shared_errors, takes

PLACES = [(-0.30, -0.25, 0.0762), (0.25, -0.30, 0.0762), (0.0, 0.32, 0.0762), (0.40, 0.35, 0.15)]
BALLS = {"ping-pong": (0.85, 3.5), "tennis": (0.72, 3.0), "moon ball": (0.90, 1.8)}
LEVEL = 6 * 2.0**-15  # of the simulated background
Plant = Callable[[ndarray, int, np.random.Generator], tuple[ndarray, str]]


def in_order(samples: ndarray, channel: int, draw: np.random.Generator) -> tuple[ndarray, str]:
    """Nothing is wrong, so that any refusal is."""
    return samples, "nothing"


def flat(samples: ndarray, channel: int, draw: np.random.Generator) -> tuple[ndarray, str]:
    """An offset that wanders by the last bits."""
    wave = np.round(3 * np.sin(np.arange(samples.shape[1]) / 5000.0)) / 2**15
    samples[channel] = 0.01 + wave
    return samples, f"channel {channel} is flat"


def dead(samples: ndarray, channel: int, draw: np.random.Generator) -> tuple[ndarray, str]:
    """A microphone's own noise."""
    samples[channel] = LEVEL * draw.standard_normal(samples.shape[1])
    return samples, f"channel {channel} is dead"


def copied(samples: ndarray, channel: int, draw: np.random.Generator) -> tuple[ndarray, str]:
    """The next channel again, with another gain."""
    other = (channel + 1) % len(samples)
    samples[channel] = np.round(0.8 * samples[other] * 2**15) / 2**15
    return samples, "channels {} and {} are copies".format(*sorted((channel, other)))


def exchanged(samples: ndarray, channel: int, draw: np.random.Generator) -> tuple[ndarray, str]:
    """Two channels in each other's place."""
    other = (channel + 1) % len(samples)
    samples[[channel, other]] = samples[[other, channel]]
    return samples, "channels {} and {} look swapped".format(*sorted((channel, other)))


PLANTS: dict[str, Plant] = {
    "in order": in_order,
    "flat": flat,
    "dead": dead,
    "copied": copied,
    "swapped": exchanged,
}


def judged(recorded: list[ndarray], microphones: Microphones, known: Tolerances) -> str:
    """Return why a session is refused, or why none of its takes is usable, or nothing."""
    detected, faults, others = [], [], []
    for samples in recorded:
        try:
            detected.append(takes.detect(samples, microphones, tolerances=known))
        except ChannelFaultError as error:
            faults.append(str(error))
        except ValueError as error:
            others.append(str(error))
    if len(faults) >= 0.5 * len(recorded):
        return Counter(faults).most_common(1)[0][0]
    order = channel_order.swapped(shared_errors.impacts(detected, microphones), microphones)
    if order is not None:
        return channel_order.sentence(order)
    return "" if detected else f"lost: {others[0]}"


def session(settings: argparse.Namespace, channels: int, seed: int) -> dict[str, tuple[str, str]]:
    """Record one session and judge it with each fault: what was expected and what was said."""
    e, concentration = list(BALLS.values())[seed % len(BALLS)]
    rig = default_rig("simulated", sample_rate=44100, temperature=21.5, places=PLACES[:channels])
    scene = Scene(e, concentration, 0.26, snr=settings.snr, survey_sd=settings.survey)
    draw = np.random.default_rng(seed)
    recorder = SimulatedRig(rig, scene, draw=draw)
    recorded = [recorder.record(1.5).samples.astype(float) for _ in range(settings.drops)]
    known = Tolerances(place_sd=max(settings.survey, 1.5e-3), contact_sd=20e-6)
    channel = int(draw.integers(channels))
    said = {}
    for name, plant in PLANTS.items():
        spoilt = [plant(samples.copy(), channel, draw) for samples in recorded]
        answer = judged([samples for samples, _ in spoilt], rig.array(), known)
        said[name] = (spoilt[0][1], answer)
    return said


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=60)
    parser.add_argument("--drops", type=int, default=5)
    parser.add_argument("--survey", type=float, default=1.5e-3)
    parser.add_argument("--snr", type=float, default=28.0)
    settings = parser.parse_args()
    for channels in (3, 4):
        found = [session(settings, channels, seed) for seed in range(settings.sessions)]
        print(f"{channels} microphones, {settings.sessions} sessions of {settings.drops} drops")
        for name in PLANTS:
            print(row(name, [one[name] for one in found]))


def row(name: str, found: list[tuple[str, str]]) -> str:
    """One line of the table."""
    named = [expected in answer for expected, answer in found]
    wrong = [answer.startswith("chan") and expected not in answer for expected, answer in found]
    shares = ", ".join(
        f"{ball} {sum(named[number :: len(BALLS)])}" for number, ball in enumerate(BALLS)
    )
    return f"  {name:10s} named {sum(named):4d}  wrong {sum(wrong):4d}   {shares}"


if __name__ == "__main__":
    main()
