"""What the bouncing ball offers."""

from typing import Any

from ricochet.tasks.systems.bouncing_ball.kinds import DENSITY, POSTERIOR
from ricochet.tasks.systems.interface import LateValidation, System


def _validation() -> Any:
    from ricochet.tasks.systems.bouncing_ball.validation import validation

    return validation.VALIDATION


SYSTEM = System(
    "bouncing_ball",
    kinds=(POSTERIOR, DENSITY),
    validations=(LateValidation(POSTERIOR, _validation),),
)
