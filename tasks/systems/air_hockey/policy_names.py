"""Names of shooting policies in the registry: `shooting-<setting>`, one a setting of Eq. 12."""

PREFIX = "shooting-"


def policy_names() -> tuple[str, ...]:
    """Return the names that policies may have."""
    from ricochet.models.systems.air_hockey.shots import objective

    return tuple(f"{PREFIX}{setting.name}" for setting in objective.SETTINGS)
