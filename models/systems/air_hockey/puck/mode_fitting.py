r"""Modes of the puck fitted to records at 50 Hz (`segmentation`): Eqs. 4-5 for each mode.

After a strike the puck is where a sudden change of velocity at t + delay would have brought it,
x = x_t + v- delay + v+ (s - delay), from which the delay is fitted by least squares.

The airflow is constant within an episode: floating is fitted to deviations from the episode's
means, and what is left of the means gives the airflow's spread (a noise of each step would grow
with the root of time, a drift grows with time). Table, puck and mallet have mirror images, and each
datum is used with its own: what goes with n does not depend on the sign of what goes with t.

Restitution at a rim has a tail on one side. So the mean of `wall` is that of the usual contact (a
t-density's fit in place of Eq. 5's least squares, which one contact in ten pulls away from all
others), and its covariance is that of all contacts about this mean. `rebounds` separates usual and
unusual touches: two laws and their shares by expectation and maximisation, r being the chance that
a bank is unusual by its normal speed alone,

    r = b N(e_n; law 2) / (a N(e_n; law 1) + b N(e_n; law 2)),    b = mean r,    a = 1 - b,

each law by Eqs. 4-5 with weights 1 - r and r. A contact may leave a spin, which no record shows and
which changes the tangential speed of the next. A puck that waits for a shot has none: strikes are
learnt from those that are the first contact of their episode, and so is the tangential speed of the
usual bank.

Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air Hockey",
Sec. III-B; the mixture is ours.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy.special import expit, logit

from ricochet.models.probability import linear_gaussians
from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import contact_frames, dynamics, segmentation
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes, Rebound
from ricochet.models.systems.air_hockey.puck.segmentation import Assigned, Contacts, Recording
from ricochet.models.systems.air_hockey.table import Table

_TAIL, _ROUNDS = 3.0, 15  # degrees of freedom of the t-density, and rounds of its fit
_UNUSUAL = 3.0  # standard deviations from which a touch is at first taken for unusual
_FEWEST = 4  # banks that a law is fitted to


def fit(recording: Recording, table: Table) -> PuckModes:
    """Return the modes fitted to a recording (Eqs. 4-5 each); refuse too few contacts of a kind."""
    drag = np.zeros(2)
    for _ in range(2):  # the drag of the first fit finds the kicks in the second
        assigned = segmentation.assign(recording, table, drag=drag)
        floating, airflow_sd = fit_floating(recording, assigned.floating)
        drag = dynamics.drag_by_axis(floating)
    banks, strikes = assigned.banks, assigned.strikes
    wall = _mirrored(banks.before, banks.after, banks.against, kind="banks")
    calm = first_contacts(strikes, assigned)
    of_calm = strikes.before[calm], strikes.after[calm], strikes.against[calm]
    mallet = _mirrored(*of_calm, kind="strikes of a calm puck")
    rebounds = fit_rebounds(banks, wall, first=first_contacts(banks, assigned))
    return PuckModes(floating, wall, mallet, airflow_sd, fit_delay(strikes), rebounds)


def fit_floating(
    recording: Recording, floating: Bool[ndarray, "episode interval"]
) -> tuple[LinearGaussian, float]:
    """Return mode 1 and the airflow's deviation, m/s^2; refuse too few floating intervals."""
    episodes = [e for e in range(len(floating)) if floating[e].sum() > 2]
    pairs = [
        (recording.puck_velocity[e, :-1][floating[e]], recording.puck_velocity[e, 1:][floating[e]])
        for e in episodes
    ]
    if not pairs:
        raise ValueError("recording: no episode floats")
    inputs, outputs = (np.concatenate([p[i] - p[i].mean(0) for p in pairs]) for i in (0, 1))
    mirror = np.array((1.0, -1.0))
    law = linear_gaussians.fit(
        np.concatenate((outputs, outputs * mirror)),
        np.concatenate((inputs, inputs * mirror)),
        freedom=2 * (len(inputs) - len(pairs) - 2),
    )
    gain = PERIOD * (np.eye(2) + law.matrix) / 2.0
    drift = np.array([after.mean(0) - before.mean(0) @ law.matrix.T for before, after in pairs])
    airflow = np.linalg.solve(gain, drift.T).T
    counts = np.array([len(p[0]) for p in pairs])
    chance = (np.trace(law.covariance) / 2.0 / PERIOD**2 / counts).mean()
    return law, float(np.sqrt(max((airflow**2).mean() - chance, 0.0)))


