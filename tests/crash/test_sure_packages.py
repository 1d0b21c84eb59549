"""What claims to be surer than a recording can make it is refused; what is sure as one is, read."""

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages
from tests.crash import hostile_packages, sure_arrays, whole_packages
from tests.crash.hostile_packages import Case

CASES = [(kind, name) for kind, named in sure_arrays.SURE.items() for name in named]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_package_that_is_surer_than_any_recording_is_refused(kind, name, tmp_path):
    sound, reader = whole_packages.made(kind, tmp_path / "made"), whole_packages.READERS[kind]
    change = sure_arrays.SURE[kind][name]
    case = Case(name, hostile_packages.with_arrays(sound, **change(sound.arrays)))
    hostile_packages.forge(tmp_path / "sure", case, sound, reader)
    with pytest.raises(BadInput, match=r"all alike in a parameter|expected 1e-06 at least"):
        packages.read_package(tmp_path / "sure", reader=reader)


@pytest.mark.parametrize("kind", sure_arrays.SURE)
def test_a_package_of_a_hundredth_of_the_deviations_is_read(kind, tmp_path):
    sound, reader = whole_packages.made(kind, tmp_path / "made"), whole_packages.READERS[kind]
    made = hostile_packages.with_arrays(sound, **sure_arrays.narrow(kind, sound.arrays, 0.01))
    hostile_packages.forge(tmp_path / "sure", Case("sure", made), sound, reader)
    assert packages.read_package(tmp_path / "sure", reader=reader).name == sound.name
