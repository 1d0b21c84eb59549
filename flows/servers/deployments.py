"""The file of deployments, looked at before any server is started for it."""

from pathlib import Path
from typing import Any

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


def _is_text(deployment: Any, key: str) -> bool:
    value = deployment.get(key) if isinstance(deployment, dict) else None
    return isinstance(value, str) and bool(value)
