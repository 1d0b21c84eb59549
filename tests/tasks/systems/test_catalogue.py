"""The catalogue: exactly one kind of package decides a name, and no kind is a default."""

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from ricochet.flows import cli
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.air_hockey.policy_names import policy_names
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from ricochet.tasks.systems.interface import System
from ricochet.tasks.validation import contenders


@pytest.mark.parametrize("each", ["pattern", "prefix"])
def test_every_kind_is_listed_once_and_no_two_have_the_same_names(each):
    found = [getattr(kind, each) for kind in catalogue.kinds()]
    assert len(found) == len(set(found)) > 0


@pytest.mark.parametrize("kind", catalogue.kinds(), ids=lambda kind: kind.pattern)
def test_two_kinds_that_tie_are_refused_when_systems_are_loaded(monkeypatch, kind):
    other = replace(kind, pattern="another-<name>")
    tied = SimpleNamespace(SYSTEM=System("another", kinds=(other,)))
    listed = (*catalogue.SYSTEMS, "another")
    monkeypatch.setattr(catalogue, "SYSTEMS", listed)
    monkeypatch.setitem(sys.modules, "ricochet.tasks.systems.another.system", tied)
    with pytest.raises(RuntimeError) as error:
        catalogue.systems()
    assert kind.pattern in str(error.value) and other.pattern in str(error.value)


def test_of_two_kinds_the_one_with_the_longer_prefix_decides_whatever_their_order(monkeypatch):
    longer = replace(POLICY, prefix="shooting-twice-", pattern="shooting-twice-<setting>")
    longer = replace(longer, refuse=lambda name: None)
    for order in ((POSTERIOR, POLICY, longer), (longer, POLICY, POSTERIOR)):
        monkeypatch.setattr(catalogue, "kinds", lambda order=order: order)
        assert catalogue.kind_of("shooting-twice-bold") is longer
        assert catalogue.kind_of("shooting-balanced") is POLICY
        assert catalogue.kind_of("shots-balanced") is POSTERIOR


@pytest.mark.parametrize("name", ["", "table", "-", "ball-", "-table"])
def test_an_unknown_name_is_refused_with_all_patterns(name):
    with pytest.raises(BadInput) as error:
        catalogue.kind_of(name)
    assert all(kind.pattern in str(error.value) for kind in catalogue.kinds())


@pytest.mark.parametrize("name", ["shoting-balanced", "shelf-3", "balls-density"])
def test_a_name_refused_by_the_kind_that_has_all_others_is_refused_with_all_patterns(
    monkeypatch, tracker, name
):
    refuse = partial(contenders.refuse_unregistered, tracker, kind=POSTERIOR)
    with pytest.raises(BadInput, match=r"found .*, expected .* \(all names are ") as error:
        catalogue.refuse_unregistered(name, tracker)
    assert "no candidate in the registry" in str(error.value)
    assert all(kind.pattern in str(error.value) for kind in catalogue.kinds())
    closed = replace(POSTERIOR, refuse=refuse)
    monkeypatch.setattr(catalogue, "kinds", lambda: (closed, POLICY))
    with pytest.raises(BadInput, match=r"<ball>-<surface> or shooting-<setting>\)"):
        catalogue.kind_of(name)


def test_a_name_that_its_own_kind_does_not_know_is_refused_with_those_it_knows():
    with pytest.raises(BadInput) as error:
        catalogue.kind_of("shooting-nothing")
    assert all(name in str(error.value) for name in policy_names())
    assert POSTERIOR.pattern not in str(error.value)


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
    monkeypatch.setattr("ricochet.flows.servers.up.prepare_environment", lambda: None)
    words = ["--set", f"capture.ball={ball}", "--set", f"capture.surface={surface}"]
    place = ["--session", "a", "--no-publish", "--out", str(tmp_path)]
    assert cli.main(["capture", *place, *words]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"{ball}-{surface}: found ")
    assert list(tmp_path.iterdir()) == []


class TestKindOfSessions:
    """Recordings are known by the schema of their manifests."""

    def session(self, folder: Path, schema: str) -> str:
        """Write a manifest that says no more than its schema."""
        folder.mkdir()
        (folder / "session.json").write_text(json.dumps({"schema": schema}))
        return str(folder)

    def test_recordings_of_drops_and_none_are_of_no_kind(self, tmp_path: Path) -> None:
        """A kind is a form of its own; bare recordings have none."""
        drops = self.session(tmp_path / "drops", "ricochet.session/1")
        assert catalogue.kind_of_sessions([]) is None
        assert catalogue.kind_of_sessions([drops, "clip.wav"]) is None

    def test_sessions_of_a_kind_are_of_it(self, tmp_path: Path) -> None:
        """Each system states its schema."""
        for kind in catalogue.session_kinds():
            one = self.session(tmp_path / kind.name, kind.schema)
            assert catalogue.kind_of_sessions([one]) is kind
            assert kind.calibration.training in {each.name for each in catalogue.trainings()}

    def test_one_that_cannot_be_read_is_passed_over(self, tmp_path: Path) -> None:
        """Who reads it says what is wrong with it, not that it is of drops."""
        kind = catalogue.session_kinds()[0]
        one, broken = self.session(tmp_path / "one", kind.schema), tmp_path / "broken"
        broken.mkdir()
        (broken / "session.json").write_text("{")
        assert catalogue.kind_of_sessions([one, str(broken), str(tmp_path / "nowhere")]) is kind
        assert catalogue.kind_of_sessions([str(broken), one]) is kind

    def test_sessions_of_several_kinds_are_refused(self, tmp_path: Path) -> None:
        """One calibration learns from one form."""
        drops = self.session(tmp_path / "drops", "ricochet.session/1")
        kind = catalogue.session_kinds()[0]
        other = self.session(tmp_path / "other", kind.schema)
        with pytest.raises(BadInput, match="as the first are"):
            catalogue.kind_of_sessions([drops, other])
