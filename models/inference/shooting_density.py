r"""The posterior density of parameters and starts of windows, with all that Newton's steps need.

Unknown are the coordinates x of the parameters (`limits`) and the starts z of all windows, over the
scale of the states. Observations have the deviations sigma and starts depart from the end of the
window before them by delta, each a number a state, over the scale:

    log p = -1/2 sum |r / sigma|^2 - 1/2 sum |o / sigma|^2 - 1/2 sum |d / delta|^2 + log prior(x)
            - sum log sigma - sum log delta.

As delta vanishes this is the density of whole motions with unknown first states; where the model
is wrong, delta says by how much. The metric is that of Gauss and Newton, the products of the
derivatives of r, o and d, and the precision of the prior.

Sources: Heiden et al., Eqs. 2, 3, 5 and 6 (there sigma and delta are given, and the first start is
known); derivatives: ours.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.inference.arrow_matrices import Arrow
from ricochet.models.inference.limits import Coordinates
from ricochet.models.inference.multiple_shooting import Shooting, Shot

KNOWN = 1e-6
"""Deviation of a first start that is known, over the scale of the states."""


@dataclass(frozen=True)
class Unknowns:
    """Where particles are.

    Attributes:
        x: Coordinates of the parameters.
        z: Starts of all windows, over the scale of the states.
    """

    x: Float[Tensor, "particle parameter"]
    z: Float[Tensor, "particle trajectory window state"]

    def moved(
        self, dx: Float[Tensor, "particle parameter"], dz: Float[Tensor, "particle trajectory own"]
    ) -> "Unknowns":
        """Return them some steps further."""
        return Unknowns(self.x + dx, self.z + dz.reshape(self.z.shape))

    def put(self, places: Tensor, others: "Unknowns") -> "Unknowns":
        """Return them with those at some places replaced."""
        return Unknowns(
            self.x.index_copy(0, places, others.x), self.z.index_copy(0, places, others.z)
        )

    def __getitem__(self, places: Tensor) -> "Unknowns":
        """Return some particles."""
        return Unknowns(self.x[places], self.z[places])


@dataclass(frozen=True)
class Noise:
    """Deviations of observations and of starts, over the scale of the states."""

    sigma: Float[Tensor, "particle seen"]
    delta: Float[Tensor, "particle state"]

    def __getitem__(self, places: Tensor) -> "Noise":
        """Return those of some particles."""
        return Noise(self.sigma[places], self.delta[places])


@dataclass(frozen=True)
class Expansion:
    """Log density at some points, its gradient there, and the metric."""

    value: Float[Tensor, " particle"]
    by_x: Float[Tensor, "particle parameter"]
    by_z: Float[Tensor, "particle trajectory own"]
    metric: Arrow

    def __getitem__(self, places: Tensor) -> "Expansion":
        """Return those of some particles."""
        return self._each(lambda mine: mine[places])

    def put(self, places: Tensor, others: "Expansion") -> "Expansion":
        """Return them with those at some places replaced."""
        values = iter(others._values)
        return self._each(lambda mine: mine.index_copy(0, places, next(values)))

    @property
    def _values(self) -> tuple[Tensor, ...]:
        metric = self.metric
        return self.value, self.by_x, self.by_z, metric.shared, metric.across, metric.own

    def _each(self, change: Callable[[Tensor], Tensor]) -> "Expansion":
        value, by_x, by_z, *metric = map(change, self._values)
        return Expansion(value, by_x, by_z, Arrow(*metric))


@dataclass(frozen=True)
class ShootingDensity:
    """Observed motions and coordinates of the parameters: what makes the density of the unknowns.

    Attributes:
        known_starts: Whether motions begin exactly where they were first observed, as the paper
            has it; a first observation else errs as all others do.
    """

    shooting: Shooting
    coordinates: Coordinates
    known_starts: bool = False

    def at(self, unknowns: Unknowns) -> Shot:
        """Simulate all windows of all particles."""
        theta = self.coordinates.parameters(unknowns.x)
        return self.shooting.at(theta, unknowns.z * self.shooting.scale)

    def value(self, unknowns: Unknowns, shot: Shot, noise: Noise) -> Float[Tensor, " particle"]:
        """Return the log density; minus infinity where a motion is none."""
        sigma, delta = noise.sigma[:, None], noise.delta[:, None, None]
        spread = (
            (shot.residuals / sigma[:, :, None, None]).square().sum((1, 2, 3, 4))
            + (shot.offsets / self._first(noise)).square().sum((1, 2))
            + (shot.defects / delta).square().sum((1, 2, 3))
        )
        seen, gaps = self.counts
        widths = seen * noise.sigma.log().sum(1) + gaps * noise.delta.log().sum(1)
        found = self.coordinates.log_prior(unknowns.x)[0] - 0.5 * spread - widths
        return torch.where(torch.isfinite(found), found, torch.full_like(found, -torch.inf))

    @property
    def counts(self) -> tuple[int, int]:
        """Observations and defects of a state."""
        runs, instants, _ = self.shooting.observed.shape
        return runs * (instants - self.known_starts), runs * (self.shooting.windows - 1)

    def expanded(self, unknowns: Unknowns, shot: Shot, noise: Noise) -> Expansion:
        """Return value, gradient and metric where particles are."""
        rows, ends = self._rows(unknowns, shot, noise)
        gram, count = rows.mT @ rows, unknowns.x.shape[1]
        tight, loose = 1.0 / noise.delta[:, None, None], 1.0 / self._first(noise)
        by_z = gram[..., count:-1, -1].clone()
        by_z[:, :, 1:] -= shot.defects * tight.square()
        by_z[:, :, 0, : shot.offsets.shape[-1]] += shot.offsets * loose.square()
        by_x = gram[..., :count, -1].sum((1, 2)) + self.coordinates.log_prior(unknowns.x)[1]
        across = gram[..., :count, count:-1].clone()
        across[:, :, 1:] -= (ends[..., :count] * tight[..., None]).mT
        shared = gram[..., :count, :count].sum((1, 2))
        shared = shared + torch.diag(self.coordinates.precision)
        before = -ends[..., count:-1] * tight[..., None]
        precisions = _padded(loose.square(), unknowns.z.shape[-1]), tight.square()
        own = _blocks(gram[..., count:-1, count:-1], before, precisions)
        metric = Arrow(shared, across.movedim(-2, 2).flatten(3), own)
        return Expansion(self.value(unknowns, shot, noise), by_x, by_z.flatten(2), metric)

    def _first(self, noise: Noise) -> Float[Tensor, "particle 1 seen"]:
        """Return the deviation of first starts from what was observed."""
        return (torch.full_like(noise.sigma, KNOWN) if self.known_starts else noise.sigma)[:, None]

    def _rows(self, unknowns: Unknowns, shot: Shot, noise: Noise) -> tuple[Tensor, Tensor]:
        """Return derivatives by parameters and by start, then residuals, all over the noise.

        Of each window they are the rows of its steps and those of the defect behind it; the latter
        of all windows but the last are returned again.
        """
        by_parameter, by_start = shot.jacobian()
        by_x = by_parameter.flatten(1, 4) @ self.coordinates.slopes(unknowns.x)
        by_x = by_x.unflatten(1, by_parameter.shape[1:5])
        slopes = torch.cat((by_x, by_start * self.shooting.scale), -1)
        seen = shot.residuals.shape[-1]
        gaps = torch.nn.functional.pad(shot.defects, (0, 0, 0, 1))[..., None]
        last = torch.cat((slopes[:, :, :, -1], gaps), -1)
        last[:, :, -1] = 0.0
        last = last / noise.delta[:, None, None, :, None]
        columns = torch.cat((slopes[..., :seen, :], shot.residuals[..., None]), -1)
        columns = columns / noise.sigma[:, None, None, None, :, None]
        return torch.cat((columns.flatten(3, 4), last), 3), last[:, :, :-1]


def in_all_states(
    sigma: Float[Tensor, "particle seen"], states: int
) -> Float[Tensor, "particle {states}"]:
    """Return deviations, over the scale, as long as states are: of those not seen the mean.

    >>> in_all_states(torch.tensor([[1.0, 3.0]]), 3)
    tensor([[1., 3., 2.]])
    """
    rest = sigma.mean(1, keepdim=True).expand(-1, states - sigma.shape[1])
    return torch.cat((sigma, rest), 1)


def _padded(values: Float[Tensor, "*batch seen"], states: int) -> Float[Tensor, "*batch {states}"]:
    return torch.nn.functional.pad(values, (0, states - values.shape[-1]))


def _blocks(
    diagonal: Float[Tensor, "particle trajectory window state state"],
    before: Float[Tensor, "particle trajectory gap state state"],
    precisions: tuple[Tensor, Tensor],
) -> Float[Tensor, "particle trajectory own own"]:
    """Put together the block of the starts: of neighbouring windows alone."""
    (loose, tight), (particles, runs, windows, states, _) = precisions, diagonal.shape
    added = torch.cat((loose[:, :, None], tight.expand(particles, 1, windows - 1, states)), 2)
    found = diagonal.new_zeros(particles, runs, windows, states, windows, states)
    for window in range(windows):
        found[:, :, window, :, window] = diagonal[:, :, window]
        found[:, :, window, :, window] += torch.diag_embed(added[:, :, window])
        if window:
            found[:, :, window, :, window - 1] = before[:, :, window - 1]
            found[:, :, window - 1, :, window] = before[:, :, window - 1].mT
    return found.flatten(4).flatten(2, 3)
