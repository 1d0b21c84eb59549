"""Searches of MLflow's server, of a few conditions each.

Each condition on a number or a tag joins a table, and PostgreSQL plans joins in memory that grows
faster than they do: 300 conditions, which any login may ask for, took 8 GB.
"""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

OPERATORS = re.compile(r"[<>=]+|\b(?:and|or|not|in|is|i?like|between)\b", re.IGNORECASE)
MOST = 40
"""Operators of a filter, also in its texts: twenty conditions and what joins them."""
MOST_ORDERS = 5


def bound(*stores: Any) -> None:
    """Have stores of MLflow's refuse to search by more than a few conditions."""
    for store in stores:
        for name in dir(type(store)):
            found = getattr(store, name)
            if "search" in name and "filter_string" in _parameters(found):
                setattr(store, name, _bounded(found))


def _parameters(found: Any) -> dict[str, Any]:
    return dict(inspect.signature(found).parameters) if callable(found) else {}


def _bounded(search: Callable[..., Any]) -> Callable[..., Any]:
    """Return a search that is refused where it has too many conditions."""
    signature = inspect.signature(search)

    @functools.wraps(search)
    def bounded(*words: Any, **named: Any) -> Any:
        given = signature.bind(*words, **named).arguments
        operators = sum(1 for _ in OPERATORS.finditer(given.get("filter_string") or ""))
        orders = len(given.get("order_by") or ())
        if operators > MOST or orders > MOST_ORDERS:
            raise _refused(f"a filter of {operators} operators and {orders} orders")
        return search(*words, **named)

    return bounded


def _refused(found: str) -> Exception:
    from mlflow.exceptions import MlflowException
    from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE

    expected = f"at most {MOST} and {MOST_ORDERS}"
    return MlflowException(f"{found}, expected {expected}", error_code=INVALID_PARAMETER_VALUE)
