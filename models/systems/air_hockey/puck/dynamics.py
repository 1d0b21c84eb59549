r"""How a puck moves: a mixture of linear-Gaussian modes, and one period of it as moments.

The state is s = (x, y, vx, vy, ax, ay): place, velocity and airflow, a constant acceleration with
prior N(0, airflow_sd^2 I) which the paper does not have (as white process noise, a steady drift
would be understated). With the period h, modes 1 and 2 (Sec. III-A) and their system (Eqs. 6-8):

    floating   v' = Theta_1 v + theta_1 + h (I + Theta_1) a / 2 + w,     w ~ N(0, Sigma_1),
               x' = x + h (v + v') / 2,    a' = a;
    bank       v+ = Theta_2 v- + theta_2 + w   in (n, t), n the wall's outward normal,
                                                              w ~ N(0, U Sigma_2 U),

U = diag(u_n, max(|u_t|, u_n / 5)) with u the velocity of the two against each other at the contact.
(The paper's noise is the same at all speeds. But an impact has no speed of its own: restitution
and friction scatter, and what they scatter is in proportion to what they act on.) Mode 3, the
strike, has such a noise too: `strikes`; (n, t) and U are those of `contact_frames`.

A bank happens within a period: with o the overshoot of the wall behind x', it was r = o / v_n ago,
so x'' = x' - r (v' - v+). The covariance follows by this map's Jacobian, so that an uncertain place
or time of the bank widens the prediction; by no more than at `SLOWEST_BANK`, below which r is next
to nothing but 1 / v_n is not.

`wall` is the law of any bank: wide, for some touches are unusual and some pucks spin. The first
bank after a strike is known better: the puck does not spin, and `rebounds` separates the usual
touch from the unusual ones, each with its share, so that a plan need not mix what is either the one
or the other.

Means are of states s in m, m/s, m/s^2, covariances those of such states.

Source: Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air
Hockey", Sec. III; the rebounds are ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.core.named_arrays import length, take
from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck.contact_frames import applied, frames, sizes
from ricochet.models.systems.air_hockey.table import Table

SLOWEST_BANK = 0.02  # m/s along the normal
MOST_REBOUNDS = 16
"""Kinds of banks that stored modes may have."""
MOST_BANKS = 32
"""In a leap; pucks lose speed at each."""
_LEAP = 100  # periods that a flight is tabled for
_LAWS = (("floating", 2), ("wall", 2), ("mallet", 4))  # and how many inputs


@dataclass(frozen=True)
class Rebound:
    """One kind of bank: how often it happens, and its law, as `PuckModes.wall`."""

    share: float
    law: LinearGaussian


@dataclass(frozen=True)
class Flights:
    """Floating for k periods, k = 0, 1, 2..: s_k ~ N(matrix_k s_0 + offset_k, covariance_k)."""

    matrix: Float[ndarray, "period 6 6"]
    offset: Float[ndarray, "period 6"]
    covariance: Float[ndarray, "period 6 6"]


@dataclass(frozen=True, eq=False)
class PuckModes:
    """The three modes and the airflow.

    Attributes:
        floating: Velocity after a period given that before, m/s, in the table's axes.
        wall: Velocity after a bank given that before, m/s, in (outward normal, tangent); the
            covariance is that of w / U, no unit.
        mallet: Velocity after a strike given puck's and mallet's, m/s, in (normal, tangent) each;
            the covariance is that of w / U, no unit.
        airflow_sd: Of each axis of the airflow's acceleration, m/s^2.
        delay: From the first touch of the mallet to the instant at which a sudden change of the
            velocity would lead to the same path, s.
    """

    floating: LinearGaussian
    wall: LinearGaussian
    mallet: LinearGaussian
    airflow_sd: float
    delay: float = 0.0
    rebounds: tuple[Rebound, ...] = ()

    @cached_property
    def drag(self) -> float:
        """Of floating, 1/s."""
        return float(-np.log(np.diag(self.floating.matrix).mean()) / PERIOD)

    @cached_property
    def drag_by_axis(self) -> Float[ndarray, "2"]:
        """Of floating, 1/s."""
        return drag_by_axis(self.floating)

    @cached_property
    def first_bank(self) -> tuple[Rebound, ...]:
        """The kinds of first bank after a strike, the usual one first."""
        return self.rebounds or (Rebound(1.0, self.wall),)

    @cached_property
    def transition(self) -> LinearGaussian:
        """One period of floating, for the state."""
        h, eye, zero = PERIOD, np.eye(2), np.zeros((2, 2))
        drag, gain = self.floating.matrix, h * (np.eye(2) + self.floating.matrix) / 2.0
        matrix = np.block([[eye, h * (eye + drag) / 2.0, h * gain / 2.0], [zero, drag, gain],
                           [zero, zero, eye]])  # fmt: skip
        into = np.concatenate((h / 2.0 * eye, eye, zero))
        offset = into @ self.floating.offset
        return LinearGaussian(matrix, offset, into @ self.floating.covariance @ into.T)

    @cached_property
    def flights(self) -> Flights:
        """Floating for 0, 1, 2.. periods."""
        one, matrices, offsets = self.transition, [np.eye(6)], [np.zeros(6)]
        noises = [np.zeros((6, 6))]
        for _ in range(_LEAP):
            matrices.append(one.matrix @ matrices[-1])
            offsets.append(one.matrix @ offsets[-1] + one.offset)
            noises.append(one.matrix @ noises[-1] @ one.matrix.T + one.covariance)
        return Flights(np.stack(matrices), np.stack(offsets), np.stack(noises))


def drag_by_axis(floating: LinearGaussian) -> Float[ndarray, "2"]:
    """Return the drag of each axis that a law of a period's floating has, 1/s."""
    return np.asarray(-np.log(np.diag(floating.matrix)) / PERIOD)


