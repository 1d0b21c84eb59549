"""How long an iterative method goes on: by steps, or by processor time so that methods compare."""

import time
from collections.abc import Iterator


def steps(count: int) -> Iterator[float]:
    """Yield the share that is done before each of some steps.

    >>> list(steps(4))
    [0.0, 0.25, 0.5, 0.75]
    """
    return (number / count for number in range(count))


def processor_time(seconds: float) -> Iterator[float]:
    """Yield the share of a processor time that this process has used since the first step.

    >>> next(processor_time(1.0)) < 0.1
    True
    """
    begun = time.process_time()
    while (share := (time.process_time() - begun) / seconds) < 1.0:
        yield share
