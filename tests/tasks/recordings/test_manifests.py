"""What every session's manifest states: a rig that can be, and an id that can name a folder."""

import json
from pathlib import Path

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import manifests
from ricochet.tasks.recordings.manifests import StatedMicrophone, StatedRig


def rig(*places: tuple[int, tuple[float, float, float]]) -> StatedRig:
    return StatedRig("desk", 16_000, 21.0, tuple(StatedMicrophone(*place) for place in places))


def test_microphones_come_in_the_order_of_their_channels() -> None:
    stated = rig((1, (1.0, 0.0, 0.0)), (0, (0.0, 0.0, 0.0)), (2, (0.0, 1.0, 0.0)))
    found = manifests.rig(stated, "rig")
    assert [each.channel for each in found.microphones] == [0, 1, 2]
    assert found.microphones[1].position == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        (rig(), "channels []"),
        (rig((0, (0.0, 0.0, 0.0)), (2, (1.0, 0.0, 0.0))), "channels [0, 2]"),
        (rig(*((n, (0.1 * n, 0.0, 0.0)) for n in range(3))), "a triangle at least"),
    ],
)
def test_a_rig_that_cannot_be_is_refused(stated: StatedRig, words: str) -> None:
    with pytest.raises(BadInput) as refused:
        manifests.rig(stated, "rig")
    assert words in str(refused.value)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"id": "../up"}', '{"id": 3}', '{"id": ""}'])
def test_an_id_that_cannot_name_a_folder_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / manifests.MANIFEST).write_text(content)
    with pytest.raises(BadInput, match=r"session\.json"):
        manifests.identity(tmp_path)


def test_the_id_of_any_kind_of_session_is_read(tmp_path: Path) -> None:
    content = json.dumps({"schema": "ricochet.other/1", "id": "monday-1"})
    (tmp_path / manifests.MANIFEST).write_text(content)
    assert manifests.identity(tmp_path) == "monday-1"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ('{"schema": "ricochet.session/1"}', True),
        ('{"schema": "ricochet.other/1"}', False),
        ("{half", True),
        ("[]", True),
    ],
)
def test_a_manifest_of_another_schema_is_known_from_one_that_is_damaged(
    tmp_path: Path, content: str, found: bool
) -> None:
    path = tmp_path / manifests.MANIFEST
    path.write_text(content)
    assert manifests.states(path, "ricochet.session/1") is found
