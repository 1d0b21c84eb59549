"""A server of S3's interface, moto's, on a free port of loopback, with a bucket `lab`."""

import contextlib
import sys

import pytest

from tests.servers import free_port, listening

BUCKET = "lab"


def client(address):
    """Return what asks the server."""
    import boto3

    return boto3.client("s3", endpoint_url=address)


@contextlib.contextmanager
def running(folder, monkeypatch):
    """Run the server, its keys in the environment; yields its address, or skips the test."""
    for name in ("moto", "boto3"):
        pytest.importorskip(name, reason=f"{name} is missing")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "keys-of-the-lab")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with listening(command, port, folder / "moto.log"):
        address = f"http://127.0.0.1:{port}"
        client(address).create_bucket(Bucket=BUCKET)
        yield address


def keys(address):
    """Return the names of all that the bucket holds."""
    found = client(address).list_objects_v2(Bucket=BUCKET)
    return [each["Key"] for each in found.get("Contents", ())]
