r"""What is wrong with an array, in sentences, from the posterior of the errors that impacts share.

The errors f, standard normal before the impacts (`array_errors`), have the posterior N(m, C), so
that the impacts alone say exp(n' f - f' L f / 2) with L = 1/C - 1 and n = m / C. Much of f they
cannot tell: an array that is shifted or turned as a whole, or a late channel from a microphone that
stands too far away. So single mishaps are compared, each with no mishap. An array on which nothing
happened has errors of everyday size, f ~ N(0, S); a mishap adds B B' to S, a standard deviation of
the prior for one microphone, one channel or the speed of sound; and the evidence of either is

    log Z(S) = (n' (1 + S L)^-1 S n - log det(1 + S L)) / 2.

The mishap of the greatest evidence is reported if that is far greater than without it, if it is
more than three of its posterior's standard deviations, and if it is of a size that matters; then a
second beside it, and so on. What explains the impacts as well is named beside it. Directions that
the impacts do not tell add nothing to any evidence, and so nothing to what is reported.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.sound import array_errors
from ricochet.models.sound.array_errors import Spread

EVERYDAY = Spread(place=1.5e-3, speed=5e-3, delay=2e-6, drift=1e-6)
"""Of a rig that is in order: a tape measure, a thermometer read to 3 K, one sound card."""
LEAST_ODDS = 5.0
"""Log of evidence over that without a mishap: chance gives it to less than one array in 150."""
LEAST_DEVIATIONS = 3.0
RIVAL = 3.0
"""Log of evidence by which another explanation is less likely and still named."""
MOST = 4
"""Mishaps that are looked for."""


@dataclass(frozen=True)
class Finding:
    """One error of an array that stands out.

    Attributes:
        text: A sentence that names it.
        size: m, relative, s, or samples a second, as the text says.
        deviations: Size over the posterior's standard deviation.
    """

    text: str
    size: float
    deviations: float


@dataclass(frozen=True)
class _Mishap:
    """One kind of mishap: its directions B among the errors, and how it is said.

    Attributes:
        unit: Size of one standard deviation in the unit of `least` and of the text.
        least: Size from which it matters.
    """

    basis: Float[ndarray, "error direction"]
    unit: float
    least: float
    say: Callable[[float], str]


@dataclass(frozen=True)
class _Likelihood:
    """What the impacts alone say of f: information L and its product with the best f, n."""

    information: Float[ndarray, "error error"]
    target: Float[ndarray, " error"]


def everyday(place_sd: float) -> Spread:
    """Return the errors of an array in order whose places are stated to be known so well, m.

    >>> everyday(2e-4) == EVERYDAY, everyday(0.01).place
    (True, 0.01)
    """
    return replace(EVERYDAY, place=max(EVERYDAY.place, place_sd))


def findings(
    mean: Float[ndarray, " error"],
    covariance: Float[ndarray, "error error"],
    *,
    channels: int,
    sample_rate: float,
    spread: Spread | None = None,
    usual: Spread = EVERYDAY,
) -> tuple[Finding, ...]:
    """Name the errors of an array that stand out, the surest first; none where all is in order.

    >>> mean, covariance = np.zeros(14), np.eye(14)
    >>> mean[9], covariance[9, 9] = 1.5, 0.3**2
    >>> [found] = findings(mean, covariance, channels=3, sample_rate=44100.0)
    >>> found.text
    'the speed of sound is 3.0 % above what is stated, 5.0 standard deviations: temperature?'

    Args:
        mean, covariance: Posterior of the errors in the order of `array_errors.errors`, in units of
            their prior standard deviations.
        sample_rate: Hz.
        spread: Of the errors before the impacts, as it was given to `array_errors`.
        usual: Of an array on which nothing happened.

    Raises:
        ValueError: If mean and covariance are not of that many errors.
    """
    sizes = array_errors.errors(channels, spread).sd
    if mean.shape != sizes.shape or covariance.shape != (len(sizes), len(sizes)):
        raise ValueError(f"mean must have shape {sizes.shape}, not {mean.shape}")
    least = array_errors.errors(channels, usual).sd
    prior = np.diag(np.divide(least, sizes, out=np.zeros_like(sizes), where=sizes > 0.0) ** 2)
    seen = _likelihood(mean, covariance)
    mishaps = _mishaps(channels, sample_rate, sizes)
    found: list[Finding] = []
    for _ in range(MOST):
        best = _best(seen, prior, mishaps)
        if best is None:
            break
        mishap, finding = best
        if abs(finding.size) >= mishap.least and abs(finding.deviations) >= LEAST_DEVIATIONS:
            found.append(finding)
        prior = prior + mishap.basis @ mishap.basis.T
        mishaps = [other for other in mishaps if other is not mishap]
    return tuple(found)


def _best(
    seen: _Likelihood, prior: Float[ndarray, "error error"], mishaps: Sequence[_Mishap]
) -> tuple[_Mishap, Finding] | None:
    """Return the mishap of the greatest evidence if that is great enough, and what it is."""
    gains = np.array(
        [
            _evidence(seen, prior + mishap.basis @ mishap.basis.T) - _evidence(seen, prior)
            for mishap in mishaps
        ]
    )
    order = np.argsort(-gains)
    first = mishaps[order[0]]
    if gains[order[0]] < LEAST_ODDS:
        return None
    size, deviations = _size(seen, prior, first)
    text = first.say(size).format(deviations=f"{abs(deviations):.1f} standard deviations")
    rivals = [mishaps[k] for k in order[1:] if gains[k] > gains[order[0]] - RIVAL]
    others = [rival.say(_size(seen, prior, rival)[0]).split(", {")[0] for rival in rivals]
    if others:
        text += " (or " + ", or ".join(others) + ")"
    return first, Finding(text, size, deviations)


def _likelihood(
    mean: Float[ndarray, " error"], covariance: Float[ndarray, "error error"]
) -> _Likelihood:
    """Take the standard-normal prior out of the posterior; what widened tells nothing."""
    values, vectors = np.linalg.eigh(covariance)
    tells = values < 1.0
    values = np.maximum(values, 1e-12)
    told = np.where(tells, 1.0 / values - 1.0, 0.0)
    target = np.where(tells, (vectors.T @ mean) / values, 0.0)
    return _Likelihood((vectors * told) @ vectors.T, vectors @ target)


def _posterior(
    seen: _Likelihood, prior: Float[ndarray, "error error"]
) -> Float[ndarray, "error error"]:
    """Return the covariance of f that a prior of covariance S has left, (1 + S L)^-1 S."""
    return np.linalg.solve(np.eye(len(prior)) + prior @ seen.information, prior)


def _evidence(seen: _Likelihood, prior: Float[ndarray, "error error"]) -> float:
    _, volume = np.linalg.slogdet(np.eye(len(prior)) + prior @ seen.information)
    return float(0.5 * (seen.target @ _posterior(seen, prior) @ seen.target - volume))


def _size(
    seen: _Likelihood, prior: Float[ndarray, "error error"], mishap: _Mishap
) -> tuple[float, float]:
    """Return a mishap's size, signed where it has one direction, and size over its deviation."""
    covariance = _posterior(seen, prior + mishap.basis @ mishap.basis.T)
    inverse = np.linalg.pinv(mishap.basis)
    size = inverse @ (covariance @ seen.target)
    spread = inverse @ covariance @ inverse.T
    along = size / max(float(np.linalg.norm(size)), 1e-300) if len(size) > 1 else np.ones(1)
    deviation = float(np.sqrt(along @ spread @ along))
    amount = float(along @ size)
    return mishap.unit * amount, amount / max(deviation, 1e-300)


