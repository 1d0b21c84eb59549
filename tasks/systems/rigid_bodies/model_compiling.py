"""Compiles a MuJoCo model; one that may grow is compiled in a process of its own before.

A few words of a model, a `replicate`, a height field or a picture, may stand for a million bodies
or for gigabytes, and where many geoms touch MuJoCo ends the process. What holds more than plain
elements, or many geoms, is therefore compiled and moved a little first where memory and time are
bounded, and refused if they do not suffice.

python -m ricochet.tasks.systems.rigid_bodies.model_compiling FILE
"""

import resource
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from xml.etree.ElementTree import Element

import mujoco

from ricochet.models.core.bad_input import BadInput

MEMORY = 2**29
"""Bytes that compiling may take."""
SECONDS = 30
"""Of processor time, and twice that of any."""
PLAIN_ELEMENTS, FEW_GEOMS = 2000, 20
STEPS, LONGEST = 20, 0.02
"""That a model with more geoms is moved, to see whether it can be, and s that each may take."""
EXPECTED = "a model that MuJoCo compiles"
_PLAIN_WORDS = """
mujoco compiler option flag statistic visual global quality headlight map scale rgba
default worldbody body frame inertial joint freejoint geom site camera light asset
material contact exclude pair equality weld connect tendon fixed spatial actuator motor
position velocity damper intvelocity sensor jointpos jointvel framepos framequat
framelinvel frameangvel accelerometer gyro force torque touch keyframe key include custom
text
"""
_PLAIN = frozenset(_PLAIN_WORDS.split())
"""Elements of which each is one thing in the compiled model."""
_GROWING = frozenset(("count", "dim", "actdim", "nsample", "resolution"))


def compiled(file: Path, roots: Iterable[Element]) -> mujoco.MjModel:
    """Compile a model.

    Args:
        roots: Of the file and of all that it includes.

    Raises:
        BadInput: If MuJoCo does not compile it, or not within the limits.
    """
    if not _plain(roots):
        _try_apart(file)
    try:
        return mujoco.MjModel.from_xml_path(str(file))
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise BadInput(str(file), str(error)[:300], EXPECTED) from error


def _plain(roots: Iterable[Element]) -> bool:
    elements = [element for root in roots for element in root.iter()]
    geoms = sum(element.tag == "geom" for element in elements)
    return max(len(elements) - PLAIN_ELEMENTS, geoms - FEW_GEOMS) <= 0 and all(
        element.tag in _PLAIN and not _GROWING & element.attrib.keys() for element in elements
    )


def _try_apart(file: Path) -> None:
    words = [
        sys.executable,
        "-P",
        "-m",
        __spec__.name if __spec__ else __name__,
        str(file.resolve()),
    ]
    bounds = f"{EXPECTED} in {MEMORY // 2**20} MiB and {SECONDS} s, steps of {LONGEST:g} s"
    try:
        tried = subprocess.run(
            words, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=2 * SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise BadInput(str(file), "one that takes longer", bounds) from error
    if tried.returncode == 0:
        return
    said = tried.stdout.decode(errors="replace")[:300].strip()
    raise BadInput(str(file), said or "one that takes more", bounds)


def main(file: str) -> int:
    """Compile a file where memory and time are bounded; print what is wrong with it."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_DATA, (_used() + MEMORY,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        model = mujoco.MjModel.from_xml_path(file)
        data = mujoco.MjData(model)
        begun = time.process_time()
        for _ in range(STEPS):
            mujoco.mj_step(model, data)
        if (taken := (time.process_time() - begun) / STEPS) > LONGEST:
            raise ValueError(f"steps of {taken:.2g} s")
    except (ValueError, RuntimeError, MemoryError, mujoco.FatalError) as error:
        print(" ".join(str(error).split()))  # noqa: T201 - to the process that asked
        return 1
    return 0


def _used() -> int:
    """Return the bytes of data that this process has."""
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[5]) * resource.getpagesize()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
