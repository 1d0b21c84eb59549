"""DVC's note of which of its commands read and write what, where a loss of power damaged it.

DVC then fails until somebody removes the file. What it named has ended with the power.
"""

import json
from typing import IO, Any


class Notes:
    """What DVC reads and writes its note by, in place of `json`."""

    JSONDecodeError, dump = json.JSONDecodeError, staticmethod(json.dump)
    loads, dumps = staticmethod(json.loads), staticmethod(json.dumps)

    @staticmethod
    def load(file: IO[str]) -> Any:
        """Read a note; one that is no JSON names no command."""
        try:
            return json.load(file)
        except ValueError:
            return {}


def settle_notes() -> None:
    """Have DVC go on where its note is damaged."""
    from dvc import rwlock

    module: Any = rwlock
    module.json = Notes
