r"""The share of a contact law's scatter that is error of what it was learnt from, taken off.

Residuals of a law, e = v+ - Theta b in (n, t), hold the errors of the velocities, of deviations s+,
s- (puck) and s_m (mallet), and that of the normal, an angle of deviation
p = sqrt(s_x^2 + s_xm^2) / R at a mallet, none at a wall. To first order the variance of row j is

    E_j = s+^2 + s-^2 |Theta_j,puck|^2 + s_m^2 |Theta_j,mallet|^2 + p^2 (J v+ - Theta J b)_j^2,

J being a turn by a quarter of each velocity. Residuals count by U (`contact_frames.sizes`), so
Sigma_jj less the usual E_j / U_j^2 is that of the contacts themselves: less the median, since the
mean is that of a few contacts between short flights, and may be more than there is. `LEAST` of each
fitted variance is left; correlations stay.
"""

from dataclasses import dataclass, fields, replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import contact_frames, mode_fitting, segmentation
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.puck.segmentation import Contacts, Recording
from ricochet.models.systems.air_hockey.table import Table

LEAST = 0.5  # of a fitted variance, that is left
_NONE = 1e-12


@dataclass(frozen=True)
class Errors:
    """Standard deviations of what a recording says of each axis, m and m/s."""

    puck: Float[ndarray, "episode time"]
    puck_velocity: Float[ndarray, "episode time"]
    mallet: Float[ndarray, "episode time"]
    mallet_velocity: Float[ndarray, "episode time"]


def corrected(modes: PuckModes, recording: Recording, errors: Errors, table: Table) -> PuckModes:
    """Return modes whose contacts scatter by no more than contacts do."""
    drag = -np.log(np.diag(modes.floating.matrix)) / PERIOD
    assigned = segmentation.assign(recording, table, drag=drag)
    first, calm = (
        _among(each, mode_fitting.first_contacts(each, assigned))
        for each in (assigned.banks, assigned.strikes)
    )

    def contacts_alone(law: LinearGaussian, contacts: Contacts) -> LinearGaussian:
        return without(law, variance(law, contacts, errors, table), contacts)

    usual = [replace(one, law=contacts_alone(one.law, first)) for one in modes.rebounds[:1]]
    return replace(
        modes,
        wall=contacts_alone(modes.wall, assigned.banks),
        mallet=contacts_alone(modes.mallet, calm),
        rebounds=(*usual, *modes.rebounds[1:]),
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
    law: LinearGaussian, added: Float[ndarray, "contact 2"], contacts: Contacts
) -> LinearGaussian:
    """Return a law without the scatter that errors of a variance in m^2/s^2 add to its contacts."""
    if not len(added):
        return law
    usual = np.median(added / contact_frames.sizes(contacts.against) ** 2, axis=0)
    fitted = np.maximum(np.diag(law.covariance), _NONE)
    root = np.sqrt(np.clip(1.0 - usual / fitted, LEAST, 1.0))
    return replace(law, covariance=root[:, None] * law.covariance * root)


def _among(contacts: Contacts, chosen: Bool[ndarray, " contact"]) -> Contacts:
    """Return some of the contacts."""
    return Contacts(*(getattr(contacts, each.name)[chosen] for each in fields(contacts)))
