"""Encrypted connections of a cluster: both ends must hold the cluster's certificate."""

import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.cluster import certificates, handshakes

EXPECTED = "tls://HOST:PORT: whoever reaches an open port would run code there"


def check_address(address: str, where: str) -> None:
    """Refuse what is no address of an encrypted connection, `BadInput`."""
    try:
        found = urlsplit(address)
        whole = found.scheme == "tls" and found.hostname and found.port
    except ValueError:
        whole = False
    if not whole or found.path or found.query or "@" in address or not address.startswith("tls://"):
        raise BadInput(where, repr(address), EXPECTED)


def load_dask(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Import Dask with some settings and without its log, which it begins on import.

    Raises:
        BadInput: If it is not installed.
    """
    try:
        import dask

        dask.config.set({"logging": {"distributed": "critical"}, **settings})
        import distributed
    except ModuleNotFoundError as error:
        expected = 'the extra `dask`: pip install "ricochet-lab[dask]"'
        raise BadInput("a cluster", f"no package {error.name}", expected) from error
    handshakes.bound()
    for name in [*logging.root.manager.loggerDict, "asyncio"]:
        if name.partition(".")[0] in (distributed.__name__, "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    return dict(dask.config.config)


def security(stated: str) -> Any:
    """Return Dask's `Security` of the certificates in a folder, or in the usual one; `BadInput`."""
    import ssl

    from distributed import Security

    folder = certificates.folder_of(stated)
    certificates.check(folder)
    own, key = str(folder / certificates.CERTIFICATE), str(folder / certificates.KEY)
    roles = ("client", "scheduler", "worker")
    try:
        ssl.create_default_context().load_cert_chain(own, key)
    except (ssl.SSLError, OSError) as error:
        raise BadInput(
            str(folder), "a certificate that cannot be used", certificates.MAKE
        ) from error
    return Security(
        require_encryption=True,
        tls_ca_file=str(folder / certificates.AUTHORITY),
        tls_min_version=ssl.TLSVersion.TLSv1_3,
        **{f"tls_{role}_cert": own for role in roles},
        **{f"tls_{role}_key": key for role in roles},
    )
