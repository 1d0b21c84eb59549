"""Which reader the packages of a name need.

ball-density                    a conditional density,
`tasks.systems.bouncing_ball.calibration.density` shooting-<setting>              an energy of
shots, `tasks.systems.air_hockey.policies.packages` any other, <ball>-<surface>     a posterior of
kind `grid`, `tasks.registry.packages`

A module is imported only where its kind is asked for.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ricochet.tasks.registry.packages import Reader

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
    from ricochet.models.core.bad_input import BadInput
    from ricochet.models.systems.air_hockey.shots import objective

    names = [f"{SHOOTING}{setting.name}" for setting in objective.SETTINGS]
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
        from ricochet.tasks.systems.bouncing_ball.calibration import density

        return density.READER
    if is_shooting(name):
        from ricochet.tasks.systems.air_hockey.policies import packages as energy_packages

        return energy_packages.READER
    from ricochet.tasks.registry import packages

    return packages.GRID
