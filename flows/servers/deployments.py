"""The file of deployments, looked at before any server is started for it, and what deploys it."""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ricochet.flows.servers import work_pools
from ricochet.models.core.bad_input import BadInput, shown
from ricochet.tasks.storage import checked_yaml

EXPECTED = "deployments, each with a name and an entrypoint"


def check(file: Path) -> None:
    """Refuse a file that has no deployments; what else they say is Prefect's to read.

    Raises:
        BadInput: It cannot be read, or lists none, or one without a name or an entry point.
    """
    content = checked_yaml.read(file, "a file of deployments")
    found = content.get("deployments") if isinstance(content, dict) else None
    if not isinstance(found, list) or not found:
        raise BadInput(f"{file}: deployments", shown(found), EXPECTED)
    for each in found:
        if not (_is_text(each, "name") and _is_text(each, "entrypoint")):
            raise BadInput(f"{file}: deployments", shown(each), EXPECTED)


def commands(file: Path) -> dict[str, list[str]]:
    """Return by name, in their order, the commands that make pools and deploy a file to them."""
    python = [sys.executable, "-P", "-m"]
    deploy = ("--no-prompt", "deploy", "--all", "--prefect-file", str(file))
    return {"pools": [*python, work_pools.__name__], "deploy": [*python, "prefect", *deploy]}


def await_end(
    process: subprocess.Popen[bytes],
    servers: Sequence[subprocess.Popen[bytes]],
    log: Path,
    patience: float,
) -> None:
    """Wait until what deploys has done so.

    Raises:
        RuntimeError: It fails, or takes longer than `patience`, s; or a server ends meanwhile.
    """
    end = time.monotonic() + patience
    while process.poll() is None:
        if any(each.poll() is not None for each in servers):
            raise RuntimeError(f"a server ended while flows were deployed; see {log.parent}")
        if time.monotonic() > end:
            raise RuntimeError(f"flows were not deployed within {patience:g} s; see {log}")
        time.sleep(0.1)
    if process.returncode != 0:
        raise RuntimeError(f"Prefect refused; see {log}")


def _is_text(deployment: Any, key: str) -> bool:
    value = deployment.get(key) if isinstance(deployment, dict) else None
    return isinstance(value, str) and bool(value)
