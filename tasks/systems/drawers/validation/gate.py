"""The gate before `champion` for what a drawer sounds like.

    figures     speed and dark coverage, and the error in the dark, measured again on the takes that
                were held out: those that the package states, to `ALIKE`
    speed, dark share of frames in their 90 % intervals on fresh takes: refused where its mean over
                takes is below 0.85, or Student's interval of the mean, of a stated chance, is all
                below 0.9 or above 0.97
    middle      in the dark nearer than the middle of the stroke: permutation of signs, p < 0.05
    hand        is where it should be in 0.75 of the moving time in the dark at least
    touching    the hand touches in at most 0.02 of the moving time in the dark, in the mean
    champion    in the dark not farther off than the champion on the same takes, p at least 0.025

Frames of one take are alike, so that takes are counted.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

from ricochet.models.inference import sign_flips
from ricochet.tasks.registry.aliases import CANDIDATE, CHAMPION
from ricochet.tasks.registry.verdicts import Check
from ricochet.tasks.systems.drawers.validation.results import DrawerResult
from ricochet.tasks.validation.checks import CHANCE

NOMINAL, TOO_WIDE = 0.9, 0.97
LEAST = 0.85
"""Mean coverage, however much takes differ: takes that scatter would hide what is too narrow."""
ALIKE = 0.02
"""Share by which figures measured again may differ: sums in another order."""
BETTER = 0.05
TOUCHING, NEAR_SHARE = 0.02, 0.75
ABOVE, LEFT = 0.20, 0.9
"""How much more of the time the hand is near than before the middle of the stroke: ABOVE, or LEFT
of what there is to gain where strokes are short."""
FEWEST = 6
"""Takes: fewer cannot show, at CHANCE, that another is worse."""


@dataclass(frozen=True)
class DrawerEvidence:
    """What was measured again on takes that were held out, beside what the package states.

    Attributes:
        chance: With which sound coverage is refused.
    """

    stated: Mapping[str, float]
    measured: Mapping[str, float]
    takes: int
    chance: float

    @property
    def apart(self) -> float:
        """Largest relative difference of a figure."""
        differences = [
            abs(self.measured[name] - value) / max(abs(value), 1e-3)
            for name, value in self.stated.items()
        ]
        return max(differences) if all(map(math.isfinite, differences)) else math.inf


def judge_evidence(evidence: DrawerEvidence) -> tuple[Check, ...]:
    """Return the checks of what was measured again."""
    named = ", ".join(f"{name} {value:.3f}" for name, value in evidence.measured.items())
    return (
        Check(
            "figures",
            bool(evidence.apart <= ALIKE),
            f"{named} on {evidence.takes} takes, {evidence.apart:.3f} apart",
            f"those that it states, to {ALIKE:g}",
        ),
    )


def judge_trials(result: DrawerResult, evidence: DrawerEvidence) -> tuple[Check, ...]:
    """Return the checks of the trials."""
    count = len(result.trials[CANDIDATE])
    ours = result.column(CANDIDATE, "dark_error")
    middle = result.column(CANDIDATE, "middle_error")
    touching = float(result.column(CANDIDATE, "touching").mean())
    near = float(result.column(CANDIDATE, "near").mean())
    middle_near = float(result.column(CANDIDATE, "middle_near").mean())
    needed = min(ABOVE, LEFT * (1.0 - middle_near))
    p = sign_flips.p_value(middle - ours)
    return (
        Check("takes", count >= FEWEST, str(count), f"at least {FEWEST}"),
        _covered("speed", result.column(CANDIDATE, "speed_held"), evidence.chance),
        _covered("dark", result.column(CANDIDATE, "dark_held"), evidence.chance),
        Check(
            "middle of the stroke",
            bool(p < BETTER),
            f"{_root(ours):.3f} m in the dark, the middle {_root(middle):.3f} m (p {p:.4f})",
            f"nearer, p below {BETTER}",
        ),
        Check(
            "hand",
            bool(near >= NEAR_SHARE),
            f"where it should be in {near:.3f} of the moving time in the dark",
            f"at least {NEAR_SHARE}",
        ),
        Check(
            "hand against the middle",
            bool(near - middle_near >= needed),
            f"{near - middle_near:.3f} more of it than before the middle of the stroke",
            f"at least {needed:.2f}",
        ),
        Check("touching", touching <= TOUCHING, f"{touching:.3f}", f"at most {TOUCHING}"),
        _against_champion(result),
    )


def _against_champion(result: DrawerResult) -> Check:
    ours = result.column(CANDIDATE, "dark_error")
    if result.champion is None:
        found = f"{_root(ours):.3f} m"
        return Check("dark error against champion", True, found, "no champion to beat")
    theirs = result.column(CHAMPION, "dark_error")
    p = sign_flips.p_value(ours - theirs)
    return Check(
        "dark error against champion",
        bool(p >= CHANCE),
        f"{_root(ours):.3f} m, champion {_root(theirs):.3f} m (p {p:.4f})",
        f"not farther off: p at least {CHANCE}",
    )


def _covered(name: str, shares: Float[ndarray, " take"], chance: float) -> Check:
    low, high = mean_interval(shares, chance=2.0 * chance)
    return Check(
        f"{name} at {100 * NOMINAL:g} %",
        bool(high >= NOMINAL and low <= TOO_WIDE and shares.mean() >= LEAST),
        f"{shares.mean():.3f} of the frames ({low:.3f} to {high:.3f})",
        f"{LEAST} at least, and an interval that is not all below {NOMINAL} or above {TOO_WIDE}",
    )


def mean_interval(shares: Float[ndarray, " take"], *, chance: float) -> tuple[float, float]:
    """Return Student's interval of the mean of shares of takes."""
    if len(shares) < 2:
        return 0.0, 1.0
    mean, error = float(shares.mean()), float(shares.std(ddof=1)) / np.sqrt(len(shares))
    half = float(stats.t.isf(0.5 * chance, len(shares) - 1)) * error
    return float(max(mean - half, 0.0)), float(min(mean + half, 1.0))


def _root(errors: Float[ndarray, " take"]) -> float:
    return float(np.sqrt((errors**2).mean()))
