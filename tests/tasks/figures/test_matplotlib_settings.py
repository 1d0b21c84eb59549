"""Figures are drawn by Matplotlib's own settings, wherever a verb starts."""

import os
import subprocess
import sys

PROGRAM = """
import sys
from ricochet.flows import cli
status = cli.main(["calibrate", "absent", "--no-publish", "--out", sys.argv[1]])
import matplotlib
print(status, matplotlib.rcParams["figure.figsize"])
"""


def test_a_file_in_the_folder_where_a_verb_starts_changes_no_figure(tmp_path):
    (tmp_path / "matplotlibrc").write_text("figure.figsize: 500, 500\n")
    assert said(tmp_path, "import matplotlib as m; print(m.rcParams['figure.figsize'])") == [
        "[500.0, 500.0]"  # Matplotlib reads it
    ]
    assert said(tmp_path, PROGRAM)[-1] == "2 [6.4, 4.8]"


def test_a_pipe_there_keeps_nobody_waiting(tmp_path):
    os.mkfifo(tmp_path / "matplotlibrc")
    assert said(tmp_path, PROGRAM)[-1] == "2 [6.4, 4.8]"


def said(folder, program):
    words = [sys.executable, "-c", program, str(folder / "out")]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
