"""Runs what a stranger tries (`attacker`) as another user of the machine."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.flows.servers import attacker

NOBODY = 65534


def stranger(step, *words, given=""):
    """Run a step of the attacker to its end; return what it got."""
    with attacking(step, *words) as running:
        said, errors = running.communicate(given)
    assert running.returncode == 0, errors
    return json.loads(said)


@contextlib.contextmanager
def attacking(step, *words):
    """Run a step of the attacker as another user, where this one may, by the system's Python."""
    if not Path("/usr/bin/python3").exists():
        pytest.skip("no /usr/bin/python3, which another user could run")
    program = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        program.chmod(0o755)
        shutil.copy(attacker.__file__, program / "attacker.py")
        (program / "attacker.py").chmod(0o644)
        with subprocess.Popen(
            ["/usr/bin/python3", "-I", str(program / "attacker.py"), step, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
            env={"PATH": "/usr/bin:/bin"},  # not that of the test, which holds passwords
            user=NOBODY if os.geteuid() == 0 else None,
        ) as running:
            yield running
    finally:
        shutil.rmtree(program)


def takes(port):
    """Return by which addresses another user could listen on a port of this one."""
    if os.geteuid() != 0:
        pytest.skip("only root can try as another user")
    return stranger("take", str(port))
