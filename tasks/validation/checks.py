"""Statistical checks that several gates ask for.

Each is exact. A sound candidate is refused with a chance of at most 0.025 by

    not_worse         on the same trials as the champion: McNemar 1947, without its normal law
    not_worse_apart   on trials of their own: the interval of the difference of two shares
    promised          at least a promised share of good outcomes: one-sided binomial

and, with a chance that the gate states itself,

    uniform           ranks or levels that are uniform for a right posterior: Kolmogorov
    covers            regions of a stated mass that hold the truth so often: exact binomial
"""

from collections.abc import Sequence

from jaxtyping import Float
from numpy import ndarray
from scipy import stats

from ricochet.models.inference import proportions
from ricochet.tasks.registry.verdicts import Check
from ricochet.tasks.validation.outcomes import Paired

CHANCE = 0.025
"""With which a sound candidate is refused by one of these."""


def not_worse(name: str, paired: Paired) -> Check:
    """Compare a candidate with the champion on the same trials.

    Of the trials that only one of the two won, half fall to each if they are equally good. The
    candidate fails where so many fell to the champion that their chance is below 0.025.

    The check passes where there is no champion.
    """
    shares = paired.shares()
    found = ", ".join(f"{role} {share:.3f}" for role, share in shares.items())
    if paired.champion is None:
        return Check(f"{name} against champion", True, found or "nothing", "no champion to beat")
    pairs = list(zip(paired.candidate, paired.champion, strict=True))
    lost, won = pairs.count((False, True)), pairs.count((True, False))
    chance = 1.0
    if lost + won:
        chance = float(stats.binomtest(lost, lost + won, 0.5, alternative="greater").pvalue)
    return Check(
        f"{name} against champion",
        chance >= CHANCE,
        f"{found} ({won} won and {lost} lost of {len(pairs)} pairs, p {chance:.4f})",
        f"not worse: p at least {CHANCE}",
    )


def not_worse_apart(name: str, paired: Paired) -> Check:
    """Compare a candidate with the champion on trials of their own; passed without a champion."""
    if paired.champion is None:
        return not_worse(name, paired)
    both = (paired.candidate, paired.champion)
    first, second = ((sum(good), len(good)) for good in both)
    low, high = proportions.difference(first, second, level=1.0 - 2.0 * CHANCE)
    return Check(
        f"{name} against champion",
        high >= 0.0,
        f"{first[0]} of {first[1]}, champion {second[0]} of {second[1]}: {low:+.3f} to {high:+.3f}",
        "a difference whose 95 % interval is not all below zero",
    )


def promised(name: str, good: Sequence[bool], share: float, *, of: str) -> Check:
    """Compare outcomes with the share of them that was promised to be good.

    No outcome at all is refused, and so few good ones that their chance is below 0.025. `of` says
    in words what the good ones are.
    """
    chance = 0.0
    if good:
        chance = float(stats.binomtest(sum(good), len(good), share, alternative="less").pvalue)
    return Check(
        name,
        chance >= CHANCE,
        f"{sum(good)} of {len(good)} {of} (p {chance:.4f})",
        f"p at least {CHANCE} for a share of {share:g}",
    )


def uniform(
    name: str, values: Float[ndarray, " case"], *, chance: float, of: str = "cases"
) -> Check:
    """Ask whether numbers in [0, 1] are uniform; right ones fail with a given chance."""
    found = float(stats.kstest(values, "uniform").pvalue)
    return Check(
        name,
        found >= chance,
        f"p-value {found:.4f} of {len(values)} {of}",
        f"at least {chance:.4g}",
    )


def covers(name: str, levels: Float[ndarray, " case"], nominal: float, *, chance: float) -> Check:
    """Ask whether regions of a mass hold the truth so often, from the masses that just hold it."""
    held, cases = int((levels < nominal).sum()), len(levels)
    low, high = share_interval(held, cases, chance=chance)
    return Check(
        f"{name} at {100 * nominal:g} %",
        low <= nominal <= high,
        f"{held / cases:.3f} of {cases} ({low:.3f} to {high:.3f})",
        f"{nominal:g} inside that {100 * (1 - chance):.4g} % interval",
    )


def share_interval(held: int, cases: int, *, chance: float) -> tuple[float, float]:
    """Return the exact interval of a share (Clopper and Pearson 1934)."""
    low = stats.beta.ppf(0.5 * chance, held, cases - held + 1) if held else 0.0
    high = stats.beta.isf(0.5 * chance, held + 1, cases - held) if held < cases else 1.0
    return float(low), float(high)
