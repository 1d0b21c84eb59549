"""The benchmark of regions of pendulums, at small size and in its lines."""

import numpy as np
import torch

from benchmarks.rigid_bodies import pendulum_coverage
from benchmarks.rigid_bodies.pendulum_coverage import Job, Outcome


def test_recordings_are_of_pendulums_within_the_limits_and_the_same_again() -> None:
    limits = pendulum_coverage.coordinates().limits
    for anywhere in (False, True):
        theta, seen = pendulum_coverage.recording(limits, Job(3, 8, anywhere))
        again, same = pendulum_coverage.recording(limits, Job(3, 8, anywhere))
        assert torch.equal(theta, again) and torch.equal(seen, same)
        assert bool(((theta >= limits.low) & (theta <= limits.high)).all())
        assert seen.shape == (401, 4) and bool(torch.isfinite(seen).all())


def test_lines_count_regions_that_hold_the_truth() -> None:
    shares = np.linspace(0.005, 0.995, 100)
    even = [Outcome(share, [share] * 8, 1.0, 1.05) for share in shares]
    lines = pendulum_coverage.lines(even)
    assert lines[1] == "90 % regions of all eight hold the truth: 0.90"
    assert lines[2].endswith("l, d_1, d_2: " + " ".join(["0.90"] * 8))
