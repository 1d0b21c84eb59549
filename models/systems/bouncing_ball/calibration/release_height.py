"""The height of release that the takes themselves tell, and whether the stated one agrees.

The absolute times that the features leave out (`problem`) hold the height. With u_i = d_i / t_i and
w_i = g t_i / 2 the speeds along and off the plane after bounce i, which the redraw keeps together,

    u2^2 + w2^2 = u1^2 + e^2 w1^2          restitution (Eq. 6 of Matl et al., normal part alone)
    u1^2 + w1^2 = 2 s0^2 + 2 g h e^2       the height; 2 s0^2 is the start speed's mean square

Each take tells h to about a per cent; a session's takes are joined by their median. A stated
height is used as it is, with its error, while the takes do not contradict it. A session that
states none, or one that its takes refute, gets the height of its takes.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from scipy import stats
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball.problem import Noise, Release

ALARM = 0.0025
"""Chance at which a stated height is refuted: the size of the other checks of a session."""
REACH = 1.1
"""Factor by which a height may be off through air that the paper's model lacks."""
_FAR = 3.0  # errors from the median beyond which a take's height is not that of the others
_FAR_SHARE = 0.03  # of sound takes: the square of the start speed has an exponential tail
_MEDIAN = 1.2533  # standard error of a median over that of a mean


class UnknownHeightError(ValueError):
    """A session states no height of release and none of its takes tells one."""


@dataclass(frozen=True)
class SessionHeight:
    """The height of release of one session.

    Attributes:
        stated: What the session states, m; None if nothing.
        height, height_sd: What is used and its standard error, m.
        from_takes, from_takes_sd: What the takes tell and its standard error, m.
        p_value: Chance of takes that disagree as much with what is stated; 1 if nothing is.
        spread_p_value: Chance of takes that disagree as much among each other.
    """

    stated: float | None
    height: float
    height_sd: float
    from_takes: float
    from_takes_sd: float
    p_value: float
    spread_p_value: float

    @property
    def refuted(self) -> bool:
        """Whether the takes contradict the stated height."""
        return self.p_value < ALARM

    @property
    def far(self) -> bool:
        """Whether a height is stated that the takes refute, and by more than air explains."""
        if self.stated is None or not self.refuted:
            return False
        return not 1.0 / REACH < self.stated / self.from_takes < REACH

    @property
    def source(self) -> str:
        """Where the height that is used comes from."""
        return "takes" if self.stated is None or self.refuted else "stated"


def settle(
    times: Float[Tensor, "drop 3"],
    positions: Float[Tensor, "drop 3 2"],
    noise: Noise,
    release: Release,
) -> tuple[Release, tuple[SessionHeight, ...]]:
    """Return each drop's release, and how each session came to the height of its own.

    Args:
        times, positions: Of the first three bounces, s and m.
        release: What is stated, with its error; a height that is not a number is not stated.

    Raises:
        UnknownHeightError: If a session states no height and its takes tell none.
    """
    heights, errors = by_take(times, positions, noise, horizontal_sd=release.horizontal_sd)
    height, height_sd = release.height.clone(), release.height_sd.clone()
    found = []
    for number in range(int(release.session.max()) + 1):
        rows = release.session == number
        mine = rows.numpy() & np.isfinite(heights)
        stated, sd = float(release.height[rows][0]), float(release.height_sd[rows][0])
        floor = release.horizontal_sd**2 / GRAVITY  # m: the median of rho^2 is not its mean
        one = _session(heights[mine], errors[mine], stated, sd, floor)
        height[rows], height_sd[rows] = one.height, one.height_sd
        found.append(one)
    return Release(height, height_sd, release.session, release.horizontal_sd), tuple(found)


def by_take(
    times: Float[Tensor, "drop 3"],
    positions: Float[Tensor, "drop 3 2"],
    noise: Noise,
    *,
    horizontal_sd: float,
) -> tuple[Float[ndarray, " drop"], Float[ndarray, " drop"]]:
    """Return the height that each take tells, m, and its error relative to it.

    Where a take tells none, its height is not a number.
    """
    flights = times.double().diff(dim=-1)
    lengths = torch.linalg.vector_norm(positions.double().diff(dim=-2), dim=-1)
    time_sd, position_sd = noise.time_sd.double()[:, None], noise.position_sd.double()[:, None]
    along = (lengths**2 - 4.0 * position_sd**2) / flights**2
    off = (0.5 * GRAVITY * flights) ** 2
    start = 2.0 * horizontal_sd**2
    speed, energy = along[:, 0] + off[:, 0], off[:, 1] + along[:, 1] - along[:, 0]
    height = (speed - start) * off[:, 0] / (2.0 * GRAVITY * energy)
    # variances: of a squared speed along by the places, of one off the plane by the times
    by_place = 8.0 * along.clamp(min=0.0) * (position_sd / flights) ** 2
    by_time = 8.0 * (off * time_sd / flights) ** 2
    variance = (start**2 + by_place[:, 0]) / speed**2 + 4.0 * by_time[:, 0] / off[:, 0] ** 2
    variance = variance + (by_place.sum(-1) + by_time[:, 1]) / energy**2
    sound = (height > 0.0) & (energy > 0.0) & (flights > 0.0).all(-1) & torch.isfinite(variance)
    return torch.where(sound, height, torch.nan).numpy(), variance.sqrt().numpy()


def _session(
    heights: Float[ndarray, " drop"],
    errors: Float[ndarray, " drop"],
    stated: float,
    sd: float,
    floor: float,
) -> SessionHeight:
    """Join the heights of a session's takes and hold the stated one against them."""
    if len(heights) == 0:
        if not math.isfinite(stated):
            raise UnknownHeightError("height of release: none is stated and no take tells one")
        return SessionHeight(stated, stated, sd, math.nan, math.nan, 1.0, 1.0)
    logs = np.log(heights)
    centre = float(np.median(logs))
    scatter = 1.4826 * float(np.median(np.abs(logs - centre)))
    each = max(scatter, float(np.median(errors)))
    found = math.exp(centre)
    found_sd = math.hypot(found * _MEDIAN * each / math.sqrt(len(logs)), floor)
    share = np.hypot(errors, sd / found)
    far = int((np.abs(logs - centre) > _FAR * share).sum())
    spread = float(stats.binom.sf(far - 1, len(logs), _FAR_SHARE))
    if not math.isfinite(stated):
        return SessionHeight(None, found, found_sd, found, found_sd, 1.0, spread)
    z = (math.log(stated) - centre) / math.hypot(sd / stated, found_sd / found)
    chance = float(2.0 * stats.norm.sf(abs(z)))
    one = SessionHeight(stated, stated, sd, found, found_sd, chance, spread)
    return replace(one, height=found, height_sd=found_sd) if one.refuted else one