def step(
    modes: PuckModes,
    mean: Float[ndarray, "*batch 6"],
    covariance: Float[ndarray, "*batch 6 6"],
    table: Table,
) -> tuple[Float[ndarray, "*batch 6"], Float[ndarray, "*batch 6 6"]]:
    """Return mean and covariance of the state one period later (Eq. 8), banks included.

    The mode is that of the mean.
    """
    one = modes.transition
    shape, flat = mean.shape, mean.reshape(-1, 6)
    after = flat @ one.matrix.T + one.offset
    spread = _congruent(one.matrix, covariance.reshape(-1, 6, 6)) + one.covariance
    bank(modes.wall, after, spread, table)
    return after.reshape(shape), spread.reshape(*shape, 6)


def leap(
    modes: PuckModes,
    mean: Float[ndarray, " 6"],
    covariance: Float[ndarray, "6 6"],
    *,
    steps: int,
    table: Table,
) -> tuple[Float[ndarray, " 6"], Float[ndarray, "6 6"]]:
    """Return what `steps` times `step` would, going from bank to bank by tabled flights.

    Raises:
        ValueError: If the puck is thrown from wall to wall, more than MOST_BANKS times.
    """
    flights, left, banks = modes.flights, steps, 0
    while left > 0:
        most = min(left, _LEAP)
        path = flights.matrix[1 : most + 1, :4] @ mean + flights.offset[1 : most + 1, :4]
        over: Bool[ndarray, " period"] = np.asarray(beyond(path, table).any(-1))
        k = int(over.argmax()) + 1 if over.any() else most
        matrix = flights.matrix[k]
        mean = matrix @ mean + flights.offset[k]
        covariance = matrix @ covariance @ matrix.T + flights.covariance[k]
        if k <= len(over) and over[k - 1]:
            after, spread = mean[None].copy(), covariance[None].copy()
            bank(modes.wall, after, spread, table)
            mean, covariance, banks = after[0], spread[0], banks + 1
        if banks > MOST_BANKS:
            raise ValueError(f"steps: more than {MOST_BANKS} banks in {steps}")
        left -= k
    return mean, covariance


def beyond(states: Float[ndarray, "*batch n"], table: Table) -> Bool[ndarray, "*batch 2"]:
    """Return whether a puck went beyond an end wall, a long rim, at the end of a period.

    An end wall is open where the puck crosses it within the goal mouth. Only the first four
    numbers of a state are read.
    """
    x, y, vx, vy = (states[..., i] for i in range(4))
    deep, wide = np.abs(x) - table.wall_x, np.abs(y) - table.wall_y
    ends, rims = (deep > 0.0) & (x * vx > 0.0), (wide > 0.0) & (y * vy > 0.0)
    if ends.any():
        ago = deep / np.where(ends, np.abs(vx), 1.0)
        ends = ends & (np.abs(y - ago * vy) >= table.goal_half_width)
    return np.stack((ends, rims), -1)


def bank(
    law: LinearGaussian,
    mean: Float[ndarray, "batch 6"],
    covariance: Float[ndarray, "batch _ _"],
    table: Table,
) -> None:
    """Turn back, in place, the states of which the mean went beyond a wall in this period.

    An empty covariance stays empty.
    """
    for axis, limit in ((1, table.wall_y), (0, table.wall_x)):
        hit = np.flatnonzero(beyond(mean, table)[:, axis])
        if len(hit):
            _bounce(law, mean, covariance, hit, axis=axis, limit=limit)


