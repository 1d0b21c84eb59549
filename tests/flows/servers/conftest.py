"""What tests of servers share."""

import shutil
import tempfile
from pathlib import Path

import pytest

from tests.tasks.conftest import package  # noqa: F401


@pytest.fixture
def place():
    """A folder that everybody may enter, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(dir="/tmp", prefix="ricochet-strangers-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
