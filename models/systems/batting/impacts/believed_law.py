"""One law of impact for a filter and a planner, from draws of a posterior.

Filter and planner simulate with one set of coefficients: the posterior's mean. What that leaves
out, the doubt of the coefficients and how impacts scatter otherwise than by the law's noise, is
made up for by the noise: its shares are widened until the regions of this one law hold nine of ten
of the impacts that were learnt from (`inference.widening_of`).
"""

import numpy as np

from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.impacts import inference
from ricochet.models.systems.batting.impacts.inference import ImpactPosterior
from ricochet.models.systems.batting.impacts.recorded import Impacts


def believed_law(posterior: ImpactPosterior, learnt: Impacts, draw: np.random.Generator) -> Law:
    """Return the law to simulate with.

    Args:
        posterior: Of the law.
        learnt: The impacts that it was learnt from.
        draw: Source of the draws by which regions are found.
    """
    coefficients = posterior.theta[:, :3].mean(0)
    shares = np.sqrt((posterior.theta[:, 3:] ** 2).mean(0))
    one = np.concatenate([coefficients, shares])[None]
    widening = inference.widening_of(ImpactPosterior(one), learnt, draw)
    e, e_t, mu = (float(each) for each in coefficients)
    normal, tangential = (float(each) for each in np.sqrt(widening) * shares)
    return Law(e, e_t, mu, 0.0, normal, tangential)


def as_posterior(law: Law) -> ImpactPosterior:
    """Return the posterior of one draw, by which a law predicts (`inference.predict`)."""
    coefficients = (law.restitution, law.tangential_restitution, law.friction)
    return ImpactPosterior(np.array([[*coefficients, law.normal_share, law.tangential_share]]))
