"""What air hockey offers."""

from typing import Any

from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.interface import LateValidation, System


def _validation() -> Any:
    from ricochet.tasks.systems.air_hockey.validation import validation

    return validation.VALIDATION


SYSTEM = System("air_hockey", kinds=(POLICY,), validations=(LateValidation(POLICY, _validation),))
