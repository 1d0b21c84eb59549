"""`ricochet capture drawer`: a session by the simulated rig or a sound card, or one line."""

import json
from pathlib import Path
from typing import Any

import pytest

from ricochet.flows import session_captures
from ricochet.hardware.microphones.interface import default_rig
from ricochet.hardware.microphones.sound_device import SoundCard
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.drawers.labels import SAMPLE_RATE
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.drawers import capture, sessions
from tests.hardware.microphones.sound_card import Driver

SHORT = ("drawers.seconds=6", "drawers.light_off=4", "drawers.array=ring-4")
TRIANGLE = [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0)]


def record(
    folder: Path, *settings: str, rig: str = "simulated", session: str = "one"
) -> dict[str, Any]:
    found = catalogue.load_settings(None, [*SHORT, *settings])
    return session_captures.run("drawer", found, folder, rig=rig, session=session, seed=0)


def test_a_session_is_recorded_once(tmp_path: Path) -> None:
    result = record(tmp_path, "drawers.takes=2")
    assert json.loads((tmp_path / "result.json").read_text()) == result
    assert result["state"] == "recorded" and result["takes"] == 2
    session, takes = sessions.read(tmp_path / "one")
    assert session.rejected == () and [take.light_off_at for take in takes] == [4.0, 4.0]
    assert record(tmp_path, "drawers.takes=2")["state"] == "unchanged"


def test_a_sound_card_records_sound_alone(tmp_path: Path) -> None:
    rig = default_rig("desk", sample_rate=SAMPLE_RATE, places=TRIANGLE)
    card = SoundCard(rig, driver=Driver())
    card.exclusive = False  # no lock of the whole machine
    capture.record(card, tmp_path / "two", "attic", 2, 0.5, "wav")
    session = sessions.read_manifest(tmp_path / "two" / "session.json")
    assert (session.drawer, len(session.takes)) == ("attic", 2)
    assert session.takes[0].vision is None and session.takes[0].frames == SAMPLE_RATE // 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"session": "../up"}, "--session: found '../up', expected a plain name"),
        ({"rig": "other"}, "--rig: found 'other', expected one of simulated"),
        ({"rig": "sound_device"}, "drawers.microphones: found 0 places"),
    ],
)
def test_what_cannot_be_recorded_is_refused_in_a_line(
    tmp_path: Path, arguments: dict[str, str], words: str
) -> None:
    with pytest.raises(BadInput) as refused:
        record(tmp_path, **arguments)
    assert words in str(refused.value) and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("drawers.drawer=attic", "expected of the simulated rig one of kitchen-small"),
        ("drawers.array=ring-9", "drawers.array"),
        ("drawers.seconds=1", "drawers.seconds"),
    ],
)
def test_settings_that_cannot_be_are_refused(tmp_path: Path, setting: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        record(tmp_path, setting)
