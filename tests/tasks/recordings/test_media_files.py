"""What phones write is decoded where PyAV is installed, and asked for in one line where not."""

import sys

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import media_files, sessions

RATE = 44100
FORMS = {".m4a": ("ipod", "aac"), ".mp4": ("mp4", "aac"), ".mov": ("mov", "pcm_s16le")}


def clicks(seconds=1.0):
    samples = np.zeros(round(seconds * RATE), dtype=np.float32)
    samples[[9000, 20000, 33000]] = 0.8
    return samples


def encode(path, samples, form, codec):
    av = pytest.importorskip("av", reason="PyAV, the extra `media`, is not installed")
    with av.open(str(path), "w", format=form) as container:
        track = container.add_stream(codec, rate=RATE)
        track.layout = "mono"
        frame = av.AudioFrame.from_ndarray(samples[None], format="fltp", layout="mono")
        frame.rate = RATE
        for packet in [*track.encode(frame), *track.encode(None)]:
            container.mux(packet)


@pytest.mark.parametrize("suffix", FORMS)
def test_a_file_of_a_phone_gives_its_samples(tmp_path, suffix):
    path = tmp_path / f"clip{suffix}"
    encode(path, clicks(), *FORMS[suffix])
    samples, rate = sessions.load_clip(path)
    assert rate == RATE
    assert len(samples) == 1
    loud = np.argsort(np.abs(samples[0]))
    apart = np.diff(np.sort([loud[-1], *_others(samples[0])]))
    # a coder may delay all of it; what lies between clicks stays to a millisecond
    np.testing.assert_allclose(apart, [11000, 13000], atol=44)


def _others(track):
    """Frames of the two loudest clicks after the loudest, 0.1 s apart."""
    quiet, found = np.abs(track).copy(), []
    for _ in range(3):
        at = int(quiet.argmax())
        found.append(at)
        quiet[max(0, at - 4410) : at + 4410] = 0.0
    return found[1:]


def test_what_is_no_media_file_is_one_line(tmp_path):
    pytest.importorskip("av", reason="PyAV, the extra `media`, is not installed")
    path = tmp_path / "clip.m4a"
    path.write_bytes(b"this is no sound at all" * 50)
    with pytest.raises(BadInput, match="unreadable"):
        sessions.load_clip(path)


def test_without_the_library_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    path = tmp_path / "clip.m4a"
    path.write_bytes(b"some bytes")
    with pytest.raises(BadInput, match=r"no PyAV, expected WAV, FLAC, MP3 .*`pip install av`"):
        media_files.read(path)
