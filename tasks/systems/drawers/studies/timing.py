"""How long an estimate takes after the end of a frame, fed in buffers of 11 ms on one thread.

Networks are of the usual size, trained for a moment: time does not depend on what they say.
"""

import time
from dataclasses import replace

import numpy as np
import torch

from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.models.systems.drawers import learning, live
from ricochet.models.systems.drawers.labels import SAMPLE_RATE
from ricochet.models.systems.drawers.learning import Size
from ricochet.models.systems.drawers.tracking.pace import Seen
from ricochet.tasks.console.threads import use_one_thread
from ricochet.tasks.systems.drawers.studies import recorded

BUFFER = 176
"""Samples, 11 ms."""
SECONDS = 30.0
LIT = 0.5
"""Of it, while beliefs are rehearsed as well."""
DRAWER, NOISE = "kitchen-large", 0.003


def frame_ms() -> dict[str, float]:
    """Return the median and the 99th percentile of the time that a frame's last buffer takes."""
    use_one_thread()
    setting = Setting(DRAWER, seconds=SECONDS, light_off=10.0)
    made = [recorded.session(setting, seed) for seed in range(2)]
    usual = Size()
    moment = {
        name: replace(getattr(usual, name), epochs=1) for name in ("speed", "place", "direction")
    }
    cases = [(each.frames.features, each.frames.labels) for each in made]
    heard = learning.fit(cases, torch.Generator().manual_seed(0), size=Size(**moment))
    samples = made[0].take.samples
    stream, taken = live.begin(heard, len(samples)), []
    times, positions = made[0].take.motion.T
    for begin in range(0, samples.shape[1], BUFFER):
        end = (begin + BUFFER) / SAMPLE_RATE
        lit = end < LIT * SECONDS
        seen = Seen(float(np.interp(end, times, positions)), NOISE) if lit else None
        begun = time.perf_counter()
        stream, found = live.feed(stream, samples[:, begin : begin + BUFFER], seen)
        if found:
            taken.append(1e3 * (time.perf_counter() - begun))
    median, p99 = np.quantile(taken, [0.5, 0.99])
    return {"median": round(float(median), 3), "p99": round(float(p99), 3)}
