"""Sound cards are listed with what they record, and their levels are those of their sound."""

import json

import numpy as np
import pytest

from ricochet.flows import cli
from ricochet.hardware.microphones import levels, sound_device
from ricochet.models.core.bad_input import BadInput
from tests.hardware.microphones.sound_card import Driver


class Card(Driver):
    """A computer with a loudspeaker and a microphone array."""

    def query_devices(self, kind=None):
        if kind == "input":
            raise self.PortAudioError("the system has no default")
        names = {"loudspeaker": 0, "array": self.channels}
        return [
            {"name": name, "max_input_channels": count, "default_samplerate": 48000.0}
            for name, count in names.items()
        ]


@pytest.fixture
def card(monkeypatch):
    driver = Card()
    monkeypatch.setattr(sound_device, "sounddevice", lambda: driver)
    return driver


def test_devices_that_record_are_listed_and_no_others(card):
    assert levels.inputs(card) == (levels.Device(1, "array", 3, 48000),)


def test_a_level_is_the_largest_sample_of_its_channel(card):
    (device,) = levels.inputs(card)
    found = levels.measure(device, 0.2, driver=card)
    count = int(np.ceil(0.2 * 48000 / card.size))
    least = np.abs(np.concatenate(card.sent[:count])).max(axis=0)
    most = np.abs(np.concatenate(card.sent)).max(axis=0)
    # sound is float32, whose last bit is 1e-6 dB
    assert (found >= 20 * np.log10(least) - 1e-5).all()
    assert (found <= 20 * np.log10(most) + 1e-5).all()


def test_a_card_that_stops_is_a_failure(monkeypatch):
    monkeypatch.setattr(levels, "PATIENCE", 0.2)
    silent = Card(blocks=2)
    with pytest.raises(RuntimeError, match="960 of 9600 frames came, then none"):
        levels.measure(levels.inputs(silent)[0], 0.2, driver=silent)


def test_a_level_of_what_is_no_number_is_a_failure():
    card = Card(spoils=((1, 4, 2, np.nan), (1, 5, 2, np.inf)))
    with pytest.raises(RuntimeError, match="array: found 2 samples of channel 2 not finite"):
        levels.measure(levels.inputs(card)[0], 0.2, driver=card)


def test_the_verb_draws_a_bar_for_each_channel(card, tmp_path, capsys):
    words = ["devices", "--seconds", "0.2", "--out", str(tmp_path)]
    assert cli.main(words) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "  1  array: 3 channels, 48000 Hz"
    assert [line.split()[:2] for line in said[2:-1]] == [["channel", str(n)] for n in range(3)]
    assert said[-1] == "next: ricochet listen --device 1"
    # noise of at most 0.1, -20 dB
    assert all(-21.0 < float(line.split()[-1]) <= -20.0 for line in said[2:-1])
    assert cli.main([*words, "--json", "--device", "array"]) == 0
    assert json.loads(capsys.readouterr().out)["measured"] == 1


@pytest.mark.parametrize(
    ("words", "fault"), [("--device 7", "1 \\(array\\)"), ("--seconds 0", "60")]
)
def test_a_device_that_is_not_there_is_one_line(card, tmp_path, capsys, words, fault):
    assert cli.main(["devices", *words.split(), "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert fault.replace("\\", "") in said and said.count("\n") == 1


def test_without_the_driver_one_line_says_how_to_install_it(tmp_path, monkeypatch, capsys):
    def missing():
        raise BadInput("sounddevice", "No module named 'sounddevice'", "pip install sounddevice")

    monkeypatch.setattr(sound_device, "sounddevice", missing)
    assert cli.main(["devices", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "pip install sounddevice" in said and said.count("\n") == 1
