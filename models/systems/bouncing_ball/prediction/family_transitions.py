r"""The law of the next bounce given the last two, for draws of the whole family of contacts.

The last flight took the time t and went the distance d. For one draw of the contact and of the
drag (`contact_draws`) it ended with the velocity a = (u', 0, -w') that `flight_expansion` reads
from t and d, and the contact (`contact`) makes of it, with m = ((1 - l) u', 0, e(w') w'),

    f(v) = g(v / |v|) N(|v|; |m|, (s |m|)^2) / |v|^2
    g    = (1 - p) vMF(k) / P(k) + p vMF(q k) / P(q k),   about m / |m|, where v leaves

with P(k) the probability that a direction of vMF(k) leaves the surface. The next flight takes t',
goes d' and turns by b. It began with w = g t' / 2 exp(A), u = d' / t' exp(B): the density is

    q(t', d', b) = f(v) u |d(u, w) / d(d', t')|,      v = (u cos b, u sin b, w),

averaged over the draws. Without air u w / (d' t') is the last factor; with it, kappa = k g t'^2 / 4
and r = 2 d' / (g t'^2), it is that times the determinant of the derivatives of log u and log w by
log d' and log t',

    A = kappa a(r),  a' = r (h - m1),    B = kappa m1(r),  m1' = r arsinh(1 / r),    h^2 = 1 + r^2.

`sample` draws from the same law by doing what it says, which needs no training. Where a draw has no
scatter the speed is certain and its density lies on a surface: `log_density` gives every draw at
least the scatter of a kernel over the draws' own speeds (Silverman 1986, Eq. 3.31), which is a
density where restitution is uncertain, and is refused where all is certain.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import special

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import contact_table, flight_expansion
from ricochet.models.systems.bouncing_ball.contact_table import ContactTable
from ricochet.models.systems.bouncing_ball.prediction.lookahead import NextBounces

_SURE = 7.0  # deviations from the surface at which a direction leaves it to 1e-12
_NODES, _WEIGHTS = special.roots_legendre(48)
_BLOCK = 200_000


def sample(
    table: ContactTable,
    time: Float[ndarray, " parent"],
    distance: Float[ndarray, " parent"],
    count: int,
    draw: np.random.Generator,
) -> NextBounces:
    """Draw next bounces, (parent, count), after two `time`, s, and `distance`, m, apart."""
    shape = len(time), count
    row = draw.integers(len(table), size=len(time) * count)
    before, along = np.repeat(time, count), np.repeat(distance, count)
    fall, run = _arrival(table, row, before, along)
    exits = contact_table.bounce(table, row, np.stack((run, 0.0 * run, fall)), draw=draw)
    found = 2.0 / GRAVITY * exits[2]
    reach = found
    if not table.airless:
        lost = flight_expansion.losses(exits[2], np.hypot(exits[0], exits[1]), table.drag[row])
        found = found * np.exp(-lost.vertical)
        reach = found * np.exp(-lost.horizontal)
    return NextBounces(
        found.reshape(shape), (reach * exits[0]).reshape(shape), (reach * exits[1]).reshape(shape)
    )


def log_density(
    table: ContactTable,
    time: Float[ndarray, " case"],
    distance: Float[ndarray, " case"],
    after: NextBounces,
) -> Float[ndarray, " case"]:
    """Return log q of next bounces, per s, m and rad, after two `time` and `distance` apart, s, m.

    Raises:
        ValueError: If no draw has scatter and all agree on the exit speed.
    """
    found, size = np.empty(len(time)), max(1, _BLOCK // len(table))
    for first in range(0, len(time), size):
        part = slice(first, first + size)
        numbers = time, distance, after.time, after.distance, after.turn
        each = _by_draw(table, *(number[part, None] for number in numbers))
        found[part] = special.logsumexp(each, axis=1) - np.log(len(table))
    return found


def _arrival(
    table: ContactTable, row: ndarray, time: ndarray, distance: ndarray
) -> tuple[ndarray, ndarray]:
    """Return the vertical and the horizontal speed with which flights ended, m/s."""
    fall, run = 0.5 * GRAVITY * time, distance / time
    if table.airless:
        return fall, run
    lost = flight_expansion.losses_between(time, distance, table.drag[row])
    return fall * np.exp(-lost.vertical), run * np.exp(-lost.horizontal)


def _by_draw(
    table: ContactTable,
    time: Float[ndarray, "case 1"],
    distance: Float[ndarray, "case 1"],
    next_time: Float[ndarray, "case 1"],
    next_distance: Float[ndarray, "case 1"],
    turn: Float[ndarray, "case 1"],
) -> Float[ndarray, "case draw"]:
    """Return log q for each draw."""
    row = np.arange(len(table))[None]
    fall, run = _arrival(table, row, time, distance)
    ahead = table.kept * run
    rise = contact_table.restitution(table, row, fall) * fall
    speed = np.hypot(ahead, rise)
    lost = flight_expansion.losses_between(next_time, next_distance, table.drag[row])
    w = 0.5 * GRAVITY * next_time * np.exp(lost.vertical)
    u = next_distance / next_time * np.exp(lost.horizontal)
    q = np.hypot(u, w)
    off = u / q * np.cos(turn) - ahead / speed, u / q * np.sin(turn), w / q - rise / speed
    direction = _log_direction(table, 0.5 * sum(each**2 for each in off), rise / speed)
    sd = speed * _scatter(table, speed)
    normal = -0.5 * ((q - speed) / sd) ** 2 - np.log(sd * np.sqrt(2.0 * np.pi))
    stretch = np.log(u * u * w / (next_time * next_distance * q * q))
    return direction + normal + stretch + _log_determinant(table, next_time, next_distance)


def _scatter(
    table: ContactTable, speed: Float[ndarray, "case draw"]
) -> Float[ndarray, "case draw"]:
    """Return each draw's scatter, and at least the width of a kernel over the draws' speeds."""
    spread = speed.std(axis=1, keepdims=True) / speed.mean(axis=1, keepdims=True)
    found = np.maximum(table.scatter, 0.9 * spread * len(table) ** -0.2)
    if not (found > 0.0).all():
        raise ValueError("draws: the exit speed is certain, so that the next bounce has no density")
    return np.asarray(found)


def _log_determinant(
    table: ContactTable, time: Float[ndarray, "case 1"], distance: Float[ndarray, "case 1"]
) -> Float[ndarray, "case draw"]:
    """Return the log determinant of the derivatives of (log u, log w) by (log d', log t')."""
    kappa = 0.25 * table.drag * GRAVITY * time**2
    r = np.maximum(2.0 * distance / (GRAVITY * time**2), 1e-12)
    h, turned = np.sqrt(1.0 + r * r), np.arcsinh(1.0 / r)
    m1 = 0.5 * (h + r * r * turned)
    a = 0.25 * (h**3 - r * r * m1)
    by_distance = kappa * r * r * (h - m1), 1.0 + kappa * r * r * turned  # of log w, of log u
    by_time = (
        1.0 + 2.0 * kappa * a - 2.0 * by_distance[0],
        1.0 + 2.0 * (kappa * m1 - by_distance[1]),
    )
    return np.log(np.abs(by_distance[1] * by_time[0] - by_distance[0] * by_time[1]))


def _log_direction(
    table: ContactTable, lower: Float[ndarray, "case draw"], sine: Float[ndarray, "case draw"]
) -> Float[ndarray, "case draw"]:
    """Return log g of directions with 1 - cos = `lower` about a mean of this sine of elevation."""
    narrow = _log_leaving_vmf(table.concentration, lower, sine)
    if not table.tail_share.any():
        return narrow
    wide = _log_leaving_vmf(table.tail_ratio * table.concentration, lower, sine)
    with np.errstate(divide="ignore"):
        shares = np.log1p(-table.tail_share), np.log(table.tail_share)
    return np.logaddexp(shares[0] + narrow, shares[1] + wide)


def _log_leaving_vmf(
    concentration: Float[ndarray, " draw"],
    lower: Float[ndarray, "case draw"],
    sine: Float[ndarray, "case draw"],
) -> Float[ndarray, "case draw"]:
    peak = np.log(concentration / (2.0 * np.pi)) - np.log(-np.expm1(-2.0 * concentration))
    return peak - concentration * lower - np.log1p(-_staying(concentration + 0.0 * sine, sine))


def _staying(
    concentration: Float[ndarray, "case draw"], sine: Float[ndarray, "case draw"]
) -> Float[ndarray, "case draw"]:
    """Return the probability that a direction enters the surface: its height below integrated.

    The height z of a direction has the density k / (1 - exp(-2k)) exp(k (z sine + c - 1)) times
    I_0(k c) exp(-k c), c = sqrt((1 - z^2) (1 - sine^2)); nodes are at z = -x^2.
    """
    found = np.zeros_like(sine)
    near = np.sqrt(concentration) * np.arcsin(sine) < _SURE
    k, s = concentration[near], sine[near]
    cosine = np.sqrt(1.0 - s * s)
    total = np.zeros_like(k)
    for node, weight in zip(0.5 * (1.0 + _NODES), 0.5 * _WEIGHTS, strict=True):
        z = -node * node
        c = np.sqrt(1.0 - z * z) * cosine
        total += 2.0 * weight * node * np.exp(k * (z * s + c - 1.0)) * special.i0e(k * c)
    found[near] = total * k / -np.expm1(-2.0 * k)
    return found
