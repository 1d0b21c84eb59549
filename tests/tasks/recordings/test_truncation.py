"""Sounds that are cut, in each form that states how long it is."""

import io
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import audio_files, truncation

FORMS = {
    "wav": ("WAV", "PCM_16"),
    "rf64": ("RF64", "PCM_24"),
    "aiff": ("AIFF", "PCM_16"),
    "aifc": ("AIFF", "FLOAT"),
    "vorbis": ("OGG", "VORBIS"),
    "opus": ("OGG", "OPUS"),
    "flac": ("FLAC", "PCM_16"),
    "mp3": ("MP3", "MPEG_LAYER_III"),
}


def sound(form: str, seconds: float = 1.0) -> bytes:
    buffer = io.BytesIO()
    noise = np.random.default_rng(3).normal(scale=0.1, size=(int(48_000 * seconds), 2))
    kind, subtype = FORMS[form]
    soundfile.write(buffer, noise, 48_000, format=kind, subtype=subtype)
    return buffer.getvalue()


@pytest.mark.parametrize("form", FORMS)
def test_a_whole_sound_is_read(form):
    assert audio_files.decode(Path("take"), sound(form)).samples.shape[0] == 2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kept", [0.6, 0.9, 0.999])
def test_a_cut_sound_is_refused(form, kept):
    content = sound(form)
    with pytest.raises(BadInput, match=r"cut short|unreadable|no frames"):
        audio_files.decode(Path("take"), content[: int(kept * len(content))])


@pytest.mark.parametrize(("form", "name"), [("wav", b"data"), ("aiff", b"SSND"), ("rf64", b"data")])
@pytest.mark.parametrize("length", [0, 2**32 - 1])
def test_a_length_that_no_recorder_could_write_is_not_held_against_it(form, name, length):
    content = bytearray(sound(form)[:-1000])
    struct.pack_into(">I" if form == "aiff" else "<I", content, content.index(name) + 4, length)
    if form == "rf64":
        struct.pack_into("<Q", content, content.index(b"ds64") + 16, 2**64 - 1 if length else 0)
    truncation.refuse(Path("take"), bytes(content))
    assert length in truncation.UNKNOWN


TITLE = b"ID3\x04\0\0\0\0\x02\x10" + bytes(2 * 128 + 16)


def test_what_stands_about_the_frames_of_an_mp3_is_no_fault_and_hides_none():
    content = sound("mp3")
    assert audio_files.decode(Path("take"), TITLE + content + b"TAG" + bytes(125))
    with pytest.raises(BadInput, match=r"cut short, \d+ of \d+ bytes of sound"):
        truncation.refuse(Path("take"), TITLE + content[:-100])


def test_an_mp3_that_states_no_length_is_read():
    content = sound("mp3")
    at = max(content.find(name) for name in truncation.XING)
    silent = content[: at + 7] + bytes([content[at + 7] & ~2]) + content[at + 8 :]
    truncation.refuse(Path("take"), silent[:-100])
    with pytest.raises(BadInput, match="cut short"):
        truncation.refuse(Path("take"), content[:-100])


def test_what_follows_the_last_page_of_an_ogg_is_no_fault():
    content = sound("vorbis")
    truncation.refuse(Path("take"), content + b"TAG of a player")
    with pytest.raises(BadInput, match="without a last page"):
        truncation.refuse(Path("take"), content + content[: len(content) // 2])
