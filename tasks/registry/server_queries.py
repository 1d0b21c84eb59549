"""Questions of MLflow's server to its database, of which none takes long.

A search of texts in all that runs say takes minutes where somebody has written much, and as long
it holds one of the few places that all logins have together.
"""

import time
from typing import Any

from ricochet.tasks.registry.server_methods import refusal

LONGEST = {"postgresql": 10.0, "sqlite": 3.0}
"""Seconds of a question, after which it is given up; in SQLite it keeps those from writing who wait
for 20 s at the most, and processor time is counted, so that a busy machine refuses nobody."""
STEPS = 200
"""Of SQLite, between two looks at the clock: each may compare a text of some thousand letters."""

CANCELLED = "57014"
"""PostgreSQL's code of a statement that was given up."""


def bound(*stores: Any, longest: float | None = None) -> None:
    """Have databases of stores give up questions that take long, once they are migrated."""
    from sqlalchemy import event

    for engine in {store.engine for store in stores}:
        event.listen(engine, "handle_error", _refuse, retval=True)
        seconds = LONGEST[engine.dialect.name] if longest is None else longest
        if engine.dialect.name == "sqlite":
            _bound_sqlite(engine, seconds)
        else:
            words = f"SET statement_timeout = {round(seconds * 1e3)}"
            event.listen(engine, "connect", lambda made, _, words=words: _say(made, words))
        engine.dispose()  # connections that were made before


def _refuse(context: Any) -> Exception | None:
    """Have what was given up be refused: MLflow's client asks again where a server is busy.

    What a database says of texts or numbers that it does not take may quote what is not to be read.
    """
    from sqlalchemy.exc import DataError

    error = context.original_exception
    if str(error) == "interrupted" or getattr(error, "pgcode", None) == CANCELLED:
        return refusal("a question that takes long", "one of fewer texts or runs")
    asked = str(context.statement).lstrip().upper().startswith(("SELECT", "WITH"))
    if asked and isinstance(context.sqlalchemy_exception, DataError):
        return refusal("a question that the database does not take", "other texts or numbers")
    return None


def _say(made: Any, words: str) -> None:
    """Set what no transaction takes back."""
    made.autocommit = True
    with made.cursor() as cursor:
        cursor.execute(words)
    made.autocommit = False


def _bound_sqlite(engine: Any, longest: float) -> None:
    from sqlalchemy import event

    def watch(made: Any, record: Any) -> None:
        made.set_progress_handler(lambda: time.thread_time() > record.info["end"], STEPS)
        record.info["end"] = float("inf")

    def begin(connection: Any, *_: Any) -> None:
        connection.connection.info["end"] = time.thread_time() + longest

    event.listen(engine, "connect", watch)

    def end(_: Any, record: Any) -> None:
        record.info["end"] = float("inf")

    event.listen(engine, "before_cursor_execute", begin)
    event.listen(engine, "checkin", end)
