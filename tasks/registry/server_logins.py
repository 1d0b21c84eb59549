"""The login that a request states, in the one form that is taken.

MLflow takes many: capitals in `Basic`, signs that are no letters of the code, two heads of which
its two readers take one each. What is counted or refused by its login must have one form alone.
"""

import base64
import os
import re
from collections.abc import Iterable
from contextvars import ContextVar

LOGIN = re.compile(rb"Basic ((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?)")
ASKING, ADMIN = "MLFLOW_AUTH_CONFIG_PATH", "MLFLOW_AUTH_ADMIN_USERNAME"
"""Variables of the environment: whether anybody is asked for a login, and the administrator's."""
ASKER: ContextVar[bytes | None] = ContextVar("asker", default=None)
"""Name and password of the request that is answered here; None where it is the server's own."""


def account() -> str | None:
    """Return which account asks; None for the administrator, and where nobody is asked."""
    login = ASKER.get()
    if login is None or ASKING not in os.environ:
        return None
    name = login.partition(b":")[0].decode("latin-1")
    return None if name == os.environ.get(ADMIN) else name


def stated(headers: Iterable[tuple[bytes, bytes]]) -> bytes | None:
    """Return name and password as `name:password`, empty where there is none.

    None where it has another form, or there are several. Where nobody is asked, all are nobody.

    >>> os.environ[ASKING] = "somewhere"
    >>> stated([(b"authorization", b"Basic YTpi")])
    b'a:b'
    >>> stated([(b"authorization", b"basic YTpi")]) is None
    True
    >>> del os.environ[ASKING]
    """
    found = [value for name, value in headers if name.lower() == b"authorization"]
    if not found or ASKING not in os.environ:
        return b""
    login = LOGIN.fullmatch(found[0])
    return None if len(found) > 1 or login is None else base64.b64decode(login[1] + b"==")


def stated_name(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the name of the login that is stated, empty where there is none, or no such form."""
    return (stated(headers) or b"").partition(b":")[0]
