"""Sessions of simulated drops, clean or with a fault planted in them."""

import math

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.systems.bouncing_ball import problem, simulator
from ricochet.models.systems.bouncing_ball.calibration.calibrate import MeasuredDrops

PING_PONG = (0.85, 3.0)


def session(
    theta: tuple[float, float] | Float[Tensor, "drop 2"],
    drops: int,
    seed: int,
    *,
    bounces: int = 3,
    drift: float = 0.0,
    height: float | Float[Tensor, " drop"] = problem.REFERENCE_HEIGHT,
    stated: float | None = problem.REFERENCE_HEIGHT,
    release_sd: float = 0.0,
) -> MeasuredDrops:
    """Simulate a session; `drift` is added to the interval ratio at each later bounce.

    The balls fall from `height`, m; the session states another one, or none.
    """
    draw = torch.Generator().manual_seed(seed)
    rows = torch.as_tensor(theta, dtype=torch.float64).expand(drops, 2)
    bounced = simulator.simulate(
        rows[:, 0], 10.0 ** rows[:, 1], bounces=bounces, drop_height=height, draw=draw
    )
    noise = problem.constant_noise((drops,))
    times, places = problem.measure(bounced, noise, draw=draw)
    later = times.clone()
    if drift:
        later[:, 3:] = _drifting(times, drift)[:, 3:]
    return MeasuredDrops(
        times=times[:, :3],
        positions=places[:, :3],
        time_sd=noise.time_sd,
        position_sd=noise.position_sd,
        release=problem.constant_release(
            (drops,), height=math.nan if stated is None else stated, height_sd=release_sd
        ),
        later_times=tuple(np.array(row) for row in later.numpy()),
        names=tuple(f"take-{index:02d}" for index in range(drops)),
    )


def _drifting(times: Float[Tensor, "drop bounce"], drift: float) -> Float[Tensor, "drop bounce"]:
    """Stretch the n-th interval by the product of (1 + drift k), k = 1 .. n - 1."""
    intervals = torch.diff(times, dim=1)
    place = torch.arange(intervals.shape[1], dtype=times.dtype).clamp(min=1) - 1
    stretched = intervals * torch.cumprod(1 + drift * place, 0)
    return torch.cat([times[:, :1], times[:, :1] + torch.cumsum(stretched, 1)], dim=1)
