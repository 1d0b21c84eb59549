"""Which reader the packages of a name need.

ball-density                    a conditional density, `tasks.density`
shooting-<setting>              an energy of shots, `tasks.energy_packages`
any other, <ball>-<surface>     a posterior of kind `grid`, `tasks.packages`

A module is imported only where its kind is asked for.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tasks.packages import Reader

DENSITY = "ball-density"
SHOOTING = "shooting-"


def is_shooting(name: str) -> bool:
    """Tell whether a name is that of an energy of shots.

    Args:
        name: Name in the registry.

    Returns:
        Whether it is `shooting-<setting>`.
    """
    return name.startswith(SHOOTING) and name != SHOOTING


def refuse_unknown(name: str) -> None:
    """Refuse the name of an energy of shots whose setting there is not; others pass.

    Args:
        name: Name in the registry.

    Raises:
        BadInput: If there is no such setting.
    """
    from models.core.bad_input import BadInput
    from models.planners import shots

    names = [f"{SHOOTING}{setting.name}" for setting in shots.SETTINGS]
    if is_shooting(name) and name not in names:
        raise BadInput(name, "no such setting", f"one of {', '.join(names)}")


def reader_of(name: str) -> "Reader":
    """Return the reader of the packages of a name.

    Args:
        name: Name in the registry.

    Returns:
        The reader.
    """
    if name == DENSITY:
        from tasks import density

        return density.READER
    if is_shooting(name):
        from tasks import energy_packages

        return energy_packages.READER
    from tasks import packages

    return packages.GRID
