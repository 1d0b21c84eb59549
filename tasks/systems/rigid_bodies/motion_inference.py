"""The posterior of parameters from recordings of motion, and what is to be said of it.

Of each recording a second or so from some instants on is learnt from, in windows of a twentieth of
a second: pieces that are far apart are of different energies, and tell more than one that is long.
What the posterior is, which directions of the parameters the motion does not tell, which parameters
crowd at their limits and how the equations fail are stated together. What moves is a `Problem`.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
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
from ricochet.models.inference.limits import Coordinates, Limits, Logistic, Shares
from ricochet.models.inference.multiple_shooting import Shooting, Simulator
from ricochet.models.inference.shooting_density import Noise, ShootingDensity, Unknowns
from ricochet.models.inference.stein_newton import NothingMovesError, Posterior, Settings
from ricochet.models.systems.rigid_bodies import marked_motion, repeated_motions
from ricochet.tasks.systems.rigid_bodies import motion_misfits
from ricochet.tasks.systems.rigid_bodies.motion_tables import Recorded

WINDOW = 0.05
"""Seconds."""

Inputs = Float[Tensor, "window step input"]
"""What acts in each frame of some windows, those of a motion together."""


@dataclass(frozen=True)
class Problem:
    """What moves, and which of its parameters are unknown.

    Attributes:
        names: Of the parameters, with their units.
        logarithmic: Parameters whose order of magnitude is unknown.
        states: What the states are, with their units, for figures.
        simulator: Makes the simulator of windows by frames a second and what acts in each of their
            frames. Of fewer windows than these it simulates the first.
        doubt: What a poor fit may come from.
        spread_in: Coordinates of the moves; shares of the limits' range when absent.
        window: Seconds of a window.
        width: Frames from which on errors of observations are independent: those of the polynomials
            that made the states.
        seen: How many states, the first ones, are observed; values of others are where fits begin
            and no more. All are when absent.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    limits: Limits
    logarithmic: Bool[Tensor, " parameter"]
    states: tuple[str, ...]
    simulator: Callable[[float, Inputs], Simulator]
    doubt: str
    spread_in: Coordinates | None = None
    window: float = WINDOW
    width: int = marked_motion.WINDOW
    seen: int | None = None

    def frames(self, rate: float) -> int:
        """Return the frames of a window."""
        return max(1, round(self.window * rate))


@dataclass(frozen=True)
class Amount:
    """How much is learnt from, and how much is computed.

    Attributes:
        span: Seconds of each piece.
        instants: Seconds from each recording's start at which pieces begin; those that it does not
            hold whole are left out.
        rounds: Whose particles are kept.
    """

    span: float
    instants: Sequence[float]
    particles: int
    rounds: int = Settings().rounds


@dataclass(frozen=True)
class Inferred:
    """A posterior and what it is of.

    Attributes:
        shooting: What was learnt from.
        known: What the motion tells.
        rate: Frames a second.
        inside: Limits of all that the posterior is of, where that is more than parameters, which
            come first.
    """

    problem: Problem
    posterior: Posterior
    shooting: Shooting
    known: Identifiability
    rate: float
    inside: Limits | None = None

    @property
    def limits(self) -> Limits:
        """Of the parameters."""
        return self.problem.limits

    @property
    def theta(self) -> Float[Tensor, "draw parameter"]:
        """Parameters of all draws that were kept."""
        return self.posterior.theta.flatten(0, 1)[:, : len(self.problem.names)]

    def to_json(self) -> dict[str, Any]:
        """Return what `result.json` says of it."""
        draws, posterior = self.theta.numpy(), self.posterior
        best, mixing = posterior.fits.min(), float(posterior.mixing.max())
        return {
            "parameters": list(self.problem.names),
            "mean": draws.mean(0).tolist(),
            "covariance": np.atleast_2d(np.cov(draws.T)).tolist(),
            "noise": {
                "observation": posterior.sigma.mean((0, 1)).tolist(),
                "departure": posterior.delta.mean((0, 1)).tolist(),
            },
            "rank": self.known.rank,
            "null_directions": self.known.null_directions,
            "at_limits": self.known.at_limits,
            "fit_rmse": float(best),
            "starts_at_best": float((posterior.fits <= 1.1 * best).double().mean()),
            "mixing": mixing if math.isfinite(mixing) else None,
            "misfit": motion_misfits.of(posterior, self.problem.doubt),
        }


def read(reader: Callable[[Path], Recorded], *groups: Sequence[Path]) -> list[dict[str, Recorded]]:
    """Read groups of files, and return the recordings of each; BadInput as `of_files`, of all."""
    files = list(chain(*groups))
    found = of_files([str(file) for file in files], [reader(file) for file in files])
    return [{str(file): found[str(file)] for file in group} for group in groups]


