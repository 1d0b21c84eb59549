"""What a DVC remote sends is taken while there is room, however long it says that it is."""

import gzip
import importlib
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from ricochet.tasks.recordings import dvc_fetched
from tests.tasks.recordings import small_disk
from tests.tasks.recordings.remotes import CONFIG
from tests.tasks.recordings.test_hostile_remotes import exchange, listed, put
from tests.tasks.recordings.test_web_remotes import Answer, serving

MEGABYTE = 2**20
SPARE = 100


@pytest.fixture
def progress(monkeypatch, tmp_path):
    """Return DVC's progress of files, on a disk whose free bytes are an item of a list."""
    pytest.importorskip("dvc_data", reason="dvc is missing")
    from dvc_objects.fs import generic
    from fsspec.callbacks import Callback

    free = [0]
    monkeypatch.setattr(dvc_fetched, "SPARE", SPARE)
    monkeypatch.setattr(dvc_fetched, "free_under", lambda _: free[0])
    fetch = importlib.import_module("dvc_data.index.fetch")
    monkeypatch.setattr(fetch, "transfer", fetch.transfer)
    monkeypatch.setattr(generic, "_get", lambda _, *names, callback: callback.branched(*names))
    dvc_fetched.verify_room()
    return free, lambda name: generic._get(None, name, f"{tmp_path}/{name}", callback=Callback())


def ended(act, *arguments):
    """Tell whether a file ends at a step of its progress."""
    from dvc.exceptions import DvcException

    try:
        act(*arguments)
    except DvcException as error:
        assert "expected room for it, and 100 bytes beside it" in str(error)
        return True
    return False


@pytest.mark.parametrize(("length", "free", "ends"), [(50, 150, False), (51, 150, True)])
@pytest.mark.parametrize("written", [0, 30])
def test_a_length_counts_less_what_has_been_written(progress, length, free, ends, written):
    disk, begun = progress
    disk[0] = free
    file = begun("a")
    file.relative_update(written)
    assert ended(file.set_size, length + written) == ends


@pytest.mark.parametrize("length", [None, 5])
def test_a_file_without_a_length_or_with_a_wrong_one_ends_when_room_does(progress, length):
    disk, begun = progress
    disk[0] = SPARE + 55
    file = begun("a")
    file.set_size(length)
    for written in range(1, 1000):
        disk[0] -= 1
        if ended(file.absolute_update, written):
            break
    assert disk[0] == SPARE - 1


@pytest.mark.parametrize("seed", range(5))
def test_files_that_grow_together_leave_what_is_to_stay_free(progress, seed):
    draw = np.random.default_rng(seed)
    disk, begun = progress
    disk[0], files = SPARE + 500, {str(number): begun(str(number)) for number in range(4)}
    written = dict.fromkeys(files, 0)
    for file in files.values():
        file.set_size(400)  # of which each has room by itself
    while files:
        name = str(draw.choice(sorted(files)))
        more = int(draw.integers(1, 10))
        disk[0], written[name] = disk[0] - more, written[name] + more
        assert disk[0] >= SPARE - more
        if ended(files[name].relative_update, more):
            disk[0] += written[name]
            del files[name]
        elif written[name] >= 400:
            del files[name]


def test_files_for_which_there_is_room_are_all_taken(progress):
    disk, begun = progress
    disk[0], files = SPARE + 400, [begun(str(number)) for number in range(4)]
    assert not any(ended(file.set_size, 100) for file in files)
    for _ in range(100):
        for file in files:
            disk[0] -= 1
            assert not ended(file.relative_update, 1)


class Sender(Answer):
    """Serves lists as they are, and of all else 32 megabytes, or as much as is taken."""

    def do_GET(self):  # noqa: N802
        if self.command == "HEAD" or self.path.endswith(".dir"):
            super().do_GET()
            return
        head, zeros = self.server.head, [bytes(MEGABYTE)] * 32
        self.send_response(200)
        self.send_header(*head)
        self.end_headers()
        for each in [gzip.compress(b"".join(zeros))] if "gzip" in head else zeros:
            self.wfile.write(each)

    def handle(self):
        try:
            super().handle()
        except OSError:  # nobody takes more
            self.close_connection = True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("head", "found"),
    [
        (("Content-Type", "text/plain"), "found at least"),
        (("Content-Encoding", "gzip"), "found at least"),
        (("Content-Length", str(10**13)), "found 10000000000000 bytes"),
    ],
    ids=["no end", "packed", "too long"],
)
def test_what_http_sends_without_end_is_not_taken(root, head, found):
    with serving(root / "store", answers=Sender) as (server, address):
        server.head = head
        (root / ".dvc" / "config").write_text(CONFIG.replace("../store", f"{address}/store"))
        said, least = small_disk.refused(root, room=8 * MEGABYTE)
    assert found in said
    assert least >= -5 * MEGABYTE  # what DVC writes at once
    assert not small_disk.fetched(root)


