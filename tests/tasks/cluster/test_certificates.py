"""Certificates of a cluster are made once, for their owner alone, and checked before use."""

import ssl
import stat

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.cluster import certificates, credentials


def test_only_the_owner_reads_them_and_they_are_not_made_twice(tmp_path) -> None:
    folder = tmp_path / "below" / "cluster"
    certificates.make(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(BadInput, match="stay as they are"):
        certificates.make(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_authority_signed_the_certificate_and_nothing_holds_its_key(tmp_path) -> None:
    certificates.make(tmp_path / "c")
    folder = tmp_path / "c"
    context = ssl.create_default_context(cafile=folder / certificates.AUTHORITY)
    context.load_cert_chain(folder / certificates.CERTIFICATE, folder / certificates.KEY)
    with pytest.raises(ssl.SSLError, match="KEY_VALUES_MISMATCH"):
        context.load_cert_chain(folder / certificates.AUTHORITY, folder / certificates.KEY)


@pytest.mark.parametrize("name", [certificates.AUTHORITY, certificates.KEY])
def test_a_missing_file_is_named(tmp_path, name) -> None:
    certificates.make(tmp_path / "c")
    (tmp_path / "c" / name).unlink()
    with pytest.raises(BadInput, match=name):
        certificates.check(tmp_path / "c")


@pytest.mark.parametrize("name", ["", certificates.AUTHORITY])
def test_where_others_may_write_is_refused(tmp_path, name) -> None:
    certificates.make(tmp_path / "c")
    (tmp_path / "c" / name).chmod(0o722 if name == "" else 0o620)
    with pytest.raises(BadInput, match="others may write"):
        certificates.check(tmp_path / "c")


def test_a_way_that_others_may_rename_is_refused(tmp_path) -> None:
    way = tmp_path / "way"
    certificates.make(way / "c")
    (tmp_path / "link").symlink_to(way / "c")
    way.chmod(0o777)
    for folder in (way / "c", tmp_path / "link"):
        with pytest.raises(BadInput, match="all may rename"):
            certificates.check(folder)


def test_a_key_that_others_may_read_is_refused(tmp_path) -> None:
    certificates.make(tmp_path / "c")
    certificates.check(tmp_path / "c")
    (tmp_path / "c" / certificates.KEY).chmod(0o640)
    with pytest.raises(BadInput, match="others may read"):
        certificates.check(tmp_path / "c")


@pytest.mark.parametrize(
    "address",
    ["tcp://127.0.0.1:8786", "127.0.0.1:8786", "tls://", "tls://a", "tls://a:b", "ws://a:1",
     "inproc://x/1", "tls://u:p@a:1", "tls://a:1/x", "TLS://127.0.0.1:8786"],
)  # fmt: skip
def test_an_address_that_is_not_encrypted_or_none_is_refused(address) -> None:
    with pytest.raises(BadInput, match=r"tls://HOST:PORT"):
        credentials.check_address(address, "compute.address")
    credentials.check_address("tls://127.0.0.1:8786", "compute.address")
