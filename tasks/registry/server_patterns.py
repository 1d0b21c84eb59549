"""Patterns that MLflow's server seeks in names, tags and notes: short ones, whole escapes.

PostgreSQL compares a text for as many times as a pattern has letters, and one that ends in half an
escape is an error to it where some row fits as far as there, one that may not be read too: hidden
names were read by it letter by letter. Both are refused before a database is asked, where MLflow
makes its question of a filter, so that it does not matter how a filter is read.
"""

import re
from collections.abc import Callable
from typing import Any

from ricochet.tasks.registry.server_methods import refusal

LONGEST = 100
"""Characters of a pattern."""
HALF = re.compile(r"(?<!\\)(?:\\\\)*\\\Z")
"""The end of a pattern that leaves a backslash without what it escapes."""

Compare = Callable[[Any, Any], Any]


def bound() -> None:
    """Have MLflow make no question of a pattern that is refused."""
    from mlflow.utils import search_utils

    utils: Any = search_utils.SearchUtils
    make = utils.get_sql_comparison_func
    if hasattr(make, "bounded"):
        return

    def bounded(comparator: str, dialect: str) -> Compare:
        compare = make(comparator, dialect)
        return _of_patterns(compare) if comparator.upper().endswith("LIKE") else compare

    bounded.bounded = True  # type: ignore[attr-defined]
    utils.get_sql_comparison_func = staticmethod(bounded)


def _of_patterns(compare: Compare) -> Compare:
    def compared(column: Any, pattern: Any) -> Any:
        _refuse(str(pattern))
        return compare(column, pattern)

    return compared


def _refuse(pattern: str) -> None:
    if len(pattern) > LONGEST:
        raise refusal("a long text after LIKE", f"at most {LONGEST} characters")
    if HALF.search(pattern):
        raise refusal("a pattern that ends in half an escape", "two backslashes for one")
