"""Sound that was coded with loss ends no process and takes no gigabyte, whatever its head says."""

import io
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import audio_files, lossy_sound

RATE = 44_100


def checksum(data):
    """Ogg's: of 32 bit, from the highest bit on."""
    found = 0
    for byte in data:
        found ^= byte << 24
        for _ in range(8):
            found = ((found << 1) ^ (0x04C11DB7 if found & 2**31 else 0)) & (2**32 - 1)
    return found


def page(packet, number):
    lengths = bytes([255] * (len(packet) // 255) + [len(packet) % 255])
    head = b"OggS\0" + bytes([2 if number == 0 else 0]) + bytes(8) + struct.pack("<II", 7, number)
    tail = bytes([len(lengths)]) + lengths + packet
    return head + struct.pack("<I", checksum(head + bytes(4) + tail)) + tail


def of_large_books(count):
    """An OGG of a few thousand bytes whose code has books of 16 million words."""
    bits, size = 0, 0
    fields = [(count - 1, 8)]
    for _ in range(count):
        words = 2**23 - 1
        fields += [(0x564342, 24), (1, 16), (words, 24), (1, 1), (22, 5), (words, 23), (0, 4)]
    for value, width in fields:
        bits |= value << size
        size += width
    begin = b"\1vorbis" + struct.pack("<IBIiii", 0, 1, RATE, 0, 0, 0) + b"\xb8\1"
    comment = b"\3vorbis" + struct.pack("<II", 0, 0) + b"\1"
    setup = b"\5vorbis" + bits.to_bytes(size // 8 + 1, "little")
    return b"".join(page(packet, number) for number, packet in enumerate((begin, comment, setup)))


def peak():
    """Return the most memory that this process has had, KiB."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])


def coded(form, subtype, seconds=2.0):
    sound = np.random.default_rng(0).normal(0.0, 0.1, round(seconds * RATE))
    buffer = io.BytesIO()
    with soundfile.SoundFile(buffer, "w", RATE, 1, format=form, subtype=subtype) as file:
        for first in range(0, len(sound), 4096):
            file.write(sound[first : first + 4096])
    return buffer.getvalue(), sound


@pytest.mark.parametrize(("form", "subtype"), [("OGG", "VORBIS"), ("MP3", "MPEG_LAYER_III")])
def test_sound_is_decoded_as_before(form, subtype):
    content, sound = coded(form, subtype)
    found = audio_files.decode(Path("a"), content)
    assert found.sample_rate == RATE and found.samples.shape[1] >= len(sound)
    assert 0.05 < found.samples.std() < 0.2
    with pytest.raises(BadInput, match=r"a: found unreadable: .*, expected WAV, FLAC"):
        audio_files.decode(Path("a"), content[:2000] + bytes(4000))


def test_a_few_thousand_bytes_that_stand_for_gigabytes_are_refused_in_the_process_apart():
    content = of_large_books(200)
    assert len(content) < 5000
    before = peak()
    with pytest.raises(BadInput, match="expected sound that is decoded in 256 MiB and 30 s"):
        audio_files.decode(Path("a.ogg"), content)
    assert peak() - before < 2**16


def test_they_would_take_gigabytes():
    """Else the test above shows nothing."""
    code = (
        "import io, sys, soundfile\n"
        "try: soundfile.SoundFile(io.BytesIO(sys.stdin.buffer.read()))\n"
        "except soundfile.LibsndfileError: pass\n"
        "print(next(x for x in open('/proc/self/status') if x.startswith('VmHWM')).split()[1])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=of_large_books(60), capture_output=True, check=True)
    assert int(done.stdout) > 4e5


def test_a_decoder_that_is_ended_or_never_ends_is_a_line(monkeypatch):
    for run, said in (
        (subprocess.CompletedProcess([], -11, b"", b""), "one that takes more"),
        (subprocess.TimeoutExpired([], 60), "one that takes longer"),
    ):

        def instead(*_, found=run, **__):
            if isinstance(found, Exception):
                raise found
            return found

        monkeypatch.setattr(subprocess, "run", instead)
        with pytest.raises(BadInput, match=said):
            lossy_sound.check(Path("a"), b"", "sound")
