"""Answers of whole takes, drawn by their law instead of being inferred."""

import numpy as np

from ricochet.models.systems.bouncing_ball.calibration.whole_chains import ChainAnswer
from ricochet.models.systems.bouncing_ball.chains import family
from ricochet.models.systems.bouncing_ball.chains.family import Family
from ricochet.models.systems.bouncing_ball.chains.fit import Fit
from ricochet.models.systems.bouncing_ball.chains.parameters import NAMES
from ricochet.models.systems.bouncing_ball.chains.paths import Paths
from ricochet.models.systems.bouncing_ball.chains.posterior import Member

EFFECTIVE, SAMPLES = 300, 4000
WEIGHTS = {"constant": 0.6, "linear": 0.3, "viscoelastic": 0.1}
MEAN, SD = np.array([0.85, 3.5]), np.array([2e-4, 0.08])


def answer(seed: int, *, weak: str = "", effective: int = EFFECTIVE) -> ChainAnswer:
    """An answer that some hundred points carry, as the sampler's does."""
    draw = np.random.default_rng(seed)
    drag = family.drag_prior(None, 20.0)
    points, members = [], {}
    number = draw.choice(3, effective, p=list(WEIGHTS.values()))
    for name, law in family.LAWS.items():
        prior = family.prior(law, drag)
        theta = prior.centre + 0.3 * prior.spread * draw.standard_normal((effective, len(NAMES)))
        theta[:, :2] = MEAN + SD * draw.standard_normal((effective, 2))
        theta[:, NAMES.index("log_take_scatter")] = np.log(5e-5)
        if name != "linear":
            theta[:, NAMES.index("slope")] = 0.0
        points.append(theta)
        weights = np.full(effective, 1.0 / effective)
        nowhere = Paths((), np.zeros((1, 1, 1)))
        members[name] = Member(
            prior,
            theta,
            weights,
            0.0,
            float(effective),
            theta[0],
            np.eye(len(prior.free)),
            (),
            nowhere,
        )
    chosen = draw.integers(effective, size=SAMPLES)
    member = number[chosen]
    theta = np.stack(points)[member, chosen]
    found = Family(members, WEIGHTS, theta, member)
    fit = Fit(0.5, np.full(10, 0.5), np.ones(2))
    kept, nothing = np.ones(10, dtype=bool), np.zeros((1, 3))
    return ChainAnswer(found, fit, kept, nothing, np.zeros((1, 3, 3)), (0.8, 2.3, 2.3), (), weak)
