"""The certificate by which the processes of a cluster know each other.

One authority signs one certificate, which every scheduler, worker and client of the cluster holds;
the authority's own key is forgotten, so that no other certificate can ever be signed. Who has the
folder belongs to the cluster and may run code on all of it: it is a secret.
"""

import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage.provenance import artifacts

AUTHORITY, CERTIFICATE, KEY = "authority.pem", "certificate.pem", "key.pem"
VALID = timedelta(days=3650)
MAKE = "those that `ricochet cluster certificates` makes"


def folder_of(stated: str) -> Path:
    """Return the folder that a setting names; the usual one where it names none."""
    return Path(stated).expanduser() if stated else artifacts() / "cluster"


def make(folder: Path) -> None:
    """Make a certificate and its authority in a new folder of the user alone.

    Raises:
        BadInput: If the folder is there.
    """
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError as error:
        raise BadInput(
            str(folder), "a folder or file", "none: certificates stay as they are"
        ) from error
    for name, content in _made().items():
        with open(
            os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
        ) as file:
            file.write(content)


def check(folder: Path) -> None:
    """Refuse a folder that lacks a file, whose key others may read, or where others may write.

    Whoever may write there, or above, can put an authority of their own in its place; `BadInput`.
    """
    from ricochet.tasks.storage import secret_files  # with numpy, for which no help waits

    for place in (folder.absolute(), folder.resolve()):
        secret_files.refuse_shared_way(place)
    for name in (AUTHORITY, CERTIFICATE, KEY):
        if not (folder / name).is_file():
            raise BadInput(str(folder / name), "no such file", MAKE)
    for path in (folder, folder / AUTHORITY, folder / CERTIFICATE, folder / KEY):
        found = path.stat()
        if found.st_uid != os.geteuid():
            raise BadInput(str(path), "a file of another user", "one of yours")
        if stat.S_IMODE(found.st_mode) & 0o022:
            raise BadInput(str(path), "a place where others may write", f"chmod go-w {path}")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise BadInput(str(folder / KEY), "a key that others may read", f"chmod 600 {folder / KEY}")


def _made() -> dict[str, bytes]:
    """Return the content of the three files."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    own, authority = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    names = [
        x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"ricochet {word}")])
        for word in ("authority", "cluster")
    ]
    now = datetime.now(UTC)

    def signed(number: int, public: ec.EllipticCurvePublicKey) -> bytes:
        built = (
            x509.CertificateBuilder()
            .subject_name(names[number])
            .issuer_name(names[0])
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + VALID)
            .add_extension(x509.BasicConstraints(number == 0, 0 if number == 0 else None), True)
            .sign(authority, hashes.SHA256())
        )
        return built.public_bytes(serialization.Encoding.PEM)

    private = own.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return {
        AUTHORITY: signed(0, authority.public_key()),
        CERTIFICATE: signed(1, own.public_key()),
        KEY: private,
    }
