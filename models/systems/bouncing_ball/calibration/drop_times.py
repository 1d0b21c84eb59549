r"""How likely the bounce times of a drop are, given ball, air and detector.

After bounce n a ball leaves at the vertical speed u_n = exp(x_n). In air of drag k (`air`), with
q = k u^2 / g, it is away for the time T and comes back at the speed w,

    T(u) = [atan(sqrt q) + arsinh(sqrt q)] / sqrt(k g),      w(u) = u / sqrt(1 + q),

which are the closed forms of `flight` for a vertical flight. The contact (`contact`) and the
detector then give

    x_{n+1} = log(e(w_n) w_n) + s N(0, 1),        t_n = tau_n + eps_n,    tau_{n+1} = tau_n + T(u_n)
    eps_n ~ (1 - p) N(0, sd_n^2 + j^2) + p N(0, WIDE^2).

One scatter s stands for what a contact varies by and for what collision noise does to the vertical
speed. The jitter j is what echoes and ringing add to the deviation sd_n that the detector states;
it is added, not multiplied, because it is the same sound that rings at every bounce. The second
component is a late or false detection. The prior of x_0 and of tau_0 is flat.

An extended Kalman filter in (x, tau) integrates the path; the two components of a time are merged
into one normal law by their moments, except for the first two times, which nothing before them
judges: their three likely cases are carried to the end. Missed bounces are flights without a time.
The logarithm of the restitution is taken to be linear in that of the speed about the speed that an
interval shows, which is right to 1e-5 as long as a bounce scatters by less than a few per cent.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball.restitution_laws import RestitutionLaw

OUTLIERS = 0.03
"""Share p of detections that are late or false."""
WIDE = 3e-3
"""Their standard deviation, s: echoes from a few metres."""
_LEAST_DRAG = 1e-7  # 1/m, where the closed forms are still accurate: no air
_LOG_SPEEDS = (math.log(1e-3), math.log(50.0))  # m/s, which a filter that is lost stays within
_BUMP = 1e-4  # of the speed, over which restitution is differenced
_CASES = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])


@dataclass(frozen=True)
class Drop:
    """The detected bounces of one drop.

    Attributes:
        times, time_sd: Ascending, and the detector's standard deviations, s.
        missing: Indices n such that one bounce between n and n + 1 was missed.
    """

    times: Float[ndarray, " bounce"]
    time_sd: Float[ndarray, " bounce"]
    missing: tuple[int, ...] = ()


@dataclass(frozen=True)
class Ball:
    """What all drops of a recording share.

    Attributes:
        restitution: At the reference speed of `contact`.
        slope: Of the linear law, s/m.
        drag: k, 1/m.
        scatter: s.
        jitter: j, s.
    """

    restitution: Float[ndarray, "*point"]
    slope: Float[ndarray, "*point"]
    drag: Float[ndarray, "*point"]
    scatter: Float[ndarray, "*point"]
    jitter: Float[ndarray, "*point"]


@dataclass(frozen=True)
class Forecast:
    """What the filter predicts of the times after the second, the first two taken as sound.

    Attributes:
        surprise: Observed less predicted time over the predicted standard deviation.
        sound: Probability that the detection is neither late nor false.
    """

    surprise: Float[ndarray, "time ..."]
    sound: Float[ndarray, "time ..."]


@dataclass(frozen=True)
class _Belief:
    """Means of x and tau, and their variances and covariance."""

    x: ndarray
    tau: ndarray
    xx: ndarray
    xt: ndarray
    tt: ndarray


@dataclass(frozen=True)
class _Scene:
    """What the steps of the filter read; the last axis is that of the cases.

    Attributes:
        noise: Variance of each sound time, s^2.
        nominal, level, bend: Logarithm of about the impact speed of every contact, log restitution
            there and its derivative by the former.
        contact: Number of the contact that ends the flight after each detection.
    """

    drag: ndarray
    scatter: ndarray
    noise: ndarray
    nominal: ndarray
    level: ndarray
    bend: ndarray
    contact: tuple[int, ...]


def duration(speed: Float[ndarray, "..."], drag: Float[ndarray, "..."]) -> ndarray:
    """Return the time of a vertical flight, s, by its exit speed, m/s, and k, 1/m.

    >>> float(duration(np.array(4.903325), np.array(0.0))).__round__(3)
    1.0
    """
    k = np.maximum(drag, _LEAST_DRAG)
    root = speed * np.sqrt(k / GRAVITY)
    return np.asarray((np.arctan(root) + np.arcsinh(root)) / np.sqrt(k * GRAVITY))


def impact(speed: Float[ndarray, "..."], drag: Float[ndarray, "..."]) -> ndarray:
    """Return the speed, m/s, at which a ball comes back that left at a speed, m/s.

    >>> float(impact(np.array(2.0), np.array(0.0)))
    2.0
    """
    return np.asarray(speed / np.sqrt(1.0 + drag * speed * speed / GRAVITY))


def apex(speed: Float[ndarray, "..."], drag: Float[ndarray, "..."]) -> ndarray:
    """Return how high, m, a ball rises that left at a speed, m/s: ln(1 + k u^2 / g) / (2 k).

    >>> float(apex(np.array(4.4287), np.array(0.0))).__round__(3)
    1.0
    """
    k = np.maximum(drag, _LEAST_DRAG)
    return np.asarray(np.log1p(k * speed * speed / GRAVITY) / (2.0 * k))


def exit_speed(interval: float, drag: Float[ndarray, "*point"]) -> Float[ndarray, "*point"]:
    """Return the speed, m/s, with which a ball leaves that is away for an interval, s.

    >>> float(exit_speed(1.0, np.array(0.0))).__round__(3)
    4.903
    """
    x = np.full(np.shape(drag), math.log(0.5 * GRAVITY * interval))
    for _ in range(5):
        u = np.asarray(np.exp(x))
        x = x - (duration(u, drag) - interval) / _stretch(u, drag)
    return np.asarray(np.exp(x))


def log_likelihood(drop: Drop, ball: Ball, *, law: RestitutionLaw) -> Float[ndarray, "*point"]:
    """Return the log density of the times after the first, s^-1 each, under every ball."""
    total = sum(gain for gain, _, _ in _filtered(drop, ball, law))
    return np.asarray(np.logaddexp.reduce(np.asarray(total), axis=-1))


def forecast(drop: Drop, ball: Ball, *, law: RestitutionLaw) -> Forecast:
    """Return what is predicted of every time after the second, given those before it."""
    found = list(_filtered(drop, ball, law))[1:]
    return Forecast(
        np.stack([surprise[..., 0] for _, surprise, _ in found]),
        np.stack([sound[..., 0] for _, _, sound in found]),
    )


def _filtered(
    drop: Drop, ball: Ball, law: RestitutionLaw
) -> Iterator[tuple[ndarray, ndarray, ndarray]]:
    """Yield each time's log density, surprise and chance to be sound, by point and case."""
    scene = _scene(drop, ball, law)
    belief, gain = _begin(drop, scene)
    yield gain, gain, gain
    for index in range(1, len(drop.times) - 1):
        first, last = scene.contact[index - 1] + 1, scene.contact[index]
        for number in range(first, last + 1):
            belief = _advance(belief, scene, number)
        found = _see(belief, float(drop.times[index + 1]), scene.noise[index + 1])
        belief, gain, surprise, sound = found
        yield gain, surprise, sound


