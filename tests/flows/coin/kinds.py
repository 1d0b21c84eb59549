"""Which packages of the coin the registry holds."""

from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.kinds import PackageKind


def _refuse(name: str) -> None:
    if name != "coin-fair":
        raise BadInput(name, "no such coin", "coin-fair")


def _reader() -> Any:
    from ricochet.tasks.systems.coin import coins

    return coins.READER


COIN = PackageKind(
    pattern="coin-<kind>",
    prefix="coin-",
    matches=lambda name: name.startswith("coin-"),
    refuse=_refuse,
    load_reader=_reader,
    made_by="ricochet train coin",
)
