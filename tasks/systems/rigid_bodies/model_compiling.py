"""Compiles a MuJoCo model, in a process of its own before.

A few words of a model, a `replicate`, a height field or a picture, may stand for a million bodies
or for gigabytes; a few welds for steps that take a second; and where many geoms touch MuJoCo ends
the process. So it is compiled and moved a little first where memory and time are bounded, and
refused if they do not suffice.

python -m ricochet.tasks.systems.rigid_bodies.model_compiling FILE
"""

import resource
import subprocess
import sys
import time
from pathlib import Path

import mujoco

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.rigid_bodies import mujoco_calls

MEMORY = 2**29
"""Bytes that compiling may take."""
SECONDS = 30
"""Of processor time, and twice that of any."""
STEPS, LONGEST = 20, 2e-3
"""Steps that it is moved, and processor time that each may take, s: a fit takes millions."""
MOST_ITERATIONS = 100
"""Of each of MuJoCo's solvers in a step, as many as by default."""
SOLVERS = ("iterations", "ls_iterations", "noslip_iterations", "ccd_iterations", "sdf_iterations")
EXPECTED = "a model that MuJoCo compiles"


def compiled(file: Path) -> mujoco.MjModel:
    """Compile a model.

    Raises:
        BadInput: If MuJoCo does not compile it, or not within the limits.
    """
    _try_apart(file)
    try:
        return mujoco.MjModel.from_xml_path(str(file))
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise BadInput(str(file), str(error)[:300], EXPECTED) from error


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
        data.qvel[:] = 1.0
        for name in SOLVERS:  # more are refused
            setattr(model.opt, name, min(getattr(model.opt, name), MOST_ITERATIONS))
        with mujoco_calls.silent():
            _move(model, data)
    except (ValueError, RuntimeError, MemoryError, mujoco.FatalError) as error:
        print(" ".join(str(error).split()))  # noqa: T201 - to the process that asked
        return 1
    return 0


def _move(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Take some steps; ValueError where they are long."""
    begun = time.process_time()
    for number in range(STEPS):
        mujoco.mj_step(model, data)
        if (taken := time.process_time() - begun) > STEPS * LONGEST:
            raise ValueError(f"steps of {taken / (number + 1):.2g} s")


def _used() -> int:
    """Return the bytes of data that this process has."""
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[5]) * resource.getpagesize()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