def _scene(drop: Drop, ball: Ball, law: RestitutionLaw) -> _Scene:
    """Evaluate the law once, about the speeds that the intervals show."""
    gaps = np.diff(drop.times)
    flights, contact = [], []
    for index, gap in enumerate(gaps):
        parts = 1 + drop.missing.count(index)
        flights += [gap / parts] * parts
        contact.append(len(flights) - 1)
    drag = np.asarray(ball.drag)[..., None]
    speed = impact(0.5 * GRAVITY * np.array(flights), drag)
    near = np.stack((speed, speed * (1.0 + _BUMP)))
    stated_law = np.asarray(ball.restitution)[..., None], np.asarray(ball.slope)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        level, beyond = np.log(law(*stated_law, near))
    stated = np.square(drop.time_sd).reshape(-1, *[1] * drag.ndim)
    moved = [np.moveaxis(part, -1, 0)[..., None] for part in (np.log(speed), level, beyond)]
    return _Scene(
        drag,
        np.asarray(ball.scatter)[..., None],
        stated + np.asarray(ball.jitter)[..., None] ** 2,
        moved[0],
        moved[1],
        (moved[2] - moved[1]) / _BUMP,
        tuple(contact),
    )


def _begin(drop: Drop, scene: _Scene) -> tuple[_Belief, ndarray]:
    """Return the belief after the second bounce by case: both times sound, or one of them not."""
    first, second = (
        (1.0 - late) * part + late * WIDE**2
        for part, late in zip(scene.noise[:2], _CASES.T, strict=True)
    )
    u = exit_speed(float(drop.times[1] - drop.times[0]), scene.drag)
    stretch = _stretch(u, scene.drag)
    late = _CASES.sum(1)
    gain = late * math.log(OUTLIERS) + (2.0 - late) * math.log1p(-OUTLIERS) - np.log(stretch)
    before = _Belief(
        np.log(u) + 0.0 * late,
        np.full_like(gain, drop.times[1]),
        (first + second) / stretch**2,
        second / stretch,
        second + 0.0 * gain,
    )
    x, bend = _rebound(before.x, scene, 0)
    xx = bend**2 * before.xx + scene.scatter**2
    return _Belief(x, before.tau, xx, bend * before.xt, before.tt), gain


