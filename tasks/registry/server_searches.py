"""Searches of MLflow's server, of a few conditions each, and of few entries a page.

Each condition on a number or a tag joins a table, and PostgreSQL plans joins in memory that grows
faster than they do: 300 conditions, which any login may ask for, took 8 GB. The server itself reads
a text of megabytes for seconds, and in gigabytes. A page of runs is made in threefold the memory of
what it says, and a metric has as many steps as somebody likes.

Patterns after LIKE are looked at as MLflow makes questions of them (`server_patterns`).
"""

import inspect
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from ricochet.tasks.registry.server_methods import checked, refusal

OPERATORS = re.compile(r"[<>=]+|\b(?:and|or|not|in|is|[ir]?like|between)\b", re.IGNORECASE)
DATASETS = re.compile(r"\bdatasets?[`\"]?\s*\.", re.IGNORECASE)
MOST, MOST_DATASETS = 40, 2
"""Operators of a filter, also in its texts: twenty conditions and what joins them; and conditions
on a run's data sets, of which each has all."""
MOST_ORDERS, LONGEST_ORDER = 5, 500
"""Orders, and characters of each."""
LONGEST, MOST_WORDS = 2**15, 4000
"""Characters of a filter, the ids of eight hundred runs, and of what stands outside of its texts:
each sign there may be a word of its own, which takes the server much longer to read than a text."""
TEXTS = re.compile(r"""'(?:''|\\'|[^'])*'|"(?:""|\\"|[^"])*"|`(?:``|[^`])*`""")
ASIDE = re.compile(rf"{TEXTS.pattern}|(/\*|--|#\s|[\[\]$\xb4]|\btime\s+zone\b)", re.IGNORECASE)
"""Texts, or else what `sqlparse` takes for the begin of a comment or of a text of another kind: in
those a quote is none, or a backslash escapes none, so that texts would seem to be elsewhere."""
MOST_SEMICOLONS = 20
"""Of a filter, also in its texts."""
LONGEST_TEXT = 1000
"""Of a filter, as `sqlparse` has them, and characters of each."""
MOST_STEPS = 25_000
PAGES = {
    "_search_runs": 50,
    "search_experiments": 1000,
    "search_registered_models": 1000,
    "search_model_versions": 1000,
    "get_metric_history": MOST_STEPS,
    "get_metric_history_bulk": MOST_STEPS,
    "get_metric_history_bulk_interval": 2500,
}
"""Most entries of a page by what is asked: runs, versions and what they belong to, with all that
they say, and steps."""
LISTS = {"experiment_ids": 1000, "order_by": MOST_ORDERS, "datasets": 20, "run_ids": 100}
"""Entries of what else a search takes."""
BOUNDED = {"filter_string", *LISTS}
LONGEST_TOKEN = 2**17
"""Characters of what MLflow names a page by, the ids of experiments among it."""


def bound(*stores: Any) -> None:
    """Have stores of MLflow's refuse to search by more than a few conditions."""
    for store in stores:
        for name in dir(type(store)):
            found = getattr(store, name)
            if "search" in name and BOUNDED & _parameters(found).keys():
                checked(store, name, _refuse_many)
        for name in PAGES:
            if hasattr(store, name):
                checked(store, name, partial(_page, name))


def bound_reading() -> None:
    """Have `sqlparse` read no filter that is refused: MLflow reads some to ask who may search."""
    import sqlparse

    module: Any = sqlparse
    parse = module.parse
    if hasattr(parse, "bounded"):
        return

    def bounded(words: Any, *positional: Any, **named: Any) -> Any:
        _refuse_filter(str(words))
        return parse(words, *positional, **named)

    bounded.bounded = True  # type: ignore[attr-defined]
    module.parse = bounded


def _parameters(found: Any) -> dict[str, Any]:
    return dict(inspect.signature(found).parameters) if callable(found) else {}


def _refuse_many(given: dict[str, Any]) -> None:
    _refuse_lists(given)
    _refuse_filter(given.get("filter_string") or "")


def _page(name: str, given: dict[str, Any]) -> None:
    """Have the client ask for the next page by a token; of several runs each has its share."""
    _refuse_lists(given)
    asked, most = given.get("max_results"), PAGES[name]
    if name == "get_metric_history_bulk_interval":
        most = min(most, MOST_STEPS // max(1, len(given["run_ids"])))
    given["max_results"] = most if asked is None or asked < 1 else min(asked, most)


def _refuse_lists(given: Mapping[str, Any]) -> None:
    for name, most in LISTS.items():
        if len(found := given.get(name) or ()) > most:
            raise refusal(f"{len(found)} entries of {name}", f"at most {most}")
        if name == "run_ids" and len(set(found)) < len(found):
            raise refusal("a run twice", "each once")
    for order in given.get("order_by") or ():
        _refuse_order(order)
    if len(str(given.get("page_token") or "")) > LONGEST_TOKEN:
        raise refusal("a token without end", f"at most {LONGEST_TOKEN} characters")


def _refuse_order(order: str | Mapping[str, Any]) -> None:
    """Look at an order; one of logged models has a text a field, none of which is read as words."""
    texts = [order] if isinstance(order, str) else map(str, order.values())
    if any(len(text) > LONGEST_ORDER for text in texts):
        raise refusal("an order without end", f"at most {LONGEST_ORDER} characters")
    if isinstance(order, str):
        _words(order)


def _refuse_filter(words: str) -> None:
    if len(words) > LONGEST:
        raise refusal("a filter without end", f"at most {LONGEST} characters")
    if words.count(";") > MOST_SEMICOLONS:
        raise refusal("semicolons without end", f"at most {MOST_SEMICOLONS} in texts")
    if odd := next((found[1] for found in ASIDE.finditer(words) if found[1]), ""):
        raise refusal(f"{odd!r} outside of texts", "conditions alone")
    if max(map(len, TEXTS.findall(words)), default=0) > LONGEST_TEXT:
        raise refusal("a text without end", f"at most {LONGEST_TEXT} characters")
    if len(_words(words)) > MOST_WORDS:
        raise refusal("a filter of words without end", f"at most {MOST_WORDS} letters of them")
    operators = sum(1 for _ in OPERATORS.finditer(words))
    if operators > MOST:
        raise refusal(f"{operators} operators", f"at most {MOST}")
    if (sets := sum(1 for _ in DATASETS.finditer(words))) > MOST_DATASETS:
        raise refusal(f"{sets} operators on data sets", f"at most {MOST_DATASETS}")


def _words(words: str) -> str:
    """Return what stands outside of texts; whatever has several parts is read for long."""
    found = TEXTS.sub("", words)
    if ";" in found:
        raise refusal("a semicolon", "one condition")
    return found
