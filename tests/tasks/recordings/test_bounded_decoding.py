"""A process that decodes gets the memory that it is allowed, and a loud one fills no other."""

import subprocess
import sys
from pathlib import Path

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import bounded_decoding


@pytest.mark.skipif(sys.platform != "linux", reason="the system bounds no process")
@pytest.mark.parametrize(("share", "fits"), [(0.5, True), (1.1, False)])
def test_the_memory_of_a_process_is_bounded(share, fits):
    code = (
        "import sys\nfrom ricochet.tasks.recordings import bounded_decoding as it\n"
        "it.bound()\ntry: bytearray(int(float(sys.argv[1]) * it.MEMORY))\n"
        "except MemoryError: sys.exit(7)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(share)])
    assert done.returncode == (0 if fits else 7)


def test_what_takes_too_long_is_a_line(monkeypatch):
    def never(words, *, stderr, timeout, **_):
        assert timeout == 2 * bounded_decoding.SECONDS
        assert stderr == subprocess.DEVNULL
        raise subprocess.TimeoutExpired(words, timeout)

    monkeypatch.setattr(subprocess, "run", never)
    with pytest.raises(BadInput, match="a: found one that takes longer, expected sound that is"):
        bounded_decoding.run("some.module", Path("a"), b"")
