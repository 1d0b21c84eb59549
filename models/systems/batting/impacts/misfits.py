"""Where measured impacts depart from the law of impact that was learnt from them.

Residuals of impulses about the law at the posterior's mean, over their deviations, are standard
normal and know nothing of what came before, if the law holds. A test looks at each departure that
is likely, and speaks at a chance of `CHANCE`: a rank correlation of residuals with speeds, or with
the side of the body that was hit, a mean other than 0, long tails, more outliers than expected, and
too few held-out impacts in their regions. Whatever the departure, the noise that is inferred is as
wide as residuals are: more than `NOISY` of the impulse is said too.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy import stats

from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.impacts.inference import (
    REGION,
    ImpactPosterior,
    Predicted,
    expected_impulses,
)
from ricochet.models.systems.batting.impacts.recorded import Impacts, impulses, struck

CHANCE = 5e-4
"""Of each test, that it speaks where the law holds."""
SURFACE_SIGNS = {"x": (-1.0, 1.0), "y": (1.0, -1.0), "x and y": (-1.0, -1.0)}
CLEARER = 0.5  # scatter of restitution with another sign of the surface, to be named
FEWEST = 20  # impacts, for residuals to show anything
SIMULATED = 200  # tables
NOISY = 0.3
MANY_OUTLIERS = 0.05


def of(
    posterior: ImpactPosterior,
    impacts: Impacts,
    outlier: Float[ndarray, " impact"],
    predicted: Predicted | None,
    draw: np.random.Generator,
) -> list[str]:
    """Return a line for each departure that is seen.

    Args:
        impacts: Those learnt from and those held out.
        outlier: The probability of each to be far from the law.
        predicted: Those held out.
    """
    core = outlier < 0.5
    near = impacts.take(core)
    found = []
    if len(near) >= FEWEST:
        found = _dependences(posterior, near) + _means(posterior, near, draw)
        found += _tails(posterior, near)
    if stats.binomtest(int((~core).sum()), len(core), MANY_OUTLIERS, "greater").pvalue < CHANCE:
        found.append(
            f"{(~core).sum()} of {len(core)} impacts are far from the law that explains the others:"
            " there may be two surfaces or bodies in the table"
        )
    if noisy := _too_noisy(posterior):
        found += [*noisy, *_surface_sign(impacts)]
    return found + ([] if predicted is None else _uncovered(predicted))


def residuals(posterior: ImpactPosterior, impacts: Impacts) -> Float[ndarray, "impact 2"]:
    """Return errors of impulses over their deviations.

    The tangential one is positive where the surface pushes more than the law says.
    """
    theta, contacts = posterior.theta.mean(0), impacts.contacts
    expected = expected_impulses(theta, contacts)
    size = np.maximum(np.abs(expected[:, :1]), 1e-300)
    found = (impacts.impulse - expected) / (size * theta[3:])
    found[:, 1] *= np.sign(expected[:, 1])
    return found


def _dependences(posterior: ImpactPosterior, impacts: Impacts) -> list[str]:
    """Return lines for residuals that depend on what was there before the impact."""
    found, contacts = residuals(posterior, impacts), impacts.contacts
    side = contacts[:, 3] / np.hypot(contacts[:, 2], contacts[:, 3])
    normal, slip = -contacts[:, 4], np.abs(contacts[:, 5])
    lines = []
    for values, other, words in (
        (found[:, 0], normal, "restitution {} with the normal speed before impact"),
        (found[:, 1], normal, "the tangential impulse {} with the normal speed before impact"),
        (found[:, 1], slip, "the tangential impulse {} with the sliding speed before impact"),
        (found[:, 0], slip, "the normal impulse {} with the sliding speed before impact"),
        (found[:, 0], side, "the normal impulse {} from one side of the contact to the other"),
    ):
        test = stats.spearmanr(values, other)
        if test.pvalue < CHANCE:
            way = "rises" if test.statistic > 0.0 else "falls"
            lines.append(
                f"{words.format(way)} (rank correlation {test.statistic:+.2f}), which the law does"
                " not have: its coefficients are a mean over these impacts alone"
            )
    return lines


def _means(posterior: ImpactPosterior, impacts: Impacts, draw: np.random.Generator) -> list[str]:
    """Return lines for residuals whose mean is not that of tables simulated by the posterior."""
    theta, tables = posterior.theta.mean(0), []
    law = Law(theta[0], theta[1], theta[2], 0.0, theta[3], theta[4])
    for _ in range(SIMULATED):
        noise = draw.normal(size=(len(impacts), 2))
        simulated = struck(impacts, impulses(law, impacts.contacts, noise))
        tables.append(residuals(posterior, simulated).mean(0))
    found, most = residuals(posterior, impacts).mean(0), stats.norm.isf(0.5 * CHANCE)
    away = (found - np.mean(tables, 0)) / np.std(tables, 0)
    return [
        f"{words} impulses are off by {value:+.2f} of their noise on average: no coefficients"
        " within the limits explain them"
        for words, value, off in zip(("normal", "tangential"), found, away, strict=True)
        if abs(off) > most
    ]


def _tails(posterior: ImpactPosterior, impacts: Impacts) -> list[str]:
    """Return lines for residuals that lie farther out than those of a normal law."""
    found = residuals(posterior, impacts)[_unmirrored(posterior, impacts)]
    if len(found) < FEWEST:
        return []
    chances = stats.kurtosistest(found, alternative="greater").pvalue
    return [
        f"{words} impulses scatter with longer tails than the normal law (kurtosis"
        f" {value:+.1f}): regions may be too narrow"
        for words, value, chance in zip(
            ("normal", "tangential"), stats.kurtosis(found), chances, strict=True
        )
        if chance < CHANCE
    ]


def _unmirrored(posterior: ImpactPosterior, impacts: Impacts) -> Bool[ndarray, " impact"]:
    """Return which bodies leave too fast for noise to be mirrored at the surface."""
    theta, contacts = posterior.theta.mean(0), impacts.contacts
    m, inertia, r_n, r_t, v_n, _ = contacts.T
    noise = np.hypot((1.0 / m + r_t**2 / inertia) * theta[3], r_n * r_t / inertia * theta[4])
    size = np.abs(expected_impulses(theta, contacts)[:, 0])
    return theta[0] * -v_n > 4.0 * noise * size


def _too_noisy(posterior: ImpactPosterior) -> list[str]:
    noise = posterior.theta[:, 3:].mean(0)
    if noise.max() < NOISY:
        return []
    return [
        f"noise of {noise[0]:.0%} (normal) and {noise[1]:.0%} (tangential) of the normal impulse:"
        " the law explains little of this table"
    ]


def _surface_sign(impacts: Impacts) -> list[str]:
    """Return a line where restitution would scatter less with another sign of the surface."""
    scatter = {
        axes: _scatter(replace(impacts, surface=impacts.surface * np.array(signs)))
        for axes, signs in SURFACE_SIGNS.items()
    }
    best = min(scatter, key=lambda axes: scatter[axes])
    found = _scatter(impacts)
    if not scatter[best] < CLEARER * found:
        return []
    return [
        f"{best} of the surface's velocity seems to have the other sign: restitution scatters by"
        f" {found:.2f} from impact to impact, with it by {scatter[best]:.2f}"
    ]


def _scatter(impacts: Impacts) -> float:
    """Return half of the middle half's width of restitutions; infinite where few approach."""
    before, after = impacts.closing(impacts.before)[:, 0], impacts.closing(impacts.after)[:, 0]
    approaching = before < 0.0
    if approaching.mean() < 0.9:
        return float("inf")
    low, high = np.quantile(-after[approaching] / before[approaching], (0.25, 0.75))
    return 0.5 * float(high - low)


def _uncovered(predicted: Predicted) -> list[str]:
    count, inside = len(predicted.needed), int((predicted.needed <= 1.0).sum())
    if count == 0 or stats.binomtest(inside, count, REGION, "less").pvalue >= CHANCE:
        return []
    return [
        f"{inside} of {count} held-out impacts lie in 90 % regions of the law alone: its"
        " predictions are too sure of themselves"
    ]
