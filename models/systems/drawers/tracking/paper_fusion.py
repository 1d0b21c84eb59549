"""Where a drawer is by camera and sound as Baum et al. have it (Sec. IV-B), and baselines.

While there is light the joint filter takes the velocities by the sound (Eq. 4) as well as what the
camera measures: `scene.py` and `track_sight.py` do so. In the dark they alone move it, and its mean
is kept between the limits that were seen. Without sound a filter can hold the last place, or go on
with the last velocity.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.drawers.kinematics import joints
from ricochet.models.systems.drawers.kinematics.joints import Joint


@dataclass(frozen=True)
class Lit:
    """What a filter knew at the end of each frame while there was light, by camera or by both.

    Attributes:
        prismatic: The joint after each of the first frames, then nothing.
        zero: Its opening where the drawer is closed, m.
    """

    prismatic: Sequence[Joint]
    zero: float = 0.0

    @property
    def places(self) -> Float[ndarray, " lit"]:
        """Opening after each lit frame, m."""
        return np.array([_opening(joint) - self.zero for joint in self.prismatic])


@dataclass(frozen=True)
class Velocities:
    """Velocities by the sound.

    Attributes:
        mean: Of each frame, speed times filtered sign, m/s.
        deviation: Their error in training, m/s.
    """

    mean: Float[ndarray, " frame"]
    deviation: float


def fused(both: Lit, heard: Velocities, duration: float) -> Float[ndarray, " frame"]:
    """Return the opening after each frame by the paper's filter, m.

    Args:
        both: By camera and sound, while there was light.
        heard: By the sound.
        duration: Of a frame, s.
    """
    velocities = heard.mean
    places = np.zeros(len(velocities))
    count = min(len(both.prismatic), len(velocities))
    if not count:
        return places
    places[:count] = both.places[:count]
    low, high = float(places[:count].min()), float(places[:count].max())
    joint = both.prismatic[count - 1]
    for frame in range(count, len(velocities)):
        ahead = joints.predict(joint, duration)
        joint = joints.hear(ahead, float(velocities[frame]), heard.deviation)
        joint = joints.within(joint, low + both.zero, high + both.zero)
        places[frame] = _opening(joint) - both.zero
    return places


def held(lit: Lit, frames: int) -> Float[ndarray, " frame"]:
    """Return the opening of who holds the last place in the dark, m."""
    places = lit.places
    last = places[-1] if len(places) else 0.0
    return np.concatenate([places, np.full(frames - len(places), last)])[:frames]


def coasting(lit: Lit, frames: int, duration: float) -> Float[ndarray, " frame"]:
    """Return the opening of who goes on with the last velocity, between limits seen, m."""
    places = lit.places
    if not len(places):
        return np.zeros(frames)
    state = lit.prismatic[-1].state
    velocity = 0.0 if state is None else float(state[3])
    ahead = places[-1] + velocity * duration * np.arange(1, frames - len(places) + 1)
    dark = np.clip(ahead, places.min(), places.max())
    return np.concatenate([places, dark])[:frames]


def _opening(joint: Joint) -> float:
    return 0.0 if joint.state is None else float(joint.state[2])
