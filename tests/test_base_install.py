"""The base install, without torch and the servers, loads posteriors and calibrates clips."""

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import soundfile

from ricochet.tasks.registry import packages
from tests.checkouts import python_path
from tests.crash import whole_packages

BLOCKED = ("torch", "mlflow", "prefect", "dvc", "mujoco", "numba", "optuna", "pandas", "mcap")
HOOK = f"""
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refused())
"""


def run(program: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process that finds none of the packages of the extra `lab`."""
    return subprocess.run(
        [sys.executable, "-c", HOOK + textwrap.dedent(program), *words],
        cwd=folder,
        env={
            "PYTHONPATH": python_path(),
            "HOME": str(folder),
            "OMP_NUM_THREADS": "1",
            "RICOCHET_ARTIFACTS": str(folder / "artifacts"),
        },
        capture_output=True,
        text=True,
    )


VERB = "from ricochet.flows.cli import main; sys.exit(main(sys.argv[1:]))"


def clip(path: Path) -> Path:
    """Write clicks of a ball of restitution 0.85 that falls from 1 m."""
    rate, time, speed = 44100, 0.3, np.sqrt(2 * 9.81)
    sound = 1e-4 * np.random.default_rng(0).normal(size=6 * rate)
    after = np.arange(900) / rate
    for bounce in range(9):
        first = int(time * rate)
        click = np.exp(-after / 0.003) * np.sin(2 * np.pi * 3000.0 * after)
        sound[first : first + len(after)] += 0.4 * 0.8**bounce * click
        speed *= 0.85
        time += 2 * speed / 9.81
    soundfile.write(path, sound, rate)
    return path


@pytest.mark.slow
def test_a_clip_is_calibrated(tmp_path):
    path = str(clip(tmp_path / "clip.wav"))
    words = ("calibrate", path, "--no-publish", "--page", "--out", "answer")
    done = run(VERB, tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert "restitution 0.85" in done.stdout
    assert (tmp_path / "answer" / "figures" / "recording.png").is_file()
    page = (tmp_path / "answer" / "page.html").read_text()
    assert page.count("<tr><td>") == 9 and "clip.wav" in page


def test_what_a_controller_and_a_phone_import_needs_no_lab(tmp_path):
    done = run(
        """
        import ricochet
        from ricochet.tasks.registry import champion, packages, sources
        from ricochet.tasks.systems.bouncing_ball import contact_package, family_package, kinds
        from ricochet.tasks.systems.bouncing_ball.calibration import times_only
        kinds.POSTERIOR.load_reader()
        kinds.DENSITY.load_reader()
        for name in ("calibrate", "champion", "load_posterior", "restitution", "Folder", "Server"):
            getattr(ricochet, name)
        """,
        tmp_path,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", whole_packages.KINDS)
def test_a_package_of_each_kind_is_read_without_the_lab(tmp_path, kind):
    reader, folder = whole_packages.READERS[kind], tmp_path / "package"
    made = whole_packages.made(kind, tmp_path / "made")
    packages.write_package(folder, made, reader=reader)
    module = reader.evaluate.__module__
    done = run(
        """
        import importlib.util
        import sys
        from pathlib import Path
        importlib.util.find_spec = lambda name: None  # as for what is not installed
        from ricochet.tasks.registry import packages
        from ricochet.tasks.registry.kinds import Reader
        module = importlib.import_module(sys.argv[2])
        reader = next(each for each in vars(module).values() if isinstance(each, Reader))
        print(packages.read_package(Path(sys.argv[1]), reader=reader).name)
        """,
        tmp_path,
        str(folder),
        module,
    )
    assert done.stdout.strip() == made.name, done.stderr


@pytest.mark.parametrize("words", [("simulate",), ("train", "density"), ("doctor",)])
def test_a_verb_of_the_lab_says_which_extra_it_needs_in_one_line(tmp_path, words):
    done = run(VERB, tmp_path, *words)
    assert done.returncode == 2
    *announced, line = done.stderr.splitlines()
    assert all(each.endswith("...") for each in announced)
    assert 'pip install "ricochet-lab[lab]"' in line


def test_help_lists_what_is_there_and_a_name_of_the_lab_says_what_it_needs(tmp_path):
    done = run(
        """
        import importlib.util
        importlib.util.find_spec = lambda name: None  # as for what is not installed
        import ricochet
        help(ricochet)
        try:
            from ricochet import simulate
        except ModuleNotFoundError as error:
            print(error)
        """,
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "calibrate(" in done.stdout and "class Champion" in done.stdout
    assert 'ricochet.simulate needs torch: pip install "ricochet-lab[lab]"' in done.stdout
