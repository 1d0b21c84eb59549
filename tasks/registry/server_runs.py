"""Runs and experiments of MLflow's server, each of a bounded size.

Whoever lists runs or looks for dead ones, as `ricochet up` does each minute, gets their tags,
parameters and data sets with them: forty runs of 8 MB, which any account that may write can make,
took over a GB of the server and of `up` each. A run of Ricochet's has a few thousand characters.
"""

import functools
import inspect
import json
from collections.abc import Callable
from typing import Any

LARGEST = 2**17
"""Characters of what a run or an experiment says of itself, files and steps of metrics aside."""
LONGEST_NAME = 1000
WRITES = ("log_batch", "log_inputs", "log_outputs", "log_param", "log_metric", "set_tag")
"""Methods of a store that add to a run."""


def bound(store: Any) -> None:
    """Have a store of MLflow's refuse what makes a run or an experiment too large."""
    for name in (*WRITES, "record_logged_model"):
        if hasattr(store, name):
            setattr(store, name, _bounded(getattr(store, name), "run_id", store.get_run))
    store.set_experiment_tag = _bounded(
        store.set_experiment_tag, "experiment_id", store.get_experiment
    )
    store.create_run = _bounded(store.create_run, None, None)
    store.update_run_info = _named(store.update_run_info)


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


def _bounded(
    write: Callable[..., Any], owner: str | None, find: Callable[[Any], Any] | None
) -> Callable[..., Any]:
    """Return what writes as long as it and what is there are not too large together."""
    signature = inspect.signature(write)

    @functools.wraps(write)
    def bounded(*positional: Any, **named: Any) -> Any:
        given = signature.bind(*positional, **named).arguments
        held = 0 if owner is None or find is None else size(find(given[owner]))
        if (total := held + size(*map(_kept, given.values()))) > LARGEST:
            raise _refused(total)
        return write(*positional, **named)

    return bounded


def _kept(value: Any) -> Any:
    """Return what a run says of an argument: of all steps of a metric the last."""
    if hasattr(value, "step"):
        return {value.key: value.value}
    if isinstance(value, list) and all(hasattr(each, "step") for each in value):
        return {each.key: each.value for each in value}
    return value


def _named(update: Callable[..., Any]) -> Callable[..., Any]:
    """Return what ends a run, however large, and gives it no name without end."""
    signature = inspect.signature(update)

    @functools.wraps(update)
    def named_shortly(*positional: Any, **named: Any) -> Any:
        name = signature.bind(*positional, **named).arguments.get("run_name")
        if name and len(name) > LONGEST_NAME:
            raise _refused(len(name))
        return update(*positional, **named)

    return named_shortly


def _refused(total: int) -> Exception:
    from mlflow.exceptions import MlflowException
    from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE

    text = f"found a run or an experiment of {total} characters, expected at most {LARGEST}"
    return MlflowException(text, error_code=INVALID_PARAMETER_VALUE)
