"""DVC's note of which of its commands read and write what, after a kill or a loss of power.

DVC fails over one that is damaged, or names a process that ended and whose number another has by
now, as after a start of the machine, until somebody removes the file.
"""

import json
import os
from functools import partial
from typing import IO, Any

import psutil

SLACK = 2.0
"""By how much the time at which a process began may be wrong, s."""


class Notes:
    """What DVC reads and writes its note by, in place of `json`."""

    JSONDecodeError, dump = json.JSONDecodeError, staticmethod(json.dump)
    loads, dumps = staticmethod(json.loads), staticmethod(json.dumps)

    @staticmethod
    def load(file: IO[str]) -> Any:
        """Read a note; one that is no JSON names no command."""
        written = os.fstat(file.fileno()).st_mtime
        try:
            return json.load(file, object_hook=partial(_without_later, written))
        except ValueError:
            return {}


def _without_later(written: float, found: dict[str, Any]) -> dict[str, Any]:
    """Return a part of a note without the commands whose number another process has by now."""
    kept = {}
    for path, commands in found.items():
        if isinstance(commands, list):
            kept[path] = [each for each in commands if not _began_later(each, written)]
        elif not _began_later(commands, written):
            kept[path] = commands
    return kept


def _began_later(command: Any, written: float) -> bool:
    """Return whether the process of a command is known to have begun after its note."""
    if not (isinstance(command, dict) and isinstance(command.get("pid"), int)):
        return False
    try:
        return psutil.Process(command["pid"]).create_time() > written + SLACK
    except (psutil.Error, ValueError, OverflowError):  # ended, which DVC sees, or nobody's
        return False


def settle_notes() -> None:
    """Have DVC go on where its note is damaged."""
    from dvc import rwlock

    module: Any = rwlock
    module.json = Notes
