"""The double pendulum of two unknown lengths: masses of 1 kg at the ends of links without mass.

Its joints have no friction. Two parameters can be shown on a plane, and the posterior computed on a
grid: this is the problem on which methods are compared where the answer is known.

Source: Heiden et al., section V-A; masses at the ends: ours, the paper states none.
"""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from ricochet.models.systems.rigid_bodies import double_pendulum
from ricochet.models.systems.rigid_bodies.pendulum_limits import PARAMETERS

_OF_LENGTH = {"centre_x_1": 0, "length": 0, "centre_x_2": 1}


@dataclass(frozen=True)
class Slopes:
    """Derivatives of the states by where they start and by the lengths."""

    by_start: Float[Tensor, "*batch step 4 4"]
    by_parameter: Float[Tensor, "*batch step 4 2"]


@dataclass(frozen=True)
class Motion:
    """Motions of a pendulum with its derivatives by two lengths."""

    whole: double_pendulum.Motion

    @property
    def states(self) -> Float[Tensor, "*batch step 4"]:
        """After each step."""
        return self.whole.states

    def gradient(
        self, weights: Float[Tensor, "*batch step 4"]
    ) -> tuple[Float[Tensor, "*batch 4"], Float[Tensor, "*batch 2"]]:
        """Return the gradient of sum(weights * states) by starts and lengths."""
        by_start, by_parameter = self.whole.gradient(weights)
        return by_start, by_parameter @ _chosen(by_parameter)

    def jacobian(self) -> Slopes:
        """Return all derivatives."""
        whole = self.whole.jacobian()
        return Slopes(whole.by_start, whole.by_parameter @ _chosen(whole.by_parameter))


def move(
    lengths: Float[Tensor, "*#batch 2"],
    starts: Float[Tensor, "*#batch 4"],
    *,
    steps: int,
    duration: float,
) -> Motion:
    """Return motions by lengths in m, each step of a duration in s."""
    return Motion(double_pendulum.move(parameters(lengths), starts, steps=steps, duration=duration))


def parameters(lengths: Float[Tensor, "*batch 2"]) -> Float[Tensor, "*batch 11"]:
    """Return all parameters of the pendulum of these lengths."""
    masses = lengths.new_zeros(len(PARAMETERS))
    masses[[PARAMETERS.index(name) for name in ("mass_1", "mass_2")]] = 1.0
    return masses + lengths @ _chosen(lengths).T


def _chosen(like: Tensor) -> Float[Tensor, "11 2"]:
    """Return the derivatives of all parameters by the lengths."""
    found = like.new_zeros(len(PARAMETERS), 2)
    for name, place in _OF_LENGTH.items():
        found[PARAMETERS.index(name), place] = 1.0
    return found
