"""The catalogue: exactly one kind of package decides a name, and no kind is a default."""

import pytest

from ricochet.flows import cli
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.air_hockey.policy_names import policy_names
from ricochet.tasks.systems.bouncing_ball.kinds import DENSITY, POSTERIOR

NAMES = {
    POSTERIOR: ("ping-pong-table", "tennis-table", "moon-ball-table", "ball-table", "a-b"),
    DENSITY: ("ball-density",),
    POLICY: policy_names(),
}


def test_every_kind_is_listed_once():
    assert sorted(kind.pattern for kind in catalogue.kinds()) == sorted(k.pattern for k in NAMES)


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in NAMES.items() for name in names]
)
def test_exactly_one_kind_decides_each_name(kind, name):
    assert catalogue.kind_of(name) is kind
    prefixes = [len(other.prefix) for other in catalogue.kinds() if other.matches(name)]
    assert prefixes.count(max(prefixes)) == 1


@pytest.mark.parametrize("name", ["", "table", "-", "ball-", "-table"])
def test_an_unknown_name_is_refused_with_all_patterns(name):
    with pytest.raises(BadInput) as error:
        catalogue.kind_of(name)
    assert all(kind.pattern in str(error.value) for kind in catalogue.kinds())


def test_a_name_that_its_own_kind_does_not_know_is_refused_with_those_it_knows():
    with pytest.raises(BadInput) as error:
        catalogue.kind_of("shooting-nothing")
    assert all(name in str(error.value) for name in policy_names())


@pytest.mark.parametrize(("find", "known"), [("training", "density"), ("study", "cup")])
def test_an_unknown_training_or_study_is_refused_with_all_names(find, known):
    with pytest.raises(BadInput) as error:
        getattr(catalogue, find)("nothing")
    assert known in str(error.value) and "'nothing'" in str(error.value)
    assert getattr(catalogue, find)(known).name == known


def test_names_of_systems_trainings_and_studies_are_their_own():
    groups = (catalogue.systems(), catalogue.trainings(), catalogue.studies())
    for found in groups:
        names = [each.name for each in found]
        assert len(names) == len(set(names))
    assert tuple(system.name for system in catalogue.systems()) == catalogue.SYSTEMS


@pytest.mark.parametrize("name", ["ball-density", "shooting-cautious"])
def test_recordings_cannot_take_the_name_of_other_packages(name):
    catalogue.refuse_foreign(["ping-pong-table"], POSTERIOR.made_by)
    with pytest.raises(BadInput, match=f"{name}: found a name of the packages of `ricochet train"):
        catalogue.refuse_foreign(["ping-pong-table", name], POSTERIOR.made_by)


@pytest.mark.parametrize(("ball", "surface"), [("ball", "density"), ("shooting", "bold")])
def test_a_ball_called_like_another_kind_is_not_recorded(
    ball, surface, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("ricochet.flows.servers.kill_guard.guard_children", lambda: None)
    words = ["--set", f"capture.ball={ball}", "--set", f"capture.surface={surface}"]
    place = ["--session", "a", "--no-publish", "--out", str(tmp_path)]
    assert cli.main(["capture", *place, *words]) == 2
    assert capsys.readouterr().err.startswith(f"{ball}-{surface}: found ")
    assert list(tmp_path.iterdir()) == []
