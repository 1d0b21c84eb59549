"""What the normal law about the most likely path misses: arcs, and redirections of two kinds.

**Arcs.** The speed after a contact is fixed by that before it, far better than places are measured,
so that a velocity along the surface lies on an arc whose curvature, in units of the scatter of
speeds, is not small. With S the covariance of the velocities, r the residual of the speed and A its
second derivative, the covariance's determinant changes, and with it the log likelihood, by

    -log(1 + r tr(A S)) / 2,

exactly for one direction of bending, and to first order for all. Without it restitution is too high
by several standard deviations.

**Two kinds of redirections.** A mixture of a narrow and a wide law is not the one square, of
weight w, that the path was found with. Let N(d; m, V) be what the other observations say of the
deflection d, two numbers: the normal law of the path without that square. Then the mixture's
integral is known, and replaces that of the square,

    sum_i p_i N(m; 0, V + I / k_i)   in place of   exp(-excess) peak 2 pi / w N(m; 0, V + I / w).
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.chains.least_squares import FIRST, Problem
from ricochet.models.systems.bouncing_ball.chains.parameters import Values
from ricochet.models.systems.bouncing_ball.chains.rebounds import Rebounds

_NEGLIGIBLE = 1e-9  # share of wide redirections
_LEAST = 1e-16  # variance of a deflection
_REACH, _REACHES = 0.3, 3.0  # rad, or deviations: no normal law holds for larger deflections
_MOST_BEND = -0.5  # a path that bends back more is no minimum


def total(
    problem: Problem, covariance: Float[ndarray, "point take path path"], values: Values
) -> Float[ndarray, "point take"]:
    """Return what to add to the log likelihood of each take."""
    found = curvature(problem, covariance)
    if bool((values.tail_share > _NEGLIGIBLE).any()):
        found = found + mixtures(problem, covariance, values)
    return found


def _blocks(
    problem: Problem, covariance: ndarray, number: int
) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """Return the covariance of an exit, of the unknowns before it, both, and the impact by them."""
    start = FIRST + 3 * number
    here = slice(start, start + 3)
    if number:
        before, by = slice(start - 3, start), problem.arrival_by[:, :, number - 1]
    else:
        before, by = slice(3, 5), np.eye(3)[:, :2]
    return (
        covariance[..., here, here],
        covariance[..., before, before],
        covariance[..., before, here],
        by,
    )


def curvature(
    problem: Problem, covariance: Float[ndarray, "point take path path"]
) -> Float[ndarray, "point take"]:
    """Return -log(1 + r tr(A S)) / 2, summed over the exits of each take.

    r = (|b| / |m| - 1) / s is the residual of the speed of an exit b, m what the contact makes.
    """
    found = problem.contacts
    total = np.zeros(found.residual.shape[:2])
    for number in range(found.residual.shape[-2]):
        own, before, cross, by = _blocks(problem, covariance, number)
        by = found.mean_by[:, :, number] @ by
        mean = by @ before @ by.swapaxes(-1, -2)
        bend = _bend(found, number, own, mean, by @ cross)
        total = total - 0.5 * np.log1p(np.maximum(bend, _MOST_BEND))
    return total


def _bend(
    found: Rebounds, number: int, own: ndarray, mean: ndarray, cross: ndarray
) -> Float[ndarray, "point take"]:
    """Return r tr(A S) of one contact, S in blocks of exit, mean exit and both."""
    b, m, sd = found.exit[:, :, number], found.mean[:, :, number], found.speed_sd[:, :, number]
    speed, length = np.sqrt((b * b).sum(-1)), np.sqrt((m * m).sum(-1))
    left, towards = b / speed[..., None], m / length[..., None]
    trace = (np.trace(own, axis1=-2, axis2=-1) - _along(left, own, left)) / (speed * length)
    off = np.trace(mean, axis1=-2, axis2=-1) - 3.0 * _along(towards, mean, towards)
    trace = trace - off * speed / length**3
    trace = trace - 2.0 * _along(towards, cross, left) / length**2
    return np.asarray(found.residual[:, :, number, 3] * trace / sd)


def _along(left: ndarray, matrix: ndarray, right: ndarray) -> ndarray:
    return np.asarray(np.einsum("pti,ptij,ptj->pt", left, matrix, right))


def mixtures(
    problem: Problem, covariance: Float[ndarray, "point take path path"], values: Values
) -> Float[ndarray, "point take"]:
    """Return what two kinds of redirections add to the one square of each exit."""
    found = problem.contacts
    change = np.zeros(found.residual.shape[:2])
    for number in range(found.residual.shape[-2]):
        place, spread = _deflection(problem, covariance, number)
        weight = found.weight[:, :, number]
        change = change + _replaced(place, spread, weight, found, number, values)
    return change


def _deflection(
    problem: Problem, covariance: ndarray, number: int
) -> tuple[Float[ndarray, "point take 2"], Float[ndarray, "point take 2 2"]]:
    """Return mean and covariance of an exit's deflection, in two axes across it."""
    found = problem.contacts
    own, before, cross, by = _blocks(problem, covariance, number)
    axes = _axes_across(found.mean[:, :, number])
    root = np.sqrt(found.weight[:, :, number])[..., None, None]
    slopes = axes @ found.by[:, :, number, :3] / root
    by_before, by_own = slopes[..., :3] @ by, slopes[..., 3:6]
    mixed = by_before @ cross @ by_own.swapaxes(-1, -2)
    spread = by_before @ before @ by_before.swapaxes(-1, -2) + mixed + mixed.swapaxes(-1, -2)
    spread = spread + by_own @ own @ by_own.swapaxes(-1, -2)
    place = (axes @ (found.residual[:, :, number, :3, None] / root))[..., 0]
    return place, spread


