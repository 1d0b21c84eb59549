"""How many threads torch computes on while many small tensors are handled in a loop.

Handing such a tensor to several threads takes longer than its arithmetic, and threads that wait
for the next one keep their processors busy.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread in a `with` block or a decorated function, then as before.

    >>> before = torch.get_num_threads()
    >>> with one_thread():
    ...     torch.get_num_threads()
    1
    >>> torch.get_num_threads() == before
    True
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
