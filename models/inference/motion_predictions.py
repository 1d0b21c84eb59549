"""Where motions go on to, after they were watched for a while: by particles of a posterior.

Each particle has parameters, and deviations sigma and delta, of its own (`shooting_density`). Given
them the starts of the watched windows have, all but exactly, a normal law: its mode is found by
Newton's steps, and one draw taken. From the end of the last watched window the motion goes on,
displaced by a draw of delta wherever a window begins, as the posterior has it.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.inference.limits import Limits, Shares
from ricochet.models.inference.multiple_shooting import Shooting, Simulator
from ricochet.models.inference.shooting_density import Noise, ShootingDensity, Unknowns

_STEPS = 5


def predicted(
    watched: Shooting,
    limits: Limits,
    theta: Float[Tensor, "particle parameter"],
    noise: Noise,
    ahead: Sequence[Simulator],
    generator: np.random.Generator,
) -> Float[Tensor, "particle trajectory step state"]:
    """Return the states after each step, of one future of each particle and motion.

    >>> from ricochet.models.inference import throws
    >>> density, begun, noise = throws.example(5)
    >>> theta, limits = density.coordinates.parameters(begun.x), density.coordinates.limits
    >>> draw, ahead = np.random.default_rng(0), [density.shooting.simulate] * 2
    >>> predicted(density.shooting, limits, theta, noise, ahead, draw).shape
    torch.Size([5, 2, 8, 2])

    Args:
        watched: In windows as long as those in which the posterior was inferred.
        noise: Of the particles, over the scale of `watched`.
        ahead: Simulators of the windows to come, each of all motions.
    """
    density = ShootingDensity(watched, Shares(limits))
    state = _ends(density, density.coordinates.of(theta), noise, generator)
    found = []
    for simulate in ahead:
        away = state.new_tensor(generator.normal(size=state.shape))
        state = state + away * (noise.delta * watched.scale)[:, None]
        states = simulate(theta[:, None], state, steps=watched.steps).states
        found.append(states)
        state = states[:, :, -1]
    return torch.cat(found, 2)


def _ends(
    density: ShootingDensity,
    x: Float[Tensor, "particle parameter"],
    noise: Noise,
    generator: np.random.Generator,
) -> Float[Tensor, "particle trajectory state"]:
    """Draw where the watched motions are in the end."""
    shooting = density.shooting
    z = shooting.starts / shooting.scale
    at = Unknowns(x, z.expand(len(x), *z.shape).clone())
    for step in range(_STEPS + 1):
        here = density.expanded(at, density.at(at), noise)
        factor = torch.linalg.cholesky_ex(here.metric.own)[0]
        dz = torch.cholesky_solve(here.by_z[..., None], factor)[..., 0]
        if step == _STEPS:
            white = dz.new_tensor(generator.normal(size=(*dz.shape, 1)))
            dz = dz + torch.linalg.solve_triangular(factor.mT, white, upper=True)[..., 0]
        at = at.moved(torch.zeros_like(x), dz)
    motions = density.at(at).motion.states.unflatten(1, z.shape[:2])
    return motions[:, :, -1, -1]
