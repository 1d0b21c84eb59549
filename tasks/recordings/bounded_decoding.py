"""Runs what decodes sound in a process of its own, whose memory and time are bounded.

What a file says of its code or of its index in a few thousand bytes may stand for gigabytes, or end
the process that reads it.
"""

import subprocess
import sys
from pathlib import Path

from ricochet.models.core.bad_input import BadInput

MEMORY = 2**28
"""Bytes that decoding may take, beside the file and the libraries: many times what the longest
recording takes, of which a few pictures of a film and an index of its packets are the most."""
SECONDS = 30
"""Of processor time, and twice that of any."""
STACK = 2**21
"""Bytes of its stack: less than where sound is decoded afterwards."""
BOUNDS = f"sound that is decoded in {MEMORY // 2**20} MiB and {SECONDS} s"


def run(module: str, path: Path, content: bytes) -> subprocess.CompletedProcess[bytes]:
    """Give the content of a file to a module that runs as a program, and return what came of it.

    Raises:
        BadInput: It takes too long.
    """
    words = [sys.executable, "-P", "-m", module]
    silent = subprocess.DEVNULL  # decoders write there as much as a file makes them
    try:
        return subprocess.run(
            words, input=content, stdout=subprocess.PIPE, stderr=silent, timeout=2 * SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise BadInput(str(path), "one that takes longer", BOUNDS) from error


def bound() -> None:
    """Bound what this process may take from now on, where the system can."""
    if sys.platform != "linux":
        return
    import resource

    used = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_DATA, (used + MEMORY,) * 2)
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