def _axes_across(mean: Float[ndarray, "point take 3"]) -> Float[ndarray, "point take 2 3"]:
    """Return two unit vectors across a vector that does not lie along x."""
    first = np.cross(mean, [1.0, 0.0, 0.0])
    first /= np.sqrt((first**2).sum(-1, keepdims=True))
    second = np.cross(mean, first)
    second /= np.sqrt((second**2).sum(-1, keepdims=True))
    return np.stack((first, second), -2)


def _replaced(
    place: ndarray,
    spread: ndarray,
    weight: ndarray,
    found: Rebounds,
    number: int,
    values: Values,
) -> Float[ndarray, "point take"]:
    """Take the square out of the normal law, and put the mixture in its place."""
    size, axes = np.linalg.eigh(spread)
    others = np.maximum(1.0 / np.maximum(size, _LEAST) - weight[..., None], 0.0)
    squares = (axes.swapaxes(-1, -2) @ place[..., None])[..., 0] ** 2
    kappa, ratio, share = (
        x[:, None] for x in (values.concentration, values.tail_ratio, values.tail_share)
    )
    wanted = (squares * (1.0 + weight[..., None] / np.maximum(others, _LEAST)) ** 2).sum(-1)
    reach = np.maximum(_REACH, _REACHES / np.sqrt(kappa))
    squares = squares * np.minimum(1.0, reach**2 / np.maximum(wanted, _LEAST))[..., None]
    parts = [
        np.log(chance) + _exchanged(squares, others, weight, many)
        for chance, many in ((1.0 - share, kappa), (share, ratio * kappa))
    ]
    square = np.log(2.0 * np.pi / weight) + found.peak[:, :, number] - found.excess[:, :, number]
    return np.asarray(np.logaddexp(*parts) - square)


def _exchanged(squares: ndarray, others: ndarray, old: ndarray, new: ndarray) -> ndarray:
    """Return log N(m; 0, V + I / new) - log N(m; 0, V + I / old) in two axes.

    `others` is 1 / V and m = (others + old) / others times the place whose square is given: so the
    difference is known where nothing else tells the deflection, others = 0.
    """
    old, new = old[..., None], np.broadcast_to(new, old.shape)[..., None]
    after = others + new
    wider = np.log(new * (others + old) / (old * after))
    return np.asarray(0.5 * (wider - squares * (others + old) * (new - old) / after).sum(-1))
