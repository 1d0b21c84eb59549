"""`ricochet listen` through a fake sound card, in the time that it takes a ball to come to rest."""

import json
from pathlib import Path

import pytest

from ricochet.flows import cli
from ricochet.hardware.microphones import sound_device
from tests.hardware.microphones.sound_card import Room
from tests.tasks.systems.bouncing_ball.test_listen import BOUNCES, RATE, RESTITUTION, sound


class Laptop(Room):
    """A built-in microphone, the system's own choice, beside a loudspeaker."""

    def __init__(self, sounds=(), *, inputs=1):
        super().__init__(sounds, channels=1, rate=RATE)
        self.opened, self.inputs = 1, inputs  # there is no look before

    def query_devices(self, kind=None):
        rows = [
            {"name": "loudspeaker", "index": 0, "max_input_channels": 0},
            {"name": "built-in", "index": 1, "max_input_channels": self.inputs},
        ]
        rows = [{**row, "default_samplerate": float(RATE)} for row in rows]
        return rows if kind is None else rows[1]


@pytest.fixture
def laptop(monkeypatch: pytest.MonkeyPatch) -> Laptop:
    card = Laptop([sound(rest=0.5)])
    monkeypatch.setattr(sound_device, "sounddevice", lambda: card)
    return card


@pytest.mark.proof
def test_a_ball_is_heard_and_calibrated_as_its_recording_is(laptop, tmp_path, capsys):
    out = tmp_path / "out"
    assert cli.main(["listen", "--name", "ball", "--page", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert said.count("bounce ") >= BOUNCES and f"bounce   {BOUNCES} at" in said
    live = json.loads((out / "ball" / "result.json").read_text())
    low, high = live["region_90"]["restitution"]
    assert low < RESTITUTION < high
    assert (out / "ball" / "page.html").is_file()
    recorded, again = out / "ball" / "ball.wav", tmp_path / "again"
    assert f"next: ricochet calibrate {recorded} --ball NAME" in said
    assert cli.main(["calibrate", str(recorded), "--out", str(again)]) == 0
    assert json.loads((again / "result.json").read_text()) == live
    assert cli.main(["listen", "--name", "ball", "--out", str(out)]) == 2
    assert "which is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--device", "usb"), "--device: found 'usb', expected one of 1 (built-in)"),
        (("--seconds", "0"), "--seconds: found 0, expected 1 to 600"),
        (("--ball", "marble"), "ball: found 'marble', expected one of"),
        (("--name", "../a"), "--name: found '../a', expected letters"),
    ],
)
def test_what_cannot_be_done_is_one_line_before_the_card_is_opened(
    laptop, tmp_path, capsys, words, line
):
    assert cli.main(["listen", *words, "--out", str(tmp_path)]) == 2
    assert line in capsys.readouterr().err
    assert laptop.opened == 1 and not list(Path(tmp_path).rglob("*.wav"))


def test_a_computer_without_a_microphone_is_one_line(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sound_device, "sounddevice", lambda: Laptop(inputs=0))
    assert cli.main(["listen", "--out", str(tmp_path)]) == 2
    assert "found no input device" in capsys.readouterr().err
