"""What the coin offers."""

from collections.abc import Mapping
from typing import Any

from ricochet.tasks.systems.coin.kinds import COIN
from ricochet.tasks.systems.interface import (
    LateValidation,
    Night,
    NightlyStep,
    Study,
    StudyRequest,
    System,
)
from ricochet.tasks.training.steps import Procedure, Training


def _procedure() -> Procedure:
    from ricochet.tasks.systems.coin import coins

    return coins.PROCEDURE


def _validation() -> Any:
    from ricochet.tasks.systems.coin import coins

    return coins.VALIDATION


def _study(request: StudyRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.coin import coins

    return coins.study(request)


def _night(night: Night) -> Mapping[str, Any]:
    return {"coin": {name: night.validate(name) for name in night.train("coin")["registered"]}}


SYSTEM = System(
    "coin",
    kinds=(COIN,),
    validations=(LateValidation(COIN, _validation, ("coin-fair",)),),
    trainings=(Training("coin", "coin", "flip a coin", "ricochet train coin", _procedure),),
    studies=(Study("coin", "share of heads", _study, ("flips", "of the coin")),),
    nightly=(NightlyStep("flip", _night),),
)
