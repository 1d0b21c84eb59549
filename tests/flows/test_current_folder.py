"""Whoever may write where a verb starts has it run nothing: no module there is imported."""

import subprocess
import sys

import pytest

PLANT = """
import pathlib
pathlib.Path(__file__).with_name("ran").touch()
raise ImportError
"""
VERB = """
from ricochet.flows import cli
from ricochet.tasks.console import jobs
cli.main([])
print(list(jobs.in_processes(abs, [-1], workers=1)))
"""
MODEL = """
from pathlib import Path
from ricochet.tasks.systems.rigid_bodies import model_compiling
Path("a.xml").write_text("<mujoco><worldbody/></mujoco>")
print(model_compiling._try_apart(Path("a.xml")))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("program", "said"), [(VERB, "[(0, 1)]"), (MODEL, "None")])
def test_processes_that_a_verb_starts_import_nothing_of_the_current_folder(tmp_path, program, said):
    for name in ("multiprocessing", "resource", "mujoco"):
        (tmp_path / f"{name}.py").write_text(PLANT)
    words = [sys.executable, "-P", "-c", program]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.stdout.splitlines()[-1:] == [said], done.stderr
    assert not (tmp_path / "ran").exists()
