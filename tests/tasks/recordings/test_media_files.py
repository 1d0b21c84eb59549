"""What phones write is decoded where PyAV is installed, and asked for in one line where not.

Whatever a file states, it takes no gigabyte and ends no process.
"""

import importlib.machinery
import io
import struct
import subprocess
import sys
import types

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import bounded_decoding, media_files, sessions
from ricochet.tasks.storage import limits

RATE = 44100
SOUND = np.arange(4000, dtype=">i2").tobytes()
HUGE = 80_000_000
FORMS = {".m4a": ("ipod", "aac"), ".mp4": ("mp4", "aac"), ".mov": ("mov", "pcm_s16le")}


def clicks(seconds=1.0):
    samples = np.zeros(round(seconds * RATE), dtype=np.float32)
    samples[[9000, 20000, 33000]] = 0.8
    return samples


def library():
    return pytest.importorskip("av", reason="PyAV, the extra `media`, is not installed")


def encode(path, samples, form, codec, title=""):
    av = library()
    with av.open(str(path), "w", format=form) as container:
        container.metadata["title"] = title
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
    library()
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


def box(name, *parts):
    content = b"".join(parts)
    return struct.pack(">I4s", 8 + len(content), name) + content


def full(name, *fields):
    """A box with a version and flags, of whole numbers of 32 bit and of bytes."""
    parts = [part if isinstance(part, bytes) else struct.pack(">I", part) for part in fields]
    return box(name, bytes(4), *parts)


def track(count, *, place, codec=b"twos", channels=1):
    """Of 16 bit, uncompressed, of which `count` frames are stated, each indexed alone."""
    form = bytes(7) + struct.pack(">BQHHII", 1, 0, channels, 16, 0, RATE << 16)
    tables = box(
        b"stbl",
        full(b"stsd", 1, box(codec, form)),
        full(b"stts", 1, count, 2),
        full(b"stsc", 1, 1, count, 1),
        full(b"stsz", 2 * channels, count),
        full(b"stco", 1, place),
    )
    data = box(b"dinf", full(b"dref", 1, box(b"url ", struct.pack(">I", 1))))
    kind = full(b"hdlr", b"mhlrsoun", bytes(13))
    media = box(b"minf", full(b"smhd", 0), data, tables)
    return box(
        b"trak",
        full(b"tkhd", 0, 0, 1, 0, 1000, bytes(60)),
        box(b"mdia", full(b"mdhd", 0, 0, RATE, 1000, 0), kind, media),
    )


def stated(*counts, **facts):
    """A file of 9 kB that holds 4000 samples, with tracks that state as many as they like."""
    begin = box(b"ftyp", b"qt  ", bytes(4), b"qt  ") + box(b"mdat", SOUND)
    place = len(begin) - len(SOUND)
    tracks = [track(count, place=place, **facts) for count in counts]
    return begin + box(b"moov", full(b"mvhd", 0, 0, 1000, 1000, bytes(80)), *tracks)


def written(folder, content):
    path = folder / "clip.m4a"
    path.write_bytes(content)
    return path


def peak_of(code, content):
    """Return the most memory, KiB, that a process had which ran some lines on a file."""
    ending = (
        "import sys\nstatus = open('/proc/self/status').read()\n"
        "print(status.split('VmHWM:')[1].split()[0], file=sys.stderr)"
    )
    command = [sys.executable, "-c", f"{code}\n{ending}"]
    done = subprocess.run(command, input=content, capture_output=True, check=True)
    return int(done.stderr.split()[-1])


