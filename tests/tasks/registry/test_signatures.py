"""Where a key is set, what is unsigned, foreign or malformed is refused and the last stays."""

import json
import shutil
import subprocess
import time

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages, runs, signatures, versions
from ricochet.tasks.registry.champion import DAY, Champion, NoPosteriorError
from ricochet.tasks.registry.sources import Folder, Server
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from tests import grid_packages
from tests.tasks.registry.registry_server import Registry, serving

NAME = "ping-pong-table"
ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")


def new_key(folder, name):
    """Write a private half as openssl does; return its file and the public half."""
    from cryptography.hazmat.primitives import serialization

    key, path = ed25519.Ed25519PrivateKey.generate(), folder / f"{name}.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    path.chmod(0o600)
    return path, key.public_key().public_bytes_raw()


@pytest.fixture
def ours(tmp_path):
    return new_key(tmp_path, "ours")


@pytest.fixture
def written(tmp_path):
    place = tmp_path / "shelf" / NAME
    packages.write_package(place, grid_packages.narrow(NAME), reader=GRID)
    return place


def put(folder, content):
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / GRID.signature).write_text(text)


def hold(source, tmp_path, key, said=None):
    report_line = (lambda line: None) if said is None else said.append
    return Champion(
        NAME, source, tmp_path / "kept", kind=POSTERIOR, oldest=30 * DAY,
        report_line=report_line, key=key,
    )  # fmt: skip


def test_what_was_signed_is_accepted_and_dated_by_its_signature(tmp_path, written, ours):
    private, public = ours
    then = time.time() - 3 * DAY
    put(written, signatures.sign(written, GRID, private, now=then))
    held = hold(Folder(written.parent), tmp_path, public)
    assert held.refresh()
    assert held.current().registered == int(then)
    again = hold(Folder(tmp_path / "gone"), tmp_path, public)  # the kept one is verified as well
    assert again.current().registered == int(then)
    assert packages.read_package(written, reader=GRID, name=NAME).name == NAME


def test_a_server_makes_no_old_package_look_fresh(tmp_path, written, ours):
    private, public = ours
    put(written, signatures.sign(written, GRID, private, now=time.time() - 40 * DAY))
    with serving(Registry(("1", written), registered=time.time())) as address:
        held = hold(Server(address), tmp_path, public)
        assert held.refresh()
        with pytest.raises(NoPosteriorError, match=r"of 40\.0 days"):
            held.current()


def spoilt(candidate, other, private, place):
    """Yield signatures that are none of ours of a candidate, by what is wrong with them."""
    good = signatures.sign(candidate, GRID, private)
    stranger, _ = new_key(place, "stranger")
    foreign = signatures.sign(candidate, GRID, stranger)
    yield "unsigned", None
    yield "foreign", foreign
    yield "foreign, said to be ours", {**foreign, "key": good["key"]}
    yield "of another package", signatures.sign(other, GRID, private)
    yield "made younger", {**good, "signed": good["signed"] - 5}
    yield "a flipped bit", {**good, "signature": _flipped(good["signature"])}
    for name, value in (
        ("signed", 1e300), ("signed", None), ("signed", -1), ("signed", 10**400), ("signed", "1"),
        ("key", "0" * 64), ("key", "é" * 64), ("key", None), ("signature", ""), ("signature", 7),
        ("signature", "0" * 128), ("schema", "ricochet.signature/2"), ("schema", None),
    ):  # fmt: skip
        yield f"{name} {str(value)[:9]}", {**good, name: value}
    yield "a field beside", {**good, "code": "x"}
    yield "no object", "[]"
    yield "nothing", ""
    yield "deep", "[" * 5000
    yield "large", " " * 20_000


def _flipped(digits):
    return ("1" if digits[0] == "0" else "0") + digits[1:]


def test_whatever_is_not_ours_is_refused_in_one_line_and_the_last_good_one_stays(
    tmp_path, written, ours
):
    private, public = ours
    put(written, signatures.sign(written, GRID, private))
    registry, said, count = Registry(("1", written), registered=time.time()), [], 0
    with serving(registry) as address:
        held = hold(Server(address), tmp_path, public, said)
        assert held.refresh()
        candidate = tmp_path / "candidate"
        packages.write_package(candidate, grid_packages.narrow(NAME, number=2), reader=GRID)
        registry.champion = ("2", candidate)
        for name, content in spoilt(candidate, written, private, tmp_path):
            (candidate / GRID.signature).unlink(missing_ok=True)
            if content is not None:
                put(candidate, content)
            assert not held.refresh(), name
            assert said[-1].endswith("last good version 1 stays in use"), said[-1]
            assert said[-1].isprintable() and len(said[-1]) < 1000
            assert held.current().version == "1"
            count += 1
        put(candidate, signatures.sign(candidate, GRID, private))
        assert held.refresh() and held.current().version == "2"
    assert count == len(said) >= 20


