"""Runs and experiments of MLflow's server, each of a bounded size.

Whoever lists runs or looks for dead ones, as `ricochet up` does each minute, gets their tags,
parameters and data sets with them: forty runs of 8 MB, which any account that may write can make,
took over a GB of the server and of `up` each. A run of Ricochet's has a few thousand characters.
"""

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from ricochet.tasks.registry.server_methods import checked, refusal

LARGEST = 2**16
"""Characters of what a run or an experiment says of itself, files and steps of metrics aside."""
NAMED = 60
"""Characters for which a name of a metric, parameter, tag or data set counts beside its own: short
ones take as much memory of a page, and as much time to read."""
MOST_DATASETS = 50
"""Of a run: a search by two conditions on data sets makes a row of each pair."""
MOST_TAGS = 20
"""Of a data set, which counts those of one name once as it says how large it is."""
LONGEST_NAME = 1000
WRITES = ("log_batch", "log_inputs", "log_outputs", "log_param", "log_metric", "set_tag")
"""Methods of a store that add to a run."""
_LOCKS = tuple(threading.RLock() for _ in range(64))


def bound(store: Any) -> None:
    """Have a store of MLflow's refuse what makes a run or an experiment too large."""
    of_run = partial(_refuse_more, store.get_run, "run_id")
    of_experiment = partial(_refuse_description, store.get_experiment)
    checks = {"log_inputs": partial(_refuse_inputs, store.get_run)}
    for name in (*WRITES, "record_logged_model"):
        if hasattr(store, name):
            checked(store, name, checks.get(name, of_run), around=partial(_alone, "run_id"))
    alone = partial(_alone, "experiment_id")
    checked(store, "set_experiment_tag", of_experiment, around=alone)
    checked(store, "create_run", _refuse_new)
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


def _alone(owner: str, given: Mapping[str, Any]) -> AbstractContextManager[object]:
    """Return what two writes to one owner hold after one another."""
    return _LOCKS[hash(given[owner]) % len(_LOCKS)]


def _refuse_inputs(find: Callable[[Any], Any], given: Mapping[str, Any]) -> None:
    """Refuse too many data sets or tags of one, and what is too large with what is there."""
    run = find(given["run_id"])
    held = len(run.inputs.dataset_inputs)
    if (total := held + len(given.get("datasets") or ())) > MOST_DATASETS:
        raise refusal(f"{total} data sets of a run", f"at most {MOST_DATASETS}")
    tags = max((len(each.tags) for each in given.get("datasets") or ()), default=0)
    if tags > MOST_TAGS:
        raise refusal(f"{tags} tags of a data set", f"at most {MOST_TAGS}")
    new = sum(1 + len(each.tags) for each in given.get("datasets") or ())
    _refuse_large(given, size(run) + NAMED * (len(_there(run)) + new))


def _refuse_more(find: Callable[[Any], Any], owner: str, given: Mapping[str, Any]) -> None:
    """Refuse what is too large together with what its owner, named by an argument, has already."""
    found = find(given[owner])
    there = _there(found)
    new = {name for value in given.values() for name in _names(value)} - {*there}
    _refuse_large(given, size(found) + NAMED * (len(there) + len(new)))


def _refuse_description(find: Callable[[Any], Any], given: Mapping[str, Any]) -> None:
    """Refuse a tag that makes its experiment too large; what it replaces does not count."""
    found, tag = find(given["experiment_id"]), given["tag"]
    there = {name: value for name, value in found.tags.items() if name != tag.key}
    total = size(there, tag) + NAMED * (len(there) + 1)
    if total > LARGEST and total > size(dict(found.tags)) + NAMED * len(found.tags):
        raise _refusal(total)


def _there(found: Any) -> list[str]:
    """Return the names that a run or an experiment has, of data sets and their tags too."""
    stated, inputs = getattr(found, "data", found), getattr(found, "inputs", None)
    names = [
        name for kind in ("metrics", "params", "tags") for name in getattr(stated, kind, ()) or ()
    ]
    for each in inputs.dataset_inputs if inputs else ():
        names += [each.dataset.name, *(tag.key for tag in each.tags)]
    return names


def _names(value: Any) -> set[str]:
    """Return the names of metrics, parameters or tags that an argument holds."""
    every = value if isinstance(value, list | tuple | set) else [value]
    return {each.key for each in every if hasattr(each, "key")}


def _refuse_large(given: Mapping[str, Any], held: int = 0) -> None:
    if (total := held + size(*map(_kept, given.values()))) > LARGEST:
        raise _refusal(total)


def _refuse_new(given: Mapping[str, Any]) -> None:
    _refuse_large(given, NAMED * len(_names(given.get("tags") or ())))


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
