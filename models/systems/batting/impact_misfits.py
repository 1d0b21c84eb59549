"""Where measured impacts depart from the law of impact that was learnt from them.

Residuals of impulses about the law at the posterior's mean, over their deviations, are standard
normal and know nothing of what came before, if the law holds. A test looks at each departure that
is likely, and speaks at a chance of `CHANCE`: a rank correlation of residuals with speeds, or with
the side of the body that was hit, a mean other than 0, long tails, more outliers than expected, and
too few held-out impacts in their regions. Whatever the departure, the noise that is inferred is as wide as
residuals are: more than `NOISY` of the impulse is said too.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

from ricochet.models.systems.batting.impact_inference import (
    REGION,
    ImpactPosterior,
    Predicted,
    expected_impulses,
)
from ricochet.models.systems.batting.recorded_impacts import Impacts

CHANCE = 5e-4
"""Of each test, that it speaks where the law holds."""
NOISY = 0.4
MANY_OUTLIERS = 0.05


def of(
    posterior: ImpactPosterior,
    impacts: Impacts,
    outlier: Float[ndarray, " impact"],
    predicted: Predicted | None,
) -> list[str]:
    """Return a line for each departure that is seen.

    Args:
        impacts: Those learnt from and those held out.
        outlier: The probability of each to be far from the law.
        predicted: Those held out.
    """
    core = outlier < 0.5
    found = _departures(posterior, impacts.take(core)) if core.sum() > 10 else []
    if stats.binomtest(int((~core).sum()), len(core), MANY_OUTLIERS, "greater").pvalue < CHANCE:
        found.append(
            f"{(~core).sum()} of {len(core)} impacts are far from the law that explains the others:"
            " there may be two surfaces or bodies in the table"
        )
    return found + _too_noisy(posterior) + ([] if predicted is None else _uncovered(predicted))


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


def _departures(posterior: ImpactPosterior, impacts: Impacts) -> list[str]:
    """Return lines for residuals that depend on something, or are none on average."""
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
                f"{words.format(way)} (rank correlation {test.statistic:+.2f}), which the law does not:"
                " its coefficients are a mean over these impacts alone"
            )
    return lines + _other_laws(found)


def _other_laws(found: Float[ndarray, "impact 2"]) -> list[str]:
    """Return lines for residuals that are not standard normal."""
    lines, means = [], stats.ttest_1samp(found, 0.0).pvalue
    for values, chance, words in zip(found.T, means, ("normal", "tangential"), strict=True):
        if len(values) >= 20 and stats.kurtosistest(values, alternative="greater").pvalue < CHANCE:
            lines.append(
                f"{words} impulses scatter with longer tails than the normal law (kurtosis"
                f" {stats.kurtosis(values):+.1f}): regions may be too narrow"
            )
        if chance < CHANCE:
            lines.append(
                f"{words} impulses are off by {values.mean():+.2f} of their noise on average: no"
                " coefficients within the limits explain them"
            )
    return lines


def _too_noisy(posterior: ImpactPosterior) -> list[str]:
    noise = posterior.theta[:, 3:].mean(0)
    if noise.max() < NOISY:
        return []
    return [
        f"noise of {noise[0]:.0%} (normal) and {noise[1]:.0%} (tangential) of the normal impulse:"
        " the law explains little of this table"
    ]


def _uncovered(predicted: Predicted) -> list[str]:
    count, inside = len(predicted.inside), int(predicted.inside.sum())
    if count == 0 or stats.binomtest(inside, count, REGION, "less").pvalue >= CHANCE:
        return []
    return [
        f"{inside} of {count} held-out impacts lie in their 90 % regions: predictions of this law"
        " are too sure of themselves"
    ]
