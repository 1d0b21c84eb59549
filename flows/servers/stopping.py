"""An orderly end by a signal: what a block started is ended by it, whatever comes meanwhile."""

import contextlib
import signal
from collections.abc import Iterator


def _ignore(number: int, frame: object) -> None:
    """Take a signal and do nothing."""


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Turn Ctrl-C, SIGTERM and a closed terminal into an orderly end of the block.

    Only the first counts: a second Ctrl-C must not cut short the ending of the children.
    """
    wanted = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def stop(number: int, frame: object) -> None:
        for later in wanted:
            signal.signal(later, _ignore)  # SIG_IGN has Python print of one that came with this
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in wanted}
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
