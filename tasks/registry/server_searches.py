"""Searches of MLflow's server, of a few conditions each.

Each condition on a number or a tag joins a table, and PostgreSQL plans joins in memory that grows
faster than they do: 300 conditions, which any login may ask for, took 8 GB. The server itself reads
a text of megabytes for seconds, and in gigabytes.
"""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

OPERATORS = re.compile(r"[<>=]+|\b(?:and|or|not|in|is|i?like|between)\b", re.IGNORECASE)
DATASETS = re.compile(r"\bdatasets?\b", re.IGNORECASE)
MOST, MOST_DATASETS = 40, 3
"""Operators of a filter, also in its texts: twenty conditions and what joins them; and conditions
on a run's data sets, of which each has all."""
MOST_ORDERS, LONGEST = 5, 2**15
"""Orders, and characters of a filter or an order: the ids of eight hundred runs."""
MOST_RUNS = 1000
"""Of an answer, as MLflow's client asks for; each has all that it says of itself."""


def bound(*stores: Any) -> None:
    """Have stores of MLflow's refuse to search by more than a few conditions."""
    for store in stores:
        for name in dir(type(store)):
            found = getattr(store, name)
            if "search" in name and "filter_string" in _parameters(found):
                setattr(store, name, _bounded(found, name))


def _parameters(found: Any) -> dict[str, Any]:
    return dict(inspect.signature(found).parameters) if callable(found) else {}


def _bounded(search: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a search that is refused where it has too many conditions."""
    signature = inspect.signature(search)

    @functools.wraps(search)
    def bounded(*positional: Any, **named: Any) -> Any:
        given = signature.bind(*positional, **named).arguments
        words, orders = given.get("filter_string") or "", given.get("order_by") or ()
        if max(map(len, (words, *orders))) > LONGEST:
            raise _refused("a text without end", f"at most {LONGEST} characters")
        if name == "_search_runs" and (given.get("max_results") or 0) > MOST_RUNS:
            raise _refused(f"{given['max_results']} runs at once", f"at most {MOST_RUNS}")
        operators = sum(1 for _ in OPERATORS.finditer(words))
        if operators > MOST or len(orders) > MOST_ORDERS:
            found = f"{operators} operators and {len(orders)} orders"
            raise _refused(found, f"at most {MOST} and {MOST_ORDERS}")
        if (named_sets := sum(1 for _ in DATASETS.finditer(words))) > MOST_DATASETS:
            raise _refused(f"{named_sets} operators on data sets", f"at most {MOST_DATASETS}")
        return search(*positional, **named)

    return bounded


def _refused(found: str, expected: str) -> Exception:
    from mlflow.exceptions import MlflowException
    from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE

    return MlflowException(
        f"found {found}, expected {expected}", error_code=INVALID_PARAMETER_VALUE
    )
