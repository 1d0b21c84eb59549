"""Who asks a registry: a name and a password, from a file or from MLflow's variables.

The file holds one line, `name:password`, and nobody else may read it. Only a server over https or
on loopback is sent it (`tasks.registry.sources`).
"""

import base64
import os
from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import secret_files

NAME, PASSWORD = "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"


def header(file: Path | None) -> dict[str, str]:
    """Return the header that says who asks; without a file and the variables there is none.

    Raises:
        BadInput: The file cannot be read, others may read it, or it holds no such line.
    """
    if file is not None:
        login = secret_files.read(file.parent, file.name)
    elif NAME in os.environ and PASSWORD in os.environ:
        login = f"{os.environ[NAME]}:{os.environ[PASSWORD]}"
    else:
        return {}
    if ":" not in login:
        raise BadInput(str(file), "no such line", "name:password")
    return {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"}
