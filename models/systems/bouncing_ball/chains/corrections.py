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

    sum_i p_i N(m; 0, V + I / k_i)   in place of   N(m; 0, V + I / w).

For one redirection this holds with any w. With many, each is replaced as if the others were settled
by their squares, so that these have to be the right ones: w is the weight with which the square
leaves the same mean deflection as the mixture,

    1 / (1 + w V) = sum_i r_i / (1 + k_i V),    r_i in proportion to p_i N(m; 0, V + I / k_i),

and paths are found and weights renewed in turn (expectation propagation, Minka 2001, matching the
mean of the deflection alone).
"""

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Corrections:
    """What the normal law misses, and the weights that the squares of redirections should have.

    Attributes:
        log_likelihood: To be added to that of each take.
        weights: In units of the concentration of the narrow redirections.
    """

    log_likelihood: Float[ndarray, "point take"]
    weights: Float[ndarray, "point take flight"]


def of(
    problem: Problem, covariance: Float[ndarray, "point take path path"], values: Values
) -> Corrections:
    """Return the corrections about the most likely paths."""
    blocks = _blocks(problem, covariance)
    found = _curvature(problem.contacts, blocks)
    if not bool((values.tail_share > _NEGLIGIBLE).any()):
        return Corrections(found, np.ones_like(problem.contacts.weight))
    place, spread = _deflection(problem.contacts, blocks)
    gained, weights = _replaced(place, spread, problem.contacts.weight, values)
    return Corrections(found + gained.sum(-1), weights)


@dataclass(frozen=True)
class _Blocks:
    """Of every exit: covariances of its velocity, of the unknowns before it, and between both.

    The unknowns before the first contact are the speed along the surface at the release; before
    the others, the velocity of the flight. `by` is the derivative of the impact by them.
    """

    own: Float[ndarray, "point take flight 3 3"]
    before: Float[ndarray, "point take flight 3 3"]
    cross: Float[ndarray, "point take flight 3 3"]
    by: Float[ndarray, "point take flight 3 3"]


def _blocks(problem: Problem, covariance: Float[ndarray, "point take path path"]) -> _Blocks:
    flights = problem.arrival_by.shape[2]
    starts = FIRST + 3 * np.arange(flights)
    shape = problem.arrival_by.shape
    own, before, cross, by = (np.zeros(shape) for _ in range(4))
    for number, start in enumerate(starts):
        here = slice(start, start + 3)
        own[:, :, number] = covariance[..., here, here]
        if number:
            cross[:, :, number] = covariance[..., start - 3 : start, here]
    before[:, :, 1:], by[:, :, 1:] = own[:, :, :-1], problem.arrival_by[:, :, :-1]
    before[:, :, 0, :2, :2] = covariance[..., 3:5, 3:5]
    cross[:, :, 0, :2] = covariance[..., 3:5, FIRST : FIRST + 3]
    by[:, :, 0, 0, 0] = by[:, :, 0, 1, 1] = 1.0
    return _Blocks(own, before, cross, by)


def curvature(
    problem: Problem, covariance: Float[ndarray, "point take path path"]
) -> Float[ndarray, "point take"]:
    """Return -log(1 + r tr(A S)) / 2, summed over the exits of each take.

    r = (|b| / |m| - 1) / s is the residual of the speed of an exit b, m what the contact makes.
    """
    return _curvature(problem.contacts, _blocks(problem, covariance))


def _curvature(found: Rebounds, blocks: _Blocks) -> Float[ndarray, "point take"]:
    by = found.mean_by[..., None] * blocks.by
    mean = by @ blocks.before @ by.swapaxes(-1, -2)
    bend = _bend(found, blocks.own, mean, by @ blocks.cross)
    return np.asarray(-0.5 * np.log1p(np.maximum(bend, _MOST_BEND)).sum(-1))


def _bend(
    found: Rebounds, own: ndarray, mean: ndarray, cross: ndarray
) -> Float[ndarray, "point take flight"]:
    """Return r tr(A S) of every contact, S in blocks of exit, mean exit and both."""
    b, m = found.exit, found.mean
    speed, length = np.sqrt((b * b).sum(-1)), np.sqrt((m * m).sum(-1))
    left, towards = b / speed[..., None], m / length[..., None]
    trace = (np.trace(own, axis1=-2, axis2=-1) - _along(left, own, left)) / (speed * length)
    off = np.trace(mean, axis1=-2, axis2=-1) - 3.0 * _along(towards, mean, towards)
    trace = trace - off * speed / length**3
    trace = trace - 2.0 * _along(towards, cross, left) / length**2
    return np.asarray(found.residual[..., 3] * trace / found.speed_sd)


def _along(left: ndarray, matrix: ndarray, right: ndarray) -> ndarray:
    return np.asarray((left * (matrix @ right[..., None])[..., 0]).sum(-1))


def _deflection(
    found: Rebounds, blocks: _Blocks
) -> tuple[Float[ndarray, "point take flight 2"], Float[ndarray, "point take flight 2 2"]]:
    """Return mean and covariance of every exit's deflection, in two axes across it."""
    axes = _axes_across(found.mean)
    root = np.sqrt(found.weight)[..., None, None]
    slopes = axes @ found.by[..., :3, :6] / root
    by_before, by_own = slopes[..., :3] @ blocks.by, slopes[..., 3:]
    mixed = by_before @ blocks.cross @ by_own.swapaxes(-1, -2)
    spread = by_before @ blocks.before @ by_before.swapaxes(-1, -2) + mixed
    spread = spread + mixed.swapaxes(-1, -2) + by_own @ blocks.own @ by_own.swapaxes(-1, -2)
    place = (axes @ (found.residual[..., :3, None] / root))[..., 0]
    return place, spread


