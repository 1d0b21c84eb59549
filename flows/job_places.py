"""Jobs of a flow are done where its settings say, as those of a verb are."""

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ricochet.tasks.cluster.computing import computing
from ricochet.tasks.systems import catalogue

P = ParamSpec("P")
R = TypeVar("R")


def jobs_by_settings(flow: Callable[P, R]) -> Callable[P, R]:
    """Run the function of a flow, which takes `params` and `overrides`, within `computing`."""
    signature = inspect.signature(flow)

    @functools.wraps(flow)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        given = signature.bind(*args, **kwargs).arguments
        settings = catalogue.load_settings(given.get("params"), given.get("overrides"))
        with computing(settings):
            return flow(*args, **kwargs)

    return run
