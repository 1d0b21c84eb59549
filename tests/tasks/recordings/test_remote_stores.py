"""Sessions go to a real OpenSSH server and to a server of S3's interface, and come back."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ricochet.tasks.recordings import dvc_publish
from tests import s3
from tests.servers import free_port, listening
from tests.tasks.recordings import small_disk
from tests.tasks.recordings.test_dvc_publish import dvc, make

SSHD = next((p for p in ("/usr/sbin/sshd", shutil.which("sshd")) if p and Path(p).exists()), None)
LARGE = bytes(2**21)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository of one session without any remote, and a home folder of the test's own."""
    home, root = tmp_path / "home", tmp_path / "checkout"
    (home / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    dvc(root, "init", "-q")
    make(root / "data" / "first", 1)
    dvc(root, "add", "-q", "data")
    return root


@contextlib.contextmanager
def ssh_server(folder):
    """Run OpenSSH's server with keys of its own; yields its port."""
    if SSHD is None:
        pytest.skip("no OpenSSH server on this machine (apt-get install openssh-server)")
    pytest.importorskip("dvc_ssh", reason="dvc-ssh is missing")
    folder.mkdir(mode=0o700)
    Path("/run/sshd").mkdir(exist_ok=True) if os.geteuid() == 0 else None
    for name in ("host", "user", "stranger"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(words, check=True)
    shutil.copy(folder / "user.pub", folder / "authorized")
    port = free_port()
    stated = {"Port": port, "ListenAddress": "127.0.0.1", "HostKey": folder / "host"}
    stated |= {"AuthorizedKeysFile": folder / "authorized", "PidFile": "none", "UsePAM": "no"}
    stated |= {"StrictModes": "no", "PasswordAuthentication": "no", "PermitRootLogin": "yes"}
    stated |= {"Subsystem": "sftp internal-sftp"}
    lines = [f"{key} {value}\n" for key, value in stated.items()]
    (folder / "config").write_text("".join(lines))
    with listening([SSHD, "-D", "-e", "-f", str(folder / "config")], port, folder / "log"):
        yield port


def trust(folder, port, key):
    """Write the key of a host where `ssh` looks for it."""
    known = Path(os.environ["HOME"]) / ".ssh" / "known_hosts"
    kind, text, *_ = (folder / f"{key}.pub").read_text().split()
    known.write_text(f"[127.0.0.1]:{port} {kind} {text}\n")


@pytest.mark.slow
def test_a_session_goes_to_an_ssh_server_that_is_known_and_to_no_other(repository, tmp_path):
    folder = tmp_path / "ssh"
    with ssh_server(folder) as port:
        user = subprocess.run(["id", "-un"], capture_output=True, text=True).stdout.strip()
        address = f"ssh://{user}@127.0.0.1:{port}{tmp_path}/store"
        dvc(repository, "remote", "add", "-q", "lab", address)
        dvc(repository, "remote", "modify", "-q", "--local", "lab", "keyfile", str(folder / "user"))
        session = make(tmp_path / "a", 2)
        trust(folder, port, "stranger")
        with pytest.raises(dvc_publish.PublicationError, match=r"(?i)host key"):
            dvc_publish.publish(session, remote="lab", root=repository)
        assert not (tmp_path / "store").exists()
        trust(folder, port, "host")
        published(repository, session)
        for name in ("*.dir", "*[0-9a-f]"):
            exchanged_for_a_pipe(repository, tmp_path / "store", name)
        sound = next(each for each in (tmp_path / "store").rglob("*[0-9a-f]") if each.is_file())
        sound.chmod(0o644)
        sound.write_bytes(LARGE)
        ended_on_disks_without_room(repository)


def exchanged_for_a_pipe(repository, store, name):
    """Put a pipe in place of a file of a store, see that it is refused, and put the file back."""
    file = next(each for each in store.rglob(name) if each.is_file())
    kept = file.with_name(f"{file.name}.kept")
    file.rename(kept)
    os.mkfifo(file)
    shutil.rmtree(repository / "data")
    shutil.rmtree(repository / ".dvc" / "cache")
    with pytest.raises(dvc_publish.PublicationError, match="found no regular file"):
        dvc_publish.pull(repository)
    kept.rename(file)
    dvc_publish.pull(repository)


def ended_on_disks_without_room(repository):
    """Fetch a large file without room, and one with room that others fill as it is written."""
    assert left_of(repository, room=len(LARGE) // 2, fills=1) > 0
    assert left_of(repository, room=3 * len(LARGE) // 2, fills=2) < len(LARGE)


def left_of(repository, *, room, fills):
    """Fetch, see that nothing is left of a large file, and return what was of the room."""
    shutil.rmtree(repository / "data", ignore_errors=True)
    shutil.rmtree(repository / ".dvc" / "cache")
    said, least = small_disk.refused(repository, "-r", "lab", room=room, fills=fills)
    assert f"found {len(LARGE)} bytes" in said
    assert all(each.stat().st_size < len(LARGE) // 2 for each in small_disk.fetched(repository))
    return least


def published(repository, session):
    """Publish a session, lose what is at hand, and fetch it back."""
    dvc_publish.publish(session, remote="lab", root=repository)
    before = dvc_publish.manifest(repository / "data" / session.name)
    shutil.rmtree(repository / "data")
    shutil.rmtree(repository / ".dvc" / "cache")
    dvc_publish.pull(repository)
    assert dvc_publish.manifest(repository / "data" / session.name) == before


@pytest.mark.proof
def test_a_session_goes_to_an_s3_server(repository, tmp_path, monkeypatch):
    pytest.importorskip("dvc_s3", reason="dvc-s3 is missing")
    with s3.running(tmp_path, monkeypatch) as address:
        dvc(repository, "remote", "add", "-q", "lab", "s3://lab/recordings")
        dvc(repository, "remote", "modify", "-q", "lab", "endpointurl", address)
        published(repository, make(tmp_path / "a", 2))
        key = next(each for each in s3.keys(address) if not each.endswith(".dir"))
        s3.client(address).put_object(Bucket=s3.BUCKET, Key=key, Body=LARGE)
        ended_on_disks_without_room(repository)
