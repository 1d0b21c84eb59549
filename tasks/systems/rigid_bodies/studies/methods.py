"""The methods that are compared, each from the same starts within the same processor time.

A method is given the density of motions under given noise, and returns a hundred parameters. What
of it can be set has a range; where in it is best is searched alike for all (`settings_search`).

Source: Heiden et al., section V and appendices II-B and II-C.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.inference import constrained_stein, langevin, stein
from ricochet.models.inference.fixed_noise_density import FixedNoiseDensity
from ricochet.models.inference.limits import Logistic, Shares
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.tasks.systems.rigid_bodies.studies import cross_entropy, peer_samplers

PARTICLES = 100
_TUNING = 300


@dataclass(frozen=True)
class Problem:
    """What is to be inferred, and from where.

    Attributes:
        shooting: With one window or several.
        coordinates: Of the parameters; all between the limits are equally likely.
        sigma: Deviation of an observation, over the states' deviations.
        mixture: Whether densities of trajectories are added.
    """

    shooting: Shooting
    coordinates: Shares
    sigma: float
    delta: float = 0.1
    mixture: bool = False

    @property
    def density(self) -> FixedNoiseDensity:
        """The density of shares of the limits' range, and of starts."""
        return FixedNoiseDensity(
            self.shooting, self.coordinates, self.sigma, self.delta, self.mixture
        )

    @property
    def parameters(self) -> int:
        """How many there are."""
        return len(self.coordinates.limits.low)

    def begun(self, count: int, generator: np.random.Generator) -> Float[Tensor, "particle _"]:
        """Return particles on a Sobol sequence all over the limits."""
        seed = int(generator.integers(2**31))
        places = torch.quasirandom.SobolEngine(self.parameters, scramble=True, seed=seed)
        share = places.draw(count, dtype=self.coordinates.limits.low.dtype).clamp(0.01, 0.99)
        return self.density.begun(share, generator)


Chosen = Mapping[str, float]
Run = Callable[[Problem, Iterator[float], np.random.Generator, Chosen], Tensor]


@dataclass(frozen=True)
class Method:
    """A method.

    Attributes:
        run: Returns vectors of the density in `Shares`, as many as it has particles or more.
        ranges: Of what can be set, from low to high on a scale of powers.
    """

    run: Run
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def infer(
    name: str,
    problem: Problem,
    budget: Iterator[float],
    generator: np.random.Generator,
    chosen: Chosen,
) -> Float[Tensor, "100 parameter"]:
    """Run a method and return a hundred parameters, evenly from the last that it has.

    Args:
        budget: Shares of what may be done (`ricochet.models.inference.budgets`).
        chosen: Its settings, a value in each of its ranges.
    """
    found = METHODS[name].run(problem, budget, generator, chosen)
    share = found[:, : problem.parameters].clamp(0.0, 1.0)
    last = np.linspace(0, len(share) - 1, PARTICLES).round().astype(int)
    return problem.coordinates.parameters(share[last])


def _svgd(
    problem: Problem, budget: Iterator[float], generator: np.random.Generator, chosen: Chosen
) -> Tensor:
    begun = problem.begun(PARTICLES, generator)
    return stein.descended(problem.density, begun, budget, rate=chosen["rate"])


def _csvgd(
    problem: Problem, budget: Iterator[float], generator: np.random.Generator, chosen: Chosen
) -> Tensor:
    begun, settings = problem.begun(PARTICLES, generator), constrained_stein.Settings(**chosen)
    return constrained_stein.descended(problem.density, begun, budget, settings)


def _sgld(
    problem: Problem, budget: Iterator[float], generator: np.random.Generator, chosen: Chosen
) -> Tensor:
    begun = problem.begun(PARTICLES, generator)
    return langevin.diffused(problem.density, begun, budget, generator, rate=chosen["rate"])


def _cem(
    problem: Problem, budget: Iterator[float], generator: np.random.Generator, chosen: Chosen
) -> Tensor:
    settings = cross_entropy.Settings(elite=chosen["elite"], floor=chosen["floor"])
    begun = problem.begun(settings.population, generator)
    found = cross_entropy.narrowed(problem.density, begun, budget, generator, settings)
    return found[:PARTICLES]


def _emcee(
    problem: Problem, budget: Iterator[float], generator: np.random.Generator, chosen: Chosen
) -> Tensor:
    walkers = max(PARTICLES, 2 * problem.density.size + 2)
    begun = problem.begun(walkers, generator)
    return peer_samplers.ensemble(
        problem.density, begun, budget, generator, stretch=chosen["stretch"]
    )


def _nuts(
    problem: Problem, budget: Iterator[float], generator: np.random.Generator, chosen: Chosen
) -> Tensor:
    """One chain in coordinates without limits."""
    shares = problem.coordinates
    curved = replace(problem.density, coordinates=Logistic(shares.limits, shares.logarithmic))
    begun = problem.begun(1, generator)
    count = curved.parameters
    begun[:, :count] = torch.logit(begun[:, :count])
    found = peer_samplers.no_u_turn(
        curved, begun, budget, generator, tune=_TUNING, accepted=chosen["accepted"]
    )
    return torch.cat((torch.sigmoid(found[:, :count]), found[:, count:]), 1)


METHODS: Mapping[str, Method] = {
    "svgd": Method(_svgd, {"rate": (1e-3, 0.1)}),
    "csvgd": Method(_csvgd, {"rate": (1e-3, 0.1), "damping": (1e-2, 10.0), "gain": (1e-4, 0.1)}),
    "sgld": Method(_sgld, {"rate": (1e-4, 1.0)}),
    "cem": Method(_cem, {"elite": (0.02, 0.5), "floor": (1e-8, 1e-3)}),
    "emcee": Method(_emcee, {"stretch": (1.2, 6.0)}),
    "nuts": Method(_nuts, {"accepted": (0.6, 0.95)}),
}
