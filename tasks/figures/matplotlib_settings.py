"""Matplotlib's own settings, whoever wrote a `matplotlibrc` into the folder where a verb starts."""

import contextlib


def use_defaults() -> None:
    """Import Matplotlib with its own settings alone, so that figures are the same everywhere.

    It reads `matplotlibrc` of the working directory as it is imported, which this must come before.
    """
    with contextlib.chdir("/"):  # nobody but root writes there
        import matplotlib
    matplotlib.rcdefaults()
