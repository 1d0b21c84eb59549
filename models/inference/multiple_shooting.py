r"""Likelihoods of motions by single and multiple shooting, with all that methods derive from them.

A trajectory of T steps is divided into windows of h steps. Each is simulated from a start of its
own and compared with the observed states x and with the next start:

    r_t = (x_t - simulated_t) / scale                residuals of every step
    d_w = (start_{w+1} - end of window w) / scale    defects between windows
    o = (x_0 - start_0) / scale                      offset of the first start, 0 where it is known

With one window there are no defects: single shooting. Of states that are not observed, such as
rates of joints whose angles are seen, there are defects alone. Of a trajectory

    log p = -1/2 sum_t |r_t|^2 / sigma^2 - n log sigma,    log p_def = -1/2 sum_w |d_w|^2 / delta^2.

What a method needs of the derivatives is a product with weights on residuals and defects, which one
pass backwards gives for all of them (`Shot.pulled_back`), or the Jacobian (`Shot.jacobian`).

Source: Heiden et al., Eqs. 2 to 6; scales: their appendix I-C.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor


@runtime_checkable
class Derivatives(Protocol):
    """Derivatives of the states of motions."""

    @property
    def by_start(self) -> Float[Tensor, "*batch step state start"]:
        """By where they start."""

    @property
    def by_parameter(self) -> Float[Tensor, "*batch step state parameter"]:
        """By the parameters."""


@runtime_checkable
class Motion(Protocol):
    """Simulated motions that know their derivatives."""

    @property
    def states(self) -> Float[Tensor, "*batch step state"]:
        """After each step."""

    def gradient(
        self, weights: Float[Tensor, "*batch step state"]
    ) -> tuple[Float[Tensor, "*batch state"], Float[Tensor, "*batch parameter"]]:
        """Return the gradient of sum(weights * states) by starts and by parameters."""

    def jacobian(self) -> Derivatives:
        """Return all derivatives."""


@runtime_checkable
class Simulator(Protocol):
    """Moves from starts by parameters: theta (P, 1, d), starts (P, W, s) -> motions (P, W, ..)."""

    def __call__(
        self,
        theta: Float[Tensor, "particle 1 parameter"],
        starts: Float[Tensor, "particle window state"],
        *,
        steps: int,
    ) -> Motion:
        """Return the motions."""


@dataclass(frozen=True)
class Shooting:
    """Observed trajectories in windows.

    Attributes:
        observed: From the known first state on.
        windows: Of each trajectory; its steps must be a multiple.
        scale: Of each state, by which residuals and defects are divided.
        seen: How many states, the first ones, are observed; values of others are where methods
            begin and no more. All are when absent.
    """

    simulate: Simulator
    observed: Float[Tensor, "trajectory instant state"]
    windows: int
    scale: Float[Tensor, " state"]
    seen: int | None = None

    def __post_init__(self) -> None:
        """Refuse windows that leave steps over, and numbers that are none."""
        steps = self.observed.shape[1] - 1
        if self.windows < 1 or steps < self.windows or steps % self.windows:
            raise ValueError(f"windows must divide the {steps} steps, not be {self.windows}")
        if not bool(torch.isfinite(self.observed).all()) or not bool((self.scale > 0.0).all()):
            raise ValueError("observed must be finite, and scale positive")
        if self.seen is not None and not 1 <= self.seen <= len(self.scale):
            raise ValueError(f"seen must be 1 to {len(self.scale)} states, not {self.seen}")

    @property
    def observable(self) -> int:
        """How many states are observed."""
        return len(self.scale) if self.seen is None else self.seen

    @property
    def steps(self) -> int:
        """Of each window."""
        return (self.observed.shape[1] - 1) // self.windows

    @property
    def starts(self) -> Float[Tensor, "trajectory window state"]:
        """Observed states where windows start: what methods begin with."""
        return self.observed[:, : -1 : self.steps]

    def at(
        self,
        theta: Float[Tensor, "particle parameter"],
        starts: Float[Tensor, "particle trajectory window state"],
    ) -> "Shot":
        """Simulate all windows of all particles."""
        motion = self.simulate(theta[:, None], starts.flatten(1, 2), steps=self.steps)
        simulated = motion.states.unflatten(1, starts.shape[1:3])
        expected = self.observed[:, 1:].unflatten(1, (self.windows, self.steps))
        seen, own = slice(self.observable), self.scale[: self.observable]
        residuals = (expected[..., seen] - simulated[..., seen]) / own
        defects = (starts[:, :, 1:] - simulated[:, :, :-1, -1]) / self.scale
        offsets = (self.observed[:, 0, seen] - starts[:, :, 0, seen]) / own
        return Shot(residuals, defects, offsets, motion, self.scale)


@dataclass(frozen=True)
class Shot:
    """What one simulation of all windows gives.

    Attributes:
        residuals: Observed less simulated, over the scale.
        defects: Starts less the ends of the windows before them, over the scale.
        offsets: Observed first states less the first starts, over the scale.
    """

    residuals: Float[Tensor, "particle trajectory window step seen"]
    defects: Float[Tensor, "particle trajectory gap state"]
    offsets: Float[Tensor, "particle trajectory seen"]
    motion: Motion
    scale: Float[Tensor, " state"]

    def pulled_back(
        self,
        by_residuals: Float[Tensor, "particle trajectory window step seen"],
        by_defects: Float[Tensor, "particle trajectory gap state"],
    ) -> tuple[
        Float[Tensor, "particle parameter"], Float[Tensor, "particle trajectory window state"]
    ]:
        """Return the gradient, by parameters and starts, of sums of both with these weights."""
        seen = by_residuals.shape[-1]
        weights = by_residuals.new_zeros((*by_residuals.shape[:-1], len(self.scale)))
        weights[..., :seen] = -by_residuals / self.scale[:seen]
        weights[:, :, :-1, -1] -= by_defects / self.scale
        by_start, by_parameter = self.motion.gradient(weights.flatten(1, 2))
        own = by_start.unflatten(1, weights.shape[1:3]).clone()
        own[:, :, 1:] += by_defects / self.scale
        return by_parameter.sum(1), own

    def jacobian(self) -> tuple[Tensor, Tensor]:
        """Return minus the derivatives of the residuals by the parameters and by their start.

        Those of states that are not observed are in their places too. Shapes (particle, trajectory,
        window, step, state, parameter) and (.., start); those of a window's last step are also
        minus the derivatives of the defect behind it.
        """
        found, shape = self.motion.jacobian(), self.residuals.shape[1:3]
        by_parameter, by_start = (
            (each / self.scale[:, None]).unflatten(1, shape)
            for each in (found.by_parameter, found.by_start)
        )
        return by_parameter, by_start


def log_likelihoods(
    residuals: Float[Tensor, "particle trajectory window step seen"], sigma: float
) -> Float[Tensor, "particle trajectory"]:
    """Return log p of each trajectory (Eq. 2), constants of the normal law included.

    >>> log_likelihoods(torch.zeros(1, 1, 2, 3, 1), 1.0).round(decimals=3)  # -3 log(2 pi)
    tensor([[-5.5140]])

    Args:
        sigma: Standard deviation of an observation, over the scale.
    """
    count = residuals[0, 0].numel()
    squares = residuals.square().sum((2, 3, 4))
    normal = torch.log(torch.as_tensor(2.0 * torch.pi * sigma**2, dtype=squares.dtype))
    return -0.5 * (squares / sigma**2 + count * normal)


def of_all(
    each: Float[Tensor, "particle trajectory"], *, mixture: bool
) -> tuple[Float[Tensor, " particle"], Float[Tensor, "particle trajectory"]]:
    """Return log p of all trajectories, and its derivatives by the logarithms of each.

    >>> together, shares = of_all(torch.tensor([[-1.0, -1.0]]), mixture=True)
    >>> round(float(together), 4), shares  # log 2 - 1
    (-0.3069, tensor([[0.5000, 0.5000]]))

    Args:
        mixture: Whether their densities are added (Eqs. 4 and 9), so that each trajectory may have
            parameters of its own, or multiplied (Eq. 10).
    """
    if mixture:
        return torch.logsumexp(each, 1), torch.softmax(each, 1)
    return each.sum(1), torch.ones_like(each)
