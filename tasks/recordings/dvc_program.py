"""DVC's command, with hosts verified: `python -m ricochet.tasks.recordings.dvc_program`.

Over SSH, DVC talks to whoever answers: what it stands on sets no known hosts unless told to. Here a
host counts whose key is in `~/.ssh/known_hosts`, as for `ssh` itself; another is refused.
"""

import importlib.util
import sys
from pathlib import Path
from typing import Any


def verify_hosts() -> None:
    """Have DVC refuse a host whose key is not known."""
    if importlib.util.find_spec("dvc_ssh") is None:
        return
    from dvc_ssh import SSHFileSystem

    prepare = SSHFileSystem._prepare_credentials

    def verified(self: Any, **config: Any) -> dict[str, Any]:
        known = str(Path("~/.ssh/known_hosts").expanduser())
        return {**prepare(self, **config), "known_hosts": known, "agent_forwarding": False}

    SSHFileSystem._prepare_credentials = verified


def main() -> int:
    """Run DVC's command line with the words of this one."""
    from dvc.cli import main as command

    verify_hosts()
    return int(command(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
