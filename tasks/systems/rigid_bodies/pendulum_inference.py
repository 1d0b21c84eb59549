"""The posterior of a double pendulum from recordings of its motion, and what is to be said of it.

Of each recording a second or so from some instants on is learnt from, in windows of a twentieth of
a second: pieces that are far apart are of different energies, and tell more than one that is long.
What the posterior is, which directions of the parameters the motion does not tell, which parameters
crowd at their limits and how the equations fail are stated together.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import identifiability, stein_newton
from ricochet.models.inference.identifiability import Identifiability
from ricochet.models.inference.limits import Limits, Logistic, Shares
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.inference.shooting_density import Noise, ShootingDensity, Unknowns
from ricochet.models.inference.stein_newton import Posterior, Settings
from ricochet.models.systems.rigid_bodies import double_pendulum, marked_motion
from ricochet.models.systems.rigid_bodies.pendulum_coordinates import PendulumCoordinates
from ricochet.models.systems.rigid_bodies.pendulum_parameters import HIGH, LOW, PARAMETERS
from ricochet.models.systems.rigid_bodies.pendulum_tracking import Draws
from ricochet.tasks.systems.rigid_bodies.motion_files import Recorded

WINDOW = 0.05
"""Seconds."""
STEP = 6.25e-4
"""Longest step of the simulation, s: four to a frame at 400 Hz."""
INERTIA_LOW = 1e-5
"""Least moment of inertia, kg m^2: the paper's limit of 2e-3 leaves the filmed pendulum out."""
POOR, MIXED, FEW, DEPARTS = 0.3, 1.2, 0.5, 0.5
"""Fit, mixing, share of the starts at the best, and departure from which on something is said."""


@dataclass(frozen=True)
class Inferred:
    """A posterior and what it is of.

    Attributes:
        shooting: What was learnt from.
        known: What the motion tells.
    """

    posterior: Posterior
    shooting: Shooting
    limits: Limits
    known: Identifiability
    rate: float

    @property
    def theta(self) -> Float[Tensor, "draw 11"]:
        """All draws that were kept."""
        return self.posterior.theta.flatten(0, 1)

    @property
    def draws(self) -> Draws:
        """All draws, for a controller."""
        posterior, shooting = self.posterior, self.shooting
        return Draws(
            self.theta.numpy(),
            posterior.sigma.flatten(0, 1).numpy(),
            posterior.delta.flatten(0, 1).numpy(),
            rate=self.rate,
            window=shooting.steps,
            substeps=substeps_of(self.rate),
        )

    def to_json(self) -> dict[str, Any]:
        """Return what `result.json` says of it."""
        draws, posterior = self.theta.numpy(), self.posterior
        best = posterior.fits.min()
        return {
            "parameters": list(PARAMETERS),
            "mean": draws.mean(0).tolist(),
            "covariance": np.cov(draws.T).tolist(),
            "noise": {
                "observation": posterior.sigma.mean((0, 1)).tolist(),
                "departure": posterior.delta.mean((0, 1)).tolist(),
            },
            "rank": self.known.rank,
            "null_directions": self.known.null_directions,
            "at_limits": self.known.at_limits,
            "fit_rmse": float(best),
            "starts_at_best": float((posterior.fits <= 1.1 * best).double().mean()),
            "mixing": float(posterior.mixing.max()),
            "misfit": misfits(posterior),
        }


def limits() -> Limits:
    """Return those of the paper, moments of inertia from 1e-5 kg m^2 on."""
    low = torch.from_numpy(LOW.copy())
    low[inertias()] = INERTIA_LOW
    return Limits(low, torch.from_numpy(HIGH.copy()))


def windows_of(
    runs: Mapping[str, Recorded], span: float, instants: Sequence[float] = (0.0,)
) -> tuple[Shooting, float]:
    """Return what is learnt from some recordings, by file, and their rate in Hz.

    Args:
        span: Seconds of each piece.
        instants: Seconds from each recording's start at which pieces begin; those that it does not
            hold whole are left out.

    Raises:
        BadInput: If rates differ, or a recording ends before two windows from the first instant on.
    """
    rates = {file: run.rate for file, run in runs.items()}
    file, rate = next(iter(rates.items()))
    for other, found in rates.items():
        if abs(found / rate - 1.0) > 1e-3:
            raise BadInput(other, f"a rate of {found:g} Hz", f"the {rate:g} Hz of {file}")
    steps, begins = max(1, round(WINDOW * rate)), [round(each * rate) for each in sorted(instants)]
    short = min(runs, key=lambda name: len(runs[name].states))
    count = min(len(runs[short].states) - 1 - begins[0], round(span * rate)) // steps
    if count < 2:
        found, least = len(runs[short].states), begins[0] + 2 * steps + 1
        raise BadInput(short, f"{found} frames at {rate:g} Hz", f"at least {least}")
    seen = torch.from_numpy(
        np.stack(
            [
                run.states[begin : begin + count * steps + 1]
                for run in runs.values()
                for begin in begins
                if begin + count * steps < len(run.states)
            ]
        )
    )
    scale = (
        (seen - seen.mean(1, keepdim=True)).flatten(0, 1).std(0)
    )  # turns before a piece are none
    if not bool((scale > 0.0).all()):
        raise BadInput(file, f"nothing that moves in {count * WINDOW:g} s", "a pendulum's motion")
    return shooting_of(seen, rate, count, scale), rate