def to_arrays(modes: PuckModes) -> dict[str, ndarray]:
    """Return the modes as named arrays."""
    parts = {"floating": modes.floating, "wall": modes.wall, "mallet": modes.mallet}
    parts |= {f"rebounds.{k}": one.law for k, one in enumerate(modes.first_bank)}
    arrays = {
        f"{name}.{field}": getattr(part, field)
        for name, part in parts.items()
        for field in ("matrix", "offset", "covariance")
    }
    arrays["rebounds.share"] = np.array([one.share for one in modes.first_bank])
    return arrays | {"airflow": np.array([modes.airflow_sd]), "delay": np.array([modes.delay])}


def from_arrays(arrays: Mapping[str, ndarray]) -> PuckModes:
    """Return the modes of named arrays, as `to_arrays` gives them.

    Raises:
        ValueError: An array is missing, of another shape, not finite or no covariance, or shares
            that do not add up to 1.
    """
    floating, wall, mallet = (_law(arrays, *one) for one in _LAWS)
    airflow, delay = (float(take(arrays, name, (1,))[0]) for name in ("airflow", "delay"))
    if airflow < 0.0 or delay < 0.0:
        raise ValueError(f"airflow, delay: must not be negative, got {airflow}, {delay}")
    count = length(arrays, "rebounds.share", most=MOST_REBOUNDS)
    shares = take(arrays, "rebounds.share", (count,))
    if (shares < 0.0).any() or abs(shares.sum() - 1.0) > 1e-6:
        raise ValueError(f"rebounds.share: must add up to 1, got {shares.tolist()}")
    laws = [_law(arrays, f"rebounds.{k}", 2) for k in range(len(shares))]
    rebounds = tuple(Rebound(float(a), law) for a, law in zip(shares, laws, strict=True))
    return PuckModes(floating, wall, mallet, airflow, delay, rebounds)


def _law(arrays: Mapping[str, ndarray], name: str, width: int) -> LinearGaussian:
    """Return one mode of named arrays."""
    shapes = {"matrix": (2, width), "offset": (2,), "covariance": (2, 2)}
    law = LinearGaussian(*(take(arrays, f"{name}.{f}", shape) for f, shape in shapes.items()))
    covariance = law.covariance
    if not np.allclose(covariance, covariance.T) or np.linalg.eigvalsh(covariance)[0] < -1e-15:
        raise ValueError(f"{name}.covariance: is no covariance: {covariance.tolist()}")
    return law


def _bounce(
    law: LinearGaussian,
    mean: Float[ndarray, "batch 6"],
    covariance: Float[ndarray, "batch _ _"],
    hit: ndarray,
    *,
    axis: int,
    limit: float,
) -> None:
    """Turn back, in place, the states at the rows `hit`, which are beyond a wall across `axis`."""
    state = mean[hit]
    side = np.sign(state[:, axis])
    normal = np.zeros((len(hit), 2))
    normal[:, axis] = side
    frame = frames(normal)
    back = frame.swapaxes(-1, -2)
    before = state[:, 2:4].copy()
    against = applied(frame, before)
    after = applied(back, against @ law.matrix.T + law.offset)
    speed = side * before[:, axis]
    ago = (side * state[:, axis] - limit) / speed
    ago = np.minimum(ago, 2.0 * PERIOD)  # a longer one is an estimate behind the wall
    state[:, 0:2] -= ago[:, None] * (before - after)
    state[:, 2:4] = after
    mean[hit] = state
    if not covariance.size:
        return
    jacobian = np.zeros((len(hit), 6, 6)) + np.eye(6)
    slowest = np.maximum(speed, SLOWEST_BANK)[:, None, None]
    later = (before - after)[:, :, None] * normal[:, None, :] / slowest
    jacobian[:, 2:4, 2:4] = back @ law.matrix @ frame
    jacobian[:, 0:2, 0:2] -= later
    jacobian[:, 0:2, 2:4] = ago[:, None, None] * (jacobian[:, 2:4, 2:4] - np.eye(2) + later)
    into = np.zeros((len(hit), 6, 2))
    into[:, 2:4] = back * sizes(against)[:, None, :]
    into[:, 0:2] = ago[:, None, None] * into[:, 2:4]
    covariance[hit] = jacobian @ covariance[hit] @ jacobian.swapaxes(-1, -2) + (
        into @ law.covariance @ into.swapaxes(-1, -2)
    )


def _congruent(
    matrix: Float[ndarray, "6 6"], covariance: Float[ndarray, "batch 6 6"]
) -> Float[ndarray, "batch 6 6"]:
    """Return A P A^T for symmetric P."""
    if len(covariance) == 1:
        return (matrix @ covariance[0] @ matrix.T)[None]
    half = (covariance.reshape(-1, 6) @ matrix.T).reshape(-1, 6, 6)
    turned = np.ascontiguousarray(half.swapaxes(-1, -2)).reshape(-1, 6)
    return (turned @ matrix.T).reshape(-1, 6, 6)
