"""DVC's remotes over http, which are sent their own login alone, and send it nowhere else.

What answers at a remote's address may lead on to another one. DVC goes there with the remote's
login, and with what `~/.netrc` has for the other, in plain http too.
"""

import importlib.util
import os
from typing import Any

from ricochet.tasks.recordings.dvc_repository import refusal

LOGINS = {"auth", "headers"}
"""What DVC gives its client where a remote has a login."""


def verify_web() -> None:
    """Have DVC read no `~/.netrc`, and follow no way to another server with a login."""
    os.environ["NETRC"] = os.devnull
    if importlib.util.find_spec("dvc_http") is None:
        return
    from dvc_http import HTTPFileSystem

    connect = HTTPFileSystem.get_client

    async def connected(self: Any, *arguments: Any, **config: Any) -> Any:
        client = await connect(self, *arguments, **config)
        if LOGINS & {name for name, value in config.items() if value}:
            client._client.trace_configs.append(_at_home())
        return client

    HTTPFileSystem.get_client = connected


def _at_home() -> Any:
    """Return what looks at each redirection before it is followed."""
    import aiohttp
    from yarl import URL  # whose reading of an address is aiohttp's

    async def look(session: Any, context: Any, redirected: Any) -> None:
        heads = redirected.response.headers
        here, named = redirected.url, heads.get("Location") or heads.get("URI") or ""
        if here.join(URL(named)).origin() != here.origin():
            raise refusal(here, f"a way to {named[:100]!r}", "an answer, as there is a login")

    found = aiohttp.TraceConfig()
    found.on_request_redirect.append(look)
    found.freeze()
    return found