def of_files(names: Sequence[str], runs: Sequence[Recorded]) -> dict[str, Recorded]:
    """Return recordings by file.

    Raises:
        BadInput: If a file is named twice, or two hold the same motion, or most of it, smoothed or
            in other units too: evidence counts once.
    """
    found = dict(zip(names, runs, strict=True))
    if len(found) < len(runs):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise BadInput(twice, "the file named twice", "each recording once")
    states, positions = [run.states for run in runs], [run.positions for run in runs]
    again = repeated_motions.pairs(positions, [run.rate for run in runs])
    for before, other in chain(repeated_motions.cut(states), again):
        raise BadInput(names[other], f"the motion of {names[before]}", "each recording once")
    return found


def windows_of(
    problem: Problem,
    runs: Mapping[str, Recorded],
    span: float,
    instants: Sequence[float] = (0.0,),
) -> tuple[Shooting, float]:
    """Return what is learnt from some recordings, by file, and their rate in Hz.

    Args:
        span: Seconds of each piece.
        instants: Seconds from each recording's start at which pieces begin; those that it does not
            hold whole are left out.

    Raises:
        BadInput: If rates differ, or a recording ends before two windows from the first instant on.
    """
    rate = _rate(runs)
    steps, begins = problem.frames(rate), [round(each * rate) for each in sorted(instants)]
    short = min(runs, key=lambda name: len(runs[name].states))
    count = min(len(runs[short].states) - 1 - begins[0], round(span * rate)) // steps
    if count < 2:
        found, least = len(runs[short].states), begins[0] + 2 * steps + 1
        raise BadInput(short, f"{found} frames at {rate:g} Hz", f"at least {least}")
    pieces = [
        (run, begin)
        for run in runs.values()
        for begin in begins
        if begin + count * steps < len(run.states)
    ]
    seen = torch.from_numpy(
        np.stack([run.states[begin : begin + count * steps + 1] for run, begin in pieces])
    )
    scale = (
        (seen - seen.mean(1, keepdim=True)).flatten(0, 1).std(0)
    )  # turns before a piece are none
    still = [name for name, size in zip(problem.states, scale, strict=True) if not size > 0.0]
    if still:
        what = "nothing that moves" if len(still) == len(scale) else f"{still[0]} that is constant"
        raise BadInput(next(iter(runs)), f"{what} in {count * problem.window:g} s", "a motion")
    simulate = problem.simulator(rate, inputs_of(pieces, windows=count, steps=steps))
    return Shooting(simulate, seen, count, scale, problem.seen), rate


def inputs_of(pieces: Sequence[tuple[Recorded, int]], *, windows: int, steps: int) -> Inputs:
    """Return what acts in windows of motions that begin at some frames, those of each together."""
    count = windows * steps
    cut = [run.inputs[begin : begin + count] for run, begin in pieces]
    if not cut[0].size:
        return torch.empty(len(pieces) * windows, steps, 0, dtype=torch.float64)
    return torch.from_numpy(np.stack(cut)).unflatten(1, (windows, steps)).flatten(0, 1)


def infer(
    problem: Problem,
    runs: Mapping[str, Recorded],
    generator: np.random.Generator,
    *,
    amount: Amount,
    progress: Progress = no_progress,
) -> Inferred:
    """Return the posterior of the parameters of what moves in some recordings, by file."""
    shooting, rate = windows_of(problem, runs, amount.span, amount.instants)
    posterior = stein_newton.infer(
        shooting,
        Logistic(problem.limits, problem.logarithmic),
        generator,
        settings=Settings(particles=amount.particles, rounds=amount.rounds),
        spread_in=problem.spread_in,
        apart=problem.width,
        progress=progress,
    )
    known = identifiability.of_posterior(
        precision(shooting, problem.limits, posterior),
        Shares(problem.limits).of(posterior.theta).flatten(0, 1).numpy(),
        problem.names,
    )
    return Inferred(problem, posterior, shooting, known, rate)


@contextmanager
def refused_limits(where: str) -> Iterator[None]:
    """Refuse limits within which nothing moves, which inference finds out, as bad input."""
    try:
        yield
    except NothingMovesError as error:
        found, _, expected = str(error).partition(", expected ")
        raise BadInput(where, found, expected) from error


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
    inside = inferred.inside or inferred.limits
    density, last, noise = _last(inferred.shooting, inside, inferred.posterior)
    place = int(density.value(last, density.at(last), noise).argmax())
    return inferred.posterior.theta[-1, place, : len(inferred.problem.names)].numpy()


def _rate(runs: Mapping[str, Recorded]) -> float:
    """Return the rate of all recordings."""
    file, rate = next((name, run.rate) for name, run in runs.items())
    for other, run in runs.items():
        if abs(run.rate / rate - 1.0) > 1e-3:
            raise BadInput(other, f"a rate of {run.rate:g} Hz", f"the {rate:g} Hz of {file}")
    return rate


def _last(
    shooting: Shooting, inside: Limits, posterior: Posterior
) -> tuple[ShootingDensity, Unknowns, Noise]:
    """Return the density in shares, and the last particles."""
    shares, scale = Shares(inside), shooting.scale
    unknowns = Unknowns(shares.of(posterior.theta[-1]), posterior.starts / scale)
    own = scale[: shooting.observable]
    noise = Noise(posterior.sigma[-1] / own, posterior.delta[-1] / scale)
    return ShootingDensity(shooting, shares), unknowns, noise
