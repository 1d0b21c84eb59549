"""Whether a login may be sent to an address: over https, or to this machine.

Over plain http everybody on the way reads it, and may answer in the server's place; a proxy is on
the way to this machine too, if one is set for http.
"""

import urllib.parse
from collections.abc import Mapping, MutableMapping

from ricochet.models.core.bad_input import BadInput

LOOPBACK = ("127.0.0.1", "localhost", "::1")
TRACKING = ("MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN")
"""Variables of what MLflow's client sends."""
ORCHESTRATION = ("PREFECT_API_AUTH_STRING", "PREFECT_API_KEY")
"""Variables of what Prefect's client sends."""

DIRECT = ("no_proxy", "NO_PROXY")
"""Variables of the hosts that are asked without a proxy."""


def go_directly(environment: MutableMapping[str, str]) -> None:
    """Have this machine asked without a proxy, beside the hosts that are already.

    >>> found = {"NO_PROXY": "nas.example"}
    >>> go_directly(found)
    >>> found["no_proxy"] == found["NO_PROXY"] == "nas.example,127.0.0.1,localhost,::1"
    True
    """
    known = [part for name in DIRECT for part in environment.get(name, "").split(",")]
    hosts = dict.fromkeys(part.strip() for part in (*known, *LOOPBACK) if part.strip())
    for name in DIRECT:
        environment[name] = ",".join(hosts)


def check(where: str, address: str, *, sent: bool) -> None:
    """Refuse with BadInput a login over plain http to another machine.

    Args:
        where: What holds the address.
        sent: Whether there is a login; one in the address, which lines show, is refused.
    """
    try:
        parts = urllib.parse.urlsplit(address)
        plain = parts.scheme == "http" and parts.hostname not in LOOPBACK
        named = parts.username is not None or parts.password is not None
    except ValueError as error:
        raise BadInput(where, "no address", "https://HOST") from error
    if named and parts.scheme in ("http", "https"):
        raise BadInput(where, "a login in the address", "it in variables of its own")
    if plain and sent:
        expected = "https://, or http:// to 127.0.0.1, where `ssh -L` may end"
        raise BadInput(where, f"plain http to {parts.hostname}", expected)


def check_variable(name: str, logins: tuple[str, ...], environment: Mapping[str, str]) -> None:
    """Check the address in a variable, if there is one; the logins are variables as well."""
    if address := environment.get(name):
        check(name, address, sent=any(environment.get(each) for each in logins))
