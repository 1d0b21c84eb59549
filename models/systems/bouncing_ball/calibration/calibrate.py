"""From the measured drops of a session to the posterior of its ball-surface pair (Sec. 4.2).

    height of release, stated or inferred from the takes -> features (Eqs. 5, 7, 8)
        -> criticism of each take -> exact posterior of all the takes kept

A take that the model cannot have made (its features' density is lower than that of nearly all
simulated ones) is set aside with its reason instead of being averaged in; what does not sit with
single takes - a drift, two groups of takes - is reported as a finding beside the posterior.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.core.rows import Rows
from ricochet.models.core.threads import one_thread
from ricochet.models.inference.grid_densities import GridDensity
from ricochet.models.systems.bouncing_ball.calibration import criticism as ball_criticism
from ricochet.models.systems.bouncing_ball.calibration import posterior, release_height
from ricochet.models.systems.bouncing_ball.calibration.criticism import Criticism, Finding
from ricochet.models.systems.bouncing_ball.calibration.release_height import SessionHeight
from ricochet.models.systems.bouncing_ball.features import Features, form_features
from ricochet.models.systems.bouncing_ball.problem import Noise, Release

SAMPLES = 4000
_ROUNDS = 3
_LARGEST_SHARE = 0.34
_NEAR = 6.0  # standard errors, or scatters of the takes, within which a take's restitution agrees
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500)

_SET_ASIDE = "{} of {} takes do not fit the model and were set aside"
_MISFITS = "{} of {} takes in the posterior do not fit the model: too many to set aside"


@dataclass(frozen=True)
class MeasuredDrops(Rows):
    """What was detected of each take of a session.

    Attributes:
        times, positions: Of the first three bounces, s and m.
        time_sd, position_sd: Of one bounce's time, s, and of its place per axis, m.
        release: How each take was let go; a height that is not stated is not a number.
        later_times: All bounce times of each take, s.
    """

    times: Float[Tensor, "drop 3"]
    positions: Float[Tensor, "drop 3 2"]
    time_sd: Float[Tensor, " drop"]
    position_sd: Float[Tensor, " drop"]
    release: Release
    later_times: tuple[Float[ndarray, " _"], ...]
    names: tuple[str, ...]

    @property
    def features(self) -> Features:
        """The four features of each take."""
        return form_features(self.times.double(), self.positions.double())

    @property
    def noise(self) -> Noise:
        """The measurement noise of each take."""
        return Noise(self.time_sd.double(), self.position_sd.double())


@dataclass(frozen=True)
class Calibration:
    """The posterior of (restitution, log10 concentration) and what the model could not explain.

    Attributes:
        region_90: Central 90 % interval of each parameter, rows (low, high).
        narrowing: Posteriors of the first 1, 2, 5, ... takes, with their number.
        predictive_p_value: Chance of a session at least as unlikely under the model.
        used, set_aside: Names of the takes in the posterior, and of those left out with the reason.
        release: How each take, used or not, is taken to have been let go.
    """

    samples: Float[ndarray, "sample 2"]
    mean: Float[ndarray, " 2"]
    covariance: Float[ndarray, "2 2"]
    region_90: Float[ndarray, "2 2"]
    density: GridDensity
    narrowing: tuple[tuple[int, GridDensity], ...]
    predictive_p_value: float
    findings: tuple[Finding, ...]
    used: tuple[str, ...]
    set_aside: tuple[tuple[str, str], ...]
    release: Release
    heights: tuple[SessionHeight, ...]


@one_thread()
def calibrate(
    drops: MeasuredDrops, *, draw: torch.Generator, progress: Progress = no_progress
) -> Calibration:
    """Infer restitution and concentration from the drops of one session.

    Raises:
        ValueError: If there is no take, or the features are not finite.
    """
    count = len(drops.names)
    if count == 0:
        raise ValueError("drops holds no drop")
    sizes = [size for size in _STEPS if size < count]
    total = _ROUNDS + 1 + len(sizes)
    report = _counter(progress, total)
    drops, heights = _settled(drops)
    kept, criticism, density, misfits = _explained(drops, draw, report)
    numbers = np.random.default_rng(int(torch.randint(2**62, (1,), generator=draw)))
    samples = density.sample(SAMPLES, draw=numbers)
    good = drops.rows(kept)
    narrowing = []
    for size in [size for size in sizes if size < len(good.names)]:
        narrowing.append((size, _posterior(good.rows(np.arange(len(good.names)) < size))))
        report()
    narrowing.append((len(good.names), density))
    progress(total, total)
    return Calibration(
        samples=samples,
        mean=density.mean,
        covariance=density.covariance,
        region_90=density.interval(0.9),
        density=density,
        narrowing=tuple(narrowing),
        predictive_p_value=criticism.predictive_p_value,
        findings=criticism.findings + misfits + _height_findings(drops, heights),
        used=good.names,
        set_aside=tuple(
            (name, "its bounces do not fit the model that the other takes agree on")
            for name, yes in zip(drops.names, kept, strict=True)
            if not yes
        ),
        release=drops.release,
        heights=heights,
    )


def _settled(drops: MeasuredDrops) -> tuple[MeasuredDrops, tuple[SessionHeight, ...]]:
    """Give every take a height of release: as stated, or as the session's takes tell."""
    release, heights = release_height.settle(
        drops.times, drops.positions, drops.noise, drops.release
    )
    return replace(drops, release=release), heights


