"""Lists of MLflow's server, made for an account of what it may read, page by page.

MLflow takes what an account may not read out of a page that is made, and leaves the place of the
next page as it was. Whether one followed, and where, was the count of hidden rows that a filter
fits: their names and tags could be read from it letter by letter. Here pages are made of what may
be read alone, and a place counts nothing else, so that what is hidden might as well not be there.
"""

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from ricochet.tasks.registry.server_methods import refusal

Predicate = Callable[[Any], bool]
"""Tells whether a row may be read."""
ASKED = re.compile(r".*/(?:experiments|registered-models|model-versions)/search/?|/graphql/?")
"""What is asked for lists. What else the server looks up for an account it looks up in all."""
FEWEST, MOST = 100, 1000
"""Rows that are read at once."""
LATEST = 10**9
"""Latest row at which a page may begin."""


def bound(runs: Any, models: Any) -> None:
    """Have searches of MLflow's stores give an account what it may read."""
    from mlflow.server import auth

    def of_experiments(name: str) -> Predicate:
        may_read = auth._role_based_read_predicate(name, "experiment")
        return lambda experiment: may_read(experiment.experiment_id)

    for store, search, reading in (
        (runs, "search_experiments", of_experiments),
        (models, "search_registered_models", auth._rm_or_prompt_read_predicate),
        (models, "search_model_versions", auth._rm_or_prompt_version_read_predicate),
    ):
        asker = functools.partial(_of_asker, reading)
        setattr(store, search, readable(getattr(store, search), asker))


def readable(search: Callable[..., Any], asker: Callable[[], Predicate | None]) -> Any:
    """Return a search of a store's that gives pages of what may be read.

    Args:
        search: Of MLflow's: a page is at most `max_results` rows from `page_token` on.
        asker: Returns what tells whether the account that asks may read a row; None where it may
            read all.
    """
    signature = inspect.signature(search)

    @functools.wraps(search)
    def searching(*positional: Any, **named: Any) -> Any:
        may_read = asker()
        if may_read is None:
            return search(*positional, **named)
        call = signature.bind(*positional, **named)
        call.apply_defaults()
        return _page(search, call.arguments, may_read)

    return searching


def _of_asker(reading: Callable[[str], Predicate]) -> Predicate | None:
    from flask import has_request_context, request
    from mlflow.server import auth

    if not has_request_context() or not ASKED.fullmatch(request.path) or auth.sender_is_admin():
        return None
    asker: Any = auth.authenticate_request()  # it was asked before
    return reading(asker.username)


def _page(search: Callable[..., Any], given: dict[str, Any], may_read: Predicate) -> Any:
    from mlflow.store.entities import PagedList
    from mlflow.utils.search_utils import SearchUtils

    begin, most = _begin(given["page_token"]), given["max_results"]
    rows = filter(may_read, _rows(search, given, min(MOST, max(FEWEST, begin + most + 1))))
    found = list(islice(rows, begin, begin + most + 1))
    follows = len(found) > most
    return PagedList(found[:most], SearchUtils.create_page_token(begin + most) if follows else None)


def _begin(token: Any) -> int:
    """Return how many rows a client has had."""
    from mlflow.utils.search_utils import SearchUtils

    try:
        begin = SearchUtils.parse_start_offset_from_page_token(token)
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise refusal("a token of another kind", "the one of the page before") from error
    if not 0 <= begin <= LATEST:
        raise refusal(f"a token of row {begin}", "the one of the page before")
    return int(begin)


def _rows(search: Callable[..., Any], given: dict[str, Any], size: int) -> Iterator[Any]:
    """Yield all that a search finds, from its begin."""
    page = search(**given | {"max_results": size, "page_token": None})
    yield from page
    while page.token:
        page = search(**given | {"max_results": MOST, "page_token": page.token})
        yield from page
