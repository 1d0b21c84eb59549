"""Draws of a contact as arrays of a package, and back (`contact_draws`).

A package of kind `family` has all arrays of one of kind `grid`. Its `samples`, `mean` and
`covariance` are those of the draws below, of restitution and log10 concentration; those of the
paper's model, whose density the grid is, go by `three_bounces.samples` and so on. Beside them are,
of one axis (draw),

    contact.restitution      at the reference speed, 0.30 to 0.99
    contact.concentration    of the exit direction, 10 to 1e5
    contact.slope            s/m, of the linear law, -1 to 1
    contact.tangential_loss  share of the tangential speed, -1 to 1 (negative: spin gives some)
    contact.tail_share       of wide redirections, 0 to 1
    contact.tail_ratio       of their concentration to that of the others, 1e-5 to 1
    contact.scatter          of the exit speed from bounce to bounce, 0 to 3
    contact.drag             of the air, 1/m, 0 to 10
    contact.viscoelastic     whether restitution follows the viscoelastic law, else the linear one

in double precision, the last one of truth values. From a package of kind `grid` its draws of the
paper's model are read: constant restitution without air.
"""

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.chains.parameters import BOX
from ricochet.models.systems.bouncing_ball.restitution_laws import HIGHEST, LOWEST
from ricochet.tasks.registry.packages import Arrays, Package
from ricochet.tasks.systems.bouncing_ball import family_package
from ricochet.tasks.systems.bouncing_ball.grid_agreement import NARROWEST

if TYPE_CHECKING:
    from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws

KINDS = GRID, FAMILY = "grid", family_package.FAMILY
"""Kinds of packages of a ball on a surface."""
PREFIX, THREE = "contact.", "three_bounces."
TABLE, MOMENTS = ("rows", "low", "high", "log_density"), ("samples", "mean", "covariance")
BOUNDS = {
    "restitution": (float(BOX[0, 0]), float(BOX[1, 0])),
    "concentration": (float(10.0 ** BOX[0, 1]), float(10.0 ** BOX[1, 1])),
    "slope": (-1.0, 1.0),
    "tangential_loss": (-1.0, 1.0),
    "tail_share": (0.0, 1.0),
    "tail_ratio": (1e-5, 1.0),
    "scatter": (0.0, 3.0),
    "drag": (0.0, 10.0),
}
"""Of the numbers of a draw, without the prefix; of the first two, the prior of whole takes.

That of restitution is wider than the paper's, which the manifest states of the grid: whole takes
may say that a ball is livelier, or duller. Controllers divide by concentrations, wide ones too:
ratios of a posterior are 7.5e-5 at least (`chains.parameters`).
"""
LAW = "viscoelastic"
FEWEST, MOST = 100, 100_000
"""Draws of a package; a few leave open how they spread."""
FARTHEST, EDGE = 0.25, 0.02
"""How far mean restitution at the reference speed may be from that of three bounces.

The paper's model takes air, and restitution by speed, for a lower or a higher restitution, so that
both need not agree within their deviations. Nearer to an edge of its prior than this share of the
width its answer is of no ball that it can explain, as that of a lively one, and is not looked at.
"""


def names_of(kind: str) -> frozenset[str]:
    """Return the names of all arrays of a kind."""
    plain = frozenset((*TABLE, *MOMENTS))
    if kind == GRID:
        return plain
    paper, contact = (THREE + name for name in MOMENTS), (PREFIX + name for name in (*BOUNDS, LAW))
    return plain | {*paper, *contact}


def arrays_of(draws: "ContactDraws") -> Arrays:
    """Return the arrays of a package that hold draws of a contact."""
    columns = {field.name: getattr(draws.contact, field.name) for field in fields(draws.contact)}
    columns |= {"drag": draws.drag}
    arrays: Arrays = {PREFIX + name: column.double().numpy() for name, column in columns.items()}
    return arrays | {PREFIX + LAW: draws.viscoelastic.numpy()}


def with_contacts(package: Package, draws: "ContactDraws") -> Package:
    """Return a package of kind `grid` with draws of a contact beside, as one of kind `family`."""
    own = summary_of(draws)
    paper = {THREE + name: package.arrays[name] for name in own if name in package.arrays}
    return replace(
        package,
        kind=FAMILY,
        arrays=package.arrays | paper | own | arrays_of(draws),
        inputs=package.inputs | {"speed": family_package.SPEEDS},
    )


def summary_of(draws: "ContactDraws") -> Arrays:
    """Return `samples`, restitution at the reference speed and log10 concentration, and moments."""
    kappa = draws.contact.concentration.log10()
    columns = (draws.contact.restitution, kappa)
    pairs = np.stack([column.double().numpy() for column in columns], -1)
    return {"samples": pairs, "mean": pairs.mean(0), "covariance": np.cov(pairs.T, bias=True)}


def of_paper(package: Package) -> Arrays:
    """Return `samples`, `mean` and `covariance` of the paper's model, whatever the kind.

    Raises:
        BadInput: If some are missing.
    """
    arrays, prefix = package.arrays, THREE if package.kind == FAMILY else ""
    for name in MOMENTS:
        if prefix + name not in arrays:
            raise BadInput(f"package: {prefix}{name}", "no array", f"those of {', '.join(MOMENTS)}")
    return {name: arrays[prefix + name] for name in MOMENTS}


