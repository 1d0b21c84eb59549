r"""How well a motion of the arm would tell where weights lie in the box that it carries.

As the errors, the departures from the equations and the discrepancies are assumed, what would be
known has the covariance S^{-1} of `inference.collapsed_moves`, box and starts of windows unknown.

Source: ours.
"""

import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.inference import collapsed_moves
from ricochet.models.inference.shooting_density import Noise, ShootingDensity, Unknowns
from ricochet.models.systems.rigid_bodies import box_parameters, box_posterior, box_shooting
from ricochet.models.systems.rigid_bodies.box_parameters import EMPTY

DEPARTURE = (2e-4, 2e-4, 5e-3, 5e-3)
"""Of angles and rates from window to window, rad and rad/s, as a motion is planned with."""
_LIKELY = ((slice(3, 6), 0.35, 0.65), (8, 0.1, 0.6), (slice(9, 11), 0.1, 0.5))
"""Shares of the limits' range of products of inertia, centre and friction that plans assume."""


def planned_deviation(
    joints: Float[ndarray, "frame 7"],
    rate: float,
    theta: Float[Tensor, "box 15"],
    discrepancy: float,
) -> float:
    """Return how well a motion would tell the places of the weights: their deviation, m.

    It is the root mean square over the four places, and the geometric mean over boxes: those whose
    weights lie close together are known least, whatever moves them.

    Args:
        theta: Boxes with weights as they may be.
        discrepancy: Deviation of a share by which a number may be off.
    """
    kinds = (box_parameters.empty_of_both, box_parameters.loaded)
    motions = torch.stack([box_shooting.from_rest(kind(theta), joints, rate) for kind in kinds], 1)
    inputs, own = [box_shooting.inputs(joints, rate)] * len(kinds), theta.shape[-1]
    plan = box_posterior.shooting(list(motions[0].numpy()), inputs, rate, kinds, own)
    begins = motions[:, :, :: plan.steps][:, :, : plan.windows]
    box = box_posterior.coordinates(box_shooting.limits(), len(kinds), discrepancy, fitting=True)
    density = ShootingDensity(plan, box)
    x = torch.nn.functional.pad(box.own.of(theta), (0, box.count))
    unknowns = Unknowns(x, begins / plan.scale)
    sigma = box_shooting.POINT_ERROR / 2.0**0.5 / plan.scale[: box_shooting.SEEN]
    delta = torch.tensor(DEPARTURE).to(plan.scale) / plan.scale
    noise = Noise(*(each.expand(len(theta), -1) for each in (sigma, delta)))
    here = collapsed_moves.collapsed(density, unknowns, noise, steps=0)
    chain = density.coordinates.slopes(x)[:, len(EMPTY) : own]
    root = torch.linalg.solve_triangular(here.factor, chain.mT, upper=False)
    return float(root.square().sum(1).mean(1).log().mean().mul(0.5).exp())


def likely(count: int) -> Float[Tensor, "{count} 15"]:
    """Return boxes and weights all over the middle of the limits, for plans: always the same."""
    inside = box_shooting.limits()
    engine = torch.quasirandom.SobolEngine(len(inside.low), scramble=True, seed=0)
    share = 0.15 + 0.7 * engine.draw(count, dtype=inside.low.dtype)
    for place, low, high in _LIKELY:
        share[:, place] = low + (high - low) * share[:, place]
    return inside.low + share * (inside.high - inside.low)
