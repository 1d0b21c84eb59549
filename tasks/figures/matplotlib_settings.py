"""Matplotlib's own settings, whoever wrote a `matplotlibrc` into the folder where a verb starts."""

import contextlib
from pathlib import Path

FILE = Path("matplotlibrc")


def use_defaults() -> None:
    """Import Matplotlib with its own settings alone, so that figures are the same everywhere.

    It reads `FILE` of the working directory as it is imported, which this must come before.
    """
    with contextlib.chdir("/"):  # nobody but root writes there
        import matplotlib
    matplotlib.rcdefaults()


def ignore_files() -> None:
    """Use the defaults if there is such a file; else nothing slow is imported."""
    if FILE.exists():
        use_defaults()