def _advance(belief: _Belief, scene: _Scene, number: int) -> _Belief:
    """Predict one flight and the contact after it."""
    u = np.exp(belief.x)
    stretch = _stretch(u, scene.drag)
    x, bend = _rebound(belief.x, scene, number)
    return _Belief(
        x,
        belief.tau + duration(u, scene.drag),
        bend**2 * belief.xx + scene.scatter**2,
        bend * (stretch * belief.xx + belief.xt),
        stretch**2 * belief.xx + 2.0 * stretch * belief.xt + belief.tt,
    )


def _see(belief: _Belief, time: float, noise: ndarray) -> tuple[_Belief, ndarray, ndarray, ndarray]:
    """Condition on a time; return the log density, the surprise and the chance of a sound one."""
    apart = time - belief.tau
    sound, late = belief.tt + noise, belief.tt + WIDE**2
    squared = apart * apart
    true = math.log1p(-OUTLIERS) - 0.5 * (np.log(2.0 * math.pi * sound) + squared / sound)
    false = math.log(OUTLIERS) - 0.5 * (np.log(2.0 * math.pi * late) + squared / late)
    gain = np.logaddexp(true, false)
    share = np.exp(true - gain)
    mean = share / sound + (1.0 - share) / late
    spread = share * (1.0 - share) * (1.0 / sound - 1.0 / late) ** 2
    shrink = mean - spread * squared
    updated = _Belief(
        np.clip(belief.x + belief.xt * mean * apart, *_LOG_SPEEDS),
        belief.tau + belief.tt * mean * apart,
        belief.xx - belief.xt**2 * shrink,
        belief.xt - belief.xt * belief.tt * shrink,
        belief.tt - belief.tt**2 * shrink,
    )
    return updated, gain, apart / np.sqrt(sound), share


def _stretch(speed: ndarray, drag: ndarray) -> ndarray:
    """Return dT / d log u = (u / g) [1 / (1 + q) + 1 / sqrt(1 + q)]."""
    q = drag * speed * speed / GRAVITY
    return np.asarray(speed / GRAVITY * (1.0 / (1.0 + q) + 1.0 / np.sqrt(1.0 + q)))


def _rebound(x: ndarray, scene: _Scene, number: int) -> tuple[ndarray, ndarray]:
    """Return log(e(w) w) and its derivative by the logarithm of the last exit speed."""
    q = scene.drag * np.exp(2.0 * x) / GRAVITY
    log_speed = x - 0.5 * np.log1p(q)
    bend = scene.bend[number]
    rise = scene.level[number] + bend * (log_speed - scene.nominal[number]) + log_speed
    return np.clip(rise, *_LOG_SPEEDS), (1.0 + bend) / (1.0 + q)
