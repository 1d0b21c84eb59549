"""Passing on purpose what the annotations forbid: what is checked is that the code refuses it."""

from collections.abc import Iterator
from contextlib import contextmanager

from jaxtyping import config


@contextmanager
def allowed() -> Iterator[None]:
    """Check no annotation for a while; tests take `@pytest.mark.wrong_types` instead."""
    before = config.jaxtyping_disable
    config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        config.update("jaxtyping_disable", before)