def _axes_across(
    mean: Float[ndarray, "point take flight 3"],
) -> Float[ndarray, "point take flight 2 3"]:
    """Return two unit vectors across a vector that does not lie along x."""
    x, y, z = np.moveaxis(mean, -1, 0)
    flat = np.hypot(y, z)
    length = np.hypot(x, flat)
    axes = np.zeros((*flat.shape, 2, 3))
    axes[..., 0, 1], axes[..., 0, 2] = z / flat, -y / flat
    axes[..., 1, 0] = -flat / length
    axes[..., 1, 1], axes[..., 1, 2] = x * y / (flat * length), x * z / (flat * length)
    return axes


def _replaced(
    place: ndarray, spread: ndarray, weight: ndarray, values: Values
) -> tuple[Float[ndarray, "point take flight"], Float[ndarray, "point take flight"]]:
    """Put the mixture in the square's place; return what is gained, and the square's new weight."""
    size, squares = _principal(place, spread)
    others = np.maximum(1.0 / np.maximum(size, _LEAST) - weight[..., None], 0.0)
    kappa, ratio, share = (
        x[:, None, None] for x in (values.concentration, values.tail_ratio, values.tail_share)
    )
    wanted = (squares * (1.0 + weight[..., None] / np.maximum(others, _LEAST)) ** 2).sum(-1)
    reach = np.maximum(_REACH, _REACHES / np.sqrt(kappa))
    squares = squares * np.minimum(1.0, reach**2 / np.maximum(wanted, _LEAST))[..., None]
    narrow = np.log1p(-share) + _exchanged(squares, others, weight, kappa)
    wide = np.log(share) + _exchanged(squares, others, weight, ratio * kappa)
    gained = np.logaddexp(narrow, wide)
    return gained, _matched(np.exp(narrow - gained), others, kappa, ratio)


def _matched(
    chance: ndarray, others: ndarray, kappa: ndarray, ratio: ndarray
) -> Float[ndarray, "point take flight"]:
    """Return the weight that leaves the mixture's mean deflection, in units of the concentration.

    1 / V being `others`, w is a mean of the k_i weighed by r_i / (1 / V + k_i).
    """
    chance, kappa, ratio = chance[..., None], kappa[..., None], ratio[..., None]
    narrow, wide = chance / (others + kappa), (1.0 - chance) / (others + ratio * kappa)
    by_axis = (narrow + ratio * wide) / (narrow + wide)
    return np.asarray(np.sqrt(by_axis.prod(-1)))


def _principal(place: ndarray, spread: ndarray) -> tuple[ndarray, ndarray]:
    """Return the variances along the principal axes, and the squares of a place along them."""
    middle = 0.5 * (spread[..., 0, 0] + spread[..., 1, 1])
    half, off = 0.5 * (spread[..., 0, 0] - spread[..., 1, 1]), spread[..., 0, 1]
    radius = np.hypot(half, off)
    greater = np.maximum(middle + radius, _LEAST)
    lesser = (spread[..., 0, 0] * spread[..., 1, 1] - off**2) / greater
    x, y = place[..., 0], place[..., 1]
    whole, turned = 0.5 * (x**2 + y**2), 0.5 * half * (x**2 - y**2) + off * x * y
    turned = np.clip(turned / np.maximum(radius, _LEAST), -whole, whole)
    return np.stack((lesser, greater), -1), np.stack((whole - turned, whole + turned), -1)


def _exchanged(squares: ndarray, others: ndarray, old: ndarray, new: ndarray) -> ndarray:
    """Return log N(m; 0, V + I / new) - log N(m; 0, V + I / old) in two axes.

    `others` is 1 / V and m = (others + old) / others times the place whose square is given: so the
    difference is known where nothing else tells the deflection, others = 0.
    """
    old, new = old[..., None], np.broadcast_to(new, old.shape)[..., None]
    after = others + new
    wider = np.log(new * (others + old) / (old * after))
    return np.asarray(0.5 * (wider - squares * (others + old) * (new - old) / after).sum(-1))
