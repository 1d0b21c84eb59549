"""What the coin offers."""

from typing import Any

from ricochet.tasks.systems.coin.kinds import COIN
from ricochet.tasks.systems.interface import LateValidation, System


def _validation() -> Any:
    from ricochet.tasks.systems.coin import validation

    return validation.VALIDATION


SYSTEM = System("coin", kinds=(COIN,), validations=(LateValidation(COIN, _validation),))
