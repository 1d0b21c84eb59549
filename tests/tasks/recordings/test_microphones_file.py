"""The file of microphones: what is meant is read, and what cannot be meant is one line."""

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import microphones_file

TRIANGLE = "microphones: [[0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]\n"


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        (tmp_path / "mics.yaml").write_text(text)
        return microphones_file.read(tmp_path / "mics.yaml")

    return read_text


def test_microphones_are_in_the_order_of_their_channels(read):
    found = read(TRIANGLE + "channels: [2, 0, 1]\ntemperature: 19\nsurvey_sd: 0.002\n")
    assert [(each.channel, each.position) for each in found.microphones] == [
        (0, (0.3, 0.0, 0.1)),
        (1, (0.0, 0.4, 0.1)),
        (2, (0.0, 0.0, 0.1)),
    ]
    assert (found.temperature, found.survey_sd) == (19.0, 0.002)


def test_all_but_the_places_may_be_left_out(read):
    found = read("microphones: [[0, 0, 1]]")
    assert len(found.microphones) == 1
    assert found.temperature is None and found.survey_sd is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("microphones: [[0, 0, 0], [1, 0, 0], [2, 0, 0]]", "collinear"),
        ("microphones: [[0, 0, 1], [0, 0, 1]]", "0 and 1 in one place"),
        ("microphones: [[0, 0, .nan]]", "three numbers"),
        ("microphones: [[-300, 250, 76]]", "metres, each at most 50"),
        ("microphones: [[0, 0]]", "three numbers"),
        ("microphones: [[0, 0, '1']]", "three numbers"),
        ("microphones: []", "found 0 places"),
        ("microphones: &a [*a]", "no YAML"),
        ("microphones: [[0", "no YAML"),
        ("[1, 2]", "found a list"),
        ("mics: [[0, 0, 0]]", "microphones"),
        (TRIANGLE + "channels: [1, 2, 3]", "each of 0 to 2 once"),
        (TRIANGLE + "channels: [0, 1]", "each of 0 to 2 once"),
        (TRIANGLE + "survey_sd: 1.5", "survey_sd"),
        (TRIANGLE + "survey_sd: 0", "survey_sd"),
        (TRIANGLE + "temperature: 294", "temperature"),
        (TRIANGLE + "#" * 2**17, "at most 65536"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(read, text, fault):
    with pytest.raises(BadInput, match=fault) as refused:
        read(text)
    assert "mics.yaml" in str(refused.value) and "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadInput, match="a file of microphones"):
        microphones_file.read(tmp_path / "absent.yaml")
