"""Fresh takes: each recording once, none that was learnt from, of the package's drawer and ring."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings.manifests import MANIFEST
from ricochet.tasks.systems.drawers import capture, sessions
from ricochet.tasks.systems.drawers.packages import Drawer
from ricochet.tasks.systems.drawers.validation import validation
from ricochet.tasks.systems.drawers.validation.fresh_takes import RecordedTakes
from tests.models.systems.drawers import hearings

SETTING = Setting("kitchen-large", array="ring-4", seconds=16.0, light_off=8.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sessions") / "one"
    capture.simulated(made, SETTING, takes=2, seed=1)
    return made


def changed(folder: Path, place: Path, **edits: Any) -> Path:
    copied = Path(shutil.copytree(folder, place))
    content = json.loads((copied / MANIFEST).read_text())
    (copied / MANIFEST).write_text(json.dumps(content | edits))
    return copied


def drawer(folder: Path, *, moved: float = 0.0) -> Drawer:
    session, _ = sessions.read(folder)
    return Drawer(hearings.random(4), session.rig.array().positions + moved)


def test_a_renamed_recording_is_no_further_take(folder: Path, tmp_path: Path) -> None:
    again = changed(folder, tmp_path / "again", id="again")
    found = list(RecordedTakes((folder, again), "kitchen-large").of(drawer(folder)))
    assert [each.name for each in found] == ["one/take-0000.flac", "one/take-0001.flac"]
    assert len({each.sound for each in found}) == 2


def test_sessions_that_are_not_of_the_package_are_refused_or_passed_over(
    folder: Path, tmp_path: Path
) -> None:
    attic = changed(folder, tmp_path / "attic", id="attic", object={"drawer": "attic"})
    both = (folder, attic)
    with pytest.raises(BadInput, match="drawer attic, expected kitchen-large"):
        list(RecordedTakes(both, "kitchen-large").of(drawer(folder)))
    kept = RecordedTakes(both, "kitchen-large", whole=False).of(drawer(folder))
    assert len(list(kept)) == 2
    with pytest.raises(BadInput, match="the drawer kitchen-large, expected attic"):
        list(RecordedTakes((folder,), "attic").of(drawer(folder)))
    with pytest.raises(BadInput, match="microphones that stand elsewhere"):
        list(RecordedTakes((folder,), "kitchen-large").of(drawer(folder, moved=0.01)))


def test_what_was_learnt_from_is_refused_whatever_its_name(folder: Path, tmp_path: Path) -> None:
    again = changed(folder, tmp_path / "again", id="again")
    take, other = RecordedTakes((again,), "kitchen-large").of(drawer(folder))
    learnt = {"takes": {"learnt_from": {"one/take-0000.flac": take.sound}}}
    contenders: Any = SimpleNamespace(packages={"candidate": SimpleNamespace(settings=learnt)})
    with pytest.raises(BadInput, match=r"again/take-0000\.flac, from which the candidate was"):
        validation._refuse_learnt(contenders, take)
    validation._refuse_learnt(contenders, other)


def test_a_session_that_cannot_be_read_has_a_digest_all_the_same(
    folder: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / MANIFEST).write_text("{")
    found = sessions.digest([folder, broken])
    (broken / MANIFEST).write_text("{ ")
    assert len({found, sessions.digest([folder, broken]), sessions.digest([folder])}) == 3
    assert sessions.digest([folder, tmp_path / "nowhere"]) == sessions.digest([folder])
    assert sessions.drawer_of([broken, folder]) == "kitchen-large"
    with pytest.raises(BadInput):
        sessions.drawer_of([broken])
