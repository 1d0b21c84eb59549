"""How files of MLflow's server are named: by their experiment's number, and as a backup can."""

import re
import urllib.parse
from collections.abc import MutableMapping
from typing import Any

PLACES = re.compile(r"/(?:ajax-)?api/2\.0/mlflow-artifacts/artifacts(?:/(.*))?", re.DOTALL)
OF_RUN = re.compile(r"[0-9]+(?:/(?!\.{1,2}(?:/|\Z))[^/]+)*/?")
"""A file of an experiment, by its number: of `./3/..` MLflow finds no experiment, and shows it to
whoever is denied the third."""
LONGEST = 900
"""Characters of what a request that changes something names; one that reads may have four times."""
DECODED = 10
"""Times that a name is decoded; MLflow gives up after as many."""


def is_of_run(scope: MutableMapping[str, Any]) -> bool:
    """Tell whether a request for a file by its place, if it is one, names an experiment's."""
    if (found := PLACES.fullmatch(scope["path"])) is None:
        return True
    asked = scope.get("query_string", b"").decode("latin-1")
    if len(scope["path"]) + len(asked) > 4 * LONGEST:  # before it is decoded ten times
        return False
    named = [found[1]] * bool(found[1]) + urllib.parse.parse_qs(asked).get("path", [])
    return bool(named) and all(OF_RUN.fullmatch(each) for name in named for each in decoded(name))


def is_plain(scope: MutableMapping[str, Any]) -> bool:
    """Tell whether a file that a request names can be shown, listed and kept in a backup."""
    texts = (scope["path"], scope.get("query_string", b"").decode("latin-1"))
    if max(map(len, texts)) > LONGEST:
        return False
    return all(each.isprintable() for text in texts for each in decoded(text))


def decoded(text: str) -> list[str]:
    """Return a text as it is and decoded: MLflow takes a name that is coded more than once.

    >>> decoded("a%252Fb")[:3]
    ['a%252Fb', 'a%2Fb', 'a/b']
    """
    found = [text]
    for _ in range(DECODED):
        found.append(urllib.parse.unquote(found[-1]))
    return found
