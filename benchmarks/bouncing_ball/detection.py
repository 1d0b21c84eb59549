"""How well tossed balls are detected in real time, against how often a path is blocked.

    python -m benchmarks.bouncing_ball.detection [TOSSES [OCCLUSION ...]]

A bounce is detected by the event within 20 ms of it, missed where there is none; an event without
a bounce is a false alarm. It is an outlier where its event is flagged, has no position, or is more
than 50 mm off; `unflagged` are those that are off and do not say so. Shares are over all bounces;
missed ones are not outliers. `spoilt` is the share of tosses with an outlier.
"""

import sys
import time
from dataclasses import replace

import numpy as np

from ricochet.hardware.microphones import stream
from ricochet.hardware.microphones.interface import default_rig
from ricochet.hardware.twins.occlusions import Obstacles
from ricochet.hardware.twins.tossed_ball import Laboratory, Surroundings
from ricochet.models.sound.impact_stream import BounceEvent
from ricochet.models.systems.bouncing_ball.balls import BALLS, Ball

NEAR = 0.020  # s
FAR = 0.050  # m


def measure(ball: Ball, obstacles: Obstacles, *, tosses: int, seed: int = 1) -> dict[str, float]:
    """Toss and detect; return shares over bounces, the inliers' mean error in mm, and ms a toss."""
    draw = np.random.default_rng(seed)
    laboratory = Laboratory(
        default_rig("twin"), ball, replace(Surroundings(), obstacles=obstacles), draw=draw
    )
    rows, number, false_alarms, begun = [], [], 0, time.process_time()
    for toss_number in range(tosses):
        listener = laboratory.toss()
        events = [event for _, found in stream.events(listener) for event in found]
        toss = laboratory.truth_for_evaluation().toss
        rows += [_row(*bounce, events) for bounce in zip(toss.times, toss.positions, strict=True)]
        number += [toss_number] * len(toss.times)
        false_alarms += len(events) - sum(
            bool(np.any(np.abs(toss.times - event.time) < NEAR)) for event in events
        )
    spent = time.process_time() - begun
    detected, flagged, error = np.array(rows).T
    wrong = (detected > 0) & ((flagged > 0) | (error > FAR))
    good = (detected > 0) & ~wrong
    return {
        "bounces": len(rows) / tosses,
        "missed": 1.0 - detected.mean(),
        "false alarms": false_alarms / len(rows),
        "outliers": wrong.mean(),
        "unflagged": (wrong & (flagged == 0)).mean(),
        "without place": (wrong & np.isinf(error)).mean(),
        "spoilt": len(set(np.array(number)[wrong])) / tosses,
        "inliers' mean mm": 1e3 * float(np.mean(error[good])) if good.any() else np.nan,
        "placed outliers' median mm": _median(1e3 * error[wrong & np.isfinite(error)]),
        "ms a toss": 1e3 * spent / tosses,
    }


def _median(values: np.ndarray) -> float:
    """Median, NaN of nothing."""
    return float(np.median(values)) if len(values) else np.nan


def _row(when: float, where: np.ndarray, events: list[BounceEvent]) -> tuple[float, float, float]:
    """Whether a bounce was detected, flagged, and how far off it was placed, m."""
    near = [event for event in events if abs(event.time - when) < NEAR]
    if not near:
        return 0.0, 0.0, np.inf
    event = min(near, key=lambda candidate: abs(candidate.time - when))
    off = np.inf if event.position is None else np.linalg.norm(event.position - where[:2])
    return 1.0, float(event.outlier or event.position is None), float(off)


def main() -> None:
    """Print the table."""
    tosses = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    shares = [float(text) for text in sys.argv[2:]] or [0.0, 0.05, 0.10, 0.15, 0.20, 0.30]
    for occlusion in shares:
        for seed, ball in enumerate(BALLS.values()):
            found = measure(ball, Obstacles(occlusion=occlusion), tosses=tosses, seed=seed)
            cells = "  ".join(f"{name} {value:.3f}" for name, value in found.items())
            print(f"{occlusion:4.2f}  {ball.name:10s}  {cells}")


if __name__ == "__main__":
    main()
