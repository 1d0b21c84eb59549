"""A checkout whose recordings lie in a remote."""

import os
import shutil
import subprocess
import sys

import pytest

from ricochet.tasks.recordings import dvc_commands
from tests.tasks.recordings import small_sessions
from tests.tasks.recordings.remotes import CONFIG


@pytest.fixture
def root(tmp_path, published):
    """A checkout without its recordings and its cache, and a remote that has one session."""
    shutil.copytree(published, tmp_path, dirs_exist_ok=True, symlinks=True)
    return tmp_path / "checkout"


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The folder of both, made once."""
    folder = tmp_path_factory.mktemp("published")
    root = folder / "checkout"
    (root / ".dvc").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / ".dvc" / "config").write_text(CONFIG)
    plan = small_sessions.plan(root / "data" / "first")
    small_sessions.write_session(plan, [small_sessions.noise(1)])
    for words in (["add", "-q", "data"], ["push", "-q"]):
        command = [sys.executable, "-m", "dvc", *words]
        subprocess.run(command, cwd=root, check=True, env=os.environ | dvc_commands.QUIET)
    shutil.rmtree(root / "data")
    shutil.rmtree(root / ".dvc" / "cache")
    return folder
