"""Prefect's settings: those of the environment, and of no file in the folder where a verb starts.

Prefect reads `.env`, `prefect.toml` and `pyproject.toml` of the working directory, whoever wrote
them, as it is imported and afterwards; one of its settings names a file of logging, which may name
any function to call.
"""

import contextlib
import os
from pathlib import Path
from typing import Any

HOME, PROFILES = "PREFECT_HOME", "PREFECT_PROFILES_PATH"


def of_the_environment() -> None:
    """Import Prefect with the settings of the environment, which must name its home."""
    os.environ[HOME] = os.path.abspath(os.environ[HOME])
    os.environ.setdefault(PROFILES, str(Path(os.environ[HOME]) / "profiles.toml"))
    with contextlib.chdir("/"):  # nobody but root writes there
        from prefect import context
        from prefect.settings import sources
    module: Any = sources
    module.FilteredDotEnvSettingsSource._read_env_files = _nothing
    module.TomlConfigSettingsSourceBase._read_file = _nothing
    context.refresh_global_settings_context()
    follow_no_redirects()


def follow_no_redirects() -> None:
    """Have the websockets of Prefect's clients stay where they are: the login is sent after one."""
    from websockets.asyncio import client

    connect: Any = client.connect
    connect.process_redirect = _no_redirect


def _no_redirect(_connect: Any, error: Exception) -> Exception:
    return error


def _nothing(*_: Any) -> dict[str, Any]:
    return {}
