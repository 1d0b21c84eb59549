"""Errors of the bounces of simulated takes over what is stated, by the number of the bounce.

Balls dropped on the table are recorded as the simulated rig records them (room, faint late bounces,
16 bit) by microphones that stand where they are stated, so that no survey error is in what is left:
what is stated must be `listening.shared_errors.own_errors`. A detection belongs to the bounce whose
sound is nearest, within 2 ms; else it is a false alarm. For each number of bounce:

    there      takes that hold it
    found      of them, detected
    outlier    of the detected, flagged
    time       root mean square of error over stated deviation, without flagged ones; errors of
               times about their mean over all takes, as a constant shift has no meaning
    place      the same per axis
    us, mm     root mean square of the errors themselves
    far        places off by more than five stated deviations that were not flagged

Run `python -m benchmarks.sound.bounces [--takes N] [--restitution E] [--log10-concentration K]
[--height H] [--duration T] [--snr DB] [--survey M]`; the survey is the deviation that the localiser
is given (`calibrate.survey_sd`), and is taken out again.
"""

import argparse
import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy import ndarray

from ricochet.hardware.microphones import acoustics
from ricochet.hardware.microphones.acoustics import Acoustics
from ricochet.hardware.microphones.interface import default_rig
from ricochet.models.core.constants import GRAVITY
from ricochet.models.sound.arrival_hypotheses import Tolerances
from ricochet.models.systems.bouncing_ball import simulator
from ricochet.models.systems.bouncing_ball.listening import shared_errors, takes

NEAR = 2e-3  # s
RELEASE = 0.05  # s after the take's start
FAR = 5.0
TABLE = 0.75  # m from the middle to the edge, where the ball is gone


@dataclass(frozen=True)
class Bounce:
    """One bounce: whether it was detected and flagged, its errors and what is stated of them."""

    found: bool
    outlier: bool = False
    time: float = math.nan
    time_sd: float = math.nan
    place: ndarray | None = None
    covariance: ndarray | None = None


@dataclass(frozen=True)
class Outcome:
    """The bounces of one take in order, false alarms among its detections, and stated gaps."""

    bounces: list[Bounce]
    false_alarms: int
    gaps: int


def drop(settings: argparse.Namespace, seed: int) -> tuple[ndarray, ndarray, ndarray]:
    """Return times, places and normal speeds of the bounces within the take."""
    found = simulator.simulate(
        torch.tensor(settings.restitution, dtype=torch.float64),
        torch.tensor(10.0**settings.log10_concentration, dtype=torch.float64),
        bounces=settings.bounces,
        drop_height=settings.height,
        draw=torch.Generator().manual_seed(seed),
    )
    exits = found.velocities.numpy()[:, 2]
    speeds = np.concatenate(([math.sqrt(2 * GRAVITY * settings.height)], exits[:-1]))
    times = found.times.numpy() + RELEASE
    away = np.abs(found.positions.numpy()[:, :2]).max(axis=1)
    inside = (times < settings.duration - 5e-3) & (np.maximum.accumulate(away) < TABLE)
    return times[inside], found.positions.numpy()[inside], speeds[inside]


def run(settings: argparse.Namespace, seed: int) -> Outcome | None:
    """Simulate and detect one take; None where it is refused."""
    rig = default_rig("simulated", sample_rate=44100, temperature=21.5)
    scene = Acoustics(
        settings.reverberation, settings.snr, survey_sd=0.0, contact_sd=settings.contact
    )
    draw = np.random.default_rng(seed)
    setup = acoustics.set_up(rig, scene, drop_height=settings.height, draw=draw)
    times, places, speeds = drop(settings, seed)
    clicks = acoustics.clicks(times, places, speeds, setup=setup, draw=draw)
    sound = acoustics.render(clicks, setup=setup, duration=settings.duration, draw=draw)
    samples = acoustics.converted(sound).astype(np.float64)
    known = Tolerances(place_sd=settings.survey, contact_sd=settings.contact)
    try:
        take = takes.detect(samples, rig.array(), tolerances=known)
    except ValueError as error:
        print(f"  take {seed} refused: {error}")
        return None
    own = shared_errors.own_errors(take, rig.array(), place_sd=settings.survey)
    nearest = np.abs(take.times[:, None] - times).argmin(axis=1)
    right = np.abs(take.times - times[nearest]) < NEAR
    bounces = [Bounce(False) for _ in times]
    for row in np.flatnonzero(right):
        number = nearest[row]
        bounces[number] = Bounce(
            True,
            bool(take.outliers[row]),
            float(take.times[row] - times[number]),
            float(own.time_sd[row]),
            None if take.positions is None else take.positions[row] - places[number, :2],
            own.covariances[row],
        )
    return Outcome(bounces, int((~right).sum()), len(take.missing))


