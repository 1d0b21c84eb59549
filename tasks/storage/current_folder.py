"""The folder where a program starts, of which its libraries read more than anybody knows.

Python finds modules there, Matplotlib and Numba their settings, the linker of C its libraries, and
a verb its results of before.
"""

from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage.provenance import ROOT, workplace


def refuse_foreign() -> None:
    """Refuse to go on, with `BadInput`, where other users may write.

    Git refuses the same. In a checkout the code is of whoever may write there, and is trusted.
    """
    from ricochet.tasks.storage import secret_files  # with numpy, for which no help waits

    try:
        here = Path.cwd()
    except FileNotFoundError as error:
        raise BadInput("the current folder", "none", "one that is there") from error
    if workplace() == ROOT and here.is_relative_to(ROOT):
        return
    try:
        secret_files.refuse_foreign(here)
    except BadInput as error:
        raise BadInput(f"the current folder, {error.where}", error.found, error.expected) from error
