"""How many threads the numerical libraries compute on."""

import os
import sys


def use_one_thread() -> None:
    """Compute on one thread from now on: small tensors in a loop are fastest so.

    What is imported later reads it from the environment, and so do processes that are started. The
    numbers then do not depend on the machine's processors either.
    """
    os.environ["OMP_NUM_THREADS"] = "1"
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
