"""Numbers of experiments in MLflow's server, in the one form that is taken.

What an account may read MLflow looks up by the text that it is sent, and the experiment by the
number that its database makes of it: of `03` nobody is denied anything, and it is the third.
"""

import inspect
import re
from collections.abc import Collection
from typing import Any

from ricochet.tasks.registry.server_methods import checked, refusal

NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")
NAMES = ("experiment_id", "experiment_ids")
"""Parameters of a store's methods."""
ASKED = ("_search_datasets",)
"""Methods that the server calls though they are its stores' own."""


def bound(store: Any) -> None:
    """Have a store of MLflow's refuse numbers of experiments in any other form."""
    for name in dir(type(store)):
        method = getattr(store, name)
        if not callable(method) or (name.startswith("_") and name not in ASKED):
            continue
        if set(NAMES) & inspect.signature(method).parameters.keys():
            checked(store, name, _refuse)


def _refuse(given: dict[str, Any]) -> None:
    for name in NAMES:
        value = given.get(name)
        stated: Collection[Any] = [value]
        if isinstance(value, Collection) and not isinstance(value, str):
            stated = value  # a message's is no `list`
        for each in stated:
            if each is not None and NUMBER.fullmatch(str(each)) is None:
                raise refusal(f"the experiment {str(each)[:40]!r}", "its number")
