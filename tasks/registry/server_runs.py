"""Runs and experiments of MLflow's server, each of a bounded size.

Whoever lists runs or looks for dead ones, as `ricochet up` does each minute, gets their tags,
parameters and data sets with them: forty runs of 8 MB, which any account that may write can make,
took over a GB of the server and of `up` each. A run of Ricochet's has a few thousand characters.
"""

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any

from ricochet.tasks.registry.server_methods import checked, refusal

LARGEST = 2**17
"""Characters of what a run or an experiment says of itself, files and steps of metrics aside."""
LONGEST_NAME = 1000
WRITES = ("log_batch", "log_inputs", "log_outputs", "log_param", "log_metric", "set_tag")
"""Methods of a store that add to a run."""


def bound(store: Any) -> None:
    """Have a store of MLflow's refuse what makes a run or an experiment too large."""
    of_run = functools.partial(_refuse_more, store.get_run, "run_id")
    of_experiment = functools.partial(_refuse_more, store.get_experiment, "experiment_id")
    for name in (*WRITES, "record_logged_model"):
        if hasattr(store, name):
            checked(store, name, of_run)
    checked(store, "set_experiment_tag", of_experiment)
    checked(store, "create_run", _refuse_large)
    checked(store, "update_run_info", _refuse_name)


def size(*values: Any) -> int:
    """Return how many characters values have, entities of MLflow's among them."""
    return len(json.dumps(values, default=_plain))


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dictionary"):
        return value.to_dictionary()
    try:
        return dict(value)
    except TypeError:
        return str(value)


def _refuse_more(find: Callable[[Any], Any], owner: str, given: Mapping[str, Any]) -> None:
    """Refuse what is too large together with what its owner, named by an argument, has already."""
    _refuse_large(given, size(find(given[owner])))


def _refuse_large(given: Mapping[str, Any], held: int = 0) -> None:
    if (total := held + size(*map(_kept, given.values()))) > LARGEST:
        raise _refusal(total)


def _kept(value: Any) -> Any:
    """Return what a run says of an argument: of all steps of a metric the last."""
    if hasattr(value, "step"):
        return {value.key: value.value}
    if isinstance(value, list) and all(hasattr(each, "step") for each in value):
        return {each.key: each.value for each in value}
    return value


def _refuse_name(given: Mapping[str, Any]) -> None:
    """Have any run, however large, be ended, and none be given a name without end."""
    if len(name := given.get("run_name") or "") > LONGEST_NAME:
        raise _refusal(len(name))


def _refusal(total: int) -> Exception:
    return refusal(f"a run or an experiment of {total} characters", f"at most {LARGEST}")
