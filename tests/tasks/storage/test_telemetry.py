"""Telemetry: messages return as written, in other readers too, and survive a kill."""

import errno
import json

import pytest
from mcap.reader import make_reader

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import telemetry
from ricochet.tasks.storage.telemetry import Telemetry
from tests.crash import kill
from tests.oracles import telemetry_reader
from tests.oracles.telemetry_reader import Entry

CHANNELS = {
    "arm": {
        "joints": telemetry.numbers(6),
        "joint_speeds": telemetry.numbers(6),
        "paddle": telemetry.numbers(3),
        "paddle_velocity": telemetry.numbers(3),
    },
    "target": {
        "y": telemetry.NUMBER,
        "z": {"type": ["number", "null"]},
        "duration": telemetry.NUMBER,
        "reason": telemetry.TEXT,
    },
    "refusal": {"reason": telemetry.TEXT},
}
ARM = {"joints": [0.1] * 6, "joint_speeds": [0.0] * 6, "paddle": [0.3, 0.0, 0.2]}
ARM |= {"paddle_velocity": [0.0] * 3}


def record(path, count, *, period=0.01):
    with Telemetry(path, CHANNELS) as log:
        for number in range(count):
            log.write("arm", time=number * period, **ARM)
            log.write("refusal", time=number * period, reason=f"number {number}")


def test_messages_return_as_written_and_in_order(tmp_path):
    record(tmp_path / "a.mcap", 3)
    found = telemetry_reader.read(tmp_path / "a.mcap")
    assert found[:2] == (Entry("arm", 0.0, ARM), Entry("refusal", 0.0, {"reason": "number 0"}))
    assert [round(entry.time, 9) for entry in found] == [0.0, 0.0, 0.01, 0.01, 0.02, 0.02]


def test_another_reader_finds_schemas_and_messages(tmp_path):
    record(tmp_path / "a.mcap", 100)
    with (tmp_path / "a.mcap").open("rb") as file:
        rows = [(s, c, m) for s, c, m in make_reader(file, validate_crcs=True).iter_messages()]
    assert len(rows) == 200
    schema, channel, message = rows[0]
    assert (schema.name, schema.encoding, channel.topic) == ("ricochet.arm", "jsonschema", "arm")
    assert set(json.loads(schema.data)["required"]) == set(json.loads(message.data)) == set(ARM)


def test_a_kill_loses_at_most_the_time_between_two_flushes(tmp_path):
    path = tmp_path / "a.mcap"

    def doomed():
        log = Telemetry(path, CHANNELS)
        for number in range(1000):
            log.write("arm", time=number * 0.01, **ARM)
        kill.now()

    assert kill.forked(doomed) == -9
    found = telemetry_reader.read(path)
    assert 9.99 - found[-1].time <= telemetry.FLUSH + 0.011  # and one period of the messages
    assert [round(100 * entry.time) for entry in found] == list(range(len(found)))


def test_a_file_cut_at_any_byte_gives_a_beginning_of_its_messages(tmp_path):
    record(tmp_path / "a.mcap", 150)
    content, whole = (tmp_path / "a.mcap").read_bytes(), telemetry_reader.read(tmp_path / "a.mcap")
    assert len(whole) == 300
    lengths = []
    for size in range(8, len(content), 97):
        (tmp_path / "cut.mcap").write_bytes(content[:size])
        part = telemetry_reader.read(tmp_path / "cut.mcap")
        assert part == whole[: len(part)]
        lengths.append(len(part))
    assert lengths == sorted(lengths) and lengths[0] == 0 and lengths[-1] == 300


def test_a_full_disk_is_one_line_and_what_was_flushed_stays(tmp_path):
    class Full:
        """A file that is full after its third chunk."""

        def __init__(self, file):
            self.file, self.left = file, 3 * 1200

        def write(self, content):
            self.left -= len(content)
            if self.left < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return self.file.write(content)

        def __getattr__(self, name):
            return getattr(self.file, name)

    path = tmp_path / "a.mcap"
    log = Telemetry(path, CHANNELS)
    log._writer._Writer__stream = Full(log._writer._Writer__stream)
    with pytest.raises(BadInput, match="no space left on device") as caught:
        for number in range(2000):
            log.write("arm", time=number * 0.01, **(ARM | {"paddle": [number / 7, 0.0, 0.0]}))
    assert "\n" not in str(caught.value)
    assert len(telemetry_reader.read(path)) >= 50
    with pytest.raises(BadInput, match="no space left on device"):
        log.close()
    assert log._file.closed


def test_a_link_of_the_name_is_replaced_and_what_it_led_to_stays(tmp_path):
    (tmp_path / "kept").write_text("precious")
    (tmp_path / "a.mcap").symlink_to(tmp_path / "kept")
    Telemetry(tmp_path / "a.mcap", CHANNELS).close()
    assert (tmp_path / "kept").read_text() == "precious"
    assert not (tmp_path / "a.mcap").is_symlink()
    assert not telemetry_reader.read(tmp_path / "a.mcap")


@pytest.mark.parametrize(
    ("channel", "time", "fields"),
    [
        ("arn", 0.0, {"reason": "x"}),
        ("refusal", 0.0, {}),
        ("refusal", 0.0, {"reason": "x", "more": 1}),
        ("refusal", -1.0, {"reason": "x"}),
        ("refusal", float("nan"), {"reason": "x"}),
        ("target", 0.0, {"y": float("inf"), "z": None, "duration": 0.1, "reason": "x"}),
    ],
)
def test_what_does_not_fit_the_channel_is_refused(tmp_path, channel, time, fields):
    with (
        Telemetry(tmp_path / "a.mcap", CHANNELS) as log,
        pytest.raises(ValueError, match=r"expected|must|JSON"),
    ):
        log.write(channel, time=time, **fields)


def test_a_place_that_cannot_be_written_is_one_line(tmp_path):
    with pytest.raises(BadInput, match="can be written"):
        Telemetry(tmp_path / "absent" / "a.mcap", CHANNELS)
