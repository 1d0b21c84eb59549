"""The champion in a controller: verified, swapped whole, kept when the registry is away."""

import contextlib
import dataclasses
import json
import os
import socket
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest

from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages, sources
from ricochet.tasks.registry.champion import DAY, Champion, NoPosteriorError
from ricochet.tasks.registry.sources import Folder, Server
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from tests import grid_packages
from tests.tasks.registry.registry_server import Registry, serving

NAME = "ping-pong-table"
LIGHT = """
import sys
before = set(sys.modules)
import ricochet.tasks.registry.champion
names = {name.partition(".")[0] for name in set(sys.modules) - before}
print(sorted(names - set(sys.stdlib_module_names)))
"""


@pytest.fixture
def two(tmp_path):
    """Two packages whose mean has one more than their version as log10 concentration."""
    folders = {}
    for version in ("1", "2"):
        made = grid_packages.narrow(NAME, (0.7, 1.0 + float(version)), (0.01, 0.1))
        folders[version] = tmp_path / f"package-{version}"
        packages.write_package(folders[version], made, reader=GRID)
    return folders


@pytest.fixture
def registry(two):
    return Registry(("1", two["1"]), registered=time.time() - 2 * DAY)


def hold(source, tmp_path, said=None, oldest=30 * DAY):
    report_line = (lambda line: None) if said is None else said.append
    return Champion(
        NAME, source, tmp_path / "kept", kind=POSTERIOR, oldest=oldest, report_line=report_line
    )


def test_only_numpy_and_safetensors_are_imported():
    found = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True)
    assert found.stdout.strip() == "['numpy', 'ricochet', 'safetensors']", found.stderr


def test_the_champion_is_fetched_once_and_swapped_when_the_alias_moves(tmp_path, two, registry):
    with serving(registry) as address:
        held = hold(Server(address), tmp_path)
        with pytest.raises(NoPosteriorError, match="no posterior"):
            held.current()
        assert held.refresh() and held.current().version == "1"
        asked = len(registry.asked)
        assert not held.refresh() and len(registry.asked) == asked + 1
        registry.champion = ("2", two["2"])
        assert held.refresh() and held.current().version == "2"
        assert round(held.current().package.arrays["mean"][1]) == 3


def test_the_shared_arrays_are_read_only(tmp_path, registry):
    with serving(registry) as address:
        held = hold(Server(address), tmp_path)
        held.refresh()
    with pytest.raises(ValueError, match="read-only"):
        held.current().package.arrays["samples"][0] = 0.0


def test_the_last_good_package_serves_a_new_process_while_the_registry_is_away(tmp_path, registry):
    said = []
    with serving(registry) as address:
        hold(Server(address), tmp_path).refresh()
    again = hold(Server(address, patience=1.0), tmp_path, said)
    assert not again.refresh() and again.current().version == "1"
    assert len(said) == 1 and "last good version 1 stays in use" in said[0] and "\n" not in said[0]


def flip(name, content):
    return content[:-1] + bytes([content[-1] ^ 1]) if name == "posterior.safetensors" else content