def fit_delay(strikes: Contacts) -> float:
    """Return how long after the touch a sudden change of velocity gives the same path, s."""
    change = strikes.after - strikes.before[:, :2]
    return max(float(-(strikes.shift * change).sum() / (change**2).sum()), 0.0)


def fit_rebounds(
    banks: Contacts, wall: LinearGaussian, *, first: Bool[ndarray, " bank"]
) -> tuple[Rebound, ...]:
    """Return the usual and the unusual first bank of a puck; nothing if too few are unusual.

    Args:
        wall: The one law of all banks.
        first: Which of them are the first contact of their episode.
    """
    size = contact_frames.sizes(banks.before)
    off = (banks.after - linear_gaussians.mean(wall, banks.before))[:, 0] / size[:, 0]
    chance = (np.abs(off) > _UNUSUAL * np.median(np.abs(off)) / 0.6745).astype(float)
    for _ in range(_ROUNDS):
        if chance.sum() < _FEWEST or ((1.0 - chance) * first).sum() < _FEWEST:
            return ()
        usual = np.stack((1.0 - chance, (1.0 - chance) * first), -1)
        laws = [
            _weighted(banks, size, weight) for weight in (usual, np.stack((chance, chance), -1))
        ]
        usual_log, unusual_log = (_log_density(banks, size, law) for law in laws)
        share = chance.mean()
        chance = expit(unusual_log - usual_log + logit(share))
    return Rebound(float(1.0 - share), laws[0]), Rebound(float(share), laws[1])


def first_contacts(contacts: Contacts, assigned: Assigned) -> Bool[ndarray, " contact"]:
    """Return which contacts are the first of their episode."""
    starts = zip(contacts.episode, contacts.start, strict=True)
    return np.array([assigned.floating[e, :start].all() for e, start in starts], dtype=bool)


def _weighted(
    banks: Contacts, size: Float[ndarray, "bank 2"], weight: Float[ndarray, "bank 2"]
) -> LinearGaussian:
    """Return the law of banks and their mirror images, each row with weights of its own."""
    mirror, weight = np.array((1.0, -1.0)), np.tile(weight, (2, 1))
    inputs, outputs = (np.concatenate((v, v * mirror)) for v in (banks.before, banks.after))
    size = np.tile(size, (2, 1))
    law = linear_gaussians.fit(outputs, inputs, scale=size / np.sqrt(np.maximum(weight, 1e-12)))
    residual = (outputs - linear_gaussians.mean(law, inputs)) / size
    freedom = np.maximum(weight.sum(0) - 4.0, 1.0)  # two numbers a row, and their images
    return replace(law, covariance=np.diag((weight * residual**2).sum(0) / freedom))


def _log_density(
    banks: Contacts, size: Float[ndarray, "bank 2"], law: LinearGaussian
) -> Float[ndarray, " bank"]:
    """Return the log density of the normal speeds after banks, but for a constant."""
    off = (banks.after - linear_gaussians.mean(law, banks.before))[:, 0] / size[:, 0]
    variance = law.covariance[0, 0]
    return np.asarray(-0.5 * (off**2 / variance + np.log(variance)))


def _mirrored(
    before: Float[ndarray, "sample n"],
    after: Float[ndarray, "sample 2"],
    against: Float[ndarray, "sample 2"],
    *,
    kind: str,
) -> LinearGaussian:
    """Return the law of contacts and their mirror images, the noise as `contact_frames.sizes` says.

    The images are no independent samples: numbers a row, n / 2 + 1, are taken off once for each.
    """
    width = before.shape[1]
    if len(before) < width + 3:
        raise ValueError(f"recording: {len(before)} {kind} are too few, need {width + 3}")
    inputs = np.concatenate((before, before * np.tile((1.0, -1.0), width // 2)))
    outputs = np.concatenate((after, after * (1.0, -1.0)))
    size, weight = np.tile(contact_frames.sizes(against), (2, 1)), np.ones((2 * len(before), 2))
    freedom = 2 * (len(before) - width // 2 - 1)
    for _ in range(_ROUNDS):
        law = linear_gaussians.fit(outputs, inputs, scale=size / np.sqrt(weight))
        residual = (outputs - linear_gaussians.mean(law, inputs)) / size
        spread = np.median(np.abs(residual), axis=0) / 0.6745
        weight = (_TAIL + 1.0) / (_TAIL + (residual / np.maximum(spread, 1e-12)) ** 2)
    return replace(law, covariance=residual.T @ residual / freedom)
