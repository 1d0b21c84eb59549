"""The answer of the family: its members' posteriors, weighed by how well they explain the takes.

A member is a law of restitution by speed (`contact`), with a loss of tangential speed or, as in the
paper's model, without: a loss that may only be none or more is overstated where tilt and array are
unknown, unless none has a chance of its own. For the same reason a ball of unknown size may feel no
air: with no loss, the paper's ball, and such a one whose restitution falls with speed. With equal
prior chances the weight of member i is proportional to its evidence p(takes | i), and every answer
is the average over the members: draws of the family are draws of member i as often as its weight
says.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.bouncing_ball import contact as contacts
from ricochet.models.systems.bouncing_ball.chains import parameters, posterior
from ricochet.models.systems.bouncing_ball.chains.observations import Chains
from ricochet.models.systems.bouncing_ball.chains.parameters import NAMES, Prior
from ricochet.models.systems.bouncing_ball.chains.peaks import Mode
from ricochet.models.systems.bouncing_ball.chains.posterior import Member
from ricochet.models.systems.bouncing_ball.contact import Contact
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws

LAWS = {
    "constant": contacts.constant,
    "linear": contacts.linear,
    "viscoelastic": contacts.viscoelastic,
}
WITHOUT_LOSS = " without loss"
"""Ends the names of members in which no tangential speed is lost."""
WITHOUT_LOSS_OR_AIR = WITHOUT_LOSS + " or air"
"""Of those in which the ball feels no air either; members if its size is unknown."""
PAPER = "constant" + WITHOUT_LOSS_OR_AIR
"""The paper's model, but for wide redirections and scatters."""
SAMPLES = 4000
drag_prior = parameters.drag_prior
_DRAG = NAMES.index("log_drag")
_LOOSE_SCATTER, _LOOSE_TAKES = np.log(0.02), np.log(0.005)


@dataclass(frozen=True)
class Family:
    """Members with their weights, and draws of all together.

    Attributes:
        weights: Of the members, by their names; they sum to one.
        theta: Draws in the coordinates of `parameters`.
        member: Of which member each is, by its place.
    """

    members: dict[str, Member]
    weights: dict[str, float]
    theta: Float[ndarray, "draw parameter"]
    member: Int[ndarray, " draw"]

    @property
    def best(self) -> Member:
        """The member of the greatest weight."""
        return self.members[max(self.weights, key=lambda name: self.weights[name])]

    @property
    def effective(self) -> float:
        """Number of equally weighted draws that are worth as much as those of all members.

        The variance of a mean over the members is the sum of theirs by the squares of the weights.
        """
        parts = (weight**2 / self.members[name].effective for name, weight in self.weights.items())
        return 1.0 / sum(parts)

    def restitution(self, speed: float) -> Float[ndarray, " draw"]:
        """Return draws of restitution at a speed of impact, m/s."""
        found = np.empty(len(self.theta))
        for number, member in enumerate(self.members.values()):
            rows = torch.from_numpy(self.theta[self.member == number])
            at = torch.full((len(rows),), speed, dtype=torch.float64)
            law = member.prior.law
            found[self.member == number] = law(rows[:, 0], rows[:, NAMES.index("slope")], at)
        return found

    @property
    def pair(self) -> Float[ndarray, "draw 2"]:
        """Draws of restitution at the reference speed and log10 concentration."""
        return self.theta[:, :2]

    def contacts(self, *, draw: np.random.Generator) -> ContactDraws:
        """Return draws of the contact of a further take, with a restitution of its own."""
        own = parameters.values(self.theta)
        scattered = own.restitution * (
            1.0 + own.take_scatter * draw.standard_normal(len(self.theta))
        )
        low, high = parameters.BOX[:, 0]
        columns = (
            np.clip(scattered, low, high), own.concentration, own.slope, own.tangential_loss,
            own.tail_share, own.tail_ratio, own.scatter,
        )  # fmt: skip
        laws = [member.prior.law for member in self.members.values()]
        viscoelastic = np.array([law is contacts.viscoelastic for law in laws])[self.member]
        return ContactDraws(
            Contact(*map(torch.from_numpy, columns)),
            torch.from_numpy(viscoelastic),
            torch.from_numpy(own.drag),
        )


def infer(
    chains: Sequence[Chains],
    *,
    starts: Float[ndarray, "start parameter"],
    drag: tuple[float, float],
    draw: np.random.Generator,
    progress: Progress = no_progress,
) -> Family:
    """Infer the family from the chains of a ball on a surface.

    Args:
        starts: Where searches start, the first where constant restitution is likely (`starts_of`).
        drag: Centre and spread of the prior of log drag.
    """
    maxima = _searched(chains, starts, drag, progress)
    found: dict[str, Member] = {}
    for name in sorted(maxima, key=lambda name: -maxima[name][0].log_evidence):
        best = max((each.log_evidence for each in found.values()), default=-np.inf)
        found[name] = posterior.sampled(chains, maxima[name], draw=draw, best=best)
        progress(len(maxima) + len(found), 2 * len(maxima))
    found = {name: found[name] for name in maxima}
    logs = np.array([member.log_evidence for member in found.values()])
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    member = draw.choice(len(shares), SAMPLES, p=shares)
    theta = np.empty((SAMPLES, len(NAMES)))
    for number, each in enumerate(found.values()):
        here = member == number
        theta[here] = each.sample(int(here.sum()), draw=draw)
    return Family(found, dict(zip(found, shares.tolist(), strict=True)), theta, member)