FAULTS = {
    "a flipped bit": flip,
    "a cut file": lambda name, content: content[:-9],
    "no JSON": lambda name, content: b"<html>" if name == "posterior.json" else content,
    "a manifest with other digests": lambda name, content: content.replace(b"grid", b"gird"),
    "nothing": lambda name, content: b"",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_with_the_registry_is_said_and_changes_nothing(
    tmp_path, two, registry, fault
):
    said = []
    with serving(registry) as address:
        held = hold(Server(address), tmp_path, said)
        held.refresh()
        registry.champion, registry.spoil = ("2", two["2"]), FAULTS[fault]
        assert not held.refresh() and held.current().version == "1"
        assert len(said) == 1 and "\n" not in said[0]
        assert hold(Server(address), tmp_path).current().version == "1"
        registry.spoil = lambda name, content: content
        assert held.refresh() and held.current().version == "2"


def test_the_package_of_another_ball_is_refused_and_the_last_good_one_stays(
    tmp_path, two, registry
):
    said, other = [], tmp_path / "other"
    made = grid_packages.narrow("tennis-table", (0.7, 3.0), (0.01, 0.1))
    packages.write_package(other, made, reader=GRID)
    with serving(registry) as address:
        held = hold(Server(address), tmp_path, said)
        held.refresh()
        registry.champion = ("2", other)
        assert not held.refresh() and held.current().version == "1"
        assert "tennis-table" in said[0] and NAME in said[0]


def test_a_whole_package_that_is_not_the_registered_one_is_refused(tmp_path, two, registry):
    said = []
    with serving(registry) as address:
        held = hold(Server(address), tmp_path, said)
        registry.spoil = lambda name, content: (two["2"] / name).read_bytes()
        assert not held.refresh()
    assert "manifest sha256" in said[0]


@pytest.mark.parametrize(
    ("parts", "said"),
    [(b"-1\r\n" + b"x" * 2**26, "less than nothing"), (b"2\r\nxx\r\n" * 2**19, "more than")],
    ids=["a part below zero", "many small parts"],
)
def test_an_answer_in_odd_parts_takes_no_memory(tmp_path, monkeypatch, parts, said):
    """Python's own reader takes all that comes of the first, and a hundred times the second.

    Of half of what an answer may have: each part takes its time.
    """
    monkeypatch.setattr(sources, "LARGEST_ANSWER", 2**19)
    lines = []
    with odd_server(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + parts) as address:
        held = hold(Server(address), tmp_path, lines)
        tracemalloc.start()
        assert held.refresh() is False
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert said in lines[0] and most < 2**23


@contextlib.contextmanager
def odd_server(answer):
    """Answer one request with these bytes, whatever comes."""

    def serve():
        with contextlib.suppress(OSError), listener.accept()[0] as asked:
            asked.recv(2**16)
            asked.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


def test_an_alias_that_is_not_there_is_said(tmp_path):
    said = []
    with serving(Registry()) as address:
        assert not hold(Server(address), tmp_path, said).refresh()
    assert "answer 404" in said[0] and "no posterior" in said[0]


def test_a_stale_posterior_moves_nothing(tmp_path, registry):
    with serving(registry) as address:
        held = hold(Server(address), tmp_path, oldest=DAY)
        held.refresh()
    with pytest.raises(NoPosteriorError, match=r"of 2\.0 days, expected at most 1\.0 days"):
        held.current()
    assert held.current(now=registry.registered + 0.5 * DAY).version == "1"
    with pytest.raises(NoPosteriorError, match="days"):
        held.current(now=0.0)  # a clock that has lost its time


@pytest.mark.parametrize("stated", ["2001", "now"])
def test_a_wrong_time_of_a_false_server_lasts_no_longer_than_it(tmp_path, two, registry, stated):
    """It makes a good posterior too old, or one that is too old good."""
    true = registry.registered = time.time() - (2 if stated == "2001" else 40) * DAY
    false = Registry(("1", two["1"]), registered=1e9 if stated == "2001" else time.time())
    false.runs = registry.runs

    def usable(held):
        with contextlib.suppress(NoPosteriorError):
            return held.current().registered == pytest.approx(true, abs=0.001)
        return False

    with serving(registry) as address:
        held = hold(Server(address), tmp_path)
        held.refresh()
        before, answer = usable(held), registry.answer
        registry.answer = false.answer
        assert held.refresh()
        assert not usable(held)
        registry.answer = answer
        assert held.refresh() and not held.refresh()
        assert usable(held) == before == usable(hold(Server(address), tmp_path))
        assert before == (stated == "2001")


def test_a_reader_never_sees_a_half(tmp_path, two, registry):
    """Readers check version against content all the while the champion changes twenty times."""
    stop, wrong, seen = threading.Event(), [], set()

    def read(held):
        while not stop.is_set():
            found = held.current()
            values = found.package.arrays["samples"][:, 1]
            seen.add(found.version)
            if not (np.floor(values - 0.5) == float(found.version)).all():
                wrong.append((found.version, values))
            time.sleep(0.0005)

    with serving(registry) as address:
        held = hold(Server(address), tmp_path)
        held.refresh()
        readers = [threading.Thread(target=read, args=(held,)) for _ in range(2)]
        for reader in readers:
            reader.start()
        for step in range(20):
            version = str(1 + step % 2)
            registry.champion = (version, two[version])
            held.refresh()
        stop.set()
        for reader in readers:
            reader.join()
    assert wrong == [] and seen == {"1", "2"}


def test_it_stays_fresh_in_a_thread_of_its_own(tmp_path, two, registry):
    with serving(registry) as address:
        held = hold(Server(address), tmp_path)
        held.refresh()
        stop = threading.Event()
        thread = threading.Thread(target=held.keep_fresh, args=(0.01, stop))
        thread.start()
        registry.champion = ("2", two["2"])
        end = time.monotonic() + 20.0
        while held.current().version != "2" and time.monotonic() < end:
            time.sleep(0.01)
        stop.set()
        thread.join()
    assert held.current().version == "2"


def test_its_thread_outlives_whatever_goes_wrong(tmp_path, registry, monkeypatch):
    with serving(registry) as address:
        said = []
        held, stop = hold(Server(address), tmp_path, said), threading.Event()
        held.refresh()
        faults = iter([RuntimeError("odd\nindeed"), MemoryError()])

        def refresh():
            for fault in faults:
                raise fault
            stop.set()

        monkeypatch.setattr(held, "refresh", refresh)
        held.keep_fresh(0.001, stop)
    assert len(said) == 2 and "odd indeed; last good version 1 stays" in said[0]


def test_a_plain_folder_serves_as_well(tmp_path, two):
    (tmp_path / "shelf").mkdir()
    two["1"].rename(tmp_path / "shelf" / NAME)
    held, said = hold(Folder(tmp_path / "shelf"), tmp_path), []
    assert held.refresh() and not held.refresh()
    empty = Champion(
        "tennis-table",
        Folder(tmp_path),
        tmp_path / "k",
        kind=POSTERIOR,
        oldest=DAY,
        report_line=said.append,
    )
    assert not empty.refresh() and "no posterior" in said[0]


@pytest.mark.parametrize("spoilt", ["current.json", "checks.json"])
def test_a_spoilt_last_good_package_is_no_posterior_and_is_said(tmp_path, registry, spoilt):
    said = []
    with serving(registry) as address:
        hold(Server(address), tmp_path).refresh()
        (path,) = (tmp_path / "kept").rglob(spoilt)
        path.write_text("{")
        held = hold(Server(address), tmp_path, said)
        with pytest.raises(NoPosteriorError):
            held.current()
        assert len(said) == 1 and held.refresh() and held.current().version == "1"


def test_only_the_package_in_use_and_the_one_before_are_kept(tmp_path, two, registry, package):
    with serving(registry) as address:
        held = hold(Server(address), tmp_path)
        for number in range(4):
            folder = tmp_path / f"many-{number}"
            packages.write_package(
                folder, dataclasses.replace(package, name=NAME, checks={"n": number}), reader=GRID
            )
            registry.champion = (str(number), folder)
            held.refresh()
    place = tmp_path / "kept" / NAME
    assert json.loads((place / "current.json").read_text())["version"] == "3"
    assert len([path for path in place.iterdir() if path.is_dir()]) == 2


def test_what_is_no_package_of_its_own_stays_where_packages_are_kept(tmp_path, registry):
    """It removed every folder that it did not know."""
    place = tmp_path / "kept" / NAME
    left = [place / f".{'a' * 64}.12345678", place / ".fetching.1", place / ("b" * 64)]
    own = [place / "notes", place / ".git", place / ("c" * 63)]
    for folder in (*left, *own):
        folder.mkdir(parents=True)
    os.mkfifo(place / ("d" * 64))
    with serving(registry) as address:
        assert hold(Server(address), tmp_path).refresh()
    assert all(folder.exists() for folder in own)
    assert not any(folder.exists() for folder in left)


def test_a_folder_in_which_another_controller_fetches_is_left_to_it(tmp_path, registry):
    """Each removed what the other was fetching, and what it followed."""
    said = []
    with serving(registry) as address:
        held = hold(Server(address), tmp_path, said)
        assert held.refresh()
        registry.champion = ("2", tmp_path / "package-2")
        with locks.hold(tmp_path / "kept" / NAME):
            assert not held.refresh() and held.current().version == "1"
        assert len(said) == 1 and "last good version 1 stays in use" in said[0]
        assert held.refresh() and held.current().version == "2"


def test_a_link_in_place_of_its_folder_is_not_followed(tmp_path, registry):
    """It leads to folders that are somebody's, which would be taken for packages."""
    own, said = tmp_path / "own" / ("a" * 64), []
    own.mkdir(parents=True)
    with serving(registry) as address:
        held = hold(Server(address), tmp_path, said)
        (tmp_path / "kept").mkdir()
        (tmp_path / "kept" / NAME).symlink_to(own.parent)
        assert not held.refresh() and "found a link" in said[0]
        with pytest.raises(BadInput, match="found a link"):
            hold(Server(address), tmp_path)
    assert [path.name for path in own.parent.iterdir()] == [own.name]


@pytest.mark.parametrize(
    "address", ["http://example.org:5000", "ftp://127.0.0.1", "sqlite:///x", ""]
)
def test_plain_http_to_another_machine_is_refused(address):
    with pytest.raises(BadInput, match="loopback"):
        Server(address)


def test_what_others_may_write_is_no_last_good_package(tmp_path, two, registry):
    """Whoever lays a package and a pointer there would decide what a robot follows."""
    with serving(registry) as address:
        held = hold(Server(address), tmp_path)
        assert held.refresh()
    kept = tmp_path / "kept"
    for folder in (kept, kept / NAME):
        mode = folder.stat().st_mode
        folder.chmod(0o777)
        with pytest.raises(BadInput, match="where all may rename"):
            hold(Folder(tmp_path), tmp_path)
        folder.chmod(mode)
    kept.chmod(0o1777)  # where nobody can rename what is another's
    assert hold(Folder(tmp_path), tmp_path).current().version == "1"
    if os.geteuid() == 0:
        os.chown(kept / NAME, 65534, 65534)
        with pytest.raises(BadInput, match="found one of user 65534"):
            hold(Folder(tmp_path), tmp_path)


def test_a_folder_that_somebody_lays_there_first_is_not_taken(tmp_path, registry):
    said = []
    with serving(registry) as address:
        held = hold(Server(address), tmp_path, said)
        (tmp_path / "kept" / NAME).mkdir(parents=True)
        (tmp_path / "kept" / NAME).chmod(0o777)
        assert not held.refresh() and "where all may rename" in said[0]


@pytest.mark.parametrize("name", ["../x", "a/b", ""])
def test_a_name_cannot_leave_the_folder(tmp_path, name):
    with pytest.raises(ValueError, match="name"):
        Champion(name, Folder(tmp_path), tmp_path, kind=POSTERIOR, oldest=DAY)
