"""Samplers of others on the same density: the ensemble of `emcee`, the no-U-turn one of `nutpie`.

Both are of the extra `compare`.

Sources: Goodman and Weare 2010 (stretch moves; Foreman-Mackey et al. 2013), Hoffman and Gelman 2014
(no-U-turn; Seyboldt et al. 2024).
"""

import contextlib
import importlib.util
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.inference.fixed_noise_density import FixedNoiseDensity

if TYPE_CHECKING:
    from nutpie.sample import _BackgroundSampler

_LOOK = 0.05
"""Between two looks whether the time is over, s."""


def absent() -> dict[str, str]:
    """Return why samplers are missing, by their names in tables; nothing where both are there."""
    return {
        row: f"{package} is not installed; pip install 'ricochet-lab[compare]' adds it"
        for row, package in (("emcee", "emcee"), ("nuts", "nutpie"))
        if importlib.util.find_spec(package) is None
    }


def ensemble(
    density: FixedNoiseDensity,
    u: Float[Tensor, "walker unknown"],
    budget: Iterator[float],
    generator: np.random.Generator,
    *,
    stretch: float = 2.0,
) -> Float[Tensor, "walker unknown"]:
    """Return where the walkers of `emcee` are in the end.

    Args:
        density: In `Shares`.
        u: Where walkers begin: an even number, at least twice as many as unknowns.
        budget: Shares of what may be done (`budgets`), a sweep each.
        stretch: Scale of the stretch moves.

    Raises:
        ModuleNotFoundError: If the extra is not installed.
    """
    import emcee

    def values(places: ndarray) -> ndarray:
        return density.value(torch.from_numpy(places)).numpy()

    sampler = emcee.EnsembleSampler(
        len(u), u.shape[1], values, vectorize=True, moves=emcee.moves.StretchMove(a=stretch)
    )
    sampler._random = np.random.RandomState(generator.integers(2**31))
    found = u
    sweeps = sampler.sample(u.numpy(), iterations=2**31, store=False)
    with np.errstate(invalid="ignore"):  # walkers without a density beside others without one
        for _, state in zip(budget, sweeps, strict=False):
            found = torch.from_numpy(state.coords.copy())
    return found


def no_u_turn(
    density: FixedNoiseDensity,
    u: Float[Tensor, "1 unknown"],
    budget: Iterator[float],
    generator: np.random.Generator,
    *,
    tune: int = 300,
    draws: int = 100_000,
    accepted: float = 0.8,
) -> Float[Tensor, "draw unknown"]:
    """Return what a chain of `nutpie` has drawn when the time is over.

    Args:
        density: In `Logistic` coordinates: the sampler knows no limits.
        u: Where the chain begins.
        budget: Shares of what may be done (`budgets`), looked at twenty times a second.
        tune: Draws to adapt by. They are left out; of a chain that ended before them, the later
            half is all there is, or where it began if there is none.
        draws: After as many more the chain ends too.
        accepted: Share of the moves that steps are adapted to.

    Raises:
        ModuleNotFoundError: If the extra is not installed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # arviz announces its next version
        import nutpie
        from nutpie.compiled_pyfunc import from_pyfunc

    size = u.shape[1]
    model = from_pyfunc(
        size,
        lambda: _log_density(density),
        lambda *_: lambda place, **__: {"place": place},
        [np.dtype("float64")],
        [(size,)],
        ["place"],
        make_initial_point_fn=lambda _: u[0].numpy(),
    )
    sampler = nutpie.sample(
        model,
        draws=draws,
        tune=tune,
        chains=1,
        cores=1,
        seed=int(generator.integers(2**31)),
        progress_bar=False,
        blocking=False,
        save_warmup=True,
        target_accept=accepted,
    )
    found = torch.from_numpy(_drawn(sampler, budget))
    return found if len(found) else u


def _log_density(density: FixedNoiseDensity) -> Callable[..., tuple[float, ndarray]]:
    def log_density(place: ndarray, **_: object) -> tuple[float, ndarray]:
        value, gradient = density.expanded(torch.from_numpy(place[None].copy()))
        return float(value), gradient[0].numpy()

    return log_density


def _drawn(sampler: "_BackgroundSampler", budget: Iterator[float]) -> Float[ndarray, "draw place"]:
    found = None
    for _ in budget:
        with contextlib.suppress(TimeoutError):
            found = sampler.wait(timeout=_LOOK)
            break
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # fewer draws than chains
        found = found or sampler.abort()
    drawn = found["posterior"]["place"].to_numpy()[0]
    adapting = found["warmup_posterior"]["place"].to_numpy()[0]
    return drawn if len(drawn) else adapting[len(adapting) // 2 :]