def _searched(
    chains: Sequence[Chains],
    starts: Float[ndarray, "start parameter"],
    drag: tuple[float, float],
    progress: Progress,
) -> dict[str, list[Mode]]:
    """Search for the maxima of every member, the simpler ones from those of their law."""
    found: dict[str, list[Mode]] = {}
    priors, whole = members(drag), ""
    for name, own in priors.items():
        if name in LAWS:
            chosen = np.array([_loose(own, start) for start in starts]) if found else starts[:1]
            found[name], whole = posterior.modes(chains, own, chosen), name
        else:
            found[name] = _simpler(chains, own, found[whole])
        progress(len(found), 2 * len(priors))
    return found


def _simpler(chains: Sequence[Chains], prior: Prior, maxima: Sequence[Mode]) -> list[Mode]:
    """Search for the maxima of a law from those of one that has more coordinates."""
    return posterior.modes(chains, prior, np.array([_reduced(mode, prior) for mode in maxima]))


def _reduced(mode: Mode, prior: Prior) -> Float[ndarray, " parameter"]:
    """Return where the others of a maximum's coordinates are likely without those that are absent.

    That is their mean given these, as the covariance there has it; the drag itself is what the
    others follow, of which the logarithm falls by one on a straight line to none.
    """
    point, free = mode.density.point.copy(), mode.density.prior.free
    gone = np.flatnonzero(np.isin(free, prior.absent))
    away = np.where(free == _DRAG, -1.0, prior.centre[free] - point[free])[gone]
    between = mode.covariance[np.ix_(gone, gone)]
    point[free] += mode.covariance[:, gone] @ np.linalg.solve(between, away)
    point[prior.absent] = prior.centre[prior.absent]
    return point


def members(drag: tuple[float, float]) -> dict[str, Prior]:
    """Return the priors of all members, each law's whole one before the simpler ones.

    Args:
        drag: As in `infer`.
    """
    found: dict[str, Prior] = {}
    for name, law in LAWS.items():
        found[name] = prior(law, drag)
        found[name + WITHOUT_LOSS] = prior(law, drag, loses=False)
        if drag == parameters.UNKNOWN_DRAG:
            found[name + WITHOUT_LOSS_OR_AIR] = prior(law, drag, loses=False, air=False)
    return found


def prior(
    law: contacts.RestitutionLaw,
    drag: tuple[float, float],
    *,
    loses: bool = True,
    air: bool = True,
) -> Prior:
    """Return the prior of a law, given centre and spread of that of log drag."""
    plain, number = Prior(law, loses, air), NAMES.index("log_drag")
    plain.centre[number], plain.spread[number] = drag
    for absent in plain.absent:
        plain.centre[absent] = parameters.ABSENT[NAMES[absent]]
    return plain


def starts_of(prior: Prior, first: Float[ndarray, " 2"]) -> Float[ndarray, "start parameter"]:
    """Start with hardly any drag, and with as much as the prior's centre or some more."""
    number = NAMES.index("log_drag")
    centre = prior.centre[number]
    rows = []
    for drag in (centre - 1.5 * prior.spread[number], centre + 0.8 * prior.spread[number]):
        start = prior.centre.copy()
        start[:2], start[number] = first, drag
        rows.append(_loose(prior, start))
    return np.array(rows)


def _loose(prior: Prior, known: Float[ndarray, " parameter"]) -> Float[ndarray, " parameter"]:
    """Start with wide scatters, from which the search comes down faster than it climbs."""
    start = known.copy()
    if prior.law is not contacts.linear:
        start[NAMES.index("slope")] = 0.0
    for name, loose in (("log_scatter", _LOOSE_SCATTER), ("log_take_scatter", _LOOSE_TAKES)):
        start[NAMES.index(name)] = max(start[NAMES.index(name)], loose)
    return start


def spread_by(family: Family, factors: Float[ndarray, " 2"]) -> Family:
    """Return the family whose restitution and concentration are wider by factors, about the mean.

    Draws stay within the bounds of `parameters`.
    """
    theta = family.theta.copy()
    centre = theta[:, :2].mean(0)
    theta[:, :2] = np.clip(centre + factors * (theta[:, :2] - centre), *parameters.BOX)
    return replace(family, theta=theta)