@pytest.mark.parametrize("channels", [1, 2, 16])
def test_a_file_that_states_what_it_holds_is_read(tmp_path, channels):
    library()
    samples, rate = sessions.load_clip(
        written(tmp_path, stated(4000 // channels, channels=channels))
    )
    assert rate == RATE
    np.testing.assert_array_equal(samples.T.ravel(), np.arange(4000) / 2**15)


def test_an_index_of_gigabytes_is_refused_in_the_process_apart(tmp_path):
    library()
    content = stated(HUGE)
    assert len(content) < 10_000
    with pytest.raises(BadInput, match=r"clip\.m4a: found none of the 80000000 .* in 256 MiB"):
        sessions.load_clip(written(tmp_path, content))
    here = "from ricochet.tasks.recordings import media_files; media_files.main()"
    assert peak_of(here, content) < 2**20 / 2


def test_it_would_take_gigabytes():
    library()
    here = "import av, io, sys; av.open(io.BytesIO(sys.stdin.buffer.read()))"
    assert peak_of(here, stated(HUGE // 8)) - peak_of(here, stated(4000)) > 2.5e5


def test_an_index_of_gigabytes_beside_sound_is_never_built_in_this_process(tmp_path):
    library()
    path = written(tmp_path, stated(4000, HUGE))
    code = (
        "from pathlib import Path\nfrom ricochet.tasks.recordings import sessions\n"
        f"assert sessions.load_clip(Path({str(path)!r}))[0].shape == (1, 4000)"
    )
    assert peak_of(code, b"") < 2**20 / 2


def test_a_title_in_latin_1_is_no_fault(tmp_path):
    path = tmp_path / "clip.m4a"
    encode(path, clicks(), *FORMS[".m4a"], title="K@che")
    content = path.read_bytes()
    assert b"K@che" in content
    path.write_bytes(content.replace(b"K@che", "Küche".encode("latin-1")))
    samples, rate = sessions.load_clip(path)
    assert rate == RATE and np.abs(samples).max() > 0.2


def test_a_track_whose_codec_is_not_known_is_refused_as_such(tmp_path):
    library()
    path = written(tmp_path, stated(4000, codec=b"zzzz"))
    with pytest.raises(BadInput, match=r"clip\.m4a: found a sound track whose codec is not known"):
        sessions.load_clip(path)


def test_a_recording_that_is_too_long_is_refused_while_it_is_decoded(tmp_path, monkeypatch):
    library()
    monkeypatch.setattr(limits, "SAMPLES", 2000)
    monkeypatch.setattr(bounded_decoding, "run", in_this_process)
    with pytest.raises(BadInput, match=r"clip\.m4a: found .* frames of 1 channels at 44100 Hz"):
        media_files.read(written(tmp_path, stated(4000)))


def in_this_process(module, path, content):
    """What `bounded_decoding.run` returns, without a process."""
    assert module == media_files.__name__
    streams = types.SimpleNamespace(buffer=io.BytesIO(content))
    written = types.SimpleNamespace(buffer=io.BytesIO())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded_decoding, "bound", lambda: None)
        patch.setattr(sys, "stdin", streams)
        patch.setattr(sys, "stdout", written)
        status = media_files.main()
    return subprocess.CompletedProcess([], status, written.buffer.getvalue())


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (AttributeError("no attribute 'rate'"), "unreadable: no attribute 'rate'"),
        (UnicodeDecodeError("utf-8", b"\xfc", 0, 1, "invalid"), "unreadable: 'utf-8' codec"),
        (ValueError("two\nlines"), "unreadable: two"),
        (ImportError("libavcodec"), "PyAV that cannot be imported: libavcodec"),
        (MemoryError(), "one that takes more, expected sound that is decoded in 256 MiB"),
    ],
)
def test_whatever_the_library_raises_is_a_line_that_names_the_file(
    tmp_path, monkeypatch, error, said
):
    def fail(*_, **__):
        raise error

    instead = types.ModuleType("av")
    instead.__spec__ = importlib.machinery.ModuleSpec("av", None)
    instead.open = fail
    monkeypatch.setitem(sys.modules, "av", instead)
    monkeypatch.setattr(bounded_decoding, "run", in_this_process)
    with pytest.raises(BadInput) as caught:
        media_files.read(written(tmp_path, b"some bytes"))
    assert said in str(caught.value)
    assert "clip.m4a: found" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("out", [b"", b'{"channels": 1}\n\0\1', b"\n7", b"\xff\n[]"])
def test_a_process_that_was_ended_is_a_line(tmp_path, monkeypatch, out):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    ended = subprocess.CompletedProcess([], -9, out)
    monkeypatch.setattr(bounded_decoding, "run", lambda *_: ended)
    with pytest.raises(BadInput, match=r"clip\.m4a: found one that takes more"):
        media_files.read(written(tmp_path, b"some bytes"))
