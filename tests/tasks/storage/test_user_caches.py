"""No other user stops a training by a name in the folder of temporary files, or reads a cache."""

import getpass
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ricochet.tasks.storage import user_caches

TRAINED = """
import os, sys
from ricochet.tasks.storage import user_caches
if "kept" in sys.argv:
    user_caches.keep_apart(*user_caches.TORCH)
import torch
weights = torch.nn.Linear(2, 1)
torch.optim.Adam(weights.parameters()).step()
print(os.environ[user_caches.TORCH[0]])
"""


def trained(folder: Path, *words: str, cache: str) -> subprocess.CompletedProcess[str]:
    """Train where another user has taken the name that torch makes in a folder."""
    (folder / "tmp").mkdir()
    (folder / "tmp" / f"torchinductor_{getpass.getuser()}").touch()
    own = {key: each for key, each in os.environ.items() if key != user_caches.TORCH[0]}
    own |= {"TMPDIR": str(folder / "tmp"), "XDG_CACHE_HOME": cache}
    program = [sys.executable, "-c", TRAINED, *words]
    return subprocess.run(program, env=own, capture_output=True, text=True, check=False)


def test_torch_keeps_what_it_compiles_in_a_folder_of_its_user(tmp_path: Path) -> None:
    done = trained(tmp_path, "kept", cache=str(tmp_path / "cache"))
    place = Path(done.stdout.strip())
    assert place == tmp_path / "cache" / "ricochet-torch" and place.stat().st_mode & 0o777 == 0o700


def test_without_that_whoever_takes_its_name_stops_every_training(tmp_path: Path) -> None:
    assert "FileExistsError" in trained(tmp_path, cache=str(tmp_path / "cache")).stderr


def test_where_there_is_no_folder_for_it_each_process_has_its_own(tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    place = trained(tmp_path, "kept", cache=str(tmp_path / "cache")).stdout.strip()
    assert place.startswith(str(tmp_path / "tmp" / "ricochet-torch-")) and not Path(place).exists()


def test_a_folder_that_is_named_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(user_caches.TORCH[0], "named")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    user_caches.keep_apart(*user_caches.TORCH)
    assert os.environ[user_caches.TORCH[0]] == "named" and list(tmp_path.iterdir()) == []
