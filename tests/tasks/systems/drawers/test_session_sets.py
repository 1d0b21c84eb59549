"""Sessions that are learnt from together: what does not go with the others is left out."""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import audio_files
from ricochet.tasks.recordings.manifests import MANIFEST
from ricochet.tasks.systems.drawers import (
    capture,
    recorded_takes,
    repeated_takes,
    session_sets,
)
from ricochet.tasks.systems.drawers.recorded_takes import Recorded
from ricochet.tasks.systems.drawers.session_sets import SessionSet

SETTING = Setting("kitchen-large", array="ring-4", seconds=16.0, light_off=8.0)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("sessions")
    made = [root / name for name in ("one", "two", "three")]
    for seed, folder in enumerate(made):
        capture.simulated(folder, SETTING, takes=2, seed=seed)
    return made


def changed(folder: Path, place: Path, edit: Callable[[dict], object]) -> Path:
    copied = Path(shutil.copytree(folder, place))
    content = json.loads((copied / MANIFEST).read_text())
    edit(content)
    (copied / MANIFEST).write_text(json.dumps(content))
    return copied


def test_sessions_of_one_drawer_and_ring_are_read_whole(folders: list[Path]) -> None:
    found = session_sets.read(folders)
    assert [each.identity for each, _ in found.sessions] == ["one", "two", "three"]
    assert found.rejected == {} and len(list(found.takes)) == len(found.sounds) == 6


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda c: c["object"].update(drawer="attic"), "drawer attic, expected kitchen-large"),
        (
            lambda c: c["rig"]["microphones"][0].update(position=[0.3, 0.6, 0.25]),
            "m elsewhere, expected where those of one stand",
        ),
        (lambda c: c["rig"].update(sample_rate=44_100), "44100 Hz, expected 16000 Hz"),
        (
            lambda c: [
                each.update(position=[20.0 + x for x in each["position"]])
                for each in c["rig"]["microphones"]
            ],
            "m from the front, expected 10 m at most",
        ),
        (lambda c: c.update(id="one"), "one twice"),
        (lambda c: c.pop("object"), "object"),
    ],
)
def test_a_session_that_is_not_as_the_first_is_left_out_and_the_others_go_on(
    folders: list[Path], tmp_path: Path, edit: Callable[[dict], object], words: str
) -> None:
    bad = changed(folders[1], tmp_path / "bad", edit)
    found = session_sets.read([folders[0], bad, folders[2]])
    assert [each.identity for each, _ in found.sessions] == ["one", "three"]
    (reason,) = found.rejected.values()
    assert words in reason and "\n" not in reason


def test_a_recording_is_used_once_whatever_its_session_is_called(
    folders: list[Path], tmp_path: Path
) -> None:
    again = changed(folders[0], tmp_path / "again", lambda content: content.update(id="again"))
    found = session_sets.read([folders[0], again, folders[1]])
    assert set(found.rejected) == {"again/take-0000.flac", "again/take-0001.flac"}
    assert "the recording of one/take-0000.flac" in found.rejected["again/take-0000.flac"]
    assert len(list(found.takes)) == 4


@pytest.mark.parametrize(
    ("changed_sound", "form"),
    [
        (lambda sound: sound, "wav"),
        (lambda sound: 0.4 * sound, "flac"),
        (lambda sound: -sound, "flac"),
        (lambda sound: np.roll(sound, 2, axis=1), "flac"),
        (lambda sound: np.roll(sound, -1600, axis=1), "flac"),
        (lambda sound: np.round(sound * 2**9) / 2**9, "flac"),
    ],
    ids=["wav", "quiet", "turned", "later", "cut", "bits"],
)
def test_a_recording_that_was_changed_is_used_once(
    folders: list[Path], tmp_path: Path, changed_sound: Callable, form: str
) -> None:
    def change(content: dict) -> None:
        content["id"] = "again"
        for each in content["takes"]:
            old = tmp_path / "again" / each["file"]
            sound = audio_files.read(old)
            new = old.with_suffix(f".{form}")
            old.unlink()
            coded = audio_files.encode(changed_sound(sound.samples), sample_rate=16_000, form=form)
            new.write_bytes(coded)
            each.update(file=new.name, sha256=hashlib.sha256(coded).hexdigest())

    again = changed(folders[0], tmp_path / "again", change)
    found = session_sets.read([folders[0], again, folders[1]])
    assert len(list(found.takes)) == 4 and len(found.rejected) == 2
    assert all("the recording of one/" in each for each in found.rejected.values())


@pytest.mark.parametrize("signal", ["whine", "sweep"])
def test_takes_that_hold_the_same_signal_are_two(signal: str) -> None:
    """A whine all the time, or a sweep that is played as each begins."""
    time, draw = np.arange(64_000) / 16_000, np.random.default_rng(0)
    same = {
        "whine": np.sin(2 * np.pi * 1000.0 * time),
        "sweep": np.sin(2 * np.pi * (200.0 + 1000.0 * time) * time) * (time < 1.5),
    }[signal]
    known = repeated_takes.KnownTakes()
    for number in range(4):
        sound = same + draw.normal(0.0, 0.01, (4, len(time)))
        assert known.before(str(number), sound.astype(np.float32)) is None
    assert known.before("4", (0.3 * sound).astype(np.float32)) == "3"


def test_parts_of_one_recording_agree_and_of_two_they_do_not() -> None:
    draw = np.random.default_rng(1)
    sounds = draw.normal(size=(60, 1, 64_000)).astype(np.float32)
    begins = [repeated_takes.begin(each) for each in sounds]
    apart = [
        repeated_takes.agreement(one, other)
        for place, one in enumerate(begins)
        for other in begins[:place]
    ]
    assert max(apart) < 0.6 * repeated_takes.ALIKE
    for cut in (1, 700, 40_000):
        noisy = sounds[0, :, cut:] + draw.normal(0.0, 0.5, (1, 64_000 - cut)).astype(np.float32)
        later = repeated_takes.begin(noisy)
        for pair in ((begins[0], later), (later, begins[0])):
            assert repeated_takes.agreement(*pair) > 2.0 * repeated_takes.ALIKE


def test_where_none_can_be_read_the_first_says_why(folders: list[Path], tmp_path: Path) -> None:
    bad = changed(folders[0], tmp_path / "bad", lambda content: content.pop("rig"))
    with pytest.raises(BadInput, match="rig"):
        session_sets.read([bad])


def recorded(found: SessionSet) -> list[Recorded]:
    return [recorded_takes.recorded(*pair) for pair in found.takes]


def moved(takes: list[Recorded], change: Callable) -> list[Recorded]:
    """The takes of the second session with another track."""
    return [
        replace(
            each,
            frames=replace(
                each.frames,
                labels=replace(each.frames.labels, position=change(each.frames.labels.position)),
            ),
        )
        if each.session.identity == "two"
        else each
        for each in takes
    ]


def test_another_zero_or_unit_of_one_session_is_said(folders: list[Path]) -> None:
    takes = recorded(session_sets.read(folders))
    assert session_sets.one_zero(takes) == []
    for change in (lambda x: x + 0.1, lambda x: x - 0.05, lambda x: 2.0 * x):
        (note,) = session_sets.one_zero(moved(takes, change))
        assert note.startswith("two: strokes from") and "one zero and one unit?" in note
    assert session_sets.one_zero(moved(takes, lambda x: 0.5 * x)) == []  # strokes may be short
