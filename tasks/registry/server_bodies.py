"""What a question to MLflow's server may hold, looked at before a login is: form, and values.

MLflow makes an object of each value of a body, or asks its database about it, before it asks
whether there are too many. It reads a text in which JSON stands as well, and other codes than
UTF-8, and forms; and takes each letter of a text for a number of a list. None of its clients sends
such.
"""

import json
import re
from collections.abc import Callable
from functools import wraps
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.server_methods import refusal
from ricochet.tasks.storage import checked_json

FILES = re.compile(r".*/(?:mlflow-artifacts|get-artifact)(?:/.*)?")
"""Whose bodies are no JSON."""
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
"""Of which a megabyte is read for seconds, and takes forty; no page of this server's sends one."""
MOST = {"/search-datasets": 100, "": 20_000}
"""Values of a body by the end of its path: a thousand metrics have five thousand."""
LISTS = ("experiment_ids", "run_ids", "trace_ids")
"""Whose values MLflow asks its database about, one after another."""
ASKED = 106
"""Values of what stands behind the `?` of an address: a page asks about a hundred runs."""
LONGEST, WORDS = 2**14, re.compile(rb"\w+")
"""Characters of a question in GraphQL; one of a megabyte is read for a minute."""
MOST_WORDS, RUN = 600, re.compile(rb"[0-9a-f]{32}")
"""Of it; MLflow asks its database about each experiment that it names, 10 ms each, and each run."""


def bound(application: Any) -> None:
    """Have a Flask application of MLflow's refuse what is not as its clients send it, or endless.

    It must be called before the application is given what asks for a login.
    """
    from mlflow.server.handlers import catch_mlflow_exception

    application.before_request(catch_mlflow_exception(_refuse))
    views = application.view_functions
    for rule in application.url_map.iter_rules():
        if rule.rule.endswith("/graphql"):
            views[rule.endpoint] = catch_mlflow_exception(_short(views[rule.endpoint]))


def _refuse() -> None:
    """Refuse a request of many values, or whose body is no object of JSON in UTF-8."""
    from flask import request

    if (count := request.query_string.count(b"&") + 1) > ASKED:
        raise refusal(f"{count} values in the address", f"at most {ASKED}")
    stated = list(request.args.items(multi=True))
    if len(set(stated)) < len(stated):
        raise refusal("a value twice in the address", "each once")
    if request.mimetype in FORMS:
        raise refusal("a form", "an object of JSON")
    if FILES.fullmatch(request.path) or not (body := request.get_data()).strip():
        return
    most = next(count for end, count in MOST.items() if request.path.rstrip("/").endswith(end))
    try:
        checked_json.check(body, "the body", values=most)
        if not body.lstrip().startswith(b"{") or b"\0" in body:
            raise BadInput("the body", "no object", "an object of JSON in UTF-8")
        found = json.loads(body)
    except BadInput as error:
        raise refusal(f"{error.where} with {error.found}", error.expected) from error
    except (ValueError, RecursionError) as error:
        raise refusal("a body that is no JSON", "an object of it") from error
    for name in LISTS:
        if not isinstance(values := found.get(name, []), list):
            raise refusal(f"{name} that are no list", "a list")
        if len({repr(each) for each in values}) < len(values):
            raise refusal(f"{name} with a value twice", "each once")


def _short(view: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(view)
    def short(*positional: Any, **named: Any) -> Any:
        from flask import request

        asked = request.get_data() + request.query_string
        if len(asked) > LONGEST:
            raise refusal("a question without end", f"at most {LONGEST} characters")
        if (words := sum(1 for _ in WORDS.finditer(asked))) > MOST_WORDS:
            raise refusal(f"{words} words", f"at most {MOST_WORDS}")
        if len(runs := RUN.findall(asked)) > len(set(runs)):
            raise refusal("a run twice", "each once")
        return _answered(view, *positional, **named)

    return short


def _answered(view: Callable[..., Any], *positional: Any, **named: Any) -> Any:
    """Answer a question in GraphQL, or refuse what is none: MLflow fails at it, with a trace."""
    from flask import request
    from graphql import GraphQLError

    found = request.get_json(force=True, silent=True) or {}
    if not isinstance(found.get("query"), str):
        raise refusal("no question", "a body with a `query`")
    if not isinstance(found.get("variables") or {}, dict):
        raise refusal("variables that are no object", "an object of them, or none")
    try:
        return view(*positional, **named)
    except (GraphQLError, RecursionError, UnicodeError) as error:
        raise refusal("a question that cannot be read", "one in GraphQL") from error