def line(number: int, bounces: list[Bounce], shift: float) -> str:
    """One line of the table."""
    found = [bounce for bounce in bounces if bounce.found]
    used = [bounce for bounce in found if not bounce.outlier]
    head = (
        f"{number + 1:4d}{len(bounces):7d}{len(found) / len(bounces):8.2f}"
        f"{sum(b.outlier for b in found) / max(len(found), 1):9.3f}"
    )
    if not used:
        return head
    late = np.array([bounce.time - shift for bounce in used])
    away = np.array([bounce.place for bounce in used])
    square = np.array([b.place @ np.linalg.solve(b.covariance, b.place) for b in used]) / 2
    sd = np.array([bounce.time_sd for bounce in used])
    near = square < FAR**2
    return head + (
        f"{root(late / sd):8.2f}{np.sqrt(square[near].mean()):8.2f}{1e6 * root(late):9.1f}"
        f"{1e3 * root(away[near]):9.3f}{(~near).mean():8.3f}"
    )


def root(values: ndarray) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(values**2)))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    numbers = {
        "restitution": 0.85, "log10-concentration": 3.5, "height": 0.26, "duration": 3.0,
        "snr": 28.0, "reverberation": 0.35, "contact": 20e-6, "survey": 1.5e-3,
    }  # fmt: skip
    for name, value in numbers.items():
        parser.add_argument(f"--{name}", type=float, default=value)
    parser.add_argument("--takes", type=int, default=40)
    parser.add_argument("--bounces", type=int, default=40)
    settings = parser.parse_args()
    outcomes = [found for seed in range(settings.takes) if (found := run(settings, seed))]
    first = [b.time for o in outcomes for b in o.bounces[:5] if b.found and not b.outlier]
    shift = float(np.mean(first))
    print(f"{len(outcomes)} of {settings.takes} takes, constant shift {1e6 * shift:.1f} us")
    heads = ("there", "found", "outlier", "time", "place", "us", "mm", "far")
    widths = (7, 8, 9, 8, 8, 9, 9, 8)
    print("    " + "".join(f"{head:>{width}s}" for head, width in zip(heads, widths, strict=True)))
    for number in range(max(last(outcome) for outcome in outcomes)):
        rows = [o.bounces[number] for o in outcomes if number < len(o.bounces)]
        print(line(number, rows, shift))
    within = [gaps(outcome) for outcome in outcomes]
    print(
        f"a take: {np.mean([len(o.bounces) for o in outcomes]):.1f} bounces, "
        f"{np.mean([sum(b.found for b in o.bounces) for o in outcomes]):.1f} detected, "
        f"{np.mean([o.false_alarms for o in outcomes]):.2f} false alarms, "
        f"{np.mean(within):.2f} missed before the last one, "
        f"{np.mean([o.gaps for o in outcomes]):.2f} stated as missing"
    )


def gaps(outcome: Outcome) -> int:
    """Return how many bounces were missed before the last one that was detected."""
    return last(outcome) - sum(bounce.found for bounce in outcome.bounces)


def last(outcome: Outcome) -> int:
    """Return the number of the last bounce that was detected, from 1 on."""
    return max(number + 1 for number, bounce in enumerate(outcome.bounces) if bounce.found)


if __name__ == "__main__":
    main()