def _height_findings(
    drops: MeasuredDrops, heights: tuple[SessionHeight, ...]
) -> tuple[Finding, ...]:
    findings = []
    for number, height in enumerate(heights):
        takes = np.array(drops.names)[drops.release.session.numpy() == number]
        names = tuple(takes.tolist()) if len(heights) > 1 else ()
        if height.refuted:
            sentence = (
                f"the takes fell from {height.from_takes:.3f} +- {height.from_takes_sd:.3f} m, "
                f"not from the {height.stated:.3f} m stated: theirs is used; if the stated height "
                "is right, the ball loses speed in a way that the model lacks"
            )
            findings.append(Finding("height", sentence, height.p_value, names))
        if height.spread_p_value < release_height.ALARM:
            sentence = "the heights that single takes tell differ more than the release's error"
            findings.append(Finding("heights", sentence, height.spread_p_value, names))
    return tuple(findings)


def _counter(progress: Progress, total: int) -> Callable[[], None]:
    done = 0

    def step() -> None:
        nonlocal done
        done = min(done + 1, total)
        progress(done, total)

    return step


def _posterior(drops: MeasuredDrops) -> GridDensity:
    return posterior.posterior(drops.features, drops.noise, drops.release)


def _explained(
    drops: MeasuredDrops, draw: torch.Generator, report: Callable[[], None]
) -> tuple[Bool[ndarray, " drop"], Criticism, GridDensity, tuple[Finding, ...]]:
    """Set aside the takes that the model cannot have made, at most a third of them.

    The first posterior is that of the takes whose restitution agrees, since a few bad ones would
    teach it a concentration so low that nothing looks odd; then every take is judged by it.
    """
    kept, chances = _agreeing(drops), np.ones(len(drops.names))
    for _ in range(_ROUNDS):
        density = _posterior(drops.rows(kept))
        judged = _criticise(drops, density, draw)
        report()
        odd, chances = np.asarray(judged.odd_takes, dtype=bool), judged.take_p_values
        fits = ~odd if odd.sum() <= _LARGEST_SHARE * len(odd) else np.ones_like(odd)
        if settled := bool((fits == kept).all()):
            break
        kept = fits
    if not settled:
        density = _posterior(drops.rows(kept))
    same = settled and kept.all()
    criticism = judged if same else _criticise(drops.rows(kept), density, draw)
    report()
    misfits = _take_finding(
        drops.rows(kept), criticism.odd_takes, criticism.take_p_values, _MISFITS
    )
    return kept, criticism, density, _take_finding(drops, ~kept, chances, _SET_ASIDE) + misfits


def _agreeing(drops: MeasuredDrops) -> Bool[ndarray, " drop"]:
    """Mark the takes whose own restitution lies near the median, or all if too few do."""
    values, errors = ball_criticism.restitution_by_take(drops.features, drops.noise, drops.release)
    distance = np.abs(values - np.median(values))
    near = distance <= _NEAR * np.maximum(errors, 1.4826 * np.median(distance))
    return near if (~near).sum() <= _LARGEST_SHARE * len(near) else np.ones_like(near)


def _criticise(drops: MeasuredDrops, density: GridDensity, draw: torch.Generator) -> Criticism:
    numbers = np.random.default_rng(int(torch.randint(2**62, (1,), generator=draw)))
    return ball_criticism.criticise(
        drops.features,
        drops.noise,
        drops.release,
        density.sample(400, draw=numbers),
        later_times=drops.later_times,
        draw=draw,
    )


def _take_finding(
    drops: MeasuredDrops,
    odd: Bool[ndarray, " drop"],
    chances: Float[ndarray, " drop"],
    sentence: str,
) -> tuple[Finding, ...]:
    """Report the odd takes, if there are any, by a sentence about their number out of all."""
    names = tuple(name for name, yes in zip(drops.names, odd, strict=True) if yes)
    if not names:
        return ()
    chance = float(min(1.0, chances[odd].min() * len(odd)))
    return (Finding("take", sentence.format(len(names), len(odd)), chance, names),)
