"""What the gate judges, drawn by its law instead of being computed.

Levels and ranks of a Gaussian posterior in two dimensions whose variance was divided by c are
1 - (1 - U)^c with uniform U; tosses are touched and cups hold independently with a given chance.
"""

from dataclasses import replace

import numpy as np

from ricochet.models.systems.bouncing_ball.calibration.posterior_agreement import Agreement
from ricochet.models.systems.bouncing_ball.calibration.simulation_checks import ProductChecks
from ricochet.tasks.systems.bouncing_ball.validation.gate import CalibrationEvidence
from ricochet.tasks.systems.bouncing_ball.validation.results import TwinResult
from ricochet.tasks.validation.outcomes import SIMULATED, Paired

SESSIONS, DRAWS, SAMPLES = 80, 500, 4000
CUPS, HELD, CHAMPION = 40, 0.95, 0.7


def evidence(
    draw: np.random.Generator, *, method: float = 1.0, package: float = 1.0
) -> CalibrationEvidence:
    """What is measured of a posterior whose variance was divided, by the law of a Gaussian."""
    product = ProductChecks(
        levels=1 - (1 - draw.random(SESSIONS)) ** method, ranks=draw.random((SESSIONS, 2)), drops=20
    )
    agreement = Agreement(
        levels=1 - (1 - draw.random(DRAWS)) ** package,
        sample_levels=1 - (1 - draw.random(SAMPLES)) ** (1 / package),
        sample_ranks=draw.random((SAMPLES, 2)),
        mean_distance=0.01,
        variance_ratios=(1.0 / package, 1.0 / package),
    )
    return CalibrationEvidence(agreement, product, float(draw.random()))


def twin(
    draw: np.random.Generator,
    *,
    tosses: int = 100,
    candidate: float = CHAMPION,
    champion: float = CHAMPION,
    cups: float = HELD,
) -> TwinResult:
    """Tosses met independently, and cups."""
    return TwinResult(
        name="ping-pong-table",
        candidate="2",
        champion="1",
        rig=SIMULATED,
        seeds=tuple(range(tosses)),
        success=Paired(outcomes(draw, tosses, candidate), outcomes(draw, tosses, champion)),
        positions=tuple((0.1 * place, 0.0) for place in range(CUPS)),
        inside_90=Paired(outcomes(draw, CUPS, cups), outcomes(draw, CUPS, HELD)),
    )


def first(draw: np.random.Generator, *, tosses: int, met: float, stay: float) -> TwinResult:
    """A candidate without a champion, compared with a stationary paddle."""
    compared = twin(draw, tosses=tosses, candidate=met, champion=stay)
    alone = {
        name: Paired(getattr(compared, name).candidate, None) for name in ("success", "inside_90")
    }
    return replace(compared, champion=None, stay=compared.success.champion, **alone)


def outcomes(draw: np.random.Generator, count: int, share: float) -> tuple[bool, ...]:
    """Independent trials that are good with a chance."""
    return tuple(bool(value) for value in draw.random(count) < share)