def test_a_kept_package_without_our_signature_is_not_taken_up(tmp_path, written, ours):
    said = []
    assert hold(Folder(written.parent), tmp_path, None).refresh()
    held = hold(Folder(tmp_path / "gone"), tmp_path, ours[1], said)
    with pytest.raises(NoPosteriorError):
        held.current()
    assert "no signature" in said[0]


def test_without_a_key_a_signature_may_be_there_and_must_have_its_form(written, ours):
    put(written, signatures.sign(written, GRID, ours[0]))
    packages.read_package(written, reader=GRID)
    put(written, {"schema": signatures.SCHEMA})
    with pytest.raises(BadInput, match="other entries"):
        packages.read_package(written, reader=GRID)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_private_key_that_others_can_read_is_refused(written, ours, mode):
    ours[0].chmod(mode)
    with pytest.raises(BadInput, match="that others can read, expected mode 600"):
        signatures.sign(written, GRID, ours[0])


@pytest.mark.parametrize("text", ["", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n", "0" * 63])
def test_what_is_no_key_is_refused_in_one_line(tmp_path, written, text):
    path = tmp_path / "no.pem"
    path.write_text(text)
    path.chmod(0o600)
    for call in (
        lambda: signatures.sign(written, GRID, path),
        lambda: signatures.public_key(path),
        lambda: signatures.public_key(text or "absent"),
    ):
        with pytest.raises(BadInput) as refused:
            call()
        assert str(refused.value).isprintable()


def test_what_is_registered_is_signed_and_what_is_loaded_must_be(
    tracker, tmp_path, ours, monkeypatch
):
    private, public = ours
    package = tmp_path / "package"
    packages.write_package(package, grid_packages.narrow("ball-signed"), reader=GRID)

    def register(key):
        run = runs.open_run(tracker, "registry", key, name=key, tags={})
        return versions.register(
            tracker, "ball-signed", package, kind=POSTERIOR, run_id=run.run_id, tags={}
        )

    unsigned = register("unsigned")
    monkeypatch.setenv(signatures.SIGNING_KEY, str(private))
    monkeypatch.setenv(signatures.PUBLIC_KEY, public.hex())
    assert versions.load(tracker, register("signed"), kind=POSTERIOR).name == "ball-signed"
    with pytest.raises(BadInput, match="no signature"):
        versions.load(tracker, unsigned, kind=POSTERIOR)
    assert versions.load(tracker, unsigned, kind=POSTERIOR, key=signatures.UNSIGNED)
    monkeypatch.setenv(signatures.PUBLIC_KEY, "ab" * 32)
    with pytest.raises(BadInput, match="expected one of key abab"):
        versions.load(tracker, versions.Registered("ball-signed", "2"), kind=POSTERIOR)
    assert not (package / GRID.signature).exists()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl")
def test_the_commands_of_the_page_make_keys_that_sign_and_verify(tmp_path, written):
    import re
    from pathlib import Path

    page = (Path(__file__).resolve().parents[3] / "docs" / "controllers.md").read_text()
    commands = re.findall(r"^    (openssl .*|chmod .*)$", page, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        subprocess.run(command, shell=True, cwd=tmp_path, check=True, capture_output=True)
    content = signatures.sign(written, GRID, tmp_path / "laboratory.pem")
    put(written, content)
    public = signatures.public_key(tmp_path / "laboratory.pub")
    assert signatures.verify(written, GRID, public) == content["signed"]


def test_a_signature_is_read_once(tmp_path, written, ours, monkeypatch):
    private, public = ours
    put(written, signatures.sign(written, GRID, private))
    held, read, count = hold(Folder(written.parent), tmp_path, public), signatures.read, []
    monkeypatch.setattr(signatures, "read", lambda *given: count.append(given) or read(*given))
    assert held.refresh() and len(count) == 1
    packages.read_package(written, reader=GRID, key=public)
    assert len(count) == 2