def _mishaps(channels: int, sample_rate: float, sizes: Float[ndarray, " error"]) -> list[_Mishap]:
    """Return what may have happened; nothing that the prior excludes."""
    one = np.eye(len(sizes))
    speed = 3 * channels
    found = [_moved(channel, one, sizes) for channel in range(channels)]
    found.append(_Mishap(one[:, [speed]], float(sizes[speed]), 0.01, _speed))
    for start, unit, least, say in (
        (speed + 1, 1.0, 10e-6, _delay),
        (speed + channels, sample_rate, 0.5, _drift),
    ):
        if start < len(sizes):
            unit = unit * float(sizes[start])
            found += [
                _Mishap(_of_channel(channel, one, start, channels), unit, least, say(channel))
                for channel in range(channels)
            ]
    return [mishap for mishap in found if mishap.unit > 0.0]


def _moved(
    channel: int, one: Float[ndarray, "error error"], sizes: Float[ndarray, " error"]
) -> _Mishap:
    def say(size: float) -> str:
        return f"microphone {channel} stands {1e3 * size:.0f} mm off what is stated, {{deviations}}"

    rows = slice(3 * channel, 3 * channel + 3)
    return _Mishap(one[:, rows], float(sizes[3 * channel]), 4e-3, say)


def _of_channel(
    channel: int, one: Float[ndarray, "error error"], start: int, channels: int
) -> Float[ndarray, "error 1"]:
    """Return the direction of one channel; that of the reference moves all others back."""
    if channel:
        return one[:, [start + channel - 1]]
    return np.asarray(-one[:, start : start + channels - 1].sum(axis=1, keepdims=True))


def _speed(size: float) -> str:
    side = "above" if size > 0.0 else "below"
    share = f"{100.0 * abs(size):.1f} %"
    return f"the speed of sound is {share} {side} what is stated, {{deviations}}: temperature?"


def _delay(channel: int) -> Callable[[float], str]:
    def say(size: float) -> str:
        side = "lags" if size > 0.0 else "leads"
        return f"channel {channel} {side} by {1e3 * abs(size):.2f} ms, {{deviations}}"

    return say


def _drift(channel: int) -> Callable[[float], str]:
    def say(size: float) -> str:
        return f"the clock of channel {channel} drifts by {size:.2g} samples/s, {{deviations}}"

    return say
