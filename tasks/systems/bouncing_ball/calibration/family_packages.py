"""A ball on a surface as its whole takes tell it, put into the package and into numbers for a run.

A package of a ball whose whole takes gave an answer to rely on is of kind `family`: the paper's
posterior, and beside it draws of the contact of a further take (`contact_package`). Without such an
answer it stays what it was, of kind `grid`.
"""

from dataclasses import replace

import numpy as np

from ricochet.models.systems.bouncing_ball.calibration.whole_chains import ChainAnswer
from ricochet.models.systems.bouncing_ball.chains import parameters
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.systems.bouncing_ball import contact_package

STREAM = 2
"""Of the seed, so that the draws of contacts share no random number with the inference."""


def contacts(answer: ChainAnswer | None, *, seed: int) -> ContactDraws | None:
    """Return draws of the contact of a further take; None without an answer to rely on."""
    if answer is None or answer.weak:
        return None
    return answer.family.contacts(draw=np.random.default_rng([seed, STREAM]))


def packaged(package: Package, answer: ChainAnswer | None, *, seed: int) -> Package:
    """Return a package of kind `grid` with the draws beside, if there are any."""
    draws = contacts(answer, seed=seed)
    if answer is None or draws is None:
        return package
    found = contact_package.with_contacts(package, draws)
    stated = {"members": answer.family.weights, "effective_draws": answer.family.effective}
    return replace(found, checks={**package.checks, "family": stated})


def metrics(answer: ChainAnswer | None) -> dict[str, float]:
    """Return the further numbers of a family for its run; none without an answer."""
    if answer is None:
        return {}
    family, values = answer.family, parameters.values(answer.family.theta)
    columns = {
        "drag_per_m": values.drag,
        "tangential_loss": values.tangential_loss,
        "take_scatter": values.take_scatter,
    }
    found = {
        f"whole_takes_{name}_{word}": float(number)
        for name, draws in columns.items()
        for word, number in (("mean", draws.mean()), ("sd", draws.std()))
    }
    found |= {
        f"whole_takes_weight_{name.replace(' ', '_')}": weight
        for name, weight in family.weights.items()
    }
    return found | {
        "whole_takes_effective_draws": family.effective,
        "whole_takes_p_value": answer.fit.p_value,
        "whole_takes_used": float(answer.kept.sum()),
    }
