r"""The share of a contact law's scatter that is error of what it was learnt from, taken off.

Residuals of a law, e = v+ - Theta b in (n, t), hold the errors of the velocities, of deviations s+,
s- (puck) and s_m (mallet), and that of the normal, an angle of deviation
p = sqrt(s_x^2 + s_xm^2) / R at a mallet, none at a wall. To first order the variance of row j is

    E_j = s+^2 + s-^2 |Theta_j,puck|^2 + s_m^2 |Theta_j,mallet|^2 + p^2 (J v+ - Theta J b)_j^2,

J being a turn by a quarter of each velocity. (Errors of a place and of its velocity count as
independent. At a flight's end they are not, and E_t of a strike is then up to 1.9 times as much:
what is left of its scatter is too wide.) Residuals count by U (`contact_frames.sizes`), so that

    e_j / U_j ~ N(0, S + E_j / U_j^2)

with a scatter S of the contacts themselves, of which contacts that are known well say most. What
is left of a fitted variance is the mean of S given all residuals, a deviation sqrt(S) between none
and twice the fitted one being as likely as any other before; never more than was fitted, which is
what errors too wide to say anything leave. Where errors outweigh the scatter and contacts are few,
that is too wide: 0.012 for 0.006 seen with errors of 0.02 in 25 contacts. For the p numbers fitted
to a row of N contacts, its residuals are taken as sqrt(N / (N - p)) times as large. Correlations
stay. The two laws of banks share the banks by the chance r that each was unusual, as in
`mode_fitting`, here with the errors in both densities.
"""

from dataclasses import dataclass, fields, replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy.special import expit

from ricochet.models.probability import linear_gaussians
from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey.puck import contact_frames, mode_fitting, segmentation
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes, Rebound
from ricochet.models.systems.air_hockey.puck.segmentation import Contacts, Recording
from ricochet.models.systems.air_hockey.table import Table

_NONE = 1e-12
_SOUGHT = np.linspace(0.01, 2.0, 200)  # deviations of contacts, of the fitted one


@dataclass(frozen=True)
class Errors:
    """Standard deviations of what a recording says of each axis, m and m/s."""

    puck: Float[ndarray, "episode time"]
    puck_velocity: Float[ndarray, "episode time"]
    mallet: Float[ndarray, "episode time"]
    mallet_velocity: Float[ndarray, "episode time"]


def corrected(modes: PuckModes, recording: Recording, errors: Errors, table: Table) -> PuckModes:
    """Return modes whose contacts scatter by no more than contacts do."""
    drag = modes.drag_by_axis
    assigned = segmentation.assign(recording, table, drag=drag)
    banks, strikes = assigned.banks, assigned.strikes
    calm = _among(strikes, mode_fitting.first_contacts(strikes, assigned))
    first = mode_fitting.first_contacts(banks, assigned)
    return replace(
        modes,
        wall=without(modes.wall, variance(modes.wall, banks, errors, table), banks),
        mallet=without(modes.mallet, variance(modes.mallet, calm, errors, table), calm),
        rebounds=_rebounds(modes.rebounds, banks, errors, first=first, table=table),
    )


def variance(
    law: LinearGaussian, contacts: Contacts, errors: Errors, table: Table
) -> Float[ndarray, "contact 2"]:
    """Return E, what errors add to the variance of each residual, m^2/s^2."""
    before, after = (contacts.episode, contacts.start), (contacts.episode, contacts.stop)
    of_puck, of_mallet = (np.square(law.matrix[:, part]).sum(1) for part in (slice(2), slice(2, 4)))
    found = errors.puck_velocity[after][:, None] ** 2
    found = found + errors.puck_velocity[before][:, None] ** 2 * of_puck
    if contacts.before.shape[1] == 2:
        return found
    found = found + errors.mallet_velocity[before][:, None] ** 2 * of_mallet
    place = errors.puck[before] ** 2 + errors.mallet[before] ** 2
    turned = contact_frames.left(contacts.before.reshape(-1, 2, 2)).reshape(-1, 4)
    turn = contact_frames.left(contacts.after) - turned @ law.matrix.T
    return found + place[:, None] / table.contact_radius**2 * turn**2


def without(
    law: LinearGaussian,
    added: Float[ndarray, "contact 2"],
    contacts: Contacts,
    *,
    weight: Float[ndarray, "contact 2"] | None = None,
) -> LinearGaussian:
    """Return a law without the scatter that errors add to its contacts.

    Args:
        added: E, m^2/s^2.
        weight: How much each contact and row counts; all the same when absent.
    """
    size = contact_frames.sizes(contacts.against)
    off = (contacts.after - linear_gaussians.mean(law, contacts.before)) / size
    weight = np.ones_like(off) if weight is None else weight
    count, numbers = weight.sum(0), 1 + contacts.before.shape[1] // 2
    off = off * np.sqrt(count / np.maximum(count - numbers, 1.0))
    fitted = np.maximum(np.diag(law.covariance), _NONE)
    errors = np.maximum(added / size**2, 0.0)
    rows = zip(off.T, errors.T, weight.T, fitted, strict=True)
    left = np.array([_scatter(*row) for row in rows])
    root = np.sqrt(np.minimum(left / fitted, 1.0))
    return replace(law, covariance=root[:, None] * law.covariance * root)


def _scatter(
    off: Float[ndarray, " contact"],
    errors: Float[ndarray, " contact"],
    weight: Float[ndarray, " contact"],
    fitted: float,
) -> float:
    """Return the mean of S given residuals, the variances of their errors and their weights."""
    sought = _SOUGHT**2 * fitted
    total = sought[:, None] + errors
    log = -0.5 * (weight * (np.log(total) + off**2 / total)).sum(-1)
    likely = np.exp(log - log.max())
    return float(sought @ likely / likely.sum())


def _rebounds(
    rebounds: tuple[Rebound, ...],
    banks: Contacts,
    errors: Errors,
    *,
    first: Bool[ndarray, " bank"],
    table: Table,
) -> tuple[Rebound, ...]:
    """Return the usual and the unusual bank without errors' scatter; nothing of nothing."""
    if not rebounds:
        return ()
    added = [variance(one.law, banks, errors, table) for one in rebounds]
    logs = [_log_likely(*each, banks) for each in zip(rebounds, added, strict=True)]
    unusual = expit(logs[1] - logs[0])
    usual = 1.0 - unusual
    weights = np.stack((usual, usual * first), -1), np.stack((unusual, unusual), -1)
    return tuple(
        replace(one, law=without(one.law, each, banks, weight=weight))
        for one, each, weight in zip(rebounds, added, weights, strict=True)
    )


def _log_likely(
    rebound: Rebound, added: Float[ndarray, "bank 2"], banks: Contacts
) -> Float[ndarray, " bank"]:
    """Return the log of share times density of normal speeds after banks, but for a constant."""
    size = contact_frames.sizes(banks.against)[:, 0]
    off = (banks.after - linear_gaussians.mean(rebound.law, banks.before))[:, 0]
    total = rebound.law.covariance[0, 0] * size**2 + added[:, 0]
    return np.asarray(np.log(rebound.share) - 0.5 * (off**2 / total + np.log(total)))


def _among(contacts: Contacts, chosen: Bool[ndarray, " contact"]) -> Contacts:
    """Return some of the contacts."""
    return Contacts(*(getattr(contacts, each.name)[chosen] for each in fields(contacts)))
