"""Folders where libraries keep what they know, of one user alone.

Some take a place that all users share: DVC `/var/tmp/dvc`, where all may rename and what lies there
may be code, torch one below `/tmp` whose name any user may take.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage.secret_files import taken_folder

TORCH = ("TORCHINDUCTOR_CACHE_DIR", "ricochet-torch")
"""Variable and folder of what torch compiles, which is made as soon as something is trained."""
DVC = ("DVC_SITE_CACHE_DIR", "ricochet-dvc")
"""The same of what DVC has seen of files and remotes."""


def keep_apart(variable: str, name: str) -> None:
    """Have a variable of the environment name a folder of this user's, unless it names one.

    It is below `~/.cache`, or `XDG_CACHE_HOME`; where none can be, this process's own.
    """
    if variable in os.environ:
        return
    try:
        kept = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        os.environ[variable] = str(taken_folder(kept / name))
    except (BadInput, OSError, RuntimeError):  # nobody's home, or a full disk
        os.environ[variable] = tempfile.mkdtemp(prefix=f"{name}-")
        atexit.register(shutil.rmtree, os.environ[variable], ignore_errors=True)
