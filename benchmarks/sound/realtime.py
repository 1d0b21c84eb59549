"""The real-time path: cost of a buffer, latency and errors: `python -m benchmarks.sound.realtime`.

A ball bounces in a room (three microphones round the table, signal-to-noise ratio 20 dB); its sound
arrives in buffers of 485 frames (11 ms). Printed: the cost of a buffer (wall clock, and processor
time of the thread, which other work on the machine does not touch), over all buffers and over those
that decided an impact; how long after an impact its event is out (end of the buffer that decided it
less the true time of emission); errors of the position beside the ones of the offline localiser
and of whole-sample peaks, which is what one would write first; whether the covariance holds them
(the squared error over the covariance is 2 on average when it does); misses and false alarms.
"""

import argparse
import time
from collections.abc import Iterator

import numpy as np

from ricochet.models.sound import (
    impact_stream,
    impact_synthesis,
    localisation,
    multilateration,
    onsets,
)
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.impact_stream import BounceEvent
from ricochet.models.sound.room_acoustics import Room

BUFFER = 485
"""Frames of a buffer: 11 ms at 44.1 kHz."""
PLACES = ((-0.30, -0.25, 0.0762), (0.25, -0.30, 0.0762), (0.0, 0.32, 0.0762))


def sessions(
    count: int, reverberation_time: float | None, draw: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Samples, times and places of twenty impacts each, on the table."""
    microphones = Microphones(np.array(PLACES), 44100.0)
    room = None
    if reverberation_time is not None:
        room = Room(reverberation_time=reverberation_time)
    for _ in range(count):
        times = 0.5 + np.cumsum(draw.uniform(0.15, 0.5, 20))
        places = np.column_stack([draw.uniform(-0.25, 0.25, (20, 2)), np.zeros(20)])
        yield (
            impact_synthesis.render(
                times,
                places,
                draw.uniform(0.5, 1.0, 20),
                microphones=microphones,
                duration=float(times[-1]) + 0.5,
                draw=draw,
                room=room,
                noise=impact_synthesis.Background(snr=20.0),
            ),
            times,
            places[:, :2],
        )


def stream(samples: np.ndarray, microphones: Microphones) -> tuple[list, list]:
    """Events with the time at which they were out, and the cost of each buffer."""
    state = impact_stream.init(microphones)
    events, costs = [], []
    for first in range(0, samples.shape[1], BUFFER):
        buffer = samples[:, first : first + BUFFER]
        wall, thread = time.perf_counter(), time.thread_time()
        state, found = impact_stream.step(state, buffer)
        spent = time.perf_counter() - wall, time.thread_time() - thread
        costs.append((*spent, len(found)))
        out = (first + buffer.shape[1]) / microphones.sample_rate
        events.extend((event, out) for event in found)
    return events, costs


def offline(samples: np.ndarray, event: BounceEvent, microphones: Microphones) -> np.ndarray:
    """Place by the offline localiser at the same arrival."""
    return localisation.locate(samples, event.arrival, microphones=microphones).position


def whole_sample_peaks(
    samples: np.ndarray, event: BounceEvent, microphones: Microphones
) -> np.ndarray:
    """Place by the loudest sample of each channel within 5 ms."""
    first = round((event.arrival - 0.5e-3) * microphones.sample_rate)
    span = np.abs(samples[:, first : first + round(5e-3 * microphones.sample_rate)])
    times = span.argmax(axis=1) / microphones.sample_rate
    region = multilateration.surroundings(microphones)
    fixes = multilateration.solve(times, np.full(3, 1e-5), microphones=microphones, region=region)
    return fixes[0].position if fixes else np.full(2, np.nan)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=10, help="sessions of 20 impacts a room")
    arguments = parser.parse_args()
    microphones = Microphones(np.array(PLACES), 44100.0)
    costs = []
    print(
        f"{'room':16s}{'method':14s}{'mean mm':>9s}{'median':>9s}{'p95':>9s}{'worst':>9s}"
        f"{'flagged':>9s}{'missed':>8s}{'false alarms':>14s}{'e2/cov':>8s}"
    )
    latencies: list[float] = []
    for name, reverberation in (("free field", None), ("RT60 0.3 s", 0.3), ("RT60 0.4 s", 0.4)):
        draw = np.random.default_rng(7)
        rows: list[tuple[float, float, float, bool, float]] = []
        missed = false_alarms = 0
        for samples, times, places in sessions(arguments.sessions, reverberation, draw):
            events, spent = stream(samples, microphones)
            costs.extend(spent)
            hits = set()
            for event, out in events:
                nearest = int(np.argmin(np.abs(times - event.time)))
                if abs(times[nearest] - event.time) > 2e-3 or nearest in hits:
                    false_alarms += 1
                    continue
                hits.add(nearest)
                latencies.append(out - times[nearest])
                rows.append(_errors(samples, event, places[nearest], microphones))
            missed += len(times) - len(hits)
        _print_rows(name, rows, missed, false_alarms)
    _print_costs(np.array(costs), np.array(latencies))
    _print_agreement(microphones)


def _errors(
    samples: np.ndarray, event: BounceEvent, place: np.ndarray, microphones: Microphones
) -> tuple[float, float, float, bool, float]:
    """Errors in mm: real time, offline, whole-sample peaks; the flag; normalised square."""
    others = [
        1e3 * float(np.linalg.norm(method(samples, event, microphones) - place))
        for method in (offline, whole_sample_peaks)
    ]
    if event.position is None or event.covariance is None:
        return (np.nan, *others, True, np.nan)
    away = event.position - place
    square = float(away @ np.linalg.solve(event.covariance, away))
    return (1e3 * float(np.linalg.norm(away)), *others, event.outlier, square)


def _print_rows(name: str, rows: list, missed: int, false_alarms: int) -> None:
    table = np.array([row[:3] for row in rows])
    flagged = np.mean([row[3] for row in rows])
    square = np.nanmean([row[4] for row in rows])
    for column, method in enumerate(("real time", "offline", "peak sample")):
        errors = table[:, column]
        line = f"{name:16s}{method:14s}{np.nanmean(errors):9.3f}{np.nanmedian(errors):9.3f}"
        line += f"{np.nanquantile(errors, 0.95):9.3f}{np.nanmax(errors):9.3f}"
        if column == 0:
            line += f"{flagged:9.3f}{missed:8d}{false_alarms:14d}{square:8.2f}"
        print(line)


def _print_costs(costs: np.ndarray, latencies: np.ndarray) -> None:
    deciding = costs[:, 2] > 0
    print(f"\n{'cost of a buffer, ms':34s}{'buffers':>9s}{'median':>9s}{'p99':>9s}{'most':>9s}")
    for column, clock in enumerate(("wall", "processor")):
        for kind, chosen in (("all", np.full(len(costs), True)), ("with an impact", deciding)):
            spent = 1e3 * costs[chosen, column]
            print(
                f"{clock + ', ' + kind:34s}{len(spent):9d}{np.median(spent):9.3f}"
                f"{np.quantile(spent, 0.99):9.3f}{spent.max():9.3f}"
            )
    print(
        f"\nlatency, ms: median {1e3 * np.median(latencies):.1f}, p99 "
        f"{1e3 * np.quantile(latencies, 0.99):.1f}, most {1e3 * latencies.max():.1f} "
        f"({1e3 * latencies.max() * 44100 / BUFFER / 1e3:.1f} buffers)"
    )


def _print_agreement(microphones: Microphones) -> None:
    """Compare arrivals with the offline detector's on one session."""
    ((samples, _, _),) = sessions(1, 0.35, np.random.default_rng(11))
    events, _ = stream(samples, microphones)
    live = np.array([event.arrival for event, _ in events])
    found = onsets.detect(samples, microphones.sample_rate).times
    both = np.abs(live[:, None] - found).min(axis=1) if len(live) else np.zeros(0)
    print(
        f"arrivals, live {len(live)}, offline {len(found)}, apart at most {1e6 * both.max():.0f} us"
    )


if __name__ == "__main__":
    main()
