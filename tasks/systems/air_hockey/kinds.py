"""Which packages of air hockey the registry holds: the policies, one a setting of Eq. 12."""

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.kinds import PackageKind, Reader
from ricochet.tasks.systems.air_hockey.policy_names import PREFIX, policy_names


def _refuse(name: str) -> None:
    names = policy_names()
    if name not in names:
        raise BadInput(name, "no such setting", f"one of {', '.join(names)}")


def _reader() -> Reader:
    from ricochet.tasks.systems.air_hockey.policies import packages

    return packages.READER


POLICY = PackageKind(
    pattern="shooting-<setting>",
    prefix=PREFIX,
    matches=lambda name: name.startswith(PREFIX) and name != PREFIX,
    refuse=_refuse,
    load_reader=_reader,
    made_by="ricochet train energy",
)
"""An energy of shots with contacts and strokes, `policies.packages`."""