def shooting_of(
    seen: Float[Tensor, "run instant 4"], rate: float, windows: int, scale: Float[Tensor, " 4"]
) -> Shooting:
    """Return motions in windows, simulated in steps that are short enough."""
    substeps = substeps_of(rate)
    simulate = partial(double_pendulum.move, duration=1.0 / rate, substeps=substeps)
    return Shooting(simulate, seen, windows, scale)


def substeps_of(rate: float) -> int:
    """Return into how many steps a frame is divided."""
    return max(1, math.ceil(1.0 / (rate * STEP) - 1e-6))


def infer(
    runs: Mapping[str, Recorded],
    generator: np.random.Generator,
    *,
    span: float,
    instants: Sequence[float],
    particles: int,
    progress: Progress = no_progress,
) -> Inferred:
    """Return the posterior of the pendulum of some recordings, by file."""
    shooting, rate = windows_of(runs, span, instants)
    inside = limits()
    posterior = stein_newton.infer(
        shooting,
        Logistic(inside, inertias()),
        generator,
        settings=Settings(particles=particles),
        spread_in=PendulumCoordinates(inside),
        apart=marked_motion.WINDOW,
        progress=progress,
    )
    known = identifiability.of_posterior(
        precision(shooting, inside, posterior),
        Shares(inside).of(posterior.theta).flatten(0, 1).numpy(),
        PARAMETERS,
    )
    return Inferred(posterior, shooting, inside, known, rate)


def precision(
    shooting: Shooting, inside: Limits, posterior: Posterior
) -> Float[ndarray, "parameter parameter"]:
    """Return what the motions alone tell of shares of the limits' range, at the last particles."""
    density, last, noise = _last(shooting, inside, posterior)
    middle = torch.argsort(density.value(last, density.at(last), noise))[len(last.x) // 2]
    at, its = last[middle[None]], noise[middle[None]]
    found = density.expanded(at, density.at(at), its).metric.marginal()[0]
    return (found - torch.diag(density.coordinates.precision)).numpy()


def best(inferred: Inferred) -> Float[ndarray, " parameter"]:
    """Return the parameters of the highest density among the last particles."""
    density, last, noise = _last(inferred.shooting, inferred.limits, inferred.posterior)
    place = int(density.value(last, density.at(last), noise).argmax())
    return inferred.posterior.theta[-1, place].numpy()


def _last(
    shooting: Shooting, inside: Limits, posterior: Posterior
) -> tuple[ShootingDensity, Unknowns, Noise]:
    """Return the density in shares, and the last particles."""
    shares, scale = Shares(inside), shooting.scale
    unknowns = Unknowns(shares.of(posterior.theta[-1]), posterior.starts / scale)
    noise = Noise(posterior.sigma[-1] / scale, posterior.delta[-1] / scale)
    return ShootingDensity(shooting, shares), unknowns, noise


def misfits(posterior: Posterior) -> list[str]:
    """Return, a line each, what makes the posterior doubtful."""
    best = float(posterior.fits.min())
    share = float((posterior.fits <= 1.1 * best).double().mean())
    ratio = (posterior.delta / posterior.sigma).flatten(0, 1)
    departure = float(torch.quantile(ratio, 0.05, dim=0).max())
    found = []
    if posterior.white < stein_newton.WHITE or departure > DEPARTS:
        found.append(
            f"the equations do not hold exactly: the best fit's errors are noise with a chance of"
            f" {posterior.white:.1g}, and states depart from the equations by {departure:.2g} of"
            " the observations' noise or more in each window; the posterior is wider for it"
        )
    if best > POOR:
        found.append(
            f"the best fit misses by {best:.2f} of the states' deviations: columns may be swapped"
            " (gravity along the first of each pair), the rate wrong, or it is no double pendulum"
        )
    if share < FEW:
        found.append(f"{share:.0%} of the starts came to the best fit: there may be a better one")
    if float(posterior.mixing.max()) > MIXED:
        found.append(f"particles have not mixed ({float(posterior.mixing.max()):.2f}, expected 1)")
    return found


def of_files(names: Sequence[str], runs: Sequence[Recorded]) -> dict[str, Recorded]:
    """Return recordings by file.

    Raises:
        BadInput: If a file is named twice.
    """
    found: dict[str, Recorded] = {}
    for name, run in zip(names, runs, strict=True):
        if name in found:
            raise BadInput(name, "the file named twice", "each recording once")
        found[name] = run
    return found


def inertias() -> Bool[Tensor, " 11"]:
    """Return which parameters are moments of inertia: their order of magnitude is unknown."""
    return torch.tensor(["inertia" in name for name in PARAMETERS])
