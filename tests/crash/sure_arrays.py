"""Arrays of packages, of each kind with draws, that are surer than any recording makes one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ricochet.tasks.registry.packages import Arrays
from tests.crash.hostile_arrays import Change, squeezed

PREFIX = {"grid": "", "family": "three_bounces."}
"""Of the draws of a grid."""


def narrow(kind: str, a: Arrays, by: float) -> Arrays:
    """Return a posterior whose deviations are a share of what they were, whole in all else."""
    prefix = PREFIX.get(kind, "")
    samples, mean = a[f"{prefix}samples"], a[f"{prefix}mean"]
    draws = mean + by * (samples - mean)
    if kind in PREFIX:
        return squeezed(a, by, prefix) | {f"{prefix}samples": draws}
    return _with_moments(a, draws)


def _with_moments(a: Arrays, samples: NDArray[Any]) -> Arrays:
    """Draws with the moments that they have and, in batting, their law."""
    covariance = np.atleast_2d(np.cov(samples.T))
    found = {"samples": samples, "mean": samples.mean(0), "covariance": covariance}
    if "law" not in a:
        return found
    noise = 1.2 * np.sqrt((samples[:, 3:] ** 2).mean(0))
    return found | {"law": np.concatenate((samples[:, :3].mean(0), [0.0], noise))}


def _alike(a: Arrays, *, but: int | None = None) -> Arrays:
    """The first draw again and again, but for one parameter."""
    samples = np.repeat(a["samples"][:1], len(a["samples"]), axis=0)
    if but is not None:
        samples[:, but] = a["samples"][:, but]
    return _with_moments(a, samples)


def _alike_but_one(a: Arrays) -> Arrays:
    """The first draw again and again, but that one of them is off by rounding."""
    samples = _alike(a)["samples"]
    samples[0] *= 1.0 + 1e-12
    return _with_moments(a, samples)


def _narrowed(kind: str) -> dict[str, Change]:
    return {f"deviations times {by:g}": lambda a, by=by: narrow(kind, a, by) for by in (1e-9, 1e-8)}


DRAWS: dict[str, Change] = {
    "one draw again and again": _alike,
    "draws alike but for rounding": _alike_but_one,
    "all known but the first": lambda a: _alike(a, but=0),
    "all known but the last": lambda a: _alike(a, but=-1),
}
SURE: dict[str, dict[str, Change]] = {
    kind: _narrowed(kind) | ({} if kind in PREFIX else DRAWS)
    for kind in ("grid", "family", "particles", "draws", "batting")
}
"""By the kind of package."""