class Flood(Answer):
    """Says that it has a little, and to a request of a part of it sends 64 megabytes."""

    def do_GET(self):  # noqa: N802
        self.send_response(206 if self.command == "GET" else 200)
        self.send_header("Content-Length", str(self.server.stated[self.command]))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        for _ in range(64 * (self.command == "GET")):
            self.wfile.write(bytes(MEGABYTE))
            self.server.sent.append(MEGABYTE)

    do_HEAD = do_GET  # noqa: N815

    def handle(self):
        try:
            super().handle()
        except OSError:  # nobody takes more
            self.close_connection = True


READ = """
import sys
from fsspec.implementations.http import HTTPFileSystem
from ricochet.tasks.recordings import dvc_fetched
for address in sys.argv[1:]:
    print(dvc_fetched.read_small(HTTPFileSystem(), address, 10_000))
"""


@pytest.mark.slow
def test_a_small_file_is_read_as_far_as_it_may_go_whatever_part_is_sent(tmp_path):
    """Of a list that was said to have 5 MB a server sent 2 GB, which were kept: 4.3 GB.

    In a process of its own, in which fsspec leaves a thread.
    """
    pytest.importorskip("fsspec.implementations.http")
    (tmp_path / "short").write_bytes(b"1234")
    (tmp_path / "long").write_bytes(bytes(10_001))
    with serving(tmp_path) as (_, address), serving(tmp_path, answers=Flood) as (server, false):
        server.stated, server.sent = {"HEAD": 1000, "GET": 64 * MEGABYTE}, []
        files = [f"{address}/store/short", f"{address}/store/long", f"{false}/long"]
        command = [sys.executable, "-P", "-c", READ, *files]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120.0)
    assert done.stdout.split() == ["b'1234'", "None", "None"], done.stderr
    assert sum(server.sent) < 64 * MEGABYTE


class Together(Answer):
    """Sends a large file, which DVC may fetch by itself first, and the others all at once."""

    def do_GET(self):  # noqa: N802
        file = self.server.folder / self.path.removeprefix("/store/")
        large = self.command == "GET" and file.stat().st_size > MEGABYTE
        if large and next(self.server.first, None) is None:
            self.server.others.wait(60.0)
        super().do_GET()


@pytest.mark.slow
def test_files_that_come_at_once_have_room_together(root):
    _, entries = listed(root)
    digests = [put(root, os.urandom(2 * MEGABYTE)) for _ in range(4)]
    files = [{"md5": each, "relpath": f"first/{each}.csv"} for each in digests]
    exchange(root, [*entries, *files], named=True)
    with serving(root / "store", answers=Together) as (server, address):
        server.first, server.others = iter(["first"]), threading.Barrier(3)
        (root / ".dvc" / "config").write_text(CONFIG.replace("../store", f"{address}/store"))
        said, _ = small_disk.refused(root, room=5 * MEGABYTE)
    assert f"found {2 * MEGABYTE} bytes" in said
    assert sum(each.stat().st_size for each in small_disk.fetched(root)) <= 5 * MEGABYTE


@pytest.mark.slow
def test_a_file_of_a_folder_that_is_larger_than_the_disk_is_not_copied(root):
    (sound,) = [each for each in listed(root)[1] if each["relpath"].endswith("flac")]
    place = root / "store" / "files" / "md5" / sound["md5"][:2] / sound["md5"][2:]
    place.chmod(0o644)
    os.truncate(place, 8 * MEGABYTE)  # zeros that take no room there
    said, least = small_disk.refused(root, room=4 * MEGABYTE)
    assert f"found {8 * MEGABYTE} bytes" in said
    assert least > 3 * MEGABYTE
    kept = [each.name for each in small_disk.fetched(root)]
    assert sound["md5"][2:] not in kept and not any(each.endswith(".tmp") for each in kept)
