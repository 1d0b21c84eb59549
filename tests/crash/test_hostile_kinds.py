"""Of the hostile packages of every kind none is accepted, and each is refused in one line."""

import time

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages
from ricochet.tasks.systems import catalogue
from tests.crash import hostile_packages, whole_packages

FEWEST = 300
"""Cases of a kind."""
FOUND: dict[str, int] = {}
"""How many this process tried of each."""


def answers(kind, place):
    """Forge every case; return how many there are, those accepted and those of other errors."""
    reader = whole_packages.READERS[kind]
    sound = whole_packages.made(kind, place / "made")
    packages.write_package(place / "sound", sound, reader=reader)
    assert packages.read_package(place / "sound", reader=reader, name=sound.name).kind == sound.kind
    accepted, escaped, names = [], [], set()
    for number, case in enumerate(hostile_packages.cases(kind, sound, reader)):
        folder = place / str(number)
        hostile_packages.forge(folder, case, sound, reader)
        names.add(case.name)
        began = time.monotonic()
        try:
            packages.read_package(folder, reader=reader, name=sound.name)
            accepted.append(case.name)
        except BadInput as error:
            if not str(error).isprintable() or len(str(error)) > 1500:
                escaped.append(f"{case.name}: a line of {len(str(error))} characters")
        except Exception as error:
            escaped.append(f"{case.name}: {error!r}"[:300])
        if time.monotonic() - began > 60.0:
            escaped.append(f"{case.name}: no answer within a minute")
    return names, accepted, escaped


@pytest.mark.slow
@pytest.mark.parametrize("kind", whole_packages.KINDS)
def test_no_hostile_package_of_a_kind_is_accepted(kind, tmp_path, capsys):
    names, accepted, escaped = answers(kind, tmp_path)
    with capsys.disabled():
        print(f"\n{kind}: {len(names)} hostile packages, {len(accepted)} accepted,"  # noqa: T201
              f" {len(escaped)} that escape")  # fmt: skip
    assert (accepted, escaped) == ([], [])
    assert len(names) >= FEWEST
    FOUND[kind] = len(names)


@pytest.mark.slow
def test_all_kinds_in_figures(capsys):
    """Of those that this process tried, none of which was accepted or escaped."""
    if not FOUND:
        pytest.skip("no kind was tried in this process")
    with capsys.disabled():
        print(f"\n{sum(FOUND.values())} hostile packages of {len(FOUND)} kinds")  # noqa: T201


def test_every_kind_of_the_catalogue_is_among_them():
    """So that a new kind of package comes with hostile ones."""
    readers = {id(reader) for reader in whole_packages.READERS.values()}
    assert {id(kind.load_reader()) for kind in catalogue.kinds()} <= readers
