"""Angles and rates of a double pendulum from the places of three markers on it.

A polynomial is fitted to the angles about each frame (Savitzky and Golay): its value and slope are
the angle and the rate. Lengths have no unit of their own: a film's pixels serve.

Source: Heiden et al., section V-B and appendix II-B (rates by differences there); the film: Asseman
et al. 2018.
"""

import math

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import signal

WINDOW, ORDER = 11, 4
STEADY = 0.03
"""Deviation of a link's length, or of the pivot's place, over the length: beyond it markers are not
those of a pendulum on a fixed pivot."""
FASTEST = 1.0
"""Turn between two frames, rad, beyond which the way round is open."""


def angles(
    pivot: Float[ndarray, "frame 2"],
    elbow: Float[ndarray, "frame 2"],
    tip: Float[ndarray, "frame 2"],
) -> Float[ndarray, "frame 2"]:
    """Return the angle of link 1 from straight down and of link 2 from link 1, rad, unwrapped.

    >>> straight = angles(np.zeros((1, 2)), np.array([[1.0, 0.0]]), np.array([[2.0, 0.0]]))
    >>> straight.tolist()  # down is along the first column
    [[0.0, 0.0]]

    Args:
        pivot: Places, gravity along the first column, in any one unit.

    Raises:
        ValueError: If a link's length or the pivot is not steady, or a link turns too far between
            two frames.
    """
    links = elbow - pivot, tip - elbow
    shift = float(pivot.std(0).max() / np.linalg.norm(links[0], axis=1).mean())
    if not shift <= STEADY:
        raise ValueError(
            f"the pivot moves by {shift:.0%} of link 1, expected at most {STEADY:.0%}: markers or "
            "columns may be swapped"
        )
    for name, link in zip(("pivot to elbow", "elbow to tip"), links, strict=True):
        lengths = np.linalg.norm(link, axis=1)
        if not lengths.std() <= STEADY * lengths.mean():
            raise ValueError(
                f"the length from {name} varies by {lengths.std() / lengths.mean():.0%}, "
                f"expected at most {STEADY:.0%}: markers or columns may be swapped"
            )
    first, second = (np.unwrap(np.arctan2(link[:, 1], link[:, 0])) for link in links)
    return followed(np.stack((first, second - first), 1))


def followed(angles: Float[ndarray, "frame angle"]) -> Float[ndarray, "frame angle"]:
    """Return unwrapped angles, rad.

    Raises:
        ValueError: If one turns too far between two frames.
    """
    found = np.unwrap(angles, axis=0)
    steps = np.abs(np.diff(found, axis=0)).max(initial=0.0)
    if not steps <= FASTEST:
        raise ValueError(
            f"an angle changes by {steps:.2f} rad between two frames, expected at most {FASTEST}"
        )
    return found


def states(
    positions: Float[ndarray, "frame position"],
    rate: float,
    *,
    width: int = WINDOW,
    lag: float = 0.0,
) -> Float[ndarray, "frame state"]:
    """Return positions such as angles and their rates, rad and rad/s, of frames at a rate in Hz.

    >>> states(0.1 * np.arange(11.0)[:, None] * (1.0, -2.0), rate=400.0)[0].round(6)
    array([  0.,   0.,  40., -80.])

    Args:
        width: Frames to which each polynomial is fitted, an odd number.
        lag: Seconds before a frame of which its rates are.

    Raises:
        ValueError: If there are fewer frames than the fit takes.
    """
    if len(positions) < width:
        raise ValueError(f"{len(positions)} frames, expected at least {width}")
    smooth, *slopes = (
        signal.savgol_filter(positions, width, ORDER, deriv=order, delta=1.0 / rate, axis=0)
        for order in (range(ORDER + 1) if lag else (0, 1))
    )
    parts = ((-lag) ** order / math.factorial(order) * each for order, each in enumerate(slopes))
    return np.concatenate((smooth, sum(parts)), 1)