def contact_draws(package: Package) -> "ContactDraws":
    """Return the draws of a contact that a package holds, of kind `family` or `grid`.

    Raises:
        BadInput: If an array is missing or has another shape, or numbers that mean nothing.
    """
    import torch

    from ricochet.models.systems.bouncing_ball import contact_draws as draws_of_contacts
    from ricochet.models.systems.bouncing_ball.contact import Contact

    if package.kind == GRID:
        return draws_of_contacts.of_pairs(torch.from_numpy(_pairs(package.arrays)))
    if package.kind != FAMILY:
        raise BadInput("package", f"kind {package.kind!r}", f"kind {FAMILY!r} or {GRID!r}")
    check(package.arrays)
    columns = {  # copied, as the arrays of a champion may not be written to
        name: torch.from_numpy(package.arrays[PREFIX + name].copy()) for name in (*BOUNDS, LAW)
    }
    drag, viscoelastic = columns.pop("drag"), columns.pop(LAW).bool()
    return draws_of_contacts.ContactDraws(Contact(**columns), viscoelastic, drag)


def check(arrays: Arrays) -> None:
    """Refuse arrays that are no draws of a contact: `BadInput`."""
    count = len(np.atleast_1d(arrays.get(PREFIX + "restitution", ())))
    if count == 0:
        raise BadInput(f"package: {PREFIX}restitution", "no draw", "one or more")
    if count > MOST:
        raise BadInput(f"package: {PREFIX}restitution", f"{count} draws", f"at most {MOST}")
    for name, bounds in BOUNDS.items():
        _check(arrays, PREFIX + name, count, bounds)
    law = _found(arrays, PREFIX + LAW, count)
    if law.dtype not in (np.bool_, np.uint8) or law.max() > 1:
        found = f"values of {law.dtype} up to {law.max()}"
        raise BadInput(f"package: {PREFIX}{LAW}", found, "truth values, or 0 and 1 of uint8")


def check_summary(arrays: Arrays) -> None:
    """Refuse `samples`, `mean` and `covariance` that are not those of the draws: `BadInput`.

    So are too few draws to say how they spread, and those that hardly do.
    """
    kappa = np.log10(arrays[PREFIX + "concentration"])
    pairs = np.stack([arrays[PREFIX + "restitution"], kappa], -1)
    expected = {"samples": pairs, "mean": pairs.mean(0), "covariance": np.cov(pairs.T, bias=True)}
    if len(pairs) < FEWEST or pairs.std(0).min() < NARROWEST:
        said = f"{len(pairs)} draws that spread by {pairs.std(0).min():.2g}"
        least = f"{FEWEST} or more that spread by {NARROWEST:g} at least"
        raise BadInput("package: samples", said, least)
    for name, values in expected.items():
        found = arrays[name]
        if found.shape != values.shape or not np.allclose(found, values, rtol=1e-6, atol=1e-9):
            raise BadInput(f"package: {name}", "numbers of other draws", f"those of {PREFIX}*")


def check_apart(package: Package) -> None:
    """Refuse draws whose mean is of another ball than the paper's model beside them: `BadInput`."""
    own, paper = package.arrays["mean"][0], package.arrays[f"{THREE}mean"]
    low, high = (np.array([getattr(p, end) for p in package.parameters]) for end in ("low", "high"))
    share = (paper - low) / (high - low)
    if (np.abs(share - 0.5) < 0.5 - EDGE).all() and not abs(own - paper[0]) <= FARTHEST:
        found = f"restitution {own:.3g} beside {paper[0]:.3g} by three bounces"
        raise BadInput("package: mean", found, f"at most {FARTHEST:g} apart")


def _check(arrays: Arrays, name: str, count: int, bounds: tuple[float, float]) -> None:
    values, (low, high) = _found(arrays, name, count), bounds
    if values.dtype != np.float64:
        raise BadInput(f"package: {name}", f"numbers of {values.dtype}", "float64")
    if not np.isfinite(values).all():
        raise BadInput(f"package: {name}", "numbers that are not finite", "finite ones")
    if values.min() < low or values.max() > high:
        found = f"{values.min():g} to {values.max():g}"
        raise BadInput(f"package: {name}", found, f"numbers from {low:g} to {high:g}")


def _found(arrays: Arrays, name: str, count: int) -> np.ndarray:
    shape = arrays[name].shape if name in arrays else None
    if shape != (count,):
        found = "no array" if shape is None else f"shape {shape}"
        raise BadInput(f"package: {name}", found, f"shape ({count},), a number for each draw")
    return arrays[name]


def _pairs(arrays: Arrays) -> np.ndarray:
    """Return draws of restitution and log10 concentration."""
    samples = arrays.get("samples", np.zeros(0))
    if samples.ndim != 2 or samples.shape[1] != 2 or len(samples) == 0:
        found = f"shape {samples.shape}" if "samples" in arrays else "no array"
        raise BadInput("package: samples", found, "shape (draw, 2), one draw or more")
    if not np.isfinite(samples).all():
        raise BadInput("package: samples", "numbers that are not finite", "finite ones")
    low, high = samples[:, 0].min(), samples[:, 0].max()
    if low < LOWEST or high > HIGHEST:
        found = f"restitution {low:g} to {high:g}"
        raise BadInput("package: samples", found, f"{LOWEST:g} to {HIGHEST:g}")
    return samples.astype(np.float64)
